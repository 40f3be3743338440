//! Expanding patterns.

use std::time::Instant;

use crate::error::{ErrorCode, Raised, Result};
use crate::host::{Listed, ReadError};

type List<'a> = &'a dyn Fn(&str) -> std::result::Result<Vec<Listed>, ReadError>;

/// How many names a pattern may be compared with.
const MAX_NAMES: usize = 1_000_000;

/// What matches a pattern: names as the pattern would have them written, and URIs, in order of the names.
pub(super) fn expand(
    pattern: &str,
    absolute: &str,
    hierarchical: bool,
    deadline: Option<Instant>,
    list: List<'_>,
) -> Result<Vec<(String, String)>> {
    let _ = (absolute, hierarchical, deadline, list, MAX_NAMES);
    Err(Raised::new(ErrorCode::Unsupported, format!("Pattern `{pattern}` can't be expanded.")))
}
