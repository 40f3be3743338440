//! Answers of the host for packages that would otherwise be downloaded.

use indexmap::IndexMap;
use std::sync::Arc;

use crate::contents::Contents;
use crate::metadata::Dependency;
use crate::uri::PackageId;

/// Answers for some packages. What it answers with is taken as it is: no checksum is compared, and
/// nothing of it comes into the cache or into `PklProject.deps.json`.
pub trait Mirror: Send + Sync {
    /// The package, if this mirror answers for it.
    fn find(&self, id: &PackageId) -> Option<Mirrored>;

    /// Whether it also answers for a local dependency, given by its name and what it would be
    /// published as.
    fn replaces_local(&self, _name: &str, _id: &PackageId) -> bool {
        false
    }
}

/// A package of a mirror.
#[derive(Clone)]
pub struct Mirrored {
    /// What the package itself depends on.
    pub dependencies: IndexMap<String, Dependency>,
    /// Its files.
    pub contents: Arc<dyn Contents>,
}

impl Mirrored {
    /// A package that depends on nothing.
    pub fn new(contents: impl Contents + 'static) -> Self {
        Self { dependencies: IndexMap::new(), contents: Arc::new(contents) }
    }
}
