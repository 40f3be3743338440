//! What leaves: rows that are not declared and objects that were deposed, in one order. What refers to
//! others goes before what it refers to; otherwise rows go in reverse order of declaration, and deposed
//! objects after them, or, in a teardown, before.

use super::cleanup::deposed_id;
use super::draft::{CleanupDraft, Draft};
use super::edges::reached_through;
use crate::graph::narrow;
use formwork_model::{Action, Json, OperationKind, Row, StackId, StepId, Stored, TARGET_TYPE, TargetRev};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that leaves.
enum Leaving {
    /// A row, as an index into the request's.
    Row(usize),
    /// A deposed object.
    Object(Box<CleanupDraft>),
}

impl Draft<'_, '_> {
    /// Adds the steps for all that leaves.
    pub(crate) fn add_leaving(&mut self) {
        let going = self.removal_order();
        let freed = self.freed(&going);
        let leaving = self.leaving(going);
        let before = self.before(&leaving);
        let mut steps: Vec<Option<StepId>> = vec![None; leaving.len()];
        let mut leaving: Vec<Option<Leaving>> = leaving.into_iter().map(Some).collect();
        for at in first_before(&before) {
            let (step, row) = match leaving[at].take() {
                Some(Leaving::Row(row)) => (self.removal(row), row),
                Some(Leaving::Object(draft)) => {
                    let row = draft.row;
                    (Some(self.cleanup(*draft)), row)
                }
                None => continue,
            };
            let Some(mut step) = step else { continue };
            step.after_steps.extend(self.resolving.get(&row));
            if !matches!(step.action, Action::Cleanup { .. }) {
                step.after_steps.extend(freed.get(&row).into_iter().flatten());
            }
            for on in before[at].iter().filter_map(|on| steps[*on]) {
                let earlier = &self.steps[on.index()];
                if earlier.stack == step.stack {
                    step.wave = step.wave.max(earlier.wave);
                }
                step.after_steps.push(on);
            }
            steps[at] = Some(self.push(step, Some(row)));
        }
    }

    /// All that leaves, in the order that it would have if nothing referred to anything.
    fn leaving(&mut self, going: Vec<usize>) -> Vec<Leaving> {
        // Found in dependency order; what refers to others goes first.
        let objects = std::mem::take(&mut self.cleanups)
            .into_iter()
            .rev()
            .map(|draft| Leaving::Object(Box::new(draft)));
        let rows = going.into_iter().map(Leaving::Row);
        if self.world.request.kind == OperationKind::Delete {
            objects.chain(rows).collect()
        } else {
            rows.chain(objects).collect()
        }
    }

    /// What has to go before each: what refers to it.
    fn before(&self, leaving: &[Leaving]) -> Vec<Vec<usize>> {
        let mut before = vec![Vec::new(); leaving.len()];
        self.note_references(leaving, &mut before);
        self.note_dependents(leaving, &mut before);
        note_names(leaving, self.world.request.rows, &mut before);
        note_targets(leaving, self.world.request.rows, &mut before);
        before
    }

    /// By the ledger's references: a row goes before the rows that it refers to, but after those that it is
    /// only reached through. It also goes before an
    /// old object of such a row if it names that one, never having been pointed at the new one.
    fn note_references(&self, leaving: &[Leaving], before: &mut [Vec<usize>]) {
        let rows = self.world.request.rows;
        let mut of_row: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (at, one) in leaving.iter().enumerate() {
            of_row.entry(one.row()).or_default().push(at);
        }
        for (at, one) in leaving.iter().enumerate() {
            let Leaving::Row(referrer) = one else { continue };
            let named = rows[*referrer].references.iter().filter_map(|id| self.world.row_index.get(id));
            let others = named.filter(|row| *row != referrer).filter_map(|row| of_row.get(row)).flatten();
            let through = reached_through(self.world, *referrer);
            let mut sent = None;
            for other in others {
                if matches!(leaving[*other], Leaving::Row(row) if through.contains(&row)) {
                    before[at].push(*other);
                    continue;
                }
                let is_named = match &leaving[*other] {
                    Leaving::Row(_) => true,
                    Leaving::Object(draft) => deposed_id(draft, rows).is_some_and(|id| {
                        let sent = sent.get_or_insert_with(|| sent_by(&rows[*referrer]));
                        sent.iter().any(|sent| mentions(sent, id.as_str()))
                    }),
                };
                if is_named {
                    before[*other].push(at);
                }
            }
        }
    }

