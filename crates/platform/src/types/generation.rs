//! `generation`: what an agent was asked and answered: a record that the routes make. The runtime
//! that runs agents reports it here; nothing in Formwork generates.

use crate::{
    Act, Definition, Extra, PlatformType, Refusal, RestAction, RestRoute, UpdateMode,
    document::Document,
    draft::CHANGED_BY,
    rest::ActionMethod,
    rewrite::{clear, rewrite},
    view::{iso, representation},
};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx};
use serde_json::json;

pub(super) struct Generation;

/// When the content was purged.
pub(super) const PURGED: &str = "content_purged_at";
const PURGE: &str = "PurgeGenerationContent";
const TRANSCRIPT: &str = "GetGenerationTranscript";

static ROUTE: RestRoute = RestRoute {
    type_name: "generation",
    path: "/generations",
    id_param: "generation_id",
    module: "generations",
    create: Some("RecordGeneration"),
    list: "ListGenerations",
    get: "GetGeneration",
    update: Some("UpdateGeneration"),
    gated_as: &[
        ("RecordGeneration", "agents:CreateAgentGeneration"),
        (TRANSCRIPT, "generations:GetGeneration"),
    ],
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "agent_id", "trace_id", "initiator_generation_id", "status"],
    actions: &[
        RestAction { method: ActionMethod::Delete, path: "content", operation: PURGE },
        RestAction { method: ActionMethod::Get, path: "transcript", operation: TRANSCRIPT },
    ],
    ..RestRoute::USUAL
};

static EXTRAS: [Extra; 1] = [Extra {
    name: PURGED,
    kind: "string",
    nullable: true,
    value: |system| system.get(PURGED).cloned().unwrap_or_default(),
}];

impl PlatformType for Generation {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        let object = |doc: &'static str| PropertySchema::new(Kind::Object, doc).nullable();
        Definition {
            name: "generation",
            title: "generation",
            noun: "Generation",
            id_prefix: "gen",
            doc: "What an agent was asked and answered, as its runtime reports it.",
            properties: vec![
                ("agent_id", text("The agent; cannot change.").required().refers_to("agent").create_only()),
                (
                    "trace_id",
                    text("The trace of its steps; cannot change.")
                        .nullable()
                        .refers_to("trace")
                        .create_only(),
                ),
                (
                    "initiator_generation_id",
                    text("The generation that called for it; cannot change.")
                        .nullable()
                        .refers_to("generation")
                        .create_only(),
                ),
                (
                    "status",
                    text("How far it is.")
                        .one_of(&["in_progress", "requires_action", "completed", "failed"])
                        .default("in_progress"),
                ),
                (
                    "stop_reason",
                    text("Why it ended.").nullable().one_of(&[
                        "end_turn",
                        "max_steps",
                        "stop_condition",
                        "no_executor",
                        "stream_response_started",
                        "depth_limit",
                    ]),
                ),
                ("input", PropertySchema::new(Kind::Array, "The messages that it was given.").nullable()),
                ("output", object("What it answered: `content`, and `object` if a schema was asked for.")),
                ("error", object("Why it failed.")),
                ("metadata", object("Anything else about it.")),
            ],
            // The routes refuse a change of what is fixed.
            on_immutable: ImmutableRule::Replace,
            srn_type: "generation",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        match act.operation {
            PURGE => purge(tx, &act, &["input", "output", "error"]),
            _ => transcript(&act),
        }
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

/// Takes the content out of a record; what it was about stays. Purging twice is purging once.
pub(super) fn purge(tx: &mut dyn DomainTx, act: &Act<'_>, content: &[&str]) -> Result<Json, DomainError> {
    if Document::of(&act.object)?.system.contains_key(PURGED) {
        return representation(act.entry, &act.object);
    }
    let now = iso(tx.now()?);
    let purged = rewrite(tx, act.key, &act.object, |document| {
        for name in content {
            clear(document, name);
        }
        document.system.insert(PURGED.to_owned(), json!(now));
        document.system.insert(CHANGED_BY.to_owned(), act.actor.as_str().into());
    })?;
    representation(act.entry, &purged)
}

/// The conversation as it was: what came in, and the answer.
fn transcript(act: &Act<'_>) -> Result<Json, DomainError> {
    let id = &act.object.id;
    let document = Document::of(&act.object)?;
    if document.system.contains_key(PURGED) {
        let message = format!("The content of generation '{id}' was purged.");
        return Err(Refusal::new(WireCode::GenerationContentUnavailable, message).into());
    }
    let shown = document.masked();
    let mut messages = shown.get("input").and_then(Json::as_array).cloned().unwrap_or_default();
    if let Some(content) = shown.get("output").and_then(|output| output.get("content")) {
        messages.push(json!({ "role": "assistant", "content": content }));
    }
    Ok(json!({ "generation_id": id, "status": shown.get("status"), "messages": messages }))
}
