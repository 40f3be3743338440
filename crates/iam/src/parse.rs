//! From a value to a policy document, or to everything that is wrong with it.

use crate::context::{RESOURCE_TAG, RESOURCE_TYPE, is_known_key};
use crate::document::{ActionPattern, Operator, Statement, Test};
use crate::{Effect, Look, PolicyDocument, SrnPattern, actions, is_known_action};
use formwork_model::{Json, Path, Suggest};
use std::collections::BTreeSet;

/// The members of a statement.
const MEMBERS: [&str; 4] = ["effect", "action", "resource", "condition"];

/// What is wrong with one place of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Of which kind it is.
    pub kind: ViolationKind,
    /// Where exactly, from the document: `statement[0].action[1]`.
    pub path: Path,
    /// Of which part, as messages name it: `statement[0].action`.
    pub place: String,
    /// What: `must be a non-empty array`.
    pub problem: String,
    /// What was probably meant.
    pub hint: Option<String>,
}

/// Kinds of violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// No document may look like this.
    Invalid,
    /// An action of the right form that does not exist.
    UnknownAction,
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
    /// allow more than its author meant. So is a null, which says neither "none" nor "all".
    ///
    /// # Errors
    /// All violations (`formations-types.md`, "policy").
    pub fn parse(document: &Json) -> Result<Self, InvalidPolicy> {
        let mut reader = Reader::default();
        let statements = reader.document(document);
        if reader.found.is_empty() { Ok(Self { statements }) } else { Err(InvalidPolicy(reader.found)) }
    }
}

/// Everything that is wrong with a document, as far as it is known.
pub fn check_document<'a>(document: impl Look<'a>) -> Vec<Violation> {
    let mut reader = Reader::default();
    reader.document(document);
    reader.found
}

#[derive(Default)]
struct Reader {
    found: Vec<Violation>,
    suggest: Suggest,
}

/// A part of the document that is read.
#[derive(Clone)]
struct At {
    path: Path,
}

impl At {
    fn root() -> Self {
        Self { path: Path::root() }
    }

    fn key(&self, key: &str) -> Self {
        Self { path: self.path.key(key) }
    }

    fn index(&self, index: usize) -> Self {
        Self { path: self.path.index(index) }
    }

    fn place(&self) -> String {
        if self.path.is_root() { "document".to_owned() } else { self.path.to_string() }
    }
}

impl Reader {
    fn report(&mut self, at: &At, problem: impl Into<String>) {
        self.report_in(at, at, problem, None);
    }

    /// Reports what is wrong at `exact`, which belongs to `part`.
    fn report_in(&mut self, part: &At, exact: &At, problem: impl Into<String>, hint: Option<String>) {
        self.found.push(Violation {
            kind: ViolationKind::Invalid,
            path: exact.path.clone(),
            place: part.place(),
            problem: problem.into(),
            hint,
        });
    }

    fn refuse_unknown<'a, L: Look<'a>>(&mut self, at: &At, members: &[(&str, L)], known: &[&str]) {
        for (name, _) in members.iter().filter(|(name, _)| !known.contains(name)) {
            let problem = format!("has unknown field \"{name}\"; known are {}", known.join(", "));
            let hint = self.suggest.hint(name, known.iter().copied());
            self.report_in(at, &at.key(name), problem, hint);
        }
    }

