//! Events: the one stream behind the live view, the plain log, JSON lines and SSE. Public, and
//! redacted when written.

use crate::{Failure, Label, NativeId, OperationId, RowId, StackId, StepId, Timestamp, TypeName};
use serde::{Deserialize, Serialize};

/// Something that happened in an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its number in the store, rising; 0 until it is stored. The cursor of a subscription.
    #[serde(default)]
    pub sequence: u64,
    /// When.
    pub at: Timestamp,
    /// In which operation.
    pub operation: OperationId,
    /// In which stack.
    pub stack: StackId,
    /// To which resource; `None` when it is about the operation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<EventSubject>,
    /// What was done.
    pub action: EventAction,
    /// How far it got.
    pub status: EventStatus,
    /// The object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_id: Option<NativeId>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The attempt, from 1, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What is awaited, or why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The resource an event is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventSubject {
    /// Its row.
    pub row: RowId,
    /// Its label.
    pub label: Label,
    /// Its type.
    pub type_name: TypeName,
    /// The step.
    pub step: StepId,
}

/// What was done. The names are those of `formations-behaviour.md` §1.3, "FormationEvent", with
/// ours after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventAction {
    /// A resource was created.
    Create,
    /// A resource was updated.
    Update,
    /// A resource was deleted, or its record dropped.
    Delete,
    /// Nothing had to be done.
    NoOp,
    /// A created resource was deleted again.
    Rollback,
    /// A created resource was left, as its deletion policy says.
    RollbackSkipped,
    /// A resource was replaced.
    Replace,
    /// The object that a replacement left was deleted.
    ReplaceCleanup,
    /// The object that a replacement left was kept.
    ReplaceRetained,
    /// A resource took over an object that existed already.
    Adopt,
    /// The ledger took over what was already there.
    Record,
    /// The outcome of an earlier, interrupted effect was settled.
    Resolve,
    /// A person said what became of an earlier, interrupted create: the object that it made, or that
    /// it made none. The note says who.
    Decide,
    /// The operation itself.
    Operation,
}

/// How far it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventStatus {
    /// It began.
    Started,
    /// It waits: for the provider, for a retry, for an unknown outcome.
    Waiting,
    /// It was done.
    Succeeded,
    /// It was not done.
    Failed,
    /// It was not begun, because something it needs failed.
    Skipped,
}
