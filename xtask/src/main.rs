//! Project tasks.
//!
//! - `cargo xtask docs` writes the documents that are generated from the code, and the code that is generated from
//!   `plugin.proto`;
//! - `cargo xtask check` says whether they are what they are made from says;
//! - `cargo xtask bench` measures the figures of `docs/performance.md` (`--write` puts them there), `cargo xtask
//!   bench pkl` those of Pkl programs, beside the official evaluator;
//! - `cargo xtask corpus bless | check [--oracle <path>] [<part of a name>…]` writes the expectations of the
//!   Pkl corpus from the official binary, or compares with it; `corpus hashes <packages>` prints what the
//!   metadata of its packages hash to;
//! - `cargo xtask blackbox [--sequences N] [--seed FIRST] [--jobs N] [--shrink] [--keep-going] [--show]` plays random
//!   sequences of commands, kills and failures against release builds;
//! - `cargo xtask mutants [--programs N]` proves that the generator of Pkl programs finds bugs of the evaluator.

mod bench;
mod blackbox;
mod docs;
mod protocol;
mod wire;

use std::process::ExitCode;

/// Why a task failed.
#[derive(Debug, thiserror::Error)]
enum TaskError {
    #[error("cannot read or write `{path}`: {source}")]
    File { path: String, source: std::io::Error },
    #[error("cannot run `{command}`: {source}")]
    Run { command: String, source: std::io::Error },
    #[error("`{command}` failed: {stderr}")]
    Failed { command: String, stderr: String },
    #[error("{} generated file(s) are not what the code says: {}\nrun `cargo xtask docs`", .0.len(), .0.join(", "))]
    Stale(Vec<String>),
    #[error(transparent)]
    Oracle(#[from] pkl_corpus::OracleError),
    #[error(transparent)]
    Proto(#[from] protox::Error),
    #[error(transparent)]
    Corpus(#[from] pkl_corpus::CommandError),
    #[error(
        "usage: cargo xtask docs | check | bench [pkl] [--write] | blackbox | corpus bless | corpus check | mutants"
    )]
    Usage,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["docs"] => docs::write(),
        ["check"] => docs::check(),
        ["bench"] => bench::run(false),
        ["bench", "--write"] => bench::run(true),
        ["bench", "pkl"] => bench::pkl::run(false),
        ["bench", "pkl", "--write"] => bench::pkl::run(true),
        ["blackbox", rest @ ..] => blackbox::run(rest),
        ["mutants", rest @ ..] => mutants(rest),
        ["corpus", rest @ ..] => pkl_corpus::run(&root(), rest).map_err(TaskError::Corpus),
        _ => Err(TaskError::Usage),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the generator with the deliberate bugs, which nothing else turns on, and lets it look for them.
fn mutants(arguments: &[&str]) -> Result<(), TaskError> {
    let mut command =
        vec!["run", "--quiet", "--release", "-p", "pkl-gen", "--features", "mutants", "mutants"];
    command.extend(arguments);
    output("cargo", &command).map(|report| print!("{report}"))
}

/// The root of the workspace.
fn root() -> std::path::PathBuf {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or_else(|| manifest.to_owned(), std::path::Path::to_owned)
}

/// Runs a command in the workspace and gives its stdout.
fn output(program: &str, arguments: &[&str]) -> Result<String, TaskError> {
    let command = || format!("{program} {}", arguments.join(" "));
    let ran = std::process::Command::new(program).args(arguments).current_dir(root()).output();
    let ran = ran.map_err(|source| TaskError::Run { command: command(), source })?;
    if !ran.status.success() {
        return Err(TaskError::Failed {
            command: command(),
            stderr: String::from_utf8_lossy(&ran.stderr).into_owned(),
        });
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}
