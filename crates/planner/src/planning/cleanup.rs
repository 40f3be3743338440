//! Deposed objects: their deletion comes last, what refers to others first.

use super::declare::existing;
use super::draft::{CleanupDraft, Draft, blank};
use super::removal::targets_last;
use formwork_model::{Action, Condition, Json, NativeId, OperationKind, Row, StepId, Stored};
use rustc_hash::FxHashMap;

/// The wave of deletions: after all creations and updates of the stack.
pub(crate) const DELETES: u32 = 1;
/// The wave of cleanups: after all deletions (seed 4, "Replacement").
pub(crate) const CLEANUPS: u32 = 2;

impl Draft<'_, '_> {
    /// Adds the steps for those deposed objects that nothing still standing refers to: in a teardown
    /// they come first and hold up nothing. The others wait for [`add_cleanups`](Self::add_cleanups).
    pub(crate) fn add_free_cleanups(&mut self, going: &[usize]) {
        let drafts = self.take_cleanups();
        let waits = self.waits(&drafts, going);
        let mut late = vec![false; drafts.len()];
        for at in &waits.order {
            late[*at] = !waits.rows[*at].is_empty() || waits.after[*at].iter().any(|on| late[*on]);
        }
        let (held, free) = (drafts.into_iter().zip(late)).partition::<Vec<_>, _>(|(_, late)| *late);
        self.cleanups = held.into_iter().rev().map(|(draft, _)| draft).collect();
        let free: Vec<_> = free.into_iter().map(|(draft, _)| draft).collect();
        let waits = self.waits(&free, going);
        self.push_cleanups(free, &waits, &FxHashMap::default());
    }

    /// Adds the steps for all deposed objects, each after what refers to it: other deposed objects,
    /// and the rows that go, of which `removed` names the steps.
    pub(crate) fn add_cleanups(&mut self, going: &[usize], removed: &FxHashMap<usize, StepId>) {
        let drafts = self.take_cleanups();
        let waits = self.waits(&drafts, going);
        self.push_cleanups(drafts, &waits, removed);
    }

    /// They were found in dependency order; what refers to others goes first.
    fn take_cleanups(&mut self) -> Vec<CleanupDraft> {
        let mut drafts = std::mem::take(&mut self.cleanups);
        drafts.reverse();
        drafts
    }

    fn push_cleanups(
        &mut self,
        drafts: Vec<CleanupDraft>,
        waits: &Waits,
        removed: &FxHashMap<usize, StepId>,
    ) {
        let mut steps: Vec<Option<StepId>> = vec![None; drafts.len()];
        let mut drafts: Vec<Option<CleanupDraft>> = drafts.into_iter().map(Some).collect();
        for at in &waits.order {
            let Some(draft) = drafts[*at].take() else { continue };
            let others = waits.after[*at].iter().filter_map(|on| steps[*on]);
            let rows = waits.rows[*at].iter().filter_map(|row| removed.get(row).copied());
            let after = others.chain(rows).collect();
            steps[*at] = Some(self.add_cleanup(draft, after));
        }
    }

    /// What has to go before each of these objects.
    fn waits(&self, drafts: &[CleanupDraft], going: &[usize]) -> Waits {
        let mut waits = Waits {
            order: Vec::new(),
            after: vec![Vec::new(); drafts.len()],
            rows: vec![Vec::new(); drafts.len()],
        };
        if drafts.is_empty() {
            return waits;
        }
        self.note_dependents(drafts, &mut waits);
        note_mentions(drafts, self.world.request.rows, &mut waits);
        self.note_rows(drafts, going, &mut waits);
        let mut targets = vec![Vec::new(); drafts.len()];
        for (at, after) in waits.after.iter().enumerate() {
            after.iter().for_each(|on| targets[*on].push(at));
        }
        waits.order = targets_last(&targets);
        waits
    }

