//! The operation.

use crate::{Batch, Input, Opening, OperationSpec, ReplayError, Waiting};
use formwork_model::{
    Entry, Event, EventAction, EventStatus, Failure, JOURNAL_VERSION, JournalEntry, OperationStatus, Row,
    RowId, RowRef, Timestamp,
};
use indexmap::IndexMap;

/// One run of one plan.
#[derive(Debug)]
pub struct Operation {
    spec: OperationSpec,
    rows: IndexMap<RowId, Row>,
    sequence: u64,
    finished: Option<(OperationStatus, Option<Failure>)>,
}

impl Operation {
    /// An operation and what its beginning stores. Nothing is started yet.
    pub fn open(mut spec: OperationSpec, now: Timestamp) -> (Self, Opening) {
        let rows = spec.rows.drain(..).map(|row| (row.id.clone(), row)).collect();
        let started = JournalEntry {
            version: JOURNAL_VERSION,
            operation: spec.id.clone(),
            sequence: 0,
            at: now,
            entry: Entry::Started {
                plan: spec.plan.hash(),
                actor: spec.actor.clone(),
                seed: spec.seed,
                minted: spec.minted.clone(),
            },
        };
        let events = spec.plan.stacks.iter().map(|stack| Event {
            sequence: 0,
            at: now,
            operation: spec.id.clone(),
            stack: stack.id.clone(),
            subject: None,
            action: EventAction::Operation,
            status: EventStatus::Started,
            native_id: None,
            failure: None,
            attempt: None,
            note: None,
        });
        let opening = Opening { started, new_rows: Vec::new(), events: events.collect() };
        (Self { spec, rows, sequence: 1, finished: None }, opening)
    }

    /// Begins, once what `open` gave is durable.
    pub fn start(&mut self, now: Timestamp) -> Batch {
        let _ = now;
        Batch::default()
    }

    /// The operation as its journal left it.
    ///
    /// # Errors
    /// If the journal is not one of an operation on this plan.
    pub fn replay(spec: OperationSpec, journal: &[JournalEntry]) -> Result<Self, ReplayError> {
        let first = journal.first().ok_or(ReplayError::NotStarted)?;
        Ok(Self::open(spec, first.at).0)
    }

    /// Goes on after a replay: repeats, polls, looks up and undoes, as the facts demand.
    pub fn resume(&mut self, now: Timestamp) -> Batch {
        let _ = now;
        Batch::default()
    }

    /// Takes what happened. Total: an input that makes no sense (late, duplicate, about an unknown
    /// step) gives an empty batch.
    pub fn handle(&mut self, now: Timestamp, input: Input) -> Batch {
        let _ = (now, input);
        Batch::default()
    }

    /// Whether it is over.
    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// How it ended.
    pub fn status(&self) -> Option<(OperationStatus, Option<&Failure>)> {
        self.finished.as_ref().map(|(status, failure)| (*status, failure.as_ref()))
    }

    /// What is under way.
    pub fn waiting(&self, now: Timestamp) -> Vec<Waiting> {
        let _ = now;
        Vec::new()
    }

    /// The rows as the facts leave them.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    /// A row as the facts leave it.
    pub fn row(&self, id: &RowId) -> Option<&Row> {
        self.rows.get(id)
    }

    /// The row that a plan's name for it means.
    pub fn row_for(&self, row: &RowRef) -> Option<&Row> {
        match row {
            RowRef::Existing(id) => self.rows.get(id),
            RowRef::New(number) => self.rows.get(self.spec.minted.get(*number as usize)?),
        }
    }

    /// The number of the next journal entry.
    pub fn next_sequence(&self) -> u64 {
        self.sequence
    }
}
