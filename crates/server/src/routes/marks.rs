//! Owner marks on the answers of a resource's own routes: who owns it, and a warning where somebody
//! changes it past its formation.

use super::{Answer, json};
use crate::failure::ApiFailure;
use crate::router::App;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use formwork_api::{MANAGED_BY, ManagedBy, WARNING};
use formwork_model::{Json, TypeName};

/// What was done to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Shown,
    Changed,
    Deleted,
}

/// The formation that owns a resource.
pub(super) async fn owner(
    app: &App,
    type_name: &TypeName,
    id: &str,
) -> Result<Option<ManagedBy>, ApiFailure> {
    let owner = app.control.owner_of(type_name, id).await?;
    Ok(owner.map(|owner| ManagedBy {
        formation_id: owner.formation.to_string(),
        logical_id: owner.logical_id.to_string(),
    }))
}

/// An answer about a resource, marked with who owns it.
pub(super) fn marked(
    done: Done,
    id: &str,
    owner: Option<&ManagedBy>,
    status: StatusCode,
    mut body: Json,
) -> Answer {
    let warning = owner.and_then(|owner| warning(done, owner));
    // What is not the resource itself (its tags, a record that was made) has no room for a mark.
    let is_resource = done == Done::Deleted || body["id"] == id;
    if let (Some(owner), Some(members)) = (owner, body.as_object_mut().filter(|_| is_resource)) {
        members.insert("managed_by".to_owned(), serde_json::json!(owner));
        members.extend(warning.clone().map(|warning| ("warning".to_owned(), Json::from(warning))));
    }
    Ok(with_headers(json(status, &body)?, owner, warning))
}

/// An answer without a body, which says it in its headers alone.
pub(super) fn marked_empty(done: Done, owner: Option<&ManagedBy>) -> Response {
    let warning = owner.and_then(|owner| warning(done, owner));
    with_headers(StatusCode::NO_CONTENT.into_response(), owner, warning)
}

fn warning(done: Done, owner: &ManagedBy) -> Option<String> {
    match done {
        Done::Shown => None,
        Done::Changed => Some(owner.changed()),
        Done::Deleted => Some(owner.deleted()),
    }
}

fn with_headers(mut response: Response, owner: Option<&ManagedBy>, warning: Option<String>) -> Response {
    let formation = owner.map(|owner| (MANAGED_BY, owner.formation_id.clone()));
    for (name, value) in formation.into_iter().chain(warning.map(|warning| (WARNING, warning))) {
        // Ids of formations are letters and digits, so both always are header values.
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}
