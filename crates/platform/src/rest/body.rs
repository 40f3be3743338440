//! Strict bodies: unknown and missing fields are refused by name (`formations-behaviour.md` §1.1).

use crate::{Node, Refusal, TypeEntry, UpdateMode};
use formwork_model::{Json, ProjectId, WireCode};
use serde_json::{Map, json};

const PROJECT: &str = "project_id";

/// The properties that the body of a create brings.
///
/// # Errors
/// A refusal that names what is unknown or missing.
pub(crate) fn of_create(entry: &TypeEntry, home: Option<&ProjectId>, body: Json) -> Result<Json, Refusal> {
    let mut members = members(body)?;
    // What is global has no project to name, so the field is unknown there.
    if let Some(home) = home
        && let Some(named) = members.shift_remove(PROJECT)
        && named.as_str() != Some(home.as_str())
    {
        let message = "`project_id` must be the id of the project of the request";
        return Err(Refusal::new(WireCode::ValidationFailed, message));
    }
    entry.kind().read_body(&mut members)?;
    refuse_unknown(&members, |name| entry.stored_schema().property(name).is_some())?;
    let body = Json::Object(members);
    refuse_missing(&crate::bag::missing(entry, Node::Plain(&body)))?;
    Ok(body)
}

/// The properties that the body of an update brings.
///
/// # Errors
/// A refusal that names what is unknown or missing.
pub(crate) fn of_update(entry: &TypeEntry, mode: UpdateMode, body: Json) -> Result<Json, Refusal> {
    let mut members = members(body)?;
    entry.kind().read_body(&mut members)?;
    refuse_unknown(&members, |name| entry.stored_schema().property(name).is_some())?;
    let body = Json::Object(members);
    if mode == UpdateMode::Put {
        let mut missing = crate::bag::missing(entry, Node::Plain(&body));
        missing
            .retain(|name| entry.stored_schema().property(name).is_some_and(|found| !found.hint.create_only));
        refuse_missing(&missing)?;
    }
    Ok(body)
}

/// The members of a body, which must be an object.
///
/// # Errors
/// A refusal of anything else.
pub(crate) fn members(body: Json) -> Result<Map<String, Json>, Refusal> {
    match body {
        Json::Object(members) => Ok(members),
        _ => Err(Refusal::new(WireCode::ValidationFailed, "The request body must be a JSON object")),
    }
}

/// Refuses fields that the body does not have, by name.
pub(crate) fn refuse_unknown(
    members: &Map<String, Json>,
    is_known: impl Fn(&str) -> bool,
) -> Result<(), Refusal> {
    let is_unknown = |name: &&String| !is_known(name);
    let unknown: Vec<&str> = members.keys().filter(is_unknown).map(String::as_str).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let message = format!("Unknown field(s): {}", unknown.join(", "));
    Err(Refusal::new(WireCode::ValidationFailed, message).meta(json!({ "unknownFields": unknown })))
}

/// Refuses a body that lacks these.
pub(super) fn refuse_missing(missing: &[&str]) -> Result<(), Refusal> {
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!("Missing required field(s): {}", missing.join(", "));
    Err(Refusal::new(WireCode::ValidationFailed, message).meta(json!({ "missingFields": missing })))
}
