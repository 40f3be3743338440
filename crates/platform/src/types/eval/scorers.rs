//! `scorers`: what scores an answer, and what each kind takes.

use crate::{Findings, Node, Refusal, json_logic, types::check_known};
use formwork_model::{DiagnosticCode, Json, Path, ProjectId, WireCode};
use formwork_store::{DomainError, DomainTx};
use std::collections::BTreeSet;

/// What a scorer takes beside its `type`.
struct Kind {
    name: &'static str,
    fields: &'static [(&'static str, Field)],
}

/// One field of a scorer.
#[derive(Clone, Copy)]
struct Field {
    holds: Holds,
    required: bool,
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Boolean,
    Object,
    Logic,
    /// A number from 0 to 1.
    Share,
}

const fn field(holds: Holds) -> Field {
    Field { holds, required: false }
}

const fn required(holds: Holds) -> Field {
    Field { holds, required: true }
}

const TOOL: &str = "tool";
const OUTPUT_SCHEMA: &str = "output_schema";

const KINDS: &[Kind] = &[
    Kind { name: "exact_match", fields: &[] },
    Kind {
        name: "contains",
        fields: &[("value", required(Holds::Text)), ("case_sensitive", field(Holds::Boolean))],
    },
    Kind { name: "json_logic", fields: &[("expression", required(Holds::Logic))] },
    Kind { name: OUTPUT_SCHEMA, fields: &[("schema", field(Holds::Object))] },
    Kind { name: "embedding_similarity", fields: &[("pass_threshold", required(Holds::Share))] },
    Kind {
        name: "llm_judge",
        fields: &[
            ("prompt", required(Holds::Text)),
            ("pass_threshold", required(Holds::Share)),
            ("ai_provider_id", field(Holds::Text)),
            ("model", field(Holds::Text)),
        ],
    },
    Kind {
        name: TOOL,
        fields: &[
            ("name", required(Holds::Text)),
            ("tool_id", required(Holds::Text)),
            ("action", field(Holds::Text)),
            ("preset_parameters", field(Holds::Object)),
            ("pass_threshold", field(Holds::Share)),
        ],
    },
];

/// Checks all scorers. Messages name a scorer by its place.
pub(super) fn check(properties: Node<'_>, findings: &mut Findings) {
    let scorers = properties.member("scorers").map(Node::items).unwrap_or_default();
    let mut seen = BTreeSet::new();
    for (index, scorer) in scorers.into_iter().enumerate() {
        let at = Path::of(["scorers"]).index(index);
        if scorer.is_expression() {
            continue;
        }
        if !scorer.is_object() {
            let message = format!("scorers.{index} must be an object.");
            findings.error(DiagnosticCode::WrongType, at, message);
            continue;
        }
        check_scorer(scorer, index, &at, &mut seen, findings);
    }
}

fn check_scorer<'a>(
    scorer: Node<'a>,
    index: usize,
    at: &Path,
    seen: &mut BTreeSet<(&'a str, &'a str)>,
    findings: &mut Findings,
) {
    let type_name = scorer.member("type");
    if type_name.is_some_and(Node::is_expression) {
        return;
    }
    let kind = type_name.and_then(Node::text).and_then(|name| KINDS.iter().find(|kind| kind.name == name));
    let Some(kind) = kind else {
        let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let message = format!("scorers.{index}.type must be one of: {}.", names.join(", "));
        findings.error(DiagnosticCode::InvalidValue, at.key("type"), message);
        return;
    };
    let known: Vec<&str> = std::iter::once("type").chain(kind.fields.iter().map(|(name, _)| *name)).collect();
    check_known(scorer, &known, at, findings);
    for (name, field) in kind.fields {
        check_field(scorer, (name, *field), (index, at), findings);
    }
    check_once(scorer, kind, (index, at), seen, findings);
}

fn check_field(
    scorer: Node<'_>,
    (name, field): (&str, Field),
    (index, at): (usize, &Path),
    findings: &mut Findings,
) {
    let path = at.key(name);
    let Some(value) = scorer.member(name) else {
        if field.required {
            let message = format!("scorers.{index}.{name} is required.");
            findings.error(DiagnosticCode::MissingProperty, path, message);
        }
        return;
    };
    let (holds, expected) = match field.holds {
        Holds::Text => (value.may_be_text(), "a non-empty string"),
        Holds::Boolean => (value.json().is_some_and(Json::is_boolean), "a boolean"),
        Holds::Object => (value.is_object(), "an object"),
        Holds::Share => (is_share(value), "a number from 0 to 1"),
        Holds::Logic => return json_logic::check(value, &path, findings),
    };
    if !holds && !value.is_expression() {
        let message = format!("scorers.{index}.{name} must be {expected}.");
        findings.error(DiagnosticCode::InvalidValue, path, message);
    }
}

