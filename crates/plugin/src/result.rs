//! Results (seed 3, "ProgressResult").

use formwork_model::{Digest, Json, NativeId, OperationErrorCode, Path, TypeName};
use serde::{Deserialize, Serialize};

/// How a call went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ProgressResult {
    /// Which operation.
    pub operation: Operation,
    /// How far it is.
    pub operation_status: OperationStatus,
    /// What to ask for the status with, when it is in progress.
    #[serde(rename = "RequestID", default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The object. On a failed create: the object that was left behind.
    #[serde(rename = "NativeID", default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<NativeId>,
    /// The object's properties after the call; secrets left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_properties: Option<Json>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<OperationErrorCode>,
    /// What went wrong, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Ours: the wire code to show a person instead of the protocol's (`AGENT_NOT_FOUND`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_code: Option<String>,
    /// Ours: facts to show with the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_meta: Option<Json>,
    /// Ours: digests of the secrets that were left out of the properties, so that they can be
    /// compared. Only from in-process types, which know the instance key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_digests: Vec<(Path, Digest)>,
}

impl ProgressResult {
    /// It is done.
    pub fn success(operation: Operation, native_id: NativeId, properties: Json) -> Self {
        Self {
            native_id: Some(native_id),
            resource_properties: Some(properties),
            ..Self::of(operation, OperationStatus::Success)
        }
    }

    /// The object is gone.
    pub fn deleted(native_id: NativeId) -> Self {
        Self { native_id: Some(native_id), ..Self::of(Operation::Delete, OperationStatus::Success) }
    }

    /// It failed.
    pub fn failure(operation: Operation, code: OperationErrorCode, message: impl Into<String>) -> Self {
        Self {
            error_code: Some(code),
            status_message: Some(message.into()),
            ..Self::of(operation, OperationStatus::Failure)
        }
    }

    /// It goes on; ask with this id.
    pub fn in_progress(
        operation: Operation,
        request_id: impl Into<String>,
        native_id: Option<NativeId>,
    ) -> Self {
        Self {
            request_id: Some(request_id.into()),
            native_id,
            ..Self::of(operation, OperationStatus::InProgress)
        }
    }

    fn of(operation: Operation, operation_status: OperationStatus) -> Self {
        Self {
            operation,
            operation_status,
            request_id: None,
            native_id: None,
            resource_properties: None,
            error_code: None,
            status_message: None,
            failure_code: None,
            failure_meta: None,
            secret_digests: Vec::new(),
        }
    }
}

/// An operation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Operation {
    /// Create.
    Create,
    /// Read.
    Read,
    /// Update.
    Update,
    /// Delete.
    Delete,
    /// Status.
    CheckStatus,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum OperationStatus {
    /// Done.
    Success,
    /// Failed.
    Failure,
    /// Going on.
    InProgress,
    /// Accepted, not begun.
    Pending,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ReadResult {
    /// The type.
    pub resource_type: TypeName,
    /// The object.
    #[serde(rename = "NativeID")]
    pub native_id: NativeId,
    /// Its properties; secrets left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_properties: Option<Json>,
    /// `NOT_FOUND` if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<OperationErrorCode>,
    /// Ours: digests of the secrets that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_digests: Vec<(Path, Digest)>,
}

impl ReadResult {
    /// The object is there, with these properties.
    pub fn present(resource_type: TypeName, native_id: NativeId, properties: Json) -> Self {
        let error_code = None;
        Self { resource_properties: Some(properties), error_code, ..Self::absent(resource_type, native_id) }
    }

    /// There is no such object.
    pub fn absent(resource_type: TypeName, native_id: NativeId) -> Self {
        Self {
            resource_type,
            native_id,
            resource_properties: None,
            error_code: Some(OperationErrorCode::NotFound),
            secret_digests: Vec::new(),
        }
    }
}

/// One page of a type's native ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ListResult {
    /// The native ids.
    #[serde(rename = "NativeIDs")]
    pub native_ids: Vec<NativeId>,
    /// Where the next page begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_page_token: Option<String>,
}

/// Ours: why a delete would be refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeleteBlocker {
    /// The type.
    pub resource_type: TypeName,
    /// The object.
    pub native_id: NativeId,
    /// Why, in words for a person.
    pub reason: String,
}

/// Ours: something that is wrong with declared properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyProblem {
    /// Where, from the properties.
    pub path: Path,
    /// What is wrong, in words for a person.
    pub message: String,
}
