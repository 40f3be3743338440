//! JSON Schemas for the OpenAPI document, generated from the types' own schemas.

use formwork_model::{Json, TypeName};
use indexmap::IndexMap;

/// The JSON Schemas of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSchemas {
    /// The body of a create.
    pub create: Json,
    /// The body of an update with `PATCH`: nothing is required.
    pub patch: Json,
    /// The body of an update with `PUT`.
    pub put: Json,
    /// What the routes answer.
    pub representation: Json,
}

/// The JSON Schemas of all types, in their order.
pub fn openapi_schemas() -> IndexMap<TypeName, TypeSchemas> {
    unimplemented!()
}
