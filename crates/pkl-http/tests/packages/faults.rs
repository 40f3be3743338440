//! What goes wrong: a clear error, and a cache in which nothing broken is left.

use super::server::{Page, Server, metadata};
use super::{evaluate, files, id, packages};
use pkl_project::archive::{ArchiveError, LARGEST_CONTENTS, pack};
use pkl_project::{Cache, Note, Offline, PackageError, Packages, Part, Sha256};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

const BIRD: &[(&str, &str)] = &[("bird.pkl", "name = \"Dodo\"")];

/// Tries to get the package; it must fail, and nothing may be left.
fn refused(server: &Server, cache: &Path) -> PackageError {
    let error = packages(server, cache).package(&id("birds@1.0.0"), None).err().expect("it is refused");
    assert_eq!(files(cache), [""; 0].map(std::path::PathBuf::from), "{error}");
    error
}

#[test]
fn another_archive_than_the_metadata_says_is_refused() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    server.publish("birds@1.0.0", &[], BIRD);
    server.page("/files/birds@1.0.0.zip", Page::Body(pack([("bird.pkl", &b"evil"[..])]).unwrap()));
    let error = refused(&server, cache.path());
    assert!(matches!(error, PackageError::ArchiveChecksum { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("Expected checksum: ") && message.contains("Asset URL: "), "{message}");
}

#[test]
fn other_metadata_than_expected_is_refused() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    let hash = server.publish("birds@1.0.0", &[], BIRD);
    let other = Sha256::written("00");
    let packages = packages(&server, cache.path());
    let error = packages.package(&id("birds@1.0.0"), Some(&other)).err().unwrap();
    assert!(matches!(error, PackageError::MetadataChecksum { .. }), "{error}");
    assert!(files(cache.path()).is_empty());
    packages.package(&id("birds@1.0.0"), Some(&hash)).unwrap();
    assert_eq!(files(cache.path()).len(), 2);
}

#[test]
fn a_connection_that_ends_too_early_is_an_error() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    let zip = pack([("bird.pkl", &[7; 10_000][..])]).unwrap();
    server.publish_archive("birds@1.0.0", &[], zip.clone());
    server.page("/files/birds@1.0.0.zip", Page::Half(zip));
    assert!(matches!(refused(&server, cache.path()), PackageError::Fetch(_)));
    server.page("/birds@1.0.0", Page::Half(metadata("birds@1.0.0", &[], &Sha256::written("00"))));
    assert!(matches!(refused(&server, cache.path()), PackageError::Fetch(_)));
}

#[test]
fn an_archive_that_was_published_cut_is_refused() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    let zip = pack([("bird.pkl", &[7; 10_000][..]), ("b.pkl", &b"x = 1"[..])]).unwrap();
    server.publish_archive("birds@1.0.0", &[], zip[..zip.len() / 2].to_vec());
    let error = refused(&server, cache.path());
    assert!(matches!(error, PackageError::Archive { source: ArchiveError::Damaged(_), .. }), "{error}");
}

#[test]
fn an_archive_that_leads_out_of_its_directory_is_refused() {
    for name in ["../../../etc/bird.pkl", "/etc/bird.pkl", "a\\..\\b.pkl"] {
        let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
        server.publish("birds@1.0.0", &[], &[("good.pkl", "x = 1"), (name, "x = 1")]);
        let error = refused(&server, cache.path());
        assert!(error.to_string().contains("leads out of the package"), "{error}");
    }
}

#[test]
fn a_bomb_is_refused() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    let options = zip::write::SimpleFileOptions::default();
    let mut bomb = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let megabyte = vec![0; 1 << 20];
    // More than all files together may have, in files that are each small enough.
    for file in 0..=(LARGEST_CONTENTS >> 25) {
        bomb.start_file(format!("{file}.pkl"), options).unwrap();
        for _ in 0..32 {
            bomb.write_all(&megabyte).unwrap();
        }
    }
    let bomb = bomb.finish().unwrap().into_inner();
    assert!((bomb.len() as u64) < LARGEST_CONTENTS >> 6, "{} bytes", bomb.len());
    server.publish_archive("birds@1.0.0", &[], bomb);
    let error = refused(&server, cache.path());
    assert!(matches!(error, PackageError::Archive { source: ArchiveError::TooLarge { .. }, .. }), "{error}");
}

#[test]
fn metadata_that_is_none_is_refused() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    for text in ["", "{", "{}", "[]", "{\"name\": \"birds\"}"] {
        server.page("/birds@1.0.0", Page::Body(text.into()));
        let error = refused(&server, cache.path());
        assert!(error.to_string().starts_with("Received invalid dependency metadata for package"), "{error}");
    }
}

#[test]
fn what_is_damaged_in_the_cache_is_replaced() {
    let (server, cache) = (Server::start(), tempfile::tempdir().unwrap());
    server.publish("birds@1.0.0", &[], BIRD);
    let birds = id("birds@1.0.0");
    packages(&server, cache.path()).package(&birds, None).unwrap();
    let kept = Cache::new(cache.path());
    let text = "a = import(\"package://example.com/birds@1.0.0#/bird.pkl\").name";
    for part in [Part::Metadata, Part::Archive] {
        let path = kept.path(&birds, part);
        let sound = std::fs::read(&path).unwrap();
        for damaged in [&b""[..], &sound[..sound.len() / 2], b"{}", &[0; 300]] {
            std::fs::write(&path, damaged).unwrap();
            let offline = Arc::new(Packages::new(Arc::new(Offline), Some(kept.clone())));
            evaluate(offline, None, text).expect_err("it can't be replaced without a network");
            assert_eq!(std::fs::read(&path).unwrap(), damaged);
            let notes = Arc::new(Mutex::new(Vec::new()));
            let sink = Arc::clone(&notes);
            let packages = packages(&server, cache.path())
                .notes(Arc::new(move |note: &Note| sink.lock().unwrap().push(note.clone())));
            assert_eq!(evaluate(Arc::new(packages), None, text).unwrap(), "a = \"Dodo\"\n");
            assert_eq!(std::fs::read(&path).unwrap(), sound);
            assert_eq!(*notes.lock().unwrap(), [Note::Replaced(path.clone())]);
        }
    }
}
