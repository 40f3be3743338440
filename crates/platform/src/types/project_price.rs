//! `project_price`: what one unit of use costs a project, from some moment on.

use crate::{Definition, Findings, Node, PlatformType, Refusal, RestRoute, UpdateMode, view::iso};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema, Timestamp, WireCode};
use formwork_store::UniqueKey;
use serde_json::{Map, json};

pub(super) struct ProjectPrice;

const EFFECTIVE_FROM: &str = "effective_from";
const KEY: [&str; 4] = ["provider", "model", "component", EFFECTIVE_FROM];
const READ: &str = "projects:GetProjectPrices";
const WRITE: &str = "projects:ManageProjectPrices";

static ROUTE: RestRoute = RestRoute {
    type_name: "project_price",
    path: "/project-prices",
    id_param: "price_id",
    module: "projects",
    create: Some("CreateProjectPrice"),
    list: "ListProjectPrices",
    get: "GetProjectPrice",
    update: Some("UpdateProjectPrice"),
    delete: Some("DeleteProjectPrice"),
    gated_as: &[
        ("CreateProjectPrice", WRITE),
        ("ListProjectPrices", READ),
        ("GetProjectPrice", READ),
        ("UpdateProjectPrice", WRITE),
        ("DeleteProjectPrice", WRITE),
    ],
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "provider", "model", "component"],
    ..RestRoute::USUAL
};

impl PlatformType for ProjectPrice {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "project_price",
            title: "project price",
            noun: "Project price",
            id_prefix: "price",
            doc: "What one unit of use costs, from some moment on.",
            properties: vec![
                ("provider", text("Whose price it is (`openai`).").required()),
                ("model", text("For which model.").required()),
                ("component", text("For what: `input_tokens`, `output_tokens`, `request`, …").required()),
                ("unit", text("Per what: `token`, `request`, `gb_day`, …").required()),
                (
                    "unit_price",
                    PropertySchema::new(Kind::Number, "How much one unit costs, in US dollars.").required(),
                ),
                ("meter_type", text("Which meter counts it.").default("llm_tokens")),
                (EFFECTIVE_FROM, text("From when on, as a timestamp; from the deploy on if not given.")),
            ],
            // Nothing of it is fixed, so the rule never applies. Recorded costs keep the price they
            // were recorded at.
            on_immutable: ImmutableRule::Replace,
            srn_type: "*",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        let price = properties.member("unit_price").and_then(Node::json).and_then(Json::as_f64);
        if price.is_some_and(|price| price < 0.0) {
            let message = "unit_price must be a non-negative number.";
            findings.error(DiagnosticCode::InvalidValue, Path::of(["unit_price"]), message);
        }
        let from = properties.member(EFFECTIVE_FROM).and_then(Node::text);
        if let Some(text) = from.filter(|text| moment(text).is_none()) {
            let message = format!("effective_from must be a valid timestamp (got '{text}').");
            findings.error(DiagnosticCode::InvalidValue, Path::of([EFFECTIVE_FROM]), message);
        }
    }

    fn complete(&self, properties: &mut Map<String, Json>, now: Timestamp) {
        let moment = match properties.get(EFFECTIVE_FROM) {
            Some(given) => given.as_str().and_then(moment),
            None => Some(now),
        };
        if let Some(moment) = moment {
            properties.insert(EFFECTIVE_FROM.to_owned(), json!(iso(moment)));
        }
    }

    fn public(&self) -> &'static [&'static str] {
        &KEY
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        let parts: Vec<&Json> = KEY.iter().map(|name| &properties[*name]).collect();
        vec![UniqueKey { key: "price".to_owned(), value: json!(parts).to_string() }]
    }

    fn conflict(&self, _key: &str, properties: &Json) -> Option<Refusal> {
        let [provider, model, component, from] =
            KEY.map(|name| properties[name].as_str().unwrap_or_default());
        let message =
            format!("A price for {component} of '{model}' by '{provider}' from {from} on already exists.");
        Some(Refusal::new(WireCode::NameConflict, message))
    }
}

/// A moment as RFC 3339 writes it, with any offset; or a date, which begins at midnight UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let moment = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let date = text.parse::<jiff::civil::Date>().ok().filter(|_| text.len() == "2025-01-01".len())?;
        jiff::tz::Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()
    })?;
    Some(Timestamp(moment.as_millisecond()))
}
