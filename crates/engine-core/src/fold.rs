//! The one place where a fact changes a row.

use formwork_model::{JournalEntry, Plan, Row, RowId};

/// Folds a fact into a row; the row's revision is the store's matter. Says whether the row changed.
/// `minted` are the ids of the plan's new rows, as the journal's `started` binds them.
pub fn fold(row: &mut Row, entry: &JournalEntry, plan: &Plan, minted: &[RowId]) -> bool {
    let _ = (row, entry, plan, minted);
    false
}
