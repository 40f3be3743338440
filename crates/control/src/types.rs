//! The types that exist: the platform's, those that the operator registered, and targets.

use crate::target::TargetRules;
use formwork_handler::CustomTypes;
use formwork_model::{Catalog, TARGET_TYPE, TypeName, TypeRules};
use formwork_platform::PlatformCatalog;
use std::sync::Arc;

/// All types of an instance. Fixed from the start to the end of a process, so that no deploy can
/// see two sets (seed 4, "Configuration").
pub(crate) struct TypeCatalog {
    platform: Arc<PlatformCatalog>,
    custom: CustomTypes,
    target: Arc<TargetRules>,
}

impl TypeCatalog {
    pub(crate) fn new(platform: Arc<PlatformCatalog>, custom: CustomTypes) -> Self {
        Self { platform, custom, target: Arc::new(TargetRules::new()) }
    }

    /// Whether a type is one that the operator registered, so that a handler serves it.
    pub(crate) fn is_custom(&self, name: &TypeName) -> bool {
        self.platform.get(name).is_none() && self.custom.get(name).is_some()
    }
}

impl Catalog for TypeCatalog {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        if name.as_str() == TARGET_TYPE {
            return Some(self.target.clone());
        }
        self.platform.get(name).or_else(|| self.custom.get(name))
    }

    fn names(&self) -> Vec<TypeName> {
        let mut names = self.platform.names();
        names.extend(self.custom.names());
        names
    }
}
