//! The processes of the plugins of the other tests.

use formwork_plugin::{About, ResourcePlugin};
use formwork_plugin_conformance::FakeCloudPlugin;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

pub(crate) const BUCKET: &str = "FAKE::Storage::Bucket";

pub(crate) const SCHEMA: &str = r#"module storage

import "@formae/formae.pkl"

/// A place for objects.
@formae.ResourceHint { type = "FAKE::Storage::Bucket"; identifier = "name" }
class Bucket extends formae.Resource {
  fixed hidden type: String = "FAKE::Storage::Bucket"

  /// Its name.
  @formae.FieldHint { createOnly = true; required = true }
  name: String | formae.Embedded

  @formae.FieldHint
  size: Int?

  @formae.FieldHint { writeOnly = true; opaque = true }
  password: (String|formae.SecretValue)?
}

/// A bucket as others refer to it.
class BucketResolvable extends formae.Resolvable {
  hidden type = "FAKE::Storage::Bucket"
  hidden name: BucketResolvable = (this) { property = "name" }
}
"#;

fn serve(name: &'static str, plugin: impl ResourcePlugin) {
    let _ = formwork_plugin::run(About { name, version: "0.1.0" }, plugin);
}

#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn fake() {
    let socket = std::env::var_os("FAKE_CLOUD").expect("the operator gives it");
    serve("fake", FakeCloudPlugin::new("FAKE", socket).serving(&[BUCKET]).within(2_000));
}

#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn local() {
    serve("local", formwork_plugin_local::LocalPlugin::new());
}

#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn postgres() {
    serve("postgres", formwork_plugin_postgres::PostgresPlugin::new());
}

#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn notes() {
    serve("notes", formwork_plugin_notes::NotesPlugin);
}

#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn garbage() {
    let socket = std::env::var_os("FORMWORK_PLUGIN_SOCKET").expect("the host gives it");
    let listener = std::os::unix::net::UnixListener::bind(socket).expect("it can be bound");
    for connection in listener.incoming() {
        // Whether the host still listens is its own business.
        let _ = connection.expect("a connection").write_all(&[0xff; 4096]);
    }
}

#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn silent() {
    std::thread::sleep(std::time::Duration::from_secs(3600));
}

/// A program that is one of the above.
pub(crate) fn script(name: &str) -> String {
    let program = std::env::current_exe().expect("this program");
    format!("#!/bin/sh\nexec '{}' --ignored --exact --nocapture processes::{name}\n", program.display())
}

/// Writes a program from another process: one that this process has open for writing, or a child that it starts just
/// then, can't be run.
pub(crate) fn write_program(path: &Path, script: &str) {
    let write = "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"";
    let mut command = std::process::Command::new("/bin/sh");
    let written = command.args(["-c", write, "sh", script]).arg(path).status();
    assert!(written.expect("it runs").success());
    let mode = std::fs::metadata(path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
}

/// A directory of this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).canonicalize().expect("it is there")
}
