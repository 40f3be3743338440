//! `pipeline`: steps that call tools one after the other, each with JSON Logic over what came
//! before.

use super::check_request;
use crate::{Findings, Node, json_logic::variables, types::check_known_as};
use formwork_model::{DiagnosticCode, Json, Path, WireCode};
use std::collections::BTreeSet;

/// What a step's id looks like, as messages show it.
const ID_PATTERN: &str = "^[a-zA-Z_][a-zA-Z0-9_-]*$";
/// What an inline tool may declare: what a tool of its own may.
const INLINE: &[&str] = &[
    "name",
    "type",
    "description",
    "parameters",
    "execute",
    "mcp",
    "actions",
    "denied_actions",
    "context_keys",
    "preset_parameters",
    "pipeline",
    "output_mapping",
    "guardrail_ids",
];
/// How deep inline tools may hold inline tools.
const DEEPEST: usize = 8;

/// Checks the pipeline of a tool. Problems are reported at the pipeline, as their messages name
/// the step.
pub(super) fn check(tool: Node<'_>, findings: &mut Findings) {
    let is_pipeline = tool.member("type").and_then(Node::text) == Some("pipeline");
    let Some(pipeline) = tool.member("pipeline") else {
        if is_pipeline {
            report("A pipeline tool requires a `pipeline` object.", findings);
        }
        return;
    };
    if pipeline.is_expression() {
        return;
    }
    if !pipeline.is_object() {
        report("A pipeline tool requires a `pipeline` object.", findings);
        return;
    }
    check_steps(pipeline, findings);
    check_inline_tools(tool, findings);
    warn_of_unused_parameters(tool, pipeline, findings);
}

fn at() -> Path {
    Path::of(["pipeline"])
}

fn report(message: impl Into<String>, findings: &mut Findings) {
    findings.coded(WireCode::PipelineInvalidStep, DiagnosticCode::InvalidValue, at(), message);
}

fn known(bag: Node<'_>, fields: &[&str], at: &Path, findings: &mut Findings) {
    check_known_as(WireCode::PipelineInvalidStep, bag, fields, at, findings);
}

fn check_steps(pipeline: Node<'_>, findings: &mut Findings) {
    let steps = pipeline.member("steps");
    if steps.is_some_and(Node::is_expression) {
        return;
    }
    let steps = steps.map(Node::items).unwrap_or_default();
    if steps.is_empty() {
        report("Pipeline `steps` must be a non-empty array.", findings);
        return;
    }
    let mut earlier = BTreeSet::new();
    // Once the id of one step is not known, no reference can be called wrong any more.
    let mut all_known = true;
    for (index, step) in steps.into_iter().enumerate() {
        if step.is_expression() {
            all_known = false;
            continue;
        }
        if !step.is_object() {
            report(format!("Pipeline step at index {index} must be an object."), findings);
            continue;
        }
        let Some(id) = step_id(step, index, &mut all_known, findings) else { continue };
        if earlier.contains(id) {
            report(format!("Duplicate pipeline step id '{id}'."), findings);
        }
        check_tool_of(step, id, findings);
        for name in step.member("input").map(step_references).unwrap_or_default() {
            if all_known && !earlier.contains(name) {
                let message =
                    format!("Pipeline step '{id}' references step '{name}', which is not an earlier step.");
                report(message, findings);
            }
        }
        earlier.insert(id);
    }
    for name in pipeline.member("output").map(step_references).unwrap_or_default() {
        if all_known && !earlier.contains(name) {
            report(format!("Pipeline output references step '{name}', which does not exist."), findings);
        }
    }
}

fn step_id<'a>(
    step: Node<'a>,
    index: usize,
    all_known: &mut bool,
    findings: &mut Findings,
) -> Option<&'a str> {
    let id = step.member("id");
    if id.is_some_and(Node::is_expression) {
        *all_known = false;
        return None;
    }
    let id = id.and_then(Node::text).filter(|id| is_id(id));
    if id.is_none() {
        report(format!("Pipeline step at index {index} must have an id matching {ID_PATTERN}."), findings);
    }
    id
}

fn is_id(text: &str) -> bool {
    let starts_well = |first: u8| first.is_ascii_alphabetic() || first == b'_';
    let goes_on_well = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    text.bytes().next().is_some_and(starts_well) && text.bytes().all(goes_on_well)
}

fn check_tool_of(step: Node<'_>, id: &str, findings: &mut Findings) {
    let (by_id, inline) = (step.member("tool_id"), step.member("tool"));
    match (by_id, inline) {
        (Some(_), Some(_)) => report(
            format!("Pipeline step '{id}' must reference either a tool_id or an inline tool, not both."),
            findings,
        ),
        (Some(tool_id), None) if tool_id.may_be_text() => {}
        (None, Some(tool)) => {
            let named = tool.member("name").is_some_and(Node::may_be_text);
            if !tool.is_expression() && !named {
                let message = format!("Pipeline step '{id}' inline tool must be an object with a name.");
                report(message, findings);
            }
        }
        _ => report(format!("Pipeline step '{id}' must reference a tool_id or an inline tool."), findings),
    }
}

