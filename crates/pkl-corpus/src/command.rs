//! The commands `bless` and `check`.

use crate::case::{Case, CaseError, discover};
use crate::expectation::Expectation;
use crate::oracle::{Oracle, OracleError};
use crate::outcome::{Engine, NoVerdict, evaluate};
use crate::packages::fill_cache;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// At most one in so many cases may be `ours`.
const CASES_FOR_ONE_OF_OURS: usize = 20;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A word of the command line means nothing.
    #[error("usage: corpus bless | check [--oracle <path>] [<part of a name>…] | hashes <packages>")]
    Usage,
    /// Packages can't be read.
    #[error("cannot read the packages: {0}")]
    Packages(#[from] std::io::Error),
    /// A case can't be read.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// No case has such a name.
    #[error("no case has a name like that")]
    NothingChosen,
    /// There is nothing to compare with.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// Cases are not as they must be; each has been told.
    #[error("{0} of {1} cases are not as they must be")]
    Cases(usize, usize),
}

/// What to do with the cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Write the expectations.
    Bless,
    /// Compare with the expectations.
    Check,
}

/// Carries a command out: `bless` or `check`, with options, in the workspace `root`; or `hashes`, which prints
/// what the metadata of the packages in a directory hash to.
///
/// # Errors
/// [`CommandError`], after each case that is not as it must be has been told on stderr.
pub fn run(root: &Path, arguments: &[&str]) -> Result<(), CommandError> {
    if let ["hashes", packages] = arguments {
        for (package, hash) in fill_cache(Path::new(packages), tempfile::tempdir()?.path())? {
            println!("{hash} {package}");
        }
        return Ok(());
    }
    let (task, oracle, filters) = parse(arguments)?;
    let oracle = match oracle {
        Some(path) => Oracle::at(&path)?,
        None => Oracle::find(root)?,
    };
    let corpus = root.join("crates/pkl-core/tests/corpus");
    let cases = discover(&corpus)?;
    let ours = cases.iter().filter(|case| case.options.ours.is_some()).count();
    let chosen: Vec<&Case> = cases
        .iter()
        .filter(|case| filters.iter().all(|filter| case.name.contains(filter.trim_end_matches(".pkl"))))
        .collect();
    if chosen.is_empty() {
        return Err(CommandError::NothingChosen);
    }
    let mut failed = run_all(&chosen, task, &oracle);
    if filters.is_empty() && ours * CASES_FOR_ONE_OF_OURS > cases.len() {
        eprintln!(
            "{ours} of {} cases are `ours`: at most one in {CASES_FOR_ONE_OF_OURS} may be",
            cases.len()
        );
        failed += 1;
    }
    if failed == 0 {
        let count = chosen.len();
        eprintln!("{count} passed, 0 failed");
        Ok(())
    } else {
        Err(CommandError::Cases(failed, chosen.len()))
    }
}

fn parse<'a>(arguments: &[&'a str]) -> Result<(Task, Option<PathBuf>, Vec<&'a str>), CommandError> {
    let (task, mut rest) = match arguments.split_first() {
        Some((&"bless", rest)) => (Task::Bless, rest),
        Some((&"check", rest)) => (Task::Check, rest),
        _ => return Err(CommandError::Usage),
    };
    let mut oracle = None;
    if let Some((&"--oracle", after)) = rest.split_first() {
        let (path, after) = after.split_first().ok_or(CommandError::Usage)?;
        oracle = Some(PathBuf::from(path));
        rest = after;
    }
    if rest.iter().any(|filter| filter.starts_with('-')) {
        return Err(CommandError::Usage);
    }
    Ok((task, oracle, rest.to_vec()))
}

/// Does a task for all cases, on all cores, and gives how many failed.
fn run_all(cases: &[&Case], task: Task, oracle: &Oracle) -> usize {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(told) = do_one(case, task, oracle) {
                        let mut failures = failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        failures.push((case.name.as_str(), told));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failures.sort();
    for (name, told) in &failures {
        eprintln!("{name}: {told}");
    }
    failures.len()
}

fn do_one(case: &Case, task: Task, oracle: &dyn Engine) -> Result<(), String> {
    if task == Task::Bless && case.options.ours.is_some() {
        return Ok(());
    }
    let actual = evaluate(oracle, case).map(|expectation| expectation.to_string());
    let path = case.expected_path();
    let expected = std::fs::read_to_string(&path).ok();
    if let Some(text) = &expected {
        text.parse::<Expectation>().map_err(|error| format!("{}: {error}", path.display()))?;
    }
    match (task, case.options.ours.is_some(), actual) {
        (_, true, actual) => check_ours(expected, actual),
        (_, false, Err(NoVerdict { reason })) => {
            Err(format!("the official binary gave no verdict: {reason}"))
        }
        (Task::Bless, false, Ok(actual)) if expected.as_ref() == Some(&actual) => Ok(()),
        (Task::Bless, false, Ok(actual)) => {
            std::fs::write(&path, actual).map_err(|error| format!("cannot write {}: {error}", path.display()))
        }
        (Task::Check, false, Ok(actual)) => match expected {
            None => Err("has no expectation: bless it".to_owned()),
            Some(expected) if expected == actual => Ok(()),
            Some(expected) => Err(format!("differs\n{}", difference(&expected, &actual))),
        },
    }
}

/// Compares an evaluator's outcomes with the expectation of a case; `ours` or not, it must meet it.
/// Where the official binary tells no place of an error, any place is fine.
///
/// # Errors
/// What differs, as a text for a person.
pub fn verify(case: &Case, engine: &dyn Engine) -> Result<(), String> {
    let path = case.expected_path();
    let expected = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let wanted: Expectation = expected.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    let mut actual = evaluate(engine, case).map_err(|no_verdict| no_verdict.to_string())?;
    actual.forget_places_unknown_to(&wanted);
    if wanted == actual {
        Ok(())
    } else {
        Err(format!("differs\n{}", difference(&expected, &actual.to_string())))
    }
}

fn check_ours(expected: Option<String>, actual: Result<String, NoVerdict>) -> Result<(), String> {
    match (expected, actual) {
        (None, _) => Err("is `ours` and needs an expectation written by hand".to_owned()),
        (Some(expected), Ok(actual)) if expected == actual => {
            Err("is marked `ours`, but the official binary agrees".to_owned())
        }
        _ => Ok(()),
    }
}

/// The lines that differ, for a person.
fn difference(expected: &str, actual: &str) -> String {
    similar::TextDiff::from_lines(expected, actual)
        .unified_diff()
        .header("expected", "actual")
        .context_radius(2)
        .to_string()
}
