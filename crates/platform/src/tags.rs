//! The tags of an object on routes of their own: read, replaced or merged, by the same rules as a
//! change of the object.

use crate::{
    Act, ActionBody, ActionMethod, Completeness, RestAction,
    document::Document,
    draft::{self, Given},
};
use formwork_model::Json;
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx};
use serde_json::{Map, json};

const TAGS: &str = "tags";

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
