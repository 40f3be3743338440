//! Making a plan: the request indexed once, the graph over it, then one pass in dependency order
//! that decides each resource knowing what becomes of those it refers to.

mod adopt;
mod ahead;
mod amend;
mod cause;
mod cleanup;
mod declare;
mod draft;
mod edges;
mod inputs;
mod leaving;
mod links;
mod make;
mod previous;
mod removal;
mod replace;
mod resolve;
mod world;

pub(crate) use make::make;
