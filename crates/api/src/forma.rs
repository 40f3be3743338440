//! Formae on the wire: what a client evaluated, and what came of it.

#![allow(unused_qualifications, reason = "the schema derive names types by their full paths")]

use crate::{OnFailure, PlanResult, ResourceDrift};
use formwork_model::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is to be done with a forma.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormaCommandKind {
    /// It becomes reality.
    Apply,
    /// What it declares goes.
    Destroy,
}

/// Whether a forma is all that its stacks have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormaMode {
    /// What it does not declare is deleted.
    Reconcile,
    /// What it does not declare stays.
    Patch,
}

/// What becomes of resources elsewhere that depend on what is destroyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDependents {
    /// Nothing is destroyed.
    #[default]
    Abort,
    /// They go along.
    Cascade,
}

/// A request to apply or destroy a forma.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FormaCommand {
    /// What is to be done.
    pub command: FormaCommandKind,
    /// The project; the default one if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The forma as its module puts it out, in JSON.
    #[schema(value_type = Object)]
    pub forma: Json,
    /// The places of its values in its source, as the command line sends them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub places: Option<Json>,
    /// Whether the forma is all that its stacks have; needed to apply it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<FormaMode>,
    /// Whether only to say what would be done.
    #[serde(default)]
    pub simulate: bool,
    /// Whether to overwrite what was changed out of band.
    #[serde(default)]
    pub force: bool,
    /// What becomes of dependents that are not declared.
    #[serde(default)]
    pub on_dependents: OnDependents,
    /// What a failed step means for the rest; `keep` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// The plan that was approved; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_hash: Option<String>,
}

/// What came of a request to apply or destroy a forma.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FormaAnswer {
    /// The operation to follow; absent where nothing is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_id: Option<String>,
    /// Whether there is anything to do.
    pub changes_required: bool,
    /// What is done.
    pub plan: PlanResult,
    /// What was changed out of band and would be overwritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<ResourceDrift>,
}

/// A resource of a stack, secrets masked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct FormaResource {
    /// Its row in the ledger.
    pub id: String,
    /// Its label.
    pub label: String,
    /// Its type.
    #[serde(rename = "Type")]
    pub type_name: String,
    /// Its stack.
    pub stack: String,
    /// Its target.
    pub target: String,
    /// The provider's id.
    #[serde(rename = "NativeID", default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<String>,
    /// What was last applied.
    #[schema(value_type = Object)]
    pub properties: Json,
}

/// A stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct FormaStack {
    /// Its id.
    #[serde(rename = "ID")]
    pub id: String,
    /// Its label.
    pub label: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub policies: Vec<Json>,
    /// How many resources it has.
    pub resources: u64,
    /// When it was made.
    pub created_at: crate::Time,
}

/// A target, secrets masked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct FormaTarget {
    /// Its label.
    pub label: String,
    /// The namespace of the types that live there.
    pub namespace: String,
    /// Its configuration.
    #[schema(value_type = Object)]
    pub config: Json,
}
