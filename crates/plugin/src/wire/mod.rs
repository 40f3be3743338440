//! Calls as messages: what a plugin's process and its host say to each other (`proto/plugin.proto`).
//!
//! Values travel as the text of JSON, so that 64-bit integers, and the difference between `1` and `1.0`, survive.
//! What is secret on one side is [`Secret`](formwork_model::Secret) on the other. The lease that a call is made
//! under does not travel: it is checked in transactions of this process, which another has none of.
//!
//! **Architecture invariant:** what comes from the other side is read, never believed: a message that doesn't say
//! what it must is a [`WireError`], and nothing here panics or prints what it holds.

mod announcement;
mod context;
mod outcome;
mod path;
#[allow(missing_docs, clippy::pedantic, unused_qualifications, reason = "written by a program")]
#[rustfmt::skip]
#[path = "generated/formwork.plugin.v1.rs"]
pub mod pb;
mod redacted;
mod request;
#[cfg(test)]
mod tests;
mod value;

pub use announcement::Announcement;
pub use value::WireError;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// The most bytes of one message, in both directions.
pub const LARGEST_MESSAGE: usize = 16 * 1024 * 1024;

/// The name of the metadata that carries the W3C trace context.
pub const TRACEPARENT: &str = "traceparent";

/// The names of the variables by which a host tells a plugin's process what it needs.
pub mod variable {
    /// The version of the protocol.
    pub const PROTOCOL: &str = "FORMWORK_PLUGIN_PROTOCOL";
    /// Where the process listens.
    pub const SOCKET: &str = "FORMWORK_PLUGIN_SOCKET";
    /// What the process gives back once.
    pub const TOKEN: &str = "FORMWORK_PLUGIN_TOKEN";
}
