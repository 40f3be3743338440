//! Which plugin serves which type.

use formwork_model::TypeName;
use formwork_plugin::ResourcePlugin;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::watch;

/// Which plugin serves which type. It may grow while operations run: a step whose plugin is
/// still on its way waits for it, within [`EngineOptions::missing_plugin_millis`](crate::EngineOptions).
#[derive(Default)]
pub struct Registry {
    plugins: RwLock<BTreeMap<TypeName, Arc<dyn ResourcePlugin>>>,
    grown: watch::Sender<()>,
}

/// Two plugins claim one type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("both `{first}` and `{second}` serve the type `{type_name}`")]
pub struct Clash {
    /// The type.
    pub type_name: TypeName,
    /// The namespace of the plugin that has it.
    pub first: String,
    /// The namespace of the plugin that wanted it too.
    pub second: String,
}

impl Registry {
    /// A registry without plugins.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a plugin serve these types.
    ///
    /// # Errors
    /// [`Clash`] if another plugin serves one of them; nothing is registered then.
    pub fn register(
        &self,
        plugin: Arc<dyn ResourcePlugin>,
        types: impl IntoIterator<Item = TypeName>,
    ) -> Result<(), Clash> {
        let types: Vec<TypeName> = types.into_iter().collect();
        {
            let mut plugins = self.plugins.write().unwrap_or_else(PoisonError::into_inner);
            for type_name in &types {
                if let Some(other) = plugins.get(type_name) {
                    return Err(Clash {
                        type_name: type_name.clone(),
                        first: other.namespace().to_owned(),
                        second: plugin.namespace().to_owned(),
                    });
                }
            }
            let count = types.len();
            plugins.extend(types.into_iter().zip(std::iter::repeat_n(plugin, count)));
        }
        self.grown.send_replace(());
        Ok(())
    }

    /// The plugin that serves a type.
    pub fn plugin(&self, type_name: &TypeName) -> Option<Arc<dyn ResourcePlugin>> {
        self.plugins.read().unwrap_or_else(PoisonError::into_inner).get(type_name).cloned()
    }

    /// Waits until a type is served, or the time is over.
    pub(crate) async fn arrival(&self, type_name: &TypeName, within: Duration) {
        let mut grown = self.grown.subscribe();
        let served = grown.wait_for(|()| self.plugin(type_name).is_some());
        // Whether it came in time is asked of the registry by whoever waited.
        let _ = tokio::time::timeout(within, served).await;
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plugins = self.plugins.read().unwrap_or_else(PoisonError::into_inner);
        formatter
            .debug_map()
            .entries(plugins.iter().map(|(type_name, plugin)| (type_name.as_str(), plugin.namespace())))
            .finish()
    }
}
