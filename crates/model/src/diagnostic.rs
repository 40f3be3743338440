//! Errors as data: what, where, and what to do.

use crate::{DiagnosticCode, Path, Place};
use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing may be deployed.
    Error,
    /// Worth a look; nothing is refused.
    Warning,
}

/// One thing that is wrong, with its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What kind.
    pub code: DiagnosticCode,
    /// One sentence, with names in backquotes or quotes as the seed writes them.
    pub message: String,
    /// Where in the value (`resources.Bot.properties.nmae`).
    pub path: Path,
    /// Where in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What would fix it ("did you mean `name`?"), shown under the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Further facts (`allowed: a, b, c`), one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Other places that belong to it: the edges of a cycle, a first definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
}

/// Another place that a diagnostic speaks of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Related {
    /// What is there.
    pub message: String,
    /// Where.
    pub place: Place,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: DiagnosticCode, path: Path, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, path, message.into())
    }

    /// A warning.
    pub fn warning(code: DiagnosticCode, path: Path, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, path, message.into())
    }

    fn new(severity: Severity, code: DiagnosticCode, path: Path, message: String) -> Self {
        Self {
            severity,
            code,
            message: cut(message),
            path,
            place: None,
            hint: None,
            notes: Vec::new(),
            related: Vec::new(),
        }
    }

    /// With the place it has in the source.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }

    /// With what would fix it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With a further fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With another place.
    #[must_use]
    pub fn related(mut self, message: impl Into<String>, place: Option<Place>) -> Self {
        self.related.extend(place.map(|place| Related { message: message.into(), place }));
        self
    }
}

/// The most characters of a message. One that quotes what it was given ends before it repeats it all.
const LONGEST_MESSAGE: usize = 1000;

fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
        message.truncate(end);
        message.push('…');
    }
    message
}

/// A bounded collection of diagnostics: the first hundred errors and the first hundred warnings, and how
/// many more there were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    left_out: usize,
}

impl Diagnostics {
    /// The most errors, and the most warnings, that are kept: nobody reads more at once.
    pub const MOST: usize = 100;

    /// Adds one; past the bound it is only counted. Warnings never keep an error out.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = match diagnostic.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if *count <= Self::MOST {
            self.list.push(diagnostic);
        } else {
            self.left_out += 1;
        }
    }

    /// Whether there is an error among them.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many errors, those left out included.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// How many were left out.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// All that were kept, in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning)
    }

    /// Fills in missing places by `locate`.
    pub fn locate(&mut self, mut locate: impl FnMut(&Diagnostic) -> Option<Place>) {
        for diagnostic in &mut self.list {
            if diagnostic.place.is_none() {
                diagnostic.place = locate(diagnostic);
            }
        }
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_kind_are_kept_and_the_others_counted() {
        let mut found = Diagnostics::default();
        let one = |make: fn(DiagnosticCode, Path, String) -> Diagnostic, number: usize| {
            make(DiagnosticCode::InvalidValue, Path::root(), number.to_string())
        };
        found.extend((0..150).map(|number| one(Diagnostic::warning, number)));
        found.extend((0..120).map(|number| one(Diagnostic::error, number)));
        assert_eq!((found.warnings().count(), found.errors().count(), found.left_out()), (100, 100, 70));
        assert_eq!(found.error_count(), 120);
        assert_eq!(found.errors().last().map(|last| last.message.as_str()), Some("99"));
    }

    #[test]
    fn a_message_that_repeats_a_long_value_is_cut() {
        let message = format!("unknown node '{}'", "é".repeat(5000));
        let found = Diagnostic::error(DiagnosticCode::UnknownReference, Path::root(), message);
        assert_eq!(found.message.chars().count(), LONGEST_MESSAGE + 1);
        assert!(found.message.ends_with("é…"));
    }
}
