//! What routes do with an item beyond reading and writing it.

use crate::{
    Act, ActionBody, ActionField, Caller, Node, Platform, PlatformError, Refusal, RestAction,
    bag::is_kind,
    rest::{
        body,
        handlers::{is_visible, served},
    },
};
use formwork_model::{Json, ProjectId, TypeName, WireCode};
use formwork_store::{DomainError, DomainJob};
use serde_json::Map;
use std::sync::Arc;

impl Platform {
    /// Carries out one of the actions of a type's route on an object.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_act(
        &self,
        caller: &Caller,
        type_name: &TypeName,
        projects: Option<&[ProjectId]>,
        id: &str,
        action: &RestAction,
        body: Json,
    ) -> Result<Json, PlatformError> {
        let entry = served(type_name)?;
        let body = members(action.takes, body)?;
        let (key, id, projects) = (self.key.clone(), id.to_owned(), projects.map(<[_]>::to_vec));
        let (actor, operation) = (caller.actor.clone(), action.operation);
        let (job_entry, companion) = (Arc::clone(&entry), self.companion.clone());
        let job: DomainJob = Box::new(move |tx| {
            let found = tx.get(&id)?.filter(|object| is_visible(object, &job_entry, projects.as_deref()));
            let object = found.ok_or_else(|| DomainError::NotFound { id: id.clone() })?;
            if let Some(companion) = &companion {
                companion.found(&object)?;
            }
            let act = Act { operation, entry: &job_entry, key: &key, object, actor: &actor, body: &body };
            let answer = job_entry.kind().act(tx, act)?;
            // An action answers what it likes, so what it did to the object is looked at.
            if let (Some(companion), Some(object)) = (&companion, tx.get(&id)?) {
                companion.changed(&object)?;
            }
            Ok(answer)
        });
        self.rest_run(&entry, None, job).await
    }
}

/// The members of an action's body.
///
/// # Errors
/// A refusal that names what is unknown, missing or of the wrong kind.
fn members(takes: ActionBody, body: Json) -> Result<Map<String, Json>, Refusal> {
    if takes == ActionBody::Nothing && body.is_null() {
        return Ok(Map::new());
    }
    let members = body::members(body)?;
    let fields = match takes {
        ActionBody::Texts => {
            let wrong = members.iter().find(|(_, value)| !value.is_string() && !value.is_null());
            return match wrong {
                Some((name, _)) => Err(invalid(format!("`{name}` must be a string"))),
                None => Ok(members),
            };
        }
        ActionBody::Nothing => &[][..],
        ActionBody::Fields(fields) => fields,
    };
    body::refuse_unknown(&members, |name| fields.iter().any(|field| field.name == name))?;
    let given = |field: &&ActionField| members.get(field.name).is_some_and(|value| !value.is_null());
    let missing: Vec<&str> =
        fields.iter().filter(|field| field.required && !given(field)).map(|field| field.name).collect();
    body::refuse_missing(&missing)?;
    for field in fields.iter().filter(given) {
        if !is_kind(Node::Plain(&members[field.name]), field.kind) {
            return Err(invalid(format!("`{}` must be {}", field.name, field.kind.in_words())));
        }
    }
    Ok(members)
}

fn invalid(message: String) -> Refusal {
    Refusal::new(WireCode::ValidationFailed, message)
}
