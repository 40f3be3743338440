//! `orchestration`: a graph of steps (`formations-behaviour.md` §7.3).

mod flow;
mod graph;
mod nodes;
mod run;

use crate::{
    Definition, DependentRule, Dependents, Findings, Node, PlatformType, RefKind, Reference, RestRoute,
    UpdateMode, references,
    versions::{self, Versions},
};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema, WireCode};

pub(super) use run::OrchestrationRun;

pub(super) struct Orchestration;

const INVALID: WireCode = WireCode::OrchestrationValidationFailed;

static ROUTE: RestRoute = RestRoute {
    type_name: "orchestration",
    path: "/orchestrations",
    id_param: "orchestration_id",
    module: "orchestrations",
    create: Some("CreateOrchestration"),
    list: "ListOrchestrations",
    get: "GetOrchestration",
    update: Some("UpdateOrchestration"),
    delete: Some("DeleteOrchestration"),
    update_modes: &[UpdateMode::Patch],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] = [Dependents {
    type_name: "orchestration_run",
    fields: &["orchestration_id"],
    rule: DependentRule::Cascade,
}];

impl PlatformType for Orchestration {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        let list = |doc: &'static str| PropertySchema::new(Kind::Array, doc).required();
        let object = |doc: &'static str| PropertySchema::new(Kind::Object, doc).nullable();
        Definition {
            name: "orchestration",
            title: "orchestration",
            noun: "Orchestration",
            id_prefix: "orch",
            doc: "A graph of steps that agents, tools and people carry out.",
            properties: vec![
                ("name", text("What people call it; not unique.").required()),
                ("description", text("What it is for.").nullable()),
                (
                    "nodes",
                    list("The steps: objects with `id`, `type` and what the type takes.")
                        .shaped(super::objects(&["id", "type"])),
                ),
                (
                    "edges",
                    list("What follows what: objects with `from` and `to`.")
                        .shaped(super::objects(&["from", "to"])),
                ),
                ("state_schema", object("The JSON Schema of its state.")),
                ("input_schema", object("The JSON Schema of what starts it.")),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "orchestration",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn versioned(&self) -> Option<&'static Versions> {
        Some(&versions::ORCHESTRATION)
    }

    fn not_found(&self) -> WireCode {
        WireCode::OrchestrationNotFound
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        let Some(nodes) = properties.member("nodes").filter(|nodes| nodes.is_array()) else { return };
        nodes::check(nodes, findings);
        let Some(edges) = properties.member("edges").filter(|edges| edges.is_array()) else { return };
        let Some(graph) = graph::check(nodes, edges, findings) else { return };
        flow::check(&graph, properties.member("state_schema"), findings);
    }

    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        for (name, kind) in [
            ("agent_id", RefKind::Agent),
            ("tool_id", RefKind::Tool),
            ("memory_id", RefKind::Memory),
            ("orchestration_id", RefKind::Orchestration),
        ] {
            references::at(properties, &["nodes", name], kind, found);
        }
    }
}
