//! The types that exist: the platform's, those that the operator registered, those of plugins, and targets.

use crate::target::TargetRules;
use formwork_handler::CustomTypes;
use formwork_model::{Catalog, TARGET_TYPE, TypeName, TypeRules};
use formwork_platform::PlatformCatalog;
use formwork_plugin::ResourcePlugin;
use std::sync::Arc;

/// The types beside those of the platform: what is served outside of this process. The default is none.
#[derive(Default)]
pub struct OutsideTypes {
    /// Those that the operator registered.
    pub custom: CustomTypes,
    /// Those of plugins.
    pub plugins: PluginTypes,
}

impl From<CustomTypes> for OutsideTypes {
    fn from(custom: CustomTypes) -> Self {
        Self { custom, plugins: PluginTypes::default() }
    }
}

/// The types of plugins, and what serves them. The default is none.
#[derive(Default)]
pub struct PluginTypes {
    /// What may be declared.
    pub catalog: Option<Arc<dyn Catalog>>,
    /// What serves which types. A type of the catalog that nothing serves is one whose plugin is broken.
    pub served: Vec<(Arc<dyn ResourcePlugin>, Vec<TypeName>)>,
}

/// All types of an instance. Fixed from the start to the end of a process, so that no deploy can
/// see two sets (seed 4, "Configuration").
pub(crate) struct TypeCatalog {
    platform: Arc<PlatformCatalog>,
    custom: CustomTypes,
    plugins: Option<Arc<dyn Catalog>>,
    target: Arc<TargetRules>,
}

impl TypeCatalog {
    pub(crate) fn new(
        platform: Arc<PlatformCatalog>,
        custom: CustomTypes,
        plugins: Option<Arc<dyn Catalog>>,
    ) -> Self {
        Self { platform, custom, plugins, target: Arc::new(TargetRules::new()) }
    }

    /// Whether a type is served outside of this process: by a handler or a plugin.
    pub(crate) fn is_outside(&self, name: &TypeName) -> bool {
        self.platform.get(name).is_none() && self.outside(name).is_some()
    }

    fn outside(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        self.custom.get(name).or_else(|| self.plugins.as_ref()?.get(name))
    }
}

impl Catalog for TypeCatalog {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        if name.as_str() == TARGET_TYPE {
            return Some(self.target.clone());
        }
        self.platform.get(name).or_else(|| self.outside(name))
    }

    fn names(&self) -> Vec<TypeName> {
        let mut names = self.platform.names();
        names.extend(self.custom.names());
        let taken: std::collections::BTreeSet<TypeName> = names.iter().cloned().collect();
        let plugins = self.plugins.iter().flat_map(|plugins| plugins.names());
        names.extend(plugins.filter(|name| !taken.contains(name)));
        names
    }
}