    /// The old objects of a resource's dependents go before its own.
    fn note_dependents(&self, drafts: &[CleanupDraft], waits: &mut Waits) {
        let mut of_node: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (at, draft) in drafts.iter().enumerate() {
            if let Some(node) = draft.node {
                of_node.entry(node).or_default().push(at);
            }
        }
        let dependents = self.links.nodes.reversed();
        for (at, draft) in drafts.iter().enumerate() {
            let nodes = draft.node.map_or(&[][..], |node| dependents.of(node as usize));
            waits.after[at].extend(nodes.iter().filter_map(|node| of_node.get(node)).flatten());
        }
    }

    /// A row that goes may still refer to the old object of another, never having been pointed at the
    /// new one: it goes first, and if it does not, that object stays too.
    fn note_rows(&self, drafts: &[CleanupDraft], going: &[usize], waits: &mut Waits) {
        let rows = self.world.request.rows;
        let mut of_row: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (at, draft) in drafts.iter().enumerate() {
            of_row.entry(draft.row).or_default().push(at);
        }
        for referrer in going {
            let row = &rows[*referrer];
            let named = row.references.iter().filter_map(|id| self.world.row_index.get(id));
            let old: Vec<usize> = named.filter_map(|row| of_row.get(row)).flatten().copied().collect();
            if old.is_empty() {
                continue;
            }
            // What an earlier call may have made is there as well once it is resolved.
            let current = row.current.as_ref().map(|object| &object.sent);
            let called = row.intent.as_ref().map(|intent| &intent.sent);
            let sent: Vec<Json> = current.into_iter().chain(called).map(Stored::comparable).collect();
            for at in old {
                let id = deposed_id(&drafts[at], rows);
                if id.is_some_and(|id| sent.iter().any(|sent| mentions(sent, id.as_str()))) {
                    waits.rows[at].push(*referrer);
                }
            }
        }
    }

    fn add_cleanup(&mut self, draft: CleanupDraft, mut after: Vec<StepId>) -> StepId {
        let row = &self.world.request.rows[draft.row];
        if let Condition::Replaced(step) = draft.when {
            after.push(step);
        }
        after.extend(self.resolving.get(&draft.row));
        self.pin_name(&draft.type_name);
        let action = Action::Cleanup { native_id: draft.native_id };
        let mut step = blank(&row.stack, &row.label, existing(row), draft.type_name, draft.target, action);
        step.when = draft.when;
        step.before = draft.before;
        step.deletion_policy = draft.policy;
        step.after_steps = after;
        step.wave = if self.world.request.kind == OperationKind::Delete { 0 } else { CLEANUPS };
        step.position = draft.node.map_or(row.position, |node| self.world.node(node).position);
        step.place = draft
            .node
            .and_then(|node| super::cause::declaration_place(self.world, self.world.node(node).resource));
        step.cause = draft.cause;
        self.push(step, Some(draft.row))
    }
}

/// What has to go before each of a list of deposed objects.
struct Waits {
    /// The objects, so that each comes after those it waits for.
    order: Vec<usize>,
    /// Per object, others of the list.
    after: Vec<Vec<usize>>,
    /// Per object, rows.
    rows: Vec<Vec<usize>>,
}

/// The object of a cleanup. One that an update may only discover to be replaced is its row's.
fn deposed_id<'a>(draft: &'a CleanupDraft, rows: &'a [Row]) -> Option<&'a NativeId> {
    let current = || rows[draft.row].current.as_ref().map(|object| &object.native_id);
    draft.native_id.as_ref().or_else(current)
}

/// Old objects that name others go before those, declared or not.
fn note_mentions(drafts: &[CleanupDraft], rows: &[Row], waits: &mut Waits) {
    let mut of_id: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, draft) in drafts.iter().enumerate() {
        if let Some(id) = deposed_id(draft, rows) {
            of_id.entry(id.as_str()).or_default().push(at);
        }
    }
    for (at, draft) in drafts.iter().enumerate() {
        let Some(before) = &draft.before else { continue };
        for_each_text(&before.comparable(), &mut |text| {
            for named in of_id.get(text).into_iter().flatten().filter(|named| **named != at) {
                waits.after[*named].push(at);
            }
        });
    }
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
