//! What programs may read and how long they may take: what the flags say, else the settings of the project,
//! else those of the person.

use super::environment;
use super::host::normal;
use super::person::Person;
use crate::args::{Assignment, ExternalReader, PklHost, TraceMode};
use indexmap::IndexMap;
use pkl_external::Command;
use pkl_project::{Http, Settings};
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
    pub(super) trace_mode: pkl_core::host::TraceMode,
    /// Whether the program's own `formae` package stands for all others.
    pub(super) mirrors: bool,
}

impl Effective {
    /// What the flags say, else the settings of the project, which is in a directory, else those of the person.
    pub(super) fn new(
        host: &PklHost,
        directory: &Path,
        project: Option<(&Settings, &Path)>,
        person: &Person,
    ) -> Self {
        let said = Said::by_flags(host, directory);
        let said = project.map_or(said.clone(), |(settings, root)| said.or(Said::by_project(settings, root)));
        let said = said.or(Said::by_person(person));
        let cache =
            said.cache.unwrap_or_else(|| environment::shared("cache").map_or(Keep::Nowhere, Keep::In));
        Self {
            allowed_modules: said.allowed_modules,
            allowed_resources: said.allowed_resources,
            root: said.root,
            module_path: said.module_path.unwrap_or_default(),
            properties: said.properties.unwrap_or_default(),
            environment: said.environment,
            timeout: said.timeout,
            cache: match cache {
                Keep::In(directory) => Some(directory),
                Keep::Nowhere => None,
            },
            proxy: said.proxy,
            no_proxy: said.no_proxy.unwrap_or_default(),
            rewrites: said.rewrites.unwrap_or_default(),
            authorities: authorities(&host.ca_certificates, directory),
            module_readers: said.module_readers.unwrap_or_default(),
            resource_readers: said.resource_readers.unwrap_or_default(),
            trace_mode: said.trace_mode.unwrap_or_default(),
            mirrors: !host.no_mirror,
        }
    }
}

/// Where packages are kept.
#[derive(Clone, Debug)]
enum Keep {
    In(PathBuf),
    Nowhere,
}

/// What one side says. What it doesn't is `None`.
#[derive(Clone, Debug, Default)]
struct Said {
    allowed_modules: Option<Vec<String>>,
    allowed_resources: Option<Vec<String>>,
    root: Option<PathBuf>,
    module_path: Option<Vec<PathBuf>>,
    properties: Option<BTreeMap<String, String>>,
    environment: Option<BTreeMap<String, String>>,
    timeout: Option<Duration>,
    cache: Option<Keep>,
    proxy: Option<String>,
    no_proxy: Option<Vec<String>>,
    rewrites: Option<Vec<(String, String)>>,
    module_readers: Option<BTreeMap<String, Command>>,
    resource_readers: Option<BTreeMap<String, Command>>,
    trace_mode: Option<pkl_core::host::TraceMode>,
}

impl Said {
    fn by_flags(host: &PklHost, directory: &Path) -> Self {
        let absolute = |path: &PathBuf| normal(&directory.join(path));
        let in_cache = host.cache_dir.as_ref().map(|path| Keep::In(absolute(path)));
        Self {
            allowed_modules: host.allowed_modules.clone(),
            allowed_resources: host.allowed_resources.clone(),
            root: host.root_dir.as_ref().map(absolute),
            module_path: unless_empty(&host.module_path, |paths| paths.iter().map(absolute).collect()),
            properties: unless_empty(&host.property, |given| assignments(given, SET)),
            environment: unless_empty(&host.env_var, |given| assignments(given, "")),
            timeout: host.timeout.map(Duration::from_secs),
            cache: if host.no_cache { Some(Keep::Nowhere) } else { in_cache },
            proxy: host.http_proxy.clone(),
            no_proxy: host.http_no_proxy.clone(),
            rewrites: unless_empty(&host.http_rewrite, <[_]>::to_vec),
            module_readers: unless_empty(&host.external_module_reader, readers),
            resource_readers: unless_empty(&host.external_resource_reader, readers),
            trace_mode: host.trace_mode.map(|mode| match mode {
                TraceMode::Compact => pkl_core::host::TraceMode::Compact,
                TraceMode::Pretty => pkl_core::host::TraceMode::Pretty,
            }),
        }
    }

