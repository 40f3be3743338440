//! Comparing by the hints of nested keys: the twin of [`compare`] for types that say how what is within
//! their properties is treated.

use super::compare::{Sameness, Secrets, by_index, compare, verdict, worst};
use super::rule::is_private;
use super::view::{Facet, View};
use formwork_model::{
    FieldHint, Json, NestedHints, NestedKey, PropertySchema, Stored, UpdateMethod, canonical,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is said of a value and of what is within it. An element of an array is treated as the array is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guide<'s> {
    pub(crate) hint: &'s FieldHint,
    pub(crate) within: &'s NestedHints,
}

impl<'s> Guide<'s> {
    /// Of a property, if its type says anything of what is within.
    pub(crate) fn of(property: &'s PropertySchema) -> Option<Self> {
        Some(Self { hint: &property.hint, within: property.within.as_deref()? })
    }

    /// Of a member.
    pub(crate) fn key(self, name: &str) -> Self {
        let NestedKey { hint, within } = self.within.key(name);
        Self { hint, within }
    }
}

/// The hints of the keys that are declared somewhere, by their address.
pub(crate) type Declared = FxHashSet<*const FieldHint>;

/// What two values are to each other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look<'d> {
    /// What is declared, and what was sent: all of it counts.
    Sent,
    /// What is declared, and what is seen: what is never read back does not count.
    Seen,
    /// What was answered, and what is seen: what the provider chose does not count where nobody declared it.
    Answers(&'d Declared),
}

/// How values are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lens<'d> {
    pub(crate) look: Look<'d>,
    /// Whether what cannot change in place is passed over.
    pub(crate) without_fixed: bool,
}

impl<'d> Lens<'d> {
    pub(crate) fn new(look: Look<'d>) -> Self {
        Self { look, without_fixed: false }
    }

    fn secrets(self) -> Secrets {
        match self.look {
            Look::Sent | Look::Seen => Secrets::Strict,
            Look::Answers(_) => Secrets::Hidden,
        }
    }

    /// Whether a key is not looked at.
    pub(crate) fn skips(self, key: Guide<'_>) -> bool {
        let hint = key.hint;
        let hidden = match self.look {
            Look::Sent => false,
            Look::Seen => is_private(hint),
            Look::Answers(declared) => {
                is_private(hint) || hint.has_provider_default && !declared.contains(&std::ptr::from_ref(hint))
            }
        };
        hidden || self.without_fixed && hint.create_only
    }
}

/// Compares two values of one property, or of one key within.
pub(crate) fn compare_guided<A: Facet, B: Facet>(
    guide: Guide<'_>,
    left: View<'_, A>,
    right: View<'_, B>,
    lens: Lens<'_>,
) -> Sameness {
    if guide.hint.format.as_deref() == Some("json")
        && let (View::Json(left), View::Json(right)) = (left, right)
        && (left.is_string() || right.is_string())
    {
        return verdict(json_text(left) == json_text(right));
    }
    if guide.hint.update_method == UpdateMethod::Atomic {
        return compare(left, right, lens.secrets());
    }
    if left.member_count().is_some() && right.member_count().is_some() {
        return compare_objects(guide, left, right, lens);
    }
    let (Some(count), Some(other)) = (left.item_count(), right.item_count()) else {
        return compare(left, right, lens.secrets());
    };
    match &guide.hint.update_method {
        UpdateMethod::EntitySet(index) => match (by_index(&index.0, left), by_index(&index.0, right)) {
            (Some(entities), Some(others)) => {
                // Entities that the provider added of itself are no difference where it may.
                let may_have_more = guide.hint.has_provider_default && matches!(lens.look, Look::Seen);
                if count != other && !(may_have_more && count < other) {
                    return Sameness::Different;
                }
                worst(entities.into_iter().map(|(key, entity)| match others.get(&key) {
                    Some(other) => compare_guided(guide, entity, *other, lens),
                    None => Sameness::Different,
                }))
            }
            _ => compare_bags(guide, left, right, lens),
        },
        UpdateMethod::Set => compare_bags(guide, left, right, lens),
        UpdateMethod::Array | UpdateMethod::Atomic if count == other => worst(
            left.items().zip(right.items()).map(|(left, right)| compare_guided(guide, left, right, lens)),
        ),
        UpdateMethod::Array | UpdateMethod::Atomic => Sameness::Different,
    }
}

/// A text that is JSON, or a value in its place, in canonical form; any other text as it is.
fn json_text(value: &Json) -> String {
    let Json::String(text) = value else { return canonical(value) };
    serde_json::from_str(text).map_or_else(|_| text.clone(), |parsed: Json| canonical(&parsed))
}

