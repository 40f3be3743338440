//! The event stream of an operation: what a live view is drawn from.

use crate::{ErrorDetail, Time};
use formwork_model::{EventAction, EventStatus, OperationStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Something that happened in an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OperationEvent {
    /// Its number: the id of the server-sent event, and the cursor to continue from.
    pub sequence: u64,
    /// When.
    pub timestamp: Time,
    /// In which operation.
    pub operation_id: String,
    /// On which formation.
    pub formation_id: String,
    /// To which resource; absent when it is about the operation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_id: Option<String>,
    /// Of which type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// What was done.
    #[schema(value_type = String)]
    pub action: EventAction,
    /// How far it got.
    #[schema(value_type = String, pattern = "^(started|waiting|succeeded|failed|skipped)$")]
    pub status: EventStatus,
    /// The object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_resource_id: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetail>,
    /// The attempt, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What is awaited, or why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A page of events after a cursor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EventPage {
    /// The events, in order.
    pub data: Vec<OperationEvent>,
    /// The cursor to continue after; where the page is empty, the one that was asked for.
    pub next_after: u64,
    /// Whether the operation is over, so that no further event will come after these.
    pub complete: bool,
}

/// What a step under way waits for: the data of a `waiting` event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WaitingFor {
    /// The resource's logical id.
    pub logical_id: String,
    /// Its type.
    pub resource_type: String,
    /// What the step does.
    pub action: String,
    /// Whether the step is being undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undo: bool,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Since when the step is under way.
    pub since: Time,
    /// For what: `permit`, `read`, `answer`, `provider`, `retry`, `resolution`.
    pub on: String,
    /// Until when, at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

/// The data of an `end` event: the stream's last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OperationEnd {
    /// The operation.
    pub operation_id: String,
    /// Its final status.
    #[schema(value_type = String, pattern = "^(succeeded|failed)$")]
    pub status: OperationStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetail>,
}
