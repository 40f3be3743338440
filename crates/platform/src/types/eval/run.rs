//! `eval_run`: that somebody asked for a run of an eval: a record that the routes make
//! (`formations-behaviour.md` §7.7).

use super::super::queued;
use crate::{
    Act, Definition, Extra, PlatformType, Refusal, RestAction, RestParent, RestRoute, document::Document,
    rest::Filter, scene::Scene, versions::VERSION,
};
use formwork_model::{ImmutableRule, Json, Kind, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, Link, ListQuery};
use serde_json::json;

pub(crate) struct EvalRun;

const PINNED: &str = "agent_version";
const ITEMS: &str = "item_count";

static ROUTE: RestRoute = RestRoute {
    type_name: "eval_run",
    path: "/evals/{eval_id}/runs",
    id_param: "run_id",
    parent: Some(RestParent { type_name: "eval", property: "eval_id" }),
    module: "evaluations",
    create: Some("RunEval"),
    list: "ListEvalRuns",
    get: "GetEvalRun",
    // Runs are a part of their eval.
    gated_as: &[
        ("ListEvalRuns", "evaluations:GetEval"),
        ("GetEvalRun", "evaluations:GetEval"),
        ("CancelEvalRun", "evaluations:RunEval"),
    ],
    list_filters: &["eval_id", "status"],
    actions: &[RestAction::post("cancel", "CancelEvalRun")],
    ..RestRoute::USUAL
};

static EXTRAS: [Extra; 3] = [
    queued::SHOWN,
    Extra { name: PINNED, kind: "integer", nullable: true, value: |system| queued::of(system, PINNED) },
    Extra { name: ITEMS, kind: "integer", nullable: false, value: |system| queued::of(system, ITEMS) },
];

impl PlatformType for EvalRun {
    fn define(&self) -> Definition {
        Definition {
            name: "eval_run",
            title: "eval run",
            noun: "Eval run",
            id_prefix: "evrun",
            doc: "That a run of an eval was asked for.",
            properties: vec![(
                "eval_id",
                PropertySchema::new(Kind::String, "What to run.").required().refers_to("eval"),
            )],
            // A run is never changed but by cancelling it, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "eval",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn srn_parent(&self) -> Option<&'static str> {
        Some("eval_id")
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        queued::cancel(tx, &act, "canceled", WireCode::ValidationFailed)
    }

    /// A run is of the cases that the dataset has, and of the version that the agent has, when it is
    /// asked for. One of no cases would say nothing.
    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        queued::queue(scene.system);
        let id = scene.after.get("eval_id").and_then(Json::as_str).unwrap_or_default();
        let Some(eval) = tx.get(id)? else { return Err(DomainError::NotFound { id: id.to_owned() }) };
        let eval = Document::of(&eval)?;
        let named = |name: &str| eval.properties.get(name).and_then(Json::as_str).unwrap_or_default();
        let items = count(tx, scene.project, named("dataset_id"))?;
        if items == 0 {
            let message = format!("Dataset '{}' has no items to run the eval on.", named("dataset_id"));
            return Err(Refusal::new(WireCode::ValidationFailed, message).into());
        }
        scene.system.insert(ITEMS.to_owned(), json!(items));
        if let Some(agent) = tx.get(named("agent_id"))? {
            let version = queued::of(&Document::of(&agent)?.system, VERSION);
            scene.system.insert(PINNED.to_owned(), version);
        }
        Ok(())
    }

    fn filter(&self, name: &str, value: &str) -> Result<Filter, Refusal> {
        queued::filter(name, value)
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

fn count(tx: &mut dyn DomainTx, project: &ProjectId, dataset: &str) -> Result<usize, DomainError> {
    let query = ListQuery {
        type_name: "dataset_item".to_owned(),
        projects: vec![project.clone()],
        linked: Some(Link { field: "dataset_id".to_owned(), to: dataset.to_owned() }),
        limit: 1,
        offset: 0,
    };
    Ok(tx.list(&query)?.total)
}
