//! Why a REST call was refused.

use crate::{Refusal, failure::Failed};
use formwork_model::{Json, WireCode};
use formwork_store::{DomainError, StoreError};

/// Why a REST call was refused. The HTTP status belongs to the server, which has one table for all
/// wire codes.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// The call was refused; nothing was changed.
    #[error("{message}")]
    Wire {
        /// What kind of refusal.
        code: WireCode,
        /// What to tell a person.
        message: String,
        /// Facts (`unknownFields`, `missingFields`, `details`, …).
        meta: Option<Json>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refusal> for PlatformError {
    fn from(refusal: Refusal) -> Self {
        Self::Wire { code: refusal.code, message: refusal.message, meta: refusal.meta }
    }
}

impl From<Failed> for PlatformError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(refusal) | Failed::NotFound(refusal) => refusal.into(),
            Failed::Store(error) => Self::Store(error),
            Failed::Fenced => {
                Refusal::new(WireCode::OperationInProgress, "Another operation holds the stack").into()
            }
        }
    }
}

impl From<DomainError> for PlatformError {
    fn from(error: DomainError) -> Self {
        Failed::of(error.into(), None).into()
    }
}
