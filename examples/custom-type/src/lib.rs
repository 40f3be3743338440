//! A handler for a custom resource type, `channel`: what an operator runs so that templates can
//! declare resources that Formwork knows nothing about.
//!
//! It depends on nothing of Formwork: the protocol is all that the two share. For trying out what a
//! deploy makes of a handler that fails, it can be told to misbehave ([`Fault`]).

mod channels;
mod fault;
mod server;
mod signature;
mod store;

pub use channels::Channel;
pub use fault::{Deed, Fault};
pub use server::{Options, Seen, Service, router};
pub use signature::{Refusal, verify};
