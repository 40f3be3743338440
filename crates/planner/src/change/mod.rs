//! The one change rule: what to do about an object, given what is declared, what was sent, what was
//! answered and what is seen. Planning, the engine at run time and drift all ask here.

mod bag;
mod compare;
mod drift;
mod fixed;
mod grow;
mod guided;
mod rule;
mod view;

pub use drift::drift;
pub use guided::is_same;

pub(crate) use bag::{Bag, Member};
pub(crate) use grow::{Growth, Lifted, grow, lift};
pub(crate) use rule::{Subject, grown, growth_base, hint, is_always_sent, is_private, judge};
pub(crate) use view::View;

use formwork_model::{Object, Ownership, PatchOp, Path, Planned, Ref, Schema, Stored, TypeCapabilities};

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// The type's properties.
    pub schema: &'a Schema,
    /// How the type may be treated.
    pub capabilities: &'a TypeCapabilities,
    /// Which fields the declaration owns.
    pub ownership: Ownership,
    /// What should be there. A write-only or opaque property must come as a secret, not as data:
    /// what was sent is known by its digest only.
    pub desired: &'a Planned,
    /// What was sent and answered last, and how sure that is; `None` if there is no object.
    pub object: Option<&'a Object>,
    /// What was seen just now. Ignored for a type that cannot be read.
    pub observed: Option<&'a Stored>,
}

/// What the change rule says. Changes are one per property, in the order of declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing to do.
    NoOp,
    /// It is already there, though something else was sent, or the last update's outcome was not
    /// known and turns out well: the ledger takes note, nothing is called.
    Record,
    /// Change it in place. Also if a create-only property changed and the type refuses that: the
    /// provider says so (`immutable` marks the change).
    Update {
        /// What changes, or may; a change with an unknown value in it is not certain.
        patch: Vec<PatchOp>,
    },
    /// It cannot change in place.
    Replace {
        /// What changes.
        patch: Vec<PatchOp>,
        /// The create-only properties that changed; none for an object that failed half-way.
        because: Vec<Path>,
    },
    /// Whether anything changes depends on values that are not known yet.
    Undetermined {
        /// What changes if they turn out otherwise than before.
        patch: Vec<PatchOp>,
        /// What is waited for.
        waits_for: Vec<Ref>,
        /// Whether it may then have to be replaced.
        may_replace: bool,
    },
}

/// The one change rule.
///
/// Without an object everything declared is new, which reads as an update from nothing.
///
/// Values compare structurally (seed 4, "Plan Diff"), collections as the schema says, secrets by
/// digest. Only declared properties count, except under [`Ownership::Full`], which also removes
/// what was sent and is declared no longer; under [`Ownership::Additive`] objects and arrays keep
/// what they have. An object of uncertain state is never a no-op without an observation, a tainted
/// one is replaced.
pub fn diff(comparison: &Comparison<'_>) -> Verdict {
    let Some(object) = comparison.object else {
        return rule::all_new(comparison.desired, comparison.schema);
    };
    let subject = Subject::of(comparison, object);
    let bag = Bag::of(comparison.desired);
    if subject.ownership == Ownership::Additive {
        return judge(&subject, &grown(&subject, bag));
    }
    judge(&subject, &bag)
}
