//! Schema packages in the styles of real ones: both evaluators evaluate and describe them to the same bytes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod schemas;

use formwork_forma::extract::{
    self, ConfigDescriptor, FieldHint, PackageDescriptor, ResourceDescriptor, SchemaPackage,
};
use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, ModuleSource};
use pkl_corpus::Oracle;
use schemas::Package;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A package with what our evaluator makes of it.
struct Evaluated {
    package: Package,
    extractor: PathBuf,
    /// What the extractor puts out.
    written: String,
}

static PACKAGES: LazyLock<Vec<Evaluated>> = LazyLock::new(|| {
    let evaluated = |package| {
        let extractor = extractor(&package);
        let written = ours(&extractor);
        Evaluated { package, extractor, written }
    };
    schemas::all().into_iter().map(evaluated).collect()
});

/// What a package declares, as its extractor's output says.
fn declared(name: &str) -> PackageDescriptor {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Output {
        resources: Vec<ResourceDescriptor>,
        configs: Vec<ConfigDescriptor>,
    }
    let found = PACKAGES.iter().find(|it| it.package.name == name).unwrap();
    let Output { resources, configs } = serde_json::from_str(&found.written).unwrap();
    PackageDescriptor { resources, configs }
}

fn evaluator() -> Evaluator {
    let builder = Evaluator::builder().files(FileReader::new()).properties([("pkl.outputFormat", "json")]);
    formwork_forma::library::add_to(builder).build()
}

fn schema_package(package: &Package) -> SchemaPackage {
    SchemaPackage { directory: format!("file://{}/", package.path().display()), formae: schemas::formae() }
}

/// The program that describes a package, as a file in its directory.
fn extractor(package: &Package) -> PathBuf {
    let ModuleSource::Text { text, .. } = extract::program(&schema_package(package)) else {
        panic!("the program is a text")
    };
    // Not a `.pkl` file, so that the package doesn't have it as a module.
    let path = package.path().join("extractor");
    std::fs::write(&path, text).unwrap();
    path
}

fn ours(module: &Path) -> String {
    let text = evaluator().output_bytes(&ModuleSource::file(module).unwrap());
    String::from_utf8(text.unwrap_or_else(|error| panic!("{}: {error}", module.display()))).unwrap()
}

fn resource<'a>(descriptor: &'a PackageDescriptor, module: &str, class: &str) -> &'a ResourceDescriptor {
    let found = descriptor.resources.iter().find(|it| it.module == module && it.class == class);
    found.unwrap_or_else(|| panic!("there is no {class} in {module}"))
}

fn hint<'a>(descriptor: &'a ResourceDescriptor, key: &str) -> &'a FieldHint {
    descriptor.schema.hints.get(key).unwrap_or_else(|| panic!("there is no {key}"))
}

#[test]
fn the_official_evaluator_gives_the_same_bytes() {
    let Some(binary) = pkl_corpus::named_oracle() else { return };
    let oracle = Oracle::at(&binary).unwrap();
    for Evaluated { package, extractor, written } in PACKAGES.iter() {
        let forma = package.forma();
        for (module, ours) in [(&forma, &ours(&forma)), (extractor, written)] {
            let official = oracle.evaluate_as(module, "json").unwrap();
            let errors = String::from_utf8_lossy(&official.stderr);
            assert!(official.status.success(), "{} of {}: {errors}", module.display(), package.name);
            let official = String::from_utf8(official.stdout).unwrap();
            assert!(*ours == official, "{} of {} differs", module.display(), package.name);
        }
    }
}

#[test]
fn what_is_described_is_what_the_extractor_puts_out() {
    for Evaluated { package, written, .. } in PACKAGES.iter() {
        let written: serde_json::Value = serde_json::from_str(written).unwrap();
        let described = extract::describe(&evaluator(), &schema_package(package)).unwrap();
        let read = serde_json::json!({ "Resources": described.resources, "Configs": described.configs });
        assert!(read == written, "{} differs", package.name);
    }
}

#[test]
fn a_cloud_of_250_modules_is_described_whole() {
    let cloud = declared("cloud");
    assert_eq!(cloud.resources.len(), 250 + 84);
    let thing = resource(&cloud, "compute/thing0.pkl", "Thing0");
    assert_eq!(thing.type_name, "CLOUD::COMPUTE::Thing0");
    assert_eq!(thing.description.as_deref(), Some("A thing, number 0."));
    assert_eq!((thing.schema.portable, thing.schema.extractable), (true, false));
    assert_eq!(thing.names["ThingName"], "thingName");
    assert_eq!(thing.descriptions["ThingName"], "The name, which can't be changed.");
    assert!(hint(thing, "ThingName").create_only && !hint(thing, "Description").create_only);
    assert!(hint(thing, "Settings.Zone").create_only);
    assert!(hint(thing, "Password").opaque && hint(thing, "Password").write_only);
    assert_eq!(hint(thing, "Tags").index_field, "Key");
    assert_eq!(hint(thing, "AttachedTo").edge_kind, "attachesTo");
    assert!(
        thing.schema.hints.contains_key("Settings.Rules.mode")
            && thing.member_hints.contains_key("Limits.*.days")
    );
    assert!(!thing.schema.fields.iter().any(|field| field == "NotAnnotated"));
    let part = resource(&cloud, "compute/thing0.pkl", "Part0");
    assert_eq!(part.schema.parent, "CLOUD::COMPUTE::Thing0");
    assert_eq!(part.schema.parent_mappings[0].child_property, "ThingId");
    assert!(!part.schema.discoverable && hint(part, "Size").required);
    assert_eq!(cloud.configs.len(), 1);
    let hints = &cloud.configs[0].schema.hints;
    assert!(!hints["Profile"].create_only && hints["Region"].create_only);
}

#[test]
fn each_version_of_a_cluster_has_types_of_its_own() {
    let cluster = declared("cluster");
    let versions: Vec<&str> = cluster
        .resources
        .iter()
        .filter(|it| it.type_name == "CLUSTER::Core::Pod")
        .map(|it| it.version.as_deref().unwrap())
        .collect();
    assert_eq!(versions.len(), 16);
    let key = "spec.resizePolicy";
    assert!(!resource(&cluster, "v1.29/core.pkl", "Pod").schema.hints.contains_key(key));
    assert!(hint(resource(&cluster, "v1.30/core.pkl", "Pod"), key).create_only);
    assert_eq!(resource(&cluster, "v1.34/core.pkl", "Pod").schema.identifier, "$.metadata.uid");
    let definition = resource(&cluster, "v1.34/apps.pkl", "Definition");
    assert!(definition.schema.hints.contains_key("schema.$ref"));
    assert!(definition.member_hints.is_empty(), "a type within itself isn't gone into again");
}

#[test]
fn secrets_are_seen_in_mappings_and_nested_objects() {
    let vault = declared("vault");
    let map = resource(&vault, "vault.pkl", "SecretMap");
    assert!(hint(map, "data").opaque && hint(map, "owners.token").opaque && !hint(map, "owners.name").opaque);
    assert_eq!(map.descriptions["owners.name"], "Who it is.");
    let consumer = resource(&vault, "vault.pkl", "Consumer");
    assert_eq!(consumer.description.as_deref(), Some("Reads secrets."), "the hint says more than a comment");
    assert!(vault.configs.is_empty(), "a configuration without hints has no schema");
}
