//! The platform's objects over REST: the functions behind `/agents`, `/secrets`, … and the data
//! from which routes, commands and the OpenAPI document are made.

mod body;
mod companion;
mod error;
mod handlers;
mod list;
mod openapi;
mod routes;

pub use companion::Companion;
pub use error::PlatformError;
pub use handlers::{Caller, UpdateMode};
pub use list::RestList;
pub use openapi::{TypeSchemas, openapi_schemas};
pub use routes::{DeleteStatus, RestRoute, rest_routes};

pub(crate) use list::Filter;
