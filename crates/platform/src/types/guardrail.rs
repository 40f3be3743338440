//! `guardrail`: how risky an action is, and what then decides (`formations-behaviour.md` §7.6).

use crate::{
    Definition, DependentRule, Dependents, Extra, Findings, Node, PlatformType, Refusal, RestRoute,
    UpdateMode, json_logic, project,
    versions::{self, Versions},
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema, WireCode};
use serde_json::{Map, json};

pub(super) struct Guardrail;

/// The routes' own spelling of what the guardrail decides: one object.
const DOCUMENT: &str = "document";
/// The properties that stand in the document.
pub(crate) const IN_DOCUMENT: &[&str] = &["class", "default_class", "guard", "escalate", "expires_in"];
const CLASSES: &[&str] = &["A", "B", "C", "D"];

/// What expressions can read of the running platform.
const RUNTIME: &[&str] = &[
    "action",
    "tool.id",
    "tool.name",
    "agent.id",
    "project.id",
    "run.node_attempt",
    "run.tool_calls",
    "activity.actions_1h",
    "activity.actions_24h",
    "usage.cost_usd_1h",
    "usage.cost_usd_24h",
    "usage.cost_usd_7d",
    "usage.cost_usd_30d",
    "usage.tokens_24h",
    "usage.tokens_30d",
    "usage.run_tokens",
    "usage.run_cost_usd",
];

static ROUTE: RestRoute = RestRoute {
    type_name: "guardrail",
    path: "/guardrails",
    id_param: "guardrail_id",
    module: "guardrails",
    create: Some("CreateGuardrail"),
    list: "ListGuardrails",
    get: "GetGuardrail",
    update: Some("UpdateGuardrail"),
    delete: Some("DeleteGuardrail"),
    update_modes: &[UpdateMode::Patch],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 3] = [
    Dependents {
        type_name: project::TYPE,
        fields: &[project::GUARDRAILS],
        rule: DependentRule::Block {
            code: WireCode::GuardrailHasReferences,
            count: "projectCount",
            force: false,
        },
    },
    Dependents {
        type_name: "tool",
        fields: &["guardrail_ids"],
        rule: DependentRule::Block {
            code: WireCode::GuardrailHasReferences,
            count: "toolCount",
            force: false,
        },
    },
    Dependents {
        type_name: "agent",
        fields: &["guardrail_ids"],
        rule: DependentRule::Block {
            code: WireCode::GuardrailHasReferences,
            count: "agentCount",
            force: false,
        },
    },
];

static EXTRAS: [Extra; 1] = [
    // Derived from the properties.
    Extra { name: DOCUMENT, kind: "object", nullable: false, value: |_| Json::Null },
];

