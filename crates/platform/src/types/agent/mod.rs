//! `agent`: a model with instructions and tools (`formations-behaviour.md` §7.1).

mod boundary;
mod loop_rules;

use super::model_choice;
use super::{check_known, check_least, check_texts};
use crate::{
    Definition, DependentRule, Dependents, Extra, Findings, Node, PlatformType, ProjectSettings, RefKind,
    Reference, Refusal, RestRoute, TraceContentMode, UpdateMode, references,
    versions::{self, Versions},
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx};

pub(super) struct Agent;

const KNOWLEDGE: &[&str] = &[
    "memory_ids",
    "memory_tags",
    "document_ids",
    "document_paths",
    "min_score",
    "limit",
    "write_memory_id",
    "extraction",
];

static ROUTE: RestRoute = RestRoute {
    type_name: "agent",
    path: "/agents",
    id_param: "agent_id",
    module: "agents",
    create: Some("CreateAgent"),
    list: "ListAgents",
    get: "GetAgent",
    update: Some("UpdateAgent"),
    delete: Some("DeleteAgent"),
    update_modes: &[UpdateMode::Put, UpdateMode::Patch],
    force: true,
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 6] = [
    Dependents {
        type_name: "generation",
        fields: &["agent_id"],
        rule: DependentRule::Block {
            code: WireCode::AgentHasDependents,
            count: "generationCount",
            force: true,
        },
    },
    Dependents {
        type_name: "trace",
        fields: &["agent_id"],
        rule: DependentRule::Block { code: WireCode::AgentHasDependents, count: "traceCount", force: true },
    },
    Dependents {
        type_name: "ingestion_rule",
        fields: &["agent_id"],
        rule: DependentRule::Block {
            code: WireCode::AgentHasDependents,
            count: "ingestionRuleCount",
            force: false,
        },
    },
    Dependents { type_name: "session", fields: &["agent_id"], rule: DependentRule::Cascade },
    Dependents { type_name: "eval", fields: &["agent_id"], rule: DependentRule::Cascade },
    Dependents { type_name: "actor", fields: &["agent_id"], rule: DependentRule::Detach },
];

static EXTRAS: [Extra; 1] = [
    // Releases do not exist yet, so none is active.
    Extra { name: "active_release", kind: "object", nullable: true, value: |_| Json::Null },
];

impl PlatformType for Agent {
    fn define(&self) -> Definition {
        Definition {
            name: "agent",
            title: "agent",
            noun: "Agent",
            id_prefix: "agent",
            doc: "A model with instructions, tools and knowledge.",
            properties: properties(),
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "agent",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_binding(properties, findings);
        check_tool_bindings(properties, findings);
        loop_rules::check(properties, findings);
        boundary::check(properties, findings);
        check_knowledge(properties, findings);
        check_output_schema(properties, findings);
        check_texts(properties.member("active_tool_ids"), &Path::of(["active_tool_ids"]), findings);
        check_texts(properties.member("guardrail_ids"), &Path::of(["guardrail_ids"]), findings);
        check_least(properties, "max_steps", 1, &Path::root(), findings);
        check_least(properties, "max_context_messages", 1, &Path::root(), findings);
    }

    fn wire_code(&self, property: &str) -> WireCode {
        if property == "output_schema" { WireCode::InvalidOutputSchema } else { WireCode::ValidationFailed }
    }

    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        let nested: [(&[&str], RefKind); 6] = [
            (&["tool_bindings", "tool_id"], RefKind::Tool),
            (&["step_rules", "active_tool_ids"], RefKind::Tool),
            (&["knowledge_config", "memory_ids"], RefKind::Memory),
            (&["knowledge_config", "write_memory_id"], RefKind::Memory),
            (&["knowledge_config", "document_ids"], RefKind::Document),
            (&["knowledge_config", "extraction", "ai_provider_id"], RefKind::AiProvider),
        ];
        for (path, kind) in nested {
            references::at(properties, path, kind, found);
        }
    }

    fn admit(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &Json,
    ) -> Result<(), DomainError> {
        model_choice::admit(tx, project, properties, "An agent", self.model_bindings())?;
        refuse_content(tx, project, properties)
    }

    fn model_bindings(&self) -> &'static [&'static str] {
        &["ai_provider_id", "model_route_id"]
    }

    fn versioned(&self) -> Option<&'static Versions> {
        Some(&versions::AGENT)
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

fn properties() -> Vec<(&'static str, PropertySchema)> {
    let of = |kind: Kind, doc: &'static str| PropertySchema::new(kind, doc).nullable();
    vec![
        (
            "ai_provider_id",
            of(Kind::String, "The provider of its model; excludes `model_route_id`.")
                .refers_to("ai_provider"),
        ),
        (
            "model_route_id",
            of(Kind::String, "The route that picks its model; excludes `ai_provider_id` and `model`.")
                .refers_to("model_route"),
        ),
        ("name", of(Kind::String, "What people call it.")),
        ("instructions", of(Kind::String, "The system text that its model is given.")),
        ("model", of(Kind::String, "The model, if not the provider's default.")),
        (
            "tool_bindings",
            of(Kind::Array, "The tools it can call: objects with a `tool_id`.")
                .shaped(super::objects(&["tool_id"])),
        ),
        ("max_steps", of(Kind::Integer, "How many steps one generation may take.").default(20)),
        ("tool_choice", of(Kind::Any, "`auto`, `required`, or an object that names the one tool to call.")),
        ("stop_conditions", of(Kind::Array, "What ends a generation early.")),
        (
            "active_tool_ids",
            of(Kind::Array, "The tools it may use now.").refers_to("tool").shaped(super::texts()),
        ),
        (
            "guardrail_ids",
            of(Kind::Array, "The guardrails on its calls.").refers_to("guardrail").shaped(super::texts()),
        ),
        ("step_rules", of(Kind::Array, "What differs in single steps.")),
        ("boundary_policy", of(Kind::Object, "The most that its actions may do.")),
        ("temperature", of(Kind::Number, "How freely the model writes.")),
        ("max_context_messages", of(Kind::Integer, "How many messages its model is shown.")),
        ("single_session_per_actor", of(Kind::Boolean, "Whether an actor has one session.").default(false)),
        (
            "trace_content_mode",
            of(Kind::String, "Whether traces keep the content.").one_of(&["full", "none"]),
        ),
        (
            "on_approval_expiry",
            of(Kind::String, "What an expired approval does.")
                .one_of(&["terminate", "react"])
                .default("terminate"),
        ),
        ("knowledge_config", of(Kind::Object, "What it knows and where it remembers.")),
        ("output_schema", of(Kind::Object, "The JSON Schema of its answers.")),
    ]
}

