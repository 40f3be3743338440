//! Nested keys that cannot change in place: where they do, and what is never read back within a value.

use super::compare::{Sameness, entity_key};
use super::guided::{Guide, Lens, MOST_PAIRED, compare_guided, pair_up, unequal};
use super::rule::is_private;
use super::view::{Facet, View};
use formwork_model::{FieldHint, Path, Segment, UpdateMethod, canonical};
use rustc_hash::FxHashMap;

/// A change of a nested key that cannot change in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FixedChange {
    /// Where it is declared, within the property.
    pub(crate) path: Path,
    /// Where it was, within the property.
    pub(crate) before: Path,
    /// Whether it certainly changes.
    pub(crate) certain: bool,
}

/// Whether a hint is of a key that cannot change in place.
pub(crate) fn is_fixed(hint: &FieldHint) -> bool {
    hint.create_only
}

/// Finds what changed of what cannot, within two values. An object that comes or goes as a whole is no change of
/// what is in it.
pub(crate) fn fixed_changes<A: Facet, B: Facet>(
    guide: Guide<'_>,
    left: View<'_, A>,
    right: View<'_, B>,
    lens: Lens<'_>,
) -> Vec<FixedChange> {
    let mut finder = Finder { lens, found: Vec::new(), path: Path::root(), before: Path::root() };
    if guide.within.has(&is_fixed) {
        finder.value(guide, left, right);
    }
    finder.found
}

struct Finder<'d> {
    lens: Lens<'d>,
    found: Vec<FixedChange>,
    path: Path,
    before: Path,
}

impl Finder<'_> {
    fn value<A: Facet, B: Facet>(&mut self, guide: Guide<'_>, left: View<'_, A>, right: View<'_, B>) {
        if guide.hint.update_method == UpdateMethod::Atomic {
            return;
        }
        for (name, member) in left.members() {
            let key = guide.key(name);
            if !self.lens.skips(key) {
                self.at(Segment::Key(name.into()), Segment::Key(name.into()), |finder| {
                    finder.member(key, Some(member), right.member(name));
                });
            }
        }
        let gone = right.members().filter(|(name, _)| left.member(name).is_none());
        for (name, member) in gone {
            let key = guide.key(name);
            if !self.lens.skips(key) && !key.hint.has_provider_default {
                self.at(Segment::Key(name.into()), Segment::Key(name.into()), |finder| {
                    finder.member(key, None::<View<'_, A>>, Some(member));
                });
            }
        }
        if left.item_count().is_some() && right.item_count().is_some() {
            self.elements(guide, left, right);
        }
    }

    fn member<A: Facet, B: Facet>(
        &mut self,
        key: Guide<'_>,
        left: Option<View<'_, A>>,
        right: Option<View<'_, B>>,
    ) {
        let answer = match (left, right) {
            (Some(left), Some(right)) if !key.hint.create_only => return self.value(key, left, right),
            (Some(left), Some(right)) => compare_guided(key, left, right, self.lens),
            (Some(View::Unknown), None) => Sameness::Unknown,
            _ => Sameness::Different,
        };
        if key.hint.create_only && answer != Sameness::Same {
            self.found.push(FixedChange {
                path: self.path.clone(),
                before: self.before.clone(),
                certain: answer == Sameness::Different,
            });
        }
    }

    fn elements<A: Facet, B: Facet>(&mut self, guide: Guide<'_>, left: View<'_, A>, right: View<'_, B>) {
        for (at, other) in pairs(guide, left, right, self.lens) {
            let (Some(left), Some(right)) = (left.items().nth(at), right.items().nth(other)) else {
                continue;
            };
            self.at(Segment::Index(at), Segment::Index(other), |finder| finder.value(guide, left, right));
        }
    }

    fn at(&mut self, path: Segment, before: Segment, visit: impl FnOnce(&mut Self)) {
        self.path.push(path);
        self.before.push(before);
        visit(self);
        self.path.pop();
        self.before.pop();
    }
}

/// Which elements of two arrays are the same thing, perhaps changed: by their place, by what tells them apart, or, in
/// a bag, by all that can change.
fn pairs<A: Facet, B: Facet>(
    guide: Guide<'_>,
    left: View<'_, A>,
    right: View<'_, B>,
    lens: Lens<'_>,
) -> Vec<(usize, usize)> {
    match &guide.hint.update_method {
        UpdateMethod::Array | UpdateMethod::Atomic => {
            if left.item_count() == right.item_count() {
                return (0..left.item_count().unwrap_or_default()).map(|at| (at, at)).collect();
            }
            Vec::new()
        }
        UpdateMethod::EntitySet(index) => {
            let places: FxHashMap<String, usize> = (right.items().enumerate())
                .filter_map(|(at, entity)| Some((entity_key(&index.0, entity)?, at)))
                .collect();
            (left.items().enumerate())
                .filter_map(|(at, entity)| Some((at, *places.get(&entity_key(&index.0, entity)?)?)))
                .collect()
        }
        UpdateMethod::Set => bag_pairs(guide, left, right, lens),
    }
}

/// The elements of two bags that are the same but for what cannot change in place.
fn bag_pairs<A: Facet, B: Facet>(
    guide: Guide<'_>,
    left: View<'_, A>,
    right: View<'_, B>,
    lens: Lens<'_>,
) -> Vec<(usize, usize)> {
    let (left, right) = unequal(left, right);
    if left.len() != right.len() || left.len() > MOST_PAIRED {
        return Vec::new();
    }
    let lens = Lens { without_fixed: true, ..lens };
    let partners = pair_up(left.len(), |at, other| {
        compare_guided(guide, left[at].1, right[other].1, lens) == Sameness::Same
    });
    let pairs = partners.into_iter().enumerate();
    pairs.filter_map(|(at, other)| Some((left[at].0, right[other?].0))).collect()
}

/// Whether what is never read back within a value is as it was sent; not if that is not known.
pub(crate) fn same_private_parts<A: Facet, B: Facet>(
    guide: Guide<'_>,
    left: View<'_, A>,
    right: View<'_, B>,
) -> bool {
    if !guide.within.has(&is_private) {
        return true;
    }
    let parts = private_parts(guide, left);
    parts.is_some() && parts == private_parts(guide, right)
}

/// What is never read back within a value, each with its place; `None` if any of it is not known.
fn private_parts<L: Facet>(guide: Guide<'_>, value: View<'_, L>) -> Option<Vec<(Path, String)>> {
    let mut parts = Vec::new();
    collect_private(guide, value, &mut Path::root(), &mut parts)?;
    parts.sort();
    Some(parts)
}

fn collect_private<L: Facet>(
    guide: Guide<'_>,
    value: View<'_, L>,
    path: &mut Path,
    into: &mut Vec<(Path, String)>,
) -> Option<()> {
    for (at, item) in value.items().enumerate() {
        path.push(Segment::Index(at));
        collect_private(guide, item, path, into)?;
        path.pop();
    }
    for (name, member) in value.members() {
        let key = guide.key(name);
        path.push(Segment::Key(name.into()));
        if is_private(key.hint) {
            into.push((path.clone(), canonical(&member.comparable()?)));
        } else {
            collect_private(key, member, path, into)?;
        }
        path.pop();
    }
    Some(())
}