impl PlatformType for Guardrail {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "guardrail",
            title: "guardrail",
            noun: "Guardrail",
            id_prefix: "guard",
            doc: "How risky an action is, and what then decides.",
            properties: vec![
                ("name", text("What people call it; not unique.").required()),
                ("description", text("What it is for.").nullable()),
                (
                    "class",
                    PropertySchema::new(
                        Kind::Any,
                        "`A` runs, `B` runs if `guard` holds, `C` waits for approval, `D` is blocked; or \
                         JSON Logic that says which.",
                    )
                    .required(),
                ),
                ("default_class", text("The class where `class` decides none.").default("C")),
                ("guard", PropertySchema::new(Kind::Object, "JSON Logic that decides class `B`.").nullable()),
                (
                    "escalate",
                    PropertySchema::new(Kind::Boolean, "Whether what `guard` refuses waits for approval.")
                        .nullable(),
                ),
                (
                    "context_tool_id",
                    text("The tool that fetches what expressions read.").nullable().refers_to("tool"),
                ),
                (
                    "context_mode",
                    text("What the tool's answer does to the caller's context; null merges.")
                        .nullable()
                        .one_of(&["merge", "replace"]),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "guardrail",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn rest_properties(&self) -> Vec<(&'static str, PropertySchema)> {
        vec![(
            "expires_in",
            PropertySchema::new(Kind::Integer, "After how many seconds an approval expires.").nullable(),
        )]
    }

    /// A `document` in a body stands for all that it can hold: what it lacks is cleared.
    fn read_body(&self, members: &mut Map<String, Json>) -> Result<(), Refusal> {
        let Some(document) = members.shift_remove(DOCUMENT) else { return Ok(()) };
        let Json::Object(document) = document else {
            return Err(Refusal::new(WireCode::ValidationFailed, "`document` must be an object"));
        };
        if let Some(twice) = IN_DOCUMENT.iter().find(|name| members.contains_key(**name)) {
            let message = format!("`{twice}` stands in `document`, so it cannot be given beside it");
            return Err(Refusal::new(WireCode::ValidationFailed, message));
        }
        let unknown: Vec<&str> =
            document.keys().map(String::as_str).filter(|name| !IN_DOCUMENT.contains(name)).collect();
        if !unknown.is_empty() {
            let message = format!("Unknown field(s): document.{}", unknown.join(", document."));
            return Err(
                Refusal::new(WireCode::ValidationFailed, message).meta(json!({ "unknownFields": unknown }))
            );
        }
        for name in IN_DOCUMENT {
            match document.get(*name) {
                Some(value) => members.insert((*name).to_owned(), value.clone()),
                // A class is never absent: without a value the body lacks it.
                None if *name == "class" => None,
                None if *name == "default_class" => members.insert((*name).to_owned(), json!("C")),
                None => members.insert((*name).to_owned(), Json::Null),
            };
        }
        Ok(())
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_class(properties, findings);
        let default = properties.member("default_class").and_then(Node::text);
        if default.is_some_and(|class| !CLASSES.contains(&class)) {
            report("default_class", "Guardrail 'default_class' must be one of A / B / C / D.", findings);
        }
        if let Some(guard) = properties.member("guard").filter(|guard| guard.is_object()) {
            if guard.members().len() == 1 {
                check_logic(guard, "guard", findings);
            } else {
                report("guard", "Guardrail 'guard' must be a JSON Logic expression.", findings);
            }
        }
        super::check_least(properties, "expires_in", 1, &Path::root(), findings);
    }

    fn versioned(&self) -> Option<&'static Versions> {
        Some(&versions::GUARDRAIL)
    }

    fn derive(&self, properties: &Json, members: &mut Map<String, Json>) {
        let stated = |name: &&&str| properties.get(**name).is_some_and(|value| !value.is_null());
        let document =
            IN_DOCUMENT.iter().filter(stated).map(|name| ((*name).to_owned(), properties[name].clone()));
        members.insert(DOCUMENT.to_owned(), Json::Object(document.collect()));
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

fn report(property: &str, message: impl Into<String>, findings: &mut Findings) {
    findings.error(DiagnosticCode::InvalidValue, Path::of([property]), message);
}

fn check_class(properties: Node<'_>, findings: &mut Findings) {
    let Some(class) = properties.raw_member("class").filter(|class| !class.is_expression()) else { return };
    match class.text() {
        Some(literal) if CLASSES.contains(&literal) => {}
        Some(_) => report("class", "Guardrail 'class' literal must be one of A / B / C / D.", findings),
        None if class.is_object() && class.members().len() == 1 => check_logic(class, "class", findings),
        None => {
            let message = "Guardrail 'class' must be a class literal (A/B/C/D) or a JSON Logic expression.";
            report("class", message, findings);
        }
    }
}

/// Checks an expression, and that it reads only what there is to read.
fn check_logic(logic: Node<'_>, property: &str, findings: &mut Findings) {
    json_logic::check(logic, &Path::of([property]), findings);
    for variable in json_logic::variables(logic) {
        let (namespace, rest) = variable.split_once('.').unwrap_or((variable, ""));
        let problem = match namespace {
            "args" | "context" => continue,
            "runtime" if RUNTIME.contains(&rest) => continue,
            "runtime" => "is not in the runtime.* catalog",
            _ => "is outside the args.* / context.* / runtime.* namespaces",
        };
        let message =
            format!("Guardrail {property} expression references an unknown variable: '{variable}' {problem}");
        report(property, message, findings);
    }
}
