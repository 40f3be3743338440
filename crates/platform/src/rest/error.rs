//! Why a REST call was refused.

use formwork_model::{Json, WireCode};
use formwork_store::{DomainError, DomainFailure, StoreError};

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
