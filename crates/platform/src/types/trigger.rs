//! `trigger`: what starts an agent, an orchestration, a tool or an eval
//! (`formations-behaviour.md` §6.8).

use super::{event_pattern_problem, name_key, trigger_firing};
use crate::{
    Act, ActionBody, Definition, DependentRule, Dependents, Extra, Findings, Node, PlatformType, RefKind,
    Reference, Refusal, RestAction, RestRoute, UpdateMode,
    cron::{Cron, CronError},
    references,
    scene::Scene,
    signing,
    view::iso,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, UniqueKey};
use serde_json::json;

pub(super) struct Trigger;

const CREATED_BY: &str = "created_by";
/// The properties that say what a firing does.
const DEEDS: [&str; 5] = ["target_type", "target_id", "action", "input", "policy_id"];
const NEXT_FIRE_AT: &str = "next_fire_at";

static ROUTE: RestRoute = RestRoute {
    type_name: "trigger",
    path: "/triggers",
    id_param: "trigger_id",
    module: "triggers",
    create: Some("CreateTrigger"),
    list: "ListTriggers",
    get: "GetTrigger",
    update: Some("UpdateTrigger"),
    delete: Some("DeleteTrigger"),
    update_modes: &[UpdateMode::Patch],
    actions: &[
        RestAction::reveal("secret", "GetTriggerSecret"),
        RestAction::post("rotate-secret", "RotateTriggerSecret"),
        RestAction::post("fire", trigger_firing::FIRE)
            .taking(ActionBody::Fields(&trigger_firing::FIELDS))
            .answering(202),
    ],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] =
    [Dependents { type_name: "trigger_firing", fields: &["trigger_id"], rule: DependentRule::Cascade }];

static EXTRAS: [Extra; 2] = [
    Extra {
        name: CREATED_BY,
        kind: "string",
        nullable: false,
        value: |system| system.get(CREATED_BY).cloned().unwrap_or_default(),
    },
    Extra {
        name: NEXT_FIRE_AT,
        kind: "string",
        nullable: true,
        value: |system| system.get(NEXT_FIRE_AT).cloned().unwrap_or_default(),
    },
];

