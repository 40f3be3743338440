//! Plugins: where they are, and what the operator says of each.
//!
//! The file is `{"<name>": {"enabled": …, "environment": ["VARIABLE", …], "rateLimit": …}}`. A plugin's process has
//! the variables that are named for it, and a few that every program needs; never one of Formwork's own.

use crate::{ConfigError, DataDir, Environment, VARIABLES, name};
use formwork_model::Suggest;
use formwork_secret::Secret;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The variables that every plugin's process has, where the process has them that starts it.
const USUAL: [&str; 4] = ["PATH", "HOME", "TMPDIR", "LANG"];

/// The settings of a plugin, as the file spells them.
const KEYS: [&str; 3] = ["enabled", "environment", "rateLimit"];

/// Where plugins are, and what the operator says of them.
#[derive(Clone, Debug)]
pub struct PluginSettings {
    /// Where plugins are installed; what the first directory has of a name wins.
    pub directories: Vec<PathBuf>,
    /// Where what their schemas say is kept.
    pub cache: PathBuf,
    /// Where the directories of their sockets are made.
    pub sockets: PathBuf,
    /// What each process finds in its environment.
    pub environment: BTreeMap<String, Secret<String>>,
    /// What is said of single plugins, by their names.
    pub plugins: BTreeMap<String, PluginEntry>,
}

/// What the operator says of one plugin.
#[derive(Clone, Debug, Default)]
pub struct PluginEntry {
    /// Whether it is turned off.
    pub disabled: bool,
    /// What its process finds in its environment besides, from that of the process that starts it.
    pub environment: BTreeMap<String, Secret<String>>,
    /// The most calls per second to its namespace; 0 is no limit.
    pub rate_limit: Option<u32>,
}

