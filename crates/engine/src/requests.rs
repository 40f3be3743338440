//! What an engine is asked, and how it answers.

use formwork_model::{
    ActorId, Catalog, Failure, NativeId, OperationId, OperationKind, Plan, ProjectId, Row, RowId,
    SecretSlots, StepId, Timestamp,
};
use formwork_store::{AuditRecord, LeaseHolder, ObjectWrite, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An operation to begin.
#[derive(Debug)]
pub struct BeginRequest {
    /// Its id.
    pub id: OperationId,
    /// What it is for.
    pub kind: OperationKind,
    /// The project.
    pub project: ProjectId,
    /// Who asks.
    pub actor: ActorId,
    /// The plan to carry out.
    pub plan: Arc<Plan>,
    /// The plaintexts of the plan's slots.
    pub secrets: SecretSlots,
    /// All rows of the plan's stacks, and rows of other stacks that steps refer to.
    pub rows: Vec<Row>,
    /// The ids of the plan's new rows: the n-th is `RowRef::New(n)`.
    pub minted: Vec<RowId>,
    /// Records of `control` that are stored along with it.
    pub objects: Vec<ObjectWrite>,
    /// Objects that must be there when it begins.
    pub requires: Vec<String>,
    /// The decisions that let it begin; written with it or not at all.
    pub audit: Vec<AuditRecord>,
    /// What a person decided about effects of earlier operations that can't be found out: for a
    /// `resolve` step of the plan the object to adopt, or `None` if there is none.
    pub decisions: BTreeMap<StepId, Option<NativeId>>,
}

/// Why an operation did not begin; nothing is stored then.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// Another operation holds one of the stacks.
    #[error("operation `{}` holds the stack `{}`", .0.operation, .0.stack)]
    Held(LeaseHolder),
    /// The ledger moved on since the plan was made: the first step that rests on something that is
    /// no longer so.
    #[error("the ledger moved on since step {0} was planned")]
    Moved(StepId),
    /// As many operations run as may.
    #[error("{running} operations are running, which is the most at once")]
    TooMany {
        /// How many run.
        running: usize,
    },
    /// A decision comes too early: the call that it is about may still take effect.
    #[error("the call that step {step} settles may take effect until {until}", until = .until.0)]
    MayLand {
        /// The step.
        step: StepId,
        /// Until when.
        until: Timestamp,
    },
    /// The object that a person decided to adopt is not there, or can't be read.
    #[error("the object to adopt in step {step} can't be read: {}", failure.as_ref().map_or("it does not exist", |failure| &failure.message))]
    NotAdoptable {
        /// The step.
        step: StepId,
        /// Why it can't be read; `None` if it does not exist.
        failure: Option<Failure>,
    },
    /// The engine shuts down.
    #[error("the engine is shutting down")]
    ShuttingDown,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How a cancel went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The operation was told.
    Requested,
    /// It does not run in this process: it is over, or another process has it.
    NotRunning,
}

/// Objects to be looked at.
#[derive(Clone)]
pub struct ObserveRequest {
    /// The project.
    pub project: ProjectId,
    /// Who asks.
    pub actor: ActorId,
    /// The rows whose current objects are looked at.
    pub rows: Vec<Row>,
    /// The rows of the targets that they live at; others are passed over.
    pub targets: Vec<Row>,
    /// What the types can do.
    pub types: Arc<dyn Catalog>,
}
