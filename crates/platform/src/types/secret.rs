//! `secret`: a value that tools and providers use and that nobody reads back
//! (`formations-behaviour.md` §6.6).

use crate::{
    Definition, DeleteStatus, DependentRule, Dependents, Extra, PlatformType, RestRoute, UpdateMode,
};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema, WireCode};

pub(super) struct Secret;

static ROUTE: RestRoute = RestRoute {
    type_name: "secret",
    path: "/secrets",
    id_param: "secret_id",
    module: "secrets",
    create: Some("CreateSecret"),
    list: "ListSecrets",
    get: "GetSecret",
    update: Some("UpdateSecret"),
    delete: Some("DeleteSecret"),
    update_modes: &[UpdateMode::Patch],
    delete_status: DeleteStatus::Ok,
    force: true,
    ..RestRoute::USUAL
};

/// Tools that name the secret in a token do not block its deletion: their calls fail by name.
static DEPENDENTS: [Dependents; 1] = [Dependents {
    type_name: "ai_provider",
    fields: &["secret_id"],
    rule: DependentRule::Block { code: WireCode::SecretHasDependents, count: "aiProviderCount", force: true },
}];

static EXTRAS: [Extra; 1] =
    [Extra { name: "has_value", kind: "boolean", nullable: false, value: |_| Json::Bool(true) }];

impl PlatformType for Secret {
    fn define(&self) -> Definition {
        Definition {
            name: "secret",
            title: "secret",
            noun: "Secret",
            id_prefix: "sec",
            doc: "A value kept sealed, used by tools and AI providers, and never read back.",
            properties: vec![
                ("name", PropertySchema::new(Kind::String, "What people call it; not unique.").required()),
                ("value", PropertySchema::new(Kind::String, "The value itself.").required().write_only()),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "secret",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}
