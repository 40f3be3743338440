//! The writing side of a store.

use crate::{DomainFailure, DomainJob, ObjectWrite, Reader, StoreError};
use async_trait::async_trait;
use formwork_model::{
    ClientToken, Event, Failure, Fence, JournalEntry, Json, NativeId, OperationId, OperationRecord,
    OperationStatus, OwnerId, Plan, PlanHash, ProjectId, Row, RowId, Sealed, SlotId, StackId, StepId, Stored,
    Timestamp, TypeName,
};
use std::sync::Arc;

/// The writing side of a store. Everything it acknowledges is durable.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The reading side: a type without write methods, for what must not write (INV-5).
    fn reader(&self) -> Arc<dyn Reader>;

    /// Rises with every stored event; a subscription waits on it and then reads from its cursor.
    fn event_signal(&self) -> tokio::sync::watch::Receiver<u64>;

    /// Begins an operation: takes the leases of its stacks in id order, checks that the plan's
    /// bases still hold, and stores the operation, its plan, its sealed slots, its new rows, its
    /// first entry, events and objects, all in one transaction.
    ///
    /// # Errors
    /// [`StoreError`]; nothing is stored then.
    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError>;

    /// Stores a unit of an operation in one transaction, if the guard's fences are still the
    /// newest and its leases have not run out by the store's own clock. Units of several
    /// operations may share one fsync, each under a savepoint of its own.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if the fences are stale; another [`StoreError`] if it is not
    /// known whether the unit is durable. In each case the caller sends nothing more.
    async fn commit(&self, guard: &LeaseGuard, unit: Unit) -> Result<(), StoreError>;

    /// Extends the guard's leases.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] if they are no longer held.
    async fn renew(&self, guard: &LeaseGuard, ttl_millis: u64) -> Result<(), StoreError>;

    /// Takes over an unfinished operation whose leases have run out, or whose owner is `dead`:
    /// new fences, so that whatever the old owner still sends is rejected.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn take_over(
        &self,
        operation: &OperationId,
        owner: &OwnerId,
        dead: Option<&OwnerId>,
        ttl_millis: u64,
    ) -> Result<TakenOver, StoreError>;

    /// Runs one closure over the objects of in-process types in one transaction (architecture
    /// §4): checks the fence, answers with the stored outcome if `token` has one, otherwise runs
    /// the job and stores its outcome under the token. A job that fails leaves no trace, its token
    /// included.
    ///
    /// # Errors
    /// [`DomainFailure`]: the job's own error, a stale fence, or a fault of the store.
    async fn domain(
        &self,
        fence: Option<(StackId, Fence)>,
        token: Option<ClientToken>,
        job: DomainJob,
    ) -> Result<Json, DomainFailure>;

    /// Keeps a plan so that it can be shown and applied by its hash: for 30 days, if not more than
    /// 1000 newer ones are kept. Saved again, it is as new.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn save_plan(&self, plan: SavedPlan) -> Result<(), StoreError>;

    /// Writes what was observed, by compare-and-set on generation; rows under a lease are skipped.
    /// Answers how many were written.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn observe(&self, observations: Vec<ObservationWrite>) -> Result<usize, StoreError>;

    /// Appends to the audit what has no effect to be written with: a refusal.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn audit(&self, record: AuditRecord) -> Result<(), StoreError>;

    /// Deletes journals and slots of operations that ended before `before`, at most `most` of
    /// them. Answers how many operations it cleaned.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn compact(&self, before: Timestamp, most: usize) -> Result<usize, StoreError>;
}

/// What `begin` stores.
#[derive(Clone, Debug)]
pub struct Begin {
    /// The operation, `Running`.
    pub operation: OperationRecord,
    /// Who runs it.
    pub owner: OwnerId,
    /// For how long the leases are taken.
    pub ttl_millis: u64,
    /// The plan it carries out.
    pub plan: Arc<Plan>,
    /// Its secret inputs, sealed.
    pub slots: Vec<(SlotId, Sealed)>,
    /// Its new rows; inserted with revision 1.
    pub new_rows: Vec<Row>,
    /// Its first entry.
    pub started: JournalEntry,
    /// Its first events.
    pub events: Vec<Event>,
    /// Records of `control` that belong to it (the formation with its new status).
    pub objects: Vec<ObjectWrite>,
    /// Objects that must be there (the project it is in); one that is missing is a
    /// [`DomainError::NotFound`](crate::DomainError::NotFound).
    pub requires: Vec<String>,
    /// The decisions that let it begin.
    pub audit: Vec<AuditRecord>,
    /// Objects that it will take over: one that is another row's is a
    /// [`StoreError::Owned`](crate::StoreError::Owned). From here on no other row can claim it.
    pub claims: Vec<Claim>,
}

