//! Several processes with one cache, some of which end before they are done.
//!
//! The processes are this test's own program, told by the environment what to do.

use super::server::{Page, Server};
use super::{files, id, packages};
use pkl_project::archive::pack;
use pkl_project::{Cache, Offline, Packages, Part};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const SERVER: &str = "PKL_TEST_SERVER";
const CACHE: &str = "PKL_TEST_CACHE";

/// Downloads a package: what the processes do.
#[test]
fn download_in_a_process() {
    let (Ok(address), Ok(cache)) = (std::env::var(SERVER), std::env::var(CACHE)) else { return };
    let client = pkl_http::HttpClient::new(&pkl_http::Options::default()).unwrap();
    let rewrites = vec![("https://example.com/".to_owned(), address)];
    let client = pkl_project::Rewriting::new(Arc::new(client), rewrites);
    let packages = Packages::new(Arc::new(client), Some(Cache::new(cache)));
    if let Err(error) = packages.package(&id("birds@1.0.0"), None) {
        eprintln!("failed: {error}");
        std::process::exit(3);
    }
}

fn command(program: &str, server: &Server, cache: &Path) -> Command {
    let mut command = Command::new(program);
    command.env(SERVER, server.address()).env(CACHE, cache).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn start(server: &Server, cache: &Path) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = command(program.to_str().unwrap(), server, cache);
    command.args(["--exact", "processes::download_in_a_process"]).spawn().unwrap()
}

fn large() -> Vec<u8> {
    // What doesn't compress.
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(200_000)
    .collect();
    pack([("bird.pkl", &b"name = \"Dodo\""[..]), ("noise", &noise)]).unwrap()
}

fn assert_sound(cache: &Path) {
    let offline = Packages::new(Arc::new(Offline), Some(Cache::new(cache)));
    let package = offline.package(&id("birds@1.0.0"), None).unwrap();
    assert_eq!(package.contents.read("/bird.pkl").unwrap(), b"name = \"Dodo\"");
}

#[test]
fn processes_that_download_one_package_do_not_disturb_each_other() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    server.publish_archive("birds@1.0.0", &[], large());
    let processes: Vec<Child> = (0..6).map(|_| start(&server, cache.path())).collect();
    for process in processes {
        let ended = process.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_sound(cache.path());
    assert_eq!(files(cache.path()).len(), 2, "nothing unfinished is left");
}

#[test]
fn a_killed_process_leaves_the_cache_usable() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    let zip = large();
    server.publish_archive("birds@1.0.0", &[], zip.clone());
    server.page("/files/birds@1.0.0.zip", Page::Slow(zip.clone()));
    for after in [50, 200, 500] {
        let mut process = start(&server, cache.path());
        std::thread::sleep(Duration::from_millis(after));
        process.kill().unwrap();
        process.wait().unwrap();
        let kept = Cache::new(cache.path());
        for part in [Part::Metadata, Part::Archive] {
            assert!(!kept.path(&id("birds@1.0.0"), part).exists(), "nothing half done is in its place");
        }
    }
    server.page("/files/birds@1.0.0.zip", Page::Body(zip));
    packages(&server, cache.path()).package(&id("birds@1.0.0"), None).unwrap();
    assert_sound(cache.path());
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_leaves_the_cache_usable() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    server.publish_archive("birds@1.0.0", &[], large());
    // No file may have more than a few blocks: the archive is cut while it is written.
    let mut limited = command("sh", &server, cache.path());
    let script =
        "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact processes::download_in_a_process --nocapture";
    limited.args(["-c", script]).arg(std::env::current_exe().unwrap());
    let ended = limited.spawn().unwrap().wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(3), "{told}");
    assert!(told.contains("I/O error in the package cache at") && told.contains("birds@1.0.0.zip"), "{told}");
    assert!(files(cache.path()).is_empty(), "{:?}", files(cache.path()));
    packages(&server, cache.path()).package(&id("birds@1.0.0"), None).unwrap();
    assert_sound(cache.path());
}
