//! Errors as answers, in the one shape.

use crate::{context, status_of};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use formwork_api::{Detail, ErrorBody, ErrorDetail};
use formwork_control::ControlError;
use formwork_model::{Failure, Json, WireCode};
use serde_json::json;

/// A request that is answered with an error.
#[derive(Debug)]
pub(crate) struct ApiFailure {
    status: StatusCode,
    /// Boxed, since results with it are passed around a lot.
    body: Box<ErrorDetail>,
}

impl ApiFailure {
    /// An error with the status of its code.
    pub(crate) fn new(code: WireCode, message: impl Into<String>) -> Self {
        let body = ErrorDetail { code: code.as_str().to_owned(), message: message.into(), meta: None };
        Self { status: status_of(code), body: Box::new(body) }
    }

    /// A request that HTTP itself has a status for.
    pub(crate) fn rejected(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, ..Self::new(WireCode::RequestRejected, message) }
    }

    /// A request that does not have the required shape.
    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(WireCode::ValidationFailed, message)
    }

    /// Fields that a route does not take (`formations-behaviour.md` §1.1).
    pub(crate) fn unknown_fields(fields: &[&str]) -> Self {
        Self::validation(format!("Unknown field(s): {}", fields.join(", ")))
            .meta(json!({ "unknownFields": fields }))
    }

    /// Fields that a route does not take or lacks, if there are any (`formations-behaviour.md` §1.1). The
    /// message speaks of what is unknown first: a field that is missing may be one that is misspelt.
    pub(crate) fn of_fields(unknown: &[&str], missing: &[&str]) -> Option<Self> {
        match (unknown, missing) {
            ([], []) => None,
            ([], missing) => {
                let refused = Self::validation(format!("Missing required field(s): {}", missing.join(", ")));
                Some(refused.meta(json!({ "missingFields": missing })))
            }
            (unknown, []) => Some(Self::unknown_fields(unknown)),
            (unknown, missing) => {
                let facts = json!({ "unknownFields": unknown, "missingFields": missing });
                Some(Self::unknown_fields(unknown).meta(facts))
            }
        }
    }

    /// A fault of ours; the message is for the log only.
    pub(crate) fn internal(message: &str) -> Self {
        Self::new(WireCode::InternalError, message)
    }

    /// More at once than the server takes.
    pub(crate) fn busy() -> Self {
        Self::new(WireCode::RequestTimeout, "The server is busy. Try again later.")
    }

    #[must_use]
    pub(crate) fn meta(mut self, meta: Json) -> Self {
        self.body.meta = Some(meta);
        self
    }
}

impl From<ControlError> for ApiFailure {
    fn from(error: ControlError) -> Self {
        if error.code == WireCode::InternalError {
            tracing::error!(error = &error as &dyn std::error::Error, "a use case failed");
        }
        let details = (!error.diagnostics.is_empty())
            .then(|| error.diagnostics.iter().map(Detail::from).collect::<Vec<_>>());
        let mut failure = Self::new(error.code, error.message);
        failure.body.meta = with_details(error.meta, details);
        failure
    }
}

/// Puts the diagnostics into the facts.
fn with_details(meta: Option<Json>, details: Option<Vec<Detail>>) -> Option<Json> {
    let Some(details) = details else { return meta };
    let mut members = match meta {
        Some(Json::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    members.insert("details".to_owned(), json!(details));
    Some(Json::Object(members))
}

impl From<Failure> for ApiFailure {
    /// Why an operation failed, as the answer of the request that waited for it.
    fn from(failure: Failure) -> Self {
        let status = WireCode::parse(&failure.code).map_or(StatusCode::CONFLICT, status_of);
        Self { status, body: Box::new(failure.into()) }
    }
}

impl IntoResponse for ApiFailure {
    fn into_response(self) -> Response {
        let Self { status, mut body } = self;
        if body.code == WireCode::InternalError.as_str() {
            // What went wrong inside is nobody's business outside; the log has it under this id.
            let id = context::request_id();
            tracing::error!(message = body.message, meta = ?body.meta, "internal error");
            "Internal error. The server's log has it under the request id.".clone_into(&mut body.message);
            body.meta = Some(json!({ "request_id": id }));
        }
        let retry_after = body.meta.as_ref().and_then(|meta| meta["retry_after_seconds"].as_u64());
        let mut response = (status, axum::Json(ErrorBody { error: *body })).into_response();
        match status {
            StatusCode::UNAUTHORIZED => {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS => {
                if let Some(seconds) = retry_after {
                    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
                }
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}
