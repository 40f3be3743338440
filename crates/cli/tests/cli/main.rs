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
mod files;
mod help;
mod hostile;
mod import;
mod instance_key;
mod interrupt;
mod language;
mod parameters;
mod pkl;
mod pkl_formae;
mod pkl_host;
mod pkl_package;
mod pkl_project;
mod pkl_readers;
mod pkl_test;
mod plan;
mod postgres;
mod records;
mod revisions;
mod secrets;
mod seed;
mod seed_shell;
mod terminal;
mod users;
mod wording;
