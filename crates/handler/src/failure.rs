//! A handler's failures: in words (`formations-behaviour.md` §4.3), and what they mean for the
//! object.

use crate::protocol::RequestType;
use crate::transport::{Cause, LARGEST_ANSWER, NoReply};
use formwork_model::{Json, OperationErrorCode, TypeName, WireCode};
use formwork_plugin::{Operation, PluginError, ProgressResult};
use serde_json::json;
use std::time::Duration;

/// Whether a request that failed may have had an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Certainly not.
    None,
    /// Certainly not, and the handler said so itself, in its own words: nor had the same request
    /// any effect when it was made before.
    Refused,
    /// Who knows.
    Unknown,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    /// In words, as the end of a sentence.
    pub(crate) detail: String,
    pub(crate) effect: Effect,
}

impl Reason {
    /// A request to which no answer came.
    pub(crate) fn no_reply(failure: NoReply, timeout: Duration) -> Self {
        let detail = match failure.cause {
            Cause::TimedOut => format!("request timed out after {}ms", timeout.as_millis()),
            Cause::TooLarge => format!("response body was larger than {LARGEST_ANSWER} bytes"),
            Cause::Failed(error) => format!("request failed: {error}"),
        };
        Self { detail, effect: if failure.sent { Effect::Unknown } else { Effect::None } }
    }
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HandlerFailure {
    pub(crate) type_name: TypeName,
    pub(crate) request: RequestType,
    pub(crate) reason: Reason,
}

impl HandlerFailure {
    fn message(&self) -> String {
        let Self { type_name, request, reason } = self;
        format!("Formation handler for '{type_name}' failed on {}: {}", request.as_str(), reason.detail)
    }

    fn meta(&self) -> Json {
        json!({ "resource_type": self.type_name.as_str(), "request_type": self.request.as_str() })
    }

    /// The failure as the result of a create, update or delete.
    pub(crate) fn into_result(self, operation: Operation) -> ProgressResult {
        // The engine reads from the protocol's code only whether there may be an effect, now or of
        // an earlier attempt; what people read is the failure code.
        let code = match self.reason.effect {
            Effect::None => OperationErrorCode::AccessDenied,
            Effect::Refused => OperationErrorCode::InvalidRequest,
            Effect::Unknown => OperationErrorCode::InternalFailure,
        };
        ProgressResult {
            failure_code: Some(WireCode::FormationHandlerFailed.as_str().to_owned()),
            failure_meta: Some(self.meta()),
            ..ProgressResult::failure(operation, code, self.message())
        }
    }
}

/// The failure of a read or a validation, whose results have no room for words.
impl From<HandlerFailure> for PluginError {
    fn from(failure: HandlerFailure) -> Self {
        Self::Failed {
            code: WireCode::FormationHandlerFailed,
            message: failure.message(),
            meta: failure.meta(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(cause: Cause, sent: bool) -> HandlerFailure {
        HandlerFailure {
            type_name: "channel".into(),
            request: RequestType::Create,
            reason: Reason::no_reply(NoReply { cause, sent }, Duration::from_millis(1500)),
        }
    }

    #[test]
    fn failures_read_as_the_behaviour_says() {
        let shown = [
            failure(Cause::TimedOut, true),
            failure(Cause::TooLarge, true),
            failure(Cause::Failed("connection refused".into()), false),
        ]
        .map(|failure| format!("{:?}: {}", failure.reason.effect, failure.message()));
        insta::assert_snapshot!(shown.join("\n"), @r"
        Unknown: Formation handler for 'channel' failed on create: request timed out after 1500ms
        Unknown: Formation handler for 'channel' failed on create: response body was larger than 1048576 bytes
        None: Formation handler for 'channel' failed on create: request failed: connection refused
        ");
    }

    #[test]
    fn only_an_unsent_or_refused_request_is_certain_to_have_done_nothing() {
        let code = |sent| failure(Cause::TimedOut, sent).into_result(Operation::Create).error_code;
        assert_eq!(code(false), Some(OperationErrorCode::AccessDenied));
        assert_eq!(code(true), Some(OperationErrorCode::InternalFailure));
    }

    #[test]
    fn a_result_carries_the_code_that_people_know_and_the_facts() {
        let result = failure(Cause::TimedOut, true).into_result(Operation::Create);
        assert_eq!(result.failure_code.as_deref(), Some("FORMATION_HANDLER_FAILED"));
        assert_eq!(result.failure_meta, Some(json!({"resource_type": "channel", "request_type": "create"})));
    }
}
