//! Random sequences of commands, kills and edits over a provider whose record outlives them (`formwork-blackbox`).
//!
//! `FORMWORK_SEQUENCES=1000` plays that many; `FORMWORK_SEED` is the first. `cargo xtask blackbox` does the same with
//! release builds.

use formwork_blackbox::{Report, Sequence, Stage, kept_seeds, run};
use formwork_plugin::About;
use formwork_plugin_fake_cloud::FakeCloudProcess;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many are played side by side: most of the time each waits.
const JOBS: usize = 4;
const USUAL: u64 = 24;

/// The process of the plugin: this program, started again.
#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn serves() {
    let about = About { name: "fake-cloud", version: "0.1.0" };
    let _ = formwork_plugin::run(about, FakeCloudProcess::default());
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn stage() -> Stage {
    let program = std::env::current_exe().expect("this program");
    let plugin = format!("'{}' --ignored --exact --nocapture serves", program.display());
    Stage::set(Path::new(env!("CARGO_BIN_EXE_formwork")), &plugin).expect("a stage")
}

#[test]
fn no_sequence_of_commands_kills_and_failures_breaks_an_invariant() {
    let first = number("FORMWORK_SEED").unwrap_or(1);
    let usual = first..first + number("FORMWORK_SEQUENCES").unwrap_or(USUAL);
    let seeds: Vec<u64> = kept_seeds().into_iter().chain(usual).collect();
    let (stage, next, broken) = (stage(), AtomicUsize::new(0), Mutex::new(Vec::<Report>::new()));
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = run(&stage, &Sequence::of(*seed));
                    if !report.violations.is_empty() {
                        broken.lock().unwrap_or_else(PoisonError::into_inner).push(report);
                    }
                }
            });
        }
    });
    let broken = broken.into_inner().unwrap_or_else(PoisonError::into_inner);
    let told: Vec<String> = broken.iter().map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{}", told.join("\n"));
}
