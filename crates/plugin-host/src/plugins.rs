//! All plugins of a host, and their types.

use crate::error::{InstallError, LaunchError};
use crate::hosted::Hosted;
use crate::inspect::{self, Files, Inspected, Silence};
use crate::installed::{self, Installed};
use crate::launch::{Launch, is_of};
use crate::manifest::Manifest;
use crate::options::{HostOptions, PluginOptions};
use crate::supervise::Supervisor;
use crate::types::PluginTypeRules;
use formwork_model::{Catalog, TypeName, TypeRules};
use formwork_plugin::wire::Announcement;
use formwork_plugin::{PluginType, RateLimitConfig, ResourcePlugin};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The plugins that are installed, the sound and the broken. The default is none.
///
/// A broken plugin is nobody's business but its own: its types say what is wrong with it where they are used, and
/// everything else is as if it weren't there.
#[derive(Default)]
pub struct Plugins {
    plugins: Vec<Plugin>,
    types: BTreeMap<TypeName, Arc<PluginTypeRules>>,
}

/// A plugin that is installed.
pub struct Plugin {
    /// Its name.
    pub name: String,
    /// The version that is used; empty if there is none.
    pub version: String,
    /// Where that is.
    pub directory: Option<PathBuf>,
    /// What its manifest says, if that can be read.
    pub manifest: Option<Manifest>,
    /// The first segment of its types.
    pub namespace: String,
    /// Its types, by name.
    pub types: Vec<Arc<PluginTypeRules>>,
    /// How many calls per second are made to its namespace.
    pub rate_limit: RateLimitConfig,
    /// The names of the variables that the operator lets its process have besides the usual ones.
    pub variables: Vec<String>,
    /// Whether the operator turned it off.
    pub disabled: bool,
    /// What is wrong with it; nothing, if it can be used.
    pub faults: Vec<String>,
    supervisor: Option<Arc<Supervisor>>,
    hosted: Option<Arc<Hosted>>,
}

impl Plugins {
    /// No plugins.
    pub fn none() -> Arc<Self> {
        Arc::default()
    }

    /// Looks what is installed. Processes are started only of plugins that are new or changed, to ask what they
    /// serve; what is wrong with one is said by its types.
    pub async fn load(options: HostOptions) -> Arc<Self> {
        let options = Arc::new(options);
        let found = installed::find(&options.directories);
        let loading: Vec<_> =
            found.into_iter().map(|found| tokio::spawn(load(found, Arc::clone(&options)))).collect();
        let mut plugins = Vec::with_capacity(loading.len());
        for loaded in loading {
            match loaded.await {
                Ok(plugin) => plugins.extend(plugin),
                Err(error) => tracing::error!(%error, "a plugin could not be looked at"),
            }
        }
        for plugin in &plugins {
            for fault in &plugin.faults {
                tracing::warn!(plugin = plugin.name, "{fault}");
            }
        }
        let types = by_name(&mut plugins);
        Arc::new(Self { plugins, types })
    }

    /// The plugins, by name.
    pub fn all(&self) -> &[Plugin] {
        &self.plugins
    }

    /// What serves which types, for a registry. A type that two plugins claim is served by neither.
    pub fn registrations(&self) -> Vec<(Arc<dyn ResourcePlugin>, Vec<TypeName>)> {
        let registration = |plugin: &Plugin| {
            let hosted = plugin.hosted.clone()?;
            let names = plugin.types.iter().map(|rules| rules.schema().type_name.clone());
            let own = names.filter(|name| self.claimants(name).count() == 1).collect();
            Some((hosted as Arc<dyn ResourcePlugin>, own))
        };
        self.plugins.iter().filter_map(registration).collect()
    }

    fn claimants<'a>(&'a self, name: &'a TypeName) -> impl Iterator<Item = &'a Plugin> {
        self.plugins.iter().filter(move |plugin| plugin.serves(name))
    }

    /// Ends all processes in order. None is started any more.
    pub async fn stop(&self) {
        let stopping = self.plugins.iter().filter_map(|plugin| plugin.supervisor.as_deref());
        futures_util::future::join_all(stopping.map(Supervisor::stop)).await;
    }
}

