//! What a SQLite store acknowledged is there after SIGKILL, and no unit is there by half (INV-11).
#![expect(clippy::unwrap_used, reason = "tests")]

use formwork_store::contract::given;
use formwork_store::{ObjectWrite, SqliteOptions, SqliteStore, Store, Unit};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Where the child finds its store, and the number of its round.
const STORE: &str = "FORMWORK_TEST_SIGKILL_STORE";
const ROUND: &str = "FORMWORK_TEST_SIGKILL_ROUND";
const OPERATIONS: usize = 8;

/// Not a test of its own: the process that is killed. It stores units until then, and says so
/// after each.
#[test]
fn child() {
    let (Ok(path), Ok(round)) = (std::env::var(STORE), std::env::var(ROUND)) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(SqliteStore::open(path, &SqliteOptions::default()).unwrap());
        let tasks = (0..OPERATIONS).map(|number| {
            let store = store.clone();
            tokio::spawn(write_for_ever(store, format!("op-{round}-{number}")))
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

async fn write_for_ever(store: Arc<SqliteStore>, operation: String) {
    let guard = given::begun(&*store, given::begin(&operation, &[&operation])).await;
    for sequence in 1.. {
        let name = format!("{operation}-{sequence}");
        let unit = Unit {
            entries: vec![given::entry(&operation, sequence)],
            rows: vec![given::live(&name, &operation, &[])],
            events: vec![given::event(&operation, &name)],
            objects: vec![ObjectWrite::Insert(given::object(&name, None, Some(&name)))],
            ..Unit::default()
        };
        store.commit(&guard, unit).await.unwrap();
        writeln!(std::io::stdout().lock(), "stored {operation} {sequence}").unwrap();
    }
}

#[tokio::test]
async fn every_acknowledged_unit_survives_sigkill_and_none_is_half_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut acknowledged = BTreeMap::new();
    for (round, millis) in [60, 95, 140, 210, 320].into_iter().enumerate() {
        run_and_kill(&path, round, Duration::from_millis(millis), &mut acknowledged);
        let store = SqliteStore::open(&path, &SqliteOptions::default()).unwrap();
        for (operation, sequence) in &acknowledged {
            check(&store, operation, *sequence).await;
        }
    }
    assert!(acknowledged.values().sum::<u64>() > 50, "too few to mean anything: {acknowledged:?}");
}

fn run_and_kill(path: &Path, round: usize, after: Duration, acknowledged: &mut BTreeMap<String, u64>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(STORE, path)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut killed = None;
    for line in lines {
        let [_, operation, sequence] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let Ok(sequence) = sequence.parse() else { continue };
        acknowledged.insert(operation.to_owned(), sequence);
        // The clock starts with the first unit, however long the process took to get there.
        killed.get_or_insert_with(|| {
            let id = child.id();
            std::thread::spawn(move || {
                std::thread::sleep(after);
                Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap()
            })
        });
    }
    assert!(killed.is_some_and(|killer| killer.join().unwrap().success()));
    assert!(!child.wait().unwrap().success());
}

async fn check(store: &SqliteStore, operation: &str, acknowledged: u64) {
    let reader = store.reader();
    let stored = reader.journal(&operation.into()).await.unwrap().len() as u64 - 1;
    assert!(stored >= acknowledged, "{operation}: {acknowledged} were acknowledged, {stored} are there");
    let rows = reader.rows(&operation.into()).await.unwrap().len() as u64;
    let events = reader.events(&operation.into(), 0, usize::MAX).await.unwrap().len() as u64;
    assert_eq!((rows, events), (stored, stored), "{operation}");
    for (sequence, is_there) in [(stored, stored > 0), (stored + 1, false)] {
        let object = reader.object(&format!("{operation}-{sequence}")).await.unwrap();
        assert_eq!(object.is_some(), is_there, "{operation}-{sequence}");
    }
}
