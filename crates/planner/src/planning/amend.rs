//! Changes of a declaration that touch no property: the ledger takes note of them.

use super::cause::about;
use super::declare::Case;
use super::draft::{Draft, Identity};
use formwork_model::{Action, Json, Object, Row, RowId, RowRef, same};

impl Draft<'_, '_> {
    /// Gives the row of a declared resource its new label. What else changes comes after.
    pub(crate) fn rename(&mut self, case: &Case<'_, '_>) {
        let Some(row) = case.row.filter(|_| case.is_renamed()) else { return };
        let mut step = self.step(case, Action::Rename { from: row.label.clone() });
        step.cause = about(self.world, case.resource(), &format!("is renamed from `{}`", row.label));
        self.settle(case, step, Identity::Stays, true);
    }

    /// The rows that a declared resource refers to directly, explicit dependencies included: what
    /// must be there before it, and be deleted after it.
    pub(crate) fn references(&self, node: u32) -> Vec<RowRef> {
        let nodes = self.links.nodes.of(node as usize).iter();
        let rows = self.links.rows.of(node as usize).iter();
        let rows = rows.map(|row| RowRef::Existing(self.world.request.rows[*row as usize].id.clone()));
        nodes.map(|on| self.world.node(*on).name.clone()).chain(rows).collect()
    }

    /// What the ledger must take note of, in words; nothing if all is as it was.
    pub(crate) fn amendments(&self, case: &Case<'_, '_>, row: &Row, object: &Object) -> Vec<String> {
        let resource = case.resource();
        let label = &resource.label;
        let mut changed = Vec::new();
        if object.deletion_policy != resource.deletion_policy {
            changed.push(format!("the deletion policy of `{label}` changed"));
        }
        if !same_metadata(row.metadata.as_ref(), resource.metadata.as_ref()) {
            changed.push(format!("the metadata of `{label}` changed"));
        }
        if !self.same_references(case.index, row) {
            changed.push(format!("what `{label}` depends on changed"));
        }
        if row.position != case.node.position {
            changed.push(format!("the position of `{label}` in the declaration changed"));
        }
        changed
    }

    /// Whether the row refers to what is declared, in whatever order.
    fn same_references(&self, node: u32, row: &Row) -> bool {
        let rows = self.world.request.rows;
        let nodes = self.links.nodes.of(node as usize);
        let others = self.links.rows.of(node as usize);
        if nodes.len() + others.len() != row.references.len() {
            return false;
        }
        let declared: Option<Vec<&RowId>> = (nodes.iter().map(|on| self.world.node(*on).row))
            .chain(others.iter().map(|row| Some(*row as usize)))
            .map(|row| row.map(|row| &rows[row].id))
            .collect();
        let Some(mut declared) = declared else { return false };
        if declared.iter().copied().eq(&row.references) {
            return true;
        }
        let mut before: Vec<&RowId> = row.references.iter().collect();
        declared.sort_unstable();
        before.sort_unstable();
        declared == before
    }
}

fn same_metadata(left: Option<&Json>, right: Option<&Json>) -> bool {
    match (left, right) {
        (None, None) => true,
        (Some(left), Some(right)) => same(left, right),
        _ => false,
    }
}