/// An agent can keep less than its project does, not more.
fn refuse_content(tx: &mut dyn DomainTx, project: &ProjectId, properties: &Json) -> Result<(), DomainError> {
    let asks = properties.get("trace_content_mode").is_some_and(|mode| mode == "full");
    if asks && ProjectSettings::within(tx, project)?.trace_content_mode == TraceContentMode::None {
        let message =
            "trace_content_mode 'full' is not possible: the project's trace_content_mode is 'none'.";
        return Err(Refusal::new(WireCode::ValidationFailed, message).into());
    }
    Ok(())
}

/// Provider, route and model exclude each other in part.
fn check_binding(properties: Node<'_>, findings: &mut Findings) {
    let has = |name: &str| properties.member(name).is_some();
    // An expression may turn out to be null, so it excludes nothing for certain; but whoever
    // declares both means both.
    let (provider, route, model) = (has("ai_provider_id"), has("model_route_id"), has("model"));
    let mut conflict = |message: &str| {
        findings.error(DiagnosticCode::ConflictingProperties, Path::root(), message);
    };
    if provider && route {
        conflict(
            "model_route_id and ai_provider_id are mutually exclusive; set ai_provider_id to null in the same \
             request to switch to a model route.",
        );
    }
    if route && model {
        conflict("model cannot be combined with model_route_id; each route target names its own model.");
    } else if model && !provider {
        conflict("model requires an ai_provider_id; a model is named within its provider.");
    }
}

fn check_tool_bindings(properties: Node<'_>, findings: &mut Findings) {
    let bindings = properties.member("tool_bindings").map(Node::items).unwrap_or_default();
    for (index, binding) in bindings.into_iter().enumerate() {
        let path = Path::of(["tool_bindings"]).index(index);
        if binding.is_expression() {
            continue;
        }
        if binding.member("tool").is_some() {
            let message = "inline `tool` bindings are not supported in formation templates; declare a tool \
                           resource and reference it via `tool_id`";
            findings.error(DiagnosticCode::InvalidValue, path, message);
        } else if !binding.member("tool_id").is_some_and(Node::may_be_text) {
            let message = format!("`{path}.tool_id` is required and must be a string");
            findings.error(DiagnosticCode::MissingProperty, path, message);
        } else {
            check_known(binding, &["tool_id"], &path, findings);
        }
    }
}

fn check_knowledge(properties: Node<'_>, findings: &mut Findings) {
    let Some(config) = properties.member("knowledge_config") else { return };
    let at = Path::of(["knowledge_config"]);
    check_known(config, KNOWLEDGE, &at, findings);
    for name in ["memory_ids", "memory_tags", "document_ids", "document_paths"] {
        let list = config.member(name);
        if list.is_some_and(|list| !list.is_expression() && !list.is_array()) {
            let path = at.key(name);
            findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be an array"));
        }
        check_texts(list, &at.key(name), findings);
    }
    if config.member("write_memory_id").is_some_and(|id| !id.may_be_text()) {
        let path = at.key("write_memory_id");
        findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be a string"));
    }
    check_least(config, "limit", 1, &at, findings);
    let score = config.member("min_score");
    if score.is_some_and(|score| !score.is_expression() && !score.json().is_some_and(Json::is_number)) {
        let path = at.key("min_score");
        findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be a number"));
    }
    check_extraction(config.member("extraction"), &at.key("extraction"), findings);
}

fn check_extraction(extraction: Option<Node<'_>>, at: &Path, findings: &mut Findings) {
    let Some(extraction) = extraction.filter(|node| !node.is_expression()) else { return };
    if extraction.is_object() {
        check_known(extraction, &["enabled", "ai_provider_id", "model", "prompt"], at, findings);
    } else if !extraction.json().is_some_and(Json::is_boolean) {
        findings.error(
            DiagnosticCode::WrongType,
            at.clone(),
            format!("`{at}` must be a boolean or an object"),
        );
    }
}

/// The answer is an object, so its schema must describe one.
fn check_output_schema(properties: Node<'_>, findings: &mut Findings) {
    let Some(schema) = properties.member("output_schema") else { return };
    let bad_type =
        schema.member("type").is_some_and(|kind| !kind.is_expression() && kind.text() != Some("object"));
    let bad_properties =
        schema.member("properties").is_some_and(|bag| !bag.is_expression() && !bag.is_object());
    if bad_type || bad_properties {
        findings.coded(
            WireCode::InvalidOutputSchema,
            DiagnosticCode::InvalidValue,
            Path::of(["output_schema"]),
            "output_schema must be a JSON Schema of type object.",
        );
    }
}
