//! What the plugin's Pkl says is what the plugin does.

use crate::support::Site;
use formwork_forma::extract::{self, PackageDescriptor, SchemaPackage};
use formwork_model::{Json, Secret};
use formwork_plugin::{ResourcePlugin as _, ValidateRequest};
use formwork_plugin_local::NAMESPACE;
use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, ModuleSource};
use pkl_corpus::Oracle;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The plugin's Pkl in a directory of its own, with the package's modules imported as files.
struct Copied {
    directory: tempfile::TempDir,
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn formae() -> String {
    format!("file://{}/", source().join("../../crates/forma/pkl").canonicalize().unwrap().display())
}

impl Copied {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let schema = directory.path().join("schema");
        fs::create_dir(&schema).unwrap();
        for entry in fs::read_dir(source().join("schema/pkl")).unwrap() {
            let entry = entry.unwrap();
            if entry.path().extension().is_some_and(|ending| ending == "pkl") {
                Self::copy(&entry.path(), &schema.join(entry.file_name()));
            }
        }
        Self::copy(&source().join("formae-plugin.pkl"), &directory.path().join("formae-plugin.pkl"));
        fs::write(directory.path().join("forma.pkl"), FORMA.replace("@formae/", &formae())).unwrap();
        Self { directory }
    }