/// An object that is to become a row's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The row.
    pub row: RowId,
    /// The object.
    pub object: OwnedObject,
}

/// An object at a provider, as rows are found by it: those that have it now, those that had it and
/// have not deleted it yet, and those that are making it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnedObject {
    /// The provider's id.
    pub native_id: NativeId,
    /// The type it was created as.
    pub type_name: TypeName,
}

/// How a `begin` went.
#[derive(Debug)]
pub enum Begun {
    /// The operation runs, under this guard.
    Running(LeaseGuard),
    /// Another operation holds one of the stacks.
    Held(LeaseHolder),
    /// The ledger moved on since the plan was made: the first step that rests on something that
    /// is no longer so.
    Moved(StepId),
}

/// How a take-over went.
#[derive(Debug)]
pub enum TakenOver {
    /// The operation is ours, under this guard.
    Taken(LeaseGuard),
    /// Its owner still holds it.
    Held(LeaseHolder),
    /// It is finished, or does not exist.
    Nothing,
}

/// The right to write for an operation: its stacks with the fences they were taken under. Made by
/// stores only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseGuard {
    /// The operation.
    pub operation: OperationId,
    /// Its stacks, in id order, with their fences.
    pub fences: Vec<(StackId, Fence)>,
    /// When the leases run out, by the store's clock, unless renewed. A call starts only if this
    /// is later than its `not_after`.
    pub expires_at: Timestamp,
}

impl LeaseGuard {
    /// The fence of one stack.
    pub fn fence(&self, stack: &StackId) -> Option<Fence> {
        self.fences.iter().find(|(held, _)| held == stack).map(|(_, fence)| *fence)
    }
}

/// Who holds a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    /// Which stack.
    pub stack: StackId,
    /// For which operation.
    pub operation: OperationId,
    /// Which process.
    pub owner: OwnerId,
    /// Since when.
    pub since: Timestamp,
    /// Until when, unless renewed.
    pub expires_at: Timestamp,
}

/// What a commit stores.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Facts, numbered on from the last unit.
    pub entries: Vec<JournalEntry>,
    /// Rows as the facts leave them; each write raises the row's revision by one. Their direct
    /// references are stored with them.
    pub rows: Vec<Row>,
    /// What people see.
    pub events: Vec<Event>,
    /// Secrets that rows keep from now on.
    pub row_slots: Vec<RowSlot>,
    /// Records of `control`.
    pub objects: Vec<ObjectWrite>,
    /// The operation is over: its record is closed, its leases are released and its slots wiped.
    pub finish: Option<Finish>,
}

/// A secret that a row keeps.
#[derive(Clone, Debug)]
pub struct RowSlot {
    /// The row.
    pub row: RowId,
    /// The slot.
    pub slot: SlotId,
    /// The sealed plaintext; `None` wipes it.
    pub sealed: Option<Sealed>,
}

/// How an operation ended.
#[derive(Clone, Debug)]
pub struct Finish {
    /// Succeeded or failed.
    pub status: OperationStatus,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// When.
    pub at: Timestamp,
}

/// A plan that can be shown and applied by its hash.
#[derive(Clone, Debug)]
pub struct SavedPlan {
    /// Its hash.
    pub hash: PlanHash,
    /// The project.
    pub project: ProjectId,
    /// The plan.
    pub plan: Arc<Plan>,
    /// Its secret inputs, sealed.
    pub slots: Vec<(SlotId, Sealed)>,
    /// What `control` needs to apply it.
    pub request: Json,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What an observer saw of a row's object.
#[derive(Clone, Debug)]
pub struct ObservationWrite {
    /// The row.
    pub row: RowId,
    /// The row's generation when the read began.
    pub generation: formwork_model::Generation,
    /// The object.
    pub native_id: NativeId,
    /// What was seen.
    pub properties: Stored,
    /// When.
    pub at: Timestamp,
}

/// A line of the audit.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRecord {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// In which project.
    pub project: Option<ProjectId>,
    /// Did, or was refused, what.
    pub action: String,
    /// To what.
    pub subject: String,
    /// Whether it was allowed.
    pub allowed: bool,
    /// Further facts; redacted.
    pub detail: Json,
}
