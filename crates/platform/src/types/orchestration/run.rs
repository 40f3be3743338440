//! `orchestration_run`: that somebody asked for a run of an orchestration: a record that the routes
//! make (`formations-behaviour.md` §7.3).

use super::super::queued;
use crate::{
    Act, Definition, Extra, PlatformType, Refusal, RestAction, RestRoute, document::Document, rest::Filter,
    scene::Scene, versions::VERSION,
};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx};

pub(crate) struct OrchestrationRun;

const PINNED: &str = "orchestration_version";

static ROUTE: RestRoute = RestRoute {
    type_name: "orchestration_run",
    path: "/orchestration-runs",
    id_param: "run_id",
    module: "orchestrations",
    create: Some("StartRun"),
    list: "ListRuns",
    get: "GetRun",
    list_filters: &["project_id", "orchestration_id", "status"],
    actions: &[RestAction::post("cancel", "CancelRun")],
    ..RestRoute::USUAL
};

static EXTRAS: [Extra; 2] = [
    queued::SHOWN,
    Extra { name: PINNED, kind: "integer", nullable: true, value: |system| queued::of(system, PINNED) },
];

impl PlatformType for OrchestrationRun {
    fn define(&self) -> Definition {
        let object = |doc: &'static str| PropertySchema::new(Kind::Object, doc).nullable();
        Definition {
            name: "orchestration_run",
            title: "orchestration run",
            noun: "Orchestration run",
            id_prefix: "orch_run",
            doc: "That a run of an orchestration was asked for.",
            properties: vec![
                (
                    "orchestration_id",
                    PropertySchema::new(Kind::String, "What to run.").required().refers_to("orchestration"),
                ),
                ("input", object("What it starts with.")),
                ("tool_context", object("Texts that tools are sent along, by header name.")),
            ],
            // A run is never changed but by cancelling it, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "orchestration",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn srn_parent(&self) -> Option<&'static str> {
        Some("orchestration_id")
    }

    fn not_found(&self) -> WireCode {
        WireCode::OrchestrationRunNotFound
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        queued::cancel(tx, &act, "cancelled", WireCode::OrchestrationRunNotCancellable)
    }

    /// A run is of the version that the orchestration has when it is asked for.
    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        queued::queue(scene.system);
        let id = scene.after.get("orchestration_id").and_then(Json::as_str).unwrap_or_default();
        if let Some(orchestration) = tx.get(id)? {
            let version = queued::of(&Document::of(&orchestration)?.system, VERSION);
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
