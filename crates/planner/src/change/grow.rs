//! Collections that only grow: what `Ownership::Additive` makes of a declared value.

use super::compare::{Sameness, Secrets, compare, entity_key};
use super::guided::{Guide, Lens, Look, compare_guided};
use super::rule::hint;
use super::view::View;
use formwork_model::{Leaf, Planned, PlannedLeaf, Schema, Segment, Stored, StoredLeaf, Tree, UpdateMethod};
use indexmap::IndexMap;
use std::convert::Infallible;

/// A leaf that a stored one can become.
pub(crate) trait Lifted: Leaf {
    fn lift(leaf: &StoredLeaf) -> Tree<Self>;
}

impl Lifted for PlannedLeaf {
    fn lift(leaf: &StoredLeaf) -> Planned {
        match leaf {
            StoredLeaf::Resolved { sent, .. } => Planned::Plain(sent.clone()),
            StoredLeaf::Sealed { digest, .. } | StoredLeaf::Digest(digest) => {
                Planned::Leaf(Self::Secret(*digest))
            }
        }
    }
}

/// A stored value in another phase.
pub(crate) fn lift<L: Lifted>(stored: &Stored) -> Tree<L> {
    let lifted: Result<_, Infallible> = stored.try_map(&mut |_, leaf| Ok(Some(L::lift(leaf))));
    let Ok(lifted) = lifted;
    lifted.unwrap_or_default()
}

/// How a value grows.
#[derive(Clone, Copy)]
pub(crate) struct Growth<'s> {
    method: &'s UpdateMethod,
    guide: Option<Guide<'s>>,
}

impl<'s> Growth<'s> {
    /// Of a property.
    pub(crate) fn of(schema: &'s Schema, name: &str) -> Self {
        let guide = schema.property(name).and_then(Guide::of);
        Self { method: &hint(schema, name).update_method, guide }
    }

    fn key(self, name: &str) -> Self {
        match self.guide.map(|guide| guide.key(name)) {
            Some(guide) => Self { method: &guide.hint.update_method, guide: Some(guide) },
            None => Self { method: &UpdateMethod::Array, guide: None },
        }
    }

    fn element(self) -> Self {
        if self.guide.is_some() { self } else { Self { method: &UpdateMethod::Array, guide: None } }
    }
}

/// What a declared value becomes on top of what is there: objects and arrays keep what they have.
///
/// `desired` decides, `carry` is what is built from: the same declaration in the phase that is
/// wanted. A part of `carry` that is a leaf replaces what is there.
pub(crate) fn grow<L: Lifted>(
    base: &Stored,
    desired: &Planned,
    carry: &Tree<L>,
    growth: Growth<'_>,
) -> Tree<L> {
    if *growth.method == UpdateMethod::Atomic {
        return carry.clone();
    }
    if let (Some(base), Some(desired), Some(carry)) = (base.members(), desired.members(), carry.members()) {
        return grow_object(base, &desired.into_iter().collect(), &carry.into_iter().collect(), growth);
    }
    match (items(base), items(desired), items(carry)) {
        (Some(base), Some(desired), Some(carry)) => grow_array(&base, &desired, &carry, growth),
        _ => carry.clone(),
    }
}

fn grow_object<L: Lifted>(
    base: Vec<(std::sync::Arc<str>, Stored)>,
    desired: &IndexMap<std::sync::Arc<str>, Planned>,
    carry: &IndexMap<std::sync::Arc<str>, Tree<L>>,
    growth: Growth<'_>,
) -> Tree<L> {
    let mut grown = IndexMap::new();
    for (name, value) in base {
        let member = match (desired.get(&name), carry.get(&name)) {
            (Some(desired), Some(carry)) => grow(&value, desired, carry, growth.key(&name)),
            _ => lift(&value),
        };
        grown.insert(name, member);
    }
    for (name, value) in carry {
        grown.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Tree::object(grown)
}

fn grow_array<L: Lifted>(
    base: &[Stored],
    desired: &[Planned],
    carry: &[Tree<L>],
    growth: Growth<'_>,
) -> Tree<L> {
    let mut taken = vec![false; desired.len()];
    let mut grown = Vec::with_capacity(base.len() + carry.len());
    for item in base {
        let found = desired.iter().position(|wanted| is_same_element(item, wanted, growth));
        if let Some(at) = found {
            taken[at] = true;
        }
        grown.push(match (found, growth.method) {
            (Some(at), UpdateMethod::EntitySet(_)) if at < carry.len() => {
                grow(item, &desired[at], &carry[at], growth.element())
            }
            _ => lift(item),
        });
    }
    let rest = carry.iter().zip(&taken).filter(|(_, taken)| !**taken);
    grown.extend(rest.map(|(item, _)| item.clone()));
    Tree::array(grown)
}

fn is_same_element(item: &Stored, wanted: &Planned, growth: Growth<'_>) -> bool {
    if let UpdateMethod::EntitySet(index) = growth.method {
        let key = entity_key(&index.0, View::of(item));
        return key.is_some() && key == entity_key(&index.0, View::of(wanted));
    }
    let answer = match growth.guide {
        Some(guide) => compare_guided(guide, View::of(wanted), View::of(item), Lens::new(Look::Sent)),
        None => compare(View::of(item), View::of(wanted), Secrets::Strict),
    };
    answer == Sameness::Same
}

/// The elements of an array, cut out of plain data where needed.
fn items<L: Leaf>(tree: &Tree<L>) -> Option<Vec<Tree<L>>> {
    match tree {
        Tree::Plain(value) => Some(value.as_array()?.iter().cloned().map(Tree::Plain).collect()),
        Tree::Array(items) => Some(items.clone()),
        _ => None,
    }
}

/// The value of one property.
pub(crate) fn property_of(properties: &Stored, name: &str) -> Option<Stored> {
    properties.child(&Segment::Key(name.into()))
}
