//! The whole edge over a real `Control` and a store in memory, through its public interface.
#![allow(missing_docs, reason = "tests")]

mod access;
mod beyond_crud;
mod drift;
mod errors;
mod following;
mod formations_of_rules;
mod formations_of_types;
mod going_along;
mod hardening;
mod imports;
mod limits;
mod lists;
mod matrix;
mod openapi;
mod owners;
mod people;
mod pitfalls;
mod projects;
mod purge;
mod random;
mod revisions;
mod routes;
mod saved_plans;
mod seed;
mod shapes;
mod sockets;
mod tags;
mod users;
mod world;
