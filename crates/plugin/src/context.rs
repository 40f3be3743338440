//! Who calls, for what.

use formwork_model::{
    ActorId, ClientToken, Fence, Label, OperationId, ProjectId, RowId, StackId, StepId, Timestamp,
};

/// What a call belongs to. Nothing in it changes what the call does, but `token`: a plugin that
/// knows client tokens answers a repeated token with the first outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct CallContext {
    /// The project whose object it is.
    pub project: ProjectId,
    /// Who asked.
    pub actor: ActorId,
    /// The operation, unless the call is an observation.
    pub operation: Option<OperationId>,
    /// The step of the operation.
    pub step: Option<StepId>,
    /// The stack.
    pub stack: Option<StackId>,
    /// The ledger row.
    pub row: Option<RowId>,
    /// The author's name for the resource.
    pub label: Option<Label>,
    /// What makes a repeated call the same call; absent on reads.
    pub token: Option<ClientToken>,
    /// The attempt, from 1.
    pub attempt: u32,
    /// When the caller gives up.
    pub deadline: Timestamp,
    /// The lease that the call is made under; in-process plugins check it in their transaction.
    pub fence: Option<Fence>,
    /// W3C trace context.
    pub trace: Option<String>,
}

impl CallContext {
    /// The context of an observation: no operation, no token.
    pub fn observing(project: ProjectId, actor: ActorId, deadline: Timestamp) -> Self {
        Self {
            project,
            actor,
            operation: None,
            step: None,
            stack: None,
            row: None,
            label: None,
            token: None,
            attempt: 1,
            deadline,
            fence: None,
            trace: None,
        }
    }
}
