//! The one document on stdout: pretty JSON, two spaces, a line end.

use serde_json::Value;
use std::io::{self, Write as _};

/// Prints the document of a command.
///
/// # Errors
/// Stdout can't be written.
pub(crate) fn print(value: &Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value)?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}
