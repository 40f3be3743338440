//! Formations and their resources.

use crate::{ErrorDetail, Time};
use formwork_model::{Json, RowStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A formation.
// Seed 4, "Formation".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Formation {
    /// Public id (`form_…`).
    pub id: String,
    /// The project's public id.
    pub project_id: String,
    /// The name, unique in its project.
    pub name: String,
    /// The last applied template, expressions as written, credentials masked.
    #[schema(value_type = Object)]
    pub template: Json,
    /// Resolved output values.
    #[schema(required, value_type = Option<Object>)]
    pub outputs: Option<Json>,
    /// How far it is.
    pub status: FormationStatus,
    /// Static annotations.
    #[schema(required, value_type = Option<Object>)]
    pub metadata: Option<Json>,
    /// The template's metadata after substitution at the last deploy.
    #[schema(required, value_type = Option<Object>)]
    pub resolved_metadata: Option<Json>,
    /// The parameter values of the last deploy; `no_echo` ones read `***`.
    #[schema(required, value_type = Option<Object>)]
    pub resolved_parameters: Option<Json>,
    /// Why it failed, or what a replacement left over.
    #[schema(required)]
    pub error: Option<ErrorDetail>,
    /// Its resources, tombstones included; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<FormationResource>>,
    /// The operation that runs on it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// How far a formation is.
// Seed 4, "The formation stack itself has these statuses".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormationStatus {
    /// First deployment in progress.
    Creating,
    /// All resources provisioned.
    Active,
    /// A deploy is in progress.
    Updating,
    /// The last deploy failed.
    Failed,
    /// Teardown in progress.
    Deleting,
    /// All resources removed.
    Deleted,
    /// The teardown failed.
    DeleteFailed,
}

impl FormationStatus {
    /// The status as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Active => "active",
            Self::Updating => "updating",
            Self::Failed => "failed",
            Self::Deleting => "deleting",
            Self::Deleted => "deleted",
            Self::DeleteFailed => "delete_failed",
        }
    }
}

/// A resource of a formation.
// Seed 4, "FormationResource".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FormationResource {
    /// Public id (`form_res_…`).
    pub id: String,
    /// The author's name for it.
    pub logical_id: String,
    /// Its type.
    pub resource_type: String,
    /// The public id of the object.
    #[schema(required)]
    pub physical_resource_id: Option<String>,
    /// How far it is.
    pub status: ResourceStatus,
    /// The annotations of its declaration, as they were written; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Json>,
}

/// How far a resource is.
// Seed 4, "Resource Lifecycle".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResourceStatus {
    /// Not yet provisioned.
    Pending,
    /// Created by a deploy.
    Created,
    /// Updated by a later deploy.
    Updated,
    /// Gone: a tombstone.
    Deleted,
    /// The last operation failed.
    Failed,
}

impl From<RowStatus> for ResourceStatus {
    fn from(status: RowStatus) -> Self {
        match status {
            RowStatus::Pending => Self::Pending,
            RowStatus::Created => Self::Created,
            RowStatus::Updated => Self::Updated,
            RowStatus::Deleted => Self::Deleted,
            RowStatus::Failed => Self::Failed,
        }
    }
}

/// The answer to a successful delete that has a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeleteResult {
    /// Always true: a failure is an error.
    pub success: bool,
}

/// The answer to a deploy or teardown that is not waited for (`?wait=false`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OperationAccepted {
    /// The operation to follow.
    pub operation_id: String,
    /// The formation it is on.
    pub formation_id: String,
    /// Where its state is.
    pub status_url: String,
    /// Where its events are.
    pub events_url: String,
}

impl OperationAccepted {
    /// The acceptance of an operation on a formation.
    pub fn new(operation_id: String, formation_id: String) -> Self {
        let status_url = format!("/api/v1/operations/{operation_id}");
        Self { events_url: format!("{status_url}/events"), status_url, operation_id, formation_id }
    }
}