impl PlatformType for Trigger {
    fn define(&self) -> Definition {
        Definition {
            name: "trigger",
            title: "trigger",
            noun: "Trigger",
            id_prefix: "trg",
            doc: "What starts an agent, an orchestration, a tool or an eval.",
            properties: properties(),
            // A name belongs to one trigger at a time, so the old one must go before the new one
            // can have it.
            on_immutable: ImmutableRule::ReplaceDeleteFirst,
            srn_type: "trigger",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn signing(&self) -> Option<fn(&Json) -> bool> {
        Some(|properties| properties.get("type").and_then(Json::as_str) == Some("webhook"))
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        match act.operation {
            "GetTriggerSecret" => signing::read(&act),
            trigger_firing::FIRE => trigger_firing::fire(tx, &act),
            _ => signing::rotate(tx, &act),
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        let target = properties.member("target_type").and_then(Node::text);
        if properties.member("action").is_some() && target.is_some_and(|target| target != "tool") {
            findings.coded(
                WireCode::TriggerActionNotAllowed,
                DiagnosticCode::ConflictingProperties,
                Path::root(),
                "action is only valid for tool targets.",
            );
        }
        // What each type of trigger takes; an expression counts as present.
        for (name, of) in [("cron", "schedule"), ("event_pattern", "event")] {
            let Some(kind) = properties.member("type").and_then(Node::text) else { continue };
            match properties.member(name) {
                None if kind == of => {
                    let message = format!("{name} is required for {of} triggers.");
                    findings.error(DiagnosticCode::MissingProperty, Path::root(), message);
                }
                Some(_) if kind != of => {
                    let message = format!("{name} is only valid for {of} triggers.");
                    findings.error(DiagnosticCode::ConflictingProperties, Path::root(), message);
                }
                _ => {}
            }
        }
        check_cron(properties, findings);
        if let Some(problem) = properties.member("event_pattern").and_then(event_pattern_problem) {
            let message = format!("`event_pattern` {problem}");
            findings.error(DiagnosticCode::InvalidValue, Path::of(["event_pattern"]), message);
        }
    }

    fn immutable_code(&self, _property: &str) -> WireCode {
        WireCode::TriggerTypeImmutable
    }

    fn public(&self) -> &'static [&'static str] {
        &["name", "type", "target_type", "target_id", "cron"]
    }

    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        let kind = match properties.get("target_type").and_then(Json::as_str) {
            Some("agent") => RefKind::Agent,
            Some("eval") => RefKind::Eval,
            Some("orchestration") => RefKind::Orchestration,
            Some("tool") => RefKind::Tool,
            _ => return,
        };
        references::at(properties, &["target_id"], kind, found);
    }

    fn missing(&self, reference: &Reference) -> Refusal {
        let refusal = reference.missing();
        if reference.property() == "target_id" {
            return Refusal { code: WireCode::TriggerTargetNotFound, ..refusal };
        }
        refusal
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        name_key(properties)
    }

    fn admit(
        &self,
        tx: &mut dyn DomainTx,
        _project: &ProjectId,
        properties: &Json,
    ) -> Result<(), DomainError> {
        let text = |name: &str| properties.get(name).and_then(Json::as_str);
        let (Some("tool"), Some(target_id)) = (text("target_type"), text("target_id")) else { return Ok(()) };
        let message = match super::tool::type_of(tx, target_id)?.as_deref() {
            Some("client") => {
                "client tools cannot be executed server-side and cannot be a trigger target.".to_owned()
            }
            Some(kind @ ("builtin" | "mcp")) if text("action").is_none() => {
                format!("{kind} tool targets require an 'action'.")
            }
            _ => return Ok(()),
        };
        Err(Refusal::new(WireCode::ValidationFailed, message).into())
    }

    /// Whoever says what a trigger does is who its firings run as (seed 4, "A Formation Only Does
    /// What the Caller Could Do Directly"): somebody who changes that can't let it run as another.
    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        if DEEDS.iter().any(|property| scene.changes(property)) {
            scene.system.insert(CREATED_BY.to_owned(), json!(scene.actor));
        }
        let is_active = scene.after.get("active").and_then(Json::as_bool) != Some(false);
        let cron = scene.after.get("cron").and_then(Json::as_str).filter(|_| is_active);
        let cron = cron.and_then(|text| Cron::parse(text).ok());
        let now = tx.now()?;
        let next = cron.and_then(|cron| cron.next_after(now)).map(iso);
        scene.system.insert(NEXT_FIRE_AT.to_owned(), json!(next));
        Ok(())
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

fn properties() -> Vec<(&'static str, PropertySchema)> {
    let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
    vec![
        ("name", text("What people call it; unique.").required()),
        ("description", text("What it is for.").nullable()),
        (
            "type",
            text("What fires it; cannot change.")
                .one_of(&["manual", "webhook", "schedule", "event"])
                .required()
                .create_only(),
        ),
        (
            "target_type",
            text("What kind of thing it starts.")
                .one_of(&["orchestration", "agent", "tool", "eval"])
                .required(),
        ),
        (
            "target_id",
            text("What it starts.")
                .required()
                .refers_to("orchestration")
                .refers_to("agent")
                .refers_to("tool")
                .refers_to("eval"),
        ),
        ("action", text("For tools: which of their actions.").nullable()),
        ("input", PropertySchema::new(Kind::Object, "What is always sent along.").nullable()),
        ("cron", text("For `schedule`: five fields, in UTC.").nullable()),
        ("event_pattern", text("For `event`: `*`, `agents.*`, or an exact name.").nullable()),
        ("active", PropertySchema::new(Kind::Boolean, "Whether it fires.").default(true)),
        ("policy_id", text("The most that its firings may do.").nullable().refers_to("policy")),
    ]
}

fn check_cron(properties: Node<'_>, findings: &mut Findings) {
    let Some(text) = properties.member("cron").and_then(Node::text) else { return };
    let message = match Cron::parse(text) {
        Ok(_) => return,
        Err(CronError::FieldCount) => {
            "A trigger cron expression must have exactly 5 fields (UTC).".to_owned()
        }
        Err(CronError::Invalid) => format!("Invalid cron expression: '{text}'."),
    };
    let code = DiagnosticCode::InvalidValue;
    findings.coded(WireCode::InvalidCronExpression, code, Path::root(), message);
}
