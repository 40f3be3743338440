//! What surrounds every request: an id, a span, security headers, and a net for panics.

use crate::failure::ApiFailure;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Instant;
use tracing::Instrument;

/// The header that carries a request's id, both ways.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The header of W3C trace context.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

tokio::task_local! {
    static CURRENT: String;
}

/// The id of the request that this task answers.
pub(crate) fn request_id() -> String {
    CURRENT.try_with(Clone::clone).unwrap_or_default()
}

/// A part of a request that another task answers, in the context of this one.
pub(crate) fn carried<F: Future>(part: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(request_id(), part).in_current_span()
}

/// Runs a request within its context. What is logged of it: method, route, ids, status and time;
/// never a path's values, a query, a header or a body.
pub(crate) async fn surround(request: Request, next: Next) -> Response {
    let id = given_id(request.headers()).unwrap_or_else(random_hex::<8>);
    let trace = trace_id(request.headers()).unwrap_or_else(random_hex::<16>);
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned();
    let span = tracing::info_span!(
        "request", method = %request.method(), route, request_id = id, trace_id = trace
    );
    let began = Instant::now();
    let answered = CURRENT.scope(id.clone(), async {
        let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
        let mut response =
            answered.unwrap_or_else(|_| ApiFailure::internal("the handler panicked").into_response());
        add_headers(response.headers_mut(), &id);
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(status = response.status().as_u16(), millis, "answered");
        response
    });
    answered.instrument(span).await
}

fn add_headers(headers: &mut HeaderMap, id: &str) {
    const FIXED: [(HeaderName, &str); 4] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
}

/// The id that the client gave, if it is harmless in a log.
fn given_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    ((1..=64).contains(&id.len()) && id.bytes().all(harmless)).then(|| id.to_owned())
}

/// The trace id of a `traceparent` header (W3C Trace Context §3.2).
fn trace_id(headers: &HeaderMap) -> Option<String> {
    let parent = headers.get(TRACEPARENT)?.to_str().ok()?;
    let mut parts = parent.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, length: usize| {
        text.len() == length
            && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let is_valid = hex(version, 2) && version != "ff" && hex(trace, 32) && hex(span, 16) && hex(flags, 2);
    let is_set = |text: &str| text.bytes().any(|byte| byte != b'0');
    (is_valid && is_set(trace) && is_set(span)).then(|| trace.to_owned())
}

fn random_hex<const N: usize>() -> String {
    formwork_secret::hex(&formwork_secret::random_bytes::<N>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tower::ServiceExt;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_trace_parent_is_taken_only_if_it_is_valid() {
        let trace = |value| trace_id(&headers(TRACEPARENT, value));
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(trace(valid).as_deref(), Some("4bf92f3577b34da6a3ce929d0e0e4736"));
        assert_eq!(trace("00-00000000000000000000000000000000-00f067aa0ba902b7-01"), None);
        assert_eq!(trace("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"), None);
        assert_eq!(trace("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), None);
        assert_eq!(trace("00-4bf92f3577b34da6a3ce929d0e0e4736"), None);
    }

    #[tokio::test]
    async fn a_panic_is_an_opaque_error_with_an_id() {
        async fn broken() {
            panic!("secret inside")
        }
        let router = axum::Router::new()
            .route("/", axum::routing::get(broken))
            .layer(axum::middleware::from_fn(surround));
        let request = Request::builder().uri("/").body(axum::body::Body::empty()).expect("a request");
        let response = router.oneshot(request).await.expect("infallible");
        assert_eq!(response.status(), 500);
        let id = response.headers()[REQUEST_ID].to_str().expect("text").to_owned();
        let body = axum::body::to_bytes(response.into_body(), 4096).await.expect("a body");
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["error"]["code"], "INTERNAL_ERROR");
        assert_eq!(body["error"]["meta"]["request_id"], id);
        assert!(!body.to_string().contains("secret inside"));
    }

    #[test]
    fn a_request_id_is_taken_only_if_it_is_harmless() {
        let id = |value| given_id(&headers(REQUEST_ID, value));
        assert_eq!(id("abc-1.2_3").as_deref(), Some("abc-1.2_3"));
        assert_eq!(id("a b"), None);
        assert_eq!(id(""), None);
    }
}
