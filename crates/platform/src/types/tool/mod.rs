//! `tool`: what an agent can call (`formations-behaviour.md` §7.4).

mod auth;
mod pipeline;
mod sensitive;
mod tokens;

use super::{check_known, check_texts};
use crate::{
    Definition, DependentRule, Dependents, Findings, Node, PlatformType, RefKind, Reference, Refusal,
    RestRoute, UpdateMode, json_logic, references, rest_routes,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx};
use std::sync::LazyLock;

pub(super) use tokens::is_header_name;

pub(super) struct Tool;

const TYPES: &[&str] = &["http", "client", "mcp", "builtin", "pipeline"];

static ROUTE: RestRoute = RestRoute {
    type_name: "tool",
    path: "/tools",
    id_param: "tool_id",
    module: "tools",
    create: Some("CreateTool"),
    list: "ListTools",
    get: "GetTool",
    update: Some("UpdateTool"),
    delete: Some("DeleteTool"),
    update_modes: &[UpdateMode::Patch],
    ..RestRoute::USUAL
};

/// Agents keep the id of a tool that is gone: their next call says so. Ingestion has nobody to tell.
static DEPENDENTS: [Dependents; 1] = [Dependents {
    type_name: "ingestion_rule",
    fields: &["tool_id"],
    rule: DependentRule::Block {
        code: WireCode::ToolHasDependents,
        count: "ingestionRuleCount",
        force: false,
    },
}];

/// The type of a tool, if it is one.
///
/// # Errors
/// A fault of the store.
pub(super) fn type_of(tx: &mut dyn DomainTx, id: &str) -> Result<Option<String>, DomainError> {
    let tool = tx.get(id)?.filter(|tool| tool.type_name == "tool");
    let type_name =
        tool.as_ref().and_then(|tool| tool.doc.pointer("/properties/type")).and_then(Json::as_str);
    Ok(type_name.map(str::to_owned))
}

/// The actions of a builtin tool: our own REST operations in kebab case (`create-agent`).
static ACTIONS: LazyLock<Vec<String>> =
    LazyLock::new(|| rest_routes().iter().flat_map(RestRoute::operations).map(kebab).collect());

