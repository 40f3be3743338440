//! What an answer means.

use crate::Answer;
use formwork_model::{IntentKind, NativeId, TypeCapabilities};

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// The effect happened.
    Done,
    /// The provider works on it.
    Poll,
    /// The effect certainly did not happen.
    NotMade {
        /// Whether the same call may succeed later.
        retriable: bool,
    },
    /// A create failed and left this object behind.
    Partial(NativeId),
    /// Whether the effect happened is not known.
    Ambiguous,
    /// The provider declined; what was there is as it was.
    Refused,
}

/// Says what an answer means.
pub fn classify(kind: IntentKind, attempt: u32, answer: &Answer, capabilities: &TypeCapabilities) -> Class {
    let _ = (kind, attempt, answer, capabilities);
    Class::Ambiguous
}
