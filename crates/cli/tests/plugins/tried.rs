//! Plugins that are tried out: the real ones pass, and a broken one fails at what is broken.

use crate::common::{Home, Ran};
use crate::processes::{BUCKET, SCHEMA, repository, script, write_program};
use formwork_plugin_conformance::{CloudType, FakeCloud, Rule};
use formwork_store::testing::TestPostgres;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

/// A home with room for sockets.
fn home() -> Home {
    let mut home = Home::new();
    home.set("TMPDIR", home.path().display().to_string());
    home.set("FORMWORK_LOG", "error");
    home
}

/// Tries a plugin of this repository, whose process is this program.
fn try_out(home: &Home, source: &str, name: &str, more: &[&str]) -> Ran {
    let program = home.path().join(name);
    write_program(&program, &script(name));
    let source = repository(source).display().to_string();
    let program = program.display().to_string();
    home.run(&[&["plugin", "test", &source, "--program", &program], more].concat())
}

/// What a report says was broken: contracts and phases by their names.
fn broken(report: &Value) -> BTreeSet<String> {
    let contracts = report["contracts"].as_array().expect("a list").iter();
    let scenarios = report["scenarios"].as_array().expect("a list").iter();
    let phases = scenarios.flat_map(|scenario| scenario["phases"].as_array().expect("a list"));
    let names = contracts.map(|it| (it, "contract")).chain(phases.map(|it| (it, "phase")));
    names
        .filter(|(finding, _)| finding["verdict"] == "broken")
        .map(|(finding, key)| finding[key].as_str().expect("a name").to_owned())
        .collect()
}

/// The types of which at least one contract was kept.
fn tried(report: &Value) -> BTreeSet<&str> {
    let kept = report["contracts"].as_array().expect("a list").iter().filter(|it| it["verdict"] == "kept");
    kept.map(|finding| finding["type"].as_str().expect("a type")).collect()
}

#[test]
fn the_plugin_of_the_tutorial_passes() {
    let home = home();
    let ran = try_out(&home, "examples/plugin-tutorial", "notes", &[]).ok();
    insta::assert_snapshot!("plugin_test", ran.stdout);
}

#[test]
fn the_local_plugin_passes() {
    let home = home();
    let report = try_out(&home, "plugins/local", "local", &["--json"]);
    assert_eq!(report.code, Some(0), "{}\n{}", report.stdout, report.stderr);
    let report = report.json();
    assert_eq!(tried(&report).len(), 7, "{report:#}");
    assert_eq!(report["untried"], serde_json::json!([]));
}

#[test]
fn the_postgres_plugin_passes() {
    let Some(server) = TestPostgres::shared() else { return };
    let home = home();
    let host = format!("Host={}", server.directory().display());
    let report = try_out(&home, "plugins/postgres", "postgres", &["--value", &host, "--json"]);
    assert_eq!(report.code, Some(0), "{}\n{}", report.stdout, report.stderr);
    let report = report.json();
    assert_eq!(tried(&report).len(), 9, "{report:#}");
}

const MANIFEST: &str = "amends \"@formae/plugin-manifest.pkl\"\nname = \"fake\"\nversion = \"0.1.0\"\n\
    namespace = \"FAKE\"\nlicense = \"MIT\"\nminFormaeVersion = \"0.80.0\"\n";

const SCENARIO: &str = r"
resources:
  Here: { type: target, properties: { namespace: FAKE, config: { region: here } } }
  One:
    type: FAKE::Storage::Bucket
    target: Here
    properties: { name: one, size: SIZE, password: hush }
";

/// The source of a plugin for a cloud.
fn source(home: &Home) -> FakeCloud {
    let socket = home.path().join("cloud");
    let cloud = FakeCloud::start(&socket).expect("it starts");
    cloud.define(CloudType::new(BUCKET).write_only(&["password"]));
    let place = home.path().join("source");
    fs::create_dir_all(place.join("schema/pkl")).expect("made");
    fs::create_dir_all(place.join("scenarios")).expect("made");
    fs::write(place.join("formae-plugin.pkl"), MANIFEST).expect("written");
    fs::write(place.join("schema/pkl/storage.pkl"), SCHEMA).expect("written");
    for (file, size) in [("bucket.yaml", "1"), ("bucket-update.yaml", "2")] {
        fs::write(place.join("scenarios").join(file), SCENARIO.replace("SIZE", size)).expect("written");
    }
    write_program(&place.join("fake"), &script("fake"));
    cloud
}

fn try_source(home: &Home, more: &[&str]) -> Ran {
    let socket = home.path().join("cloud").display().to_string();
    let arguments = ["plugin", "test", "source", "--env", "FAKE_CLOUD", "--json"];
    home.run_with(&[&arguments, more].concat(), &[("FAKE_CLOUD", &socket)])
}

#[test]
fn a_broken_plugin_fails_at_what_is_broken() {
    let home = home();
    let cloud = source(&home);
    let sound = try_source(&home, &[]).exits(1).json();
    // The cloud takes objects of any type.
    assert_eq!(broken(&sound), BTreeSet::from(["unknown-type-fails".to_owned()]), "{sound:#}");
    cloud.define(CloudType::new(BUCKET));
    let shown = try_source(&home, &[]).exits(1).json();
    assert_eq!(
        broken(&shown),
        BTreeSet::from(["unknown-type-fails".to_owned(), "write-only-stays-away".to_owned()]),
        "{shown:#}"
    );
    assert_eq!(shown["passed"], false);
}

#[test]
fn a_plugin_that_hangs_does_not_keep_the_trial() {
    let home = home();
    let cloud = source(&home);
    cloud.script(Rule::any().drop_answer());
    let began = Instant::now();
    let report = try_source(&home, &["--timeout", "5"]).exits(1).json();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert_eq!(report["passed"], false);
    assert!(report["overdue_seconds"] == 5 || !broken(&report).is_empty(), "{report:#}");
    assert!(!home.run(&["plugin", "list"]).ok().stdout.contains("fake"), "nothing was installed");
}

#[test]
fn what_cannot_be_tried_is_told() {
    let home = home();
    let _cloud = source(&home);
    let program = home.path().join("source/fake");
    write_program(&program, "#!/bin/sh\necho 'ERROR no license' >&2\nexit 3\n");
    let ran = try_source(&home, &[]).exits(1);
    for part in ["the plugin `fake` cannot be used", "exit status: 3", "no license"] {
        assert!(ran.stderr.contains(part), "{part}\n{}", ran.stderr);
    }
    fs::remove_file(&program).expect("removed");
    let ran = try_source(&home, &[]).exits(1);
    assert!(ran.stderr.contains("the program `fake` of the plugin"), "{}", ran.stderr);
    assert!(ran.stderr.contains("cargo build"), "{}", ran.stderr);
    write_program(&program, &script("fake"));
    fs::write(
        home.path().join("source/scenarios/odd.yaml"),
        SCENARIO.replace("{ name: one", "{ name: { param: P }"),
    )
    .expect("written");
    let private = home.run(&["plugin", "test", "source", "--env", "FORMWORK_INSTANCE_KEY"]).exits(1);
    assert!(!private.stderr.is_empty());
    fs::remove_dir_all(home.path().join("source/scenarios")).expect("removed");
    let ran = try_source(&home, &[]).exits(1);
    assert!(ran.stderr.contains("there are no scenarios"), "{}", ran.stderr);
    home.run(&["plugin", "test", "source", "--timeout", "0"]).exits(2);
}