fn kebab(operation: &str) -> String {
    let mut name = String::new();
    for (index, letter) in operation.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

impl PlatformType for Tool {
    fn define(&self) -> Definition {
        let object = |doc: &'static str| PropertySchema::new(Kind::Object, doc).nullable();
        let list =
            |doc: &'static str| PropertySchema::new(Kind::Array, doc).nullable().shaped(super::texts());
        Definition {
            name: "tool",
            title: "tool",
            noun: "Tool",
            id_prefix: "tool",
            doc: "Something that an agent can call.",
            properties: vec![
                ("name", PropertySchema::new(Kind::String, "What the model calls it.").required()),
                (
                    "type",
                    PropertySchema::new(Kind::String, "How it is carried out.").nullable().default("http"),
                ),
                (
                    "description",
                    PropertySchema::new(Kind::String, "What the model is told of it.").nullable(),
                ),
                ("parameters", object("The JSON Schema of its arguments.")),
                ("execute", object("The HTTP request of an `http` tool.")),
                ("mcp", object("The server of an `mcp` tool.")),
                ("actions", list("For `builtin`, the platform's actions; for `mcp`, those allowed.")),
                ("denied_actions", list("For `mcp`, the actions denied; this wins.")),
                ("context_keys", list("The keys of a call's context that may be sent along.")),
                ("preset_parameters", object("Arguments that the model neither sees nor sets.")),
                ("pipeline", object("The steps of a `pipeline` tool.")),
                ("output_mapping", object("JSON Logic that shapes the answer.")),
                ("guardrail_ids", list("The guardrails on its calls.").refers_to("guardrail")),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "tool",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_type(properties, findings);
        check_request(properties, "execute", &Path::root(), findings);
        check_request(properties, "mcp", &Path::root(), findings);
        check_actions(properties, findings);
        check_context_keys(properties, findings);
        check_texts(properties.member("denied_actions"), &Path::of(["denied_actions"]), findings);
        check_texts(properties.member("guardrail_ids"), &Path::of(["guardrail_ids"]), findings);
        pipeline::check(properties, findings);
        if let Some(mapping) = properties.member("output_mapping") {
            json_logic::check(mapping, &Path::of(["output_mapping"]), findings);
        }
    }

    fn sensitive(&self, properties: Node<'_>) -> Vec<Path> {
        sensitive::places(properties)
    }

    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        references::at(properties, &["pipeline", "steps", "tool_id"], RefKind::Tool, found);
        pipeline::for_each_tool(Node::Plain(properties), &mut |at, tool| {
            for part in ["execute", "mcp"] {
                let Some(request) = tool.member(part) else { continue };
                let field = if at.is_root() { part } else { "pipeline" };
                let ids = tokens::secret_ids(request).into_iter();
                found.extend(ids.map(|to| Reference { field: field.to_owned(), kind: RefKind::Secret, to }));
            }
        });
    }

    fn admit(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &Json,
    ) -> Result<(), DomainError> {
        for (step, tool_id) in pipeline::step_tools(properties) {
            let tool = tx.get(tool_id)?.filter(|tool| tool.project.as_ref() == Some(project));
            let type_name = tool.as_ref().and_then(|tool| tool.doc.pointer("/properties/type"));
            if type_name.and_then(Json::as_str) == Some("client") {
                let message = format!(
                    "Pipeline step '{step}' references a client tool; client tools cannot be executed \
                     server-side."
                );
                return Err(Refusal::new(WireCode::PipelineInvalidStep, message).into());
            }
        }
        Ok(())
    }
}

fn check_type(properties: Node<'_>, findings: &mut Findings) {
    let Some(type_name) = properties.member("type").and_then(Node::text) else { return };
    if !TYPES.contains(&type_name) {
        let supported = TYPES.join(", ");
        let message = format!("Unsupported tool type '{type_name}'. Supported types: {supported}");
        findings.error(DiagnosticCode::InvalidValue, Path::of(["type"]), message);
    }
}

/// `execute` or `mcp`: of a tool, or of an inline tool, whose own path is `at`.
fn check_request(tool: Node<'_>, part: &str, at: &Path, findings: &mut Findings) {
    let Some(request) = tool.member(part) else { return };
    let path = at.key(part);
    let known: &[&str] = match part {
        "execute" => &["url", "method", "headers", "body_mode", "auth"],
        _ => &["url", "headers"],
    };
    check_known(request, known, &path, findings);
    for name in ["url", "method"] {
        if request.member(name).is_some_and(|value| !value.may_be_text()) {
            let message = format!("`{path}.{name}` must be a non-empty string");
            findings.error(DiagnosticCode::InvalidValue, path.key(name), message);
        }
    }
    match request.member("headers") {
        Some(headers) if headers.is_object() => {
            super::check_text_members(Some(headers), &path.key("headers"), findings);
        }
        Some(headers) if !headers.is_expression() => {
            let message = format!("`{path}.headers` must be an object");
            findings.error(DiagnosticCode::WrongType, path.key("headers"), message);
        }
        _ => {}
    }
    if part == "execute" {
        auth::check(request, &path, findings);
    }
    // Tokens are reported at the tool's own property, whichever inline tool they stand in.
    let property = path.segments().iter().take(1).cloned().collect();
    tokens::check(request, &property, findings);
}

fn check_actions(properties: Node<'_>, findings: &mut Findings) {
    let at = Path::of(["actions"]);
    check_texts(properties.member("actions"), &at, findings);
    if properties.member("type").and_then(Node::text) != Some("builtin") {
        return;
    }
    let actions = properties.member("actions").map(Node::items).unwrap_or_default();
    let named = actions.into_iter().filter_map(Node::text);
    let unknown: Vec<&str> = named.filter(|name| !ACTIONS.iter().any(|action| action == name)).collect();
    if !unknown.is_empty() {
        let message = format!("Unknown SOAT action(s): {}", unknown.join(", "));
        findings.error(DiagnosticCode::InvalidValue, at, message);
    }
}

fn check_context_keys(properties: Node<'_>, findings: &mut Findings) {
    let at = Path::of(["context_keys"]);
    let keys = properties.member("context_keys");
    check_texts(keys, &at, findings);
    let named = keys.map(Node::items).unwrap_or_default().into_iter().filter_map(Node::text);
    let bad: Vec<String> = named.filter(|key| !is_header_name(key)).map(|key| format!("'{key}'")).collect();
    if !bad.is_empty() {
        let message = format!("context_keys entries must be valid header names; invalid: {}", bad.join(", "));
        findings.error(DiagnosticCode::InvalidValue, at, message);
    }
}
