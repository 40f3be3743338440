//! Tells story after story until it is stopped or one breaks an invariant, and prints its rate.
//!
//! `cargo run --release -p formwork-sim --example soak -- [FIRST_SEED] [MOST_RESOURCES]`

use formwork_sim::{StoryOptions, tell};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let most_resources = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(12);
    let began = Instant::now();
    let mut shown = began;
    for (count, seed) in (1_u64..).zip(first..) {
        let told = tell(&StoryOptions { most_resources, ..StoryOptions::new(seed) });
        if !told.violations.is_empty() {
            println!("{told}");
            return ExitCode::FAILURE;
        }
        if shown.elapsed() > Duration::from_secs(5) {
            shown = Instant::now();
            let seconds = began.elapsed().as_secs().max(1);
            println!("{count} stories in {seconds} s, {} a second, last seed {seed}", count / seconds);
        }
    }
    ExitCode::SUCCESS
}
