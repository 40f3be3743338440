//! The tables of a store, as typed primitives within one transaction.
//!
//! The rules (`rules/`) are written once over these traits; a store only keeps and finds records.

use crate::{
    AuditRecord, Link, ListQuery, OwnedObject, Page, Referrer, SavedPlan, StoreError, StoredObject, UniqueKey,
};
use formwork_model::{
    ClientToken, Event, Fence, IntentKind, JournalEntry, Json, Label, OperationId, OperationRecord, OwnerId,
    Plan, PlanHash, ProjectId, Row, RowId, RowStatus, Sealed, SlotId, StackId, Timestamp,
};
use std::sync::Arc;

/// What primitives answer.
pub(crate) type Stored<T> = Result<T, StoreError>;

/// The lease of a stack. Its fence outlives its holders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) stack: StackId,
    pub(crate) fence: Fence,
    /// The unfinished operation that has the stack; it has it until it is finished, even when the
    /// lease ran out.
    pub(crate) holder: Option<Holder>,
}

/// Who has a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) operation: OperationId,
    pub(crate) owner: OwnerId,
    pub(crate) since: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// What the rules need to know of a row without reading it: a damaged row can be overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowHead {
    pub(crate) id: RowId,
    pub(crate) stack: StackId,
    pub(crate) label: Label,
    pub(crate) position: u32,
    pub(crate) revision: u64,
    /// Whether it is gone, or is being deleted ([`is_going`]).
    pub(crate) going: bool,
    /// Whether it refers to other rows.
    pub(crate) refers: bool,
}

/// Whether a row that is written again keeps its stack and its position. Nearly all do, and the
/// index over both need not be touched then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Both are those that are stored.
    Kept,
    /// One of them changed.
    Moved,
}

impl RowHead {
    /// How a row stands that is to be stored in place of the one with this head.
    pub(crate) fn standing(&self, row: &Row) -> Standing {
        if self.stack == row.stack && self.position == row.position {
            Standing::Kept
        } else {
            Standing::Moved
        }
    }
}

/// Whether a row is a tombstone or about to become one: by a delete, or by the undo of a create.
pub(crate) fn is_going(row: &Row) -> bool {
    let goes = |kind| matches!(kind, IntentKind::Delete | IntentKind::Undo);
    row.status == RowStatus::Deleted || row.intent.as_ref().is_some_and(|intent| goes(intent.kind))
}

/// Leases and the clock they run by.
pub(crate) trait LeaseTables {
    /// The store's clock; it may stand still within one transaction.
    fn now(&mut self) -> Stored<Timestamp>;
    /// Whether stale fences are rejected. Always, but for the simulator's mutation check.
    fn enforces_fences(&self) -> bool {
        true
    }
    fn lease(&mut self, stack: &StackId) -> Stored<Option<Lease>>;
    /// The leases an operation has, by stack.
    fn leases_of(&mut self, operation: &OperationId) -> Stored<Vec<Lease>>;
    fn put_lease(&mut self, lease: &Lease) -> Stored<()>;
}

/// Operations with what belongs to them.
pub(crate) trait OperationTables {
    fn operation(&mut self, id: &OperationId) -> Stored<Option<OperationRecord>>;
    fn insert_operation(&mut self, record: &OperationRecord, plan: &Arc<Plan>) -> Stored<()>;
    /// Replaces the record by its final form.
    fn close_operation(&mut self, record: &OperationRecord) -> Stored<()>;
    fn operations(&mut self, stack: &StackId, limit: usize, offset: usize) -> Stored<Page<OperationRecord>>;
    /// All that are not finished, oldest first.
    /// Each with its id, so that one that can't be read does not hide the others.
    fn open_operations(&mut self) -> Stored<Vec<(OperationId, Stored<OperationRecord>)>>;
    /// Those that ended before a moment and still have their journal, longest ended first.
    fn compactable(&mut self, before: Timestamp, most: usize) -> Stored<Vec<OperationId>>;
    /// Deletes journal and slots of a finished operation and remembers that.
    fn drop_history(&mut self, operation: &OperationId) -> Stored<()>;

    fn plan(&mut self, operation: &OperationId) -> Stored<Option<Arc<Plan>>>;
    fn saved_plan(&mut self, hash: &PlanHash) -> Stored<Option<SavedPlan>>;
    /// Deletes saved plans made before `before`, and all but the newest `keep`: oldest first, at
    /// most about `most` of them.
    fn forget_plans(&mut self, before: Timestamp, keep: usize, most: usize) -> Stored<()>;
    fn save_plan(&mut self, plan: &SavedPlan) -> Stored<()>;

    /// The number of the journal's next entry.
    fn next_sequence(&mut self, operation: &OperationId) -> Stored<u64>;
    fn append_entry(&mut self, entry: &JournalEntry) -> Stored<()>;
    fn journal(&mut self, operation: &OperationId) -> Stored<Vec<JournalEntry>>;

    fn slots(&mut self, operation: &OperationId) -> Stored<Vec<(SlotId, Sealed)>>;
    fn insert_slot(&mut self, operation: &OperationId, slot: &SlotId, sealed: &Sealed) -> Stored<()>;
    fn wipe_slots(&mut self, operation: &OperationId) -> Stored<()>;
}

