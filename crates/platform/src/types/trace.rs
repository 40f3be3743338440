//! `trace`: the steps that an agent took: a record that the routes make, reported by the runtime
//! that runs agents (`formations-behaviour.md` §7.10).

use super::reported::{self, purge};
use crate::{Act, Definition, Extra, PlatformType, scene::Scene};
use formwork_model::{ImmutableRule, Json, Kind, ProjectId, PropertySchema};
use formwork_store::{DomainError, DomainTx, Link};
use serde_json::Map;

pub(super) struct Trace;

/// What was done and said.
pub(super) const CONTENT: &[&str] = &["steps"];

impl PlatformType for Trace {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "trace",
            title: "trace",
            noun: "Trace",
            id_prefix: "trace",
            doc: "The steps that an agent took, as its runtime reports them.",
            properties: vec![
                ("agent_id", text("The agent.").required().refers_to("agent")),
                ("parent_trace_id", text("The trace it was called from.").nullable().refers_to("trace")),
                ("root_trace_id", text("The trace that all began with.").nullable().refers_to("trace")),
                ("steps", PropertySchema::new(Kind::Array, "The steps, in order.").nullable()),
                ("metadata", PropertySchema::new(Kind::Object, "Anything else about it.").nullable()),
            ],
            // A trace is never changed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "trace",
            dependents: &[],
            route: &reported::TRACE,
        }
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        purge(tx, &act, CONTENT)
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
