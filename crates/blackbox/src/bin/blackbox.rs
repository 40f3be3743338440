//! Plays sequences, and says which broke an invariant.
//!
//! `blackbox --formwork PATH --plugin PATH [--sequences N] [--seed FIRST] [--jobs N] [--shrink] [--keep-going] [--show]`
//!
//! `--keep-going` plays on after a broken one, `--shrink` leaves steps out of it that it does not need, `--show` tells
//! of every sequence what was done.

use formwork_blackbox::{Report, Sequence, Stage, run, shrink};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: blackbox --formwork PATH --plugin PATH [--sequences N] [--seed FIRST] [--jobs N] [--shrink] [--keep-going] [--show]";
/// How often progress is shown.
const PROGRESS: Duration = Duration::from_secs(10);
/// How often a smaller sequence is tried that may be as bad.
const TRIES: u32 = 3;

struct Options {
    formwork: PathBuf,
    plugin: String,
    sequences: u64,
    first: u64,
    jobs: u64,
    shrinks: bool,
    keeps_going: bool,
    shows: bool,
}

fn options() -> Option<Options> {
    let (mut formwork, mut plugin) = (None, None);
    let mut options = Options {
        formwork: PathBuf::new(),
        plugin: String::new(),
        sequences: 100,
        first: 1,
        jobs: 2,
        shrinks: false,
        keeps_going: false,
        shows: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next()?.parse::<u64>().ok();
        match argument.as_str() {
            "--sequences" => options.sequences = number()?,
            "--seed" => options.first = number()?,
            "--jobs" => options.jobs = number()?.max(1),
            "--shrink" => options.shrinks = true,
            "--keep-going" => options.keeps_going = true,
            "--show" => options.shows = true,
            "--formwork" => formwork = Some(PathBuf::from(arguments.next()?)),
            "--plugin" => plugin = arguments.next(),
            _ => return None,
        }
    }
    (options.formwork, options.plugin) = (formwork?, plugin?);
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let stage = match Stage::set(&options.formwork, &options.plugin) {
        Ok(stage) => stage,
        Err(error) => {
            eprintln!("blackbox: {error}");
            return ExitCode::FAILURE;
        }
    };
    let broken = soak(&stage, &options);
    for report in &broken {
        let small = if options.shrinks { shrink(&stage, report, TRIES) } else { report.clone() };
        println!("{small}");
        println!("{:#?}", small.sequence);
    }
    if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays sequence after sequence on several threads; gives those that broke something.
fn soak(stage: &Stage, options: &Options) -> Vec<Report> {
    let began = Instant::now();
    let (next, done) = (AtomicU64::new(options.first), AtomicU64::new(0));
    let last = options.first.saturating_add(options.sequences);
    let stopping = AtomicBool::new(false);
    let shown = Mutex::new(began);
    let broken = Mutex::new(Vec::new());
    let work = || {
        while !stopping.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= last {
                return;
            }
            let report = run(stage, &Sequence::of(seed));
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if options.shows {
                println!("{report}");
            }
            if !report.violations.is_empty() {
                for violation in &report.violations {
                    eprintln!("seed {seed}: {violation}");
                }
                stopping.store(!options.keeps_going, Ordering::Relaxed);
                broken.lock().unwrap_or_else(PoisonError::into_inner).push(report);
            }
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            if shown.elapsed() > PROGRESS {
                *shown = Instant::now();
                eprintln!("{}", rate(done, began));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(work);
        }
    });
    println!("{}", rate(done.into_inner(), began));
    broken.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::cast_precision_loss, reason = "it is shown with two digits")]
fn rate(done: u64, began: Instant) -> String {
    let seconds = began.elapsed().as_secs_f64();
    format!("{done} sequences in {seconds:.0} s, {:.2} a second", done as f64 / seconds.max(0.001))
}