    fn document<'a>(&mut self, document: impl Look<'a>) -> Vec<Statement> {
        let at = At::root();
        if document.is_unknown() {
            return Vec::new();
        }
        let Some(members) = document.members() else {
            self.report(&at, "must be an object");
            return Vec::new();
        };
        self.refuse_unknown(&at, &members, &["statement"]);
        let statements = member(&members, "statement");
        let at = at.key("statement");
        if statements.is_some_and(Look::is_unknown) {
            return Vec::new();
        }
        let Some(statements) = statements.and_then(Look::items) else {
            self.report(&at, "must be an array");
            return Vec::new();
        };
        let statements = statements.into_iter().enumerate();
        statements.filter_map(|(index, statement)| self.statement(&at.index(index), statement)).collect()
    }

    fn statement<'a>(&mut self, at: &At, statement: impl Look<'a>) -> Option<Statement> {
        if statement.is_unknown() {
            return None;
        }
        let Some(members) = statement.members() else {
            self.report(at, "must be an object");
            return None;
        };
        self.refuse_unknown(at, &members, &MEMBERS);
        let effect = self.effect(&at.key("effect"), member(&members, "effect"));
        let actions = self.actions(&at.key("action"), member(&members, "action"));
        let resources = self.resources(&at.key("resource"), member(&members, "resource"));
        let conditions = self.conditions(&at.key("condition"), member(&members, "condition"));
        Some(Statement { effect: effect?, actions, resources, conditions })
    }

    fn effect<'a>(&mut self, at: &At, effect: Option<impl Look<'a>>) -> Option<Effect> {
        match effect.and_then(Look::text) {
            Some("Allow") => return Some(Effect::Allow),
            Some("Deny") => return Some(Effect::Deny),
            _ if effect.is_some_and(Look::is_unknown) => return None,
            text => {
                let hint = text.and_then(|text| self.suggest.hint(text, ["Allow", "Deny"]));
                self.report_in(at, at, "must be one of Allow, Deny", hint);
            }
        }
        None
    }

    fn actions<'a>(&mut self, at: &At, actions: Option<impl Look<'a>>) -> Vec<ActionPattern> {
        if actions.is_some_and(Look::is_unknown) {
            return Vec::new();
        }
        let Some(actions) = actions.and_then(Look::items).filter(|actions| !actions.is_empty()) else {
            self.report(at, "must be a non-empty array");
            return Vec::new();
        };
        let actions = actions.into_iter().enumerate();
        actions.filter_map(|(index, action)| self.action(at, &at.index(index), action)).collect()
    }

    fn action<'a>(&mut self, part: &At, at: &At, action: impl Look<'a>) -> Option<ActionPattern> {
        if action.is_unknown() {
            return None;
        }
        let pattern = action.text().and_then(action_pattern);
        match (&pattern, action.text()) {
            (Some(_), Some(name)) if is_known_action(name) => {}
            (Some(_), Some(name)) => {
                let problem = format!(
                    "\"{name}\" is not a known action — see the Permissions Reference (/docs/permissions)"
                );
                let hint = near_action(&mut self.suggest, name);
                self.report_in(part, at, problem, hint);
                if let Some(violation) = self.found.last_mut() {
                    violation.kind = ViolationKind::UnknownAction;
                }
            }
            _ => {
                let problem =
                    format!("{} is invalid — must be *, module:*, or module:Operation", action.quoted());
                self.report_in(part, at, problem, None);
            }
        }
        pattern
    }

    fn resources<'a>(&mut self, at: &At, resources: Option<impl Look<'a>>) -> Vec<SrnPattern> {
        let Some(resources) = resources else { return vec![SrnPattern::All] };
        if resources.is_unknown() {
            return Vec::new();
        }
        let Some(resources) = resources.items().filter(|resources| !resources.is_empty()) else {
            self.report(at, "must be a non-empty array when present");
            return Vec::new();
        };
        let mut patterns = Vec::new();
        for (index, resource) in resources.into_iter().enumerate().filter(|(_, item)| !item.is_unknown()) {
            if let Some(pattern) = resource.text().and_then(SrnPattern::parse) {
                patterns.push(pattern);
            } else {
                let problem =
                    format!("{} is invalid — must be * or srn:<project>:<type>:<id>", resource.quoted());
                self.report_in(at, &at.index(index), problem, None);
            }
        }
        patterns
    }

    fn conditions<'a>(&mut self, at: &At, conditions: Option<impl Look<'a>>) -> Vec<Test> {
        let Some(conditions) = conditions.filter(|conditions| !conditions.is_unknown()) else {
            return Vec::new();
        };
        let Some(operators) = conditions.members() else {
            self.report(at, "must be an object when present");
            return Vec::new();
        };
        let mut tests = Vec::new();
        for (name, keys) in operators {
            let below = at.key(name);
            if let Some((_, operator)) = Operator::NAMED.iter().find(|(known, _)| *known == name) {
                tests.extend(self.keys(&below, *operator, keys));
            } else {
                let known = Operator::NAMED.map(|(known, _)| known);
                let problem = format!("operator \"{name}\" must be one of {}", known.join(", "));
                let hint = self.suggest.hint(name, known);
                self.report_in(at, &below, problem, hint);
            }
        }
        tests
    }

    fn keys<'a>(&mut self, at: &At, operator: Operator, keys: impl Look<'a>) -> Vec<Test> {
        if keys.is_unknown() {
            return Vec::new();
        }
        let Some(keys) = keys.members() else {
            self.report(at, "must be an object");
            return Vec::new();
        };
        keys.into_iter().filter_map(|(key, value)| self.test(at, operator, key, value)).collect()
    }

    fn test<'a>(&mut self, at: &At, operator: Operator, key: &str, value: impl Look<'a>) -> Option<Test> {
        if !key.starts_with("soat:") {
            let problem = format!("key \"{key}\" must start with \"soat:\"");
            let hint = near_key(&mut self.suggest, key);
            self.report_in(at, &at.key(key), problem, hint);
        } else if !is_known_key(key) {
            let problem =
                format!("key \"{key}\" is not known — must be {RESOURCE_TYPE} or {RESOURCE_TAG}<name>");
            let hint = near_key(&mut self.suggest, key);
            self.report_in(at, &at.key(key), problem, hint);
        }
        if value.is_unknown() {
            return None;
        }
        let Some(value) = value.text() else {
            self.report_in(at, &at.key(key), format!("the value of \"{key}\" must be a string"), None);
            return None;
        };
        Some(Test { operator, key: key.to_owned(), value: value.to_owned() })
    }
}

