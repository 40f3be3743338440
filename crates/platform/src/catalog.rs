//! The catalogue of the platform's types: static, so that a template is validated offline.

use crate::{TypeEntry, types};
use formwork_model::{Catalog, TypeName, TypeRules};
use indexmap::IndexMap;
use std::sync::{Arc, LazyLock};

static CATALOG: LazyLock<Arc<PlatformCatalog>> = LazyLock::new(|| Arc::new(PlatformCatalog::build()));

/// The types of the platform.
pub struct PlatformCatalog {
    /// The types, and after them the records that only the routes make.
    entries: IndexMap<&'static str, Arc<TypeEntry>>,
}

impl PlatformCatalog {
    fn build() -> Self {
        let entries = types::ALL.iter().chain(types::RECORDS).map(|kind| TypeEntry::new(*kind));
        Self { entries: entries.map(|entry| (entry.name(), Arc::new(entry))).collect() }
    }

    pub(crate) fn shared() -> &'static Arc<Self> {
        &CATALOG
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Arc<TypeEntry>> {
        self.entries.get(name)
    }

    /// The type that a template may declare.
    pub(crate) fn declarable(&self, name: &str) -> Option<&Arc<TypeEntry>> {
        let (index, _, entry) = self.entries.get_full(name)?;
        (index < types::ALL.len()).then_some(entry)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<TypeEntry>> {
        self.entries.values()
    }
}

impl Catalog for PlatformCatalog {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        let entry = self.declarable(name.as_str())?;
        Some(Arc::clone(entry) as Arc<dyn TypeRules>)
    }

    fn names(&self) -> Vec<TypeName> {
        self.entries.keys().take(types::ALL.len()).map(|name| TypeName::from(*name)).collect()
    }
}
