//! Formae through the binary: typed Pkl against a plugin's schema, planned, applied, changed, destroyed.

use super::common::Home;
use crate::deployed::{effects, world};
use crate::processes::SCHEMA;
use formwork_plugin_conformance::FakeCloud;
use serde_json::{Value, json};
use std::fs;

const PROJECT: &str = r#"amends "pkl:Project"

dependencies {
  ["formae"] { uri = "package://formwork.dev/pkl/formae@0.89.0" }
}
"#;

/// The head of a forma: its stack and its target.
const HEAD: &str = r#"extends "@formae/forma.pkl"

import "@formae/formae.pkl"
import "storage.pkl"

class Sizes {
  /// How large the buckets are.
  size: Int = 1
}

properties: Sizes

"#;

/// A home with a plugin, and a project whose modules may import the plugin's schema.
fn project() -> (Home, FakeCloud) {
    let (home, cloud) = world();
    home.write("PklProject", PROJECT);
    home.write("storage.pkl", SCHEMA);
    let resolved = home.run(&["pkl", "project", "resolve"]);
    assert_eq!(resolved.code, Some(0), "{}", resolved.stderr);
    (home, cloud)
}

fn forma(resources: &str) -> String {
    format!(
        "{HEAD}forma {{\n  new formae.Stack {{ label = \"site\" }}\n  new formae.Target {{ label = \"here\"; \
         config = new Dynamic {{ type = \"fake\"; region = \"here\" }} }}\n{resources}}}\n"
    )
}

fn bucket(label: &str, more: &str) -> String {
    format!("  new storage.Bucket {{\n    label = \"{label}\"\n    name = \"{label}\"\n    {more}\n  }}\n")
}

fn apply(home: &Home, more: &[&str]) -> super::common::Ran {
    let mut arguments = vec!["apply", "main.pkl", "--mode", "reconcile", "--yes"];
    arguments.extend(more);
    home.run(&arguments)
}

fn names(cloud: &FakeCloud) -> Vec<String> {
    let objects = cloud.snapshot().objects;
    let mut names: Vec<String> = objects
        .values()
        .map(|object| object.properties["name"].as_str().expect("a name").to_owned())
        .collect();
    names.sort();
    names
}

fn inventory(home: &Home, of: &str) -> Value {
    home.json(&["inventory", of, "--output-consumer", "machine"])
}

#[test]
fn a_forma_is_applied_changed_and_destroyed() {
    let (home, cloud) = project();
    let secret = "password = formae.value(\"canary-password\").opaque";
    home.write("main.pkl", forma(&(bucket("one", "size = properties.size") + &bucket("two", secret))));
    let first = apply(&home, &[]).ok();
    assert!(first.stderr.contains("2 to create") || first.stderr.contains("3 to create"), "{}", first.stderr);
    assert!(first.stderr.contains("main.pkl:16"), "the plan says where: {}", first.stderr);
    assert_eq!(names(&cloud), ["one", "two"]);
    assert_eq!(inventory(&home, "stacks")[0]["Resources"], json!(2));
    assert_eq!(inventory(&home, "targets")[0]["Label"], json!("here"));

    let again = apply(&home, &[]).ok();
    assert!(again.stderr.contains("3 unchanged") || again.stderr.contains("2 unchanged"), "{}", again.stderr);
    assert_eq!(effects(&cloud), 2, "nothing changed, so nothing was done");

    let planned = home.run(&[
        "apply",
        "main.pkl",
        "--mode",
        "reconcile",
        "--simulate",
        "--detailed-exitcode",
        "-p",
        "size=5",
    ]);
    let planned = planned.exits(10);
    assert!(planned.stderr.contains("1 to update") && planned.stderr.contains("1 → 5"), "{}", planned.stderr);
    assert_eq!(effects(&cloud), 2, "a simulation does nothing");
    apply(&home, &["-p", "size=5"]).ok();
    let sizes: Vec<Value> =
        cloud.snapshot().objects.values().map(|object| object.properties["size"].clone()).collect();
    assert!(sizes.contains(&json!(5)), "{sizes:?}");

    home.write("main.pkl", forma(&bucket("two", secret)));
    apply(&home, &[]).ok();
    assert_eq!(names(&cloud), ["two"], "what is not declared any more goes");

    home.run(&["destroy", "main.pkl", "--yes"]).ok();
    assert!(cloud.snapshot().objects.is_empty());
    assert_eq!(inventory(&home, "resources"), json!([]));
    assert_eq!(inventory(&home, "stacks"), json!([]), "an empty stack is no more");
}

#[test]
fn a_patch_leaves_alone_what_it_does_not_name() {
    let (home, cloud) = project();
    home.write("main.pkl", forma(&(bucket("one", "size = 1") + &bucket("two", "size = 1"))));
    apply(&home, &[]).ok();
    home.write("main.pkl", forma(&bucket("three", "size = 3")));
    home.run(&["apply", "main.pkl", "--mode", "patch", "--yes"]).ok();
    assert_eq!(names(&cloud), ["one", "three", "two"]);
    home.write("main.pkl", forma(&bucket("one", "size = 9")));
    home.run(&["apply", "main.pkl", "--mode", "patch", "--yes"]).ok();
    assert_eq!(names(&cloud), ["one", "three", "two"]);
}

