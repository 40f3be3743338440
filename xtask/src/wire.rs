//! The messages of the plugin protocol as Rust, made from `plugin.proto`. The result is kept with the sources, so that
//! whoever builds Formwork needs no compiler of protocol buffers.

use crate::{TaskError, root};
use std::fs;

/// The file that says what the messages are.
pub(crate) const PROTO: &str = "plugin.proto";
/// Where it is.
pub(crate) const DIRECTORY: &str = "crates/plugin/proto";
const FILE: &str = "formwork.plugin.v1.rs";

/// Messages that may hold secrets: `wire/redacted.rs` says how they are printed.
const SECRET: [&str; 10] = [
    "CreateRequest",
    "ReadRequest",
    "UpdateRequest",
    "DeleteRequest",
    "StatusRequest",
    "ListRequest",
    "ValidateRequest",
    "ProgressResult",
    "ReadResult",
    "Announcement",
];

/// The file's path in the workspace, and its text.
pub(crate) fn generated() -> Result<(String, String), TaskError> {
    let descriptors = protox::compile([PROTO], [root().join(DIRECTORY)])?;
    let scratch = tempfile::tempdir().map_err(|source| file("a temporary directory", source))?;
    tonic_prost_build::configure()
        .build_transport(false)
        .skip_debug(SECRET.map(|message| format!(".formwork.plugin.v1.{message}")))
        .out_dir(scratch.path())
        .compile_fds(descriptors)
        .map_err(|source| file(PROTO, source))?;
    let text = fs::read_to_string(scratch.path().join(FILE)).map_err(|source| file(FILE, source))?;
    Ok((format!("crates/plugin/src/wire/generated/{FILE}"), text))
}

fn file(path: &str, source: std::io::Error) -> TaskError {
    TaskError::File { path: path.to_owned(), source }
}
