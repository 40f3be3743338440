//! `eval`: an agent, the cases it is put to, and how its answers are scored
//! (`formations-behaviour.md` §7.7).

mod run;
mod scorers;

use crate::{
    Definition, DependentRule, Dependents, Findings, Node, PlatformType, RefKind, Reference, Refusal,
    RestRoute, UpdateMode, references,
};
use formwork_model::{ImmutableRule, Json, Kind, Path, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, UniqueKey};

pub(super) use run::EvalRun;

pub(super) struct Eval;

static ROUTE: RestRoute = RestRoute {
    type_name: "eval",
    path: "/evals",
    id_param: "eval_id",
    module: "evaluations",
    create: Some("CreateEval"),
    list: "ListEvals",
    get: "GetEval",
    update: Some("UpdateEval"),
    delete: Some("DeleteEval"),
    gated_as: &[("UpdateEval", "evaluations:CreateEval")],
    update_modes: &[UpdateMode::Put],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] =
    [Dependents { type_name: "eval_run", fields: &["eval_id"], rule: DependentRule::Cascade }];

impl PlatformType for Eval {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "eval",
            title: "eval",
            noun: "Eval",
            id_prefix: "eval",
            doc: "An agent put to the cases of a dataset, and how its answers are scored.",
            properties: vec![
                ("name", text("What people call it; unique.").required()),
                ("agent_id", text("The agent.").required().refers_to("agent")),
                ("dataset_id", text("The cases.").required().refers_to("dataset")),
                (
                    "scorers",
                    PropertySchema::new(Kind::Array, "What scores an answer: objects with a `type`.")
                        .required()
                        .shaped(super::objects(&["type"])),
                ),
                (
                    "pass_threshold",
                    PropertySchema::new(
                        Kind::Number,
                        "The share of cases that must pass, from 0 to 1; without it nothing is demanded.",
                    )
                    .nullable(),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "eval",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        scorers::check_share(properties, "pass_threshold", &Path::root(), findings);
        scorers::check(properties, findings);
    }

    fn public(&self) -> &'static [&'static str] {
        &["name"]
    }

    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        references::at(properties, &["scorers", "tool_id"], RefKind::Tool, found);
        references::at(properties, &["scorers", "ai_provider_id"], RefKind::AiProvider, found);
    }

    fn missing(&self, reference: &Reference) -> Refusal {
        match reference.kind {
            RefKind::Agent | RefKind::Dataset => {
                let (field, type_name) = (&reference.field, reference.kind.type_name());
                let message =
                    format!("{field} '{}' does not reference a {type_name} in this project.", reference.to);
                Refusal::new(WireCode::ValidationFailed, message)
            }
            _ => reference.missing(),
        }
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        super::name_key(properties)
    }

    fn admit(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &Json,
    ) -> Result<(), DomainError> {
        scorers::admit(tx, project, properties)
    }
}
