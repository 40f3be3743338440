//! What the runtime that runs agents reports: the routes of generations and traces, and the purge of
//! what was said, which both have.

use crate::{
    Act, Extra, RestAction, RestRoute, UpdateMode,
    document::Document,
    draft::CHANGED_BY,
    rewrite::{clear, rewrite},
    view::{iso, representation},
};
use formwork_model::Json;
use formwork_store::{DomainError, DomainTx};
use serde_json::json;

/// When the content was purged.
pub(super) const PURGED: &str = "content_purged_at";
pub(super) const PURGE_GENERATION: &str = "PurgeGenerationContent";
pub(super) const PURGE_TRACE: &str = "PurgeTraceContent";
const TRANSCRIPT: &str = "GetGenerationTranscript";
/// Reporting takes what producing one would take.
const REPORT: &str = "agents:CreateAgentGeneration";

/// The routes of a record that is reported, as far as both are alike.
const fn reported(
    [type_name, path, id_param, module]: [&'static str; 4],
    [create, list, get]: [&'static str; 3],
) -> RestRoute {
    RestRoute { type_name, path, id_param, module, create: Some(create), list, get, ..RestRoute::USUAL }
}

pub(super) static GENERATION: RestRoute = RestRoute {
    update: Some("UpdateGeneration"),
    update_modes: &[UpdateMode::Patch],
    gated_as: &[("RecordGeneration", REPORT), (TRANSCRIPT, "generations:GetGeneration")],
    list_filters: &["project_id", "agent_id", "trace_id", "initiator_generation_id", "status"],
    actions: &[RestAction::delete("content", PURGE_GENERATION), RestAction::get("transcript", TRANSCRIPT)],
    ..reported(
        ["generation", "/generations", "generation_id", "generations"],
        ["RecordGeneration", "ListGenerations", "GetGeneration"],
    )
};

pub(super) static TRACE: RestRoute = RestRoute {
    gated_as: &[("RecordTrace", REPORT)],
    actions: &[RestAction::get("tree", "GetTraceTree"), RestAction::delete("content", PURGE_TRACE)],
    ..reported(["trace", "/traces", "trace_id", "traces"], ["RecordTrace", "ListTraces", "GetTrace"])
};

pub(super) static EXTRAS: [Extra; 1] = [Extra {
    name: PURGED,
    kind: "string",
    nullable: true,
    value: |system| system.get(PURGED).cloned().unwrap_or_default(),
}];

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
