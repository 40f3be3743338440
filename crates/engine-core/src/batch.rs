//! What an operation wants: records to be made durable, and then actions to be started.

use crate::CallId;
use formwork_model::{
    ClientToken, Event, Failure, IntentKind, JournalEntry, Label, Lookup, NativeId, OperationStatus, Path,
    Row, RowId, Schema, SlotId, StackId, StepId, Stored, TargetRev, Timestamp, TypeName,
};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// What follows from one or more inputs. The records, rows and events belong into one unit of the
/// store; the actions may start once it is durable.
#[derive(Debug, Default)]
#[must_use = "a batch that is dropped loses facts"]
pub struct Batch {
    /// Facts.
    pub entries: Vec<JournalEntry>,
    /// Rows as the facts leave them.
    pub rows: Vec<Row>,
    /// What people see.
    pub events: Vec<Event>,
    then: Vec<Act>,
    /// Where in `rows` each row is; filled by the first [`merge`](Self::merge).
    places: FxHashMap<RowId, usize>,
}

/// What to start. Each carries all that its execution needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Ask the provider to do something.
    Call(Box<Call>),
    /// Ask how an unfinished call goes.
    Poll {
        /// Which call.
        call: CallId,
        /// The type.
        type_name: TypeName,
        /// Where.
        target: TargetRev,
        /// What to ask with.
        request_id: String,
        /// When to give up on the answer.
        deadline: Timestamp,
    },
    /// Read an object.
    Read(ReadCall),
    /// Look for an object whose create has no known outcome.
    Find(Box<LookupCall>),
    /// Tell when a call may be made.
    RequestPermit {
        /// For which step.
        step: StepId,
        /// Forward or undo.
        kind: IntentKind,
        /// For which type.
        type_name: TypeName,
    },
    /// Tell when this moment has come.
    SetTimer(Timer),
    /// Stop waiting for a call that can be given up.
    CancelCall(CallId),
    /// The operation is over: close its record and release its leases. Always the last action; its
    /// record is in the same batch.
    Finish {
        /// Succeeded or failed.
        status: OperationStatus,
        /// Why it failed.
        failure: Option<Failure>,
    },
}

/// A request to be told when a call may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermitRequest {
    /// For which step.
    pub step: StepId,
    /// Forward or undo.
    pub kind: IntentKind,
    /// For which type.
    pub type_name: TypeName,
}

/// A call to a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which call.
    pub id: CallId,
    /// The row.
    pub row: RowId,
    /// The row's label.
    pub label: Label,
    /// The row's stack.
    pub stack: StackId,
    /// The type.
    pub type_name: TypeName,
    /// Where.
    pub target: TargetRev,
    /// What makes a repeated call the same call.
    pub token: ClientToken,
    /// No effect may begin after this. The driver starts the call only if its lease outlives it.
    pub not_after: Timestamp,
    /// What to ask for.
    pub kind: CallKind,
}

/// What a call asks for. Secrets are slots; the driver fills them in.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a call is boxed as a whole")]
pub enum CallKind {
    /// Make an object.
    Create {
        /// Its properties.
        properties: Stored,
        /// Slots to fill in: where, from which slot.
        secrets: Vec<SecretFill>,
    },
    /// Change an object.
    Update {
        /// Which object.
        native_id: NativeId,
        /// What it was.
        prior: Stored,
        /// What was sent before.
        sent: Stored,
        /// What its type says of its properties.
        schema: Arc<Schema>,
        /// What it should be.
        desired: Stored,
        /// Slots to fill in: where, from which slot.
        secrets: Vec<SecretFill>,
        /// Where the provider keeps its own copy.
        kept: Vec<Path>,
    },
    /// Delete an object.
    Delete {
        /// Which object.
        native_id: NativeId,
    },
}

/// A secret to be put into a call just before it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct SecretFill {
    /// Where in the properties.
    pub path: Path,
    /// The pieces of the value, in order. One slot alone is the slot's value as it is; several
    /// pieces are joined as text.
    pub pieces: Vec<SecretPiece>,
}

/// A piece of a [`SecretFill`].
#[derive(Clone, Debug, PartialEq)]
pub enum SecretPiece {
    /// Literal text; resolved references are text by now.
    Text(String),
    /// The plaintext of a slot.
    Slot(SlotId),
    /// A secret that only an object's provider knows: the driver asks for it just before the call, and keeps it no
    /// longer than that.
    Output(Box<SecretOutput>),
}

/// A secret among the properties of an object, which its provider tells to those alone who ask for it.
#[derive(Clone, Debug, PartialEq)]
pub struct SecretOutput {
    /// The author's name for the resource.
    pub label: Label,
    /// The row's stack.
    pub stack: StackId,
    /// The type.
    pub type_name: TypeName,
    /// The object.
    pub native_id: NativeId,
    /// Where it lives.
    pub target: TargetRev,
    /// Where among its properties the secret stands.
    pub path: Path,
}

