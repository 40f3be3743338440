//! The schema package: both evaluators describe it to the same bytes, and it has the types that the
//! plugin has.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use formwork_forma::extract::{self, PackageDescriptor, SchemaPackage};
use formwork_plugin::ResourcePlugin as _;
use formwork_plugin_postgres::PostgresPlugin;
use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, ModuleSource};
use pkl_corpus::Oracle;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;

/// The package with the modules of `@formae` where a file can name them.
struct Package {
    directory: TempDir,
    formae: String,
}

impl Package {
    fn new() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let formae =
            format!("file://{}/", here.join("../../crates/forma/pkl").canonicalize().unwrap().display());
        let directory = tempfile::tempdir().unwrap();
        for file in std::fs::read_dir(here.join("schema/pkl")).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "pkl") {
                let text = std::fs::read_to_string(&file).unwrap().replace("@formae/", &formae);
                std::fs::write(directory.path().join(file.file_name().unwrap()), text).unwrap();
            }
        }
        Self { directory, formae }
    }

    fn schema(&self) -> SchemaPackage {
        let directory = format!("file://{}/", self.directory.path().display());
        SchemaPackage { directory, formae: self.formae.clone() }
    }

    fn describe(&self) -> PackageDescriptor {
        extract::describe(&evaluator(), &self.schema()).unwrap()
    }
}

fn evaluator() -> Evaluator {
    let builder = Evaluator::builder().files(FileReader::new()).properties([("pkl.outputFormat", "json")]);
    formwork_forma::library::add_to(builder).build()
}

#[test]
fn the_schema_has_the_types_of_the_plugin() {
    let described = Package::new().describe();
    let declared: BTreeSet<_> = described.resources.iter().map(|it| it.type_name.clone()).collect();
    let plugin = PostgresPlugin::new();
    assert_eq!(declared, plugin.types().iter().map(|it| it.name.to_string()).collect());
    assert_eq!(declared.len(), 9);
    assert!(declared.iter().all(|name| name.split("::").next() == Some(plugin.namespace())));
}

#[test]
fn parents_exist_and_their_children_carry_their_identity() {
    let described = Package::new().describe();
    for child in described.resources.iter().filter(|it| !it.schema.parent.is_empty()) {
        let parent = described.resources.iter().find(|it| it.type_name == child.schema.parent).unwrap();
        for mapping in &child.schema.parent_mappings {
            assert!(parent.schema.fields.contains(&mapping.parent_property), "{}", child.type_name);
            assert!(child.schema.fields.contains(&mapping.child_property), "{}", child.type_name);
        }
    }
}

#[test]
fn passwords_are_secrets_that_are_never_read_back() {
    let described = Package::new().describe();
    for resource in &described.resources {
        for (key, hint) in &resource.schema.hints {
            assert_eq!(hint.opaque, key == "password", "{} of {}", key, resource.type_name);
            assert!(hint.write_only || !hint.opaque);
        }
    }
    let target = &described.configs[0].schema;
    assert!(target.hints["Host"].create_only && !target.hints["Password"].create_only);
}

#[test]
fn the_official_evaluator_gives_the_same_bytes() {
    let Some(binary) = pkl_corpus::named_oracle() else { return };
    let package = Package::new();
    let ModuleSource::Text { text, .. } = extract::program(&package.schema()) else { panic!("it is a text") };
    // Not a `.pkl` file, so that the package doesn't have it as a module.
    let program = package.directory.path().join("extractor");
    std::fs::write(&program, text).unwrap();
    let ours = evaluator().output_bytes(&ModuleSource::file(&program).unwrap()).unwrap();
    let official = Oracle::at(&binary).unwrap().evaluate_as(&program, "json").unwrap();
    assert!(official.status.success(), "{}", String::from_utf8_lossy(&official.stderr));
    assert!(ours == official.stdout);
}
