//! The catalogue of the platform's types: static, so that a template is validated offline.

use crate::{TypeEntry, types};
use formwork_model::{Catalog, TypeName, TypeRules};
use indexmap::IndexMap;
use std::sync::{Arc, LazyLock};

static CATALOG: LazyLock<Arc<PlatformCatalog>> = LazyLock::new(|| Arc::new(PlatformCatalog::build()));

/// The types of the platform.
pub struct PlatformCatalog {
    entries: IndexMap<&'static str, Arc<TypeEntry>>,
}

impl PlatformCatalog {
    fn build() -> Self {
        let entries = types::ALL.iter().map(|kind| TypeEntry::new(*kind));
        Self { entries: entries.map(|entry| (entry.name(), Arc::new(entry))).collect() }
    }

    pub(crate) fn shared() -> &'static Arc<Self> {
        &CATALOG
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Arc<TypeEntry>> {
        self.entries.get(name)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<TypeEntry>> {
        self.entries.values()
    }
}

impl Catalog for PlatformCatalog {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        let entry = self.entry(name.as_str())?;
        Some(Arc::clone(entry) as Arc<dyn TypeRules>)
    }

    fn names(&self) -> Vec<TypeName> {
        self.entries.keys().map(|name| TypeName::from(*name)).collect()
    }
}
