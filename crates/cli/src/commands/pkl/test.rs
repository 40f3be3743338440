//! `pkl test`: runs test modules, prints what came of them, and keeps their examples.

use super::PklError;
use super::host::Host;
use super::module::Module;
use super::output::{write_file, write_stdout};
use crate::args::{PklReports, PklTest};
use crate::exit::Exit;
use pkl_core::ModuleSource;
use pkl_core::reader::file_path;
use pkl_test::{Expected, ModuleResults, Tested, junit, report};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a report on all modules is called if nobody says so.
const AGGREGATE: &str = "pkl-tests";

/// Runs them.
///
/// # Errors
/// Nothing can be run, or what came of it can't be written.
pub(super) fn run(arguments: &PklTest) -> Result<Exit, PklError> {
    let host = Host::new(&arguments.host, &arguments.project, arguments.format.as_deref())?;
    let names =
        if arguments.modules.is_empty() { tests_of_project(&host)? } else { arguments.modules.clone() };
    let exit = run_modules(&host, &Module::all(&names, &host)?, &arguments.reports)?;
    host.keep_trees();
    Ok(exit)
}

/// Runs the tests of modules, and writes the reports that are asked for.
///
/// # Errors
/// What came of it can't be written.
pub(super) fn run_modules(host: &Host, modules: &[Module], reports: &PklReports) -> Result<Exit, PklError> {
    let mut all = Vec::new();
    let mut broken = false;
    for module in modules {
        match test(host, module, reports.overwrite) {
            Ok(results) => {
                let separator = if all.is_empty() { "" } else { "\n" };
                write_stdout("", format!("{separator}{}", report::module(&results)).as_bytes())?;
                all.push(results);
            }
            Err(error) => {
                broken = true;
                let name = crate::ui::text::lines(&shown(module.uri()));
                crate::ui::say(format_args!("Error evaluating module {name}:"));
                crate::ui::error::print_pkl(&error);
            }
        }
    }
    if let Some(directory) = &reports.junit_reports {
        broken |= !write_reports(reports, &host.directory.join(directory), &all)?;
    }
    write_stdout("", format!("\n{}\n", report::summary(&all)).as_bytes())?;
    let written: usize = all.iter().map(ModuleResults::written).sum();
    Ok(if all.iter().any(ModuleResults::has_failed) {
        Exit::Failed
    } else if broken || written > 0 {
        Exit::Untested
    } else {
        Exit::Done
    })
}

/// The tests that the project names.
fn tests_of_project(host: &Host) -> Result<Vec<String>, PklError> {
    let project = host.project.as_ref();
    let root = project.and_then(pkl_project::Project::directory);
    let tests = project.map_or(&[][..], |project| project.tests.as_slice());
    match root {
        Some(root) if !tests.is_empty() => {
            Ok(tests.iter().map(|test| root.join(test).display().to_string()).collect())
        }
        _ => Err(PklError::NoTests),
    }
}

/// A module as people know it: by its path, if it is a file.
fn shown(uri: &str) -> String {
    file_path(uri).map_or_else(|| uri.to_owned(), |path| path.display().to_string())
}

/// Runs the tests of a module, and writes its examples if there is something to write.
fn test(host: &Host, module: &Module, overwrite: bool) -> Result<ModuleResults, PklError> {
    let path = module.path();
    let beside =
        |ending: &str| path.as_ref().map(|path| PathBuf::from(format!("{}{ending}", path.display())));
    let (expected, actual) = (beside("-expected.pcf"), beside("-actual.pcf"));
    let text = match &expected {
        Some(path) if !overwrite => read_if_there(path)?,
        _ => None,
    };
    let uri = |path: &Option<PathBuf>| match path.as_ref().map(ModuleSource::file) {
        Some(Ok(ModuleSource::Uri(uri))) => uri,
        _ => module.uri().to_owned(),
    };
    let files = Expected { uri: uri(&expected), text, actual_uri: uri(&actual) };
    let tested = pkl_test::run(&host.evaluator, &module.source, &files);
    let tested = tested.map_err(|error| host.linked(error))?;
    keep(&tested, expected.as_deref(), actual.as_deref())?;
    Ok(tested.results)
}

fn read_if_there(path: &Path) -> Result<Option<String>, PklError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PklError::Read { name: path.display().to_string(), source }),
    }
}

/// Writes the examples, and removes what an earlier run has left.
fn keep(tested: &Tested, expected: Option<&Path>, actual: Option<&Path>) -> Result<(), PklError> {
    if let Some(path) = actual
        && let Err(source) = fs::remove_file(path)
        && source.kind() != io::ErrorKind::NotFound
    {
        return Err(PklError::Write { path: path.to_owned(), source });
    }
    for (text, path) in [(&tested.expected, expected), (&tested.actual, actual)] {
        if let (Some(text), Some(path)) = (text, path) {
            write_file(path, text.as_bytes())?;
        }
    }
    Ok(())
}

/// Writes the reports for other programs; whether each has a name of its own.
fn write_reports(reports: &PklReports, directory: &Path, all: &[ModuleResults]) -> Result<bool, PklError> {
    if reports.junit_aggregate_reports {
        let name = reports.junit_aggregate_suite_name.as_deref().unwrap_or(AGGREGATE);
        write_file(&directory.join(format!("{name}.xml")), junit::aggregate(name, all).as_bytes())?;
        return Ok(true);
    }
    let mut names = BTreeSet::new();
    for results in all {
        // Two modules may differ in nothing but what a file name can't tell.
        let name = results.module.replace('/', "_");
        if !names.insert(name.clone()) {
            crate::ui::say(format_args!(
                "Error evaluating module {}:\nCannot generate JUnit report for {}.\nA report with the same name was already generated.\n\nTo fix, provide a different name for this module by adding a module header.",
                crate::ui::text::lines(&shown(&results.uri)),
                crate::ui::text::lines(&results.uri)
            ));
            continue;
        }
        write_file(&directory.join(format!("{name}.xml")), junit::report(results).as_bytes())?;
    }
    Ok(names.len() == all.len())
}
