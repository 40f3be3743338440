//! Strict bodies: unknown and missing fields are refused by name (`formations-behaviour.md` §1.1).

use crate::{
    Completeness, Findings, Node, Refusal, TypeEntry, UpdateMode, check_bag, redaction::without_secrets,
};
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
    let body = Json::Object(members);
    let missing = crate::bag::missing(entry, Node::Plain(&body));
    refuse_misshapen(entry, &body, &missing, Completeness::Whole)?;
    Ok(body)
}

/// The properties that the body of an update brings.
///
/// # Errors
/// A refusal that names what is unknown or missing.
pub(crate) fn of_update(entry: &TypeEntry, mode: UpdateMode, body: Json) -> Result<Json, Refusal> {
    let mut members = members(body)?;
    entry.kind().read_body(&mut members)?;
    let body = Json::Object(members);
    let mut missing = Vec::new();
    if mode == UpdateMode::Put {
        missing = crate::bag::missing(entry, Node::Plain(&body));
        missing
            .retain(|name| entry.stored_schema().property(name).is_some_and(|found| !found.hint.create_only));
    }
    refuse_misshapen(entry, &body, &missing, Completeness::Partial)?;
    Ok(body)
}

/// Refuses a body with fields that it does not have, or without some that it must have. What else is
/// wrong with it is told along with that: nobody should have to send it once for each mistake.
fn refuse_misshapen(
    entry: &TypeEntry,
    body: &Json,
    missing: &[&str],
    completeness: Completeness,
) -> Result<(), Refusal> {
    let is_known = |name: &str| entry.stored_schema().property(name).is_some();
    let members = body.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    let unknown: Vec<&str> = members.filter(|name| !is_known(name)).collect();
    let Err(mut refusal) = refuse_fields(&unknown, missing) else { return Ok(()) };
    let mut findings = Findings::default();
    let node = Node::Plain(body);
    check_bag(entry, node, Completeness::Partial, &mut findings);
    for name in missing {
        findings.missing(name);
    }
    if completeness == Completeness::Whole {
        entry.kind().check(node, &mut findings);
    }
    let facts = refusal.meta.get_or_insert_with(|| json!({}));
    if let Some(facts) = facts.as_object_mut() {
        facts.extend(findings.facts());
    }
    let secrets = entry.secret_places(node).into_iter().collect();
    Err(without_secrets(refusal, body, &secrets))
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
    refuse_fields(&unknown, &[])
}

/// Refuses a body that lacks these.
pub(super) fn refuse_missing(missing: &[&str]) -> Result<(), Refusal> {
    refuse_fields(&[], missing)
}

/// The message speaks of what is unknown first: a field that is missing may be one that is misspelt.
fn refuse_fields(unknown: &[&str], missing: &[&str]) -> Result<(), Refusal> {
    let message = match (unknown, missing) {
        ([], []) => return Ok(()),
        ([], missing) => format!("Missing required field(s): {}", missing.join(", ")),
        (unknown, _) => format!("Unknown field(s): {}", unknown.join(", ")),
    };
    let mut facts = Map::new();
    for (name, fields) in [("unknownFields", unknown), ("missingFields", missing)] {
        if !fields.is_empty() {
            facts.insert(name.to_owned(), json!(fields));
        }
    }
    Err(Refusal::new(WireCode::ValidationFailed, message).meta(Json::Object(facts)))
}
