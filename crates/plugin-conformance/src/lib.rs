//! What every plugin must keep, as a suite that anyone can run ([`conformance`]), and
//! [`FakeCloud`], a provider whose record lives outside the engine's process.
//!
//! **Architecture invariant:** [`FakeCloud`] shares no memory with its callers. They reach it over a
//! Unix socket, so that killing them can't change what it remembers.

mod cloud;
pub mod conformance;
pub mod lifecycle;
mod plugin;

pub use cloud::{
    Answering, Behaviour, CloudObject, CloudType, FakeCloud, LogLine, Moment, Outcome, Pause, Rule, Snapshot,
};
pub use plugin::FakeCloudPlugin;
