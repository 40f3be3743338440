//! The catalogue of the platform's types: static, so that a template is validated offline.

use formwork_model::{Catalog, TypeName, TypeRules};
use std::sync::Arc;

/// The types of the platform.
pub struct PlatformCatalog {}

impl Catalog for PlatformCatalog {
    fn get(&self, _name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        unimplemented!()
    }

    fn names(&self) -> Vec<TypeName> {
        unimplemented!()
    }
}
