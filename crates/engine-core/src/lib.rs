//! One operation as a state machine without I/O.
//!
//! **The law.** Every record of a batch is durable before any action of that batch starts.
//! [`Batch::after_commit`] is the only way to the actions, and it takes the commit.
//!
//! **Architecture invariant:** no clock, no randomness, no async runtime. Time comes in with each
//! [`Input`], jitter from a seed in the journal.

mod batch;
mod classify;
mod fold;
mod input;
mod limits;
mod operation;
mod outputs;
mod spec;
mod waiting;

pub use batch::{
    Act, Batch, Call, CallKind, LookupCall, ReadCall, Records, SecretFill, SecretPiece, Timer, TimerKey,
};
pub use classify::{Class, classify};
pub use fold::fold;
pub use input::{Answer, CallId, Found, Input, ReadAnswer};
pub use limits::Limits;
pub use operation::Operation;
pub use outputs::resolve_outputs;
pub use spec::{Opening, OperationSpec, ReplayError};
pub use waiting::{Waiting, WaitsFor};
