//! The plugins of this machine, as the environment and the operator's file say.

use super::SessionError;
use formwork_config::{DataDir, Environment, PluginEntry, PluginSettings};
use formwork_control::PluginTypes;
use formwork_plugin_host::{HostOptions, PluginOptions, Plugins};
use std::sync::Arc;

/// Looks what is installed. What is found out is kept in the data directory, if there is one.
///
/// # Errors
/// The operator's file can't be used. What is wrong with a plugin is for the plugin to say.
pub(crate) async fn load(data_dir: &DataDir) -> Result<Arc<Plugins>, SessionError> {
    let executable = std::env::current_exe().ok();
    let settings = PluginSettings::read(&Environment::from_process(), data_dir, executable.as_deref())
        .map_err(SessionError::Config)?;
    let options = HostOptions {
        directories: settings.directories,
        cache: data_dir.exists().then_some(settings.cache),
        environment: settings.environment,
        plugins: settings.plugins.into_iter().map(|(name, entry)| (name, options(entry))).collect(),
        ..HostOptions::new(settings.sockets)
    };
    Ok(Plugins::load(options).await)
}

fn options(entry: PluginEntry) -> PluginOptions {
    let PluginEntry { disabled, environment, rate_limit } = entry;
    PluginOptions { disabled, environment, rate_limit }
}

/// Their types, as the use cases take them.
pub(crate) fn types(plugins: &Arc<Plugins>) -> PluginTypes {
    PluginTypes { catalog: Some(plugins.clone()), served: plugins.registrations() }
}
