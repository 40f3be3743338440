//! What programs may read and how long they may take: flags, and where they say nothing the settings
//! of the project.

use super::PklError;
use super::host::normal;
use crate::args::{Assignment, ExternalReader, PklHost};
use indexmap::IndexMap;
use pkl_external::Command;
use pkl_project::Settings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a bare `--property NAME` says.
const SET: &str = "true";

/// How modules are evaluated. Paths are absolute.
#[derive(Clone, Debug)]
pub(super) struct Effective {
    pub(super) allowed_modules: Option<Vec<String>>,
    pub(super) allowed_resources: Option<Vec<String>>,
    pub(super) root: Option<PathBuf>,
    pub(super) module_path: Vec<PathBuf>,
    pub(super) properties: BTreeMap<String, String>,
    /// `None` for those of the process.
    pub(super) environment: Option<BTreeMap<String, String>>,
    pub(super) timeout: Option<Duration>,
    /// `None` to keep packages in memory only.
    pub(super) cache: Option<PathBuf>,
    pub(super) proxy: Option<String>,
    pub(super) no_proxy: Vec<String>,
    pub(super) rewrites: Vec<(String, String)>,
    pub(super) authorities: Vec<PathBuf>,
    /// Processes that read the modules of a scheme.
    pub(super) module_readers: BTreeMap<String, Command>,
    /// Processes that read the resources of a scheme.
    pub(super) resource_readers: BTreeMap<String, Command>,
    /// Whether the program's own `formae` package stands for all others.
    pub(super) mirrors: bool,
}

impl Effective {
    /// What the flags say by themselves.
    pub(super) fn of_flags(host: &PklHost, directory: &Path) -> Self {
        let absolute = |path: &PathBuf| normal(&directory.join(path));
        let environment = (!host.env_var.is_empty()).then(|| assignments(&host.env_var, ""));
        let cache = host.cache_dir.as_ref().map(absolute).or_else(|| in_home("cache"));
        Self {
            allowed_modules: host.allowed_modules.clone(),
            allowed_resources: host.allowed_resources.clone(),
            root: host.root_dir.as_ref().map(absolute),
            module_path: host.module_path.iter().map(absolute).collect(),
            properties: assignments(&host.property, SET),
            environment,
            timeout: host.timeout.map(Duration::from_secs),
            cache: cache.filter(|_| !host.no_cache),
            proxy: host.http_proxy.clone(),
            no_proxy: host.http_no_proxy.clone().unwrap_or_default(),
            rewrites: host.http_rewrite.clone(),
            authorities: authorities(&host.ca_certificates, directory),
            module_readers: readers(&host.external_module_reader),
            resource_readers: readers(&host.external_resource_reader),
            mirrors: !host.no_mirror,
        }
    }

    /// What the flags say, and else the settings of the project in `root`.
    ///
    /// # Errors
    /// The settings ask for what there isn't.
    pub(super) fn of_project(
        host: &PklHost,
        directory: &Path,
        settings: &Settings,
        root: &Path,
    ) -> Result<Self, PklError> {
        let mut effective = Self::of_flags(host, directory);
        let absolute = |path: &String| normal(&root.join(path));
        effective.allowed_modules = effective.allowed_modules.or_else(|| settings.allowed_modules.clone());
        effective.allowed_resources =
            effective.allowed_resources.or_else(|| settings.allowed_resources.clone());
        effective.root = effective.root.or_else(|| settings.root_dir.as_ref().map(absolute));
        if effective.module_path.is_empty() {
            effective.module_path = settings.module_path.iter().flatten().map(absolute).collect();
        }
        if effective.properties.is_empty() {
            effective.properties = settings.external_properties.clone().into_iter().flatten().collect();
        }
        if effective.environment.is_none() {
            effective.environment = settings.env.clone().map(|env| env.into_iter().collect());
        }
        effective.timeout =
            effective.timeout.or_else(|| settings.timeout.as_ref().and_then(pkl_project::Time::duration));
        if host.cache_dir.is_none() && !host.no_cache {
            effective.cache = settings.module_cache_dir.as_ref().map(absolute).or(effective.cache);
            effective.cache = effective.cache.filter(|_| settings.no_cache != Some(true));
        }
        let http = settings.http.clone().unwrap_or_default();
        let proxy = http.proxy.unwrap_or_default();
        effective.proxy = effective.proxy.or(proxy.address);
        if host.http_no_proxy.is_none() {
            effective.no_proxy = proxy.no_proxy;
        }
        if effective.rewrites.is_empty() {
            effective.rewrites = http.rewrites.into_iter().flatten().collect();
        }
        if effective.module_readers.is_empty() {
            effective.module_readers = readers_of(settings.external_module_readers.as_ref());
        }
        if effective.resource_readers.is_empty() {
            effective.resource_readers = readers_of(settings.external_resource_readers.as_ref());
        }
        if settings.trace_mode.as_deref() == Some("pretty") && host.trace_mode.is_none() {
            return Err(unsupported("the trace mode `pretty`"));
        }
        Ok(effective)
    }
}

/// Readers by their schemes; the last one counts.
fn readers(given: &[ExternalReader]) -> BTreeMap<String, Command> {
    let command = |reader: &ExternalReader| {
        let (executable, arguments) = (reader.executable.clone(), reader.arguments.clone());
        (reader.scheme.clone(), Command { executable, arguments })
    };
    given.iter().map(command).collect()
}

/// The readers of a project by their schemes.
fn readers_of(given: Option<&IndexMap<String, pkl_project::ExternalReader>>) -> BTreeMap<String, Command> {
    let command = |(scheme, reader): (&String, &pkl_project::ExternalReader)| {
        let arguments = reader.arguments.clone().unwrap_or_default();
        (scheme.clone(), Command { executable: reader.executable.clone(), arguments })
    };
    given.into_iter().flatten().map(command).collect()
}

fn unsupported(what: &str) -> PklError {
    PklError::Unsupported {
        what: format!("what the project sets, {what},"),
        hint: Some("`--omit-project-settings` evaluates without the project's settings"),
    }
}

/// The certificate authorities that are named, or those that a person keeps for all evaluators of Pkl.
fn authorities(given: &[PathBuf], directory: &Path) -> Vec<PathBuf> {
    if !given.is_empty() {
        return given.iter().map(|path| directory.join(path)).collect();
    }
    let kept = in_home("cacerts");
    let is_used = |path: &PathBuf| std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    kept.filter(is_used).into_iter().collect()
}

/// Something that all evaluators of Pkl share.
fn in_home(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
    Some(Path::new(&home).join(".pkl").join(name))
}

/// Assignments by name; the last one counts. A bare name is given `bare`.
fn assignments(given: &[Assignment], bare: &str) -> BTreeMap<String, String> {
    let pair =
        |given: &Assignment| (given.name.clone(), given.value.clone().unwrap_or_else(|| bare.to_owned()));
    given.iter().map(pair).collect()
}
