//! Lists of what may be read, as the command line gives them: regular expressions that match at the beginning
//! of a URI.

use super::PklError;
use pkl_core::reader::Allowed;

/// What resources may begin with if nothing is said. `libext:` calls functions of the program itself, and
/// `tfvars:` reads files of the project.
const RESOURCES: [&str; 9] =
    ["prop:", "env:", "file:", "modulepath:", "package:", "projectpackage:", "https:", "libext:", "tfvars:"];

/// Which modules may be loaded.
///
/// # Errors
/// A pattern isn't one.
pub(super) fn modules(patterns: Option<&[String]>) -> Result<Allowed, PklError> {
    patterns.map_or(Ok(Allowed::All), |patterns| allowed("--allowed-modules", patterns))
}

/// Which resources may be read. If nothing is said, those of external readers too, given by their schemes.
///
/// # Errors
/// A pattern isn't one.
pub(super) fn resources<'a>(
    patterns: Option<&[String]>,
    schemes: impl Iterator<Item = &'a String>,
) -> Result<Allowed, PklError> {
    if let Some(patterns) = patterns {
        allowed("--allowed-resources", patterns)
    } else {
        let external = schemes.map(|scheme| format!("{scheme}:"));
        Ok(Allowed::Prefixes(RESOURCES.map(str::to_owned).into_iter().chain(external).collect()))
    }
}

fn allowed(flag: &'static str, patterns: &[String]) -> Result<Allowed, PklError> {
    Allowed::patterns(patterns).map_err(|source| PklError::Pattern { flag, source })
}