    /// By the declaration: the old objects of a resource's dependents go before its own.
    fn note_dependents(&self, leaving: &[Leaving], before: &mut [Vec<usize>]) {
        let node = |one: &Leaving| match one {
            Leaving::Object(draft) => draft.node,
            Leaving::Row(_) => None,
        };
        let mut of_node: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (at, one) in leaving.iter().enumerate() {
            if let Some(node) = node(one) {
                of_node.entry(node).or_default().push(at);
            }
        }
        if of_node.is_empty() {
            return;
        }
        let dependents = self.links.nodes.reversed();
        for (at, one) in leaving.iter().enumerate() {
            let nodes = node(one).map_or(&[][..], |node| dependents.of(node as usize));
            before[at].extend(nodes.iter().filter_map(|node| of_node.get(node)).flatten());
        }
    }
}

impl Leaving {
    fn row(&self) -> usize {
        match self {
            Self::Row(row) => *row,
            Self::Object(draft) => draft.row,
        }
    }
}

/// By what was sent: an old object goes before what it names.
fn note_names(leaving: &[Leaving], rows: &[Row], before: &mut [Vec<usize>]) {
    let mut of_id: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, one) in leaving.iter().enumerate() {
        let id = match one {
            Leaving::Row(row) => rows[*row].current.as_ref().map(|object| &object.native_id),
            Leaving::Object(draft) => deposed_id(draft, rows),
        };
        if let Some(id) = id {
            of_id.entry(id.as_str()).or_default().push(at);
        }
    }
    for (at, one) in leaving.iter().enumerate() {
        let Leaving::Object(draft) = one else { continue };
        let Some(sent) = &draft.before else { continue };
        for_each_text(&sent.comparable(), &mut |text| {
            for named in of_id.get(text).into_iter().flatten().filter(|named| **named != at) {
                before[*named].push(at);
            }
        });
    }
}

/// What lives at a target goes before it: it is called with what the target says.
fn note_targets(leaving: &[Leaving], rows: &[Row], before: &mut [Vec<usize>]) {
    let mut targets: FxHashMap<(&StackId, &str), usize> = FxHashMap::default();
    for (at, one) in leaving.iter().enumerate() {
        if let Leaving::Row(row) = one
            && rows[*row].type_name.as_str() == TARGET_TYPE
        {
            targets.insert((&rows[*row].stack, rows[*row].label.as_str()), at);
        }
    }
    if targets.is_empty() {
        return;
    }
    for (at, one) in leaving.iter().enumerate() {
        let row = &rows[one.row()];
        let of_row = || {
            let current = row.current.as_ref().map(|object| &object.target);
            current.into_iter().chain(row.intent.as_ref().map(|intent| &intent.target)).collect()
        };
        let lives_at: Vec<&TargetRev> = match one {
            Leaving::Row(_) => of_row(),
            Leaving::Object(draft) => vec![&draft.target],
        };
        let on = lives_at.iter().filter_map(|target| targets.get(&(&row.stack, target.name.as_str())));
        on.filter(|target| **target != at).for_each(|target| before[*target].push(at));
    }
}

/// What a row's object was sent, and what an earlier call sent that may have made one.
fn sent_by(row: &Row) -> Vec<Json> {
    let current = row.current.as_ref().map(|object| &object.sent);
    let called = row.intent.as_ref().map(|intent| &intent.sent);
    current.into_iter().chain(called).map(Stored::comparable).collect()
}

fn mentions(value: &Json, id: &str) -> bool {
    let mut found = false;
    for_each_text(value, &mut |text| found |= text.contains(id));
    found
}

fn for_each_text(value: &Json, visit: &mut impl FnMut(&str)) {
    match value {
        Json::String(text) => visit(text),
        Json::Array(items) => items.iter().for_each(|item| for_each_text(item, visit)),
        Json::Object(members) => members.values().for_each(|member| for_each_text(member, visit)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The numbers from 0, in order but for this: each comes after all in its list. Where they wait for each
/// other in a circle, which only a damaged ledger holds, they keep their order.
fn first_before(before: &[Vec<usize>]) -> Vec<usize> {
    let count = before.len();
    let mut waiting: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut freed = vec![Vec::new(); count];
    for (at, list) in before.iter().enumerate() {
        for on in list {
            freed[*on].push(at);
        }
    }
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..count).filter(|at| waiting[*at] == 0).map(|at| Reverse(narrow(at))).collect();
    let mut done = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut next = 0;
    while order.len() < count {
        let Some(chosen) = ready.pop().map(|Reverse(at)| at as usize).or_else(|| {
            next += (next..count).take_while(|at| done[*at]).count();
            (next < count).then_some(next)
        }) else {
            break;
        };
        if std::mem::replace(&mut done[chosen], true) {
            continue;
        }
        order.push(chosen);
        for at in &freed[chosen] {
            waiting[*at] = waiting[*at].saturating_sub(1);
            if waiting[*at] == 0 && !done[*at] {
                ready.push(Reverse(narrow(*at)));
            }
        }
    }
    order
}