fn member<'a, L: Look<'a>>(members: &[(&str, L)], name: &str) -> Option<L> {
    members.iter().find(|(found, _)| *found == name).map(|(_, member)| *member)
}

/// The key that was meant: the tag's name stays as it was written.
fn near_key(suggest: &mut Suggest, wrong: &str) -> Option<String> {
    let tag_key = RESOURCE_TAG.trim_end_matches('/');
    let spelled = if wrong.starts_with("soat:") { wrong.to_owned() } else { format!("soat:{wrong}") };
    let (name, tag) = spelled.split_once('/').unwrap_or((&spelled, ""));
    let near = suggest.nearest(name, [RESOURCE_TYPE, tag_key])?;
    let tag = if tag.is_empty() { "<name>" } else { tag };
    let key = if near == tag_key { format!("{RESOURCE_TAG}{tag}") } else { near.to_owned() };
    (key != wrong).then(|| format!("did you mean `{key}`?"))
}

/// The action that was meant: one of the same module, or the same of another.
fn near_action(suggest: &mut Suggest, wrong: &str) -> Option<String> {
    let mut known: Vec<String> = actions().collect();
    let modules: BTreeSet<String> =
        known.iter().filter_map(|action| Some(format!("{}:*", action.split_once(':')?.0))).collect();
    known.extend(modules);
    suggest.hint(wrong, known.iter().map(String::as_str))
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
    fn a_null_is_neither_none_nor_all() {
        for member in ["effect", "action", "resource", "condition"] {
            let mut statement = json!({ "effect": "Allow", "action": ["*"] });
            statement[member] = Json::Null;
            let text = problems(&json!({ "statement": [statement] }));
            assert!(text.contains(&format!("statement[0].{member}: must be")), "{text}");
        }
        assert!(problems(&json!({ "statement": null })).ends_with("statement: must be an array"));
    }

    #[test]
    fn what_was_meant_is_suggested_at_the_exact_place() {
        let statement = json!({
            "effect": "allow", "actions": ["*"], "action": ["*", "agents:CreateAgnet", "agent:*"],
            "condition": {
                "StringEqual": {},
                "StringEquals": {
                    "soat:ResourceTags/team": "a", "soat:resourceType": "b", "ResourceType": "c",
                    "soat:ResourceTag/": "d", "soat:ResourceTag": "e", "soat:Principal": "f",
                },
            },
        });
        let InvalidPolicy(found) =
            PolicyDocument::parse(&json!({ "statement": [statement] })).expect_err("invalid");
        let lines: Vec<String> = found
            .iter()
            .map(|violation| {
                format!("{} [{}] {}", violation.path, violation, violation.hint.as_deref().unwrap_or("-"))
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
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
