//! One operation as a state machine without I/O.
//!
//! **The law.** Every record of a batch is durable before any action of that batch starts.
//! [`Batch::after_commit`] is the only way to the actions, and it takes the commit.
//!
//! **Architecture invariant:** no clock, no randomness, no async runtime. Time comes in with each
//! [`Input`], jitter from a seed in the journal.

mod batch;
mod input;
mod limits;

pub use batch::{
    Act, Batch, Call, CallKind, LookupCall, ReadCall, Records, SecretFill, SecretPiece, Timer, TimerKey,
};
pub use input::{Answer, CallId, Found, Input, ReadAnswer};
pub use limits::Limits;
