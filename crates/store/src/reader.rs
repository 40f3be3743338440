//! The reading side of a store: planning, validating, status and diff hold this and nothing else,
//! so they can't write.

use crate::{AuditRecord, LeaseHolder, Link, OwnedObject, SavedPlan, StoreError, StoredObject, UniqueKey};
use async_trait::async_trait;
use formwork_model::{
    Event, JournalEntry, OperationId, OperationRecord, Plan, PlanHash, ProjectId, Row, RowId, Sealed, SlotId,
    StackId,
};
use std::sync::Arc;

/// Which objects to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    /// Of which type.
    pub type_name: String,
    /// In which projects; empty is all.
    pub projects: Vec<ProjectId>,
    /// Only those that link to this id through this field.
    pub linked: Option<Link>,
    /// How many to answer.
    pub limit: usize,
    /// How many to pass over.
    pub offset: usize,
}

/// An operation that is not finished.
#[derive(Debug)]
pub struct OpenOperation {
    /// Its id.
    pub id: OperationId,
    /// Its record, or why it can't be read.
    pub record: Result<OperationRecord, StoreError>,
    /// Who holds its leases.
    pub holder: Option<LeaseHolder>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// How many there are in all.
    pub total: usize,
}

/// The reading side of a store. Each call sees one consistent state.
#[async_trait]
pub trait Reader: Send + Sync + 'static {
    /// The rows of a stack, tombstones included, by position and then id.
    async fn rows(&self, stack: &StackId) -> Result<Vec<Row>, StoreError>;

    /// One row.
    async fn row(&self, id: &RowId) -> Result<Option<Row>, StoreError>;

    /// The rows, of whichever stack, that have an object, or that an operation began to give it to, by
    /// id. Which of them have it, the rows say.
    async fn owners(&self, object: &OwnedObject) -> Result<Vec<RowId>, StoreError>;

    /// The rows outside a stack that refer directly to rows of it: `(referrer, referred)`.
    async fn inbound(&self, stack: &StackId) -> Result<Vec<(RowId, RowId)>, StoreError>;

    /// One operation.
    async fn operation(&self, id: &OperationId) -> Result<Option<OperationRecord>, StoreError>;

    /// A stack's operations, oldest first.
    async fn operations(
        &self,
        stack: &StackId,
        limit: usize,
        offset: usize,
    ) -> Result<Page<OperationRecord>, StoreError>;

    /// All operations that are not finished. One whose record can't be read is among them, with
    /// the reason in place of the record.
    async fn open_operations(&self) -> Result<Vec<OpenOperation>, StoreError>;

    /// The plan of an operation.
    async fn plan(&self, operation: &OperationId) -> Result<Option<Arc<Plan>>, StoreError>;

    /// A plan that was saved to be applied by its hash.
    async fn saved_plan(&self, hash: &PlanHash) -> Result<Option<SavedPlan>, StoreError>;

    /// The journal of an operation, in order.
    async fn journal(&self, operation: &OperationId) -> Result<Vec<JournalEntry>, StoreError>;

    /// The sealed slots of an operation.
    async fn slots(&self, operation: &OperationId) -> Result<Vec<(SlotId, Sealed)>, StoreError>;

    /// The sealed slots of a row.
    async fn row_slots(&self, row: &RowId) -> Result<Vec<(SlotId, Sealed)>, StoreError>;

    /// The events of an operation after a cursor, in order.
    async fn events(
        &self,
        operation: &OperationId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError>;

    /// Who holds a stack.
    async fn lease(&self, stack: &StackId) -> Result<Option<LeaseHolder>, StoreError>;

    /// One object.
    async fn object(&self, id: &str) -> Result<Option<StoredObject>, StoreError>;

    /// The object that has this unique key.
    async fn find_object(
        &self,
        project: Option<&ProjectId>,
        type_name: &str,
        key: &UniqueKey,
    ) -> Result<Option<StoredObject>, StoreError>;

    /// A page of a type's objects, oldest first.
    async fn objects(&self, query: &ListQuery) -> Result<Page<StoredObject>, StoreError>;

    /// The objects that refer to this id: their ids, types and the property, at most `most`.
    async fn links_to(&self, id: &str, most: usize) -> Result<Vec<(String, String, String)>, StoreError>;

    /// A page of the audit, newest first.
    async fn audit_log(
        &self,
        project: Option<&ProjectId>,
        limit: usize,
        offset: usize,
    ) -> Result<Page<AuditRecord>, StoreError>;

    /// A digest over ledger, journal, events and objects: equal exactly if they are (INV-5).
    async fn logical_digest(&self) -> Result<String, StoreError>;
}
