//! `conversation`: a list of messages that several may write.

use super::check_text_members;
use crate::{Definition, DependentRule, Dependents, Findings, Node, PlatformType, RestRoute, UpdateMode};
use formwork_model::{ImmutableRule, Kind, Path, PropertySchema};

pub(super) struct Conversation;

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
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "actor_id"],
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

    fn rest_properties(&self) -> Vec<(&'static str, PropertySchema)> {
        vec![("tags", PropertySchema::new(Kind::Object, "Texts by name, to find it by.").nullable())]
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_text_members(properties.member("tags"), &Path::of(["tags"]), findings);
    }
}