/// The ledger.
pub(crate) trait RowTables {
    fn row(&mut self, id: &RowId) -> Stored<Option<Row>>;
    /// A stack's rows by position and then id.
    fn rows(&mut self, stack: &StackId) -> Stored<Vec<Row>>;
    fn row_head(&mut self, id: &RowId) -> Stored<Option<RowHead>>;
    fn row_heads(&mut self, stack: &StackId) -> Stored<Vec<RowHead>>;
    fn insert_row(&mut self, row: &Row) -> Stored<()>;
    fn update_row(&mut self, row: &Row, standing: Standing) -> Stored<()>;
    /// Stores which rows a row refers to, sorted, in place of those it referred to.
    fn set_references(&mut self, from: &RowId, to: &[RowId]) -> Stored<()>;
    /// Which rows a row refers to, sorted.
    fn references(&mut self, from: &RowId) -> Stored<Vec<RowId>>;
    /// `(referrer, referred)` for live referrers outside the stack, sorted.
    fn inbound(&mut self, stack: &StackId) -> Stored<Vec<(RowId, RowId)>>;
    /// Live rows of other stacks that refer to this one, by stack and label, at most `most`.
    fn foreign_referrers(&mut self, row: &RowId, stack: &StackId, most: usize) -> Stored<Vec<Referrer>>;
    /// The objects that a row is found by, sorted.
    fn objects_of(&mut self, row: &RowId) -> Stored<Vec<OwnedObject>>;
    /// Stores which objects a row is found by, sorted, in place of those it was found by.
    fn set_objects(&mut self, row: &RowId, objects: &[OwnedObject]) -> Stored<()>;
    /// The rows that are found by an object, sorted.
    fn owners(&mut self, object: &OwnedObject) -> Stored<Vec<RowId>>;
    fn row_slots(&mut self, row: &RowId) -> Stored<Vec<(SlotId, Sealed)>>;
    /// Stores a slot of a row; `None` wipes it.
    fn put_row_slot(&mut self, row: &RowId, slot: &SlotId, sealed: Option<&Sealed>) -> Stored<()>;
}

/// Objects of in-process types and of `control`.
pub(crate) trait ObjectTables {
    fn object(&mut self, id: &str) -> Stored<Option<StoredObject>>;
    /// Stores a new object; it comes last in lists.
    fn insert_object(&mut self, object: &StoredObject) -> Stored<()>;
    fn update_object(&mut self, object: &StoredObject) -> Stored<()>;
    /// Deletes the object with its keys and links.
    fn delete_object(&mut self, id: &str) -> Stored<bool>;
    /// Who has a unique key.
    fn key_owner(
        &mut self,
        project: Option<&ProjectId>,
        type_name: &str,
        key: &UniqueKey,
    ) -> Stored<Option<String>>;
    /// Stores an object's keys in place of those it had.
    fn set_keys(&mut self, object: &StoredObject, keys: &[UniqueKey]) -> Stored<()>;
    /// Stores an object's links in place of those it had.
    fn set_links(&mut self, id: &str, links: &[Link]) -> Stored<()>;
    /// `(id, type, field)` of those that link to `id`, sorted.
    fn links_to(&mut self, id: &str, most: usize) -> Stored<Vec<(String, String, String)>>;
    fn objects(&mut self, query: &ListQuery) -> Stored<Page<StoredObject>>;
    fn effect(&mut self, token: &ClientToken) -> Stored<Option<Json>>;
    fn put_effect(&mut self, token: &ClientToken, outcome: &Json) -> Stored<()>;
}

/// Events, audit, and everything at once for the digest.
pub(crate) trait RecordTables {
    /// Stores an event under the next number and answers that.
    fn append_event(&mut self, event: &Event) -> Stored<u64>;
    fn events(&mut self, operation: &OperationId, after: u64, limit: usize) -> Stored<Vec<Event>>;
    fn append_audit(&mut self, record: &AuditRecord) -> Stored<()>;
    /// Newest first.
    fn audit_log(
        &mut self,
        project: Option<&ProjectId>,
        limit: usize,
        offset: usize,
    ) -> Stored<Page<AuditRecord>>;
    /// Passes every record of [`DUMPED`], table by table and by key, as its fields.
    fn dump(&mut self, each: &mut dyn FnMut(&str, &[&str])) -> Stored<()>;
}

/// All tables, within one transaction.
pub(crate) trait Tables:
    LeaseTables + OperationTables + RowTables + ObjectTables + RecordTables
{
}

impl<T: LeaseTables + OperationTables + RowTables + ObjectTables + RecordTables> Tables for T {}

/// The digest's tables in their order. What rows are found by is left out, since it follows from
/// them; audit, saved plans and the expiry of leases are exempt
/// (INV-5); so is whether an operation's history was compacted, beyond that its journal is gone.
pub(crate) const DUMPED: [&str; 14] = [
    "lease",
    "operation",
    "plan",
    "journal",
    "slot",
    "row",
    "reference",
    "row_slot",
    "event",
    "object",
    "key",
    "link",
    "effect",
    "operation_stack",
];
