//! `ai_provider`: a model vendor with the key to reach it.

use crate::{Definition, DependentRule, Dependents, PlatformType, RestRoute, UpdateMode};
use formwork_model::{ImmutableRule, Kind, PropertySchema, WireCode};

pub(super) struct AiProvider;

const PROVIDERS: &[&str] = &[
    "openai",
    "anthropic",
    "google",
    "xai",
    "groq",
    "ollama",
    "azure",
    "bedrock",
    "vertex",
    "gateway",
    "custom",
];

static ROUTE: RestRoute = RestRoute {
    type_name: "ai_provider",
    path: "/ai-providers",
    id_param: "ai_provider_id",
    module: "ai-providers",
    create: Some("CreateAiProvider"),
    list: "ListAiProviders",
    get: "GetAiProvider",
    update: Some("UpdateAiProvider"),
    delete: Some("DeleteAiProvider"),
    update_modes: &[UpdateMode::Patch],
    force: true,
    ..RestRoute::USUAL
};

/// `force` overrides price overrides and usage, which do not exist here; agents and chats it never overrides.
static DEPENDENTS: [Dependents; 3] = [
    Dependents {
        type_name: "agent",
        fields: &["ai_provider_id", "knowledge_config.extraction.ai_provider_id"],
        rule: DependentRule::Block {
            code: WireCode::AiProviderHasDependents,
            count: "agentCount",
            force: false,
        },
    },
    Dependents {
        type_name: "chat",
        fields: &["ai_provider_id"],
        rule: DependentRule::Block {
            code: WireCode::AiProviderHasDependents,
            count: "chatCount",
            force: false,
        },
    },
    Dependents {
        type_name: "model_route",
        fields: &["targets.ai_provider_id"],
        rule: DependentRule::Block {
            code: WireCode::AiProviderHasDependents,
            count: "modelRouteCount",
            force: false,
        },
    },
];

impl PlatformType for AiProvider {
    fn define(&self) -> Definition {
        Definition {
            name: "ai_provider",
            title: "AI provider",
            noun: "AI provider",
            id_prefix: "aip",
            doc: "A vendor of language models, and how to reach it.",
            properties: vec![
                ("name", PropertySchema::new(Kind::String, "What people call it; not unique.").required()),
                ("provider", PropertySchema::new(Kind::String, "The vendor.").required().one_of(PROVIDERS)),
                (
                    "default_model",
                    PropertySchema::new(Kind::String, "The model of agents and chats that name none.")
                        .nullable(),
                ),
                (
                    "secret_id",
                    PropertySchema::new(Kind::String, "The secret that holds the API key.")
                        .nullable()
                        .refers_to("secret"),
                ),
                (
                    "base_url",
                    PropertySchema::new(
                        Kind::String,
                        "Where the API is, if not at the vendor's own address.",
                    )
                    .nullable(),
                ),
                (
                    "config",
                    PropertySchema::new(Kind::Object, "What the vendor needs beyond that.").nullable(),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "aiProvider",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }
}
