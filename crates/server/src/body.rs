//! Bodies: bounded, JSON, and with exactly the fields that a route takes.

use crate::failure::ApiFailure;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use formwork_api::json::{self, JsonError};
use formwork_model::Json;
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use std::time::Duration;
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

/// The fields of a body, from the same schema that the OpenAPI document shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    fields: BTreeSet<String>,
    required: Vec<String>,
}

impl Shape {
    fn of<T: PartialSchema>() -> Self {
        match T::schema() {
            RefOr::T(Schema::Object(object)) => {
                Self { fields: object.properties.into_keys().collect(), required: object.required }
            }
            _ => Self::default(),
        }
    }
}

/// A body that was refused, with what could be read of it.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) failure: ApiFailure,
    pub(crate) read: Option<Json>,
}

impl From<ApiFailure> for Refused {
    fn from(failure: ApiFailure) -> Self {
        Self { failure, read: None }
    }
}

/// Reads a body of at most `limit` bytes as JSON, if it arrives `within` a time. An empty one is an
/// empty object where `optional`.
pub(crate) async fn read_json(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    within: Duration,
    optional: bool,
) -> Result<Json, ApiFailure> {
    let bytes = tokio::time::timeout(within, axum::body::to_bytes(body, limit));
    let bytes = match bytes.await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(unread(&error, limit)),
        Err(_) => {
            return Err(ApiFailure::rejected(StatusCode::REQUEST_TIMEOUT, "The body did not arrive in time"));
        }
    };
    if bytes.is_empty() && optional {
        return Ok(Json::Object(serde_json::Map::new()));
    }
    demand_json(headers)?;
    json::parse(&bytes, json::REQUEST_DEPTH).map_err(|error| malformed(&error))
}

/// Reads a body as the type that a route takes: unknown fields first, then missing ones, then
/// values of the wrong type.
pub(crate) fn shaped<T: DeserializeOwned + PartialSchema>(body: Json) -> Result<T, Refused> {
    let Json::Object(members) = &body else {
        return Err(ApiFailure::validation("The body must be a JSON object").into());
    };
    let shape = Shape::of::<T>();
    let unknown: Vec<&str> =
        members.keys().map(String::as_str).filter(|name| !shape.fields.contains(*name)).collect();
    let missing: Vec<&str> = shape
        .required
        .iter()
        .map(String::as_str)
        .filter(|name| members.get(*name).is_none_or(Json::is_null))
        .collect();
    if let Some(failure) = ApiFailure::of_fields(&unknown, &missing) {
        return Err(Refused { failure, read: Some(body) });
    }
    serde_path_to_error::deserialize(&body)
        .map_err(|error| Refused { failure: mistyped(&error), read: Some(body) })
}

/// A value of the wrong type, by the name of its field. The value itself is not quoted: it may be
/// a secret.
fn mistyped(error: &serde_path_to_error::Error<serde_json::Error>) -> ApiFailure {
    let path = error.path().to_string();
    let text = error.inner().to_string();
    let expected = text.rsplit_once(", expected ").map_or("something else", |(_, expected)| expected);
    ApiFailure::validation(format!("`{path}` must be {expected}"))
        .meta(serde_json::json!({ "details": [{ "path": path, "message": format!("must be {expected}") }] }))
}

fn demand_json(headers: &HeaderMap) -> Result<(), ApiFailure> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let kind = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    if kind == "application/json" || kind == "text/json" || kind.ends_with("+json") {
        return Ok(());
    }
    Err(ApiFailure::rejected(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "The body must be JSON: send `content-type: application/json`",
    ))
}

fn malformed(error: &JsonError) -> ApiFailure {
    ApiFailure::rejected(StatusCode::BAD_REQUEST, format!("The body is not acceptable JSON: {error}")).meta(
        serde_json::json!({
            "line": error.line, "column": error.column, "problem": error.problem.to_string(),
        }),
    )
}

fn unread(error: &axum::Error, limit: usize) -> ApiFailure {
    // `to_bytes` wraps the limit's own error as the source of what it answers.
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return ApiFailure::rejected(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("The body is larger than {limit} bytes"),
            )
            .meta(serde_json::json!({ "limit": limit }));
        }
        cause = error.source();
    }
    ApiFailure::rejected(StatusCode::BAD_REQUEST, "The body could not be read")
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_api::{CreateFormation, UpdateFormation};

    fn refused<T: DeserializeOwned + PartialSchema>(body: Json) -> Json {
        let failure = match shaped::<T>(body) {
            Err(refused) => refused.failure,
            Ok(_) => panic!("accepted"),
        };
        serde_json::to_value(format!("{failure:?}")).expect("a text")
    }

    #[test]
    fn the_fields_of_a_body_are_those_of_its_schema() {
        let shape = Shape::of::<CreateFormation>();
        let fields: Vec<_> = shape.fields.iter().map(String::as_str).collect();
        assert_eq!(
            fields,
            ["metadata", "name", "on_failure", "parameters", "plan_hash", "project_id", "template"]
        );
        assert_eq!(shape.required, ["name", "template"]);
        assert!(Shape::of::<UpdateFormation>().required.is_empty());
    }

    #[test]
    fn unknown_fields_are_named_before_missing_ones() {
        let shown = refused::<CreateFormation>(serde_json::json!({ "nmae": "x", "tepmlate": {} }));
        assert!(shown.as_str().is_some_and(|shown| shown.contains("Unknown field(s): nmae, tepmlate")));
        let shown = refused::<CreateFormation>(serde_json::json!({ "name": null }));
        assert!(
            shown.as_str().is_some_and(|shown| shown.contains("Missing required field(s): name, template"))
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_named_by_its_field_and_not_quoted() {
        let shown = refused::<CreateFormation>(
            serde_json::json!({ "name": "x", "template": {}, "parameters": "canary" }),
        );
        let shown = shown.as_str().unwrap_or_default();
        assert!(shown.contains("`parameters` must be a map"), "{shown}");
        assert!(!shown.contains("canary"), "{shown}");
    }
}