    fn copy(from: &Path, to: &Path) {
        let text = fs::read_to_string(from).unwrap();
        fs::write(to, text.replace("@formae/", &formae())).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn package(&self) -> SchemaPackage {
        SchemaPackage { directory: format!("file://{}/", self.path("schema").display()), formae: formae() }
    }

    fn described(&self) -> PackageDescriptor {
        extract::describe(&evaluator(), &self.package()).unwrap()
    }
}

fn evaluator() -> Evaluator {
    let builder = Evaluator::builder().files(FileReader::new()).properties([("pkl.outputFormat", "json")]);
    formwork_forma::library::add_to(builder).build()
}

fn evaluated(module: &Path) -> Json {
    let text = evaluator().output_bytes(&ModuleSource::file(module).unwrap());
    serde_json::from_slice(&text.unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

/// A forma with one of each.
const FORMA: &str = r#"amends "@formae/forma.pkl"

import "@formae/formae.pkl"
import "schema/target.pkl"
import "schema/fs.pkl"
import "schema/random.pkl"
import "schema/tls.pkl"

local etc = new fs.Directory { label = "etc"; path = "etc"; mode = "0750" }
local key = new tls.PrivateKey { label = "key"; algorithm = "ECDSA" }
local password = new random.Password { label = "password"; length = 24; keepers { ["version"] = "1" } }

forma {
  new formae.Stack { label = "machine" }
  new formae.Target { label = "here"; config = new target.Config { root = "/srv/app" } }
  etc
  key
  password
  new fs.File { label = "config"; path = "etc/app.conf"; directory = etc.res.path; content = "x = 1\n" }
  new fs.File { label = "password"; path = "etc/password"; secretContent = password.res.secretValue }
  new fs.Symlink { label = "current"; path = "etc/current"; directory = etc.res.path; pointsTo = "app.conf" }
  new random.Id { label = "id"; byteLength = 4; prefix = "web-" }
  new tls.SelfSignedCert {
    label = "cert"
    keyId = key.res.id
    validityHours = 720
    renewBeforeHours = 48
    subject { commonName = "example.org" }
    dnsNames { "example.org" }
  }
}
"#;

#[test]
fn both_evaluators_say_the_same_of_the_schema_the_manifest_and_a_forma() {
    let Some(binary) = pkl_corpus::named_oracle() else { return };
    let oracle = Oracle::at(&binary).unwrap();
    let copied = Copied::new();
    let ModuleSource::Text { text, .. } = extract::program(&copied.package()) else { panic!("it is a text") };
    fs::write(copied.path("schema/extractor"), text).unwrap();
    for module in ["schema/extractor", "formae-plugin.pkl", "forma.pkl"] {
        let official = oracle.evaluate_as(&copied.path(module), "json").unwrap();
        assert!(official.status.success(), "{module}: {}", String::from_utf8_lossy(&official.stderr));
        let official: Json = serde_json::from_slice(&official.stdout).unwrap();
        assert_eq!(evaluated(&copied.path(module)), official, "{module}");
    }
}

#[test]
fn the_schema_has_the_types_that_the_plugin_serves() {
    let described = Copied::new().described();
    let declared: BTreeSet<String> = described.resources.iter().map(|it| it.type_name.clone()).collect();
    let served: BTreeSet<String> = Site::new().plugin.types().iter().map(|it| it.name.to_string()).collect();
    assert_eq!(declared, served);
    assert!(served.iter().all(|name| name.starts_with(&format!("{NAMESPACE}::"))));
    assert_eq!(described.configs.len(), 1);
    assert!(described.configs[0].schema.hints["Root"].create_only);
}

#[test]
fn the_manifest_says_what_the_process_does() {
    let manifest = evaluated(&Copied::new().path("formae-plugin.pkl"));
    assert_eq!(manifest["name"], "local");
    assert_eq!(manifest["namespace"], NAMESPACE);
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn the_plugin_knows_every_property_of_the_schema_and_no_other() {
    let plugin = Site::new().plugin;
    for resource in Copied::new().described().resources {
        let names: Vec<&String> = resource.schema.fields.iter().filter(|name| !name.contains('.')).collect();
        let mut properties: serde_json::Map<String, Json> =
            names.iter().map(|name| ((*name).clone(), Json::Null)).collect();
        properties.insert("unheardOf".to_owned(), Json::Null);
        let request = ValidateRequest {
            resource_type: resource.type_name.as_str().into(),
            label: "a".into(),
            properties: Secret::new(Json::Object(properties)),
        };
        let problems = plugin.validate(request).await.unwrap();
        let unknown: Vec<String> = problems.iter().map(|problem| problem.path.to_string()).collect();
        assert_eq!(unknown, ["unheardOf"], "{}", resource.type_name);
    }
}

#[test]
fn what_cannot_change_and_what_is_secret_is_marked() {
    let described = Copied::new().described();
    let hint = |type_name: &str, name: &str| {
        let resource = described.resources.iter().find(|it| it.type_name == type_name).unwrap();
        resource.schema.hints[name].clone()
    };
    assert!(hint("LOCAL::FS::File", "path").create_only && hint("LOCAL::FS::File", "path").required);
    assert!(hint("LOCAL::FS::File", "secretContent").write_only);
    assert!(hint("LOCAL::FS::File", "secretContent").opaque && !hint("LOCAL::FS::File", "content").opaque);
    assert!(
        !hint("LOCAL::FS::File", "mode").create_only && hint("LOCAL::FS::File", "mode").has_provider_default
    );
    assert!(hint("LOCAL::Random::Password", "length").create_only);
    assert!(!hint("LOCAL::TLS::SelfSignedCert", "dnsNames").create_only);
    let file = described.resources.iter().find(|it| it.type_name == "LOCAL::FS::File").unwrap();
    assert_eq!(file.schema.parent, "LOCAL::FS::Directory");
    assert_eq!(file.schema.parent_mappings[0].child_property, "directory");
}

#[tokio::test]
async fn a_forma_declares_what_the_plugin_accepts() {
    let copied = Copied::new();
    let forma = evaluated(&copied.path("forma.pkl"));
    let resources = forma["Resources"].as_array().unwrap();
    assert_eq!(resources.len(), 8);
    let plugin = Site::new().plugin;
    for resource in resources {
        // References are not known before a plan.
        let mut properties = resource["Properties"].as_object().unwrap().clone();
        properties.retain(|_, value| value.get("$res").is_none());
        let request = ValidateRequest {
            resource_type: resource["Type"].as_str().unwrap().into(),
            label: "a".into(),
            properties: Secret::new(json!(properties)),
        };
        assert_eq!(plugin.validate(request).await.unwrap(), [], "{resource}");
    }
    let password = resources.iter().find(|it| it["Type"] == "LOCAL::FS::File" && it["Label"] == "password");
    assert_eq!(password.unwrap()["Properties"]["secretContent"]["$visibility"], "Opaque");
}
