//! What a person sees. Everything here goes to stderr; stdout is for the one document a command
//! answers with.

pub(crate) mod error;
pub(crate) mod graph;
pub(crate) mod json;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod style;
