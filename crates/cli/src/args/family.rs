//! The name that the binary is called by, and which commands it then has.

use std::ffi::OsString;

/// Whether the binary was called through a link named `soat`.
pub(crate) fn called_as_soat() -> bool {
    std::env::args_os().next().is_some_and(|name| family(&name) == Family::Soat)
}

/// The commands that answer under the name the binary was called by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// All.
    Formwork,
    /// Those of formations and the platform.
    Soat,
}

/// The family of the name that a program is called by.
pub(super) fn family(program: &OsString) -> Family {
    let name = std::path::Path::new(program).file_stem().and_then(|name| name.to_str());
    if name == Some("soat") { Family::Soat } else { Family::Formwork }
}

/// Commands that `soat` does not have.
pub(super) const NOT_SOAT: &[&str] = &[
    "admin",
    "agent",
    "apply",
    "destroy",
    "diff-formation-revisions",
    "drift",
    "eval",
    "explain",
    "formation-schema",
    "get-formation-revision",
    "graph",
    "inventory",
    "list-formation-revisions",
    "pkl",
    "plugin",
];
