//! The platform over a store in memory, through its public interface.
#![allow(missing_docs, reason = "tests")]

mod agreement;
mod calls;
mod deletion;
mod documents;
mod graphs;
mod guardrails;
mod keys;
mod limits;
mod projects;
mod records;
mod references;
mod rest;
mod round_trip;
mod routes;
mod rules;
mod secrets;
mod sessions;
mod triggers;
mod versions;
mod world;
