//! The platform's objects over REST: the functions behind `/agents`, `/secrets`, … and the data
//! from which routes, commands and the OpenAPI document are made.

mod error;
mod handlers;
mod openapi;
mod routes;

pub use error::PlatformError;
pub use handlers::{Caller, RestList, UpdateMode};
pub use openapi::{TypeSchemas, openapi_schemas};
pub use routes::{DeleteStatus, RestRoute, rest_routes};
