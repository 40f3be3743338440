//! One operation as a state machine without I/O.
//!
//! **The law.** Every record of a batch is durable before any action of that batch starts.
//! [`Batch::after_commit`] is the only way to the actions, and it takes the commit.
//!
//! **Architecture invariant:** no clock, no randomness, no async runtime. Time comes in with each
//! [`Input`], jitter from a seed in the journal.

mod answer;
mod backoff;
mod batch;
mod call;
mod classify;
mod doubt;
mod draft;
mod events;
mod facts;
mod finish;
mod fold;
mod input;
mod inputs;
mod limits;
mod live;
mod operation;
mod outputs;
mod reading;
mod schedule;
mod spec;
mod step;
mod stop;
mod undo;
mod waiting;

pub use batch::{
    Act, Batch, Call, CallKind, LookupCall, PermitRequest, ReadCall, Records, SecretFill, SecretOutput,
    SecretPiece, Timer, TimerKey,
};
pub use classify::{Class, classify};
pub use fold::fold;
pub use input::{Answer, CallId, Found, Input, ReadAnswer};
pub use limits::Limits;
pub use operation::Operation;
pub use outputs::resolve_outputs;
pub use spec::{Opening, OperationSpec, ReplayError};
pub use waiting::{Waiting, WaitsFor};

#[cfg(test)]
mod classify_tests;
#[cfg(test)]
mod fold_tests;
#[cfg(test)]
mod inputs_tests;
