//! The plugins of this machine, as the environment and the operator's file say.

use super::SessionError;
use formwork_config::{DataDir, Environment, PluginEntry, PluginSettings};
use formwork_control::PluginTypes;
use formwork_plugin_host::{HostOptions, PluginOptions, Plugins};
use formwork_secret::Secret;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Looks what is installed. What is found out is kept in the data directory, if there is one.
///
/// # Errors
/// The operator's file can't be used. What is wrong with a plugin is for the plugin to say.
pub(crate) async fn load(data_dir: &DataDir) -> Result<Arc<Plugins>, SessionError> {
    let settings = settings(data_dir)?;
    let cache = data_dir.exists().then(|| settings.cache.clone());
    Ok(Plugins::load(host_options(settings, cache)).await)
}

/// Looks at one plugin in a directory of its own, of which nothing is kept. It gets some variables besides those that
/// the operator's file says.
///
/// # Errors
/// As of [`load`].
pub(crate) async fn load_from(
    data_dir: &DataDir,
    directory: &Path,
    name: &str,
    variables: BTreeMap<String, Secret<String>>,
) -> Result<Arc<Plugins>, SessionError> {
    let mut settings = settings(data_dir)?;
    settings.directories = vec![directory.to_owned()];
    let entry = settings.plugins.entry(name.to_owned()).or_default();
    entry.disabled = false;
    entry.environment.extend(variables);
    Ok(Plugins::load(host_options(settings, None)).await)
}

fn settings(data_dir: &DataDir) -> Result<PluginSettings, SessionError> {
    let executable = std::env::current_exe().ok();
    PluginSettings::read(&Environment::from_process(), data_dir, executable.as_deref())
        .map_err(SessionError::Config)
}

fn host_options(settings: PluginSettings, cache: Option<PathBuf>) -> HostOptions {
    HostOptions {
        directories: settings.directories,
        cache,
        environment: settings.environment,
        plugins: settings.plugins.into_iter().map(|(name, entry)| (name, options(entry))).collect(),
        ..HostOptions::new(settings.sockets)
    }
}

fn options(entry: PluginEntry) -> PluginOptions {
    let PluginEntry { disabled, environment, rate_limit } = entry;
    PluginOptions { disabled, environment, rate_limit }
}

/// Their types, as the use cases take them.
pub(crate) fn types(plugins: &Arc<Plugins>) -> PluginTypes {
    PluginTypes { catalog: Some(plugins.clone()), served: plugins.registrations() }
}
