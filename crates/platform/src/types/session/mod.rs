//! `session`: one agent in one conversation, with a person or without (`formations-behaviour.md`
//! §7.2).

mod fork;

use super::{check_text_members, tool::is_header_name};
use crate::{
    Act, ActionBody, Completeness, Definition, Extra, Findings, Node, PlatformCatalog, PlatformType, Refusal,
    RestAction, RestRoute, UpdateMode,
    document::Document,
    draft::{self, Given},
    ids::new_id,
    scene::Scene,
    tags,
    view::iso,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema, Timestamp, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx, Link, ListQuery, StoredObject};
use serde_json::{Map, json};

pub(super) struct Session;

/// Where the system part names the session's conversation.
pub(super) const CONVERSATION_ID: &str = "conversation_id";
/// When somebody last wrote.
pub(super) const LAST_ACTIVITY: &str = "last_activity_at";
/// Keys of the context that the platform sets itself (`formations-behaviour.md` §7.2).
const RESERVED_CONTEXT: &[&str] = &["sessionId", "actorId", "actorExternalId"];
/// How many sessions are looked at in one go.
const PAGE: usize = 200;

const TAGS: [RestAction; 3] = tags::actions(["GetSessionTags", "ReplaceSessionTags", "MergeSessionTags"]);

static ROUTE: RestRoute = RestRoute {
    type_name: "session",
    path: "/sessions",
    id_param: "session_id",
    module: "agents",
    create: Some("CreateSession"),
    list: "ListSessions",
    get: "GetSession",
    update: Some("UpdateSession"),
    delete: Some("DeleteSession"),
    gated_as: &[
        ("GetSessionTags", "agents:GetSession"),
        ("ReplaceSessionTags", "agents:UpdateSession"),
        ("MergeSessionTags", "agents:UpdateSession"),
        (fork::FORK, "agents:CreateSession"),
        (fork::FORKS, "agents:ListSessions"),
    ],
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "agent_id", "actor_id", "status"],
    actions: &[
        RestAction::post("fork", fork::FORK)
            .taking(ActionBody::Fields(&fork::FIELDS))
            .answering(201)
            .reading(),
        RestAction::list("forks", fork::FORKS, fork::FORKED),
        TAGS[0],
        TAGS[1],
        TAGS[2],
    ],
    ..RestRoute::USUAL
};

/// Generating takes a running agent, and there is none here.
static EXTRAS: [Extra; 5] = [
    Extra {
        name: CONVERSATION_ID,
        kind: "string",
        nullable: false,
        value: |system| system.get(CONVERSATION_ID).cloned().unwrap_or_default(),
    },
    Extra { name: "generating_at", kind: "string", nullable: true, value: |_| Json::Null },
    Extra {
        name: LAST_ACTIVITY,
        kind: "string",
        nullable: false,
        value: |system| system.get(LAST_ACTIVITY).cloned().unwrap_or_default(),
    },
    Extra {
        name: fork::FROM,
        kind: "string",
        nullable: true,
        value: |system| system.get(fork::FROM).cloned().unwrap_or_default(),
    },
    Extra {
        name: fork::POSITION,
        kind: "integer",
        nullable: true,
        value: |system| system.get(fork::POSITION).cloned().unwrap_or_default(),
    },
];

impl PlatformType for Session {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "session",
            title: "session",
            noun: "Session",
            id_prefix: "sess",
            doc: "One agent in one conversation.",
            properties: vec![
                ("agent_id", text("The agent; cannot change.").required().refers_to("agent").create_only()),
                ("name", text("What people call it.").nullable()),
                (
                    "actor_id",
                    text("Who talks with the agent; cannot change.")
                        .nullable()
                        .refers_to("actor")
                        .create_only(),
                ),
                (
                    "auto_generate",
                    PropertySchema::new(Kind::Boolean, "Whether each message is answered by itself.")
                        .default(false),
                ),
                (
                    "inactivity_ttl_seconds",
                    PropertySchema::new(
                        Kind::Integer,
                        "After how long without a message it expires; 0 is never; cannot change.",
                    )
                    .default(0)
                    .create_only(),
                ),
                (
                    "tool_context",
                    PropertySchema::new(Kind::Object, "Texts that tools are sent along, by header name.")
                        .nullable(),
                ),
            ],
            // An agent can allow an actor one open session only, so the old one must go before the
            // new one can be.
            on_immutable: ImmutableRule::ReplaceDeleteFirst,
            srn_type: "session",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn rest_properties(&self) -> Vec<(&'static str, PropertySchema)> {
        vec![
            (
                "status",
                PropertySchema::new(Kind::String, "Whether it takes messages.")
                    .one_of(&["open", "closed"])
                    .default("open"),
            ),
            ("tags", tags::property()),
            (
                "message_delay_seconds",
                PropertySchema::new(Kind::Integer, "How long to wait for further messages.").nullable(),
            ),
        ]
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        super::check_least(properties, "inactivity_ttl_seconds", 0, &Path::root(), findings);
        super::check_least(properties, "message_delay_seconds", 0, &Path::root(), findings);
        tags::check(properties, findings);
        check_tool_context(properties, findings);
    }

