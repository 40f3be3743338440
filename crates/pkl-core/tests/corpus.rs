//! Runs every program of the corpus and compares what comes out with its expectation.
//!
//! `PKL_CORPUS=classes/` in the environment runs only the cases whose names begin so.

use pkl_core::reader::{Allowed, FileReader};
use pkl_core::{Error, Evaluator, ModuleSource};
use pkl_corpus::{Case, Engine, Failure, NoVerdict, Outcome, Place, Produced, Render};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

struct Ours;

impl Engine for Ours {
    fn evaluate(&self, case: &Case, render: &Render) -> Result<Outcome, NoVerdict> {
        let options = &case.options;
        let mut properties = options.properties.clone();
        if let Render::Format(format) = render
            && format != "pcf"
        {
            properties.push(("pkl.outputFormat".to_owned(), format.clone()));
        }
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&log);
        let directory = case.directory();
        let module_path = options.module_path.iter().map(|path| directory.join(path)).collect();
        let files = match &options.root {
            Some(root) => FileReader::below(directory.join(root)),
            None => FileReader::new(),
        };
        let allowed = |patterns: &[String]| match patterns {
            [] => Allowed::All,
            patterns => Allowed::Prefixes(patterns.to_vec()),
        };
        let evaluator = Evaluator::builder()
            .files(files)
            .environment(options.environment.clone())
            .properties(properties)
            .module_path(module_path)
            .allowed_modules(allowed(&options.allowed_modules))
            .allowed_resources(allowed(&options.allowed_resources))
            .trace(Arc::new(move |line: &str| {
                let line = line.strip_prefix("pkl: ").unwrap_or(line).to_owned();
                sink.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }))
            .build();
        let module = ModuleSource::file(&case.path).map_err(|error| NoVerdict { reason: error.to_string() })?;
        let result = match render {
            Render::Format(_) => evaluator.output_bytes(&module).map(Produced::Text),
            Render::Files => evaluator.output_files(&module).map(|files| Produced::Files(files.into_iter().collect())),
            Render::Expression(expression) => evaluator
                .expression_text(&module, expression)
                .map(|text| Produced::Text(text.into_bytes())),
        };
        let result = result.map_err(|error| failure(&error, directory));
        let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Outcome { log, result })
    }
}

fn failure(error: &Error, directory: &Path) -> Failure {
    let prefix = format!("file://{}/", directory.display());
    let place = error.trace.iter().map(|frame| &frame.place).find_map(|place| {
        let file = place.uri.strip_prefix(prefix.as_str())?;
        Some(Place { file: file.to_owned(), line: place.line })
    });
    let hints = error.hint.iter().flat_map(|hint| hint.split("\n\n")).map(str::to_owned).collect();
    Failure { message: error.message.clone(), hints, place }
}

#[test]
fn every_program_of_the_corpus_comes_to_what_it_should() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let wanted = std::env::var("PKL_CORPUS").unwrap_or_default();
    let cases = pkl_corpus::discover(&root).expect("the corpus can be read");
    let cases: Vec<Case> = cases.into_iter().filter(|case| case.name.starts_with(&wanted)).collect();
    let total = cases.len();
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| pkl_corpus::verify(case, &Ours).err().map(|error| format!("--- {}: {error}", case.name)))
        .collect();
    assert!(failures.is_empty(), "{} of {total} cases differ\n{}", failures.len(), failures.join("\n"));
}
