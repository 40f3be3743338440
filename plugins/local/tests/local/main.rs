//! The plugin as the engine calls it, on real directories.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attacks;
mod conformance;
mod files;
mod kept;
mod listing;
mod privileges;
mod process;
mod schema;
mod support;
