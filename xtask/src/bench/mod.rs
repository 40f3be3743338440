//! The figures of `docs/performance.md`: whole processes and the crates' own bench programs, in
//! release builds, the median of several runs. Measured, never asserted.

mod every_type;
pub(crate) mod pkl;

use crate::{TaskError, output, root};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The bench programs, with what they measure.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("formwork-formation", "lower_bench", "Reading, checking and lowering templates"),
    ("formwork-planner", "plan_bench", "Planning"),
    ("formwork-store", "store_bench", "The store"),
    ("formwork-engine", "apply_bench", "Applying: wide, chain, memory, recovery"),
    ("formwork-plugin-host", "process_bench", "Calls to the process of a plugin"),
];
const RUNS: usize = 21;
const RUNS_OF_DEPLOYS: usize = 5;
const BEGIN: &str = "<!-- figures: begin -->\n";
const END: &str = "<!-- figures: end -->\n";

/// Measures everything; `write` puts it into the document.
pub(crate) fn run(write: bool) -> Result<(), TaskError> {
    let mut report = String::new();
    processes(&mut report)?;
    for (package, example, title) in PROGRAMS {
        eprintln!("xtask: {package} {example}");
        let arguments = ["run", "--quiet", "--release", "--locked", "-p", package, "--example", example];
        let figures = output("cargo", &arguments)?;
        let _ = write!(
            report,
            "\n## {title}\n\n`cargo {}`\n\n```text\n{}\n```\n",
            arguments.join(" "),
            figures.trim_end()
        );
    }
    print!("{report}");
    if write {
        insert_between(BEGIN, END, &report)?;
    }
    Ok(())
}

fn processes(report: &mut String) -> Result<(), TaskError> {
    eprintln!("xtask: whole processes");
    output("cargo", &["build", "--quiet", "--release", "--locked", "-p", "formwork"])?;
    let binary = root().join("target/release/formwork").display().to_string();
    let home = home()?;
    let template = "examples/support-bot/formation.yaml";
    report.push_str("## Whole processes\n\n| command | median | fastest |\n|---|---|---|\n");
    for (title, arguments) in [
        ("`formwork --help`", vec!["--help"]),
        (
            "`formwork validate-formation` of the example",
            vec!["validate-formation", "--template-file", template],
        ),
        (
            "`formwork plan-formation` of the example, no store",
            vec!["plan-formation", "--template-file", template, "--progress", "none"],
        ),
    ] {
        let mut times =
            (0..RUNS).map(|_| once(&binary, &arguments, home.path())).collect::<Result<Vec<_>, _>>()?;
        times.sort_unstable();
        let _ = writeln!(report, "| {title} | {} | {} |", millis(times[RUNS / 2]), millis(times[0]));
    }
    every_type::measure(report, &binary)
}

/// A home directory in which nothing was ever done.
fn home() -> Result<tempfile::TempDir, TaskError> {
    tempfile::tempdir().map_err(|source| TaskError::File { path: "temporary directory".to_owned(), source })
}

fn once(binary: &str, arguments: &[&str], home: &Path) -> Result<Duration, TaskError> {
    run_in(Path::new(binary), arguments, &root(), home).map(|(_, took)| took)
}

/// Runs a command that must succeed; answers with what it wrote and how long it took.
fn run_in(
    binary: &Path,
    arguments: &[&str],
    directory: &Path,
    home: &Path,
) -> Result<(Vec<u8>, Duration), TaskError> {
    let command = || format!("{} {}", binary.display(), arguments.join(" "));
    let started = Instant::now();
    let ran = Command::new(binary)
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| TaskError::Run { command: command(), source })?;
    let took = started.elapsed();
    if ran.status.success() {
        return Ok((ran.stdout, took));
    }
    let stderr = format!("{}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr));
    Err(TaskError::Failed { command: command(), stderr })
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Puts a report between its markers in the document.
fn insert_between(begin: &str, end: &str, report: &str) -> Result<(), TaskError> {
    let path = root().join("docs/performance.md");
    let failed = |source| TaskError::File { path: path.display().to_string(), source };
    let page = std::fs::read_to_string(&path).map_err(failed)?;
    let (Some(at), Some(until)) = (page.find(begin), page.find(end)) else {
        return Err(failed(std::io::Error::other("the markers for the figures are missing")));
    };
    let page = format!("{}{}{}", &page[..at + begin.len()], report, &page[until..]);
    std::fs::write(&path, page).map_err(failed)
}
