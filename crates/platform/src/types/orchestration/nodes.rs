//! The nodes of an orchestration, each for itself.

use super::INVALID;
use crate::{Findings, Node, json_logic, types::check_known_as};
use formwork_model::{DiagnosticCode, Path};

/// Each type of node with the fields that it requires.
const TYPES: &[(&str, &[&str])] = &[
    ("agent", &["agent_id"]),
    ("tool", &["tool_id"]),
    ("transform", &["expression"]),
    ("knowledge", &[]),
    ("memory_write", &["memory_id"]),
    ("condition", &["expression"]),
    ("human", &[]),
    ("approval", &["tool_id"]),
    ("loop", &["orchestration_id"]),
    ("poll", &["tool_id", "exit_condition", "interval"]),
    ("delay", &["duration"]),
    ("webhook", &[]),
    ("emit_event", &["event_type"]),
    ("sub_orchestration", &["orchestration_id"]),
];

/// Fields that hold ids or names.
const TEXTS: &[&str] =
    &["agent_id", "tool_id", "memory_id", "orchestration_id", "event_type", "operation_id"];
/// Fields that hold JSON Logic.
const LOGIC: &[&str] = &["expression", "exit_condition", "collection"];
/// Fields that hold JSON Logic by name.
const MAPPINGS: &[&str] = &["input_mapping", "state_mapping"];
/// All that a node may hold, whatever its type.
const FIELDS: &[&str] = &[
    "id",
    "type",
    "agent_id",
    "tool_id",
    "memory_id",
    "orchestration_id",
    "operation_id",
    "event_type",
    "expression",
    "exit_condition",
    "interval",
    "duration",
    "prompt",
    "options",
    "input_mapping",
    "state_mapping",
    "output_schema",
    "retry",
    "expires_in",
    "arguments",
    "reasoning",
    "evidence",
    "predicted_impact",
    "mode",
    "collection",
    "item_variable",
    "parallelism",
    "max_iterations",
    "fail_on_timeout",
];
const MOST_RETRIES: i64 = 20;

pub(super) fn check(nodes: Node<'_>, findings: &mut Findings) {
    for (index, node) in nodes.items().into_iter().enumerate() {
        let at = Path::of(["nodes"]).index(index);
        if node.is_expression() {
            continue;
        }
        if !node.is_object() {
            report(findings, DiagnosticCode::WrongType, at.clone(), format!("`{at}` must be an object."));
            continue;
        }
        for name in ["id", "type"] {
            if !node.member(name).is_some_and(Node::may_be_text) {
                let message = format!("`{name}` is required.");
                report(findings, DiagnosticCode::MissingProperty, at.key(name), message);
            }
        }
        check_known_as(INVALID, node, FIELDS, &at, findings);
        check_type(node, &at, findings);
        check_fields(node, &at, findings);
        check_retry(node, &at, findings);
    }
}

fn report(findings: &mut Findings, code: DiagnosticCode, path: Path, message: impl Into<String>) {
    findings.coded(INVALID, code, path, message);
}

/// What messages call a node.
pub(super) fn id_of(node: Node<'_>) -> &str {
    node.member("id").and_then(Node::text).unwrap_or("?")
}

fn check_type(node: Node<'_>, at: &Path, findings: &mut Findings) {
    let Some(type_name) = node.member("type").and_then(Node::text).filter(|name| !name.is_empty()) else {
        return;
    };
    let Some((_, required)) = TYPES.iter().find(|(name, _)| *name == type_name) else {
        let supported: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        let message = format!("Unknown node type '{type_name}'. Supported types: {}", supported.join(", "));
        report(findings, DiagnosticCode::InvalidValue, at.key("type"), message);
        return;
    };
    for field in *required {
        let is_missing = node.member(field).is_none_or(|value| value.text() == Some(""));
        if is_missing {
            let message = format!("{type_name} node '{}' is missing required field '{field}'.", id_of(node));
            report(findings, DiagnosticCode::MissingProperty, at.key(*field), message);
        }
    }
}

fn check_fields(node: Node<'_>, at: &Path, findings: &mut Findings) {
    for name in TEXTS {
        if node.member(name).is_some_and(|value| !value.is_expression() && value.text().is_none()) {
            let path = at.key(*name);
            report(findings, DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be a string."));
        }
    }
    for name in LOGIC {
        if let Some(value) = node.member(name) {
            check_logic(value, &at.key(*name), findings);
        }
    }
    for name in MAPPINGS {
        let Some(mapping) = node.member(name).filter(|mapping| !mapping.is_expression()) else { continue };
        let path = at.key(*name);
        if !mapping.is_object() {
            report(findings, DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be an object."));
        }
        for (key, value) in mapping.members() {
            check_logic(value, &path.key(key), findings);
            if *name == "state_mapping" {
                check_state_key(node, key, &path.key(key), findings);
            }
        }
    }
}

/// Anything but an object with one member is a literal.
fn check_logic(value: Node<'_>, at: &Path, findings: &mut Findings) {
    if value.members().len() == 1 {
        json_logic::check(value, at, findings);
    }
}

/// A node writes below `state.`; `nodes` is where the results of all nodes are.
fn check_state_key(node: Node<'_>, key: &str, at: &Path, findings: &mut Findings) {
    let id = id_of(node);
    let Some(rest) = key.strip_prefix("state.").filter(|rest| !rest.is_empty()) else {
        let message = format!("Node '{id}' state_mapping key '{key}' must start with 'state.'.");
        return report(findings, DiagnosticCode::InvalidValue, at.clone(), message);
    };
    if rest == "nodes" || rest.starts_with("nodes.") {
        let message = format!("Node '{id}' cannot write to '{key}': 'nodes' is reserved.");
        report(findings, DiagnosticCode::InvalidValue, at.clone(), message);
    }
}

fn check_retry(node: Node<'_>, at: &Path, findings: &mut Findings) {
    let Some(retry) = node.member("retry").filter(|retry| !retry.is_expression()) else { return };
    let at = at.key("retry");
    if !retry.is_object() {
        return report(findings, DiagnosticCode::WrongType, at.clone(), format!("`{at}` must be an object."));
    }
    check_known_as(INVALID, retry, &["max_attempts", "backoff"], &at, findings);
    let fits = |value: Node<'_>| {
        value.is_expression() || value.integer().is_some_and(|number| (1..=MOST_RETRIES).contains(&number))
    };
    if retry.member("max_attempts").is_some_and(|value| !fits(value)) {
        let message = format!("`{at}.max_attempts` must be an integer from 1 to {MOST_RETRIES}.");
        report(findings, DiagnosticCode::InvalidValue, at.key("max_attempts"), message);
    }
    let Some(backoff) = retry.member("backoff").filter(|backoff| !backoff.is_expression()) else { return };
    let at = at.key("backoff");
    check_known_as(INVALID, backoff, &["strategy", "delay_ms", "max_delay_ms"], &at, findings);
    let known =
        |value: Node<'_>| value.is_expression() || matches!(value.text(), Some("fixed" | "exponential"));
    if backoff.member("strategy").is_some_and(|value| !known(value)) {
        let message = format!("`{at}.strategy` must be one of: fixed, exponential.");
        report(findings, DiagnosticCode::InvalidValue, at.key("strategy"), message);
    }
    for name in ["delay_ms", "max_delay_ms"] {
        if backoff.member(name).is_some_and(|value| !value.may_be_integer(0)) {
            let message = format!("`{at}.{name}` must be an integer of at least 0.");
            report(findings, DiagnosticCode::InvalidValue, at.key(name), message);
        }
    }
}
