//! What was changed out of band, as a route answers it.

use formwork_model::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a formation's objects differ in from what the last deploy left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FormationDrift {
    /// The formation.
    pub formation_id: String,
    /// Whether anything is known to differ.
    pub drifted: bool,
    /// How many objects were looked at.
    pub checked: u64,
    /// Those that differ or could not be looked at, in the order of the template.
    pub resources: Vec<ResourceDrift>,
}

/// An object that is not known to be as it was left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ResourceDrift {
    /// The resource's logical id.
    pub logical_id: String,
    /// Its type.
    pub resource_type: String,
    /// The object.
    pub physical_resource_id: String,
    /// What was found.
    pub status: DriftStatus,
    /// The declared properties that were changed; absent where none is known to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<DriftChange>,
    /// Why it could not be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What was found of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftStatus {
    /// It has other properties.
    Changed,
    /// It is gone.
    Gone,
    /// It could not be looked at.
    Unreadable,
}

/// A declared property that was changed out of band, credentials masked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DriftChange {
    /// Which property, as a JSON Pointer.
    pub path: String,
    /// What the last deploy left; absent where it left nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub was: Option<Json>,
    /// What is there; absent where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub is: Option<Json>,
}
