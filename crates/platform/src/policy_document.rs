//! Policy documents (`formations-behaviour.md` §6.4): the one check of their statements, for
//! policies and for an agent's boundary alike.

use crate::{Node, permissions::is_known_action};

const OPERATORS: &[&str] = &["StringEquals", "StringNotEquals", "StringLike"];
const CONDITION_PREFIX: &str = "soat:";

/// What is wrong with a document, in its order.
#[derive(Default)]
pub(crate) struct Problems {
    /// What no document may look like.
    pub(crate) invalid: Vec<String>,
    /// Actions of the right form that do not exist.
    pub(crate) unknown: Vec<String>,
}

/// Checks a document. An expression may stand in place of anything.
pub(crate) fn problems(document: Node<'_>) -> Problems {
    let mut problems = Problems::default();
    let statements = document.member("statement");
    if document.is_expression() || statements.is_some_and(Node::is_expression) {
        return problems;
    }
    problems.refuse_unknown(document, "", &["statement"]);
    let Some(statements) = statements.filter(|list| list.is_array()) else {
        problems.invalid.push("statement: must be an array".to_owned());
        return problems;
    };
    for (index, statement) in statements.items().into_iter().enumerate() {
        if !statement.is_expression() {
            problems.check_statement(statement, &format!("statement[{index}]"));
        }
    }
    problems
}

impl Problems {
    fn check_statement(&mut self, statement: Node<'_>, at: &str) {
        if !statement.is_object() {
            self.invalid.push(format!("{at}: must be an object"));
            return;
        }
        self.refuse_unknown(statement, at, &["effect", "action", "resource", "condition"]);
        let effect = statement.member("effect");
        let is_effect =
            |node: Node<'_>| node.is_expression() || matches!(node.text(), Some("Allow" | "Deny"));
        if !effect.is_some_and(is_effect) {
            self.invalid.push(format!("{at}.effect: must be one of Allow, Deny"));
        }
        match statement.member("action") {
            Some(actions) if actions.is_expression() => {}
            Some(actions) if !actions.items().is_empty() => {
                actions.items().into_iter().for_each(|action| self.check_action(action, at));
            }
            _ => self.invalid.push(format!("{at}.action: must be a non-empty array")),
        }
        match statement.member("resource") {
            Some(list) if !list.is_expression() && list.items().is_empty() => {
                self.invalid.push(format!("{at}.resource: must be a non-empty array when present"));
            }
            Some(list) => list.items().into_iter().for_each(|resource| self.check_resource(resource, at)),
            None => {}
        }
        if let Some(condition) = statement.member("condition") {
            self.check_condition(condition, &format!("{at}.condition"));
        }
    }

    fn check_action(&mut self, action: Node<'_>, at: &str) {
        if action.is_expression() {
            return;
        }
        let shown = quoted(action);
        match action.text() {
            Some(name) if is_known_action(name) => {}
            Some(name) if is_action(name) => self.unknown.push(format!(
                "{at}.action: {shown} is not a known action — see the Permissions Reference (/docs/permissions)"
            )),
            _ => self
                .invalid
                .push(format!("{at}.action: {shown} is invalid — must be *, module:*, or module:Operation")),
        }
    }

    fn check_resource(&mut self, resource: Node<'_>, at: &str) {
        if !resource.is_expression() && !resource.text().is_some_and(is_resource) {
            let shown = quoted(resource);
            self.invalid
                .push(format!("{at}.resource: {shown} is invalid — must be * or srn:<project>:<type>:<id>"));
        }
    }

    fn check_condition(&mut self, condition: Node<'_>, at: &str) {
        if condition.is_expression() {
            return;
        }
        if !condition.is_object() {
            self.invalid.push(format!("{at}: must be an object"));
        }
        for (operator, keys) in condition.members() {
            if !OPERATORS.contains(&operator) {
                self.invalid
                    .push(format!("{at}: operator \"{operator}\" must be one of {}", OPERATORS.join(", ")));
            }
            if !keys.is_expression() && !keys.is_object() {
                self.invalid.push(format!("{at}.{operator}: must be an object"));
            }
            for (key, value) in keys.members() {
                if !key.starts_with(CONDITION_PREFIX) {
                    let message =
                        format!("{at}.{operator}: key \"{key}\" must start with \"{CONDITION_PREFIX}\"");
                    self.invalid.push(message);
                }
                if !value.is_expression() && value.text().is_none() {
                    self.invalid.push(format!("{at}.{operator}: the value of \"{key}\" must be a string"));
                }
            }
        }
    }

    /// A field that is not known is refused: left out of account, a misspelled `resource` would
    /// widen a statement to everything.
    fn refuse_unknown(&mut self, bag: Node<'_>, at: &str, known: &[&str]) {
        let unknown = bag.members().into_iter().filter(|(name, _)| !known.contains(name));
        let separator = if at.is_empty() { "" } else { ": " };
        self.invalid.extend(unknown.map(|(name, _)| {
            format!("{at}{separator}has unknown field \"{name}\"; known are {}", known.join(", "))
        }));
    }
}

fn quoted(node: Node<'_>) -> String {
    match (node.text(), node.json()) {
        (Some(text), _) => format!("\"{text}\""),
        (None, Some(other)) => other.to_string(),
        (None, None) => "a value".to_owned(),
    }
}

/// `module:*` or `module:Operation`.
fn is_action(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    text.split_once(':')
        .is_some_and(|(module, operation)| is_name(module) && (operation == "*" || is_name(operation)))
}

/// `*` or `srn:<project>:<type>:<id>`, each part with wildcards.
fn is_resource(text: &str) -> bool {
    let is_srn = || {
        let mut parts = text.split(':');
        parts.next() == Some("srn") && text.split(':').count() == 4 && parts.all(|part| !part.is_empty())
    };
    text == "*" || is_srn()
}
