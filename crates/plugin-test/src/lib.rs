//! Tries a plugin out as its users would: the scenarios of a directory, deployed by the real use cases
//! over a store in memory.
//!
//! ```text
//! scenarios (YAML, JSON) ──► Trial ─┬─ contracts: each type by itself ──────► the plugin
//!                                   └─ Bench: control, phase by phase ──────► the plugin
//! ```
//!
//! What must come of each contract and each phase is `plugin-conformance`'s to say.

mod bench;
mod calls;
mod contracts;
mod scenarios;
mod served;
mod trial;

pub use bench::{Bench, BenchError};
pub use scenarios::{ScenarioError, scenarios};
pub use trial::{Trial, TrialReport};
