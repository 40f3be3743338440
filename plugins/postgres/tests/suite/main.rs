//! The plugin on a real PostgreSQL.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod behaviour;
mod conformance;
mod connection;
mod injection;
mod support;
