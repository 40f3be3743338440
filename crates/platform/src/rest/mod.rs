//! The platform's objects over REST: the functions behind `/agents`, `/secrets`, … and the data
//! from which routes, commands and the OpenAPI document are made.

mod actions;
mod body;
mod bytes;
mod companion;
mod error;
mod handlers;
mod list;
mod openapi;
mod prices;
mod routes;

pub use bytes::{FileBytes, MOST_FILE_BYTES};
pub use companion::Companion;
pub use error::PlatformError;
pub use handlers::{Caller, Made, UpdateMode};
pub use list::{MaySee, RestList, page_where};
pub use openapi::{TypeSchemas, openapi_schemas, rest_schema};
pub use routes::{
    ActionBody, ActionField, ActionMethod, DeleteStatus, Listed, RestAction, RestParent, RestRoute,
    rest_routes,
};

pub(crate) use body::{members, refuse_unknown};
pub(crate) use bytes::delete as delete_bytes;
pub(crate) use list::Filter;
