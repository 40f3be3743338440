//! What every request passes before its route: authentication, the query, a place among the others.

use crate::context;
use crate::failure::ApiFailure;
use crate::query::Query;
use crate::router::App;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use formwork_control::Principal;
use formwork_model::WireCode;
use formwork_secret::Secret;
use std::time::Duration;

/// The most bytes of a bearer token.
const MAX_TOKEN: usize = 4096;

/// How a route shares the server with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// It answers soon: bounded in time.
    Prompt,
    /// It may wait for an operation: bounded in number only.
    Patient,
    /// Strangers may write to it: bounded in time, and in number apart from everybody else's.
    Stranger,
}

/// Who makes the request.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Principal);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiFailure> {
        let known = parts.extensions.get::<Self>().cloned();
        known.ok_or_else(|| ApiFailure::internal("a route without authentication"))
    }
}

/// Demands a valid bearer token of everything below `/api`, unknown routes included, but for the
/// open routes.
pub(crate) async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_open = app.open.iter().any(|(method, known)| request.method() == method && path == known);
    if !is_open && (path == "/api" || path.starts_with("/api/")) {
        match caller(&app, request.headers()).await {
            Ok(caller) => request.extensions_mut().insert(caller),
            Err(failure) => return failure.into_response(),
        };
    }
    next.run(request).await
}

/// Who bears the token of a request.
///
/// # Errors
/// There is none, or not exactly one that is valid.
pub(crate) async fn caller(app: &App, headers: &HeaderMap) -> Result<Caller, ApiFailure> {
    let refused = || {
        let hint = "Send one header `Authorization: Bearer <token>`";
        ApiFailure::new(WireCode::Unauthorized, "Unauthorized").meta(serde_json::json!({ "hint": hint }))
    };
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let header = given.next().and_then(|value| value.to_str().ok()).ok_or_else(refused)?;
    let (scheme, token) = header.split_once(' ').ok_or_else(refused)?;
    let token = token.trim();
    let is_bearer = scheme.eq_ignore_ascii_case("bearer") && (1..=MAX_TOKEN).contains(&token.len());
    if !is_bearer || given.next().is_some() {
        return Err(refused());
    }
    let principal = app.control.authenticate(&Secret::new(token.to_owned())).await?;
    Ok(Caller(principal))
}

/// Reads the query of a route and runs it at its pace.
pub(crate) async fn admit(
    app: App,
    known: Vec<&'static str>,
    pace: Pace,
    mut request: Request,
    next: Next,
) -> Response {
    let query = path_without_nul(request.uri()).and_then(|()| Query::parse(request.uri(), &known));
    match query {
        Ok(query) => request.extensions_mut().insert(query),
        Err(failure) => return failure.into_response(),
    };
    match pace {
        Pace::Prompt => {
            let places = app.prompt.clone();
            let prompt = |request| async move {
                // The semaphore is never closed, so this only fails by taking too long.
                let _place = places.acquire_owned().await;
                next.run(request).await
            };
            in_time(app.options.request_timeout, request, prompt).await
        }
        Pace::Stranger => {
            let Ok(place) = app.strangers.clone().try_acquire_owned() else {
                return ApiFailure::busy().into_response();
            };
            let prompt = |request| async move {
                let _place = place;
                next.run(request).await
            };
            in_time(app.options.stranger_timeout, request, prompt).await
        }
        Pace::Patient => match app.patient.clone().try_acquire_owned() {
            Ok(_place) => next.run(request).await,
            Err(_) => ApiFailure::busy().into_response(),
        },
    }
}

/// Nothing has a name with U+0000 in it, and not every store can be asked for one.
fn path_without_nul(uri: &Uri) -> Result<(), ApiFailure> {
    let Some(place) = uri.path().find("%00") else { return Ok(()) };
    let segment = uri.path()[..place].matches('/').count();
    Err(ApiFailure::validation(format!("Segment {segment} of the path holds the character U+0000"))
        .meta(serde_json::json!({ "segment": segment })))
}

/// Answers a request within a time. One that writes is carried on in a task of its own, with the
/// place it has: a client that goes away, or has waited too long, does not stop it half-way.
async fn in_time<F>(within: Duration, request: Request, answer: impl FnOnce(Request) -> F) -> Response
where
    F: Future<Output = Response> + Send + 'static,
{
    let writes = !request.method().is_safe();
    let answer = answer(request);
    let answered = async {
        if !writes {
            return answer.await;
        }
        let done = tokio::spawn(context::carried(answer)).await;
        done.unwrap_or_else(|_| ApiFailure::internal("the handler panicked").into_response())
    };
    tokio::time::timeout(within, answered).await.unwrap_or_else(|_| {
        let message = if writes {
            "The request took too long. It goes on, and may still take effect: read what it was to change \
             before you send it again."
        } else {
            "The request took too long"
        };
        ApiFailure::new(WireCode::RequestTimeout, message).into_response()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Whether a request of this method is carried on when its client has gone.
    async fn is_carried_on(method: &str, within: Duration) -> bool {
        let done = Arc::new(AtomicBool::new(false));
        let (doing, request) = (Arc::clone(&done), Request::builder().method(method).body(Body::empty()));
        let answer = in_time(within, request.expect("a request"), |_| async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            doing.store(true, Ordering::SeqCst);
            Response::default()
        });
        let _ = tokio::time::timeout(Duration::from_millis(5), answer).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        done.load(Ordering::SeqCst)
    }

    #[tokio::test(start_paused = true)]
    async fn what_writes_goes_on_without_its_client_and_what_reads_does_not() {
        for within in [Duration::from_secs(1), Duration::from_millis(1)] {
            for method in ["POST", "PUT", "PATCH", "DELETE"] {
                assert!(is_carried_on(method, within).await, "{method}");
            }
            assert!(!is_carried_on("GET", within).await);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_took_too_long_is_said_to_go_on() {
        for (method, goes_on) in [("POST", true), ("DELETE", true), ("GET", false)] {
            let request = Request::builder().method(method).body(Body::empty()).expect("a request");
            let answer = in_time(Duration::from_millis(1), request, |_| async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Response::default()
            });
            let body = axum::body::to_bytes(answer.await.into_body(), 10_000).await.expect("a body");
            let text = String::from_utf8_lossy(&body);
            assert_eq!(text.contains("may still take effect"), goes_on, "{method}: {text}");
            assert!(text.contains("REQUEST_TIMEOUT"), "{text}");
        }
    }

    #[tokio::test]
    async fn a_panic_in_a_task_of_its_own_is_an_opaque_error() {
        let request = Request::builder().method("POST").body(Body::empty()).expect("a request");
        let answer = in_time(Duration::from_secs(1), request, |_| async { panic!("secret inside") });
        assert_eq!(answer.await.status(), 500);
    }
}
