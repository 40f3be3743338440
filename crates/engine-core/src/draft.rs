//! A batch in the making.

use crate::{Act, Batch};
use formwork_model::{Event, JournalEntry, Row, RowId};
use indexmap::{IndexMap, IndexSet};

/// A batch in the making: rows are named while it grows, and copied once at its end.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) entries: Vec<JournalEntry>,
    pub(crate) events: Vec<Event>,
    pub(crate) then: Vec<Act>,
    pub(crate) touched: IndexSet<RowId>,
}

impl Draft {
    pub(crate) fn into_batch(self, rows: &IndexMap<RowId, Row>) -> Batch {
        let touched = self.touched.iter().filter_map(|id| rows.get(id).cloned());
        Batch::new(self.entries, touched.collect(), self.events, self.then)
    }
}