    fn public(&self) -> &'static [&'static str] {
        &["agent_id", "actor_id", "inactivity_ttl_seconds", "status"]
    }

    fn system_links(&self, system: &Map<String, Json>) -> Vec<Link> {
        let link = |field: &str| {
            let to = system.get(field)?.as_str()?.to_owned();
            Some(Link { field: field.to_owned(), to })
        };
        [CONVERSATION_ID, fork::FROM].into_iter().filter_map(link).collect()
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        match act.operation {
            fork::FORK => fork::fork(tx, &act),
            _ => tags::act(tx, &act),
        }
    }

    fn owned(&self) -> &'static [&'static str] {
        &[CONVERSATION_ID]
    }

    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        if scene.changes("status") && scene.after["status"] == "open" {
            refuse_second(tx, scene)?;
        }
        if scene.before.is_none() {
            let conversation = start_conversation(tx, scene)?;
            scene.system.insert(CONVERSATION_ID.to_owned(), json!(conversation));
            let now = iso(tx.now()?);
            scene.system.insert(LAST_ACTIVITY.to_owned(), json!(now));
        }
        Ok(())
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

/// `tool_context`: texts under header names. Those that the platform sets itself are a slip.
pub(super) fn check_tool_context(properties: Node<'_>, findings: &mut Findings) {
    let at = Path::of(["tool_context"]);
    let context = properties.member("tool_context");
    check_text_members(context, &at, findings);
    for (name, _) in context.map(Node::members).unwrap_or_default() {
        if !is_header_name(name) {
            let message = format!("tool_context keys must be valid header names; invalid: '{name}'");
            let code = WireCode::InvalidToolContextKey;
            findings.coded(code, DiagnosticCode::InvalidValue, at.clone(), message);
        } else if RESERVED_CONTEXT.contains(&name) {
            let message = format!("The platform sets '{name}' itself; the value here has no effect");
            findings.warning(DiagnosticCode::InvalidValue, at.key(name), message);
        }
    }
}

/// When the session ends for want of messages; `None` is never.
pub(super) fn expires(session: &Document) -> Option<Timestamp> {
    let seconds = session.properties.get("inactivity_ttl_seconds").and_then(Json::as_i64)?;
    let last = session.system.get(LAST_ACTIVITY).and_then(Json::as_str)?;
    let last: jiff::Timestamp = last.parse().ok()?;
    let last = last.as_millisecond();
    (seconds > 0).then(|| Timestamp(last.saturating_add(seconds.saturating_mul(1000))))
}

/// Refuses a second open session of an actor with an agent that has one for each.
fn refuse_second(tx: &mut dyn DomainTx, scene: &Scene<'_>) -> Result<(), DomainError> {
    let text = |name: &str| scene.after.get(name).and_then(Json::as_str);
    let (Some(agent_id), Some(actor_id)) = (text("agent_id"), text("actor_id")) else { return Ok(()) };
    let agent = tx.get(agent_id)?;
    let single = agent.as_ref().and_then(|agent| agent.doc.pointer("/properties/single_session_per_actor"));
    if single != Some(&Json::Bool(true)) {
        return Ok(());
    }
    let mut query = ListQuery {
        type_name: "session".to_owned(),
        projects: vec![scene.project.clone()],
        linked: Some(Link { field: "actor_id".to_owned(), to: actor_id.to_owned() }),
        limit: PAGE,
        offset: 0,
    };
    let now = tx.now()?;
    loop {
        let page = tx.list(&query)?;
        query.offset += page.items.len();
        for other in &page.items {
            if other.id != scene.id && is_open_with(other, agent_id, now)? {
                let message =
                    format!("Actor '{actor_id}' has an open session with agent '{agent_id}' already.");
                let refusal = Refusal::new(WireCode::SingleSessionConflict, message);
                return Err(refusal.meta(json!({ "session_id": other.id })).into());
            }
        }
        if page.items.is_empty() || query.offset >= page.total {
            return Ok(());
        }
    }
}

fn is_open_with(session: &StoredObject, agent_id: &str, now: Timestamp) -> Result<bool, DomainError> {
    let session = Document::of(session)?;
    let of = |name: &str| session.properties.get(name).and_then(Json::as_str);
    let expired = expires(&session).is_some_and(|end| end < now);
    Ok(of("agent_id") == Some(agent_id) && of("status") == Some("open") && !expired)
}

fn start_conversation(tx: &mut dyn DomainTx, scene: &Scene<'_>) -> Result<String, DomainError> {
    let catalog = PlatformCatalog::shared();
    let Some(entry) = catalog.entry("conversation") else { return Ok(String::new()) };
    let properties = json!({ "actor_id": scene.after.get("actor_id") });
    let given = Given {
        properties: Secret::new(properties),
        secret_paths: Vec::new(),
        kept_paths: Vec::new(),
        completeness: Completeness::Whole,
        actor: scene.actor.clone(),
    };
    let id = new_id(entry.definition().id_prefix);
    Ok(draft::create(tx, entry, scene.key, &id, Some(scene.project), &given)?.object.id)
}
