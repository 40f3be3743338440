//! The JSON Schema of a task's payload, as far as it is known.

use super::machine::report;
use crate::{Findings, Node, json_schema};
use formwork_model::{DiagnosticCode, Path};

/// The most bytes of a schema.
const MOST: usize = 64 << 10;
/// What would let a schema lead back into itself: payloads are checked while others wait.
const LEADING_BACK: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// Reports a schema that is none, or that could take long or much to check payloads by.
pub(super) fn check(schema: Node<'_>, findings: &mut Findings) {
    let at = Path::of(["payload_schema"]);
    if let Some(name) = leading_back(schema) {
        let message = format!("payload_schema cannot use '{name}'.");
        return report(findings, DiagnosticCode::InvalidValue, at, message);
    }
    let Some(schema) = schema.json() else { return };
    if schema.to_string().len() > MOST {
        let message = format!("payload_schema can have {MOST} bytes at most.");
        return report(findings, DiagnosticCode::InputTooLarge, at, message);
    }
    if let Err(reason) = json_schema::validator(schema) {
        let message = format!("payload_schema is no JSON Schema: {reason}");
        report(findings, DiagnosticCode::InvalidValue, at, message);
    }
}

/// The first keyword that leads back, wherever it stands.
fn leading_back(schema: Node<'_>) -> Option<&str> {
    // A stack of our own, since a caller decides how deep the value is.
    let mut pending = vec![schema];
    while let Some(node) = pending.pop() {
        for (name, member) in node.members() {
            if LEADING_BACK.contains(&name) {
                return Some(name);
            }
            pending.push(member);
        }
        pending.extend(node.items());
    }
    None
}
