//! Plans and graphs, as routes answer them.

use crate::{Detail, SourcePlace};
use formwork_model::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The answer to a plan.
// Seed 4, "Plan Diff".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanResult {
    /// One change per resource.
    pub changes: Vec<PlanChange>,
    /// What a deploy would refuse; absent where nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unauthorized_actions: Vec<UnauthorizedAction>,
    /// What to send as `plan_hash` so that a deploy does exactly this or refuses.
    pub plan_hash: String,
    /// What is worth a look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Detail>,
}

/// What would happen to one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanChange {
    /// Its stack, where the plan is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Its logical id.
    pub logical_id: String,
    /// Its type.
    pub resource_type: String,
    /// `create`, `update`, `delete` or `no-op`; `replace` where an update cannot be made in place,
    /// `adopt` where an object that exists already is taken over.
    pub action: String,
    /// Its object; absent on a create.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_resource_id: Option<String>,
    /// The properties compared; absent on a delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<PlanDiff>,
    /// Why, from the effect to the change that started it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cause: Vec<CauseLink>,
    /// Where it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SourcePlace>,
}

/// The properties that a change compares, credentials masked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanDiff {
    /// As declared, after substitution.
    #[schema(value_type = Object)]
    pub desired: Json,
    /// As they are; null where there is nothing to compare.
    #[schema(required, value_type = Option<Object>)]
    pub current: Option<Json>,
}

/// One link of the reason for a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CauseLink {
    /// What a person reads.
    pub text: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SourcePlace>,
}

/// An action that the caller may not do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UnauthorizedAction {
    /// On which resource.
    pub logical_id: String,
    /// Of which type.
    pub resource_type: String,
    /// Which action.
    pub action: String,
}

/// A template's dependency graph, in the order of creation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Graph {
    /// The resources.
    pub nodes: Vec<GraphNode>,
    /// What waits for what.
    pub edges: Vec<GraphEdge>,
}

/// A resource of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GraphNode {
    /// Its logical id.
    pub logical_id: String,
    /// Its type.
    pub resource_type: String,
}

/// That one resource waits for another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GraphEdge {
    /// What waits.
    pub from: String,
    /// What it waits for.
    pub to: String,
}
