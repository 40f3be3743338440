//! `conversation`: a list of messages that several may write.

use crate::{
    Act, Definition, DependentRule, Dependents, Findings, Listed, Node, PlatformType, RestAction, RestRoute,
    UpdateMode, tags,
};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema};
use formwork_store::{DomainError, DomainTx};

pub(super) struct Conversation;

const MESSAGES: &str = "ListConversationMessages";
/// What was said in it, whichever session it was said through.
const SAID: Listed = Listed { type_name: "message", field: "conversation_id", as_tree: false };
const TAGS: [RestAction; 3] =
    tags::actions(["GetConversationTags", "ReplaceConversationTags", "MergeConversationTags"]);

static ROUTE: RestRoute = RestRoute {
    type_name: "conversation",
    path: "/conversations",
    id_param: "conversation_id",
    module: "conversations",
    create: Some("CreateConversation"),
    list: "ListConversations",
    get: "GetConversation",
    update: Some("UpdateConversation"),
    delete: Some("DeleteConversation"),
    gated_as: &[
        ("GetConversationTags", "conversations:GetConversation"),
        ("ReplaceConversationTags", "conversations:UpdateConversation"),
        (MESSAGES, "conversations:GetConversation"),
        ("MergeConversationTags", "conversations:UpdateConversation"),
    ],
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "actor_id"],
    actions: &[RestAction::list("messages", MESSAGES, SAID), TAGS[0], TAGS[1], TAGS[2]],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] =
    [Dependents { type_name: "message", fields: &["conversation_id"], rule: DependentRule::Cascade }];

impl PlatformType for Conversation {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "conversation",
            title: "conversation",
            noun: "Conversation",
            id_prefix: "conv",
            doc: "A list of messages that several may write.",
            properties: vec![
                ("name", text("What people call it.").nullable()),
                ("status", text("Whether it takes messages.").one_of(&["open", "closed"]).default("open")),
                (
                    "actor_id",
                    text("Whom it is with; cannot change.").nullable().refers_to("actor").create_only(),
                ),
            ],
            on_immutable: ImmutableRule::Replace,
            srn_type: "conversation",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        tags::act(tx, &act)
    }

    fn rest_properties(&self) -> Vec<(&'static str, PropertySchema)> {
        vec![("tags", tags::property())]
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        tags::check(properties, findings);
    }
}
