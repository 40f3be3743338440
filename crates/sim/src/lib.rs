//! A deterministic simulator of whole operations: planner, store, operation and provider in one
//! world with one clock and one source of rolls, under crashes and faults.
//!
//! The same seed gives the same run. The provider's record is what invariants are judged by; the
//! engine reaches it by messages only.
//!
//! **Architecture invariant:** no async runtime and no thread. The code under test is the code that
//! runs in production: `planner::plan`, `Operation`, `Batch::after_commit`, `Store`.

mod catalog;
mod chance;
mod declare;
mod grow;
mod judge;
mod provider;
mod ready;
mod story;
mod sweep;
mod trace;
mod weather;
mod world;

pub use catalog::{Backend, SimCatalog};
pub use chance::Chance;
pub use declare::{Declaration, Declared};
pub use grow::Grower;
pub use judge::{Invariant, Violation};
pub use provider::{Ask, Call, Change, Effect, Mark, Provider, Said, SimObject, Trouble};
pub use ready::ready;
pub use story::{StoryOptions, Told, reach, repeat, tell};
pub use sweep::{Beat, Finding, Scenario, Swept, sweep};
pub use trace::Trace;
pub use weather::{
    CallFault, CommitFault, Fault, Journey, RECOVERY_AFTER, Rates, Rough, Script, Scripted, Weather,
};
pub use world::{
    DAWN, Deployed, LEASE_MILLIS, Planned, Process, Protections, Purpose, Run, World, WorldOptions, limits,
};
