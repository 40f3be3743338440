//! What an operation is made from, and what its beginning stores.

use crate::Limits;
use formwork_model::{
    ActorId, Event, InstanceKey, JournalEntry, OperationId, Plan, PlanHash, Row, RowId, StepId,
};
use std::sync::Arc;

/// What an operation is made from.
#[derive(Clone, Debug)]
pub struct OperationSpec {
    /// Its id.
    pub id: OperationId,
    /// The plan it carries out.
    pub plan: Arc<Plan>,
    /// All rows of the plan's stacks, and the rows of other stacks that its steps refer to. For
    /// [`Operation::replay`](crate::Operation::replay): as they are in the store now, with the
    /// effects of the journal in them.
    pub rows: Vec<Row>,
    /// Who asked for it.
    pub actor: ActorId,
    /// Where jitter comes from. Replay takes it from the journal.
    pub seed: u64,
    /// The ids of the plan's new rows: the n-th is `RowRef::New(n)`'s. Replay takes them from the
    /// journal.
    pub minted: Vec<RowId>,
    /// What tokens and digests are made under.
    pub key: InstanceKey,
    /// Its bounds.
    pub limits: Limits,
}

/// What the store's `begin` stores for an operation.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The first entry.
    pub started: JournalEntry,
    /// The rows of resources that do not exist yet.
    pub new_rows: Vec<Row>,
    /// The first events: one per stack.
    pub events: Vec<Event>,
}

/// Why a journal is not the journal of an operation on this plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It has no first entry, or that is no `started`.
    #[error("the journal does not begin with `started`")]
    NotStarted,
    /// An entry has a shape of a later version.
    #[error("entry {sequence} has version {found}, later than this program's")]
    Version {
        /// The entry's number.
        sequence: u64,
        /// Its version.
        found: u16,
    },
    /// An entry belongs to another operation.
    #[error("entry {sequence} belongs to `{found}`")]
    OtherOperation {
        /// The entry's number.
        sequence: u64,
        /// Its operation.
        found: OperationId,
    },
    /// An entry is missing.
    #[error("entry {found} stands where {expected} should")]
    Gap {
        /// The number that should come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// It was begun with another plan.
    #[error("the journal was begun with plan {found}, not {expected}")]
    OtherPlan {
        /// The hash of the plan at hand.
        expected: PlanHash,
        /// The hash in the journal.
        found: PlanHash,
    },
    /// An entry is about a step that the plan does not have.
    #[error("entry {sequence} is about {step}, which the plan does not have")]
    NoSuchStep {
        /// The entry's number.
        sequence: u64,
        /// The step.
        step: StepId,
    },
    /// An entry cannot follow those before it.
    #[error("entry {sequence} does not follow from those before it")]
    OutOfOrder {
        /// The entry's number.
        sequence: u64,
    },
}
