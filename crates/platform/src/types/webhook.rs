//! `webhook`: where events are sent, signed (`formations-behaviour.md` §6.7).

use super::{event_pattern_problem, url_problem};
use crate::{Act, Definition, Findings, Node, PlatformType, RestAction, RestRoute, UpdateMode, signing};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema};
use formwork_store::{DomainError, DomainTx};

pub(super) struct Webhook;

static ROUTE: RestRoute = RestRoute {
    type_name: "webhook",
    path: "/webhooks",
    id_param: "webhook_id",
    module: "webhooks",
    create: Some("CreateWebhook"),
    list: "ListWebhooks",
    get: "GetWebhook",
    update: Some("UpdateWebhook"),
    delete: Some("DeleteWebhook"),
    update_modes: &[UpdateMode::Put],
    actions: &[
        RestAction::reveal("secret", "GetWebhookSecret"),
        RestAction::post("rotate-secret", "RotateWebhookSecret"),
    ],
    ..RestRoute::USUAL
};

impl PlatformType for Webhook {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "webhook",
            title: "webhook",
            noun: "Webhook",
            id_prefix: "wh",
            doc: "Where events are sent, signed with a secret of its own.",
            properties: vec![
                ("name", text("What people call it; not unique.").required()),
                ("description", text("What it is for.").nullable()),
                ("url", text("Where events are sent.").required()),
                (
                    "events",
                    PropertySchema::new(Kind::Array, "Which events: `*`, `agents.*`, or exact names.")
                        .required()
                        .shaped(super::texts()),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "webhook",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn rest_properties(&self) -> Vec<(&'static str, PropertySchema)> {
        let active = PropertySchema::new(Kind::Boolean, "Whether events are sent.").default(true);
        let policy = PropertySchema::new(Kind::String, "The policy that says which events it may see.");
        vec![("active", active), ("policy_id", policy.nullable().refers_to("policy"))]
    }

    fn signing(&self) -> Option<fn(&Json) -> bool> {
        Some(|_| true)
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        match act.operation {
            "GetWebhookSecret" => signing::read(&act),
            _ => signing::rotate(tx, &act),
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        if let Some(problem) = properties.member("url").and_then(url_problem) {
            findings.error(DiagnosticCode::InvalidValue, Path::of(["url"]), format!("`url` {problem}"));
        }
        let Some(events) = properties.member("events").filter(|events| events.is_array()) else { return };
        let at = Path::of(["events"]);
        if events.items().is_empty() {
            findings.error(DiagnosticCode::InvalidValue, at.clone(), "`events` must name at least one event");
        }
        for (index, event) in events.items().into_iter().enumerate() {
            let path = at.index(index);
            if let Some(problem) = event_pattern_problem(event) {
                findings.error(DiagnosticCode::InvalidValue, path.clone(), format!("`{path}` {problem}"));
            }
        }
    }
}
