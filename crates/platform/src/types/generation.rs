//! `generation`: what an agent was asked and answered: a record that the routes make. The runtime
//! that runs agents reports it here; nothing in Formwork generates.

use super::reported::{self, PURGED, purge};
use crate::{Act, Definition, Extra, PlatformType, Refusal, document::Document, scene::Scene};
use formwork_model::{ImmutableRule, Json, Kind, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, Link};
use serde_json::{Map, json};

pub(super) struct Generation;

/// What was said.
pub(super) const CONTENT: &[&str] = &["input", "output", "error"];

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
            route: &reported::GENERATION,
        }
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        match act.operation {
            reported::PURGE_GENERATION => purge(tx, &act, CONTENT),
            _ => transcript(&act),
        }
    }

    fn withhold(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &mut Map<String, Json>,
    ) -> Result<(), DomainError> {
        reported::withhold(tx, project, properties, CONTENT)
    }

    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        reported::mark(tx, scene, CONTENT)
    }

    fn system_links(&self, system: &Map<String, Json>) -> Vec<Link> {
        reported::links(system)
    }

    fn extras(&self) -> &'static [Extra] {
        &reported::EXTRAS
    }
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
