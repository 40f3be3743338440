//! The machine as a whole: the names of states and transitions, and where they lead.

use super::{INVALID, states};
use crate::{Findings, Node, json_logic, types::check_known_as};
use formwork_model::{DiagnosticCode, Path};
use std::collections::BTreeSet;

/// The most bytes of a guard.
const MOST_OF_GUARD: usize = 4096;

/// The names of a list's entries.
pub(super) struct Names<'a> {
    known: BTreeSet<&'a str>,
    /// Whether an expression stands for one of them, so that no name can be called unknown.
    open: bool,
}

impl<'a> Names<'a> {
    /// Reads the names of a list; `None` is a list that is not known.
    fn of(list: Option<Node<'a>>) -> Self {
        let mut names = Self { known: BTreeSet::new(), open: list.is_none_or(|list| !list.is_array()) };
        for entry in list.map(Node::items).unwrap_or_default() {
            match entry.member("name").and_then(Node::text) {
                Some(name) => {
                    names.known.insert(name);
                }
                None => names.open = true,
            }
        }
        names
    }

    pub(super) fn lack(&self, name: &str) -> bool {
        !self.open && !self.known.contains(name)
    }
}

pub(super) fn check(properties: Node<'_>, findings: &mut Findings) {
    let (states, transitions) = (properties.member("states"), properties.member("transitions"));
    let (state_names, transition_names) = (Names::of(states), Names::of(transitions));
    if let Some(states) = states.filter(|states| states.is_array()) {
        check_initial(states, findings);
        each_named(states, "State", "states", findings, &mut |state, name, at, findings| {
            states::check(state, name, at, &transition_names, findings);
        });
    }
    if let Some(transitions) = transitions.filter(|transitions| transitions.is_array()) {
        each_named(
            transitions,
            "Transition",
            "transitions",
            findings,
            &mut |transition, name, at, findings| {
                check_transition(transition, name, at, &state_names, findings);
            },
        );
    }
}

pub(super) fn report(findings: &mut Findings, code: DiagnosticCode, path: Path, message: impl Into<String>) {
    findings.coded(INVALID, code, path, message);
}

/// Reports members that an object does not have.
pub(super) fn known(bag: Node<'_>, fields: &[&str], at: &Path, findings: &mut Findings) {
    check_known_as(INVALID, bag, fields, at, findings);
}

fn check_initial(states: Node<'_>, findings: &mut Findings) {
    let states = states.items();
    if states.is_empty() {
        let message = "A workflow must define at least one state.";
        return report(findings, DiagnosticCode::InvalidValue, Path::of(["states"]), message);
    }
    let is_open =
        |state: &Node<'_>| state.is_expression() || state.member("initial").is_some_and(Node::is_expression);
    if states.iter().any(is_open) {
        return;
    }
    let is_initial = |state: &&Node<'_>| {
        state.member("initial").and_then(Node::json).and_then(formwork_model::Json::as_bool) == Some(true)
    };
    let count = states.iter().filter(is_initial).count();
    if count != 1 {
        let message = format!("A workflow must have exactly one initial state (found {count}).");
        report(findings, DiagnosticCode::InvalidValue, Path::of(["states"]), message);
    }
}

/// Visits each entry of a list that is an object with a name of its own.
fn each_named<'a>(
    list: Node<'a>,
    noun: &str,
    property: &str,
    findings: &mut Findings,
    visit: &mut dyn FnMut(Node<'a>, &str, &Path, &mut Findings),
) {
    let mut seen = BTreeSet::new();
    for (index, entry) in list.items().into_iter().enumerate() {
        let at = Path::of([property]).index(index);
        if entry.is_expression() {
            continue;
        }
        let name = entry.member("name");
        let known = name.and_then(Node::text).filter(|name| !name.is_empty());
        if !name.is_some_and(Node::may_be_text) {
            let message = format!("{noun} at index {index} must be an object with a name.");
            report(findings, DiagnosticCode::MissingProperty, at.key("name"), message);
            continue;
        }
        if known.is_some_and(|name| !seen.insert(name)) {
            let message = format!("Duplicate {} name '{}'.", noun.to_lowercase(), known.unwrap_or_default());
            report(findings, DiagnosticCode::DuplicateKey, at.key("name"), message);
        }
        visit(entry, known.unwrap_or("?"), &at, findings);
    }
}

