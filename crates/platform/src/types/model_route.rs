//! `model_route`: models to try in order (`formations-behaviour.md` §7.8).

use super::{check_least, name_key};
use crate::{
    Definition, DependentRule, Dependents, Findings, Node, PlatformType, RefKind, Reference, RestRoute,
    UpdateMode, project, references,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema, WireCode};
use formwork_store::UniqueKey;
use serde_json::json;

pub(super) struct ModelRoute;

/// How many attempts all targets together may allow.
const MOST_ATTEMPTS: i64 = 10;
const RETRY_ON: &[&str] = &["provider_error", "timeout", "rate_limited"];
const TARGET: &[&str] = &["ai_provider_id", "model", "timeout_seconds", "max_retries"];

static ROUTE: RestRoute = RestRoute {
    type_name: "model_route",
    path: "/model-routes",
    id_param: "route_id",
    module: "model-routes",
    create: Some("CreateModelRoute"),
    list: "ListModelRoutes",
    get: "GetModelRoute",
    update: Some("UpdateModelRoute"),
    delete: Some("DeleteModelRoute"),
    update_modes: &[UpdateMode::Put],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 2] = [
    Dependents {
        type_name: "agent",
        fields: &["model_route_id"],
        rule: DependentRule::Block {
            code: WireCode::ModelRouteHasDependents,
            count: "agentCount",
            force: false,
        },
    },
    // As its default route.
    Dependents {
        type_name: project::TYPE,
        fields: &[project::DEFAULT_ROUTE],
        rule: DependentRule::Block {
            code: WireCode::ModelRouteHasDependents,
            count: "projectCount",
            force: false,
        },
    },
];

impl PlatformType for ModelRoute {
    fn define(&self) -> Definition {
        let number =
            |doc: &'static str, value: u64| PropertySchema::new(Kind::Integer, doc).nullable().default(value);
        Definition {
            name: "model_route",
            title: "model route",
            noun: "Model route",
            id_prefix: "route",
            doc: "Models to try one after the other.",
            properties: vec![
                ("name", PropertySchema::new(Kind::String, "What people call it; unique.").required()),
                (
                    "targets",
                    PropertySchema::new(
                        Kind::Array,
                        "The models in order: `ai_provider_id`, `model`, `timeout_seconds`, `max_retries`.",
                    )
                    .required()
                    .shaped(super::objects(&[])),
                ),
                (
                    "retry_on",
                    PropertySchema::new(Kind::Array, "The failures after which the next one is tried.")
                        .default(json!(RETRY_ON))
                        .shaped(super::texts()),
                ),
                ("failure_threshold", number("After how many failures a target is left out.", 3)),
                ("cooldown_seconds", number("For how long it is left out.", 60)),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "model_route",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_targets(properties.member("targets"), findings);
        check_retry_on(properties.member("retry_on"), findings);
        check_least(properties, "failure_threshold", 1, &Path::root(), findings);
        check_least(properties, "cooldown_seconds", 1, &Path::root(), findings);
    }

    fn public(&self) -> &'static [&'static str] {
        &["name"]
    }

    fn references(&self, properties: &Json, found: &mut Vec<Reference>) {
        references::at(properties, &["targets", "ai_provider_id"], RefKind::AiProvider, found);
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        name_key(properties)
    }
}

fn check_targets(targets: Option<Node<'_>>, findings: &mut Findings) {
    let Some(targets) = targets.filter(|targets| targets.is_array()) else { return };
    let mut report = |message: String| {
        findings.error(DiagnosticCode::InvalidValue, Path::of(["targets"]), message);
    };
    let targets = targets.items();
    if targets.is_empty() {
        report("targets must be a non-empty array.".to_owned());
    }
    for (index, target) in targets.iter().enumerate() {
        target_problems(*target, &format!("targets[{index}]")).into_iter().for_each(&mut report);
    }
    let attempts: Option<i64> = targets.iter().map(|target| attempts(*target)).sum();
    if let Some(attempts) = attempts.filter(|attempts| *attempts > MOST_ATTEMPTS) {
        report(format!(
            "targets would allow {attempts} total attempts (sum of 1 + max_retries per target); the maximum \
             is {MOST_ATTEMPTS}."
        ));
    }
}

/// Members may be expressions: a route and the providers it names ship in one template.
fn target_problems(target: Node<'_>, at: &str) -> Vec<String> {
    if target.is_expression() {
        return Vec::new();
    }
    if !target.is_object() {
        return vec![format!("{at} must be an object.")];
    }
    let unknown = target.members().into_iter().filter(|(name, _)| !TARGET.contains(name));
    let mut problems: Vec<String> =
        unknown.map(|(name, _)| format!("{at} has unknown field '{name}'.")).collect();
    for name in ["ai_provider_id", "model"] {
        if !target.member(name).is_some_and(Node::may_be_text) {
            problems.push(format!("{at}.{name} is required and must be a string."));
        }
    }
    if target.member("timeout_seconds").is_some_and(|value| !value.may_be_integer(1)) {
        problems.push(format!("{at}.timeout_seconds must be a positive integer."));
    }
    if target.member("max_retries").is_some_and(|value| !value.may_be_integer(0)) {
        problems.push(format!("{at}.max_retries must be an integer greater than or equal to 0."));
    }
    problems
}

/// How many attempts a target allows, if that is known.
fn attempts(target: Node<'_>) -> Option<i64> {
    if target.is_expression() {
        return None;
    }
    match target.member("max_retries") {
        Some(retries) if retries.is_expression() => None,
        Some(retries) => Some(retries.integer().unwrap_or(0).clamp(0, 1_000_000) + 1),
        None => Some(1),
    }
}

fn check_retry_on(list: Option<Node<'_>>, findings: &mut Findings) {
    let Some(list) = list.filter(|list| list.is_array()) else { return };
    let is_known =
        |item: &Node<'_>| item.is_expression() || item.text().is_some_and(|text| RETRY_ON.contains(&text));
    let items = list.items();
    if items.is_empty() || !items.iter().all(is_known) {
        let message = format!("retry_on must be a non-empty subset of {}.", RETRY_ON.join(", "));
        findings.error(DiagnosticCode::InvalidValue, Path::of(["retry_on"]), message);
    }
}
