//! The journal and the rows: INV-11, and the contract of `fold`.

use super::Invariant;
use crate::ready::ready;
use crate::world::{Run, World};
use formwork_engine_core::{Operation, OperationSpec, fold};
use formwork_model::{Entry, JournalEntry, OperationId, Row};
use formwork_store::Store as _;

impl World {
    /// Judges the journal of an operation that is over.
    pub(super) fn judge_journal(&mut self, id: &OperationId, run: &Run) {
        let journal = self.journal_of(id);
        let Some(first) = journal.first() else {
            return self.violated(Invariant::Integrity, format!("{id} has no journal"));
        };
        let mut rows = run.rows_before.clone();
        rows.extend(self.rows_it_made(run, first));
        for length in 1..=journal.len() {
            let entry = &journal[length - 1];
            if length > 1 {
                for row in &mut rows {
                    fold(row, entry, &run.plan, &run.minted);
                }
            }
            if self.thorough {
                self.judge_prefix(id, run, &rows, &journal[..length]);
            }
        }
        // Later operations changed the rows; only the newest one's fold is what the store has.
        if self.is_newest_of_stack(id, run) {
            self.judge_fold(id, run, rows);
        }
    }

    fn is_newest_of_stack(&self, id: &OperationId, run: &Run) -> bool {
        let number = |id: &OperationId| {
            id.as_str().rsplit('_').next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0)
        };
        !self.runs.iter().any(|(other, its)| its.stack == run.stack && number(other) > number(id))
    }

    /// The plan's new rows as `begin` stored them.
    fn rows_it_made(&self, run: &Run, started: &JournalEntry) -> Vec<Row> {
        let spec = self.spec(&started.operation, run, run.rows_before.clone());
        Operation::open(spec, started.at).1.new_rows
    }

    fn spec(&self, id: &OperationId, run: &Run, rows: Vec<Row>) -> OperationSpec {
        OperationSpec {
            id: id.clone(),
            plan: run.plan.clone(),
            rows,
            actor: "tester".into(),
            seed: 0,
            minted: run.minted.clone(),
            key: self.key.clone(),
            limits: self.limits.clone(),
        }
    }

    /// INV-11: a prefix of the journal opens and goes on.
    fn judge_prefix(&mut self, id: &OperationId, run: &Run, rows: &[Row], prefix: &[JournalEntry]) {
        let spec = self.spec(id, run, rows.to_vec());
        let at = prefix.last().map_or(self.now, |entry| entry.at);
        match Operation::replay(spec, prefix) {
            Err(error) => {
                let what = format!("the first {} entries of {id} do not replay: {error}", prefix.len());
                self.violated(Invariant::Integrity, what);
            }
            Ok(mut operation) => {
                let is_final =
                    matches!(prefix.last().map(|entry| &entry.entry), Some(Entry::Finished { .. }));
                let batch = operation.resume(at);
                let stuck = batch.is_empty() && !operation.is_finished();
                if stuck || (is_final && !operation.is_finished()) {
                    let what = format!("after the first {} entries of {id} nothing goes on", prefix.len());
                    self.violated(Invariant::Integrity, what);
                }
            }
        }
    }

    fn judge_fold(&mut self, id: &OperationId, run: &Run, folded: Vec<Row>) {
        let stored = ready(self.store.reader().rows(&run.stack)).unwrap_or_default();
        for row in folded {
            let Some(stored) = stored.iter().find(|other| other.id == row.id) else {
                self.violated(Invariant::Fold, format!("`{}` of {id} is not in the store", row.label));
                continue;
            };
            if (Row { revision: 0, ..row.clone() }) != (Row { revision: 0, ..stored.clone() }) {
                let what = format!("`{}` of {id} folds to {row:?}, the store has {stored:?}", row.label);
                self.violated(Invariant::Fold, what);
            }
        }
    }
}
