//! The use cases' common ground: what they are made of, how they start and stop.

use crate::formation::MaskedTemplates;
use crate::target::TargetPlugin;
use crate::{
    ControlError, OutsideTypes, PluginTypes, TypeCatalog, finish::Finisher, instance, logins::Logins,
    reading::Reading, turns::Turns,
};
use formwork_engine::{Clock, Engine, EngineOptions, Registry};
use formwork_formation::Limits;
use formwork_handler::CustomTypes;
use formwork_model::{Catalog, InstanceKey, OperationId, OwnerId, ProjectId, TARGET_TYPE, TypeName};
use formwork_platform::Platform;
use formwork_plugin::ResourcePlugin;
use formwork_store::{Reader, Store};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How [`Control`] behaves.
#[derive(Clone, Debug)]
pub struct ControlOptions {
    /// Bounds of templates.
    pub limits: Limits,
    /// How the engine behaves, with the owner that holds its leases.
    pub engine: EngineOptions,
}

/// All use cases, over one store.
pub struct Control {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) reader: Arc<dyn Reader>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) platform: Arc<Platform>,
    pub(crate) catalog: Arc<TypeCatalog>,
    pub(crate) key: InstanceKey,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: Limits,
    pub(crate) default_project: DefaultProject,
    pub(crate) logins: Logins,
    pub(crate) masked_templates: MaskedTemplates,
    pub(crate) turns: Arc<Turns>,
    pub(crate) reading: Reading,
}

/// The project that is meant where nothing names one; known once the store is open.
#[derive(Debug, Default)]
pub(crate) struct DefaultProject(OnceLock<ProjectId>);

impl DefaultProject {
    pub(crate) fn get(&self) -> Option<&ProjectId> {
        self.0.get()
    }
}

impl Control {
    /// Opens the use cases over a store: makes the project `default` if there is none. Nothing is
    /// recovered yet: see [`recover`](Self::recover).
    ///
    /// # Errors
    /// `SECRET_NOT_DECRYPTABLE` where the store belongs to another instance key; faults of the store.
    pub async fn open(
        store: Arc<dyn Store>,
        key: InstanceKey,
        clock: Arc<dyn Clock>,
        options: ControlOptions,
    ) -> Result<Arc<Self>, ControlError> {
        Self::open_with(store, key, clock, options, OutsideTypes::default()).await
    }

    /// Opens the use cases with types beside those of the platform.
    ///
    /// # Errors
    /// `SECRET_NOT_DECRYPTABLE` where the store belongs to another instance key; faults of the store.
    pub async fn open_with(
        store: Arc<dyn Store>,
        key: InstanceKey,
        clock: Arc<dyn Clock>,
        options: ControlOptions,
        outside: impl Into<OutsideTypes>,
    ) -> Result<Arc<Self>, ControlError> {
        let OutsideTypes { custom, plugins } = outside.into();
        instance::claim(&*store, &key).await?;
        let platform = Platform::new(store.clone(), key.clone());
        let PluginTypes { catalog: declared, served } = plugins;
        let registry = Arc::new(registry(&platform, &custom, served, &clock)?);
        let catalog = Arc::new(TypeCatalog::new(Platform::catalog(), custom, declared));
        let reader = store.reader();
        let hooks = Arc::new(Finisher { reader: reader.clone() });
        let engine =
            Engine::new(store.clone(), registry.clone(), key.clone(), clock.clone(), hooks, options.engine);
        let control = Self {
            store,
            logins: Logins::new(&key),
            reader,
            engine,
            registry,
            platform,
            catalog,
            key,
            clock,
            limits: options.limits,
            default_project: DefaultProject::default(),
            masked_templates: MaskedTemplates::default(),
            turns: Arc::default(),
            reading: Reading::default(),
        };
        let project = control.default_project().await?;
        let _ = control.default_project.0.set(project.id);
        Ok(Arc::new(control))
    }

    /// Takes over what unfinished operations a dead process left, and names them.
    ///
    /// # Errors
    /// Faults of the store. An operation that can't be read is reported and left alone.
    pub async fn recover(
        &self,
        is_dead: &(dyn Fn(&OwnerId) -> bool + Send + Sync),
    ) -> Result<Vec<OperationId>, ControlError> {
        let handles = self.engine.recover(is_dead).await?;
        Ok(handles.iter().map(|handle| handle.id().clone()).collect())
    }

    /// The operations that run in this process.
    pub fn running(&self) -> Vec<OperationId> {
        self.engine.running().iter().map(|handle| handle.id().clone()).collect()
    }

    /// Stops: nothing new starts, what is in flight may end within `grace`, the rest is left to be
    /// recovered.
    pub async fn shutdown(&self, grace: Duration) {
        self.engine.shutdown(grace).await;
    }

    /// The types that exist.
    pub fn catalog(&self) -> Arc<dyn Catalog> {
        self.catalog.clone()
    }
}

/// Which plugin serves which type. That no custom type is one of the platform's was checked when
/// the custom types were read.
fn registry(
    platform: &Arc<Platform>,
    custom: &CustomTypes,
    plugins: Vec<(Arc<dyn ResourcePlugin>, Vec<TypeName>)>,
    clock: &Arc<dyn Clock>,
) -> Result<Registry, ControlError> {
    let clash = |clash: formwork_engine::Clash| {
        ControlError::new(formwork_model::WireCode::InternalError, clash.to_string())
    };
    let registry = Registry::new();
    registry.register(platform.clone(), Platform::catalog().names()).map_err(clash)?;
    registry.register(Arc::new(TargetPlugin), [TARGET_TYPE.into()]).map_err(clash)?;
    let clock = clock.clone();
    let now: formwork_handler::Now = Arc::new(move || clock.now());
    for (type_name, plugin) in custom.plugins(&now) {
        registry.register(plugin, [type_name]).map_err(clash)?;
    }
    for (plugin, types) in plugins {
        for type_name in types {
            // Whatever is wrong with a plugin is no reason not to start: the type stays with who has it.
            if let Err(clash) = registry.register(plugin.clone(), [type_name]) {
                tracing::warn!("{clash}, and the first goes on to");
            }
        }
    }
    Ok(registry)
}
