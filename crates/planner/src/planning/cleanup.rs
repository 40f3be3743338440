//! Deposed objects: their deletion comes last, those that refer to others first.

use super::declare::existing;
use super::draft::{CleanupDraft, Draft, blank};
use formwork_model::{Action, Condition, OperationKind, StepId};
use rustc_hash::FxHashMap;

/// The wave of deletions: after all creations and updates of the stack.
pub(crate) const DELETES: u32 = 1;
/// The wave of cleanups: after all deletions (seed 4, "Replacement").
pub(crate) const CLEANUPS: u32 = 2;

impl Draft<'_, '_> {
    /// Adds the steps for all deposed objects. In a teardown they come first and hold up nothing.
    pub(crate) fn add_cleanups(&mut self) {
        let mut drafts = std::mem::take(&mut self.cleanups);
        if drafts.is_empty() {
            return;
        }
        // Found in dependency order; what refers to others goes first.
        drafts.reverse();
        let dependents = self.links.nodes.reversed();
        let mut done: FxHashMap<u32, Vec<StepId>> = FxHashMap::default();
        for draft in drafts {
            let node = draft.node;
            let waits = node.map_or(&[][..], |node| dependents.of(node as usize));
            let after: Vec<StepId> =
                waits.iter().filter_map(|node| done.get(node)).flatten().copied().collect();
            let step = self.add_cleanup(draft, after);
            if let Some(node) = node {
                done.entry(node).or_default().push(step);
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
