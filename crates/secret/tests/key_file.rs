//! The key file: made once, private, and refused when it is not.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Barrier,
    thread,
};

use formwork_secret::{HexError, InstanceKey, KeyError, KeyId, random_bytes};

/// A directory of its own for one test, removed with it.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let name = format!("key-file-{:032x}", u128::from_ne_bytes(random_bytes()));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn key_path(&self) -> PathBuf {
        self.0.join("instance.key")
    }

    fn file_names(&self) -> Vec<String> {
        fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    fn with_key_file(content: impl AsRef<[u8]>, mode: u32) -> Self {
        let directory = Self::new();
        fs::write(directory.key_path(), content).unwrap();
        fs::set_permissions(directory.key_path(), fs::Permissions::from_mode(mode)).unwrap();
        directory
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_new_file_is_private_and_holds_the_key_and_a_newline() {
    let directory = Directory::new();
    let key = InstanceKey::load_or_create(&directory.key_path()).unwrap();
    assert_eq!(fs::metadata(directory.key_path()).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(fs::read_to_string(directory.key_path()).unwrap(), format!("{}\n", key.to_hex().expose()));
    assert_eq!(directory.file_names(), ["instance.key"], "no draft stays behind");
}

#[test]
fn an_existing_file_is_loaded_and_left_alone() {
    let hex = "ab".repeat(32);
    for content in [format!("{hex}\n"), hex.clone()] {
        let directory = Directory::with_key_file(&content, 0o400);
        let key = InstanceKey::load_or_create(&directory.key_path()).unwrap();
        assert_eq!(key.id(), InstanceKey::from_bytes([0xab; 32]).id());
        assert_eq!(fs::read_to_string(directory.key_path()).unwrap(), content);
    }
}

#[test]
fn eight_threads_that_start_together_agree_on_one_key() {
    for _ in 0..20 {
        let directory = Directory::new();
        let path = directory.key_path();
        let barrier = Barrier::new(8);
        let ids: Vec<KeyId> = thread::scope(|scope| {
            let load = || {
                barrier.wait();
                InstanceKey::load_or_create(&path).unwrap().id()
            };
            let threads = [(); 8].map(|()| scope.spawn(load));
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        assert_eq!(directory.file_names(), ["instance.key"]);
    }
}

#[test]
fn a_file_open_to_group_or_others_is_refused_with_a_hint() {
    for mode in [0o640, 0o604, 0o620, 0o602, 0o644, 0o660] {
        let directory = Directory::with_key_file("ab".repeat(32), mode);
        let error = InstanceKey::load_or_create(&directory.key_path()).unwrap_err();
        let KeyError::Exposed { mode: found, .. } = error else { panic!("{error:?}") };
        assert_eq!(found, mode);
        assert!(error.to_string().ends_with(&format!("(mode {mode:04o})")), "{error}");
        assert!(error.hint().unwrap().contains("chmod 600"));
    }
}

#[test]
fn a_file_that_holds_no_key_is_refused_and_kept() {
    let hex = "ab".repeat(32);
    for content in ["", "\n", "abab\n", &format!("{hex}\n\n"), &format!("{hex}{hex}{hex}\n")] {
        let directory = Directory::with_key_file(content, 0o600);
        let error = InstanceKey::load_or_create(&directory.key_path()).unwrap_err();
        let KeyError::MalformedFile { source: HexError::Length { .. }, .. } = error else {
            panic!("{error:?}")
        };
        assert!(!format!("{error} {error:?}").contains("abab"));
        assert_eq!(fs::read_to_string(directory.key_path()).unwrap(), content);
    }
    let directory = Directory::with_key_file([0xff; 64], 0o600);
    let error = InstanceKey::load_or_create(&directory.key_path()).unwrap_err();
    assert!(matches!(error, KeyError::MalformedFile { source: HexError::Digit { position: 0 }, .. }));
}

#[test]
fn a_missing_directory_is_not_made() {
    let directory = Directory::new();
    let error = InstanceKey::load_or_create(&directory.0.join("missing/instance.key")).unwrap_err();
    assert!(matches!(error, KeyError::Create { .. }), "{error:?}");
    assert!(error.hint().is_some());
}

#[test]
fn a_directory_in_the_files_place_cannot_be_read() {
    let directory = Directory::new();
    fs::create_dir(directory.key_path()).unwrap();
    fs::set_permissions(directory.key_path(), fs::Permissions::from_mode(0o700)).unwrap();
    let error = InstanceKey::load_or_create(&directory.key_path()).unwrap_err();
    assert!(matches!(error, KeyError::Read { .. }), "{error:?}");
}
