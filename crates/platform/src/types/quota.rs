//! `quota`: how much may be used in a window of time (`formations-behaviour.md` §7.8).

use crate::{
    Definition, Extra, Findings, Node, PlatformType, RefKind, Reference, Refusal, RestRoute, UpdateMode,
    references,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema, WireCode};
use formwork_store::UniqueKey;
use serde_json::{Map, json};

pub(super) struct Quota;

const SCOPES: &[&str] = &["project", "api_key", "agent", "actor"];
const METRICS: &[&str] = &["requests", "tokens", "cost_usd"];
const WINDOWS: &[&str] = &["rolling_1m", "rolling_1h", "rolling_24h", "calendar_month"];
/// The metric that is money: fractions make sense, and a use may have no price.
const COST: &str = "cost_usd";

static ROUTE: RestRoute = RestRoute {
    type_name: "quota",
    path: "/quotas",
    id_param: "quota_id",
    module: "quotas",
    create: Some("CreateQuota"),
    list: "ListQuotas",
    get: "GetQuota",
    update: Some("UpdateQuota"),
    delete: Some("DeleteQuota"),
    update_modes: &[UpdateMode::Patch],
    ..RestRoute::USUAL
};

/// Only running agents use anything, and there are none yet.
static EXTRAS: [Extra; 1] =
    [Extra { name: "current_usage", kind: "number", nullable: false, value: |_| json!(0) }];

impl PlatformType for Quota {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "quota",
            title: "quota",
            noun: "Quota",
            id_prefix: "quota",
            doc: "How much may be used in a window of time.",
            properties: vec![
                ("scope", text("Whose use counts.").one_of(SCOPES).required().create_only()),
                (
                    "scope_ref",
                    text("The one key, agent or actor; without it each counts for all, or an actor for itself.")
                        .nullable()
                        .refers_to("api_key")
                        .refers_to("agent")
                        .refers_to("actor")
                        .create_only(),
                ),
                ("metric", text("What is counted.").one_of(METRICS).required().create_only()),
                ("window", text("Over which time.").one_of(WINDOWS).required().create_only()),
                ("limit", PropertySchema::new(Kind::Number, "How much is allowed.").required()),
                (
                    "mode",
                    text("Whether use beyond it is refused or only reported.")
                        .one_of(&["enforce", "monitor"])
                        .default("enforce"),
                ),
                (
                    "on_unpriced",
                    text("For `cost_usd`: what use without a price does; `block` if not given.")
                        .one_of(&["block", "allow"])
                        .nullable(),
                ),
            ],
            on_immutable: ImmutableRule::Refuse {
                message: "{field} is immutable and cannot be changed after creation (declared \"{declared}\", \
                          current \"{current}\"). Replace the quota instead."
                    .into(),
            },
            srn_type: "quota",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_scope(properties, findings);
        check_limit(properties, findings);
        let metric = properties.member("metric").and_then(Node::text);
        if properties.member("on_unpriced").is_some() && metric.is_some_and(|metric| metric != COST) {
            let message = format!("on_unpriced is only valid for metric \"{COST}\".");
            findings.error(DiagnosticCode::ConflictingProperties, Path::of(["on_unpriced"]), message);
        }
    }

    fn complete(&self, properties: &mut Map<String, Json>, _now: formwork_model::Timestamp) {
        if properties.get("metric").and_then(Json::as_str) == Some(COST) {
            properties.entry("on_unpriced").or_insert_with(|| json!("block"));
        }
    }

    fn public(&self) -> &'static [&'static str] {
        &["scope", "scope_ref", "metric", "window", "limit"]
    }

    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        let kind = match properties.get("scope").and_then(Json::as_str) {
            Some("api_key") => RefKind::ApiKey,
            Some("agent") => RefKind::Agent,
            Some("actor") => RefKind::Actor,
            _ => return,
        };
        references::at(properties, &["scope_ref"], kind, found);
    }

    fn missing(&self, reference: &Reference) -> Refusal {
        let noun = match reference.kind {
            RefKind::ApiKey => "API key",
            RefKind::Agent => "agent",
            _ => "actor",
        };
        let message = format!("scope_ref '{}' does not reference an {noun} in this project.", reference.to);
        Refusal::new(WireCode::ValidationFailed, message)
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        let parts: Vec<&Json> = ["scope", "scope_ref", "metric", "window"]
            .iter()
            .map(|name| properties.get(*name).unwrap_or(&Json::Null))
            .collect();
        vec![UniqueKey { key: "budget".to_owned(), value: json!(parts).to_string() }]
    }

    fn conflict(&self, _key: &str, properties: &Json) -> Option<Refusal> {
        let text = |name: &str| properties.get(name).and_then(Json::as_str);
        let (scope, metric, window) = (text("scope")?, text("metric")?, text("window")?);
        let of = text("scope_ref").map(|id| format!(" '{id}'")).unwrap_or_default();
        let message = format!(
            "A quota on {metric} for scope \"{scope}\"{of} and window \"{window}\" already exists in this project."
        );
        Some(Refusal::new(WireCode::QuotaConflict, message))
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

/// Which scopes a metric has.
fn scopes_of(metric: &str) -> &'static [&'static str] {
    match metric {
        "requests" => &["project", "api_key"],
        _ => &["project", "agent", "actor"],
    }
}

fn check_scope(properties: Node<'_>, findings: &mut Findings) {
    let known = |name: &str, all: &[&str]| {
        properties.member(name).and_then(Node::text).filter(|text| all.contains(text))
    };
    let Some(scope) = known("scope", SCOPES) else { return };
    if let Some(metric) = known("metric", METRICS)
        && !scopes_of(metric).contains(&scope)
    {
        let message = format!("scope \"{scope}\" is not valid for metric \"{metric}\".");
        findings.error(DiagnosticCode::ConflictingProperties, Path::of(["scope"]), message);
    }
    if scope == "project" && properties.member("scope_ref").is_some() {
        let message = "scope \"project\" does not take a scope_ref.";
        findings.error(DiagnosticCode::ConflictingProperties, Path::of(["scope_ref"]), message);
    }
}

fn check_limit(properties: Node<'_>, findings: &mut Findings) {
    let Some(limit) = properties.member("limit") else { return };
    let Some(number) = limit.json().and_then(Json::as_f64) else { return };
    let metric = properties.member("metric").and_then(Node::text);
    let message = match metric.filter(|metric| METRICS.contains(metric) && *metric != COST) {
        _ if number <= 0.0 => "limit must be a number greater than 0.".to_owned(),
        Some(metric) if limit.integer().is_none() => {
            format!("limit must be a positive integer for metric \"{metric}\".")
        }
        _ => return,
    };
    findings.error(DiagnosticCode::InvalidValue, Path::of(["limit"]), message);
}