    fn by_project(settings: &Settings, root: &Path) -> Self {
        let absolute = |path: &String| normal(&root.join(path));
        let pairs = |map: &IndexMap<String, String>| map.clone().into_iter().collect();
        let in_cache = settings.module_cache_dir.as_ref().map(|path| Keep::In(absolute(path)));
        let http = settings.http.clone().unwrap_or_default();
        Self {
            allowed_modules: settings.allowed_modules.clone(),
            allowed_resources: settings.allowed_resources.clone(),
            root: settings.root_dir.as_ref().map(absolute),
            module_path: settings.module_path.as_ref().map(|paths| paths.iter().map(absolute).collect()),
            properties: settings.external_properties.as_ref().map(pairs),
            environment: settings.env.as_ref().map(pairs),
            timeout: settings.timeout.as_ref().and_then(pkl_project::Time::duration),
            cache: if settings.no_cache == Some(true) { Some(Keep::Nowhere) } else { in_cache },
            module_readers: settings.external_module_readers.as_ref().map(readers_of),
            resource_readers: settings.external_resource_readers.as_ref().map(readers_of),
            trace_mode: settings.trace_mode.as_deref().map(|mode| match mode {
                "pretty" => pkl_core::host::TraceMode::Pretty,
                _ => pkl_core::host::TraceMode::Compact,
            }),
            ..Self::by_http(http)
        }
    }

    fn by_person(person: &Person) -> Self {
        Self::by_http(person.http.clone())
    }

    fn by_http(http: Http) -> Self {
        let (proxy, no_proxy) = match http.proxy {
            Some(proxy) => (proxy.address, Some(proxy.no_proxy)),
            None => (None, None),
        };
        let rewrites = http.rewrites.map(|rewrites| rewrites.into_iter().collect());
        Self { proxy, no_proxy, rewrites, ..Self::default() }
    }

    /// What this side says, and where it doesn't the other one.
    fn or(self, other: Self) -> Self {
        Self {
            allowed_modules: self.allowed_modules.or(other.allowed_modules),
            allowed_resources: self.allowed_resources.or(other.allowed_resources),
            root: self.root.or(other.root),
            module_path: self.module_path.or(other.module_path),
            properties: self.properties.or(other.properties),
            environment: self.environment.or(other.environment),
            timeout: self.timeout.or(other.timeout),
            cache: self.cache.or(other.cache),
            proxy: self.proxy.or(other.proxy),
            no_proxy: self.no_proxy.or(other.no_proxy),
            rewrites: self.rewrites.or(other.rewrites),
            module_readers: self.module_readers.or(other.module_readers),
            resource_readers: self.resource_readers.or(other.resource_readers),
            trace_mode: self.trace_mode.or(other.trace_mode),
        }
    }
}

fn unless_empty<T, U>(given: &[T], made: impl FnOnce(&[T]) -> U) -> Option<U> {
    (!given.is_empty()).then(|| made(given))
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
fn readers_of(given: &IndexMap<String, pkl_project::ExternalReader>) -> BTreeMap<String, Command> {
    let command = |(scheme, reader): (&String, &pkl_project::ExternalReader)| {
        let arguments = reader.arguments.clone().unwrap_or_default();
        (scheme.clone(), Command { executable: reader.executable.clone(), arguments })
    };
    given.iter().map(command).collect()
}

/// The certificate authorities that are named, or those that a person keeps for all evaluators of Pkl.
fn authorities(given: &[PathBuf], directory: &Path) -> Vec<PathBuf> {
    if !given.is_empty() {
        return given.iter().map(|path| directory.join(path)).collect();
    }
    let kept = environment::shared("cacerts");
    let is_used = |path: &PathBuf| std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    kept.filter(is_used).into_iter().collect()
}

/// Assignments by name; the last one counts. A bare name is given `bare`.
fn assignments(given: &[Assignment], bare: &str) -> BTreeMap<String, String> {
    let pair =
        |given: &Assignment| (given.name.clone(), given.value.clone().unwrap_or_else(|| bare.to_owned()));
    given.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_count_before_the_project_and_the_project_before_the_person() {
        let settings = Settings {
            no_cache: Some(true),
            root_dir: Some("inner".to_owned()),
            http: Some(Http {
                rewrites: Some(IndexMap::from([("a".to_owned(), "b".to_owned())])),
                proxy: None,
            }),
            ..Settings::default()
        };
        let proxy = pkl_project::Proxy { address: Some("http://p".to_owned()), no_proxy: Vec::new() };
        let rewrites = IndexMap::from([("a".to_owned(), "c".to_owned())]);
        let person = Said::by_http(Http { proxy: Some(proxy), rewrites: Some(rewrites) });
        let flags = Said { timeout: Some(Duration::from_secs(1)), ..Said::default() };
        let said = flags.clone().or(Said::by_project(&settings, Path::new("/p"))).or(person.clone());
        assert_eq!(said.root.as_deref(), Some(Path::new("/p/inner")));
        assert_eq!(said.timeout, Some(Duration::from_secs(1)));
        assert_eq!(said.rewrites, Some(vec![("a".to_owned(), "b".to_owned())]));
        assert_eq!(said.proxy.as_deref(), Some("http://p"));
        assert!(matches!(said.cache, Some(Keep::Nowhere)));
        let kept = Said { cache: Some(Keep::In("/c".into())), ..flags };
        assert!(matches!(kept.or(Said::by_project(&settings, Path::new("/p"))).cache, Some(Keep::In(_))));
    }
}
