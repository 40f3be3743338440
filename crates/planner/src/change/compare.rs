//! Three-valued comparison of two values of any phase.

use super::view::{Facet, View};
use formwork_model::{Json, Path, Segment, UpdateMethod, canonical, same};
use std::collections::BTreeMap;

/// What a comparison says. A difference anywhere outweighs what is unknown elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sameness {
    /// They are the same.
    Same,
    /// It depends on a value that is not known yet.
    Unknown,
    /// They differ, whatever is still unknown.
    Different,
}

/// What a secret on one side means when the other side does not hold one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// A difference.
    Strict,
    /// Nothing: observations need not show secrets, so their absence is no drift.
    Hidden,
}

/// Compares two values of one property.
pub(crate) fn compare_property<A: Facet, B: Facet>(
    method: &UpdateMethod,
    left: View<'_, A>,
    right: View<'_, B>,
    secrets: Secrets,
) -> Sameness {
    if left.item_count().is_none() || right.item_count().is_none() {
        return compare(left, right, secrets);
    }
    match method {
        UpdateMethod::Array | UpdateMethod::Atomic => compare(left, right, secrets),
        UpdateMethod::Set => compare_sets(left, right, secrets),
        UpdateMethod::EntitySet(index) => compare_entities(&index.0, left, right, secrets),
    }
}

/// Compares structurally: the twin of [`same`] for values with leaves.
pub(crate) fn compare<A: Facet, B: Facet>(
    left: View<'_, A>,
    right: View<'_, B>,
    secrets: Secrets,
) -> Sameness {
    match (left, right) {
        (View::Json(left), View::Json(right)) => verdict(same(left, right)),
        (View::Unknown, _) | (_, View::Unknown) => Sameness::Unknown,
        (View::Digest(left), View::Digest(right)) => verdict(left == right),
        (View::Digest(_), _) | (_, View::Digest(_)) => verdict(secrets == Secrets::Hidden),
        _ => match (left.item_count(), right.item_count(), left.member_count(), right.member_count()) {
            (Some(count), Some(other), ..) if count == other => {
                worst(left.items().zip(right.items()).map(|(left, right)| compare(left, right, secrets)))
            }
            (_, _, Some(_), Some(_)) => compare_objects(left, right, secrets),
            _ => Sameness::Different,
        },
    }
}

fn compare_objects<A: Facet, B: Facet>(left: View<'_, A>, right: View<'_, B>, secrets: Secrets) -> Sameness {
    let absent = |hidden: bool| verdict(hidden && secrets == Secrets::Hidden);
    let shared = worst(left.members().map(|(name, member)| match right.member(name) {
        Some(other) => compare(member, other, secrets),
        None => absent(member.is_hidden()),
    }));
    if shared == Sameness::Different {
        return shared;
    }
    let extra = right.members().filter(|(name, _)| left.member(name).is_none());
    shared.max(worst(extra.map(|(_, member)| absent(member.is_hidden()))))
}

/// As multisets of values. Where a side may hide its secrets, sets that hold some can only be told
/// apart element by element.
fn compare_sets<A: Facet, B: Facet>(left: View<'_, A>, right: View<'_, B>, secrets: Secrets) -> Sameness {
    if left.item_count() != right.item_count() {
        return Sameness::Different;
    }
    if secrets == Secrets::Hidden && (left.has_secret() || right.has_secret()) {
        return compare(left, right, secrets);
    }
    let (known, open) = tally(left);
    let (mut others, other_open) = tally(right);
    for (text, count) in known {
        let left_over = others.remove(&text).unwrap_or_default();
        if left_over < count && other_open == 0 {
            return Sameness::Different;
        }
    }
    if open + other_open == 0 { Sameness::Same } else { Sameness::Unknown }
}

/// The known elements by their canonical text with how often each occurs, and how many are unknown.
fn tally<L: Facet>(set: View<'_, L>) -> (BTreeMap<String, usize>, usize) {
    let mut known = BTreeMap::new();
    let mut open = 0;
    for item in set.items() {
        match item.comparable() {
            Some(value) => *known.entry(canonical(&value)).or_default() += 1,
            None => open += 1,
        }
    }
    (known, open)
}

/// As entities found by a field. Entities without it, or with one in common, compare as a set.
fn compare_entities<A: Facet, B: Facet>(
    index: &Path,
    left: View<'_, A>,
    right: View<'_, B>,
    secrets: Secrets,
) -> Sameness {
    if left.item_count() != right.item_count() {
        return Sameness::Different;
    }
    let (Some(entities), Some(others)) = (by_index(index, left), by_index(index, right)) else {
        return compare_sets(left, right, secrets);
    };
    worst(entities.into_iter().map(|(key, entity)| match others.get(&key) {
        Some(other) => compare(entity, *other, secrets),
        None => Sameness::Different,
    }))
}

/// The entities of a set by what tells them apart; `None` if that is not so for each.
pub(crate) fn by_index<'a, L: Facet>(
    index: &Path,
    set: View<'a, L>,
) -> Option<BTreeMap<String, View<'a, L>>> {
    let count = set.item_count()?;
    let entities: BTreeMap<_, _> =
        set.items().map(|item| Some((entity_key(index, item)?, item))).collect::<Option<_>>()?;
    (entities.len() == count).then_some(entities)
}

/// What tells an entity from the others of its set.
pub(crate) fn entity_key<L: Facet>(index: &Path, entity: View<'_, L>) -> Option<String> {
    let key = index.segments().iter().try_fold(entity, |view, segment| match segment {
        Segment::Key(name) => view.member(name),
        Segment::Index(at) => view.items().nth(*at),
    })?;
    key.comparable().filter(|key| !matches!(key, Json::Null)).map(|key| canonical(&key))
}

pub(crate) fn verdict(same: bool) -> Sameness {
    if same { Sameness::Same } else { Sameness::Different }
}

/// The strongest of several answers; stops at the first difference.
pub(crate) fn worst(answers: impl Iterator<Item = Sameness>) -> Sameness {
    let mut worst = Sameness::Same;
    for answer in answers {
        worst = worst.max(answer);
        if worst == Sameness::Different {
            break;
        }
    }
    worst
}