impl Catalog for Plugins {
    /// The rules of a type. Of a broken plugin whose types are not known, every type of its namespace is one that
    /// says so.
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        if let Some(rules) = self.types.get(name) {
            return Some(Arc::clone(rules) as Arc<dyn TypeRules>);
        }
        let broken = |plugin: &&Plugin| {
            let mine = is_of(name.as_str(), &plugin.namespace);
            plugin.types.is_empty() && !plugin.disabled && !plugin.faults.is_empty() && mine
        };
        let plugin = self.plugins.iter().find(broken)?;
        Some(Arc::new(PluginTypeRules::unknown(name.clone(), plugin.fault())))
    }

    fn names(&self) -> Vec<TypeName> {
        self.types.keys().cloned().collect()
    }
}

impl Plugin {
    fn serves(&self, name: &TypeName) -> bool {
        self.types.iter().any(|rules| rules.schema().type_name == *name)
    }

    /// What its types say of why they can't be used.
    fn fault(&self) -> String {
        format!("the plugin `{}` cannot be used: {}", self.name, self.faults.join("; "))
    }

    fn broken(name: String, fault: String) -> Self {
        Self {
            // Where nothing says what its types are, its name may.
            namespace: name.to_ascii_uppercase(),
            name,
            version: String::new(),
            directory: None,
            manifest: None,
            types: Vec::new(),
            rate_limit: RateLimitConfig::default(),
            variables: Vec::new(),
            disabled: false,
            faults: vec![fault],
            supervisor: None,
            hosted: None,
        }
    }
}

/// Looks at one plugin; `None` for one that doesn't serve resources.
async fn load(found: installed::Found, options: Arc<HostOptions>) -> Option<Plugin> {
    let (name, result) = match found {
        Ok(installed) => (installed.name.clone(), Ok(installed)),
        Err((name, error)) => (name, Err(error)),
    };
    let said = options.plugins.get(&name).cloned().unwrap_or_default();
    if said.disabled {
        return Some(Plugin { disabled: true, faults: Vec::new(), ..Plugin::broken(name, String::new()) });
    }
    let installed = match result {
        Ok(installed) => installed,
        Err(error) => return Some(Plugin::broken(name, error.to_string())),
    };
    let cache = options.cache.clone();
    let looked = {
        let installed = installed.clone();
        tokio::task::spawn_blocking(move || look(&installed, cache.as_deref())).await
    };
    let placed = |plugin: Plugin, installed: Installed| Plugin {
        version: installed.version,
        directory: Some(installed.directory),
        ..plugin
    };
    match looked {
        Ok(Ok((_, inspected))) if inspected.manifest.kind != "resource" => None,
        Ok(Ok((files, inspected))) => Some(sound(installed, &files, inspected, &said, &options).await),
        Ok(Err(error)) => {
            let plugin = Plugin::broken(name, error.to_string());
            let namespace = namespace(&installed).await.unwrap_or_else(|| plugin.namespace.clone());
            Some(placed(Plugin { namespace, ..plugin }, installed))
        }
        Err(error) => Some(placed(Plugin::broken(name, error.to_string()), installed)),
    }
}

/// The namespace of a plugin that can't be used, if its manifest says so.
async fn namespace(installed: &Installed) -> Option<String> {
    let installed = installed.clone();
    let read = tokio::task::spawn_blocking(move || Manifest::read(&installed)).await;
    read.ok()?.ok()?.namespace
}

/// What a plugin's files say, as it is kept or else evaluated.
fn look(installed: &Installed, cache: Option<&std::path::Path>) -> Result<(Files, Inspected), InstallError> {
    let files = Files::read(installed)?;
    let kept = cache.and_then(|cache| files.kept(cache, installed));
    let inspected = kept.map_or_else(|| inspect::evaluate(installed), Ok)?;
    Ok((files, inspected))
}

