//! What is wrong, said where it is made.

use super::{Stop, Walk};
use formwork_model::{Diagnostic, DiagnosticCode, Path, Place, Span};
use pkl_core::{Error, ErrorCode};

/// The most lines of an error that follow its first.
const MOST_NOTES: usize = 6;

impl Walk<'_, '_, '_> {
    /// What an evaluation gave; an error is reported where it happened.
    pub(super) fn evaluated<T>(&mut self, result: Result<T, Error>, at: Span) -> Result<Option<T>, Stop> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.failed(&error, at).map(|()| None),
        }
    }

    /// The same for what stops at an error by itself.
    pub(super) fn recovered<T>(&mut self, result: Result<T, Stop>, at: Span) -> Result<Option<T>, Stop> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Evaluate(error)) => self.failed(&error, at).map(|()| None),
            Err(stop) => Err(stop),
        }
    }

    fn failed(&mut self, error: &Error, at: Span) -> Result<(), Stop> {
        if error.code == ErrorCode::LimitExceeded {
            return Err(Stop::Evaluate(Box::new(error.clone())));
        }
        let (happened, is_own) = match self.sources.place_of(self.session, error) {
            Some((place, is_own)) => (Some(place), is_own),
            None => (None, false),
        };
        // A value that is not of its type is wrong where it is given, and one that is missing where it is to be
        // given; where the vocabulary refuses something, its own lines say nothing.
        let words = match error.code {
            ErrorCode::TypeMismatch | ErrorCode::ConstraintViolated => Some("demanded here"),
            ErrorCode::UndefinedValue => Some("declared here"),
            _ => None,
        };
        let (place, related, words) = match (happened, self.place(at), words) {
            (happened, Some(reached), Some(words)) => (Some(reached), happened.filter(|_| is_own), words),
            (happened @ Some(_), reached, None) if is_own => (happened, reached, "for this"),
            (happened, reached, _) => (reached.or(happened), None, ""),
        };
        let hint = error.hint.iter().flat_map(|hint| hint.lines());
        let mut lines = error.message.trim_end().lines().chain(hint);
        let message = lines.next().unwrap_or_default();
        let mut diagnostic = Diagnostic::error(DiagnosticCode::EvaluationFailed, Path::root(), message);
        for line in lines.map(str::trim).filter(|line| !line.is_empty()).take(MOST_NOTES) {
            diagnostic = diagnostic.note(line);
        }
        let related = related.filter(|related| Some(related) != place.as_ref());
        self.push(diagnostic.at(place).related(words, related));
        Ok(())
    }

    pub(super) fn report(&mut self, at: Span, code: DiagnosticCode, message: impl Into<String>) {
        let place = self.place(at);
        self.push(Diagnostic::error(code, Path::root(), message).at(place));
    }

    /// Adds what was found, once: one mistake may be met on many ways.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if self.reported.insert((diagnostic.place.clone(), diagnostic.message.clone())) {
            self.found.push(diagnostic);
        }
    }

    /// A span as a place; no place for what has none.
    pub(super) fn place(&self, span: Span) -> Option<Place> {
        if span == Span::default() {
            return None;
        }
        let file = self.sources.file(span)?;
        let (line, column) = file.line_column(span.start);
        let (end_line, end_column) = file.line_column(span.end.max(span.start));
        Some(Place { file: file.name.clone(), line, column, end_line, end_column })
    }
}
