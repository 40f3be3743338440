//! The whole edge over a real `Control` and a store in memory, through its public interface.
#![allow(missing_docs, reason = "tests")]

mod errors;
mod following;
mod formations_of_rules;
mod formations_of_types;
mod limits;
mod openapi;
mod routes;
mod shapes;
mod sockets;
mod world;