/// A plugin whose files are in order; its process is asked what it serves if it never was.
async fn sound(
    installed: Installed,
    files: &Files,
    mut inspected: Inspected,
    said: &PluginOptions,
    options: &HostOptions,
) -> Plugin {
    let supervisor = Arc::new(Supervisor::new(launch(&installed, &inspected.manifest, said, options)));
    let mut fault = inspected.silence.as_ref().and_then(Silence::told);
    if inspected.announcement.is_none() && fault.is_none() {
        let (announcement, failed) = match supervisor.running().await {
            Ok(running) => (Some(running.announcement.clone()), None),
            Err(error) => (None, Some(error)),
        };
        let is_silent = matches!(failed, Some(LaunchError::Silent { .. }));
        fault = failed.map(|error| error.to_string());
        inspected.silence = fault.clone().filter(|_| is_silent).map(Silence::now);
        inspected.announcement = announcement;
        if let Some(cache) = options.cache.as_ref().filter(|_| is_silent || fault.is_none()) {
            files.keep(cache, &installed, &inspected);
        }
    }
    let Inspected { manifest, resources, announcement, .. } = inspected;
    let namespace = manifest.namespace.clone().unwrap_or_default();
    let hosted =
        Hosted::new(namespace.clone(), Arc::clone(&supervisor), announcement.clone(), said.rate_limit);
    let mut plugin = Plugin {
        version: installed.version,
        directory: Some(installed.directory),
        namespace,
        rate_limit: hosted.rate_limit(),
        variables: said.environment.keys().cloned().collect(),
        manifest: Some(manifest),
        faults: Vec::new(),
        hosted: Some(Arc::new(hosted)),
        supervisor: Some(supervisor),
        ..Plugin::broken(installed.name, String::new())
    };
    plugin.take_types(&resources, announcement.as_ref(), fault);
    plugin
}

impl Plugin {
    /// Its types: what its schema declares, as far as its process serves it.
    fn take_types(
        &mut self,
        resources: &[Arc<formwork_forma::extract::ResourceDescriptor>],
        announcement: Option<&Announcement>,
        fault: Option<String>,
    ) {
        let served: BTreeMap<&str, &PluginType> = announcement
            .iter()
            .flat_map(|said| &said.types)
            .map(|served| (served.name.as_str(), served))
            .collect();
        let is_broken = fault.is_some();
        self.faults.extend(fault);
        for resource in resources {
            let known = served.get(resource.type_name.as_str());
            let unavailable = match (is_broken, known) {
                (true, _) => Some(self.fault()),
                (false, Some(_)) => None,
                (false, None) => {
                    let fault = format!(
                        "its schema declares `{}`, which its process does not serve",
                        resource.type_name
                    );
                    self.faults.push(fault.clone());
                    Some(format!("the plugin `{}` cannot be used for it: {fault}", self.name))
                }
            };
            let capabilities =
                known.map_or_else(formwork_model::TypeCapabilities::of_plugin, |it| it.capabilities.clone());
            let rules = PluginTypeRules::new(Arc::clone(resource), capabilities, unavailable);
            self.types.push(Arc::new(rules));
        }
        let declared: BTreeSet<&str> = resources.iter().map(|it| it.type_name.as_str()).collect();
        for name in served.keys().filter(|name| !declared.contains(**name)) {
            self.faults.push(format!("its process serves `{name}`, which its schema does not declare"));
        }
    }
}

fn launch(installed: &Installed, manifest: &Manifest, said: &PluginOptions, options: &HostOptions) -> Launch {
    let mut environment = options.environment.clone();
    environment.extend(said.environment.clone());
    Launch {
        name: installed.name.as_str().into(),
        program: installed.program(),
        directory: installed.directory.clone(),
        namespace: manifest.namespace.as_deref().unwrap_or_default().into(),
        environment,
        sockets: options.sockets.clone(),
        limits: options.limits.clone(),
    }
}

/// The types by name. One that two plugins claim can't be used, and says which they are.
fn by_name(plugins: &mut [Plugin]) -> BTreeMap<TypeName, Arc<PluginTypeRules>> {
    let mut types: BTreeMap<TypeName, Arc<PluginTypeRules>> = BTreeMap::new();
    let mut claims: BTreeMap<TypeName, Vec<String>> = BTreeMap::new();
    for plugin in plugins.iter() {
        for rules in &plugin.types {
            let name = rules.schema().type_name.clone();
            let claim = format!("`{}` {}", plugin.name, plugin.version);
            claims.entry(name.clone()).or_default().push(claim);
            types.entry(name).or_insert_with(|| Arc::clone(rules));
        }
    }
    claims.retain(|_, claimants| claimants.len() > 1);
    for (name, claimants) in claims {
        let fault = format!("the plugins {} both serve the type `{name}`", claimants.join(" and "));
        tracing::warn!("{fault}");
        if let Some(rules) = types.get_mut(&name) {
            *rules = Arc::new(rules.made_unavailable(fault.clone()));
        }
        for plugin in plugins.iter_mut().filter(|plugin| plugin.serves(&name)) {
            plugin.faults.push(fault.clone());
        }
    }
    types
}
