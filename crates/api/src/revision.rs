//! What a formation's deploys applied, as routes answer it.

use crate::Time;
use formwork_model::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a successful deploy applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FormationRevision {
    /// The formation.
    pub formation_id: String,
    /// Counts the formation's successful deploys, from 1.
    pub revision: u64,
    /// The operation that applied it.
    pub operation_id: String,
    /// Who began that.
    pub actor: String,
    /// When it ended.
    pub created_at: Time,
    /// The parameters it was applied with; `no_echo` ones read `***`.
    #[schema(required, value_type = Option<Object>)]
    pub resolved_parameters: Option<Json>,
    /// The template, expressions as written, credentials masked; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub template: Option<Json>,
}
