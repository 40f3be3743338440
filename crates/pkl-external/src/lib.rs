//! Readers of modules and resources that are processes of their own, over the documented message-passing
//! protocol of Pkl.
//!
//! - [`Process`] runs one; [`ExternalModuleReader`] and [`ExternalResourceReader`] give it to an evaluator.
//! - [`serve()`] is one: it answers for readers of this process.
//!
//! **Architecture invariant:** what the other side sends is not trusted. Messages are bounded, answers are
//! waited for until a time, and whatever doesn't fit ends the conversation with one error.

mod message;
mod process;
mod readers;
mod serve;

pub use message::{LARGEST_MESSAGE, MessageError};
pub use process::{Command, Process, ProcessError};
pub use readers::{ExternalModuleReader, ExternalResourceReader};
pub use serve::{ServeError, Served, serve};
