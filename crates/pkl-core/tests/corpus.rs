//! The corpus (`tests/corpus/README.md`) under our evaluator.
//!
//! `tests/corpus/pending.txt` lists the cases that still differ. A case that isn't in it must meet its
//! expectation; with `PKL_CORPUS=write` the list is written anew, and with `PKL_CORPUS=<part of a name>`
//! only those cases run, and what differs is shown.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod engine;

use engine::Ours;
use pkl_corpus::Case;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// What differs, by the name of the case.
fn differences(cases: &[Case]) -> Vec<(String, String)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(told) = pkl_corpus::verify(case, &Ours) {
                        found.lock().unwrap().push((case.name.clone(), told));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    found
}

#[test]
fn every_case_meets_its_expectation() {
    let pending = root().join("pending.txt");
    let mut cases = pkl_corpus::discover(&root()).unwrap();
    let command = std::env::var("PKL_CORPUS").unwrap_or_default();
    if !command.is_empty() && command != "write" {
        cases.retain(|case| case.name.contains(&command));
    }
    let found = differences(&cases);
    let names: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    if command == "write" {
        let list: String = names.iter().flat_map(|name| [name, "\n"]).collect();
        std::fs::write(&pending, list).unwrap();
        return;
    }
    let listed = std::fs::read_to_string(&pending).unwrap_or_default();
    let listed: BTreeSet<&str> = listed.lines().collect();
    let met = cases.iter().filter(|case| listed.contains(case.name.as_str()) && !names.contains(&*case.name));
    println!("{} of {} cases differ; {} listed ones don't any more", names.len(), cases.len(), met.count());
    let wrong: Vec<&(String, String)> =
        found.iter().filter(|(name, _)| !command.is_empty() || !listed.contains(name.as_str())).collect();
    for (name, told) in &wrong {
        println!("{name}: {told}");
    }
    assert!(wrong.is_empty(), "{} cases differ", wrong.len());
}
