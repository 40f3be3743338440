//! Failures as programs see them.

use pkl_core::ErrorCode;
use pkl_core::host::ReadError;

use crate::lockfile::LockfileError;
use crate::packages::PackageError;
use crate::uri::PackageId;

/// An error with this message.
pub(crate) fn told(code: ErrorCode, message: impl Into<String>, hint: Option<&str>) -> ReadError {
    ReadError::Told { code, message: message.into(), hint: hint.map(str::to_owned) }
}

/// A package that can't be had, for a reader.
pub(crate) fn read_error(error: &PackageError) -> ReadError {
    match error {
        PackageError::Uri(error) => ReadError::InvalidUri(error.to_string()),
        error => told(ErrorCode::Unreadable, error.to_string(), None),
    }
}

/// Errors about `PklProject.deps.json`.
pub(crate) mod lockfile_error {
    use super::{ErrorCode, LockfileError, PackageId, ReadError, told};
    use std::io;
    use std::path::Path;

    const RESOLVE: &str = "Run `pkl project resolve` to update resolved dependencies.";
    const CREATE: &str =
        "Try running `pkl project resolve` within the project directory to create a new set of dependencies.";
    const RECREATE: &str = "Run `pkl project resolve` to re-generate this file.";

    /// The file's contents, or why there are none.
    pub(crate) fn read<T>(
        path: &Path,
        uri: &str,
        read: io::Result<Result<T, LockfileError>>,
    ) -> Result<T, ReadError> {
        match read {
            Ok(Ok(lockfile)) => Ok(lockfile),
            Ok(Err(LockfileError::Malformed(reason))) => {
                let message = format!(
                    "Cannot resolve dependency because file `{uri}` is malformed.\nRun `pkl project resolve` to re-create this file."
                );
                Err(told(ErrorCode::Unreadable, message, Some(&format!("Details: {reason}"))))
            }
            Ok(Err(error)) => Err(told(ErrorCode::Unreadable, format!("{error}\n\n{RECREATE}"), None)),
            Err(error) => {
                let reason = match error.kind() {
                    io::ErrorKind::NotFound => format!("NoSuchFileException: {}", path.display()),
                    _ => error.to_string(),
                };
                let message = format!(
                    "Encountered an error when attempting to load `PklProject.deps.json` at `{uri}`.\n{reason}"
                );
                Err(told(ErrorCode::NotFound, message, Some(CREATE)))
            }
        }
    }

    /// A package is missing in the file.
    pub(crate) fn unresolved(uri: &str) -> ReadError {
        let message = format!("Did not find a resolved dependency for package `{uri}`.\n\n{RESOLVE}");
        told(ErrorCode::NotFound, message, None)
    }

    /// The project asks for more than is in the file.
    pub(crate) fn outdated(project: &str, declared: &PackageId, resolved: &PackageId) -> ReadError {
        let message = format!(
            "Project `{project}` declares a dependency on a package that is newer than what is declared in `PklProject.deps.json`.\n\nDeclared: `{declared}`\nResolved: `{resolved}`\n\n{RESOLVE}"
        );
        told(ErrorCode::NotFound, message, None)
    }
}
