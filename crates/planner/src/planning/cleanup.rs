//! Deposed objects: their deletion comes last.

use super::declare::existing;
use super::draft::{CleanupDraft, Draft, blank};
use formwork_model::{Action, Condition, NativeId, OperationKind, Row, Step};

/// The wave of deletions: after all creations and updates of the stack.
pub(crate) const DELETES: u32 = 1;
/// The wave of cleanups: after all deletions (seed 4, "Replacement"), but for those of what a deposed
/// object names.
pub(crate) const CLEANUPS: u32 = 2;

impl Draft<'_, '_> {
    /// The step that deletes a deposed object.
    pub(crate) fn cleanup(&mut self, draft: CleanupDraft) -> Step {
        let row = &self.world.request.rows[draft.row];
        self.pin_name(&draft.type_name);
        let action = Action::Cleanup { native_id: draft.native_id };
        let mut step = blank(&row.stack, &row.label, existing(row), draft.type_name, draft.target, action);
        if let Condition::Replaced(on) = draft.when {
            step.after_steps.push(on);
        }
        step.after_steps.extend(self.resolving.get(&draft.row));
        step.when = draft.when;
        step.before = draft.before;
        step.deletion_policy = draft.policy;
        step.wave = if self.world.request.kind == OperationKind::Delete { 0 } else { CLEANUPS };
        step.position = draft.node.map_or(row.position, |node| self.world.node(node).position);
        step.place = draft
            .node
            .and_then(|node| super::cause::declaration_place(self.world, self.world.node(node).resource));
        step.cause = draft.cause;
        step
    }
}

/// The object of a cleanup. One that an update may only discover to be replaced is its row's.
pub(crate) fn deposed_id<'a>(draft: &'a CleanupDraft, rows: &'a [Row]) -> Option<&'a NativeId> {
    let current = || rows[draft.row].current.as_ref().map(|object| &object.native_id);
    draft.native_id.as_ref().or_else(current)
}
