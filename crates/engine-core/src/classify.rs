//! What an answer means: one total function, one test per cell (architecture §3, "Answers").

use crate::Answer;
use formwork_model::{
    IntentKind, NativeId, OperationErrorCode as Code, Replacement, RetryRule, TypeCapabilities,
};

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// The effect happened.
    Done,
    /// The provider works on it.
    Poll,
    /// This call certainly had no effect.
    NotMade {
        /// Whether the same call may succeed later, and may be made again.
        retriable: bool,
    },
    /// It failed and left this object behind.
    Partial(NativeId),
    /// Whether it had an effect is not known.
    Ambiguous,
    /// The provider declined; what was there is as it was.
    Refused,
}

/// Says what an answer to a call means, whatever the answer is.
///
/// `attempt` counts the calls made for the effect, from 1: `ALREADY_EXISTS` is a plain refusal only
/// for the first, since later it may be our own object.
pub fn classify(kind: IntentKind, attempt: u32, answer: &Answer, capabilities: &TypeCapabilities) -> Class {
    let not_made = Class::NotMade { retriable: capabilities.retry == RetryRule::ByCode };
    match answer {
        Answer::InProgress { request_id, .. } if request_id.is_empty() => Class::Ambiguous,
        Answer::InProgress { .. } => Class::Poll,
        Answer::Lost { unsent: false, .. } | Answer::Deadline => Class::Ambiguous,
        // A create that does not say what it created is nonsense.
        Answer::Success { native_id: None, .. } if kind == IntentKind::Create => Class::Ambiguous,
        Answer::Success { .. } => Class::Done,
        Answer::Lost { unsent: true, .. }
        | Answer::Failure { code: Code::Throttling, native_id: None, .. } => not_made,
        Answer::Failure { code, native_id, .. } => match kind {
            IntentKind::Create => create_failed(attempt, *code, native_id.as_ref()),
            IntentKind::Update => update_failed(*code, native_id.as_ref(), capabilities, not_made),
            IntentKind::Delete | IntentKind::Cleanup | IntentKind::Undo => delete_failed(*code, not_made),
        },
    }
}

fn create_failed(attempt: u32, code: Code, native_id: Option<&NativeId>) -> Class {
    if let Some(left_behind) = native_id {
        return Class::Partial(left_behind.clone());
    }
    match code {
        Code::AlreadyExists if attempt > 1 => Class::Ambiguous,
        Code::ServiceUnavailable | Code::InternalFailure | Code::NotStabilized => Class::Ambiguous,
        Code::NotFound
        | Code::AlreadyExists
        | Code::InvalidRequest
        | Code::AccessDenied
        | Code::Throttling => Class::NotMade { retriable: false },
    }
}

fn update_failed(
    code: Code,
    native_id: Option<&NativeId>,
    capabilities: &TypeCapabilities,
    not_made: Class,
) -> Class {
    match (native_id, code) {
        // A replacement that failed half-way.
        (Some(left_behind), _) if capabilities.replacement == Replacement::Discovered => {
            Class::Partial(left_behind.clone())
        }
        (_, Code::Throttling) => not_made,
        (_, Code::ServiceUnavailable | Code::InternalFailure | Code::NotStabilized) => Class::Ambiguous,
        (_, Code::NotFound | Code::AlreadyExists | Code::InvalidRequest | Code::AccessDenied) => {
            Class::Refused
        }
    }
}

fn delete_failed(code: Code, not_made: Class) -> Class {
    match code {
        Code::NotFound => Class::Done,
        Code::Throttling => not_made,
        Code::ServiceUnavailable | Code::InternalFailure | Code::NotStabilized => Class::Ambiguous,
        Code::AlreadyExists | Code::InvalidRequest | Code::AccessDenied => Class::Refused,
    }
}
