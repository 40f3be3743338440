//! Plugins that are broken in one way each: one clear error, within its bound, and nobody else notices.

use crate::common::{Home, text};
use crate::processes::{BUCKET, script, write_program};
use crate::real::install;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a process may take to say what it is, and some time for everything else.
const BOUND: Duration = Duration::from_secs(40);

/// A home with the LOCAL plugin, and one for buckets whose program is another's.
fn world(program: &str) -> (Home, PathBuf) {
    let mut home = Home::new();
    home.set("TMPDIR", home.path().display().to_string());
    install(&home, "local");
    let place = home.data().join("plugins/fake/v0.1.0");
    fs::create_dir_all(place.join("schema/pkl")).expect("made");
    fs::write(place.join("formae-plugin.pkl"), manifest("0.80.0")).expect("written");
    fs::write(place.join("schema/pkl/storage.pkl"), crate::processes::SCHEMA).expect("written");
    write_program(&place.join("fake"), &script(program));
    let root = home.path().join("root");
    fs::create_dir(&root).expect("made");
    let target = json!({ "type": "target", "properties": { "namespace": "FAKE", "config": {} } });
    let bucket = json!({ "type": BUCKET, "target": "Here", "properties": { "name": "one" } });
    home.write("bucket.json", json!({ "resources": { "Here": target, "One": bucket } }).to_string());
    home.write("file.json", file(&root));
    (home, place)
}

fn manifest(oldest: &str) -> String {
    format!(
        "amends \"@formae/plugin-manifest.pkl\"\nname = \"fake\"\nversion = \"0.1.0\"\nnamespace = \"FAKE\"\n\
         license = \"MIT\"\nminFormaeVersion = \"{oldest}\"\n"
    )
}

/// A template of the LOCAL plugin.
fn file(root: &Path) -> String {
    let target = json!({ "type": "target", "properties": {
        "namespace": "LOCAL", "config": { "Type": "LOCAL", "Root": root } } });
    let file = json!({ "type": "LOCAL::FS::File", "target": "Disk",
        "properties": { "path": "a", "content": "a" } });
    json!({ "resources": { "Disk": target, "A": file } }).to_string()
}

/// That a deploy of a bucket is refused with these words, and that files are made all the same.
fn is_alone(home: &Home, told: &[&str]) {
    let began = Instant::now();
    let refused = home.run(&["create-formation", "--name", "b", "--template-file", "bucket.json"]).exits(1);
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    for part in told {
        assert!(refused.stderr.contains(part), "{part}\n{}", refused.stderr);
    }
    let errors = refused.stderr.lines().filter(|line| line.starts_with("error")).count();
    assert_eq!(errors, 1, "one clear error\n{}", refused.stderr);
    let began = Instant::now();
    home.deploy("files", "file.json", &[]);
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    assert_eq!(fs::read_to_string(home.path().join("root/a")).expect("there"), "a");
}

#[test]
fn a_plugin_whose_program_is_missing() {
    let (home, place) = world("fake");
    fs::remove_file(place.join("fake")).expect("removed");
    is_alone(&home, &["`fake` cannot be used", "is missing"]);
}

#[test]
fn a_plugin_for_a_newer_formae() {
    let (home, place) = world("fake");
    fs::write(place.join("formae-plugin.pkl"), manifest("99.0.0")).expect("written");
    is_alone(&home, &["`fake` cannot be used", "it needs formae 99.0.0 or newer"]);
}

#[test]
fn a_plugin_that_sends_garbage() {
    let (home, _) = world("garbage");
    is_alone(&home, &["`fake` cannot be used", "makes no sense"]);
}

#[test]
fn a_plugin_that_hangs_at_its_start_is_asked_once() {
    let (home, place) = world("silent");
    is_alone(&home, &["`fake` cannot be used", "did not say what it is within 10000 ms"]);
    let began = Instant::now();
    let listed = home.run(&["plugin", "info", "fake"]).exits(1).stdout;
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(listed.contains("s ago; it is asked again in"), "{listed}");
    // Another program in its place is asked at once.
    write_program(&place.join("fake"), &script("garbage"));
    let listed = home.run(&["plugin", "info", "fake"]).exits(1).stdout;
    assert!(listed.contains("makes no sense"), "{listed}");
}

#[test]
fn what_a_plugin_made_that_is_gone_is_kept_in_mind() {
    let (home, _) = world("garbage");
    let created = home.deploy("files", "file.json", &[]);
    let id = text(&created, "id");
    let place = home.data().join("plugins/local");
    fs::rename(&place, home.path().join("aside")).expect("moved");
    let refused = home.run(&["delete-formation", "--formation-id", id]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("LOCAL::FS::File"), "{}", refused.stderr);
    fs::rename(home.path().join("aside"), &place).expect("moved");
    home.run(&["delete-formation", "--formation-id", id]).ok();
    assert!(!home.path().join("root/a").exists(), "nothing was lost meanwhile");
}
