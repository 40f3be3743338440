//! The program as its users and its machine treat it: random sequences of real `formwork` commands over a provider
//! whose record lives outside its store, with failures, edits behind its back, and SIGKILL of whatever runs.
//!
//! ```text
//! seed ──► Sequence ──► play: commands, kills, edits ──► settle ──► judge
//!                          │                                          ▲
//!                          └── the fake cloud: what happened ─────────┘
//! ```
//!
//! A sequence is a list of steps that each say all they need, so that leaving some out is a sequence too: that is how
//! one that broke an invariant is made small.
//!
//! **Architecture invariant:** nothing here looks into Formwork's store. What it knows comes from commands, as for any
//! user, and from the provider's own log.

mod declared;
mod dice;
mod effects;
mod judge;
mod person;
mod play;
mod quiet;
mod run;
mod sequence;
mod settle;
mod stage;
mod violation;
mod world;

pub use run::{Report, run, shrink};
pub use sequence::{Sequence, Step, Weather, kept_seeds};
pub use stage::{Stage, StageError};
pub use violation::Violation;
