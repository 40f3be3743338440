//! `boundary_policy`: the most that an agent's actions may do, whoever calls it. Its statements are
//! those of policies (`formations-behaviour.md` §6.4).

use crate::{Findings, Node, permissions::is_known_action};
use formwork_model::{DiagnosticCode, Path};

pub(super) fn check(properties: Node<'_>, findings: &mut Findings) {
    let Some(policy) = properties.member("boundary_policy").filter(|policy| !policy.is_expression()) else {
        return;
    };
    let statements = policy.member("statement");
    if statements.is_some_and(Node::is_expression) {
        return;
    }
    let Some(statements) = statements.filter(|list| list.is_array()) else {
        report("statement: must be an array", findings);
        return;
    };
    for (index, statement) in statements.items().into_iter().enumerate() {
        if !statement.is_expression() {
            check_statement(statement, index, findings);
        }
    }
}

fn report(message: impl Into<String>, findings: &mut Findings) {
    findings.error(DiagnosticCode::InvalidValue, Path::of(["boundary_policy"]), message);
}

fn check_statement(statement: Node<'_>, index: usize, findings: &mut Findings) {
    let at = format!("statement[{index}]");
    let effect = statement.member("effect");
    let known_effect =
        effect.is_some_and(|node| node.is_expression() || matches!(node.text(), Some("Allow" | "Deny")));
    if !known_effect {
        report(format!("{at}.effect: must be one of Allow, Deny"), findings);
    }
    match statement.member("action") {
        Some(actions) if actions.is_expression() => {}
        Some(actions) if !actions.items().is_empty() => {
            for action in actions.items() {
                check_action(action, &at, findings);
            }
        }
        _ => report(format!("{at}.action: must be a non-empty array"), findings),
    }
    let resource = statement.member("resource");
    if resource.is_some_and(|list| !list.is_expression() && list.items().is_empty()) {
        report(format!("{at}.resource: must be a non-empty array when present"), findings);
    }
}

fn check_action(action: Node<'_>, at: &str, findings: &mut Findings) {
    if action.is_expression() {
        return;
    }
    let name = match (action.text(), action.json()) {
        (Some(name), _) if is_known_action(name) => return,
        (Some(name), _) => format!("\"{name}\""),
        (None, Some(other)) => other.to_string(),
        (None, None) => return,
    };
    let message = format!(
        "{at}.action: {name} is not a known action — see the Permissions Reference (/docs/permissions)"
    );
    report(message, findings);
}
