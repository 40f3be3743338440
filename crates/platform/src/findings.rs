//! What a check finds, with both codes: the diagnostic's and the wire's.

use formwork_model::{Diagnostic, DiagnosticCode, Diagnostics, Json, Path, Severity, WireCode};
use formwork_store::DomainError;
use serde_json::{Map, json};

/// A refusal: nothing was changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: WireCode,
    pub(crate) message: String,
    pub(crate) meta: Option<Json>,
}

impl Refusal {
    pub(crate) fn new(code: WireCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), meta: None }
    }

    pub(crate) fn meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl From<Refusal> for DomainError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused { code: refusal.code.as_str().to_owned(), message: refusal.message, meta: refusal.meta }
    }
}

/// What a check found, in order. Paths are relative to the properties.
#[derive(Default)]
pub(crate) struct Findings {
    list: Vec<(WireCode, Diagnostic)>,
}

impl Findings {
    /// An error that the wire calls `VALIDATION_FAILED`.
    pub(crate) fn error(&mut self, code: DiagnosticCode, path: Path, message: impl Into<String>) {
        self.coded(WireCode::ValidationFailed, code, path, message);
    }

    /// An error with a wire code of its own.
    pub(crate) fn coded(
        &mut self,
        wire: WireCode,
        code: DiagnosticCode,
        path: Path,
        message: impl Into<String>,
    ) {
        self.add(wire, Diagnostic::error(code, path, message));
    }

    /// A property that must be there and is not.
    pub(crate) fn missing(&mut self, name: &str) {
        self.error(DiagnosticCode::MissingProperty, Path::of([name]), format!("`{name}` is required"));
    }

    /// What was found, in full.
    pub(crate) fn add(&mut self, wire: WireCode, diagnostic: Diagnostic) {
        self.list.push((wire, diagnostic));
    }

    pub(crate) fn warning(&mut self, code: DiagnosticCode, path: Path, message: impl Into<String>) {
        self.list.push((WireCode::ValidationFailed, Diagnostic::warning(code, path, message)));
    }

    pub(crate) fn into_diagnostics(self) -> impl Iterator<Item = Diagnostic> {
        self.list.into_iter().map(|(_, diagnostic)| diagnostic)
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.list.iter().any(|(_, found)| found.severity == Severity::Error)
    }

    /// The refusal that the errors amount to: the first one's code and message, and all as details, as
    /// far as anybody would read them.
    pub(crate) fn refuse(self) -> Result<(), Refusal> {
        let mut errors = self.list.iter().filter(|(_, found)| found.severity == Severity::Error);
        let Some((code, first)) = errors.next() else { return Ok(()) };
        let refusal = Refusal::new(*code, first.message.clone());
        Err(refusal.meta(Json::Object(self.facts())))
    }

    /// The errors as the facts of a refusal.
    pub(crate) fn facts(self) -> Map<String, Json> {
        let mut errors = Diagnostics::default();
        errors.extend(self.into_diagnostics().filter(|found| found.severity == Severity::Error));
        let details = errors.iter().map(detail).collect();
        let mut facts = Map::from_iter([("details".to_owned(), Json::Array(details))]);
        if errors.left_out() > 0 {
            facts.insert("left_out".to_owned(), errors.left_out().into());
        }
        facts
    }
}

fn detail(found: &Diagnostic) -> Json {
    let mut detail = json!({ "path": found.path.to_string(), "code": found.code, "message": found.message });
    if let Some(hint) = &found.hint {
        detail["hint"] = json!(hint);
    }
    detail
}
