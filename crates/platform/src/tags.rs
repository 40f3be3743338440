//! The tags of an object: what they may be, and the routes of their own on which they are read,
//! replaced or merged, by the same rules as a change of the object.

use crate::{
    Act, ActionBody, ActionMethod, Completeness, Findings, Node, Refusal, RestAction,
    document::Document,
    draft::{self, Given},
};
use formwork_model::{DiagnosticCode, Json, Kind, Path, PropertySchema, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx};
use serde_json::{Map, json};

const TAGS: &str = "tags";
/// The most tags of an object.
const MOST: usize = 50;
/// The most characters of a tag's name.
const LONGEST_NAME: usize = 128;
/// The most characters of a tag's text.
const LONGEST_TEXT: usize = 256;

/// The property that holds an object's tags.
pub(crate) fn property() -> PropertySchema {
    PropertySchema::new(Kind::Object, "Texts by name, to find it by.").nullable().shaped(json!({
        "maxProperties": MOST,
        "propertyNames": { "minLength": 1, "maxLength": LONGEST_NAME },
        "additionalProperties": { "type": "string", "maxLength": LONGEST_TEXT },
    }))
}

fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.chars().count())
}

fn name_rule() -> String {
    format!("The name of a tag must have 1 to {LONGEST_NAME} characters")
}

/// The body of the routes that write tags, in which null takes one away.
pub fn tags_body() -> Json {
    json!({
        "type": "object",
        "propertyNames": { "minLength": 1, "maxLength": LONGEST_NAME },
        "additionalProperties": { "type": ["string", "null"], "maxLength": LONGEST_TEXT },
    })
}

/// Reports tags that are certainly not as they may be: too many, too long, or no texts. It holds for
/// what a write comes to, so that tags can't grow beyond it one by one.
pub(crate) fn check(properties: Node<'_>, findings: &mut Findings) {
    let Some(tags) = properties.member(TAGS) else { return };
    let at = Path::of([TAGS]);
    let members = tags.members();
    if members.len() > MOST {
        let message = format!("`{TAGS}` can have {MOST} members at most");
        findings.error(DiagnosticCode::InvalidValue, at.clone(), message);
    }
    for (name, text) in members {
        let path = at.key(name);
        if !is_name(name) {
            findings.error(DiagnosticCode::InvalidValue, at.clone(), name_rule());
        } else if text.text().is_none() && !text.is_expression() {
            findings.error(DiagnosticCode::WrongType, path.clone(), format!("`{path}` must be a string"));
        } else if text.known_text().is_some_and(|text| text.chars().count() > LONGEST_TEXT) {
            let message = format!("`{path}` can have {LONGEST_TEXT} characters at most");
            findings.error(DiagnosticCode::InvalidValue, path, message);
        }
    }
}

/// The routes of a type's tags: operations that show, replace and merge them. A type with tags has
/// a property of that name.
pub(crate) const fn actions([show, replace, merge]: [&'static str; 3]) -> [RestAction; 3] {
    [
        RestAction::get(TAGS, show),
        RestAction::of(ActionMethod::Put, TAGS, replace).taking(ActionBody::Texts),
        RestAction::of(ActionMethod::Patch, TAGS, merge).taking(ActionBody::Texts),
    ]
}

/// Carries out one of them, and answers the tags as they are then.
///
/// # Errors
/// Those of a change of the object.
pub(crate) fn act(tx: &mut dyn DomainTx, act: &Act<'_>) -> Result<Json, DomainError> {
    let stored = of(&Document::of(&act.object)?);
    if act.body.keys().any(|name| !is_name(name)) {
        return Err(Refusal::new(WireCode::ValidationFailed, name_rule()).into());
    }
    let tags = match method(act) {
        Some(ActionMethod::Put) => act.body.clone(),
        Some(ActionMethod::Patch) => {
            let mut tags = stored;
            tags.extend(act.body.clone());
            tags
        }
        _ => return Ok(Json::Object(stored)),
    };
    let tags: Map<_, _> = tags.into_iter().filter(|(_, value)| !value.is_null()).collect();
    let given = Given {
        properties: Secret::new(json!({ TAGS: tags })),
        secret_paths: Vec::new(),
        kept_paths: Vec::new(),
        completeness: Completeness::Partial,
        actor: act.actor.clone(),
    };
    let object = draft::update(tx, act.entry, act.key, act.object.clone(), &given)?;
    Ok(Json::Object(of(&Document::of(&object)?)))
}

fn of(document: &Document) -> Map<String, Json> {
    document.masked().get(TAGS).and_then(Json::as_object).cloned().unwrap_or_default()
}

fn method(act: &Act<'_>) -> Option<ActionMethod> {
    let actions = act.entry.definition().route.actions.iter();
    actions.clone().find(|action| action.operation == act.operation).map(|action| action.method)
}
