//! The binary, end to end: what people type, what they see, what is there afterwards.

#[path = "../common/mod.rs"]
mod common;

mod agent;
mod configure;
mod contention;
mod crud;
mod deploy;
mod drift;
mod failure;
mod help;
mod hostile;
mod import;
mod interrupt;
mod language;
mod parameters;
mod pkl;
mod pkl_project;
mod pkl_test;
mod plan;
mod records;
mod revisions;
mod secrets;
mod seed;
mod terminal;
mod users;
mod wording;
