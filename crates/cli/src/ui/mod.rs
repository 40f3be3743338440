//! What a person sees. Everything here goes to stderr; stdout is for the one document a command
//! answers with.

pub(crate) mod drift;
pub(crate) mod error;
pub(crate) mod graph;
pub(crate) mod inventory;
pub(crate) mod json;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod style;
pub(crate) mod text;
pub(crate) mod yaml;

use std::fmt;
use std::io::Write as _;

/// Says a line on stderr. Where nobody can read it any more, the command goes on all the same.
pub(crate) fn say(line: fmt::Arguments<'_>) {
    write(format_args!("{line}\n"));
}

/// Writes text to stderr in one piece.
pub(crate) fn write(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    let mut stderr = anstream::stderr().lock();
    // There is no third place to say that stderr is gone.
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
