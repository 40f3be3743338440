//! Policy documents (`formations-behaviour.md` §6.4), for policies and for an agent's boundary
//! alike: read by the one reader that decisions are made by, `formwork-iam`'s.

use crate::{Findings, Node};
use formwork_iam::{Look, ViolationKind, check_document};
use formwork_model::{Diagnostic, DiagnosticCode, Path, WireCode};

/// Checks the document that stands at a path. What no document may look like begins with `prefix`.
pub(crate) fn check(document: Node<'_>, at: &Path, prefix: &str, findings: &mut Findings) {
    let mut found = check_document(document);
    // What makes it no document at all comes first: a refusal is in the words of its first finding.
    found.sort_by_key(|violation| violation.kind == ViolationKind::UnknownAction);
    for violation in found {
        let prefix = if violation.kind == ViolationKind::Invalid { prefix } else { "" };
        let path = at.join(&violation.path);
        let diagnostic =
            Diagnostic::error(DiagnosticCode::InvalidValue, path, format!("{prefix}{violation}"));
        findings.add(WireCode::ValidationFailed, Diagnostic { hint: violation.hint, ..diagnostic });
    }
}

impl<'a> Look<'a> for Node<'a> {
    fn is_unknown(self) -> bool {
        self.is_expression()
    }

    fn members(self) -> Option<Vec<(&'a str, Self)>> {
        self.is_object().then(|| Node::members(self))
    }

    fn items(self) -> Option<Vec<Self>> {
        self.is_array().then(|| Node::items(self))
    }

    fn text(self) -> Option<&'a str> {
        Node::text(self)
    }

    fn quoted(self) -> String {
        self.json().map_or_else(|| "a value".to_owned(), Look::quoted)
    }
}
