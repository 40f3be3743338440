//! Plugins in a directory of their own.

use formwork_model::{ClientToken, Fence, Json, Secret, Timestamp};
use formwork_plugin::{CallContext, CreateRequest, PluginError, ProgressResult, ResourcePlugin};
use formwork_plugin_host::{HostOptions, Plugin, Plugins};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

pub(crate) const THING: &str = "UNRULY::Test::Thing";

/// A directory of plugins, a cache, and a place for sockets.
pub(crate) struct World {
    directory: TempDir,
}

/// What a plugin is to be.
pub(crate) struct Made<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    pub(crate) namespace: &'a str,
    /// The types of its schema.
    pub(crate) declares: &'a [&'a str],
    /// What its process serves.
    pub(crate) serves: &'a [&'a str],
    pub(crate) behaviour: &'a str,
}

impl Default for Made<'_> {
    fn default() -> Self {
        Self {
            name: "unruly",
            version: "0.1.0",
            namespace: "UNRULY",
            declares: &[THING],
            serves: &[THING],
            behaviour: "",
        }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a directory") }
    }

    /// A world with one plugin that behaves so.
    pub(crate) fn with(behaviour: &str) -> Self {
        let world = Self::new();
        world.install(&Made { behaviour, ..Made::default() });
        world
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn options(&self) -> HostOptions {
        let sockets = self.path().join("s");
        fs::create_dir_all(&sockets).expect("made");
        let mut options = HostOptions {
            directories: vec![self.path().join("plugins")],
            cache: Some(self.path().join("cache")),
            ..HostOptions::new(sockets)
        };
        options.limits.start = Duration::from_secs(60);
        options.limits.first_pause = Duration::from_millis(20);
        options
    }

    pub(crate) async fn load(&self) -> Arc<Plugins> {
        Plugins::load(self.options()).await
    }

    /// Installs a plugin and says where.
    pub(crate) fn install(&self, made: &Made<'_>) -> PathBuf {
        let Made { name, version, namespace, declares, serves, behaviour } = made;
        let place = self.path().join(format!("plugins/{name}/v{version}"));
        fs::create_dir_all(place.join("schema/pkl")).expect("made");
        let manifest = format!(
            "amends \"@formae/plugin-manifest.pkl\"\n\nname = \"{name}\"\nversion = \"{version}\"\n\
             namespace = \"{namespace}\"\nlicense = \"MIT\"\nminFormaeVersion = \"0.80.0\"\n"
        );
        fs::write(place.join("formae-plugin.pkl"), manifest).expect("written");
        let classes: String = declares.iter().map(|declared| class(declared)).collect();
        let schema = format!("module things\n\nimport \"@formae/formae.pkl\"\n{classes}");
        fs::write(place.join("schema/pkl/things.pkl"), schema).expect("written");
        let program = std::env::current_exe().expect("this program");
        let script = format!(
            "#!/bin/sh\nexport UNRULY='{behaviour}' UNRULY_NAMESPACE='{namespace}' UNRULY_TYPES='{}'\nexec '{}' --ignored --exact --nocapture serves\n",
            serves.join(","),
            program.display(),
        );
        write_program(&place.join(name), &script);
        place
    }

    /// The directories of sockets that are there.
    pub(crate) fn sockets(&self) -> usize {
        fs::read_dir(self.path().join("s")).map_or(0, Iterator::count)
    }
}

/// Writes a program from another process: one that this process has open for writing, or a child that it starts just
/// then, can't be run.
fn write_program(path: &Path, script: &str) {
    let write = "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let mut command = std::process::Command::new("/bin/sh");
    let written = command.args(["-c", write, "sh", script]).arg(path).status();
    assert!(written.expect("it runs").success());
}

fn class(type_name: &str) -> String {
    let name = type_name.rsplit("::").next().expect("a name");
    format!(
        "\n/// A thing.\n@formae.ResourceHint {{ type = \"{type_name}\"; identifier = \"name\" }}\n\
         class {name} extends formae.Resource {{\n  fixed hidden type: String = \"{type_name}\"\n\n\
         \x20 /// Its name.\n  @formae.FieldHint {{ createOnly = true; required = true }}\n  name: String\n\n\
         \x20 @formae.FieldHint {{ writeOnly = true }}\n  password: (String|formae.SecretValue)?\n\n\
         \x20 @formae.FieldHint {{ updateMethod = \"EntitySet\"; indexField = \"Key\" }}\n  tags: Listing<Dynamic>?\n}}\n"
    )
}

/// The one plugin.
pub(crate) fn only(plugins: &Plugins) -> &Plugin {
    let [plugin] = plugins.all() else { panic!("{} plugins", plugins.all().len()) };
    plugin
}

/// What serves the types of the one plugin.
pub(crate) fn hosted(plugins: &Plugins) -> Arc<dyn ResourcePlugin> {
    let mut served = plugins.registrations();
    assert_eq!(served.len(), 1);
    served.remove(0).0
}

pub(crate) fn context(within: Duration) -> CallContext {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    let deadline = Timestamp(i64::try_from((now + within).as_millis()).expect("a time"));
    CallContext {
        label: Some("Thing".into()),
        token: Some(ClientToken([7; 32])),
        attempt: 2,
        fence: Some(Fence(9)),
        trace: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
        ..CallContext::observing("proj".into(), "ada".into(), deadline)
    }
}

/// Creates a thing with these properties.
pub(crate) async fn create(
    plugin: &dyn ResourcePlugin,
    properties: Json,
    within: Duration,
) -> Result<ProgressResult, PluginError> {
    let request = CreateRequest {
        resource_type: THING.into(),
        properties: Secret::new(properties),
        target_config: Secret::new(Json::Object(serde_json::Map::new())),
        secret_paths: Vec::new(),
    };
    plugin.create(&context(within), request).await
}