/// A read of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadCall {
    /// For which step.
    pub step: StepId,
    /// The type.
    pub type_name: TypeName,
    /// Where.
    pub target: TargetRev,
    /// Which object.
    pub native_id: NativeId,
    /// What it was, for the provider.
    pub prior: Option<Stored>,
    /// When to give up.
    pub deadline: Timestamp,
}

/// A search for an object whose create has no known outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupCall {
    /// For which step.
    pub step: StepId,
    /// The row.
    pub row: RowId,
    /// The type.
    pub type_name: TypeName,
    /// Where.
    pub target: TargetRev,
    /// How.
    pub lookup: Lookup,
    /// What was sent.
    pub sent: Stored,
    /// The object that the row has, if it was gone before the call: what bears its id now came after,
    /// though a row owns that id.
    pub gone: Option<NativeId>,
    /// When to give up.
    pub deadline: Timestamp,
}

/// A moment to be told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// What for.
    pub key: TimerKey,
    /// When.
    pub at: Timestamp,
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerKey {
    /// The next attempt of a call.
    Retry(StepId, IntentKind),
    /// The next poll of a call.
    Poll(StepId, IntentKind),
    /// The moment from which an unknown outcome can be looked for.
    Resolve(StepId, IntentKind),
}

impl Batch {
    pub(crate) fn new(
        entries: Vec<JournalEntry>,
        rows: Vec<Row>,
        events: Vec<Event>,
        then: Vec<Act>,
    ) -> Self {
        Self { entries, rows, events, then, places: FxHashMap::default() }
    }

    /// Takes out the requests for permits. They ask nothing of a provider, so they may be granted
    /// before the batch is durable: what a grant leads to is recorded and started like anything
    /// else, and one commit then covers the end of a step and the intents of those that waited
    /// for it.
    pub fn take_permit_requests(&mut self) -> Vec<PermitRequest> {
        let mut requests = Vec::new();
        self.then.retain(|act| match act {
            Act::RequestPermit { step, kind, type_name } => {
                requests.push(PermitRequest { step: *step, kind: *kind, type_name: type_name.clone() });
                false
            }
            _ => true,
        });
        requests
    }

    /// Whether there is nothing to store and nothing to start.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.rows.is_empty() && self.events.is_empty() && self.then.is_empty()
    }

    /// Whether there is something to store.
    pub fn has_records(&self) -> bool {
        !(self.entries.is_empty() && self.rows.is_empty() && self.events.is_empty())
    }

    /// How the operation ends, if this batch ends it: the store closes it in the same unit.
    pub fn finish(&self) -> Option<(OperationStatus, Option<&Failure>)> {
        self.then.iter().rev().find_map(|act| match act {
            Act::Finish { status, failure } => Some((*status, failure.as_ref())),
            _ => None,
        })
    }

    /// Adds what a further input led to, so that one commit covers both. A row that both leave is
    /// stored once, as the later one leaves it.
    pub fn merge(&mut self, next: Self) {
        self.entries.extend(next.entries);
        if self.places.len() != self.rows.len() {
            let places = self.rows.iter().enumerate().map(|(at, row)| (row.id.clone(), at));
            self.places = places.collect();
        }
        for row in next.rows {
            match self.places.entry(row.id.clone()) {
                Entry::Occupied(place) => self.rows[*place.get()] = row,
                Entry::Vacant(place) => {
                    place.insert(self.rows.len());
                    self.rows.push(row);
                }
            }
        }
        self.events.extend(next.events);
        self.then.extend(next.then);
    }

    /// Makes the records durable by `commit`, and only then gives out the actions.
    ///
    /// # Errors
    /// The commit's error; the actions are gone then, and the operation is to be dropped and
    /// recovered from its journal.
    pub async fn after_commit<E, F>(self, commit: impl FnOnce(Records) -> F) -> Result<Vec<Act>, E>
    where
        F: Future<Output = Result<(), E>>,
    {
        let finish = self.finish().map(|(status, failure)| (status, failure.cloned()));
        let Self { entries, rows, events, then, .. } = self;
        if !(entries.is_empty() && rows.is_empty() && events.is_empty()) {
            commit(Records { entries, rows, events, finish }).await?;
        }
        Ok(then)
    }
}

/// What a commit has to make durable.
#[derive(Debug)]
pub struct Records {
    /// Facts.
    pub entries: Vec<JournalEntry>,
    /// Rows as the facts leave them.
    pub rows: Vec<Row>,
    /// What people see.
    pub events: Vec<Event>,
    /// How the operation ends, if it does.
    pub finish: Option<(OperationStatus, Option<Failure>)>,
}
