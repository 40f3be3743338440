//! The server itself: whether it is there, and what its API is.

use super::{Answer, json};
use crate::endpoint::Endpoint;
use crate::openapi::openapi_document;
use axum::http::{Method, StatusCode};
use axum::routing::get;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let object = || serde_json::json!({ "type": "object" });
    vec![
        Endpoint::new(Method::GET, "/health", "getHealth", "Whether the server is there", get(health))
            .tag("system")
            .answers(200, object())
            .open(),
        Endpoint::new(Method::GET, "/openapi.json", "getOpenapi", "This document", get(document))
            .tag("system")
            .answers(200, object())
            .refuses(&[401]),
    ]
}

/// Says nothing that a stranger could use.
async fn health() -> Answer {
    json(StatusCode::OK, &serde_json::json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

async fn document() -> Answer {
    json(StatusCode::OK, &openapi_document())
}