fn check_transition(
    transition: Node<'_>,
    name: &str,
    at: &Path,
    states: &Names<'_>,
    findings: &mut Findings,
) {
    known(transition, &["name", "from", "to", "guard", "requires_approval"], at, findings);
    let from = transition.member("from");
    if !from.is_some_and(|from| from.is_expression() || !from.items().is_empty()) {
        let message = format!("Transition '{name}' must list at least one `from` state.");
        report(findings, DiagnosticCode::MissingProperty, at.key("from"), message);
    }
    for (index, state) in from.map(Node::items).unwrap_or_default().into_iter().enumerate() {
        check_state_name(state, "from", name, &at.key("from").index(index), states, findings);
    }
    if let Some(to) = transition.member("to") {
        check_state_name(to, "to", name, &at.key("to"), states, findings);
    } else {
        let message = format!("Transition '{name}' must name a `to` state.");
        report(findings, DiagnosticCode::MissingProperty, at.key("to"), message);
    }
    if let Some(guard) = transition.member("guard").filter(|guard| !guard.is_expression()) {
        if guard.is_object() {
            json_logic::check(guard, &at.key("guard"), findings);
            check_costs(guard, name, &at.key("guard"), findings);
        } else {
            let message = format!("Transition '{name}' guard must be a JSON Logic object.");
            report(findings, DiagnosticCode::WrongType, at.key("guard"), message);
        }
    }
    let approval = transition.member("requires_approval");
    let is_flag =
        |value: Node<'_>| value.is_expression() || value.json().is_some_and(formwork_model::Json::is_boolean);
    if approval.is_some_and(|value| !is_flag(value)) {
        let message = format!("Transition '{name}' requires_approval must be a boolean.");
        report(findings, DiagnosticCode::WrongType, at.key("requires_approval"), message);
    }
}

/// Guards are evaluated here, while others wait: what could take long, grow without bound, or be written
/// to a log is refused.
fn check_costs(guard: Node<'_>, name: &str, at: &Path, findings: &mut Findings) {
    let problem = if guard.json().is_some_and(|guard| guard.to_string().len() > MOST_OF_GUARD) {
        format!("can have {MOST_OF_GUARD} bytes at most")
    } else if let Some(operator) = ["reduce", "log"].into_iter().find(|name| json_logic::uses(guard, name)) {
        format!("cannot use '{operator}'")
    } else if json_logic::nests_loops(guard) {
        "cannot go through a list for each element of another".to_owned()
    } else if json_logic::holds_object(guard) {
        "cannot hold an object but an operation".to_owned()
    } else if let Some(number) = json_logic::inexact_literal(guard) {
        format!("cannot hold {number}: integers beyond 2^53 compare as their neighbours do")
    } else {
        return;
    };
    let message = format!("Transition '{name}' guard {problem}.");
    report(findings, DiagnosticCode::InvalidValue, at.clone(), message);
}

fn check_state_name(
    state: Node<'_>,
    end: &str,
    transition: &str,
    at: &Path,
    states: &Names<'_>,
    findings: &mut Findings,
) {
    match state.text() {
        Some(name) if states.lack(name) => {
            let message = format!("Transition '{transition}' references unknown {end}-state '{name}'.");
            report(findings, DiagnosticCode::UnknownReference, at.clone(), message);
        }
        None if !state.is_expression() => {
            report(findings, DiagnosticCode::WrongType, at.clone(), format!("`{at}` must be a string."));
        }
        _ => {}
    }
}
