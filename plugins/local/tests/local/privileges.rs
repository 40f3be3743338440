//! What a process without privileges is told, and a disk that is full or can't be written. Each is a process
//! of its own: this one may be root, whom nothing is denied.

use crate::support::{DIRECTORY, FILE, PASSWORD, SYMLINK, Site, refused, shown};
use formwork_plugin::OperationErrorCode as Code;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = "LOCAL_TEST_ROOT";
/// A user that owns nothing.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn child_site() -> Option<Site> {
    std::env::var_os(ROOT).map(|root| Site::at(Path::new(&root)))
}

/// This program where anybody can run it.
fn program(directory: &Path) -> PathBuf {
    let path = directory.join("tests");
    fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn arguments(test: &str) -> [String; 4] {
    ["--ignored".into(), "--exact".into(), format!("privileges::{test}"), "--nocapture".into()]
}

fn ensure_ran(mut command: Command) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn without_permission_access_is_denied() {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("hidden"), "x").unwrap();
    fs::set_permissions(root.join("hidden"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::create_dir(root.join("closed")).unwrap();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = Command::new(program(directory.path()));
    command.args(arguments("as_nobody")).env(ROOT, &root).current_dir("/");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    ensure_ran(command);
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
#[ignore = "runs in a process of its own"]
async fn as_nobody() {
    let site = child_site().unwrap();
    let message = refused(site.create(FILE, json!({ "path": "a", "content": "" })).await, Code::AccessDenied);
    assert_eq!(message, "cannot write `a`: Permission denied");
    refused(site.create(DIRECTORY, json!({ "path": "a" })).await, Code::AccessDenied);
    refused(site.create(SYMLINK, json!({ "path": "a", "pointsTo": "b" })).await, Code::AccessDenied);
    refused(site.create(PASSWORD, json!({ "length": 8 })).await, Code::AccessDenied);
    refused(site.create(FILE, json!({ "path": "closed/a", "content": "" })).await, Code::AccessDenied);
    // What can't be looked at is not taken for gone.
    for id in ["hidden", "closed/a"] {
        assert_eq!(site.read(FILE, id).await.error_code, Some(Code::AccessDenied), "{id}");
        refused(site.delete(FILE, id).await, Code::AccessDenied);
    }
    assert_eq!(site.ids(FILE, &[]).await, ["hidden"], "the rest of a tree is listed");
}

/// Runs a test on a small file system of its own.
fn on_a_disk(test: &str, prepare: &str) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    let script = format!("mount -t tmpfs -o size=1m none \"$1\" && {prepare} && shift && exec \"$@\"");
    let unshared = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.arg(if is_root() { "-m" } else { "-rm" }).args(["sh", "-c", &script, "sh"]);
        command.arg(&root).args(arguments);
        command
    };
    let can = unshared(&["true"]).output();
    if !can.as_ref().is_ok_and(|output| output.status.success()) {
        let required = std::env::var("FORMWORK_TEST_REQUIRE_ALL").as_deref() == Ok("1");
        assert!(!required, "no file system can be mounted here, and FORMWORK_TEST_REQUIRE_ALL=1: {can:?}");
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let mut command = unshared(&[std::env::current_exe().unwrap().to_str().unwrap()]);
    command.args(arguments(test)).env(ROOT, &root);
    ensure_ran(command);
}

#[test]
fn a_full_disk_is_out_of_service_and_harms_nothing() {
    on_a_disk("on_a_full_disk", "true");
}

#[tokio::test]
#[ignore = "runs in a process of its own"]
async fn on_a_full_disk() {
    let site = child_site().unwrap();
    let large = "x".repeat(2 << 20);
    let (id, _) = site.made(FILE, json!({ "path": "a", "content": "small" })).await;
    let message =
        refused(site.create(FILE, json!({ "path": "b", "content": large })).await, Code::ServiceUnavailable);
    assert_eq!(message, "cannot write `b`: No space left on device");
    let change = json!({ "path": "a", "content": large });
    refused(site.update(FILE, &id, change).await, Code::ServiceUnavailable);
    assert_eq!(shown(site.read(FILE, "a").await)["content"], "small");
    let names: Vec<_> = fs::read_dir(site.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["a"], "nothing half made is left");
    site.made(FILE, json!({ "path": "b", "content": "small" })).await;
}

#[test]
fn a_disk_that_cannot_be_written_denies_access() {
    on_a_disk("on_a_read_only_disk", "printf x > \"$1/a\" && mkdir \"$1/d\" && mount -o remount,ro \"$1\"");
}

#[tokio::test]
#[ignore = "runs in a process of its own"]
async fn on_a_read_only_disk() {
    let site = child_site().unwrap();
    assert_eq!(shown(site.read(FILE, "a").await)["content"], "x");
    let message = refused(site.create(FILE, json!({ "path": "b", "content": "" })).await, Code::AccessDenied);
    assert_eq!(message, "cannot write `b`: Read-only file system");
    refused(site.update(FILE, &"a".into(), json!({ "path": "a", "content": "" })).await, Code::AccessDenied);
    refused(site.delete(FILE, "a").await, Code::AccessDenied);
    refused(site.delete(DIRECTORY, "d").await, Code::AccessDenied);
}
