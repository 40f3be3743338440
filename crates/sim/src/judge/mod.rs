//! The judges: invariants, checked from the provider's own record.

mod effect;
mod fidelity;
mod journal;
mod quiet;
mod values;
mod violation;

pub(crate) use values::{differing, evaluated};
pub use violation::{Invariant, Violation};
