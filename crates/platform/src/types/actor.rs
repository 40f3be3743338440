//! `actor`: who takes part in conversations, an end user or a persona with an agent or a chat
//! behind it.

use crate::{
    Act, Definition, DependentRule, Dependents, Findings, Node, PlatformType, RestRoute, UpdateMode, tags,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, StoredObject, UniqueKey};

pub(super) struct Actor;

static ROUTE: RestRoute = RestRoute {
    type_name: "actor",
    path: "/actors",
    id_param: "actor_id",
    module: "actors",
    create: Some("CreateActor"),
    list: "ListActors",
    get: "GetActor",
    update: Some("UpdateActor"),
    delete: Some("DeleteActor"),
    gated_as: &[
        ("GetActorTags", "actors:GetActor"),
        ("ReplaceActorTags", "actors:UpdateActor"),
        ("MergeActorTags", "actors:UpdateActor"),
    ],
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "external_id", "agent_id", "chat_id"],
    answers_existing: true,
    actions: &tags::actions(["GetActorTags", "ReplaceActorTags", "MergeActorTags"]),
    ..RestRoute::USUAL
};

/// What an actor said cannot lose its author. Conversations and sessions go on without theirs.
static DEPENDENTS: [Dependents; 3] = [
    Dependents {
        type_name: "message",
        fields: &["actor_id"],
        rule: DependentRule::Block { code: WireCode::ActorHasMessages, count: "messageCount", force: false },
    },
    Dependents { type_name: "conversation", fields: &["actor_id"], rule: DependentRule::Detach },
    Dependents { type_name: "session", fields: &["actor_id"], rule: DependentRule::Detach },
];

impl PlatformType for Actor {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "actor",
            title: "actor",
            noun: "Actor",
            id_prefix: "actor",
            doc: "Who takes part in conversations.",
            properties: vec![
                ("name", text("What people call it; not blank.").required()),
                ("external_id", text("Its id in the system it comes from; unique.").nullable()),
                ("instructions", text("How it behaves.").nullable()),
                (
                    "agent_id",
                    text("The agent that speaks for it; excludes `chat_id`.").nullable().refers_to("agent"),
                ),
                (
                    "chat_id",
                    text("The chat that speaks for it; excludes `agent_id`.").nullable().refers_to("chat"),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "actor",
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
        if properties.member("name").and_then(Node::text).is_some_and(|name| name.trim().is_empty()) {
            let message = "Actor field 'name' must be a non-empty string";
            findings.error(DiagnosticCode::InvalidValue, Path::of(["name"]), message);
        }
        if properties.member("agent_id").is_some() && properties.member("chat_id").is_some() {
            findings.coded(
                WireCode::AgentAndChatExclusive,
                DiagnosticCode::ConflictingProperties,
                Path::root(),
                "agentId and chatId are mutually exclusive",
            );
        }
        tags::check(properties, findings);
    }

    fn public(&self) -> &'static [&'static str] {
        &["external_id"]
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        external_key(properties).into_iter().collect()
    }

    /// Whoever introduces an actor again by its external id is shown the one there is.
    fn existing(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &Json,
    ) -> Result<Option<StoredObject>, DomainError> {
        let Some(key) = external_key(properties) else { return Ok(None) };
        tx.find(Some(project), "actor", &key)
    }
}

fn external_key(properties: &Json) -> Option<UniqueKey> {
    let id = properties.get("external_id")?.as_str()?;
    Some(UniqueKey { key: "external_id".to_owned(), value: id.to_owned() })
}
