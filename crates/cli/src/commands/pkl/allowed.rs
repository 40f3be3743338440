//! Lists of what may be read, as the command line gives them: regular expressions that match at the beginning
//! of a URI.

use super::PklError;
use pkl_core::reader::Allowed;

/// What resources may begin with if nothing is said.
const RESOURCES: [&str; 7] =
    ["prop:", "env:", "file:", "modulepath:", "package:", "projectpackage:", "https:"];

/// Which modules may be loaded.
///
/// # Errors
/// A pattern isn't one.
pub(super) fn modules(patterns: Option<&[String]>) -> Result<Allowed, PklError> {
    patterns.map_or(Ok(Allowed::All), |patterns| allowed("--allowed-modules", patterns))
}

/// Which resources may be read.
///
/// # Errors
/// A pattern isn't one.
pub(super) fn resources(patterns: Option<&[String]>) -> Result<Allowed, PklError> {
    match patterns {
        Some(patterns) => allowed("--allowed-resources", patterns),
        None => Ok(Allowed::Prefixes(RESOURCES.map(str::to_owned).to_vec())),
    }
}

fn allowed(flag: &'static str, patterns: &[String]) -> Result<Allowed, PklError> {
    Allowed::patterns(patterns).map_err(|source| PklError::Pattern { flag, source })
}
