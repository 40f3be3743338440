//! `configure`: profiles, and that their tokens are never shown.

use crate::common::Home;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const TOKEN: &str = "sk_canary0123456789";

fn file(home: &Home) -> std::path::PathBuf {
    home.path().join(".config/formwork/config.json")
}

fn written(home: &Home) -> Value {
    serde_json::from_str(&fs::read_to_string(file(home)).expect("it is there")).expect("it is JSON")
}

#[test]
fn a_profile_is_written_for_its_owner_alone_and_others_stay() {
    let home = Home::new();
    let ran = home.run(&["configure", "--base-url", "http://127.0.0.1:5047", "--token", TOKEN]).ok();
    assert!(!ran.shown().contains(TOKEN), "{}", ran.shown());
    assert_eq!(
        ran.json(),
        json!({"profile": "default", "base_url": "http://127.0.0.1:5047", "token": "set", "file": file(&home)})
    );
    assert_eq!(fs::metadata(file(&home)).expect("it is there").permissions().mode() & 0o777, 0o600);

    home.run(&["configure", "--profile", "ci", "--base-url", "unix:/run/f.sock"]).ok();
    let fed = home.run_fed(&["configure", "--profile", "ci", "--token", "-"], b"from-stdin\n").ok();
    assert!(!fed.shown().contains("from-stdin"));
    assert_eq!(
        written(&home),
        json!({
            "default": {"baseUrl": "http://127.0.0.1:5047", "token": TOKEN},
            "ci": {"baseUrl": "unix:/run/f.sock", "token": "from-stdin"},
        })
    );
    let environment = [("FORMWORK_TOKEN", "from-env")];
    home.run_with(&["configure", "--profile", "ci", "--token", "-"], &environment).ok();
    assert_eq!(written(&home)["ci"]["token"], "from-env");
    assert!(!home.data().exists());
}

#[test]
fn a_configured_profile_is_what_commands_connect_with() {
    let home = Home::new();
    let server = Home::new();
    let _agent = server.agent();
    let token = fs::read(server.data().join("admin.token")).expect("the token file");
    let url = format!("unix:{}", server.data().join("agent.sock").display());
    home.run_fed(&["configure", "--profile", "far", "--base-url", &url, "--token", "-"], &token).ok();
    home.run(&["create-memory", "--name", "m", "--profile", "far"]).ok();
    assert_eq!(server.all(&["list-memories"]).len(), 1);
    assert_eq!(home.json(&["list-memories"])["total"], 0, "without the profile it is another store");
}

#[test]
fn what_cannot_be_used_is_refused_and_the_file_stays() {
    let home = Home::new();
    home.run(&["configure", "--base-url", "ftp://example.com"]).exits(1);
    home.run(&["configure", "--base-url", "http://h", "--token", "two words"]).exits(2);
    home.run_fed(&["configure", "--base-url", "http://h", "--token", "-"], b"\n").exits(2);
    assert!(!file(&home).exists());
    fs::create_dir_all(file(&home).parent().expect("a directory")).expect("made");
    fs::write(file(&home), "{ broken").expect("written");
    let ran = home.run(&["configure", "--base-url", "http://h"]).exits(1);
    assert!(ran.stderr.contains("is not JSON"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(file(&home)).expect("it is there"), "{ broken");
}