#[test]
fn what_was_changed_out_of_band_is_not_overwritten_unasked() {
    let (home, cloud) = project();
    home.write("main.pkl", forma(&bucket("one", "size = 1")));
    apply(&home, &[]).ok();
    let id = cloud.snapshot().objects.keys().next().expect("one").clone();
    cloud.edit(&id, |properties| properties["size"] = json!(7));

    let refused = apply(&home, &[]).exits(3);
    assert!(refused.stderr.contains("one") && refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(cloud.snapshot().objects[&id].properties["size"], json!(7));

    home.write("main.pkl", forma(&bucket("one", "size = 7")));
    apply(&home, &[]).ok();
    cloud.edit(&id, |properties| properties["size"] = json!(8));
    apply(&home, &["--force"]).ok();
    assert_eq!(cloud.snapshot().objects[&id].properties["size"], json!(7));
}

#[test]
fn a_forma_refers_to_resources_of_other_stacks() {
    let (home, cloud) = project();
    home.write("main.pkl", forma(&bucket("one", "size = 1")));
    apply(&home, &[]).ok();
    let other = format!(
        "{HEAD}forma {{\n  new formae.Stack {{ label = \"app\" }}\n  new formae.TargetResolvable {{ label = \"here\" }}\n  \
         new storage.Bucket {{\n    label = \"copy\"\n    name = formae.embed(\"copy-of-\\(new storage.BucketResolvable {{ label = \"one\"; stack = \"site\" }}.name)\")\n  }}\n}}\n"
    );
    home.write("app.pkl", other);
    home.run(&["apply", "app.pkl", "--mode", "reconcile", "--yes"]).ok();
    assert_eq!(names(&cloud), ["copy-of-one", "one"]);

    let refused = home.run(&["destroy", "main.pkl", "--yes"]).exits(1);
    assert!(refused.stderr.contains("copy") && refused.stderr.contains("app"), "{}", refused.stderr);
    assert_eq!(names(&cloud), ["copy-of-one", "one"]);
    home.run(&["destroy", "main.pkl", "--yes", "--on-dependents", "cascade"]).ok();
    assert!(cloud.snapshot().objects.is_empty());
}

#[test]
fn a_target_is_not_made_another_one_in_place() {
    let (home, cloud) = project();
    let first = forma(&bucket("one", "size = 1"));
    home.write("main.pkl", &first);
    apply(&home, &[]).ok();
    home.write("main.pkl", first.replace("region = \"here\"", "region = \"there\""));
    let refused = apply(&home, &[]).exits(1);
    assert!(
        refused.stderr.contains("immutable-property") && refused.stderr.contains("`region`"),
        "{}",
        refused.stderr
    );
    assert_eq!(effects(&cloud), 1);
}

#[test]
fn a_secret_is_shown_nowhere() {
    let (home, _cloud) = project();
    let secret = "password = formae.value(\"canary-password\").opaque";
    home.write("main.pkl", forma(&bucket("one", secret)));
    let mut told = String::new();
    let mut tell = |ran: super::common::Ran| told.push_str(&(ran.stdout + &ran.stderr));
    tell(home.run(&["eval", "main.pkl"]));
    tell(home.run(&["eval", "main.pkl", "--output-consumer", "machine"]));
    tell(home.run(&[
        "apply",
        "main.pkl",
        "--mode",
        "reconcile",
        "--simulate",
        "--output-consumer",
        "machine",
    ]));
    tell(apply(&home, &[]));
    tell(home.run(&["inventory", "resources", "--output-consumer", "machine"]));
    home.write("main.pkl", forma(&bucket("one", "password = formae.value(\"canary-password-2\").opaque")));
    tell(apply(&home, &["--output-consumer", "machine"]));
    tell(home.run(&["destroy", "main.pkl", "--yes"]));
    assert!(!told.contains("canary-password"), "{told}");
    for entry in walk(&home.data()) {
        let bytes = fs::read(&entry).unwrap_or_default();
        let found = bytes.windows(15).any(|window| window == b"canary-password");
        assert!(!found, "{}", entry.display());
    }
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn mistakes_are_shown_at_their_places_and_nothing_is_done() {
    let (home, cloud) = project();
    home.write("main.pkl", forma(&bucket("one", "stack = new formae.StackResolvable { label = \"sitee\" }")));
    let ran = apply(&home, &[]).exits(1);
    insta::assert_snapshot!("unknown_stack", ran.stderr);
    home.write("main.pkl", forma(&(bucket("one", "size = \"big\"") + &bucket("two", "size = \"huge\""))));
    let ran = apply(&home, &[]).exits(1);
    insta::assert_snapshot!("wrong_types", ran.stderr);
    home.write("main.pkl", forma(&(bucket("one", "size = 1") + &bucket("one", "size = 2"))));
    let ran = apply(&home, &[]).exits(1);
    insta::assert_snapshot!("declared_twice", ran.stderr);
    let refused = home.run(&["apply", "main.pkl", "--mode", "reconcile"]).exits(1);
    assert!(refused.stderr.contains("declared more than once"), "{}", refused.stderr);
    home.write("main.pkl", forma(&bucket("one", "size = 1")));
    let refused = home.run(&["apply", "main.pkl", "--mode", "reconcile"]).exits(2);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    home.write("main.pkl", "x = 1\n");
    let refused = apply(&home, &[]).exits(2);
    assert!(refused.stderr.contains("@formae/forma.pkl"), "{}", refused.stderr);
    assert!(cloud.snapshot().log.is_empty());
}
