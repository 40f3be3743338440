//! The one document on stdout: pretty JSON, two spaces, a line end.

use super::text;
use serde_json::Value;
use std::io::{self, Write as _};

/// Prints the document of a command. A reader that has gone has had enough: that is no error, and
/// what the command did still decides how it ends.
///
/// # Errors
/// Stdout can't be written.
pub(crate) fn print(value: &Value) -> io::Result<()> {
    print_text(&format!("{}\n", pretty(value)))
}

/// Prints text on stdout, under the same rule.
///
/// # Errors
/// Stdout can't be written.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// A value as people read it.
pub(crate) fn pretty(value: &Value) -> String {
    text::json(format!("{value:#}"))
}
