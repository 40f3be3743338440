//! The one shape of errors.

use formwork_model::{Failure, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every answer that is not a success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// What went wrong: the same bag in an error answer, on a failed formation and on its operation.
// Seed 4, "FormationOperation".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// The code; `formwork explain` knows each.
    pub code: String,
    /// What to tell a person.
    pub message: String,
    /// Facts: `details`, `failures`, `denied_actions`, `logical_id`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub meta: Option<Json>,
}

impl From<Failure> for ErrorDetail {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code, message: failure.message, meta: failure.meta }
    }
}
