//! Operations: every deploy and teardown leaves one.

use crate::{CauseLink, ErrorDetail, SourcePlace, Time};
use formwork_model::{EventAction, EventStatus, OperationKind, OperationStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One deploy or teardown.
// Seed 4, "FormationOperation".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FormationOperation {
    /// Public id (`form_op_…`).
    pub id: String,
    /// What it is for.
    #[schema(value_type = String, pattern = "^(create|update|delete)$")]
    pub operation_type: OperationKind,
    /// How far it is.
    #[schema(value_type = String, pattern = "^(pending|running|succeeded|failed)$")]
    pub status: OperationStatus,
    /// What was planned before anything was done.
    #[schema(required)]
    pub plan: Option<OperationPlan>,
    /// What happened to each resource, in order.
    #[schema(required)]
    pub events: Option<Vec<FormationEvent>>,
    /// Why it failed.
    #[schema(required)]
    pub error: Option<ErrorDetail>,
    /// When it began.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// One operation, with what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Operation {
    /// As a formation's history lists it.
    #[serde(flatten)]
    pub operation: FormationOperation,
    /// The formation it is on.
    pub formation_id: String,
    /// The project.
    pub project_id: String,
    /// Who asked for it.
    pub actor: String,
    /// When it ended.
    #[schema(required)]
    pub finished_at: Option<Time>,
}

/// The plan that an operation carries out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OperationPlan {
    /// The hash that a person approves.
    pub hash: String,
    /// Its steps; a step's dependencies come before it.
    pub steps: Vec<PlannedStep>,
}

/// A plan that was kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SavedPlan {
    /// The plan.
    #[serde(flatten)]
    pub plan: OperationPlan,
    /// The formation it is for; null for one that is yet to be made.
    #[schema(required)]
    pub formation_id: Option<String>,
    /// When it was made.
    pub created_at: Time,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedStep {
    /// Its number.
    pub id: u32,
    /// The resource's logical id.
    pub logical_id: String,
    /// The resource's type.
    pub resource_type: String,
    /// What it does (`create`, `update`, `replace`, `delete`, `cleanup`, `no-op`, …).
    pub action: String,
    /// The object it acts on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_resource_id: Option<String>,
    /// Whether it is done only if something turns out while the plan runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conditional: bool,
    /// The steps it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_steps: Vec<u32>,
    /// Why, from the effect to the change that started it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cause: Vec<CauseLink>,
    /// Where it was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SourcePlace>,
}

/// What happened to one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FormationEvent {
    /// When.
    pub timestamp: Time,
    /// To which resource.
    pub logical_id: String,
    /// Of which type.
    pub resource_type: String,
    /// What was done.
    #[schema(value_type = String)]
    pub action: EventAction,
    /// Whether it was done.
    #[schema(value_type = String, pattern = "^(succeeded|failed)$")]
    pub status: EventStatus,
    /// The object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_resource_id: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Of a decision, who made it; of what a rollback left, why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
