//! `workflow`: the states that a task can be in, and the ways between them
//! (`formations-behaviour.md` §7.9).

mod machine;
mod states;

use super::name_key;
use crate::{
    Definition, DependentRule, Dependents, Findings, Node, PlatformType, RefKind, Reference, Refusal,
    RestRoute, UpdateMode, references,
    versions::{self, Versions},
};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema, WireCode};
use formwork_store::UniqueKey;

pub(super) struct Workflow;

const INVALID: WireCode = WireCode::WorkflowValidationFailed;

static ROUTE: RestRoute = RestRoute {
    type_name: "workflow",
    path: "/workflows",
    id_param: "workflow_id",
    module: "workflows",
    create: Some("CreateWorkflow"),
    list: "ListWorkflows",
    get: "GetWorkflow",
    update: Some("UpdateWorkflow"),
    delete: Some("DeleteWorkflow"),
    update_modes: &[UpdateMode::Patch],
    ..RestRoute::USUAL
};

/// An open task links to its workflow by both fields, a closed one by the second only.
static DEPENDENTS: [Dependents; 2] = [
    Dependents {
        type_name: "task",
        fields: &["open_in"],
        rule: DependentRule::Block {
            code: WireCode::WorkflowHasOpenTasks,
            count: "openTaskCount",
            force: false,
        },
    },
    Dependents { type_name: "task", fields: &["workflow_id"], rule: DependentRule::Cascade },
];

impl PlatformType for Workflow {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        let list = |doc: &'static str| PropertySchema::new(Kind::Array, doc).required();
        Definition {
            name: "workflow",
            title: "workflow",
            noun: "Workflow",
            id_prefix: "wfl",
            doc: "The states that a task can be in, and the ways between them.",
            properties: vec![
                ("name", text("What people call it; unique.").required()),
                ("description", text("What it is for.").nullable()),
                (
                    "states",
                    list("The states: `name`, `initial`, `terminal`, `kind`, `stalled_after`, `on_enter`.")
                        .shaped(super::objects(&["name"])),
                ),
                (
                    "transitions",
                    list("The ways: `name`, `from`, `to`, `guard`, `requires_approval`.")
                        .shaped(super::objects(&["name"])),
                ),
                (
                    "payload_schema",
                    PropertySchema::new(Kind::Object, "The JSON Schema of a task's payload.").nullable(),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "workflow",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn versioned(&self) -> Option<&'static Versions> {
        Some(&versions::WORKFLOW)
    }

    fn not_found(&self) -> WireCode {
        WireCode::WorkflowNotFound
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        machine::check(properties, findings);
    }

    fn public(&self) -> &'static [&'static str] {
        &["name"]
    }

    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        for (name, kind) in [
            ("agent_id", RefKind::Agent),
            ("orchestration_id", RefKind::Orchestration),
            ("tool_id", RefKind::Tool),
        ] {
            references::at(properties, &["states", "on_enter", "dispatch", name], kind, found);
        }
    }

    fn missing(&self, reference: &Reference) -> Refusal {
        Refusal { code: INVALID, ..reference.missing() }
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        name_key(properties)
    }
}
