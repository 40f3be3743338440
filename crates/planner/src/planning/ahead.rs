//! What refers to an object goes before it (INV-6), also where an object goes before its replacement comes: the
//! deletions of its referrers are moved ahead, be they replaced too or no longer declared.
//!
//! Otherwise deletions wait for all that is made and changed. These can't: a provider keeps what something is in.

use formwork_model::{Action, BaseRow, Condition, Row, RowId, RowRef, Step, StepId, TARGET_TYPE};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Moves deletions ahead of those of what they refer to. Where that is impossible, which only a damaged ledger can
/// bring about, the steps stay as they are.
pub(crate) fn referrers_first(steps: Vec<Step>, bases: &mut [BaseRow], rows: &[Row]) -> Vec<Step> {
    let Some(ahead) = Ahead::new(&steps, rows) else { return steps };
    for careful in [true, false] {
        let changed = ahead.applied(&steps, careful);
        if let Some(order) = order(&changed) {
            return renumbered(changed, &order, bases);
        }
    }
    steps
}

/// The deletions to be moved, as indices of steps.
struct Ahead {
    /// What refers to each object that goes before its replacement.
    referrers: Vec<(usize, Vec<usize>)>,
    /// Deletions of what is no longer declared, which would come at the end.
    removals: FxHashSet<usize>,
}

impl Ahead {
    /// `None` if nothing is to be moved.
    fn new(steps: &[Step], rows: &[Row]) -> Option<Self> {
        let (mut replaced, mut removed) = (FxHashMap::default(), FxHashMap::default());
        for (at, step) in steps.iter().enumerate() {
            let (RowRef::Existing(row), Condition::Always) = (&step.row, &step.when) else { continue };
            match step.action {
                Action::Delete { replacing: true } => drop(replaced.insert(row, at)),
                Action::Delete { replacing: false } => drop(removed.insert(row, at)),
                _ => {}
            }
        }
        if replaced.is_empty() {
            return None;
        }
        let mut movable = Movable { steps, known: FxHashMap::default() };
        let mut referrers: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let mut removals = FxHashSet::default();
        for row in rows {
            let removal = removed.get(&row.id).copied();
            let Some(own) = replaced.get(&row.id).copied().or(removal) else { continue };
            let named = row.references.iter().filter(|named| **named != row.id);
            let named: Vec<usize> = named.filter_map(|named: &RowId| replaced.get(named).copied()).collect();
            if named.is_empty() || removal.is_some() && !movable.is(own) {
                continue;
            }
            if removal.is_some() {
                with_all_before(steps, own, &mut removals);
            }
            for named in named {
                referrers.entry(named).or_default().push(own);
            }
        }
        let mut referrers: Vec<_> = referrers.into_iter().collect();
        referrers.sort_unstable();
        (!referrers.is_empty()).then_some(Self { referrers, removals })
    }

    /// The steps with other dependencies. `careful`: what goes ahead still waits for what its place would have waited
    /// for, so that nothing is deleted whose replacement can't be made anyway.
    fn applied(&self, steps: &[Step], careful: bool) -> Vec<Step> {
        let mut changed = steps.to_vec();
        let mut above: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (named, referrers) in &self.referrers {
            for referrer in referrers {
                changed[*named].after_steps.push(steps[*referrer].id);
                above.entry(*referrer).or_default().push(*named);
            }
        }
        for at in &self.removals {
            changed[*at].wave = 0;
            for on in steps[*at].after_steps.iter().filter(|on| is_removal(&steps[on.index()])) {
                above.entry(on.index()).or_default().push(*at);
            }
        }
        for referrer in above.keys() {
            let step = &mut changed[*referrer];
            let own: FxHashSet<StepId> = steps[*referrer].after_steps.iter().copied().collect();
            step.after_steps.retain(|on| !own.contains(on) || stays(&steps[on.index()]));
            if careful {
                step.after_steps.extend(inherited(steps, &above, *referrer));
            }
            step.after_steps.sort_unstable();
            step.after_steps.dedup();
        }
        changed
    }
}

