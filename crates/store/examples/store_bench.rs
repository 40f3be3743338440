//! Prints how many units per second the stores commit, one at a time and in groups.
//!
//! `cargo run --release -p formwork-store --example store_bench [directory]`
#![expect(clippy::unwrap_used, reason = "a measurement that fails has nothing to clean up")]

use formwork_store::contract::given;
use formwork_store::testing::TestPostgres;
use formwork_store::{
    LeaseGuard, MemOptions, MemStore, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, Store, Unit,
};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many units are in flight where they are grouped.
const IN_FLIGHT: usize = 256;
/// How many units a grouped run stores, all of one operation, like a wide plan.
const GROUPED: usize = 20_000;

// On one thread, tasks hand their units over in the order of their spawning, as the numbers of the
// entries demand.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let made = tempfile::tempdir().unwrap();
    let directory = std::env::args().nth(1).map_or_else(|| made.path().to_owned(), Into::into);
    measure("memory", Arc::new(MemStore::new(MemOptions::default())), 20_000).await;
    let path = directory.join("bench.db");
    let store = Arc::new(SqliteStore::open(&path, &SqliteOptions::default()).unwrap());
    measure("SQLite", store, 2_000).await;
    history(&path).await;
    let address = tokio::task::spawn_blocking(|| TestPostgres::shared().map(TestPostgres::fresh_database));
    if let Some(address) = address.await.unwrap() {
        let store = PostgresStore::open(&address, &PostgresOptions::default()).await.unwrap();
        measure("PostgreSQL", Arc::new(store), 1_000).await;
    }
}

async fn measure(name: &str, store: Arc<dyn Store>, singles: usize) {
    let guard = begin(&*store, "single").await;
    let started = Instant::now();
    for number in 1..=singles {
        store.commit(&guard, unit("single", number)).await.unwrap();
    }
    report(name, "single", singles, started.elapsed());
    finish(&*store, &guard).await;

    let guard = begin(&*store, "grouped").await;
    let started = Instant::now();
    let mut in_flight = tokio::task::JoinSet::new();
    for number in 1..=GROUPED {
        if in_flight.len() == IN_FLIGHT {
            in_flight.join_next().await.unwrap().unwrap();
        }
        let (store, guard) = (store.clone(), guard.clone());
        in_flight.spawn(async move { store.commit(&guard, unit("grouped", number)).await.unwrap() });
    }
    in_flight.join_all().await;
    report(name, &format!("{IN_FLIGHT} in flight"), GROUPED, started.elapsed());
    finish(&*store, &guard).await;
}

/// Opening and reading does not get slower with history (performance.md).
async fn history(path: &std::path::Path) {
    for finished in [0, 250, 750] {
        let store = SqliteStore::open(path, &SqliteOptions::default()).unwrap();
        for number in 0..finished {
            let id = format!("history{finished}-{number}");
            let guard = begin(&store, &id).await;
            store
                .commit(
                    &guard,
                    Unit { entries: (1..1_000).map(|n| given::entry(&id, n)).collect(), ..Unit::default() },
                )
                .await
                .unwrap();
            finish(&store, &guard).await;
        }
        drop(store);
        let started = Instant::now();
        let store = SqliteStore::open(path, &SqliteOptions::default()).unwrap();
        let open = store.reader().open_operations().await.unwrap().len();
        let opened = started.elapsed();
        let started = Instant::now();
        let rows = store.reader().rows(&"stack-single".into()).await.unwrap().len();
        println!(
            "SQLite after {finished:>4} more operations: opened in {opened:?} ({open} unfinished), read {rows} rows in {:?}",
            started.elapsed()
        );
    }
}

fn report(name: &str, how: &str, units: usize, took: Duration) {
    let rate = f64::from(u32::try_from(units).unwrap()) / took.as_secs_f64();
    println!("{name:<10} {how:<14} {units:>6} units in {took:>10.3?}: {rate:>9.0}/s");
}

async fn finish(store: &dyn Store, guard: &LeaseGuard) {
    store.commit(guard, Unit { finish: given::succeeded(), ..Unit::default() }).await.unwrap();
}

async fn begin(store: &dyn Store, id: &str) -> LeaseGuard {
    given::begun(store, given::begin(id, &[&format!("stack-{id}")])).await
}

/// What settling a create stores: one entry, one row of usual size, one event.
fn unit(operation: &str, number: usize) -> Unit {
    let id = format!("row-{operation}-{}", number / 2);
    let mut row = given::live(&id, &format!("stack-{operation}"), &[]);
    if let Some(object) = &mut row.current {
        object.sent = json!({"name": id, "model": "gpt", "temperature": 0.5, "tags": ["a", "b", "c"]}).into();
        object.echo = object.sent.clone();
    }
    Unit {
        entries: vec![given::entry(operation, number as u64)],
        rows: vec![row],
        events: vec![given::event(operation, "created")],
        ..Unit::default()
    }
}
