//! Operations: one run of one plan each.

use crate::{ActorId, Json, OperationId, PlanHash, ProjectId, StackId, Timestamp, WireCode};
use serde::{Deserialize, Serialize};

/// What an operation is for (seed 4, "FormationOperation").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// The first deploy of a stack.
    Create,
    /// A further deploy.
    Update,
    /// The teardown of a stack.
    Delete,
}

/// How far an operation got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationStatus {
    /// Accepted, not begun.
    Pending,
    /// Begun, not finished; also while its process is dead and nobody has recovered it yet.
    Running,
    /// Finished as planned.
    Succeeded,
    /// Finished otherwise.
    Failed,
}

impl OperationStatus {
    /// Whether it will not change any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// Why something failed, in the shape in which it is shown (seed 4, "error").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The wire code. A text, since handlers and providers bring their own.
    pub code: String,
    /// One sentence or more.
    pub message: String,
    /// Facts: `logical_id`, `resource_type`, `failures`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Json>,
}

impl Failure {
    /// A failure without facts.
    pub fn new(code: WireCode, message: impl Into<String>) -> Self {
        Self { code: code.as_str().to_owned(), message: message.into(), meta: None }
    }

    /// With facts.
    #[must_use]
    pub fn meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }
}

/// What the store keeps of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Its id.
    pub id: OperationId,
    /// The project.
    pub project: ProjectId,
    /// The stacks it holds.
    pub stacks: Vec<StackId>,
    /// What it is for.
    pub kind: OperationKind,
    /// How far it got.
    pub status: OperationStatus,
    /// Who asked for it: recovery runs as them.
    pub actor: ActorId,
    /// The plan it carries out.
    pub plan_hash: PlanHash,
    /// When it began.
    pub started_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}