/// What the topmost of the objects that one is in wait for before they go.
fn inherited(steps: &[Step], above: &FxHashMap<usize, Vec<usize>>, from: usize) -> Vec<StepId> {
    let (mut seen, mut open, mut found) = (FxHashSet::default(), vec![from], Vec::new());
    while let Some(at) = open.pop() {
        match above.get(&at) {
            Some(named) => open.extend(named.iter().copied().filter(|named| seen.insert(*named))),
            None => found.extend(steps[at].after_steps.iter().copied()),
        }
    }
    found
}

/// Whether a deletion that goes ahead still waits for a step: for the outcome of an earlier effect, for the place where
/// its object lives, and for other deletions.
fn stays(on: &Step) -> bool {
    on.action == Action::Resolve
        || on.action == (Action::Delete { replacing: false })
        || on.type_name.as_str() == TARGET_TYPE
}

/// Which deletions can be moved: those that wait for nothing that comes at the end but others that can.
struct Movable<'s> {
    steps: &'s [Step],
    known: FxHashMap<usize, bool>,
}

impl Movable<'_> {
    /// Whether a deletion can be moved. What one waits for comes before it in the plan, so going down the indices
    /// needs no recursion.
    fn is(&mut self, at: usize) -> bool {
        let mut needed = FxHashSet::default();
        with_all_before(self.steps, at, &mut needed);
        let mut needed: Vec<usize> = needed.into_iter().collect();
        needed.sort_unstable();
        for one in needed {
            let waits = &self.steps[one].after_steps;
            let fits = waits.iter().all(|on| {
                let step = &self.steps[on.index()];
                let known = self.known.get(&on.index()).copied();
                step.action == Action::Resolve || is_removal(step) && known.unwrap_or(false)
            });
            self.known.insert(one, fits);
        }
        self.known.get(&at).copied().unwrap_or(false)
    }
}

fn is_removal(step: &Step) -> bool {
    step.action == (Action::Delete { replacing: false }) && step.when == Condition::Always
}

/// A deletion, and all the deletions that it waits for.
fn with_all_before(steps: &[Step], at: usize, found: &mut FxHashSet<usize>) {
    let mut open = vec![at];
    while let Some(at) = open.pop() {
        if found.insert(at) {
            let before = steps[at].after_steps.iter().map(|on| on.index());
            open.extend(before.filter(|before| is_removal(&steps[*before])));
        }
    }
}

/// The steps in an order in which what each waits for comes before it, otherwise as they are; `None` if they wait for
/// each other in a circle.
fn order(steps: &[Step]) -> Option<Vec<usize>> {
    let mut waiting = vec![0_usize; steps.len()];
    let mut freed = vec![Vec::new(); steps.len()];
    for (at, step) in steps.iter().enumerate() {
        let waits = step.after_steps.iter().chain(condition(&step.when));
        for on in waits {
            freed[on.index()].push(at);
            waiting[at] += 1;
        }
    }
    let ready = (0..steps.len()).filter(|at| waiting[*at] == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(Reverse(at)) = ready.pop() {
        order.push(at);
        for next in &freed[at] {
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    (order.len() == steps.len()).then_some(order)
}

/// The steps that a condition names.
fn condition(when: &Condition) -> impl Iterator<Item = &StepId> {
    let (listed, one) = match when {
        Condition::Always => (None, None),
        Condition::RefChanged(listed) => (Some(listed), None),
        Condition::Replaced(on) => (None, Some(on)),
    };
    listed.into_iter().flatten().map(|(on, _)| on).chain(one)
}

fn renumbered(steps: Vec<Step>, order: &[usize], bases: &mut [BaseRow]) -> Vec<Step> {
    let mut ids = vec![StepId(0); steps.len()];
    for (new, old) in order.iter().enumerate() {
        ids[*old] = StepId(crate::graph::narrow(new));
    }
    let new = |id: &mut StepId| *id = ids[id.index()];
    for base in bases.iter_mut() {
        new(&mut base.step);
    }
    let mut steps: Vec<Step> = steps;
    for step in &mut steps {
        new(&mut step.id);
        step.after_steps.iter_mut().for_each(new);
        step.after_steps.sort_unstable();
        match &mut step.when {
            Condition::Always => {}
            Condition::RefChanged(listed) => listed.iter_mut().for_each(|(on, _)| new(on)),
            Condition::Replaced(on) => new(on),
        }
    }
    steps.sort_unstable_by_key(|step| step.id);
    steps
}
