//! The log: what the fake cloud saw and did, in order. Invariants are checked from it.

use formwork_model::{Json, NativeId, OperationErrorCode, Timestamp};
use formwork_plugin::Operation;

/// One line of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// When, by the cloud's clock.
    pub at: Timestamp,
    /// Which call, counted from 1 in the order of arrival; 0 for what happened out of band.
    pub call: u64,
    /// Which operation of the protocol; `None` for a list and for what happened out of band.
    pub operation: Option<Operation>,
    /// The type.
    pub type_name: String,
    /// The row that the caller named.
    pub row: Option<String>,
    /// The label that the caller named.
    pub label: Option<String>,
    /// The client token that came along.
    pub token: Option<String>,
    /// The attempt that the caller named.
    pub attempt: u32,
    /// What happened.
    pub moment: Moment,
}

/// What happened to a call, or to an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Moment {
    /// The call arrived.
    Received,
    /// It came past its deadline and was left undone.
    Expired,
    /// It made an object.
    Created {
        /// Which.
        native_id: NativeId,
        /// With which properties, write-only ones included.
        properties: Json,
    },
    /// It changed an object.
    Updated {
        /// Which.
        native_id: NativeId,
        /// The properties from then on, write-only ones included.
        properties: Json,
    },
    /// It deleted an object.
    Deleted {
        /// Which.
        native_id: NativeId,
    },
    /// Its token was known: it was answered with the first outcome, without another effect.
    Repeated,
    /// It was answered.
    Answered {
        /// The code of a failure.
        code: Option<OperationErrorCode>,
    },
    /// Its caller never got an answer: the script withheld it, or the caller was gone.
    Unanswered,
}

impl Moment {
    /// Whether an object came, changed or went.
    pub fn is_effect(&self) -> bool {
        matches!(self, Self::Created { .. } | Self::Updated { .. } | Self::Deleted { .. })
    }
}
