//! Where everything lives: ledger, journal, events, audit, and the objects of in-process types.
//!
//! One trait, [`Store`], and three implementations that pass the same contract suite: memory (with
//! fault injection, for tests and the simulator), SQLite and PostgreSQL.
//!
//! **Architecture invariant:** no rule of planning or execution is in this crate. It keeps what it
//! is given, checks fences, revisions and unique keys, and never interprets a journal entry.

mod api;
mod domain;
mod error;
mod reader;

pub use api::{
    AuditRecord, Begin, Begun, Finish, LeaseGuard, LeaseHolder, ObservationWrite, RowSlot, SavedPlan, Store,
    TakenOver, Unit,
};
pub use domain::{DomainJob, DomainTx, Link, NewObject, ObjectChange, ObjectWrite, StoredObject, UniqueKey};
pub use error::{DomainError, DomainFailure, StoreError};
pub use reader::{ListQuery, Page, Reader};
