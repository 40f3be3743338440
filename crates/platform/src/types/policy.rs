//! `policy`: statements about what its bearers may do (`formations-behaviour.md` §6.4). Policies
//! are global, and writing one takes the admin role.

use crate::{
    Definition, DependentRule, Dependents, Findings, Node, PlatformType, RestRoute, Scope, UpdateMode,
    policy_document,
};
use formwork_model::{ImmutableRule, Kind, Path, PropertySchema, WireCode};
use serde_json::json;

pub(super) struct Policy;

static ROUTE: RestRoute = RestRoute {
    type_name: "policy",
    path: "/policies",
    id_param: "policy_id",
    module: "policies",
    create: Some("CreatePolicy"),
    list: "ListPolicies",
    get: "GetPolicy",
    update: Some("UpdatePolicy"),
    delete: Some("DeletePolicy"),
    update_modes: &[UpdateMode::Put],
    list_filters: &[],
    ..RestRoute::USUAL
};

/// A trigger runs within its policy, so the policy stays while the trigger is there. Users and keys
/// keep the id of a policy that is gone; it allows them nothing.
static DEPENDENTS: [Dependents; 1] = [Dependents {
    type_name: "trigger",
    fields: &["policy_id"],
    rule: DependentRule::Block { code: WireCode::PolicyHasDependents, count: "triggerCount", force: false },
}];

impl PlatformType for Policy {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc).nullable();
        Definition {
            name: "policy",
            title: "policy",
            noun: "Policy",
            id_prefix: "pol",
            doc: "Statements about what its bearers may do.",
            properties: vec![
                ("name", text("What people call it; not unique.")),
                ("description", text("What it is for.")),
                (
                    "document",
                    PropertySchema::new(Kind::Object, "The statements: `{\"statement\": [{\"effect\", \"action\", \"resource\", \"condition\"}]}`.")
                        .required()
                        .shaped(json!({
                            "required": ["statement"],
                            "properties": { "statement": { "type": "array", "items": { "type": "object" } } },
                        })),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "policy",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn scope(&self) -> Scope {
        Scope::Global
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        let Some(document) = properties.member("document").filter(|document| document.is_object()) else {
            return;
        };
        let at = Path::of(["document"]);
        policy_document::check(document, &at, "Policy document is invalid: ", findings);
    }

    fn public(&self) -> &'static [&'static str] {
        // Whoever decides by it must be able to read it.
        &["document"]
    }
}
