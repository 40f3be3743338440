//! The store in SQLite keeps the contract, and its file is what it should be.
#![expect(clippy::unwrap_used, reason = "tests")]

use async_trait::async_trait;
use formwork_model::{Json, Timestamp};
use formwork_store::contract::{World, given};
use formwork_store::{DomainTx, ManualClock, NewObject, SqliteOptions, SqliteStore, Store, StoreError};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

struct File {
    clock: Arc<ManualClock>,
    options: SqliteOptions,
    store: Arc<SqliteStore>,
    directory: TempDir,
}

impl File {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
        let options = SqliteOptions { clock: clock.clone(), ..SqliteOptions::default() };
        let store = Arc::new(SqliteStore::open(directory.path().join("store.db"), &options).unwrap());
        Self { clock, options, store, directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("store.db")
    }
}

fn world() -> std::future::Ready<Option<Box<dyn World>>> {
    std::future::ready(Some(Box::new(File::new())))
}

#[async_trait]
impl World for File {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.path(), &self.options).unwrap())
    }

    async fn pass(&self, millis: u64) {
        self.clock.advance(millis);
    }

    async fn damage_operation(&self, id: &str) -> bool {
        tamper(&self.path(), &format!("UPDATE operations SET body = '{{half' WHERE id = '{id}'"));
        true
    }
}

formwork_store::contract_suite!(world);

/// Changes the file behind the store's back.
fn tamper(path: &Path, statements: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

fn object(id: &str, doc: Json) -> NewObject {
    let (keys, links) = (Vec::new(), Vec::new());
    NewObject { id: id.to_owned(), type_name: "agent".to_owned(), project: None, doc, keys, links }
}

async fn insert(store: &dyn Store, object: NewObject) -> bool {
    let job = |tx: &mut dyn DomainTx| tx.insert(object).map(|_| Json::Null);
    store.domain(None, None, Box::new(job)).await.is_ok()
}

#[test]
fn only_the_owner_can_read_the_file_and_its_log() {
    let file = File::new();
    let names: Vec<_> = file.directory.path().read_dir().unwrap().map(Result::unwrap).collect();
    assert!(names.len() > 1, "the log is there");
    for entry in names {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
}

#[test]
fn a_missing_directory_is_an_error_and_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing/store.db");
    assert!(matches!(SqliteStore::open(&path, &SqliteOptions::default()), Err(StoreError::Fault { .. })));
    assert!(!directory.path().join("missing").exists());
}

#[tokio::test]
async fn reading_where_there_is_no_store_makes_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let options = SqliteOptions::default();
    assert!(SqliteStore::open_read_only(&path, &options).unwrap().is_none());
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    std::fs::write(&path, "").unwrap();
    assert!(SqliteStore::open_read_only(&path, &options).unwrap().is_none(), "an empty file is no store");
}

#[tokio::test]
async fn a_read_only_store_reads_what_another_process_writes() {
    let file = File::new();
    let reader = SqliteStore::open_read_only(file.path(), &file.options).unwrap().unwrap();
    assert!(insert(&*file.store, object("a", 1.into())).await);
    assert!(reader.object("a").await.unwrap().is_some());
    let path = file.path();
    let File { store, directory, .. } = file;
    drop((store, reader));
    let reader = SqliteStore::open_read_only(&path, &SqliteOptions::default()).unwrap().unwrap();
    assert!(reader.object("a").await.unwrap().is_some(), "also when nobody has it open");
    drop(directory);
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let file = File::new();
    tamper(&file.path(), "UPDATE meta SET value = '99' WHERE key = 'format'");
    for refused in [
        SqliteStore::open(file.path(), &file.options).map(drop),
        SqliteStore::open_read_only(file.path(), &file.options).map(drop),
    ] {
        assert!(matches!(refused, Err(StoreError::Newer { found: 99, known: 2 })), "{refused:?}");
    }
}

#[tokio::test]
async fn rows_of_an_older_store_are_found_by_their_objects() {
    let file = File::new();
    let rows = (0..1_200).map(|number| given::live(&format!("r{number}"), "a", &[]));
    given::settle(&*file.store, "make", "a", rows.collect()).await;
    let path = file.path();
    let File { store, directory, options, .. } = file;
    drop(store);
    tamper(
        &path,
        "DROP TABLE row_objects; UPDATE meta SET value = '1' WHERE key = 'format'; \
         UPDATE rows SET body = '{half' WHERE id = 'r1'",
    );
    let store = SqliteStore::open(&path, &options).unwrap();
    for (row, expected) in [("r0", true), ("r1", false), ("r999", true)] {
        let found = store.reader().owners(&given::owned(&format!("native-{row}"))).await.unwrap();
        assert_eq!(!found.is_empty(), expected, "{row}");
    }
    drop(directory);
}

#[tokio::test]
async fn a_damaged_record_affects_only_itself() {
    let file = File::new();
    for id in ["a", "b"] {
        assert!(insert(&*file.store, object(id, 1.into())).await);
    }
    tamper(&file.path(), "UPDATE objects SET doc = '{\"half' WHERE id = 'a'");
    let reader = file.store.reader();
    let damaged = reader.object("a").await;
    assert!(
        matches!(&damaged, Err(StoreError::Unreadable { record, .. }) if record == "object a"),
        "{damaged:?}"
    );
    assert!(reader.object("b").await.unwrap().is_some());
    tamper(&file.path(), "UPDATE objects SET doc = x'ff' WHERE id = 'a'");
    assert!(matches!(reader.object("a").await, Err(StoreError::Unreadable { .. })));
    assert!(insert(&*file.store, object("c", 1.into())).await, "writing goes on");
}

#[test]
fn what_is_no_database_is_an_error_and_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let text = "this is a letter to my aunt, not a database\n".repeat(100);
    std::fs::write(&path, &text).unwrap();
    assert!(matches!(SqliteStore::open(&path, &SqliteOptions::default()), Err(StoreError::Fault { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn a_document_too_deep_to_be_read_again_is_refused() {
    let file = File::new();
    let deep = (0..2_000).fold(Json::from(1), |inner, _| Json::Array(vec![inner]));
    assert!(!insert(&*file.store, object("a", deep)).await);
    assert_eq!(file.store.reader().object("a").await.unwrap(), None);
}

#[tokio::test]
async fn a_store_that_is_dropped_can_be_opened_again_at_once() {
    let file = File::new();
    assert!(insert(&*file.store, object("a", 1.into())).await);
    let (path, options) = (file.path(), file.options.clone());
    let File { store, directory, .. } = file;
    drop(store);
    assert!(!path.with_extension("db-wal").exists(), "its log went into the file");
    let store = SqliteStore::open(&path, &options).unwrap();
    assert!(store.reader().object("a").await.unwrap().is_some());
    drop(directory);
}
