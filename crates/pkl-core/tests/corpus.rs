//! The corpus (`tests/corpus/README.md`) under our evaluator.
//!
//! `tests/corpus/pending.txt` lists the cases that still differ. A case that isn't in it must meet its
//! expectation; with `PKL_CORPUS=write` the list is written anew, and with `PKL_CORPUS=<part of a name>`
//! only those cases run, and what differs is shown.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pkl_core::reader::{Allowed, FileReader};
use pkl_core::{Error, Evaluator, EvaluatorBuilder, ModuleSource};
use pkl_corpus::{Case, Engine, Failure, NoVerdict, Outcome, Place, Produced, Render};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What the official binary allows to read if nothing is said.
const DEFAULT_RESOURCES: [&str; 7] =
    ["prop:", "env:", "file:", "modulepath:", "package:", "projectpackage:", "https:"];

struct Ours;

impl Engine for Ours {
    fn evaluate(&self, case: &Case, render: &Render) -> Result<Outcome, NoVerdict> {
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&log);
        let builder = builder(case, render).trace(Arc::new(move |line: &str| {
            sink.lock().unwrap().push(line.to_owned());
        }));
        let evaluated = catch_unwind(AssertUnwindSafe(|| produce(&builder.build(), case, render)));
        let result = evaluated.map_err(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            NoVerdict { reason: format!("panicked: {text}") }
        })?;
        let log = log.lock().unwrap().clone();
        Ok(Outcome { log, result: result.map_err(|error| failure(&error, case.directory())) })
    }
}

fn builder(case: &Case, render: &Render) -> EvaluatorBuilder {
    let options = &case.options;
    let files = match &options.root {
        Some(root) => FileReader::below(case.directory().join(root)),
        None => FileReader::new(),
    };
    let mut properties = options.properties.clone();
    if let Render::Format(format) = render {
        properties.push(("pkl.outputFormat".to_owned(), format.clone()));
    }
    let directories = options.module_path.iter().map(|path| case.directory().join(path)).collect();
    let resources = if options.allowed_resources.is_empty() {
        DEFAULT_RESOURCES.map(str::to_owned).to_vec()
    } else {
        options.allowed_resources.clone()
    };
    let mut builder = Evaluator::builder()
        .files(files)
        .environment(options.environment.clone())
        .properties(properties)
        .module_path(directories)
        .allowed_resources(Allowed::patterns(resources).expect("a case has patterns"));
    if !options.allowed_modules.is_empty() {
        let allowed = Allowed::patterns(&options.allowed_modules).expect("a case has patterns");
        builder = builder.allowed_modules(allowed);
    }
    builder
}

fn produce(evaluator: &Evaluator, case: &Case, render: &Render) -> Result<Produced, Error> {
    let module = ModuleSource::file(&case.path).expect("a case has an absolute path");
    match render {
        Render::Format(_) => evaluator.output_bytes(&module).map(Produced::Text),
        Render::Expression(text) => {
            evaluator.expression_text(&module, text).map(|text| Produced::Text(text.into_bytes()))
        }
        Render::Files => evaluator.output_files(&module).map(|mut files| {
            files.sort();
            Produced::Files(files)
        }),
    }
}

fn failure(error: &Error, directory: &Path) -> Failure {
    let place = error.user_place().and_then(|place| {
        let file = place.uri.strip_prefix("file://")?.strip_prefix(directory.to_str()?)?.strip_prefix('/')?;
        Some(Place { file: file.to_owned(), line: place.line })
    });
    let hints = error.hint.iter().flat_map(|hint| hint.split("\n\n")).map(|hint| hint.trim().to_owned());
    Failure { message: error.message.trim_end().to_owned(), hints: hints.collect(), place }
}

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
