//! The declarations of the standard library.

static MODULES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/stdlib.rs"));

/// The source of `pkl:name`.
pub(crate) fn source(name: &str) -> Option<&'static str> {
    let position = MODULES.binary_search_by_key(&name, |(candidate, _)| candidate).ok()?;
    Some(MODULES[position].1)
}

/// The names of all modules of the library.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(name, _)| *name)
}
