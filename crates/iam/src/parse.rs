//! From JSON to a policy document, or to everything that is wrong with it.

use crate::document::{ActionPattern, Operator, Statement, Test};
use crate::{Effect, PolicyDocument, SrnPattern, is_known_action};
use formwork_model::Json;

/// What is wrong with one place of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: `statement[0].action`.
    pub place: String,
    /// What: `must be a non-empty array`.
    pub problem: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

/// A document that is no policy: all that is wrong with it, in order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Policy document is invalid: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct InvalidPolicy(pub Vec<Violation>);

impl PolicyDocument {
    /// The policy that a document spells.
    ///
    /// A member that statements do not have is refused: passed over, a misspelt `condition` would
    /// allow more than its author meant.
    ///
    /// # Errors
    /// All violations (`formations-types.md`, "policy").
    pub fn parse(document: &Json) -> Result<Self, InvalidPolicy> {
        let mut reader = Reader::default();
        let statements = reader.document(document);
        if reader.found.is_empty() { Ok(Self { statements }) } else { Err(InvalidPolicy(reader.found)) }
    }
}

#[derive(Default)]
struct Reader {
    found: Vec<Violation>,
}

impl Reader {
    fn report(&mut self, place: impl Into<String>, problem: impl Into<String>) {
        self.found.push(Violation { place: place.into(), problem: problem.into() });
    }

    fn document(&mut self, document: &Json) -> Vec<Statement> {
        let Some(members) = document.as_object() else {
            self.report("document", "must be an object");
            return Vec::new();
        };
        for name in members.keys().filter(|name| *name != "statement") {
            self.report("document", format!("\"{name}\" is unknown — must be statement"));
        }
        let Some(statements) = members.get("statement").and_then(Json::as_array) else {
            self.report("statement", "must be an array");
            return Vec::new();
        };
        let statements = statements.iter().enumerate();
        statements
            .filter_map(|(index, statement)| self.statement(&format!("statement[{index}]"), statement))
            .collect()
    }

    fn statement(&mut self, at: &str, statement: &Json) -> Option<Statement> {
        const KNOWN: [&str; 4] = ["effect", "action", "resource", "condition"];
        let Some(members) = statement.as_object() else {
            self.report(at, "must be an object");
            return None;
        };
        for name in members.keys().filter(|name| !KNOWN.contains(&name.as_str())) {
            self.report(at, format!("\"{name}\" is unknown — must be one of {}", KNOWN.join(", ")));
        }
        let effect = match members.get("effect").and_then(Json::as_str) {
            Some("Allow") => Some(Effect::Allow),
            Some("Deny") => Some(Effect::Deny),
            _ => {
                self.report(format!("{at}.effect"), "must be one of Allow, Deny");
                None
            }
        };
        let actions = self.actions(&format!("{at}.action"), members.get("action"));
        let resources = self.resources(&format!("{at}.resource"), members.get("resource"));
        let conditions = self.conditions(&format!("{at}.condition"), members.get("condition"));
        Some(Statement { effect: effect?, actions, resources, conditions })
    }

    fn actions(&mut self, at: &str, actions: Option<&Json>) -> Vec<ActionPattern> {
        let Some(actions) = actions.and_then(Json::as_array).filter(|actions| !actions.is_empty()) else {
            self.report(at, "must be a non-empty array");
            return Vec::new();
        };
        actions.iter().filter_map(|action| self.action(at, action)).collect()
    }

    fn action(&mut self, at: &str, action: &Json) -> Option<ActionPattern> {
        let pattern = action.as_str().and_then(action_pattern);
        match (&pattern, action.as_str()) {
            (None, _) => {
                self.report(
                    at,
                    format!("{} is invalid — must be *, module:*, or module:Operation", shown(action)),
                );
            }
            (Some(_), Some(name)) if !is_known_action(name) => {
                self.report(
                    at,
                    format!(
                        "\"{name}\" is not a known action — see the Permissions Reference (/docs/permissions)"
                    ),
                );
            }
            _ => {}
        }
        pattern
    }