fn compare_objects<A: Facet, B: Facet>(
    guide: Guide<'_>,
    left: View<'_, A>,
    right: View<'_, B>,
    lens: Lens<'_>,
) -> Sameness {
    let hides = lens.secrets() == Secrets::Hidden;
    let shared = worst(left.members().map(|(name, member)| {
        let key = guide.key(name);
        match right.member(name) {
            _ if lens.skips(key) => Sameness::Same,
            Some(other) => compare_guided(key, member, other, lens),
            None if matches!(member, View::Unknown) => Sameness::Unknown,
            None => verdict(hides && member.is_hidden()),
        }
    }));
    if shared == Sameness::Different {
        return shared;
    }
    let extra = right.members().filter(|(name, _)| left.member(name).is_none());
    shared.max(worst(extra.map(|(name, member)| {
        let key = guide.key(name);
        // What is declared no longer, or was never, is the provider's to choose.
        let chosen = !hides && key.hint.has_provider_default;
        verdict(chosen || lens.skips(key) || hides && member.is_hidden())
    })))
}

/// As multisets: whether each element has another that is the same as far as the hints care.
fn compare_bags<A: Facet, B: Facet>(
    guide: Guide<'_>,
    left: View<'_, A>,
    right: View<'_, B>,
    lens: Lens<'_>,
) -> Sameness {
    if left.item_count() != right.item_count() {
        return Sameness::Different;
    }
    let (left, right) = unequal(left, right);
    if left.len() != right.len() {
        return Sameness::Different;
    }
    if left.len() > MOST_PAIRED {
        let pairs = left.into_iter().zip(right);
        return worst(pairs.map(|((_, left), (_, right))| compare_guided(guide, left, right, lens)));
    }
    let answers: Vec<Vec<Sameness>> = (left.iter())
        .map(|(_, left)| right.iter().map(|(_, right)| compare_guided(guide, *left, *right, lens)).collect())
        .collect();
    let all_pair = |most: Sameness| {
        let pairs = pair_up(left.len(), |at, other| answers[at][other] <= most);
        pairs.iter().all(Option::is_some)
    };
    if all_pair(Sameness::Same) {
        Sameness::Same
    } else if all_pair(Sameness::Unknown) {
        Sameness::Unknown
    } else {
        Sameness::Different
    }
}

/// Whether two values of a property, or of a key, are the same as far as its hints care: what is to be sent, and what is
/// there.
pub fn is_same(hint: &FieldHint, within: &NestedHints, desired: &Stored, there: &Stored) -> bool {
    let guide = Guide { hint, within };
    compare_guided(guide, View::of(desired), View::of(there), Lens::new(Look::Sent)) == Sameness::Same
}

/// Above so many elements that are not exactly equal, they are compared in order.
pub(crate) const MOST_PAIRED: usize = 200;

/// Elements with their places.
pub(crate) type Placed<'v, L> = Vec<(usize, View<'v, L>)>;

/// The elements of two bags that have no exactly equal one in the other, in order.
pub(crate) fn unequal<'l, 'r, A: Facet, B: Facet>(
    left: View<'l, A>,
    right: View<'r, B>,
) -> (Placed<'l, A>, Placed<'r, B>) {
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    for item in right.items().filter_map(View::comparable) {
        *known.entry(canonical(&item)).or_default() += 1;
    }
    let mut equal: FxHashMap<String, usize> = FxHashMap::default();
    let left = left.items().enumerate().filter(|(_, item)| {
        let Some(text) = item.comparable().map(|item| canonical(&item)) else { return true };
        let Some(count) = known.get_mut(&text).filter(|count| **count > 0) else { return true };
        *count -= 1;
        *equal.entry(text).or_default() += 1;
        false
    });
    let left = left.collect();
    let right = right.items().enumerate().filter(|(_, item)| {
        let Some(text) = item.comparable().map(|item| canonical(&item)) else { return true };
        let Some(count) = equal.get_mut(&text).filter(|count| **count > 0) else { return true };
        *count -= 1;
        false
    });
    (left, right.collect())
}

/// The most pairs of two bags of this many elements: for each of the first, its partner.
pub(crate) fn pair_up(count: usize, fits: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let mut taken: Vec<Option<usize>> = vec![None; count];
    for at in 0..count {
        let mut tried = vec![false; count];
        find_partner(at, &fits, &mut tried, &mut taken);
    }
    let mut partners = vec![None; count];
    for (other, at) in taken.iter().enumerate() {
        if let Some(at) = at {
            partners[*at] = Some(other);
        }
    }
    partners
}

/// Finds a partner, if need be by finding another one for whoever has it. As deep as there are elements, which
/// are [`MOST_PAIRED`].
fn find_partner(
    at: usize,
    fits: &impl Fn(usize, usize) -> bool,
    tried: &mut [bool],
    taken: &mut [Option<usize>],
) -> bool {
    for other in 0..taken.len() {
        if tried[other] || !fits(at, other) {
            continue;
        }
        tried[other] = true;
        let free = match taken[other] {
            None => true,
            Some(holder) => find_partner(holder, fits, tried, taken),
        };
        if free {
            taken[other] = Some(at);
            return true;
        }
    }
    false
}

/// Which keys within a value are declared.
pub(crate) fn declared_keys<L: Facet>(guide: Guide<'_>, value: View<'_, L>, into: &mut Declared) {
    value.items().for_each(|item| declared_keys(guide, item, into));
    for (name, member) in value.members() {
        let key = guide.key(name);
        into.insert(std::ptr::from_ref(key.hint));
        declared_keys(key, member, into);
    }
}