impl PluginSettings {
    /// Reads them from an environment, and the file that it names. `executable` is this program: one that is installed
    /// as `<root>/bin/…` has its system's plugins in `<root>/lib/formwork/plugins`.
    ///
    /// # Errors
    /// The file can't be read, or says what it may not.
    pub fn read(
        environment: &Environment,
        data_dir: &DataDir,
        executable: Option<&Path>,
    ) -> Result<Self, ConfigError> {
        let user = environment.path(name::PLUGIN_DIR).unwrap_or_else(|| data_dir.plugins());
        let binaries = executable.and_then(Path::parent).filter(|parent| parent.ends_with("bin"));
        let system = binaries.and_then(Path::parent).map(|root| root.join("lib/formwork/plugins"));
        let usual = USUAL.into_iter().filter_map(|name| Some((name.to_owned(), environment.secret(name)?)));
        let sockets = environment.path("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
        let mut settings = Self {
            directories: std::iter::once(user).chain(system).collect(),
            cache: data_dir.plugin_cache(),
            sockets,
            environment: usual.collect(),
            plugins: BTreeMap::new(),
        };
        let named = environment.path(name::PLUGIN_CONFIG);
        let is_named = named.is_some();
        let Some(path) = named.or_else(|| usual_file(environment)) else { return Ok(settings) };
        match fs::read_to_string(&path) {
            Ok(text) => settings.plugins = parse(&path, &text, environment)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_named => {}
            Err(source) => return Err(ConfigError::Io { action: "read", path, source }),
        }
        Ok(settings)
    }
}

fn usual_file(environment: &Environment) -> Option<PathBuf> {
    let config = environment.path(name::XDG_CONFIG_HOME).filter(|path| path.is_absolute());
    let config = config.or_else(|| Some(environment.path(name::HOME)?.join(".config")))?;
    Some(config.join("formwork/plugins.json"))
}

fn parse(
    path: &Path,
    text: &str,
    environment: &Environment,
) -> Result<BTreeMap<String, PluginEntry>, ConfigError> {
    let document: Value = serde_json::from_str(text).map_err(|error| ConfigError::MalformedProfiles {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
    })?;
    let Value::Object(entries) = document else {
        return Err(invalid(path, "the file".to_owned(), "an object of plugins by name"));
    };
    entries
        .into_iter()
        .map(|(plugin, entry)| Ok((plugin.clone(), parse_entry(path, &plugin, entry, environment)?)))
        .collect()
}

fn parse_entry(
    path: &Path,
    plugin: &str,
    entry: Value,
    environment: &Environment,
) -> Result<PluginEntry, ConfigError> {
    let Value::Object(entry) = entry else {
        return Err(invalid(path, format!("the plugin `{plugin}`"), "an object"));
    };
    let mut parsed = PluginEntry::default();
    for (key, value) in entry {
        let place = || format!("`{key}` of the plugin `{plugin}`");
        match key.as_str() {
            "enabled" => {
                let enabled = value.as_bool().ok_or_else(|| invalid(path, place(), "true or false"))?;
                parsed.disabled = !enabled;
            }
            "rateLimit" => {
                let limit = value.as_u64().and_then(|limit| u32::try_from(limit).ok());
                let limit = limit.ok_or_else(|| invalid(path, place(), "calls per second, or 0"))?;
                parsed.rate_limit = Some(limit);
            }
            "environment" => {
                let names = value.as_array().map(|names| names.iter().map(Value::as_str));
                let names: Option<Vec<&str>> = names.and_then(Iterator::collect);
                let names = names.ok_or_else(|| invalid(path, place(), "a list of names of variables"))?;
                for variable in names {
                    if is_private_variable(variable) {
                        let (plugin, variable) = (plugin.to_owned(), variable.to_owned());
                        return Err(ConfigError::PrivateVariable { path: path.to_owned(), plugin, variable });
                    }
                    if let Some(value) = environment.secret(variable) {
                        parsed.environment.insert(variable.to_owned(), value);
                    }
                }
            }
            _ => {
                let nearest = Suggest::default().nearest(&key, KEYS);
                let nearest = nearest.and_then(|near| KEYS.into_iter().find(|known| *known == near));
                let (path, plugin) = (path.to_owned(), plugin.to_owned());
                return Err(ConfigError::UnknownPluginKey { path, plugin, key, nearest });
            }
        }
    }
    Ok(parsed)
}

/// Whether a variable is Formwork's own, and so none of a plugin's business.
pub fn is_private_variable(variable: &str) -> bool {
    let secret = VARIABLES.iter().any(|known| known.secret && known.name == variable);
    secret || variable.starts_with("FORMWORK_") || variable.is_empty() || variable.contains('=')
}

fn invalid(path: &Path, place: String, expected: &'static str) -> ConfigError {
    ConfigError::InvalidProfiles { path: path.to_owned(), place, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<PluginSettings, ConfigError> {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("plugins.json");
        fs::write(&file, text).expect("written");
        let environment = Environment::from_iter([
            ("HOME", home.path().as_os_str()),
            ("PATH", "/bin".as_ref()),
            ("CLOUD_TOKEN", "canary".as_ref()),
            ("FORMWORK_PLUGIN_CONFIG", file.as_os_str()),
        ]);
        PluginSettings::read(&environment, &DataDir::at("/data"), None)
    }

    #[test]
    fn an_entry_says_what_a_plugin_may_have() {
        let text = r#"{"cloud": {"environment": ["CLOUD_TOKEN", "UNSET"], "rateLimit": 5}, "off": {"enabled": false}}"#;
        let settings = settings(text).expect("valid");
        let cloud = &settings.plugins["cloud"];
        assert_eq!(cloud.environment.keys().collect::<Vec<_>>(), ["CLOUD_TOKEN"]);
        assert_eq!((cloud.rate_limit, cloud.disabled), (Some(5), false));
        assert!(settings.plugins["off"].disabled);
        assert_eq!(settings.environment.keys().collect::<Vec<_>>(), ["HOME", "PATH"]);
        assert!(!format!("{settings:?}").contains("canary"));
    }

    #[test]
    fn what_an_entry_may_not_say_is_an_error_that_names_its_place() {
        let errors = [
            r"[]",
            r#"{"cloud": 1}"#,
            r#"{"cloud": {"environment": "CLOUD_TOKEN"}}"#,
            r#"{"cloud": {"environment": ["FORMWORK_INSTANCE_KEY"]}}"#,
            r#"{"cloud": {"environment": ["JWT_SECRET"]}}"#,
            r#"{"cloud": {"rateLimit": -1}}"#,
            r#"{"cloud": {"ratelimit": 1}}"#,
            r#"{"cloud": "#,
        ]
        .map(|text| settings(text).expect_err("not valid"));
        let shown = errors.iter().map(|error| {
            let error = format!("{error}; {}", error.hint().unwrap_or_default());
            let at = error.find("plugins.json").expect("the file is named");
            error[at..].to_owned()
        });
        insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn the_system_has_plugins_beside_an_installed_program() {
        let environment = Environment::from_iter([("FORMWORK_PLUGIN_DIR", "/mine")]);
        let directories = |executable: &str| {
            let executable = Path::new(executable);
            PluginSettings::read(&environment, &DataDir::at("/data"), Some(executable))
                .expect("valid")
                .directories
        };
        let system = Path::new("/usr/local/lib/formwork/plugins");
        assert_eq!(directories("/usr/local/bin/formwork"), [Path::new("/mine"), system]);
        assert_eq!(directories("/src/target/debug/formwork"), [Path::new("/mine")]);
    }
}
