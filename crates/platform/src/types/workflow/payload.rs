//! The JSON Schema of a task's payload, as far as it is known.

use super::machine::report;
use crate::{Findings, Node};
use formwork_json_schema::{JsonSchema, SchemaError};
use formwork_model::{DiagnosticCode, Path};

/// The most bytes of a schema.
const MOST: usize = 64 << 10;
/// What would let a schema lead back into itself: payloads are checked while others wait.
const LEADING_BACK: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords whose members are named by people.
const NAMED_BY_PEOPLE: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords that hold data.
const DATA: &[&str] = &["const", "enum", "default", "examples"];

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
    if let Err(error) = JsonSchema::read(schema) {
        let code = match error {
            SchemaError::Invalid(_) => DiagnosticCode::InvalidValue,
            SchemaError::TooLarge | SchemaError::Patterns(_) => DiagnosticCode::InputTooLarge,
        };
        report(findings, code, at, format!("payload_schema {error}"));
    }
}

/// The first keyword that leads back. What stands in an object of properties is named by people, and what
/// is compared with is data.
fn leading_back(schema: Node<'_>) -> Option<&str> {
    // A stack of our own, since a caller decides how deep the value is.
    let mut pending = vec![schema];
    while let Some(node) = pending.pop() {
        for (name, member) in node.members() {
            if LEADING_BACK.contains(&name) {
                return Some(name);
            }
            if NAMED_BY_PEOPLE.contains(&name) && member.is_object() {
                pending.extend(member.members().into_iter().map(|(_, schema)| schema));
            } else if !DATA.contains(&name) {
                pending.push(member);
            }
        }
        pending.extend(node.items());
    }
    None
}
