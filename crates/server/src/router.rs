//! From the table of routes to a router.

use crate::endpoint::table;
use crate::failure::ApiFailure;
use crate::{ServerOptions, context, guard, peer};
use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use formwork_control::Control;
use formwork_model::WireCode;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What every handler has.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) control: Arc<Control>,
    pub(crate) options: Arc<ServerOptions>,
    pub(crate) prompt: Arc<Semaphore>,
    pub(crate) patient: Arc<Semaphore>,
    pub(crate) strangers: Arc<Semaphore>,
    pub(crate) streams: Arc<Semaphore>,
    /// The routes for whoever has no credential yet.
    pub(crate) open: Arc<[(Method, String)]>,
}

/// The whole API for clients in the same process, which act for the data directory's owner.
pub fn local_router(control: Arc<Control>, options: ServerOptions) -> Router {
    peer::of_owner(router(control, options))
}

/// The whole API for sockets. A request of which no socket says where it comes from is nobody's.
pub fn router(control: Arc<Control>, options: ServerOptions) -> Router {
    let open = table().into_iter().filter(|endpoint| endpoint.open);
    let app = App {
        open: open.map(|endpoint| (endpoint.method.clone(), endpoint.full_path())).collect(),
        control,
        prompt: Arc::new(Semaphore::new(options.max_requests)),
        patient: Arc::new(Semaphore::new(options.max_waiting)),
        strangers: Arc::new(Semaphore::new(options.max_strangers)),
        streams: Arc::new(Semaphore::new(options.max_streams)),
        options: Arc::new(options),
    };
    let mut router = Router::new();
    for endpoint in table() {
        let path = endpoint.full_path();
        let known: Vec<_> = endpoint.query.iter().map(|parameter| parameter.name).collect();
        let (app, pace) = (app.clone(), endpoint.pace);
        let admit = from_fn(move |request: Request, next: Next| {
            guard::admit(app.clone(), known.clone(), pace, request, next)
        });
        router = router.route(&path, endpoint.handler.layer(admit));
    }
    router
        .fallback(no_such_route)
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(app.clone(), guard::authenticate))
        .layer(from_fn(context::surround))
        .with_state(app)
}

async fn no_such_route() -> ApiFailure {
    ApiFailure::new(WireCode::ResourceNotFound, "There is no such route.")
}

async fn no_such_method() -> ApiFailure {
    ApiFailure::rejected(StatusCode::METHOD_NOT_ALLOWED, "The route does not have this method.")
}
