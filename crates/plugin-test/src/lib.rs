//! Tries a plugin out as its users would: the scenarios of a directory, deployed by the real use cases
//! over a store in memory.
//!
//! ```text
//! scenarios (YAML, JSON) ──► Bench: control ──► the plugin
//!                              └── plugin-conformance: what should come of each phase
//! ```

mod bench;
mod scenarios;

pub use bench::{Bench, BenchError};
pub use scenarios::{ScenarioError, scenarios};
