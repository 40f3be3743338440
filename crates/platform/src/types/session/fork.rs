//! Forking a session: a new one with the same agent that begins where the other was at some message
//! (`formations-behaviour.md` §7.2). Documents are shared; what was said is said again under new ids.

use super::CONVERSATION_ID;
use crate::{
    Act, ActionField, Completeness, Listed, Node, PlatformCatalog, Refusal,
    document::Document,
    draft::{self, Given},
    ids::new_id,
    rewrite::rewrite,
    view::representation,
};
use formwork_model::{Json, Kind, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx, Link, ListQuery, StoredObject};
use serde_json::{Map, json};

pub(super) const FORK: &str = "ForkSession";
pub(super) const FORKS: &str = "ListSessionForks";
/// Where the system part names the session it was forked from, and after which message.
pub(super) const FROM: &str = "forked_from_session_id";
pub(super) const POSITION: &str = "forked_from_position";
/// The sessions that were forked from one.
pub(super) const FORKED: Listed = Listed { type_name: "session", field: FROM, as_tree: false };
/// How many messages a fork may take along.
const MOST: usize = 500;

pub(super) static FIELDS: [ActionField; 2] = [
    ActionField {
        name: "position",
        kind: Kind::Integer,
        required: false,
        doc: "The last message to take along; all of them if not given.",
    },
    ActionField { name: "name", kind: Kind::String, required: false, doc: "What people call the new one." },
];

/// `POST …/fork`: the new session.
pub(super) fn fork(tx: &mut dyn DomainTx, act: &Act<'_>) -> Result<Json, DomainError> {
    let session = Document::of(&act.object)?.open_whole(act.key, &act.object.id)?;
    let (said, total) = messages(tx, &act.object)?;
    let position = match act.body.get("position") {
        None | Some(Json::Null) => total,
        Some(value) => whole(value).filter(|at| *at <= total).ok_or_else(|| {
            let message = format!("`position` must be from 0 to {total}, the number of messages");
            Refusal::new(WireCode::ValidationFailed, message)
        })?,
    };
    if position > said.len() {
        let message = format!("A fork takes {MOST} messages along at most");
        return Err(Refusal::new(WireCode::ValidationFailed, message).into());
    }
    let mut properties = session.properties.expose().as_object().cloned().unwrap_or_default();
    properties.insert("status".to_owned(), json!("open"));
    if let Some(name) = act.body.get("name") {
        properties.insert("name".to_owned(), name.clone());
    }
    let secrets = session.secrets.into_iter().collect();
    let made = made(tx, act, "session", properties, secrets)?;
    for message in &said[..position] {
        let message = Document::of(message)?.open_whole(act.key, &message.id)?;
        let mut properties = message.properties.expose().as_object().cloned().unwrap_or_default();
        properties.insert("session_id".to_owned(), json!(made.id));
        // A key counts within its session, and this one was used there.
        properties.shift_remove("idempotency_key");
        self::made(tx, act, "message", properties, message.secrets.into_iter().collect())?;
    }
    let Some(made) = tx.get(&made.id)? else { return Err(DomainError::NotFound { id: made.id }) };
    let forked = rewrite(tx, act.key, &made, |document| {
        document.system.insert(FROM.to_owned(), json!(act.object.id));
        document.system.insert(POSITION.to_owned(), json!(position));
    })?;
    representation(act.entry, &forked)
}

/// A whole number, however it is written.
fn whole(value: &Json) -> Option<usize> {
    Node::Plain(value).integer().and_then(|number| usize::try_from(number).ok())
}

fn made(
    tx: &mut dyn DomainTx,
    act: &Act<'_>,
    type_name: &str,
    properties: Map<String, Json>,
    secret_paths: Vec<formwork_model::Path>,
) -> Result<StoredObject, DomainError> {
    let Some(entry) = PlatformCatalog::shared().entry(type_name) else {
        return Err(DomainError::NotFound { id: act.object.id.clone() });
    };
    let given = Given {
        properties: Secret::new(Json::Object(properties)),
        secret_paths,
        kept_paths: Vec::new(),
        completeness: Completeness::Whole,
        actor: act.actor.clone(),
    };
    let id = new_id(entry.definition().id_prefix);
    Ok(draft::create(tx, entry, act.key, &id, act.object.project.as_ref(), &given)?.object)
}

/// What was said in the session, in order, as far as a fork may take it along; and how much it is.
fn messages(
    tx: &mut dyn DomainTx,
    session: &StoredObject,
) -> Result<(Vec<StoredObject>, usize), DomainError> {
    let conversation = Document::of(session)?.system.get(CONVERSATION_ID).cloned().unwrap_or_default();
    let page =
        tx.list(&linked(session, "message", CONVERSATION_ID, conversation.as_str().unwrap_or_default()))?;
    Ok((page.items, page.total))
}

fn linked(session: &StoredObject, type_name: &str, field: &str, to: &str) -> ListQuery {
    ListQuery {
        type_name: type_name.to_owned(),
        projects: session.project.iter().cloned().collect(),
        linked: Some(Link { field: field.to_owned(), to: to.to_owned() }),
        limit: MOST,
        offset: 0,
    }
}
