//! Custom resource types through the real binary, against the example handler: its record lives in
//! the test's process and not in the one that deploys.

#![allow(clippy::format_push_string, reason = "goldens are built line by line")]

#[path = "../common/mod.rs"]
mod common;

mod boot;
mod decisions;
mod guests;
mod kill;
mod matrix;
mod meanwhile;
mod protocol;
mod replacement;
mod rollback;
mod validation;
mod wire;
mod world;
