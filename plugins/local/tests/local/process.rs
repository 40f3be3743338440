//! The plugin's process.

use std::process::Command;

#[test]
fn a_process_that_nobody_launched_says_what_it_is() {
    let output = Command::new(env!("CARGO_BIN_EXE_local")).env_clear().output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("this is a plugin, which Formwork starts by itself"), "{said}");
}
