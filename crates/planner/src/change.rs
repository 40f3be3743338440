//! The one change rule.

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
    /// What should be there.
    pub desired: &'a Planned,
    /// What was sent and answered last; `None` if nothing was.
    pub object: Option<&'a Object>,
    /// What was seen just now.
    pub observed: Option<&'a Stored>,
}

/// What the change rule says.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing to do.
    NoOp,
    /// It is already there; the ledger takes note.
    Record,
    /// Change it in place.
    Update {
        /// What changes.
        patch: Vec<PatchOp>,
    },
    /// It cannot change in place.
    Replace {
        /// What changes.
        patch: Vec<PatchOp>,
        /// The create-only properties among it; empty for a tainted object.
        because: Vec<Path>,
    },
    /// It depends on values that are not known yet.
    Undetermined {
        /// What changes if the unknown values do.
        patch: Vec<PatchOp>,
        /// What is waited for.
        waits_for: Vec<Ref>,
        /// Whether a create-only property is among the unknown.
        may_replace: bool,
    },
}

/// The one change rule.
pub fn diff(comparison: &Comparison<'_>) -> Verdict {
    let _ = comparison;
    Verdict::NoOp
}

/// What differs between an observation and the provider's answer to our own last write.
pub fn drift(
    schema: &Schema,
    capabilities: &TypeCapabilities,
    object: &Object,
    observed: &Stored,
    declared_only: Option<&Stored>,
) -> Vec<PatchOp> {
    let _ = (schema, capabilities, object, observed, declared_only);
    Vec::new()
}
