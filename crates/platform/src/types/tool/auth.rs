//! `execute.auth`: how a tool's request is signed.

use crate::{Findings, Node, types::check_known};
use formwork_model::{DiagnosticCode, Path};

/// Members that name no credential: everything else in `auth` is kept sealed.
pub(super) const PUBLIC: &[&str] = &["type", "region", "service", "scopes"];

const SIGV4: &str = "aws_sigv4";
const GCP: &str = "gcp_service_account";
const SIGV4_FIELDS: &[&str] =
    &["type", "region", "service", "access_key_id", "secret_access_key", "session_token"];
const GCP_FIELDS: &[&str] = &["type", "credentials", "scopes"];

/// Checks body mode and signature of the request at `at`.
pub(super) fn check(request: Node<'_>, at: &Path, findings: &mut Findings) {
    let body_mode = request.member("body_mode");
    if body_mode
        .is_some_and(|mode| !mode.is_expression() && !matches!(mode.text(), Some("json" | "multipart")))
    {
        let message = format!("`{at}.body_mode` must be one of: json, multipart");
        findings.error(DiagnosticCode::InvalidValue, at.key("body_mode"), message);
    }
    let Some(auth) = request.member("auth").filter(|auth| !auth.is_expression()) else { return };
    let path = at.key("auth");
    if !auth.is_object() {
        findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be an object"));
        return;
    }
    match auth.member("type") {
        Some(kind) if kind.is_expression() => {}
        Some(kind) if kind.text() == Some(SIGV4) => {
            for name in ["region", "service", "access_key_id", "secret_access_key"] {
                require_text(auth, name, &path, findings);
            }
            check_known(auth, SIGV4_FIELDS, &path, findings);
            if auth.member("session_token").is_some() {
                require_text(auth, "session_token", &path, findings);
            }
            if body_mode.and_then(Node::text) == Some("multipart") {
                let message = format!("{path} of type {SIGV4} cannot be combined with body_mode multipart.");
                findings.error(DiagnosticCode::ConflictingProperties, path, message);
            }
        }
        Some(kind) if kind.text() == Some(GCP) => {
            check_known(auth, GCP_FIELDS, &path, findings);
            require_text(auth, "credentials", &path, findings);
            require_scopes(auth, &path, findings);
        }
        _ => {
            let message = format!("{path}.type must be one of: {SIGV4}, {GCP}");
            findings.error(DiagnosticCode::InvalidValue, path, message);
        }
    }
}

fn require_text(auth: Node<'_>, name: &str, at: &Path, findings: &mut Findings) {
    if !auth.member(name).is_some_and(Node::may_be_text) {
        let message = format!("{at}.{name} is required and must be a non-empty string.");
        findings.error(DiagnosticCode::InvalidValue, at.clone(), message);
    }
}

fn require_scopes(auth: Node<'_>, at: &Path, findings: &mut Findings) {
    let holds = auth.member("scopes").is_some_and(|scopes| {
        let items = scopes.items();
        scopes.is_expression() || (!items.is_empty() && items.into_iter().all(Node::may_be_text))
    });
    if !holds {
        let message = format!("{at}.scopes is required and must be a non-empty array of strings.");
        findings.error(DiagnosticCode::InvalidValue, at.clone(), message);
    }
}
