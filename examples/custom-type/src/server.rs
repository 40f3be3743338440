//! The handler's routes: the protocol, `GET /health`, and, if it may be told to misbehave,
//! `/control`.

use crate::channels::{Answer, Channel, Channels, Request};
use crate::fault::{Deed, Fault, Faults};
use crate::signature::verify;
use crate::store::Store;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// More than anybody wants to read.
const TOO_MUCH: usize = 3 * 1024 * 1024;

/// How the handler runs.
#[derive(Clone, Debug)]
pub struct Options {
    /// What requests are signed with.
    pub secret: String,
    /// How old a signature may be.
    pub max_age_seconds: i64,
    /// The path of the protocol's route.
    pub path: String,
    /// Where channels are kept; `None` is memory.
    pub state: Option<PathBuf>,
    /// Whether `/control` is there.
    pub control: bool,
}

/// A request that came in and was believed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// What was asked for.
    pub operation: String,
    /// The template's name for the resource.
    pub logical_id: String,
    /// The project; empty if none was named.
    pub project: String,
    /// The channel; empty if none was named.
    pub id: String,
    /// The idempotency key.
    pub key: String,
    /// The names of the properties that came.
    pub properties: Vec<String>,
}

/// The handler.
#[derive(Debug)]
pub struct Service {
    options: Options,
    store: Store,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    channels: Channels,
    faults: Faults,
    seen: Vec<Seen>,
}

impl Service {
    /// A handler with what its state file holds.
    ///
    /// # Errors
    /// The state file can't be read.
    pub fn new(options: Options) -> io::Result<Arc<Self>> {
        let (store, channels) = Store::open(options.state.clone())?;
        let inner = Mutex::new(Inner { channels, ..Inner::default() });
        Ok(Arc::new(Self { options, store, inner }))
    }

    /// The channels that exist, by id.
    pub fn channels(&self) -> BTreeMap<String, Channel> {
        self.lock().channels.live.clone()
    }

    /// All requests that were believed, in order.
    pub fn seen(&self) -> Vec<Seen> {
        self.lock().seen.clone()
    }

    /// Tells the handler to misbehave.
    pub fn misbehave(&self, fault: Fault) {
        self.lock().faults.add(fault);
    }

    /// Tells the handler to behave.
    pub fn behave(&self) {
        self.lock().faults.clear();
    }

    /// Changes a channel behind everybody's back.
    pub fn meddle(&self, id: &str, name: &str, value: Value) {
        if let Some(channel) = self.lock().channels.live.get_mut(id) {
            channel.properties.insert(name.to_owned(), value);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what is asked for and keeps what came of it, before anybody is told.
    fn act(&self, request: &Request, key: &str, deed: Option<&Deed>) -> Answer {
        let mut inner = self.lock();
        let answer = match deed {
            Some(Deed::Replace) => inner.channels.replace(request),
            Some(Deed::Forget) => {
                inner.channels.live.remove(&request.physical_resource_id);
                inner.channels.answer(request, key)
            }
            _ => inner.channels.answer(request, key),
        };
        match self.store.save(&inner.channels) {
            Ok(()) => answer,
            Err(error) => Answer::refused(500, format!("the channel could not be kept: {error}")),
        }
    }

    fn note(&self, request: &Request, key: &str) -> Option<Fault> {
        let mut inner = self.lock();
        inner.seen.push(Seen {
            operation: request.operation.clone(),
            logical_id: request.logical_id.clone(),
            project: request.project_id.clone(),
            id: request.physical_resource_id.clone(),
            key: key.to_owned(),
            properties: request.properties.keys().cloned().collect(),
        });
        inner.faults.take(&request.operation, &request.physical_resource_id)
    }
}

/// The handler's routes.
pub fn router(service: Arc<Service>) -> Router {
    let mut router = Router::new()
        .route(&service.options.path, post(handle))
        .route("/health", get(|| async { Json(json!({ "status": "ok" })) }));
    if service.options.control {
        router = router.route("/control", get(look).post(instruct).delete(clear));
    }
    router.with_state(service)
}

async fn handle(State(service): State<Arc<Service>>, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Options { secret, max_age_seconds, .. } = &service.options;
    // Over the raw bytes: a body that was parsed and written again is another body.
    if let Err(refusal) = verify(secret, header("x-soat-signature"), &body, now(), *max_age_seconds) {
        return respond(&Answer::refused(401, refusal.to_string()));
    }
    let request: Request = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return respond(&Answer::refused(400, error.to_string())),
    };
    let key = header("x-soat-idempotency-key");
    match service.note(&request, key) {
        Some(fault) => misbehave(&service, &request, key, fault).await,
        None => respond(&service.act(&request, key, None)),
    }
}

async fn misbehave(service: &Service, request: &Request, key: &str, fault: Fault) -> Response {
    if fault.act {
        service.act(request, key, None);
    }
    match fault.deed {
        Deed::Fail { status, message } => {
            let body = message
                .map_or_else(Map::new, |message| Map::from_iter([("message".to_owned(), message.into())]));
            respond(&Answer { status, body: Value::Object(body) })
        }
        Deed::Delay { millis } => {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            respond(&service.act(request, key, None))
        }
        Deed::Hang => std::future::pending().await,
        Deed::Garbage => (StatusCode::OK, "<html>It works!</html>").into_response(),
        Deed::NotAnObject => respond(&Answer { status: 200, body: json!(["ok"]) }),
        Deed::Nothing => respond(&Answer { status: 200, body: json!({}) }),
        Deed::Redirect { status, location } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::TEMPORARY_REDIRECT);
            (status, [(header::LOCATION, location)]).into_response()
        }
        Deed::TooMuch => (StatusCode::OK, vec![b' '; TOO_MUCH]).into_response(),
        Deed::BreakOff => {
            let parts = [Ok(Bytes::from_static(b"{")), Err(io::Error::other("enough"))];
            Body::from_stream(futures_util::stream::iter(parts)).into_response()
        }
        deed @ (Deed::Replace | Deed::Forget) => respond(&service.act(request, key, Some(&deed))),
    }
}

fn respond(answer: &Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(&answer.body)).into_response()
}

async fn look(State(service): State<Arc<Service>>) -> Json<Value> {
    Json(json!({ "channels": service.channels(), "requests": service.seen() }))
}

async fn instruct(State(service): State<Arc<Service>>, body: Bytes) -> Response {
    match serde_json::from_slice(&body) {
        Ok(fault) => {
            service.misbehave(fault);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => respond(&Answer::refused(400, error.to_string())),
    }
}

async fn clear(State(service): State<Arc<Service>>) -> StatusCode {
    service.behave();
    StatusCode::NO_CONTENT
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
