//! Random well-formed Pkl programs, and the comparison of what two evaluators make of them.
//!
//! A [`program`] is made of [`Choices`]; a [`Subject`] gives [`Answer`]s to many at once. [`search`] looks
//! for programs that two subjects answer differently and makes them as simple as it can.

mod answer;
mod choices;
mod generate;
#[cfg(feature = "mutants")]
mod mutants;
mod official;
mod ours;
mod search;
mod shrink;

pub use answer::{Answer, Subject, difference};
pub use choices::Choices;
pub use generate::{Program, program};
#[cfg(feature = "mutants")]
pub use mutants::{Hunted, hunt};
pub use ours::Ours;
pub use search::{Finding, Found, Search, search};
pub use shrink::shrink;