    fn resources(&mut self, at: &str, resources: Option<&Json>) -> Vec<SrnPattern> {
        let Some(resources) = resources else { return vec![SrnPattern::All] };
        let Some(resources) = resources.as_array().filter(|resources| !resources.is_empty()) else {
            self.report(at, "must be a non-empty array when present");
            return Vec::new();
        };
        let mut patterns = Vec::new();
        for resource in resources {
            match resource.as_str().and_then(SrnPattern::parse) {
                Some(pattern) => patterns.push(pattern),
                None => self.report(
                    at,
                    format!("{} is invalid — must be * or srn:<project>:<type>:<id>", shown(resource)),
                ),
            }
        }
        patterns
    }

    fn conditions(&mut self, at: &str, conditions: Option<&Json>) -> Vec<Test> {
        let Some(conditions) = conditions else { return Vec::new() };
        let Some(operators) = conditions.as_object() else {
            self.report(at, "must be an object when present");
            return Vec::new();
        };
        let mut tests = Vec::new();
        for (name, keys) in operators {
            let Some((_, operator)) = Operator::NAMED.iter().find(|(known, _)| known == name) else {
                let known: Vec<_> = Operator::NAMED.iter().map(|(known, _)| *known).collect();
                self.report(
                    at,
                    format!("\"{name}\" is not an operator — must be one of {}", known.join(", ")),
                );
                continue;
            };
            let at = format!("{at}.{name}");
            let Some(keys) = keys.as_object() else {
                self.report(at, "must be an object");
                continue;
            };
            tests.extend(keys.iter().filter_map(|(key, value)| self.test(&at, *operator, key, value)));
        }
        tests
    }

    fn test(&mut self, at: &str, operator: Operator, key: &str, value: &Json) -> Option<Test> {
        if !key.starts_with("soat:") {
            self.report(at, format!("key \"{key}\" must start with \"soat:\""));
        }
        let Some(value) = value.as_str() else {
            self.report(at, format!("the value of \"{key}\" must be a string"));
            return None;
        };
        Some(Test { operator, key: key.to_owned(), value: value.to_owned() })
    }
}

/// A text as people see it quoted; anything else as it is.
fn shown(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("\"{text}\""))
}

fn action_pattern(text: &str) -> Option<ActionPattern> {
    if text == "*" {
        return Some(ActionPattern::All);
    }
    let (module, operation) = text.split_once(':')?;
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if !is_word(module) {
        return None;
    }
    match operation {
        "*" => Some(ActionPattern::Module(module.to_owned())),
        operation => is_word(operation).then(|| ActionPattern::One(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problems(document: &Json) -> String {
        PolicyDocument::parse(document).expect_err("invalid").to_string()
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once_with_its_place() {
        let document = json!({ "statement": [
            { "effect": "allow", "action": [], "resource": [] },
            { "effect": "Deny", "action": ["agents", "agents:Make", 7], "resource": ["soat:p:agent:*", null] },
            { "effect": "Allow", "action": "agents:*", "condition": {
                "StringEquals": { "aws:Tag": "x", "soat:ResourceType": 1 },
                "NumericEquals": {},
                "StringLike": [],
            } },
            { "effect": "Allow", "action": ["*"], "conditions": {}, "condition": [] },
            "no",
        ], "version": 1 });
        insta::assert_snapshot!(problems(&document).replace("; ", "\n"));
    }

    #[test]
    fn a_document_needs_its_statements() {
        assert_eq!(problems(&json!([])), "Policy document is invalid: document: must be an object");
        assert_eq!(problems(&json!({})), "Policy document is invalid: statement: must be an array");
        assert!(PolicyDocument::parse(&json!({ "statement": [] })).is_ok(), "which allows nothing");
    }

    #[test]
    fn a_good_document_is_taken() {
        let document = json!({ "statement": [{
            "effect": "Allow", "action": ["agents:*", "tools:CreateTool", "*"],
            "resource": ["*", "srn:proj_1:agent:*"],
            "condition": {
                "StringEquals": { "soat:ResourceTag/team": "a" },
                "StringNotEquals": { "soat:ResourceType": "secret" },
                "StringLike": { "soat:ResourceTag/stage": "dev*" },
            },
        }] });
        let parsed = PolicyDocument::parse(&document).expect("valid");
        assert!(parsed.asks_for_tags());
        assert_eq!(parsed.statements[0].conditions.len(), 3);
    }
}
