//! What is wrong with a plugin's files is found all at once, each mistake at its place.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use formwork_plugin_host::{Verified, VerifyError, verify};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const MANIFEST: &str = "amends \"@formae/plugin-manifest.pkl\"\n\nname = \"fake\"\nversion = \"0.1.0\"\n\
    namespace = \"FAKE\"\nlicense = \"MIT\"\nminFormaeVersion = \"0.80.0\"\n";

fn plugin(files: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn told(files: &[(&str, &str)]) -> String {
    let found = verify(plugin(files).path()).unwrap();
    let line = |mistake: &formwork_plugin_host::Mistake| {
        let place = mistake.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        format!("{}{place}: {}\n", mistake.file, mistake.message)
    };
    let types = found.types.join(" ");
    format!("types: {types}\n{}", found.mistakes.iter().map(line).collect::<String>())
}

fn schema(body: &str) -> String {
    format!("module a\n\nimport \"@formae/formae.pkl\"\n\n{body}")
}

fn one(body: &str) -> String {
    told(&[("formae-plugin.pkl", MANIFEST), ("schema/pkl/a.pkl", &schema(body))])
}

const THING: &str = r#"
@formae.ResourceHint { type = "FAKE::A::Thing"; identifier = "name" }
class Thing extends formae.Resource {
  @formae.FieldHint { createOnly = true }
  name: String
}
"#;

#[test]
fn the_plugins_of_this_repository_have_no_mistakes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (plugin, types) in [("plugins/local", 7), ("plugins/postgres", 9), ("examples/plugin-tutorial", 1)] {
        let Verified { types: found, mistakes } = verify(&root.join(plugin)).unwrap();
        assert_eq!(mistakes, [], "{plugin}");
        assert_eq!(found.len(), types, "{plugin}: {found:?}");
    }
}

#[test]
fn every_mistake_is_found_at_its_place() {
    insta::assert_snapshot!("mistakes", one(include_str!("wrong.pkl")));
}

#[test]
fn a_module_that_cannot_be_read_does_not_hide_the_others() {
    let wrong = schema("class {\n");
    let files = [
        ("formae-plugin.pkl", MANIFEST),
        ("schema/pkl/a.pkl", wrong.as_str()),
        (
            "schema/pkl/deep \"er%20/b.pkl",
            &schema(&THING.replace("identifier = \"name\"", "identifier = \"nmae\"")),
        ),
    ];
    insta::assert_snapshot!("broken_module", told(&files));
}

#[test]
fn every_field_of_a_manifest_is_checked() {
    let manifest = "amends \"@formae/plugin-manifest.pkl\"\n\nname = \"Fake\"\nversion = \"1.0\"\n\
        namespace = \"fake\"\nlicense = \"\"\nminFormaeVersion = \"99.0.0\"\ncategory = \"toys\"\n";
    let files = [("formae-plugin.pkl", manifest), ("schema/pkl/a.pkl", &schema(THING))];
    insta::assert_snapshot!("manifest", told(&files));
}

#[test]
fn a_manifest_that_says_nothing_or_amends_nothing_is_one_mistake_each() {
    let schema = schema(THING);
    let told = |manifest: &str| told(&[("formae-plugin.pkl", manifest), ("schema/pkl/a.pkl", &schema)]);
    insta::assert_snapshot!("empty_manifest", told("amends \"@formae/plugin-manifest.pkl\"\n"));
    let own = "name = \"fake\"\nversion = \"0.1.0\"\n";
    assert_eq!(
        told(own),
        "types: FAKE::A::Thing\nformae-plugin.pkl: the manifest must amend `@formae/plugin-manifest.pkl`\n"
    );
}

#[test]
fn an_installed_version_is_where_its_manifest_says() {
    let at = |place: &str| {
        let schema = schema(THING);
        let manifest = format!("{place}/formae-plugin.pkl");
        let module = format!("{place}/schema/pkl/a.pkl");
        let plugin = plugin(&[(&manifest, MANIFEST), (&module, &schema)]);
        verify(&plugin.path().join(place)).unwrap().mistakes
    };
    assert_eq!(at("fake/v0.1.0"), []);
    let told: Vec<String> = at("other/v0.2.0").into_iter().map(|mistake| mistake.message).collect();
    assert_eq!(
        told,
        [
            "the name is `fake`, but its directory says `other`",
            "the version is `0.1.0`, but its directory says `0.2.0`"
        ]
    );
}

#[test]
fn trees_for_versions_may_declare_one_type_each() {
    let schema = schema(THING);
    let tree =
        |one: &str, two: &str| told(&[("formae-plugin.pkl", MANIFEST), (one, &schema), (two, &schema)]);
    assert_eq!(tree("schema/pkl/v1/a.pkl", "schema/pkl/v2/a.pkl"), "types: FAKE::A::Thing\n");
    let twice = tree("schema/pkl/v1/a.pkl", "schema/pkl/v1/b.pkl");
    assert!(
        twice.contains("v1/b.pkl:7:1: the type `FAKE::A::Thing` is declared twice: also by `Thing` at"),
        "{twice}"
    );
}

#[test]
fn what_is_no_plugin_is_an_error() {
    let empty = plugin(&[]);
    assert!(matches!(verify(empty.path()), Err(VerifyError::NoPlugin(_))));
    assert!(matches!(verify(&empty.path().join("nothing")), Err(VerifyError::Read { .. })));
    let missing = told(&[("formae-plugin.pkl", MANIFEST)]);
    assert_eq!(missing, "types: \nschema/pkl: the directory of the schema is missing\n");
}
