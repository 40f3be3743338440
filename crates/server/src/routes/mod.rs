//! The routes, by what they are about.

pub(crate) mod formations;
pub(crate) mod operations;
pub(crate) mod plans;
pub(crate) mod projects;
pub(crate) mod resources;
pub(crate) mod system;
pub(crate) mod tokens;

use crate::body::{self, Refused};
use crate::failure::ApiFailure;
use crate::query::Slice;
use crate::router::App;
use axum::extract::{FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use formwork_api::Page;
use formwork_control::{ControlError, Principal};
use formwork_model::{Json, ProjectId, StackId, WireCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Instrument;
use utoipa::PartialSchema;

type Answer = Result<Response, ApiFailure>;

/// What a caller must be permitted before a body that is not valid is talked about
/// (`formations-behaviour.md` §1.1: "a permission failure on a write is answered before body
/// validation"). A valid body needs no gate: its use case decides first of all.
#[derive(Clone, Debug)]
enum Gate {
    /// The project that the body names.
    Project,
    /// The formation in the path.
    Formation(StackId),
    /// Making projects.
    Projects,
    /// Nothing beyond authentication.
    Open,
}

impl Gate {
    async fn check(&self, app: &App, principal: &Principal, read: Option<&Json>) -> Result<(), ApiFailure> {
        match self {
            Self::Open => Ok(()),
            Self::Formation(id) => Ok(app.control.get_formation(principal, id).await.map(drop)?),
            Self::Project => {
                let named = read.and_then(|body| body["project_id"].as_str()).map(ProjectId::from);
                // Listing one project's formations is refused exactly where writing in it is.
                Ok(app.control.list_formations(principal, named.as_ref(), 1, 0).await.map(drop)?)
            }
            Self::Projects => match app.control.create_project(principal, "").await {
                // No project can have an empty name, so this changes nothing.
                Err(error) if error.code == WireCode::Forbidden => Err(error.into()),
                _ => Ok(()),
            },
        }
    }
}

/// How a route reads its body.
#[derive(Clone, Debug)]
struct Reading {
    gate: Gate,
    /// The most bytes.
    limit: usize,
    /// Whether it may be left out.
    optional: bool,
}

impl Reading {
    fn new(gate: Gate, limit: usize) -> Self {
        Self { gate, limit, optional: false }
    }

    /// Reads a body as the type that the route takes.
    async fn read<T>(&self, app: &App, principal: &Principal, request: Request) -> Result<T, ApiFailure>
    where
        T: DeserializeOwned + PartialSchema,
    {
        let (parts, body) = request.into_parts();
        let shaped = match body::read_json(app, &parts.headers, body, self.limit, self.optional).await {
            Ok(json) => body::shaped(json),
            Err(failure) => Err(Refused::from(failure)),
        };
        match shaped {
            Ok(body) => Ok(body),
            Err(Refused { failure, read }) => {
                self.gate.check(app, principal, read.as_ref()).await?;
                Err(failure)
            }
        }
    }
}

/// The id in a path. One that is not even text names nothing.
struct Id(String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiFailure> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(ApiFailure::new(WireCode::ResourceNotFound, "There is no such thing.")),
        }
    }
}

/// Runs a use case that has effects in a task of its own, so that a client that goes away does not
/// stop it half-way.
async fn detached<T: Send + 'static>(
    use_case: impl Future<Output = Result<T, ControlError>> + Send + 'static,
) -> Result<T, ApiFailure> {
    let done = tokio::spawn(use_case.in_current_span()).await;
    Ok(done.map_err(|_| ApiFailure::internal("a use case panicked"))??)
}

fn json(status: StatusCode, body: &impl Serialize) -> Answer {
    // Serialised here, so that a fault is an error in the usual shape.
    let bytes = serde_json::to_vec(body).map_err(|_| ApiFailure::internal("an answer cannot be written"))?;
    Ok((status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response())
}

/// A page of a list, each item turned into what the wire shows.
fn page<T, W: Serialize>(
    items: impl IntoIterator<Item = T>,
    total: usize,
    slice: Slice,
    show: impl FnMut(T) -> W,
) -> Answer {
    let number = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
    let data = items.into_iter().map(show).collect();
    let page = Page { data, total: number(total), limit: number(slice.limit), offset: number(slice.offset) };
    json(StatusCode::OK, &page)
}
