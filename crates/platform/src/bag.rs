//! The schema's share of the static check: unknown and missing properties, JSON types, allowed
//! values (`formations-behaviour.md` §2.5, same words). Elements of lists and members of objects
//! are the business of each type.

use crate::{Findings, Node, TypeEntry, versions::LABEL};
use formwork_model::{DiagnosticCode, Json, Kind, Path, PropertySchema, TypeRules, name_problem, same};

/// Whether what is required must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completeness {
    /// A create, or an update that replaces everything.
    Whole,
    /// An update of what is named.
    Partial,
}

/// Checks a bag of properties against the schema alone.
pub(crate) fn check_bag(
    entry: &TypeEntry,
    properties: Node<'_>,
    completeness: Completeness,
    findings: &mut Findings,
) {
    let schema = entry.stored_schema();
    if !properties.is_object() {
        let message = format!("{} `properties` must be an object", entry.title());
        findings.error(DiagnosticCode::WrongType, Path::root(), message);
        return;
    }
    for (name, value) in properties.members() {
        match schema.property(name) {
            Some(property) => {
                check_property(entry, name, property, value, findings);
                check_name(entry, name, value, findings);
            }
            None => findings.error(
                DiagnosticCode::UnknownProperty,
                Path::of([name]),
                format!("Unknown {} field '{name}'. Allowed: {}", entry.title(), names(entry)),
            ),
        }
    }
    if completeness == Completeness::Whole {
        for name in missing(entry, properties) {
            findings.missing(name);
        }
    }
}

/// The required properties that the bag does not name, in the schema's order.
pub(crate) fn missing<'e>(entry: &'e TypeEntry, properties: Node<'_>) -> Vec<&'e str> {
    let required =
        entry.stored_schema().properties.iter().filter(|(_, property)| property.hint.required_on_create);
    required.map(|(name, _)| &**name).filter(|name| properties.raw_member(name).is_none()).collect()
}

fn names(entry: &TypeEntry) -> String {
    entry.stored_schema().names().collect::<Vec<_>>().join(", ")
}

fn check_property(
    entry: &TypeEntry,
    name: &str,
    property: &PropertySchema,
    value: Node<'_>,
    findings: &mut Findings,
) {
    if value.is_expression() || (value.is_null() && property.nullable) {
        return;
    }
    if !is_kind(value, property.kind) {
        let or_null = if property.nullable { " or null" } else { "" };
        let message = format!("`{name}` must be {}{or_null}", property.kind.in_words());
        let wire = entry.kind().wire_code(name);
        findings.coded(wire, DiagnosticCode::WrongType, Path::of([name]), message);
        return;
    }
    let Some(json) = value.json() else { return };
    if !property.allowed.is_empty() && !property.allowed.iter().any(|allowed| same(allowed, json)) {
        let allowed: Vec<_> = property.allowed.iter().map(formwork_model::as_text).collect();
        let message = format!("`{name}` must be one of: {}", allowed.join(", "));
        findings.error(DiagnosticCode::InvalidValue, Path::of([name]), message);
    }
}

/// What people know an object by can be read, all of it.
fn check_name(entry: &TypeEntry, property: &str, value: Node<'_>, findings: &mut Findings) {
    if property != LABEL && !entry.kind().names().contains(&property) {
        return;
    }
    let Some(problem) = value.known_text().and_then(|name| name_problem(&name)) else { return };
    let message = format!("`{property}` {problem}");
    findings.error(DiagnosticCode::InvalidValue, Path::of([property]), message);
}

/// Whether a value is of a kind.
pub(crate) fn is_kind(value: Node<'_>, kind: Kind) -> bool {
    match kind {
        Kind::Any => true,
        Kind::Object => value.is_object(),
        Kind::Array => value.is_array(),
        Kind::String => value.text().is_some(),
        Kind::Boolean => value.json().is_some_and(Json::is_boolean),
        Kind::Integer => value.integer().is_some(),
        Kind::Number => value.json().is_some_and(Json::is_number),
    }
}
