//! Where everything lives: ledger, journal, events, audit, and the objects of in-process types.
//!
//! One trait, [`Store`], and three implementations that pass the same contract suite: memory (with
//! fault injection, for tests and the simulator), SQLite and PostgreSQL.
//!
//! **Architecture invariant:** no rule of planning or execution is in this crate. It keeps what it
//! is given, checks fences, revisions and unique keys, and never interprets a journal entry.

mod api;
mod backend;
mod clock;
#[cfg(feature = "contract")]
pub mod contract;
mod domain;
mod error;
mod mem;
mod postgres;
mod reader;
mod rules;
mod snapshots;
mod sql;
mod sqlite;
mod tables;
#[cfg(feature = "testing")]
pub mod testing;

pub use api::{
    AuditRecord, Begin, Begun, Claim, Finish, LeaseGuard, LeaseHolder, ObservationWrite, OwnedObject,
    RowSlot, SavedPlan, Store, TakenOver, Unit,
};
pub use clock::{Clock, ManualClock, SystemClock};
pub use domain::{DomainJob, DomainTx, Link, NewObject, ObjectChange, ObjectWrite, StoredObject, UniqueKey};
pub use error::{DomainError, DomainFailure, Referrer, StoreError};
pub use mem::{Durability, Fault, MemOptions, MemStore};
pub use postgres::{Postgres, PostgresOptions, PostgresStore};
pub use reader::{ListQuery, OpenOperation, Page, Reader};
pub use sql::SqlStore;
pub use sqlite::{Sqlite, SqliteOptions, SqliteStore};
