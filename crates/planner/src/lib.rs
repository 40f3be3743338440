//! The planner: what is desired, what the ledger knows and what was observed become a [`Plan`].
//!
//! [`plan`] makes the whole plan, [`diff`] is the one change rule behind it (the engine asks it
//! again at run time, and [`drift`] is its other half), [`order`] is the dependency graph that
//! front ends also validate with, and [`check`] says whether a plan keeps its own promises.
//!
//! **Architecture invariant:** pure. No I/O, no clock, no randomness, no async runtime: the same
//! inputs give the same bytes, and a plan never calls a plugin.
//!
//! [`Plan`]: formwork_model::Plan

mod change;
mod check;
mod graph;
mod planning;
mod request;

pub use change::{Comparison, Verdict, diff, drift, is_same};
pub use check::{PlanFault, check};
pub use graph::{GraphEdge, GraphNode, Order, order};
pub use request::{Import, Imports, KnownStacks, PlanRequest, Planning, plan};
