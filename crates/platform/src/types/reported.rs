//! What the runtime that runs agents reports: the routes of generations and traces, and the purge of
//! what was said, which both have.

use crate::{
    Act, Extra, Listed, ProjectSettings, RestAction, RestRoute, TraceContentMode, UpdateMode,
    document::Document,
    draft::CHANGED_BY,
    rewrite::{clear, rewrite},
    scene::Scene,
    view::{iso, representation},
};
use formwork_model::{InstanceKey, Json, ProjectId, Timestamp};
use formwork_store::{DomainError, DomainTx, Link, ListQuery};
use serde_json::{Map, json};

/// When the content was purged.
pub(super) const PURGED: &str = "content_purged_at";
pub(super) const PURGE_GENERATION: &str = "PurgeGenerationContent";
pub(super) const PURGE_TRACE: &str = "PurgeTraceContent";
/// The link of what may still have content.
const KEPT: &str = "content";
/// How many records are purged in one transaction.
pub(crate) const PURGED_AT_ONCE: usize = 200;
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

/// The traces of what an agent called, and of what that called.
const CALLED_FROM: Listed = Listed { type_name: "trace", field: "parent_trace_id", as_tree: true };

pub(super) static TRACE: RestRoute = RestRoute {
    gated_as: &[("RecordTrace", REPORT)],
    actions: &[
        RestAction::list("tree", "GetTraceTree", CALLED_FROM),
        RestAction::delete("content", PURGE_TRACE),
    ],
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
        take_out(document, content, &now);
        document.system.insert(CHANGED_BY.to_owned(), act.actor.as_str().into());
    })?;
    representation(act.entry, &purged)
}

fn take_out(document: &mut Document, content: &[&str], now: &str) {
    for name in content {
        clear(document, name);
    }
    document.system.insert(PURGED.to_owned(), json!(now));
}

/// Takes the content out of what is reported of a project, or of an agent, that keeps none.
pub(super) fn withhold(
    tx: &mut dyn DomainTx,
    project: &ProjectId,
    properties: &mut Map<String, Json>,
    content: &[&str],
) -> Result<(), DomainError> {
    if keeps_none(tx, project, properties.get("agent_id"))? {
        properties.retain(|name, _| !content.contains(&name.as_str()));
    }
    Ok(())
}

fn keeps_none(tx: &mut dyn DomainTx, project: &ProjectId, agent: Option<&Json>) -> Result<bool, DomainError> {
    if ProjectSettings::within(tx, project)?.trace_content_mode == TraceContentMode::None {
        return Ok(true);
    }
    let agent = agent.and_then(Json::as_str).map(|id| tx.get(id)).transpose()?.flatten();
    Ok(agent.is_some_and(|agent| agent.doc["properties"]["trace_content_mode"] == "none"))
}

/// Marks a record whose content is not kept as one that was purged; one that has content again is not.
pub(super) fn mark(
    tx: &mut dyn DomainTx,
    scene: &mut Scene<'_>,
    content: &[&str],
) -> Result<(), DomainError> {
    let has_content = content.iter().any(|name| scene.after.get(*name).is_some());
    if has_content {
        scene.system.shift_remove(PURGED);
    } else if !scene.system.contains_key(PURGED)
        && keeps_none(tx, scene.project, scene.after.get("agent_id"))?
    {
        let now = iso(tx.now()?);
        scene.system.insert(PURGED.to_owned(), json!(now));
    }
    Ok(())
}

/// The link of what may still have content, for those who purge what is old.
pub(super) fn links(system: &Map<String, Json>) -> Vec<Link> {
    let kept = Link { field: KEPT.to_owned(), to: KEPT.to_owned() };
    (!system.contains_key(PURGED)).then_some(kept).into_iter().collect()
}

/// Takes the content out of a page of a project's records that were made before a time. Answers how
/// many there were: fewer than [`PURGED_AT_ONCE`], and none is left.
///
/// # Errors
/// A fault of the store.
pub(crate) fn purge_before(
    tx: &mut dyn DomainTx,
    key: &InstanceKey,
    (type_name, content): (&str, &[&str]),
    project: &ProjectId,
    before: Timestamp,
) -> Result<usize, DomainError> {
    let page = tx.list(&ListQuery {
        type_name: type_name.to_owned(),
        projects: vec![project.clone()],
        linked: Some(Link { field: KEPT.to_owned(), to: KEPT.to_owned() }),
        limit: PURGED_AT_ONCE,
        offset: 0,
    })?;
    let now = iso(tx.now()?);
    let mut purged = 0;
    // The oldest come first.
    for record in page.items.iter().take_while(|record| record.created_at < before) {
        rewrite(tx, key, record, |document| take_out(document, content, &now))?;
        purged += 1;
    }
    Ok(purged)
}

/// The types of what is reported, with the properties that hold content.
pub(crate) const REPORTED: [(&str, &[&str]); 2] =
    [("generation", super::generation::CONTENT), ("trace", super::trace::CONTENT)];
