//! What one evaluation of a case came to.

use crate::case::{Case, Render};
use crate::expectation::Expectation;
use std::path::Path;

/// What texts say instead of the case's directory.
const DIRECTORY: &str = "/case";

/// Something that evaluates cases: the official binary, or an evaluator under test.
pub trait Engine: Sync {
    /// Evaluates a case once.
    ///
    /// # Errors
    /// [`NoVerdict`] if what happened says nothing about the language.
    fn evaluate(&self, case: &Case, render: &Render) -> Result<Outcome, NoVerdict>;
}

/// An evaluation that can't be compared with: a crash, an internal error, a stack that was too small.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no verdict: {reason}")]
pub struct NoVerdict {
    /// What happened.
    pub reason: String,
}

/// The result of one evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What was logged: `trace` and warnings, a message each, in order.
    pub log: Vec<String>,
    /// The output, or why there is none.
    pub result: Result<Produced, Failure>,
}

/// The output of an evaluation, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Produced {
    /// One text.
    Text(Vec<u8>),
    /// Files by path with `/`, sorted.
    Files(Vec<(String, Vec<u8>)>),
}

/// An error as far as evaluators must agree on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// What is said before the first place, `Value:` included.
    pub message: String,
    /// Paragraphs after the first place: hints, candidates.
    pub hints: Vec<String>,
    /// Where it happened in the case's own files, innermost.
    pub place: Option<Place>,
}

/// A line of a file of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Path below the case's directory, with `/`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// Evaluates a case in all its ways; its directory, which engines name in full, becomes `/case`.
///
/// # Errors
/// [`NoVerdict`] as soon as one way gives none.
pub fn evaluate(engine: &dyn Engine, case: &Case) -> Result<Expectation, NoVerdict> {
    let mut runs = Vec::new();
    for render in &case.options.renders {
        let outcome = engine
            .evaluate(case, render)
            .map_err(|NoVerdict { reason }| NoVerdict { reason: format!("{render}: {reason}") })?;
        runs.push((render.to_string(), outcome.localised(case.directory())));
    }
    Ok(Expectation { runs })
}

impl Outcome {
    /// The same, with `/case` for the case's directory, which differs between machines.
    fn localised(self, directory: &Path) -> Self {
        let directory = directory.display().to_string();
        let text = |text: String| text.replace(&directory, DIRECTORY);
        let bytes = |bytes: Vec<u8>| match String::from_utf8(bytes) {
            Ok(bytes) => text(bytes).into_bytes(),
            Err(error) => error.into_bytes(),
        };
        let result = match self.result {
            Ok(Produced::Text(content)) => Ok(Produced::Text(bytes(content))),
            Ok(Produced::Files(files)) => {
                Ok(Produced::Files(files.into_iter().map(|(path, content)| (path, bytes(content))).collect()))
            }
            Err(failure) => Err(Failure {
                message: text(failure.message),
                hints: failure.hints.into_iter().map(text).collect(),
                place: failure.place,
            }),
        };
        Self { log: self.log.into_iter().map(text).collect(), result }
    }
}