/// Results are told apart by the scorer's type, or by the name that a tool scorer has.
fn check_once<'a>(
    scorer: Node<'a>,
    kind: &Kind,
    (index, at): (usize, &Path),
    seen: &mut BTreeSet<(&'a str, &'a str)>,
    findings: &mut Findings,
) {
    if kind.name != TOOL {
        let type_name = scorer.member("type").and_then(Node::text).unwrap_or_default();
        if !seen.insert((type_name, "")) {
            let message =
                format!("scorers.{index}: a scorer of type '{type_name}' can be declared once only.");
            findings.error(DiagnosticCode::InvalidValue, at.key("type"), message);
        }
        return;
    }
    let Some(name) = scorer.member("name").and_then(Node::text) else { return };
    if KINDS.iter().any(|kind| kind.name == name) {
        let message = format!("scorers.{index}.name '{name}' is the name of a built-in scorer type.");
        findings.error(DiagnosticCode::InvalidValue, at.key("name"), message);
    } else if !seen.insert((TOOL, name)) {
        let message = format!("scorers.{index}.name '{name}' is another tool scorer's name already.");
        findings.error(DiagnosticCode::InvalidValue, at.key("name"), message);
    }
}

fn is_share(value: Node<'_>) -> bool {
    value.json().and_then(Json::as_f64).is_some_and(|number| (0.0..=1.0).contains(&number))
}

/// Reports a member that is certainly no number from 0 to 1.
pub(super) fn check_share(bag: Node<'_>, name: &str, at: &Path, findings: &mut Findings) {
    let wrong = |value: Node<'_>| value.json().is_some_and(Json::is_number) && !is_share(value);
    if bag.member(name).is_some_and(wrong) {
        let path = at.key(name);
        let message = format!("`{path}` must be a number from 0 to 1");
        findings.error(DiagnosticCode::InvalidValue, path, message);
    }
}

/// Checks what takes the agent's and the tools' own declarations.
///
/// # Errors
/// A refusal.
pub(super) fn admit(
    tx: &mut dyn DomainTx,
    project: &ProjectId,
    properties: &Json,
) -> Result<(), DomainError> {
    let scorers = properties.get("scorers").and_then(Json::as_array);
    for (index, scorer) in scorers.into_iter().flatten().enumerate() {
        match scorer.get("type").and_then(Json::as_str) {
            Some(OUTPUT_SCHEMA) if scorer.get("schema").is_none_or(Json::is_null) => {
                require_schema(tx, project, properties, index)?;
            }
            Some(TOOL) => refuse_client_tool(tx, project, scorer, index)?,
            _ => {}
        }
    }
    Ok(())
}

fn require_schema(
    tx: &mut dyn DomainTx,
    project: &ProjectId,
    properties: &Json,
    index: usize,
) -> Result<(), DomainError> {
    let id = properties.get("agent_id").and_then(Json::as_str).unwrap_or_default();
    let agent = tx.get(id)?.filter(|agent| agent.project.as_ref() == Some(project));
    let schema = agent.as_ref().and_then(|agent| agent.doc.pointer("/properties/output_schema"));
    if schema.is_some() {
        return Ok(());
    }
    let message = format!(
        "scorers.{index}: an output_schema scorer without a schema needs an agent that has an output_schema."
    );
    Err(Refusal::new(WireCode::ValidationFailed, message).into())
}

fn refuse_client_tool(
    tx: &mut dyn DomainTx,
    project: &ProjectId,
    scorer: &Json,
    index: usize,
) -> Result<(), DomainError> {
    let id = scorer.get("tool_id").and_then(Json::as_str).unwrap_or_default();
    let tool = tx.get(id)?.filter(|tool| tool.project.as_ref() == Some(project));
    let type_name = tool.as_ref().and_then(|tool| tool.doc.pointer("/properties/type"));
    if type_name.and_then(Json::as_str) != Some("client") {
        return Ok(());
    }
    let message = format!(
        "scorers.{index}.tool_id references a client tool; client tools cannot be executed server-side."
    );
    Err(Refusal::new(WireCode::ValidationFailed, message).into())
}
