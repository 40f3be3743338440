//! Projects.

use crate::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether the content of generations and traces is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceContentMode {
    /// It is.
    #[default]
    Full,
    /// It is not: what is reported of it is dropped.
    None,
}

/// A project. A server from before there were settings leaves them out of its answers; then they are
/// what they are by default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Project {
    /// Public id (`proj_…`).
    pub id: String,
    /// The name, unique.
    pub name: String,
    /// The guardrails on all calls of its agents.
    #[serde(default)]
    #[schema(required)]
    pub guardrail_ids: Vec<String>,
    /// How many runs a runtime may carry out at once; null is any number.
    #[schema(required)]
    pub max_concurrent_runs: Option<u64>,
    /// The model route of agents and chats that name neither a provider nor a route.
    #[schema(required)]
    pub default_model_route_id: Option<String>,
    /// Whether reads are in the audit too.
    #[serde(default)]
    #[schema(required)]
    pub audit_reads_enabled: bool,
    /// After how many days the content of generations and traces is purged; null is never.
    #[schema(required)]
    pub trace_content_retention_days: Option<u64>,
    /// Whether the content of generations and traces is kept.
    #[serde(default)]
    #[schema(required)]
    pub trace_content_mode: TraceContentMode,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}