/// The steps that JSON Logic names (`{"var": "steps.fetch.body"}`).
fn step_references(logic: Node<'_>) -> Vec<&str> {
    let names = variables(logic).into_iter();
    names
        .filter_map(|name| name.strip_prefix("steps."))
        .map(|rest| rest.split('.').next().unwrap_or(rest))
        .collect()
}

fn check_inline_tools(tool: Node<'_>, findings: &mut Findings) {
    let mut too_deep = false;
    for_each_tool(tool, &mut |path, inline| {
        if let Some(pipeline) = inline.member("pipeline") {
            check_fields(pipeline, &path.key("pipeline"), findings);
        }
        if !path.is_root() {
            known(inline, INLINE, path, findings);
            check_request(inline, "execute", path, findings);
            check_request(inline, "mcp", path, findings);
        }
        too_deep |= depth(path) > DEEPEST;
    });
    if too_deep {
        report(format!("Pipeline inline tools can be nested {DEEPEST} deep at most."), findings);
    }
}

/// The members of a pipeline and of its steps.
fn check_fields(pipeline: Node<'_>, at: &Path, findings: &mut Findings) {
    known(pipeline, &["steps", "output"], at, findings);
    let steps = pipeline.member("steps").map(Node::items).unwrap_or_default();
    for (index, step) in steps.into_iter().enumerate().filter(|(_, step)| !step.is_expression()) {
        let at = at.key("steps").index(index);
        known(step, &["id", "tool_id", "tool", "action", "input"], &at, findings);
    }
}

/// Each inline tool lies four names below the one that holds it: `pipeline.steps[i].tool`.
fn depth(path: &Path) -> usize {
    path.segments().len() / 4
}

/// Visits a tool and all tools inline in its pipeline, with their paths.
pub(super) fn for_each_tool(tool: Node<'_>, visit: &mut impl FnMut(&Path, Node<'_>)) {
    let mut pending = vec![(Path::root(), tool)];
    while let Some((path, tool)) = pending.pop() {
        visit(&path, tool);
        let steps = tool.member("pipeline").and_then(|pipeline| pipeline.member("steps"));
        for (index, step) in steps.map(Node::items).unwrap_or_default().into_iter().enumerate() {
            if let Some(inline) = step.member("tool") {
                pending.push((path.key("pipeline").key("steps").index(index).key("tool"), inline));
            }
        }
    }
}

/// The tools that steps name by id, with the step's own id.
pub(super) fn step_tools(properties: &Json) -> Vec<(&str, &str)> {
    let steps = properties.pointer("/pipeline/steps").and_then(Json::as_array);
    steps.into_iter().flatten().filter_map(step_tool).collect()
}

fn step_tool(step: &Json) -> Option<(&str, &str)> {
    Some((step.get("id")?.as_str()?, step.get("tool_id")?.as_str()?))
}

/// A parameter that no step reads is almost always a slip.
fn warn_of_unused_parameters(tool: Node<'_>, pipeline: Node<'_>, findings: &mut Findings) {
    let declared = tool.member("parameters").and_then(|schema| schema.member("properties"));
    let used = variables(pipeline);
    let reads_all = used.iter().any(|name| *name == "input" || name.is_empty());
    if reads_all || holds_expression(pipeline) {
        return;
    }
    for (name, _) in declared.map(Node::members).unwrap_or_default() {
        let read = |used: &&str| {
            used.strip_prefix("input.").is_some_and(|rest| rest.split('.').next() == Some(name))
        };
        if !used.iter().any(read) {
            let message = format!("Pipeline parameter '{name}' is never referenced by a step.");
            findings.warning(DiagnosticCode::UnusedParameter, at(), message);
        }
    }
}

/// Whether a part of the logic is not known, apart from the tools' ids.
fn holds_expression(pipeline: Node<'_>) -> bool {
    let steps = pipeline.member("steps");
    let unknown = |node: Option<Node<'_>>| node.is_some_and(|node| any_expression(node));
    let inputs = steps.map(Node::items).unwrap_or_default();
    steps.is_some_and(Node::is_expression)
        || inputs.into_iter().any(|step| step.is_expression() || unknown(step.member("input")))
        || unknown(pipeline.member("output"))
}

fn any_expression(node: Node<'_>) -> bool {
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if node.is_expression() {
            return true;
        }
        pending.extend(node.members().into_iter().map(|(_, member)| member));
        pending.extend(node.items());
    }
    false
}
