//! The HTTP edge: routes, authentication, limits, OpenAPI, server-sent events.
//!
//! [`endpoints`] is the table of all routes; the router and the OpenAPI document are both made
//! from it, so neither can have a route that the other has not.
//!
//! **Architecture invariant:** no rule lives here. A route reads a request, makes one call of
//! [`Control`](formwork_control::Control) and shows the answer.

mod body;
mod context;
mod endpoint;
mod failure;
mod forwarded;
mod guard;
mod openapi;
mod options;
mod peer;
mod query;
mod router;
mod routes;
mod serve;
mod shutdown;
mod status;
mod stream;
mod unread;
mod views;

pub use endpoint::{EndpointInfo, endpoints};
pub use openapi::openapi_document;
pub use options::ServerOptions;
pub use router::{local_router, router};
pub use serve::{Exposure, ListenError, Listeners, run, serve};
pub use shutdown::Shutdown;
pub use status::status_of;
