//! The driver: carries operations out, recovers them, observes objects.
//!
//! `engine-core` decides, this crate acts: it owns the clock, the tasks and the calls.
//!
//! **The law.** Each turn of an operation ends in one commit, and only then do its actions start
//! (`driver::Driver::turn`). Nothing else in this crate starts a call of an operation.
//!
//! **Architecture invariant:** nothing here plans, parses a language, or formats for people.

mod clock;
mod engine;
mod handle;
mod hooks;
mod options;
mod registry;
mod requests;

pub use clock::{Clock, SystemClock};
pub use engine::Engine;
pub use handle::{Finished, OperationHandle, Waiting};
pub use hooks::{Ending, Hooks, NoHooks};
pub use options::EngineOptions;
pub use registry::{Clash, Registry};
pub use requests::{BeginError, BeginRequest, CancelOutcome, ObserveRequest, ResolveOutcome};
