//! Who calls, for what.

use super::pb;
use super::value::{WireError, present};
use crate::CallContext;
use formwork_model::{StepId, Timestamp};

impl From<&CallContext> for pb::CallContext {
    fn from(context: &CallContext) -> Self {
        // All but the lease and the trace context, which is metadata.
        let CallContext {
            project, actor, operation, step, stack, row, label, token, attempt, deadline, ..
        } = context;
        Self {
            project: project.to_string(),
            actor: actor.to_string(),
            operation: operation.as_ref().map(ToString::to_string),
            step: step.map(|step| step.0),
            stack: stack.as_ref().map(ToString::to_string),
            row: row.as_ref().map(ToString::to_string),
            label: label.as_ref().map(ToString::to_string),
            token: token.map(|token| token.to_string()),
            attempt: *attempt,
            deadline_millis: deadline.0,
        }
    }
}

impl TryFrom<Option<pb::CallContext>> for CallContext {
    type Error = WireError;

    fn try_from(context: Option<pb::CallContext>) -> Result<Self, WireError> {
        let context = present("context", context)?;
        let field = "context.token";
        let expected = "64 hexadecimal digits";
        let token = context.token.map(|token| token.parse()).transpose();
        Ok(Self {
            operation: context.operation.map(Into::into),
            step: context.step.map(StepId),
            stack: context.stack.map(Into::into),
            row: context.row.map(Into::into),
            label: context.label.map(Into::into),
            token: token.map_err(|_| WireError::Invalid { field, expected })?,
            attempt: context.attempt,
            ..Self::observing(
                context.project.into(),
                context.actor.into(),
                Timestamp(context.deadline_millis),
            )
        })
    }
}
