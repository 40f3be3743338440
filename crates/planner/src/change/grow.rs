//! Collections that only grow: what `Ownership::Additive` makes of a declared value.

use super::compare::{Sameness, Secrets, compare, entity_key};
use super::view::View;
use formwork_model::{Leaf, Planned, PlannedLeaf, Segment, Stored, StoredLeaf, Tree, UpdateMethod};
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

/// What a declared value becomes on top of what is there: objects and arrays keep what they have.
///
/// `desired` decides, `carry` is what is built from: the same declaration in the phase that is
/// wanted. A part of `carry` that is a leaf replaces what is there.
pub(crate) fn grow<L: Lifted>(
    base: &Stored,
    desired: &Planned,
    carry: &Tree<L>,
    method: &UpdateMethod,
) -> Tree<L> {
    if *method == UpdateMethod::Atomic {
        return carry.clone();
    }
    if let (Some(base), Some(desired), Some(carry)) = (base.members(), desired.members(), carry.members()) {
        return grow_object(base, &desired.into_iter().collect(), &carry.into_iter().collect());
    }
    match (items(base), items(desired), items(carry)) {
        (Some(base), Some(desired), Some(carry)) => grow_array(&base, &desired, &carry, method),
        _ => carry.clone(),
    }
}

fn grow_object<L: Lifted>(
    base: Vec<(std::sync::Arc<str>, Stored)>,
    desired: &IndexMap<std::sync::Arc<str>, Planned>,
    carry: &IndexMap<std::sync::Arc<str>, Tree<L>>,
) -> Tree<L> {
    let mut grown = IndexMap::new();
    for (name, value) in base {
        let member = match (desired.get(&name), carry.get(&name)) {
            (Some(desired), Some(carry)) => grow(&value, desired, carry, &UpdateMethod::Array),
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
    method: &UpdateMethod,
) -> Tree<L> {
    let mut taken = vec![false; desired.len()];
    let mut grown = Vec::with_capacity(base.len() + carry.len());
    for item in base {
        let found = desired.iter().position(|wanted| is_same_element(item, wanted, method));
        if let Some(at) = found {
            taken[at] = true;
        }
        grown.push(match (found, method) {
            (Some(at), UpdateMethod::EntitySet(_)) if at < carry.len() => {
                grow(item, &desired[at], &carry[at], &UpdateMethod::Array)
            }
            _ => lift(item),
        });
    }
    let rest = carry.iter().zip(&taken).filter(|(_, taken)| !**taken);
    grown.extend(rest.map(|(item, _)| item.clone()));
    Tree::array(grown)
}

fn is_same_element(item: &Stored, wanted: &Planned, method: &UpdateMethod) -> bool {
    if let UpdateMethod::EntitySet(index) = method {
        let key = entity_key(&index.0, View::of(item));
        return key.is_some() && key == entity_key(&index.0, View::of(wanted));
    }
    compare(View::of(item), View::of(wanted), Secrets::Strict) == Sameness::Same
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
