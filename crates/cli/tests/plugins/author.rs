//! What a plugin's author begins with: a source, and what is wrong with its schema.

use crate::common::Home;
use crate::processes::{SCHEMA, repository};
use serde_json::json;
use std::fs;

const MANIFEST: &str = "amends \"@formae/plugin-manifest.pkl\"\nname = \"fake\"\nversion = \"0.1.0\"\n\
    namespace = \"FAKE\"\nlicense = \"MIT\"\nminFormaeVersion = \"0.80.0\"\n";

#[test]
fn a_new_plugin_has_a_source_whose_schema_has_no_mistakes() {
    let home = Home::new();
    let arguments = ["plugin", "init", "my-cloud", "--namespace", "MyCloud", "--output-dir", "made here"];
    insta::assert_snapshot!("plugin_init", home.run(&arguments).ok().stdout);
    let made = home.path().join("made here");
    let schema = fs::read_to_string(made.join("schema/pkl/my_cloud.pkl")).expect("it is there");
    assert!(schema.contains("type = \"MyCloud::Book::Note\""), "{schema}");
    assert!(
        fs::read_to_string(made.join("scenarios/notes.yaml")).expect("there").contains("MyCloud::Book::Note")
    );
    let verified = home.run(&["plugin", "verify-schema", "made here"]).ok();
    assert_eq!(verified.stdout, "no mistakes in 1 type\n");
    let left: Vec<_> =
        fs::read_dir(home.path()).expect("there").map(|it| it.expect("there").file_name()).collect();
    assert_eq!(left, ["made here"], "nothing else is made");
}

#[test]
fn a_new_plugin_takes_nobodys_place() {
    let home = Home::new();
    fs::create_dir(home.path().join("empty")).expect("made");
    home.run(&["plugin", "init", "one", "--output-dir", "empty"]).ok();
    let again = home.run(&["plugin", "init", "two", "--output-dir", "empty"]).exits(1);
    assert!(again.stderr.contains("`empty` is there already, and not empty"), "{}", again.stderr);
    assert!(again.stderr.contains("--output-dir"), "{}", again.stderr);
    assert!(
        fs::read_to_string(home.path().join("empty/formae-plugin.pkl")).expect("there").contains("\"one\"")
    );
    home.write("file", "mine");
    home.run(&["plugin", "init", "two", "--output-dir", "file"]).exits(1);
    assert_eq!(fs::read_to_string(home.path().join("file")).expect("there"), "mine");
    for (arguments, told) in [
        (&["Two"][..], "small letters"),
        (&["two", "--namespace", "two"], "a namespace has letters and digits"),
        (&["two", "--checkout", "empty"], "`empty` is no checkout of Formwork"),
    ] {
        let ran = home.run(&[&["plugin", "init"], arguments].concat()).exits(1);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    let entries = fs::read_dir(home.path()).expect("there").count();
    assert_eq!(entries, 2, "what is refused leaves nothing");
}

#[test]
fn a_checkout_gives_its_crates() {
    let home = Home::new();
    let root = repository(".").display().to_string();
    home.run(&["plugin", "init", "own", "--checkout", &root]).ok();
    let manifest = fs::read_to_string(home.path().join("own/Cargo.toml")).expect("it is there");
    assert!(manifest.contains(&format!("path = \"{root}/crates/plugin\"")), "{manifest}");
}

#[test]
fn the_mistakes_of_a_schema_are_told_with_their_places() {
    let home = Home::new();
    let place = home.path().join("fake");
    fs::create_dir_all(place.join("schema/pkl")).expect("made");
    fs::write(place.join("formae-plugin.pkl"), MANIFEST.replace("\"MIT\"", "\"\"")).expect("written");
    let schema = SCHEMA.replace("identifier = \"name\"", "identifier = \"id\"").replace("size:", "size :::");
    fs::write(place.join("schema/pkl/storage.pkl"), &schema).expect("written");
    fs::write(place.join("schema/pkl/other.pkl"), SCHEMA.replace("\"name\"", "\"id\"")).expect("written");
    insta::assert_snapshot!(
        "plugin_verify_schema",
        home.run(&["plugin", "verify-schema", "fake"]).exits(1).shown()
    );
    let told = home.run(&["plugin", "verify-schema", "fake", "--json"]).exits(1).json();
    assert_eq!(told["passed"], false);
    assert_eq!(told["types"], json!(["FAKE::Storage::Bucket"]));
    let mistake = &told["mistakes"][0];
    assert_eq!((&mistake["file"], &mistake["line"]), (&json!("formae-plugin.pkl"), &json!(5)), "{told}");
    let none = home.run(&["plugin", "verify-schema", "nothing"]).exits(1);
    assert!(none.stderr.contains("`nothing` cannot be read"), "{}", none.stderr);
}
