//! Messages of sessions: records that the routes make and templates cannot declare
//! (`formations-behaviour.md` §7.2). Answering one takes a running agent, and there is none yet.

use super::session::{self, CONVERSATION_ID, LAST_ACTIVITY};
use crate::{
    Definition, Extra, Findings, Node, PlatformType, Refusal, RestParent, RestRoute, document::Document,
    rewrite::rewrite, scene::Scene, view::iso,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, Link, ListQuery, StoredObject, UniqueKey};
use serde_json::{Map, json};

pub(super) struct Message;

const ACTOR_ID: &str = "actor_id";
const POSITION: &str = "position";

static ROUTE: RestRoute = RestRoute {
    type_name: "message",
    path: "/sessions/{session_id}/messages",
    id_param: "message_id",
    parent: Some(RestParent { type_name: "session", property: "session_id" }),
    module: "agents",
    create: Some("SendSessionMessage"),
    list: "ListSessionMessages",
    get: "GetSessionMessage",
    // Messages are a part of their session.
    gated_as: &[("ListSessionMessages", "agents:GetSession"), ("GetSessionMessage", "agents:GetSession")],
    list_filters: &["session_id"],
    answers_existing: true,
    ..RestRoute::USUAL
};

static EXTRAS: [Extra; 4] = [
    Extra { name: "role", kind: "string", nullable: false, value: |_| json!("user") },
    Extra {
        name: CONVERSATION_ID,
        kind: "string",
        nullable: false,
        value: |system| of_system(system, CONVERSATION_ID),
    },
    Extra { name: ACTOR_ID, kind: "string", nullable: true, value: |system| of_system(system, ACTOR_ID) },
    Extra { name: POSITION, kind: "integer", nullable: false, value: |system| of_system(system, POSITION) },
];

fn of_system(system: &Map<String, Json>, name: &str) -> Json {
    system.get(name).cloned().unwrap_or_default()
}

impl PlatformType for Message {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "message",
            title: "message",
            noun: "Message",
            id_prefix: "msg",
            doc: "What was said in a session.",
            properties: vec![
                ("session_id", text("The session it is said in.").required().refers_to("session")),
                ("message", text("What is said; excludes `document_id`.").nullable()),
                (
                    "document_id",
                    text("The document that is shown; excludes `message`.").nullable().refers_to("document"),
                ),
                ("idempotency_key", text("Said again with the same key, it is the same message.").nullable()),
                (
                    "tool_context",
                    PropertySchema::new(Kind::Object, "Texts that tools are sent along, by header name.")
                        .nullable(),
                ),
            ],
            // A message is never changed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "session",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn srn_parent(&self) -> Option<&'static str> {
        Some("session_id")
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        if properties.member("message").is_some() == properties.member("document_id").is_some() {
            let message = "exactly one of message or document_id is required";
            findings.error(DiagnosticCode::ConflictingProperties, Path::root(), message);
        }
        session::check_tool_context(properties, findings);
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        idempotency(properties).into_iter().collect()
    }

    fn existing(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        properties: &Json,
    ) -> Result<Option<StoredObject>, DomainError> {
        let Some(key) = idempotency(properties) else { return Ok(None) };
        tx.find(Some(project), "message", &key)
    }

    fn system_links(&self, system: &Map<String, Json>) -> Vec<Link> {
        let link = |field: &str| {
            let to = system.get(field)?.as_str()?;
            Some(Link { field: field.to_owned(), to: to.to_owned() })
        };
        [CONVERSATION_ID, ACTOR_ID].into_iter().filter_map(link).collect()
    }

    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        let id = scene.after.get("session_id").and_then(Json::as_str).unwrap_or_default();
        let Some(stored) = tx.get(id)? else { return Err(DomainError::NotFound { id: id.to_owned() }) };
        let session = Document::of(&stored)?;
        let now = tx.now()?;
        if session.properties.get("status").and_then(Json::as_str) == Some("closed") {
            return Err(Refusal::new(WireCode::SessionClosed, format!("Session '{id}' is closed.")).into());
        }
        if session::expires(&session).is_some_and(|end| end < now) {
            return Err(Refusal::new(WireCode::SessionExpired, format!("Session '{id}' has expired.")).into());
        }
        let conversation = of_system(&session.system, CONVERSATION_ID);
        let conversation_id = conversation.as_str().unwrap_or_default();
        // A conversation can be deleted under its session; what is said then would be lost.
        if tx.get(conversation_id)?.is_none() {
            return Err(Refusal::new(
                WireCode::ResourceNotFound,
                format!("Conversation not found: {conversation_id}"),
            )
            .into());
        }
        let position = said(tx, scene.project, conversation_id)?;
        scene.system.insert(POSITION.to_owned(), json!(position + 1));
        scene.system.insert(CONVERSATION_ID.to_owned(), conversation);
        if let Some(actor) = session.properties.get("actor_id") {
            scene.system.insert(ACTOR_ID.to_owned(), actor.clone());
        }
        rewrite(tx, scene.key, &stored, |session| {
            session.system.insert(LAST_ACTIVITY.to_owned(), json!(iso(now)));
        })
        .map(drop)
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

/// How many messages a conversation has already.
fn said(tx: &mut dyn DomainTx, project: &ProjectId, conversation: &str) -> Result<usize, DomainError> {
    let query = ListQuery {
        type_name: "message".to_owned(),
        projects: vec![project.clone()],
        linked: Some(Link { field: CONVERSATION_ID.to_owned(), to: conversation.to_owned() }),
        limit: 1,
        offset: 0,
    };
    Ok(tx.list(&query)?.total)
}

/// A key counts within its session.
fn idempotency(properties: &Json) -> Option<UniqueKey> {
    let session = properties.get("session_id")?.as_str()?;
    let key = properties.get("idempotency_key")?.as_str()?;
    Some(UniqueKey { key: "idempotency_key".to_owned(), value: format!("{session}/{key}") })
}
