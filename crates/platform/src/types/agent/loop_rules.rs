//! What steers an agent's loop: tool choice, stop conditions, rules for single steps.

use crate::{
    Findings, Node,
    types::{check_known, check_texts},
};
use formwork_model::{DiagnosticCode, Path};

pub(super) fn check(properties: Node<'_>, findings: &mut Findings) {
    check_tool_choice(properties.member("tool_choice"), &Path::of(["tool_choice"]), findings);
    for (index, condition) in items(properties, "stop_conditions").into_iter().enumerate() {
        check_stop_condition(condition, &Path::of(["stop_conditions"]).index(index), findings);
    }
    for (index, rule) in items(properties, "step_rules").into_iter().enumerate() {
        check_step_rule(rule, &Path::of(["step_rules"]).index(index), findings);
    }
}

fn items<'a>(properties: Node<'a>, name: &str) -> Vec<Node<'a>> {
    properties.member(name).map(Node::items).unwrap_or_default()
}

fn check_tool_choice(choice: Option<Node<'_>>, at: &Path, findings: &mut Findings) {
    let Some(choice) = choice.filter(|choice| !choice.is_expression()) else { return };
    let names_tool =
        choice.member("type").is_some_and(|kind| kind.is_expression() || kind.text() == Some("tool"))
            && choice.member("tool_name").is_some_and(Node::may_be_text);
    if !names_tool && !matches!(choice.text(), Some("auto" | "required")) {
        let message =
            format!("`{at}` must be \"auto\", \"required\" or {{\"type\": \"tool\", \"tool_name\": …}}");
        findings.error(DiagnosticCode::InvalidValue, at.clone(), message);
    }
    if names_tool {
        check_known(choice, &["type", "tool_name"], at, findings);
    }
}

fn check_stop_condition(condition: Node<'_>, at: &Path, findings: &mut Findings) {
    if condition.is_expression() {
        return;
    }
    let kind = condition.member("type");
    if kind.is_some_and(Node::is_expression) {
        return;
    }
    let mut require = |holds: bool, name: &str, what: &str| {
        if !holds {
            let path = at.key(name);
            let message = format!("`{path}` is required and must be {what}");
            findings.error(DiagnosticCode::InvalidValue, path, message);
        }
    };
    match kind.and_then(Node::text) {
        Some("hasToolCall") => {
            let holds = condition.member("tool_name").is_some_and(Node::may_be_text);
            require(holds, "tool_name", "a non-empty string");
            check_known(condition, &["type", "tool_name"], at, findings);
        }
        Some("maxChainGenerations") => {
            let holds = condition.member("max_generations").is_some_and(|most| most.may_be_integer(1));
            require(holds, "max_generations", "an integer of at least 1");
            check_known(condition, &["type", "max_generations"], at, findings);
        }
        _ => {
            let path = at.key("type");
            let message = format!("`{path}` must be one of: hasToolCall, maxChainGenerations");
            findings.error(DiagnosticCode::InvalidValue, path, message);
        }
    }
}

fn check_step_rule(rule: Node<'_>, at: &Path, findings: &mut Findings) {
    if rule.is_expression() {
        return;
    }
    if !rule.member("step").is_some_and(|step| step.may_be_integer(1)) {
        let path = at.key("step");
        let message = format!("`{path}` is required and must be an integer of at least 1");
        findings.error(DiagnosticCode::InvalidValue, path, message);
    }
    check_known(rule, &["step", "tool_choice", "active_tool_ids"], at, findings);
    check_tool_choice(rule.member("tool_choice"), &at.key("tool_choice"), findings);
    check_texts(rule.member("active_tool_ids"), &at.key("active_tool_ids"), findings);
}
