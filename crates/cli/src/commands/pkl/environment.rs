//! What the `pkl` commands take from the environment of the process, and nothing else does here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Something that all evaluators of Pkl share, in the person's home.
pub(super) fn shared(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
    Some(Path::new(&home).join(".pkl").join(name))
}

/// Where programs keep what can be made anew.
pub(super) fn cache() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("formwork"))
}

/// The variables that programs read, unless others are given.
pub(super) fn texts() -> BTreeMap<String, String> {
    all().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

/// All variables.
pub(super) fn all() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}
