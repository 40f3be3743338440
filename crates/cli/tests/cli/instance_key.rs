//! The instance key: without the one that a store is sealed with, nothing starts.

use crate::common::Home;
use std::fs;

const OTHER: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[test]
fn a_lost_key_is_not_replaced_and_a_found_one_works_again() {
    let home = Home::new();
    home.run(&["create-secret", "--name", "s", "--value", "v"]).ok();
    let path = home.data().join("instance.key");
    let key = fs::read(&path).expect("a key");
    fs::remove_file(&path).expect("removed");
    let ran = home.run(&["list-secrets"]).exits(1);
    assert!(ran.stderr.contains("instance.key` is gone"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: put the file back from your backup"), "{}", ran.stderr);
    assert!(!path.exists(), "no other key takes its place");
    fs::write(&path, key).expect("written");
    rustix::fs::chmod(&path, rustix::fs::Mode::from_bits_truncate(0o600)).expect("made private");
    home.run(&["list-secrets"]).ok();
}

#[test]
fn another_key_is_refused_wherever_it_comes_from() {
    let home = Home::new();
    home.run(&["create-secret", "--name", "s", "--value", "v"]).ok();
    let ran = home.run_with(&["list-secrets"], &[("FORMWORK_INSTANCE_KEY", OTHER)]).exits(1);
    assert!(
        ran.stderr.contains("the variable `FORMWORK_INSTANCE_KEY` holds another instance key"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains(OTHER), "{}", ran.stderr);
    let path = home.data().join("instance.key");
    fs::write(&path, format!("{OTHER}\n")).expect("written");
    let ran = home.run(&["list-secrets"]).exits(1);
    assert!(ran.stderr.contains("instance.key` holds another instance key"), "{}", ran.stderr);
    assert!(ran.stderr.contains("every process of one store needs the same key"), "{}", ran.stderr);
}
