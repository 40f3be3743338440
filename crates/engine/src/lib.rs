//! The driver: carries operations out, recovers them, observes objects.
//!
//! `engine-core` decides, this crate acts: it owns the clock, the tasks and the calls.
//!
//! **The law.** Each turn of an operation ends in one commit, and only then do its actions start
//! (`driver::Driver::turn`). Nothing else in this crate starts a call of an operation.
//!
//! **Architecture invariant:** nothing here plans, parses a language, or formats for people.

mod answer;
mod calls;
mod censor;
mod conceal;
mod decisions;
mod discover;
mod discovered;
mod driver;
mod engine;
mod fill;
mod find;
mod handle;
mod held;
mod hooks;
mod lease;
mod observe;
mod options;
mod patch_document;
mod rate;
mod recognise;
mod recovery;
mod registry;
mod requests;
mod shared;
mod slots;
mod supervisor;
mod targets;
mod work;

pub use discover::{DiscoverRequest, Discovered, Discoveries, Undiscovered};
pub use engine::Engine;
pub use formwork_engine_core::{Limits, Waiting, WaitsFor};
pub use formwork_store::{Clock, SystemClock};
pub use handle::{Finished, OperationHandle};
pub use hooks::{Ending, Hooks, NoHooks};
pub use options::EngineOptions;
pub use registry::{Clash, Registry};
pub use requests::{BeginError, BeginRequest, CancelOutcome, ObserveRequest};
