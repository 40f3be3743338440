//! `trigger_firing`: that somebody fired a trigger, and with what: a record that firing makes
//! (`formations-behaviour.md` §6.8). It is what a runtime takes up: nothing in Formwork carries it out,
//! so it stays `pending` here.

use crate::{
    Act, ActionField, Completeness, Definition, PlatformCatalog, PlatformType, Refusal, RestRoute,
    document::Document,
    draft::{self, Given},
    ids::new_id,
    view::representation,
};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx};
use serde_json::{Map, json};

pub(super) struct TriggerFiring;

const NAME: &str = "trigger_firing";
/// The operation that fires a trigger.
pub(super) const FIRE: &str = "FireTrigger";
/// What firing takes along.
pub(super) static FIELDS: [ActionField; 1] = [ActionField {
    name: "input",
    kind: Kind::Object,
    required: false,
    doc: "What is sent along, over what the trigger always sends.",
}];

static ROUTE: RestRoute = RestRoute {
    type_name: NAME,
    path: "/trigger-firings",
    id_param: "firing_id",
    module: "triggers",
    list: "ListTriggerFirings",
    get: "GetTriggerFiring",
    list_filters: &["project_id", "trigger_id", "status"],
    ..RestRoute::USUAL
};

impl PlatformType for TriggerFiring {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: NAME,
            title: "trigger firing",
            noun: "Trigger firing",
            id_prefix: "trg_fire",
            doc: "That a trigger was fired, and with what.",
            properties: vec![
                ("trigger_id", text("The trigger.").required().refers_to("trigger")),
                ("source", text("What fired it.").one_of(&["manual"]).default("manual")),
                (
                    "status",
                    text("How far it is.")
                        .one_of(&["pending", "running", "succeeded", "failed"])
                        .default("pending"),
                ),
                ("input", PropertySchema::new(Kind::Object, "What its target is given.").nullable()),
                ("fired_by", text("Who fired it.").nullable()),
            ],
            // A firing is never changed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "trigger",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn srn_parent(&self) -> Option<&'static str> {
        Some("trigger_id")
    }
}

/// Fires a trigger: what it always sends, with what came along over it (`formations-behaviour.md`
/// §6.8, "Effective input").
pub(super) fn fire(tx: &mut dyn DomainTx, act: &Act<'_>) -> Result<Json, DomainError> {
    let trigger = Document::of(&act.object)?.open_whole(act.key, &act.object.id)?;
    let properties = trigger.properties.expose();
    if properties.get("active") == Some(&Json::Bool(false)) {
        let message = format!("Trigger '{}' is not active.", act.object.id);
        return Err(Refusal::new(WireCode::TriggerNotActive, message).into());
    }
    let entry = PlatformCatalog::shared().entry(NAME);
    let (Some(entry), Some(project)) = (entry, act.object.project.as_ref()) else {
        return Err(DomainError::NotFound { id: act.object.id.clone() });
    };
    let members = |value: Option<&Json>| value.and_then(Json::as_object).cloned().unwrap_or_default();
    let mut input: Map<String, Json> = members(properties.get("input"));
    input.extend(members(act.body.get("input")));
    let given = Given {
        properties: Secret::new(json!({
            "trigger_id": act.object.id,
            "input": input,
            "fired_by": act.actor,
        })),
        // What is secret in the trigger is secret in its firing.
        secret_paths: trigger
            .secrets
            .iter()
            .filter(|path| path.get(&json!({ "input": input })).is_some())
            .cloned()
            .collect(),
        kept_paths: Vec::new(),
        completeness: Completeness::Whole,
        actor: act.actor.clone(),
    };
    let id = new_id(entry.definition().id_prefix);
    let made = draft::create(tx, entry, act.key, &id, Some(project), &given)?;
    representation(entry, &made.object)
}
