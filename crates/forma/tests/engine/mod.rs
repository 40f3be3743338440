//! Our evaluator as the corpus knows evaluators.

use pkl_core::reader::FileReader;
use pkl_core::{Error, Evaluator, ModuleSource};
use pkl_corpus::{Case, Engine, Failure, NoVerdict, Outcome, Place, Produced, Render};
use std::path::Path;
use std::sync::{Arc, Mutex};

pub(crate) struct Ours;

impl Engine for Ours {
    fn evaluate(&self, case: &Case, render: &Render) -> Result<Outcome, NoVerdict> {
        let Render::Format(format) = render else {
            return Err(NoVerdict { reason: "these cases are of one text each".to_owned() });
        };
        let mut properties = case.options.properties.clone();
        properties.push(("pkl.outputFormat".to_owned(), format.clone()));
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&log);
        let builder = Evaluator::builder()
            .files(FileReader::new())
            .properties(properties)
            .trace(Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned())));
        let evaluator = formwork_forma::library::add_to(builder).build();
        let module = ModuleSource::file(&case.path).expect("a case has an absolute path");
        let result = evaluator
            .output_bytes(&module)
            .map(Produced::Text)
            .map_err(|error| failure(&error, case.directory()));
        let log = log.lock().unwrap().clone();
        Ok(Outcome { log, result })
    }
}

fn failure(error: &Error, directory: &Path) -> Failure {
    // The innermost place in the case's own files: what is above them is the package's.
    let place = error.trace.iter().map(|frame| &frame.place).find_map(|place| {
        let file = place.uri.strip_prefix("file://")?.strip_prefix(directory.to_str()?)?.strip_prefix('/')?;
        Some(Place { file: file.to_owned(), line: place.line })
    });
    let hints = error.hint.iter().flat_map(|hint| hint.split("\n\n")).map(|hint| hint.trim().to_owned());
    Failure { message: error.message.trim_end().to_owned(), hints: hints.collect(), place }
}
