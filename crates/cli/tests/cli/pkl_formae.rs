//! `formwork pkl` with the `@formae` package, which is in the program.

use crate::common::Home;
use pkl_corpus::named_oracle as oracle;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/forma").canonicalize().expect("it is there")
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copied(&path, &target);
        } else {
            fs::copy(&path, target).expect("copied");
        }
    }
}

/// A home with the example in it.
fn home() -> Home {
    let home = Home::new();
    copied(&example(), &home.path().join("forma"));
    home
}

fn evaluated(home: &Home, more: &[&str]) -> Value {
    let ran = home.run(&[&["pkl", "eval", "-f", "json", "-w", "forma", "garden.pkl"], more].concat()).ok();
    serde_json::from_str(&ran.stdout).expect("it is JSON")
}

#[test]
fn a_forma_is_evaluated_with_nothing_else_installed() {
    let home = home();
    let forma = evaluated(&home, &[]);
    let labels: Vec<_> =
        forma["Resources"].as_array().expect("resources").iter().map(|it| &it["Label"]).collect();
    assert_eq!(labels, ["south", "beans", "sage"]);
    assert_eq!(forma["Resources"][1]["Properties"]["bed"]["$label"], "south");
    assert_eq!(forma["Resources"][1]["Properties"]["count"], 6);
    assert_eq!(evaluated(&home, &["-p", "beanCount=12"])["Resources"][1]["Properties"]["count"], 12);
    assert!(!home.path().join(".pkl").exists(), "nothing comes into the shared cache");
}

#[test]
fn the_mirror_is_told_of_and_can_be_turned_off() {
    let home = home();
    let line = ["pkl", "eval", "-w", "forma", "garden.pkl"];
    assert_eq!(home.run(&line).ok().stderr, "");
    let told = home.run(&[&line[..], &["-v"]].concat()).ok().stderr;
    assert_eq!(
        told,
        "pkl: package `package://formwork.dev/pkl/formae@0.89.0` is answered by a mirror, unchecked\n"
    );
    let ran = home.run(&[&line[..], &["--no-mirror"]].concat()).exits(1);
    assert!(ran.stderr.contains("formae@0.89.0"), "it isn't resolved: {}", ran.stderr);
}

#[test]
fn what_a_mirror_answers_is_not_resolved() {
    let home = home();
    let before = fs::read_to_string(home.path().join("forma/PklProject.deps.json")).expect("the example's");
    fs::remove_file(home.path().join("forma/PklProject.deps.json")).expect("removed");
    home.run(&["pkl", "project", "resolve", "forma"]).ok();
    let after = fs::read_to_string(home.path().join("forma/PklProject.deps.json")).expect("written");
    assert_eq!(after, before);
    assert!(after.contains("garden@1") && !after.contains("formae"), "{after}");
}

/// A copy of the package beside the forma, as plugins have one.
fn vendored(home: &Home) {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../forma/pkl");
    copied(&package, &home.path().join("vendored"));
    for (project, path) in
        [("forma/PklProject", "../vendored"), ("forma/schema/PklProject", "../../vendored")]
    {
        let text = fs::read_to_string(home.path().join(project)).expect("read");
        let remote = "[\"formae\"] { uri = \"package://formwork.dev/pkl/formae@0.89.0\" }";
        assert!(text.contains(remote), "{text}");
        home.write(project, text.replace(remote, &format!("[\"formae\"] = import(\"{path}/PklProject\")")));
    }
}

#[test]
fn a_vendored_copy_is_answered_for_with_a_warning() {
    let home = home();
    let remote = evaluated(&home, &[]);
    vendored(&home);
    home.run(&["pkl", "project", "resolve", "forma"]).ok();
    let line = ["pkl", "eval", "-f", "json", "-w", "forma", "garden.pkl"];
    // Were it read, it would be a syntax error.
    let text = fs::read_to_string(home.path().join("vendored/formae.pkl")).expect("read");
    home.write("vendored/formae.pkl", "none of it");
    let ran = home.run(&line).ok();
    assert_eq!(ran.stderr, "pkl: a mirror answers for the local dependency `formae`\n");
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).expect("JSON"), remote);
    let ran = home.run(&[&line[..], &["--no-mirror"]].concat()).exits(1);
    assert!(ran.stderr.contains("formae@0.89.0#/formae.pkl, line 1"), "{}", ran.stderr);
    home.write("vendored/formae.pkl", text);
    let ran = home.run(&[&line[..], &["--no-mirror"]].concat()).ok();
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).expect("JSON"), remote);
}

#[test]
fn the_official_evaluator_puts_out_the_same_bytes() {
    let Some(official) = oracle() else { return };
    let home = home();
    let line = ["eval", "-f", "json", "garden.pkl"];
    let ours = home.run(&[&["pkl"], &line[..], &["-w", "forma"]].concat()).ok().stdout;
    vendored(&home);
    home.run(&["pkl", "project", "resolve", "--no-mirror", "forma"]).ok();
    let ran =
        Command::new(official).args(line).current_dir(home.path().join("forma")).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), ours, "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn functions_of_the_host_can_be_called() {
    let home = Home::new();
    home.write("a.pkl", "import \"formae:/ext/random.pkl\"\nlength = random.password(20, true).length\n");
    assert_eq!(home.run(&["pkl", "eval", "a.pkl"]).ok().stdout, "length = 20\n");
    home.run(&["pkl", "eval", "--allowed-resources", "prop:", "a.pkl"]).exits(1);
}
