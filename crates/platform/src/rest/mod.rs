//! The platform's objects over REST: the functions behind `/agents`, `/secrets`, … and the data
//! from which routes, commands and the OpenAPI document are made.

mod actions;
mod body;
mod companion;
mod error;
mod handlers;
mod list;
mod openapi;
mod routes;

pub use companion::Companion;
pub use error::PlatformError;
pub use handlers::{Caller, Made, UpdateMode};
pub use list::{RestList, page_where};
pub use openapi::{TypeSchemas, openapi_schemas, rest_schema};
pub use routes::{ActionMethod, DeleteStatus, RestAction, RestParent, RestRoute, rest_routes};

pub(crate) use list::Filter;
