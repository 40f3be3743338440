//! One state: what it is, and what happens when a task enters it.

use super::machine::{Names, known, report};
use crate::{Findings, Node, json_logic};
use formwork_model::{DiagnosticCode, Json, Path};

/// Each kind of dispatch with the property that names its target.
const DISPATCHES: &[(&str, &str)] =
    &[("agent", "agent_id"), ("orchestration", "orchestration_id"), ("tool", "tool_id")];
/// What a dispatch may hold.
const DISPATCH: &[&str] =
    &["kind", "agent_id", "orchestration_id", "tool_id", "operation_id", "input_mapping", "payload_writes"];
const MOST_ATTEMPTS: i64 = 10;

pub(super) fn check(
    state: Node<'_>,
    name: &str,
    at: &Path,
    transitions: &Names<'_>,
    findings: &mut Findings,
) {
    known(state, &["name", "initial", "terminal", "kind", "stalled_after", "on_enter"], at, findings);
    for flag in ["initial", "terminal"] {
        let is_flag = |value: Node<'_>| value.is_expression() || value.json().is_some_and(Json::is_boolean);
        if state.member(flag).is_some_and(|value| !is_flag(value)) {
            let message = format!("State '{name}' {flag} must be a boolean.");
            report(findings, DiagnosticCode::WrongType, at.key(flag), message);
        }
    }
    let kind = state.member("kind");
    if kind.is_some_and(|kind| !kind.is_expression() && kind.text() != Some("human")) {
        let message = format!("State '{name}' kind must be 'human'.");
        report(findings, DiagnosticCode::InvalidValue, at.key("kind"), message);
    }
    let is_positive = |value: Node<'_>| {
        value.is_expression() || value.json().and_then(Json::as_f64).is_some_and(|seconds| seconds > 0.0)
    };
    if state.member("stalled_after").is_some_and(|value| !is_positive(value)) {
        let message = format!("State '{name}' stalled_after must be a positive number of seconds.");
        report(findings, DiagnosticCode::InvalidValue, at.key("stalled_after"), message);
    }
    let Some(on_enter) = state.member("on_enter") else { return };
    let at = at.key("on_enter");
    if kind.and_then(Node::text) == Some("human") {
        let message = format!("Human state '{name}' cannot declare on_enter automation.");
        return report(findings, DiagnosticCode::ConflictingProperties, at, message);
    }
    if !on_enter.is_expression() {
        known(on_enter, &["dispatch", "retry", "on_complete", "on_failure"], &at, findings);
        check_dispatch(on_enter, name, &at, findings);
        check_retry(on_enter, name, &at, findings);
        check_routes(on_enter, name, &at, transitions, findings);
    }
}

fn check_dispatch(on_enter: Node<'_>, name: &str, at: &Path, findings: &mut Findings) {
    let at = at.key("dispatch");
    let Some(dispatch) = on_enter.member("dispatch") else {
        let message = format!("State '{name}' on_enter is missing a dispatch.");
        return report(findings, DiagnosticCode::MissingProperty, at, message);
    };
    known(dispatch, DISPATCH, &at, findings);
    let kind = dispatch.member("kind");
    if dispatch.is_expression() || kind.is_some_and(Node::is_expression) {
        return;
    }
    let dispatched =
        kind.and_then(Node::text).and_then(|kind| DISPATCHES.iter().find(|(name, _)| *name == kind));
    let Some((kind, property)) = dispatched else {
        let message =
            format!("State '{name}' dispatch kind must be one of 'agent', 'orchestration', 'tool'.");
        return report(findings, DiagnosticCode::InvalidValue, at.key("kind"), message);
    };
    if !dispatch.member(property).is_some_and(Node::may_be_text) {
        let message = format!("State '{name}' {kind} dispatch is missing {property}.");
        report(findings, DiagnosticCode::MissingProperty, at.key(*property), message);
    }
    for mapping in ["input_mapping", "payload_writes"] {
        let value = dispatch.member(mapping).filter(|value| !value.is_expression());
        if value.is_some_and(|value| !value.is_object()) {
            let message = format!("State '{name}' dispatch {mapping} must be an object.");
            report(findings, DiagnosticCode::WrongType, at.key(mapping), message);
        }
    }
}

fn check_retry(on_enter: Node<'_>, name: &str, at: &Path, findings: &mut Findings) {
    let Some(retry) = on_enter.member("retry").filter(|retry| !retry.is_expression()) else { return };
    let at = at.key("retry");
    known(retry, &["max_attempts", "backoff_seconds", "backoff_multiplier"], &at, findings);
    let least = |value: Node<'_>, least: f64| {
        value.is_expression() || value.json().and_then(Json::as_f64).is_some_and(|number| number >= least)
    };
    let attempts = |value: Node<'_>| {
        value.is_expression() || value.integer().is_some_and(|number| (1..=MOST_ATTEMPTS).contains(&number))
    };
    let mut require = |property: &str, fits: &dyn Fn(Node<'_>) -> bool, what: &str| {
        if retry.member(property).is_some_and(|value| !fits(value)) {
            let message = format!("State '{name}' retry {property} must be {what}.");
            report(findings, DiagnosticCode::InvalidValue, at.key(property), message);
        }
    };
    require("max_attempts", &attempts, &format!("an integer from 1 to {MOST_ATTEMPTS}"));
    require("backoff_seconds", &|value| least(value, 0.0), "a number of at least 0");
    require("backoff_multiplier", &|value| least(value, 1.0), "a number of at least 1");
}

/// Where a task goes when the dispatch is done.
fn check_routes(on_enter: Node<'_>, name: &str, at: &Path, transitions: &Names<'_>, findings: &mut Findings) {
    let follow = |target: Option<Node<'_>>, property: &str, path: Path, findings: &mut Findings| match target
        .and_then(Node::text)
    {
        Some(transition) if transitions.lack(transition) => {
            let message = format!("State '{name}' {property} references unknown transition '{transition}'.");
            report(findings, DiagnosticCode::UnknownReference, path, message);
        }
        None if !target.is_some_and(Node::is_expression) => {
            let message = format!("State '{name}' {property} must name a transition.");
            report(findings, DiagnosticCode::MissingProperty, path, message);
        }
        _ => {}
    };
    let routes = on_enter.member("on_complete");
    if routes.is_some_and(|routes| !routes.is_expression() && !routes.is_array()) {
        let message = format!("State '{name}' on_complete must be an array.");
        report(findings, DiagnosticCode::WrongType, at.key("on_complete"), message);
    }
    for (index, route) in routes.map(Node::items).unwrap_or_default().into_iter().enumerate() {
        let path = at.key("on_complete").index(index);
        if route.is_expression() {
            continue;
        }
        known(route, &["when", "transition"], &path, findings);
        follow(route.member("transition"), "on_complete", path.key("transition"), findings);
        match route.member("when") {
            Some(when) if when.is_object() => json_logic::check(when, &path.key("when"), findings),
            Some(when) if !when.is_expression() && !when.json().is_some_and(Json::is_boolean) => {
                let message = format!("State '{name}' on_complete when must be a JSON Logic object.");
                report(findings, DiagnosticCode::WrongType, path.key("when"), message);
            }
            _ => {}
        }
    }
    if let Some(failure) = on_enter.member("on_failure").filter(|failure| !failure.is_expression()) {
        // Either the name itself or an object that holds it.
        let target = if failure.is_object() { failure.member("transition") } else { Some(failure) };
        follow(target, "on_failure", at.key("on_failure"), findings);
    }
}
