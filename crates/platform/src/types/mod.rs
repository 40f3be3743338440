//! The types, one file each. Adding a type is adding a file and one line to [`ALL`].

mod actor;
mod agent;
mod ai_provider;
mod api_key;
mod chat;
mod conversation;
mod dataset;
mod dataset_item;
mod document;
mod eval;
mod file;
mod generation;
mod guardrail;
mod ingestion_rule;
mod memory;
mod memory_entry;
mod message;
mod model_choice;
mod model_route;
mod orchestration;
mod policy;
mod project_price;
mod queued;
mod quota;
mod reported;
mod secret;
mod session;
mod task;
mod tool;
mod trace;
mod trigger;
mod trigger_firing;
mod webhook;
mod workflow;

pub use api_key::ApiKeyRecord;

use crate::{Findings, Node, PlatformType, node::GAP, versions};
use formwork_model::{DiagnosticCode, Json, Path, WireCode};
use formwork_store::UniqueKey;
use serde_json::json;

pub(crate) use file::DOCUMENT as FILE_DOCUMENT;
pub(crate) use guardrail::IN_DOCUMENT as GUARDRAIL_DOCUMENT;
pub(crate) use reported::{PURGED_AT_ONCE, REPORTED, purge_before};

/// All types, in the order in which messages list them (seed 4, "Template Structure").
pub(crate) const ALL: &[&dyn PlatformType] = &[
    &ai_provider::AiProvider,
    &tool::Tool,
    &agent::Agent,
    &actor::Actor,
    &api_key::ApiKey,
    &chat::Chat,
    &conversation::Conversation,
    &dataset::Dataset,
    &dataset_item::DatasetItem,
    &document::Document,
    &file::File,
    &guardrail::Guardrail,
    &ingestion_rule::IngestionRule,
    &memory::Memory,
    &memory_entry::MemoryEntry,
    &model_route::ModelRoute,
    &eval::Eval,
    &orchestration::Orchestration,
    &policy::Policy,
    &project_price::ProjectPrice,
    &quota::Quota,
    &secret::Secret,
    &session::Session,
    &webhook::Webhook,
    &trigger::Trigger,
    &workflow::Workflow,
];

/// What only the routes make: the traces of what agents did and were told.
pub(crate) const RECORDS: &[&dyn PlatformType] = &[
    &message::Message,
    &generation::Generation,
    &trace::Trace,
    &trigger_firing::TriggerFiring,
    &orchestration::OrchestrationRun,
    &eval::EvalRun,
    &task::Task,
    &task::TaskTransition,
    &versions::AGENT,
    &versions::GUARDRAIL,
    &versions::ORCHESTRATION,
    &versions::WORKFLOW,
];

/// The shape of a list of texts.
fn texts() -> Json {
    json!({ "items": { "type": "string" } })
}

/// The shape of a list of objects that have at least these members.
fn objects(required: &[&str]) -> Json {
    json!({ "items": { "type": "object", "required": required } })
}

/// Reports elements of a list that are certainly no texts.
fn check_texts(list: Option<Node<'_>>, at: &Path, findings: &mut Findings) {
    for (index, item) in list.map(Node::items).unwrap_or_default().into_iter().enumerate() {
        if !item.is_expression() && item.text().is_none() {
            let path = at.index(index);
            findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be a string"));
        }
    }
}

/// Reports members of an object that are certainly no texts.
fn check_text_members(bag: Option<Node<'_>>, at: &Path, findings: &mut Findings) {
    for (name, member) in bag.map(Node::members).unwrap_or_default() {
        if !member.is_expression() && member.text().is_none() {
            let path = at.key(name);
            findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be a string"));
        }
    }
}

/// Reports members of an object that it does not have.
fn check_known(bag: Node<'_>, known: &[&str], at: &Path, findings: &mut Findings) {
    check_known_as(WireCode::ValidationFailed, bag, known, at, findings);
}

/// The same, with a wire code of the type's own.
fn check_known_as(wire: WireCode, bag: Node<'_>, known: &[&str], at: &Path, findings: &mut Findings) {
    for (name, _) in bag.members() {
        if !known.contains(&name) {
            let message = format!("Unknown {at} field '{name}'. Allowed: {}", known.join(", "));
            findings.coded(wire, DiagnosticCode::UnknownKey, at.key(name), message);
        }
    }
}

/// Reports a number that is certainly below `least` or not whole.
fn check_least(bag: Node<'_>, name: &str, least: i64, at: &Path, findings: &mut Findings) {
    if bag.member(name).is_some_and(|value| !value.may_be_integer(least)) {
        let path = at.key(name);
        let message = format!("`{path}` must be an integer of at least {least}");
        findings.error(DiagnosticCode::InvalidValue, path, message);
    }
}

/// The key of a type whose name is unique in its project.
fn name_key(properties: &Json) -> Vec<UniqueKey> {
    let name = properties.get("name").and_then(Json::as_str);
    let key = name.map(|name| UniqueKey { key: "name".to_owned(), value: name.to_owned() });
    key.into_iter().collect()
}

/// What is wrong with an address, as far as it is known.
fn url_problem(url: Node<'_>) -> Option<&'static str> {
    let text = url.known_text()?;
    // Where it begins with a part that is not known, nothing certain can be said.
    let begins_with_gap = text.starts_with(GAP);
    let rest = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let is_address = host.is_some_and(|host| !host.is_empty()) && !text.contains(char::is_whitespace);
    (!begins_with_gap && !is_address).then_some("must be an http or https URL")
}

/// What is wrong with a pattern of event names, as far as it is known: `*`, `prefix.*` or a name.
fn event_pattern_problem(pattern: Node<'_>) -> Option<&'static str> {
    let text = match pattern.known_text() {
        Some(text) => text,
        None if pattern.is_expression() => return None,
        None => return Some("must be a string"),
    };
    let name = if text == "*" { return None } else { text.strip_suffix(".*").unwrap_or(&text) };
    let is_letter = |letter: char| letter.is_alphanumeric() || "._-:".contains(letter) || letter == GAP;
    let is_name = !name.is_empty() && name.chars().all(is_letter);
    (!is_name).then_some("must be `*`, `prefix.*` or the name of an event")
}
