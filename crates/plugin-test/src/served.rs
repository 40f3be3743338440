//! Which plugin serves which types.

use formwork_model::TypeName;
use formwork_plugin::ResourcePlugin;
use std::sync::Arc;

/// What serves which types.
#[derive(Clone)]
pub(crate) struct Served(pub(crate) Vec<(Arc<dyn ResourcePlugin>, Vec<TypeName>)>);

impl Served {
    /// What serves a type.
    ///
    /// # Errors
    /// Nothing does, in words.
    pub(crate) fn plugin(&self, type_name: &TypeName) -> Result<Arc<dyn ResourcePlugin>, String> {
        let serves = self.0.iter().find(|(_, types)| types.contains(type_name));
        serves.map(|(plugin, _)| plugin.clone()).ok_or_else(|| format!("nothing serves `{type_name}`"))
    }
}
