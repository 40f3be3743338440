//! The constraints of a parameter's declaration: their own form, and whether the default fits them.

use super::Checker;
use crate::constraint::{Constraints, MOST_PATTERNS, Pattern};
use crate::item::Item;
use formwork_model::{Diagnostic, DiagnosticCode, Json, Path};
use std::collections::HashSet;
use std::sync::Arc;

/// The declared constraints of one parameter.
pub(super) struct Section<'a> {
    pub(super) allowed_values: Option<Item<'a>>,
    pub(super) pattern: Option<Item<'a>>,
    pub(super) min_length: Option<Item<'a>>,
    pub(super) max_length: Option<Item<'a>>,
}

impl Checker<'_> {
    pub(super) fn constraints(&mut self, section: &Section<'_>, path: &Path) -> Constraints {
        let constraints = Constraints {
            allowed_values: self.allowed_values(section.allowed_values, path),
            pattern: self.pattern(section.pattern, path),
            min_length: self.length(section.min_length, path, "min_length"),
            max_length: self.length(section.max_length, path, "max_length"),
        };
        if let (Some(least), Some(most), Some(item)) =
            (constraints.min_length, constraints.max_length, section.min_length)
            && least > most
        {
            let message = format!("`min_length` is {least}, but `max_length` is {most}");
            self.error(item.span(), DiagnosticCode::InvalidValue, path.key("min_length"), message);
        }
        constraints
    }

    fn allowed_values(&mut self, declared: Option<Item<'_>>, path: &Path) -> Vec<Arc<str>> {
        let Some(declared) = declared else { return Vec::new() };
        let path = path.key("allowed_values");
        let Some(entries) = declared.value.as_array() else {
            let message = "`allowed_values` must be an array of strings";
            self.error(declared.span(), DiagnosticCode::WrongType, path, message);
            return Vec::new();
        };
        if entries.is_empty() {
            let message = "`allowed_values` must have at least one value";
            self.error(declared.span(), DiagnosticCode::InvalidValue, path, message);
            return Vec::new();
        }
        let mut seen = HashSet::with_capacity(entries.len());
        let mut values = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let entry = declared.element(index, entry);
            let Json::String(text) = entry.value else {
                let message = "Each of `allowed_values` must be a string";
                let mut wrong = Diagnostic::error(DiagnosticCode::WrongType, path.index(index), message);
                if matches!(entry.value, Json::Number(_) | Json::Bool(_)) {
                    wrong = wrong.hint("quote it");
                }
                self.report.push(entry.span(), wrong);
                continue;
            };
            if seen.insert(text.as_str()) {
                values.push(text.as_str().into());
            } else {
                let message = "This value is there twice";
                self.error(entry.span(), DiagnosticCode::InvalidValue, path.index(index), message);
            }
        }
        values
    }

    fn pattern(&mut self, declared: Option<Item<'_>>, path: &Path) -> Option<Pattern> {
        let declared = declared?;
        let text = self.text(Some(declared), path, "pattern")?;
        self.patterns += 1;
        let pattern = if self.patterns > MOST_PATTERNS {
            Err(format!("A template can have at most {MOST_PATTERNS} patterns"))
        } else {
            Pattern::new(&text)
                .map_err(|why| format!("`pattern` is no regular expression that can be used: {why}"))
        };
        match pattern {
            Ok(pattern) => Some(pattern),
            Err(message) => {
                self.error(declared.span(), DiagnosticCode::InvalidValue, path.key("pattern"), message);
                None
            }
        }
    }

    fn length(&mut self, declared: Option<Item<'_>>, path: &Path, key: &'static str) -> Option<u64> {
        let declared = declared?;
        let length = declared.value.as_u64();
        if length.is_none() {
            let message = format!("`{key}` must be a whole number, 0 or more");
            let code = if declared.value.is_number() {
                DiagnosticCode::InvalidValue
            } else {
                DiagnosticCode::WrongType
            };
            self.error(declared.span(), code, path.key(key), message);
        }
        length
    }

    /// Reports what a default violates. A sensitive one is in no message, as no value of it is.
    pub(super) fn default_fits(
        &mut self,
        name: &str,
        default: Item<'_>,
        constraints: &Constraints,
        no_echo: bool,
        path: &Path,
    ) {
        let Json::String(text) = default.value else { return };
        for violation in constraints.violations(text, no_echo) {
            let message = format!("The default of parameter '{name}' {violation}");
            self.error(default.span(), DiagnosticCode::InvalidValue, path.key("default"), message);
        }
    }
}
