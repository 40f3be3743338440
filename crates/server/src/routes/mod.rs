//! The routes, by what they are about.

pub(crate) mod audit;
pub(crate) mod drift;
pub(crate) mod files;
pub(crate) mod formae;
pub(crate) mod formations;
mod marks;
pub(crate) mod operations;
pub(crate) mod orchestrations;
pub(crate) mod plans;
pub(crate) mod prices;
pub(crate) mod projects;
pub(crate) mod purge;
pub(crate) mod resources;
pub(crate) mod revisions;
pub(crate) mod system;
pub(crate) mod tokens;
pub(crate) mod users;

use crate::body::{self, Refused};
use crate::context;
use crate::failure::ApiFailure;
use crate::query::Slice;
use crate::router::App;
use axum::extract::{FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use formwork_api::Page;
use formwork_control::{ControlError, Gate, Principal};
use formwork_model::{Json, ProjectId, WireCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use utoipa::PartialSchema;

type Answer = Result<Response, ApiFailure>;

/// The gate of a body, by the project that it names, as far as it could be read.
type GateOf = Box<dyn Fn(Option<ProjectId>) -> Gate + Send + Sync>;

/// How a route reads its body. One that is not valid is talked about only to whoever may do what
/// the route does; for a valid one, the use case decides that first of all.
struct Reading {
    gate: GateOf,
    /// The most bytes.
    limit: usize,
    /// Whether it may be left out.
    optional: bool,
}

impl Reading {
    fn new(gate: Gate, limit: usize) -> Self {
        Self::in_project(move |_| gate.clone(), limit)
    }

    /// For a route whose project is in its body.
    fn in_project(gate: impl Fn(Option<ProjectId>) -> Gate + Send + Sync + 'static, limit: usize) -> Self {
        Self { gate: Box::new(gate), limit, optional: false }
    }

    /// For a route that nobody needs a permission for.
    fn open(limit: usize) -> Self {
        Self::new(Gate::Open, limit)
    }

    /// Reads a body as the type that the route takes.
    async fn read<T>(&self, app: &App, principal: &Principal, request: Request) -> Result<T, ApiFailure>
    where
        T: DeserializeOwned + PartialSchema,
    {
        match self.shaped(app, request).await {
            Ok(body) => Ok(body),
            Err(refused) => Err(self.refusal(app, principal, refused).await),
        }
    }

    /// Reads a body on an open route, where there is nobody to ask for.
    async fn read_open<T>(&self, app: &App, request: Request) -> Result<T, ApiFailure>
    where
        T: DeserializeOwned + PartialSchema,
    {
        // Strangers hold their place no longer than they are given to be answered.
        let within = app.options.body_timeout.min(app.options.stranger_timeout);
        body::shaped(self.json(request, within).await?).map_err(|refused| refused.failure)
    }

    /// Reads a body as whatever JSON it is.
    async fn read_any(&self, app: &App, principal: &Principal, request: Request) -> Result<Json, ApiFailure> {
        match self.json(request, app.options.body_timeout).await {
            Ok(body) => Ok(body),
            Err(failure) => Err(self.refusal(app, principal, failure.into()).await),
        }
    }

    /// Reads a body that is an object with some of these fields, as whatever JSON they are.
    async fn read_fields(
        &self,
        app: &App,
        principal: &Principal,
        request: Request,
        (known, required): (&[&str], &[&str]),
    ) -> Result<serde_json::Map<String, Json>, ApiFailure> {
        let body = self.read_any(app, principal, request).await?;
        match fields(body, known, required) {
            Ok(members) => Ok(members),
            Err(failure) => Err(self.refusal(app, principal, failure.into()).await),
        }
    }

    async fn json(&self, request: Request, within: Duration) -> Result<Json, ApiFailure> {
        let (parts, body) = request.into_parts();
        body::read_json(&parts.headers, body, self.limit, within, self.optional).await
    }

    async fn shaped<T>(&self, app: &App, request: Request) -> Result<T, Refused>
    where
        T: DeserializeOwned + PartialSchema,
    {
        body::shaped(self.json(request, app.options.body_timeout).await?)
    }

    /// What to answer to a body that was refused.
    async fn refusal(&self, app: &App, principal: &Principal, refused: Refused) -> ApiFailure {
        let named = refused.read.as_ref().and_then(|body| body["project_id"].as_str()).map(ProjectId::from);
        let (control, principal, gate) = (app.control.clone(), principal.clone(), (self.gate)(named));
        // A refusal is written down, also when its client is gone.
        let gated = async move { Ok(control.gate(&principal, &gate).await) };
        match detached(gated).await {
            // That no project is named is one more thing that is wrong with the body.
            Ok(Err(error)) if error.code != WireCode::ValidationFailed => error.into(),
            Ok(_) => refused.failure,
            Err(fault) => fault,
        }
    }
}

/// The members of a body that may have these fields and must have some.
fn fields(
    body: Json,
    known: &[&str],
    required: &[&str],
) -> Result<serde_json::Map<String, Json>, ApiFailure> {
    let Json::Object(members) = body else {
        return Err(ApiFailure::validation("The request body must be a JSON object"));
    };
    let unknown: Vec<&str> =
        members.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
    let lacks = |name: &&str| members.get(*name).is_none_or(Json::is_null);
    let missing: Vec<&str> = required.iter().copied().filter(lacks).collect();
    ApiFailure::of_fields(&unknown, &missing).map_or(Ok(members), Err)
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
/// stop it half-way, on a route that goes on to wait: the others do as a whole
/// ([`guard::admit`](crate::guard::admit)).
async fn detached<T: Send + 'static>(
    use_case: impl Future<Output = Result<T, ControlError>> + Send + 'static,
) -> Result<T, ApiFailure> {
    let done = tokio::spawn(context::carried(use_case)).await;
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
