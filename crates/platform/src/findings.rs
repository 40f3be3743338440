//! What a check finds, with both codes: the diagnostic's and the wire's.

use formwork_model::{Diagnostic, DiagnosticCode, Json, Path, Severity, WireCode};
use formwork_store::DomainError;
use serde_json::json;

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

    /// The refusal that the errors amount to: the first one's code and message, all as details.
    pub(crate) fn refuse(self) -> Result<(), Refusal> {
        let errors: Vec<_> =
            self.list.into_iter().filter(|(_, found)| found.severity == Severity::Error).collect();
        let Some((code, first)) = errors.first() else { return Ok(()) };
        let details: Vec<Json> = errors
            .iter()
            .map(|(_, found)| {
                let mut detail = json!({
                    "path": found.path.to_string(), "code": found.code, "message": found.message,
                });
                if let Some(hint) = &found.hint {
                    detail["hint"] = json!(hint);
                }
                detail
            })
            .collect();
        Err(Refusal::new(*code, first.message.clone()).meta(json!({ "details": details })))
    }
}
