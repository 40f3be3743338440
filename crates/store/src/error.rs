//! How a store fails.

use formwork_model::{Label, NativeId, OperationId, RowId, StackId};

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The guard's leases are no longer held: another process took over, or they ran out.
    #[error("the lease of operation `{operation}` is no longer held")]
    LeaseLost {
        /// The operation.
        operation: OperationId,
    },
    /// The store can't be reached or written; whether the write is durable is not known.
    #[error("the store failed while it {doing}")]
    Fault {
        /// What it was doing.
        doing: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A record can't be read: it is of a newer version, or damaged. The rest is not affected.
    #[error("the record `{record}` can't be read: {reason}")]
    Unreadable {
        /// Which record.
        record: String,
        /// Why.
        reason: String,
    },
    /// The store was written by a newer version of this program.
    #[error("the store has format {found}, this program knows up to {known}")]
    Newer {
        /// The store's format.
        found: u32,
        /// The newest this program knows.
        known: u32,
    },
    /// A unit does not continue its operation's journal.
    #[error("operation `{operation}` is at journal entry {expected}, the unit begins with {found}")]
    OutOfSequence {
        /// The operation.
        operation: OperationId,
        /// The entry that is due.
        expected: u64,
        /// The unit's first.
        found: u64,
    },
    /// A row that is about to be deleted is referred to from other stacks.
    #[error("`{row}` is still referred to by {}", listed(by))]
    Referenced {
        /// The row.
        row: RowId,
        /// Rows that refer to it, by stack and label; of very many, the first.
        by: Vec<Referrer>,
    },
    /// An object that is to become a row's is another row's already.
    #[error("another resource has the object `{native_id}`")]
    Owned {
        /// The row that was to have it.
        row: RowId,
        /// The object.
        native_id: NativeId,
    },
    /// An object written along with a unit could not be.
    #[error(transparent)]
    Object(#[from] DomainError),
}

/// A row of another stack that refers to a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Referrer {
    /// Its stack.
    pub stack: StackId,
    /// Its label.
    pub label: Label,
    /// The row.
    pub row: RowId,
}

fn listed(by: &[Referrer]) -> String {
    let listed: Vec<_> =
        by.iter().map(|from| format!("`{}` of stack `{}`", from.label, from.stack)).collect();
    listed.join(", ")
}

/// Why a job over objects failed: nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum DomainError {
    /// There is no such object.
    #[error("`{id}` does not exist")]
    NotFound {
        /// Its id.
        id: String,
    },
    /// The object changed since it was read.
    #[error("`{id}` is at version {found}, expected {expected}")]
    VersionConflict {
        /// Its id.
        id: String,
        /// The version that was expected.
        expected: u64,
        /// The version it has.
        found: u64,
    },
    /// A unique key is taken.
    #[error("`{key}` `{value}` is taken by `{by}`")]
    KeyTaken {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// The id of the object that has it.
        by: String,
    },
    /// The job refused, for a reason of its own.
    #[error("{message}")]
    Refused {
        /// The wire code (`AGENT_NOT_FOUND`).
        code: String,
        /// What to tell a person.
        message: String,
        /// Facts.
        meta: Option<formwork_model::Json>,
    },
    /// The store failed.
    #[error("the store failed in a job over objects")]
    Fault(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why [`Store::domain`](crate::Store::domain) failed.
#[derive(Debug, thiserror::Error)]
pub enum DomainFailure {
    /// The job failed; nothing was changed.
    #[error(transparent)]
    Job(#[from] DomainError),
    /// The fence is stale; nothing was changed.
    #[error("the fence of stack `{stack}` is no longer the newest")]
    Fenced {
        /// The stack.
        stack: StackId,
    },
    /// Whether the job's changes are durable is not known. With a token the call can be repeated.
    #[error(transparent)]
    Store(#[from] StoreError),
}
