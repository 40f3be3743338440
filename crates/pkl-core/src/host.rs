//! What a host decides: where modules and resources come from, what is allowed, and the limits.

use std::sync::Arc;
use std::time::Duration;

use crate::error::ErrorCode;

/// Why a module or resource can't be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is none.
    #[error("not found")]
    NotFound,
    /// There is one, but reading it failed.
    #[error("{0}")]
    Failed(String),
    /// The address can't be one of this scheme.
    #[error("{0}")]
    InvalidUri(String),
    /// It is a file outside of the root directory.
    #[error("outside of the root directory")]
    OutsideRoot,
    /// The scheme has no patterns.
    #[error("not globbable")]
    NotGlobbable,
    /// A reader that says itself what went wrong: the whole message of the error.
    #[error("{message}")]
    Told {
        /// The kind of the error.
        code: ErrorCode,
        /// What went wrong.
        message: String,
        /// What may help.
        hint: Option<String>,
    },
}

const NO_PROJECT: &str = "Cannot import dependency because there is no project found.\n\nIf you meant to import a path that starts with `@`, prefix the path with `./` (e.g. `import \"./@myPath\").\nIf you meant to import a dependency, ensure that this file is within a directory that contains a PklProject module.";

impl ReadError {
    /// Dependency notation where there is no project.
    pub fn no_project() -> Self {
        Self::Told { code: ErrorCode::NotFound, message: NO_PROJECT.to_owned(), hint: None }
    }

    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound => ErrorCode::NotFound,
            Self::Failed(_) => ErrorCode::Unreadable,
            Self::OutsideRoot => ErrorCode::NotAllowed,
            Self::InvalidUri(_) | Self::NotGlobbable => ErrorCode::InvalidUri,
            Self::Told { code, .. } => *code,
        }
    }
}

/// One element found while a pattern is expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The last part of its URI.
    pub name: String,
    /// Whether it can hold others.
    pub is_directory: bool,
}

/// Reads the modules of one URI scheme.
pub trait ModuleReader: Send + Sync {
    /// The scheme, without its colon.
    fn scheme(&self) -> &str;

    /// Whether URIs have a path in which relative ones are resolved.
    fn is_hierarchical(&self) -> bool {
        true
    }

    /// The module's text.
    fn read(&self, uri: &str) -> Result<String, ReadError>;

    /// What is in the directory `uri`, which ends with a slash.
    fn list(&self, _uri: &str) -> Result<Vec<Listed>, ReadError> {
        Err(ReadError::NotGlobbable)
    }

    /// The URI by which another reader has the very same module, if one does: both are one module.
    fn other_uri(&self, _uri: &str) -> Option<String> {
        None
    }
}

/// What a resource contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A value that is a string itself, as those of `env:` and `prop:`.
    Text(Arc<str>),
    /// Contents that a program sees as a `Resource`.
    Bytes(Arc<[u8]>),
    /// Contents that a program sees as a `Resource` of another URI than the one it asked for.
    Found {
        /// Where the contents are.
        uri: Arc<str>,
        /// The contents.
        bytes: Arc<[u8]>,
    },
}

/// Finds the packages that dependency notation (`@name/path`) names.
pub trait Dependencies: Send + Sync {
    /// What `@name` stands for in the module at `base`: a URI that ends with the hash behind which
    /// paths in the package follow, as in `package://example.com/birds@1.0.0#`.
    ///
    /// # Errors
    /// There is no such dependency, or it can't be found out.
    fn locate(&self, base: &str, name: &str) -> Result<String, ReadError>;
}

/// Reads the resources of one URI scheme.
pub trait ResourceReader: Send + Sync {
    /// The scheme, without its colon.
    fn scheme(&self) -> &str;

    /// Whether URIs have a path in which relative ones are resolved.
    fn is_hierarchical(&self) -> bool {
        true
    }

    /// The resource, or `None` if there is none.
    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError>;

    /// What is in the directory `uri`, which ends with a slash; for a scheme without paths, everything.
    fn list(&self, _uri: &str) -> Result<Vec<Listed>, ReadError> {
        Err(ReadError::NotGlobbable)
    }
}

/// How `trace` shows values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceMode {
    /// On one line each.
    #[default]
    Compact,
    /// With a line for each member.
    Pretty,
}

/// Bounds of one evaluation. Each that is reached is an error, never a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take; matching of regular expressions and globs counts.
    pub time: Option<Duration>,
    /// How many bytes its values may take; 4 GiB at most.
    pub memory: usize,
    /// How deep calls and members may nest.
    pub depth: usize,
    /// How many bytes it may put out.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: None, memory: 4 << 30, depth: 12_000, output: 1 << 30 }
    }
}
