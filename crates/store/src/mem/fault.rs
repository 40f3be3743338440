//! Faults that a store in memory can be told to have.

use crate::StoreError;

/// A fault, for one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Nothing is stored, and the caller learns of a fault.
    FailBefore,
    /// The write is stored and durable, and yet the caller learns of a fault: its outcome is
    /// unknown to them.
    FailAfter,
    /// The process dies in the middle of the write. A transaction is atomic, so nothing of it is
    /// there afterwards; until [`MemStore::crash`](crate::MemStore::crash) every call fails.
    Torn,
    /// Just before the write a stranger takes the leases of its stacks over.
    LeaseLost,
}

/// Why a call failed that was told to.
#[derive(Debug, thiserror::Error)]
pub(super) enum Injected {
    #[error("a fault was asked for")]
    Asked,
    #[error("the process that had this store is gone")]
    Gone,
}

impl Injected {
    pub(super) fn error(self, doing: &'static str) -> StoreError {
        StoreError::Fault { doing, source: Box::new(self) }
    }
}
