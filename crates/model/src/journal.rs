//! The journal: facts about an operation, durable before anything acts on them. For recovery only;
//! what people see is in [`Event`](crate::Event)s.
//!
//! Folding a row's entries over the row gives the row (`engine_core::fold`); a store's rows and its
//! journal may never disagree.

use crate::{
    ActorId, Failure, NativeId, Object, OpenIntent, OperationId, OperationStatus, PlanHash, RowId, StepId,
    Timestamp,
};
use serde::{Deserialize, Serialize};

/// The version of the entries' shape. A fixture of each released version must resume.
pub const JOURNAL_VERSION: u16 = 1;

/// One fact, in its operation's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// [`JOURNAL_VERSION`] when it was written.
    pub version: u16,
    /// The operation.
    pub operation: OperationId,
    /// Its number in the operation, from 0, without gaps.
    pub sequence: u64,
    /// When.
    pub at: Timestamp,
    /// The fact.
    pub entry: Entry,
}

/// Which of a step's calls an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Attempt {
    /// The step.
    pub step: StepId,
    /// Forward, or its undo.
    pub kind: IntentKind,
    /// From 1.
    pub number: u32,
}

/// What kind of effect an intent is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentKind {
    /// Makes an object.
    Create,
    /// Changes the current object.
    Update,
    /// Deletes the current object.
    Delete,
    /// Deletes a deposed object.
    Cleanup,
    /// Deletes what a create of the same operation made.
    Undo,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "fact")]
pub enum Entry {
    /// The operation began. Part of the store's `begin`.
    Started {
        /// The plan it carries out.
        plan: PlanHash,
        /// Who asked for it.
        actor: ActorId,
        /// Where jitter comes from.
        seed: u64,
        /// The ids of the plan's new rows: the n-th is `RowRef::New(n)`'s.
        minted: Vec<RowId>,
    },
    /// A call is about to be made. Durable before it is.
    Intent {
        /// On which row.
        row: RowId,
        /// The call: it stays on the row until it is settled.
        intent: Box<OpenIntent>,
    },
    /// The provider works on it; it will be polled.
    Accepted {
        /// Which call.
        attempt: Attempt,
        /// What to poll with.
        request_id: String,
        /// The object, if the provider named it already.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native_id: Option<NativeId>,
        /// When to poll next.
        poll_at: Timestamp,
        /// When to give up.
        deadline: Timestamp,
    },
    /// The call certainly had no effect, or is idempotent; it will be made again.
    RetryAt {
        /// Which call failed.
        attempt: Attempt,
        /// When the next attempt is due.
        at: Timestamp,
        /// How it failed.
        failure: Failure,
        /// Whether the call may have had an effect all the same: a delete that is made once more.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        in_doubt: bool,
    },
    /// Whether the call had an effect is not known; it will be looked for.
    Ambiguous {
        /// Which call.
        attempt: Attempt,
        /// Not before this: the effect may still appear until then.
        resolve_at: Timestamp,
        /// How it failed.
        failure: Failure,
    },
    /// A step, or its undo, is over.
    Settled {
        /// Which step.
        step: StepId,
        /// Forward or undo; `None` for a step without a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<IntentKind>,
        /// The row, if it has one by now.
        row: RowId,
        /// How it ended.
        outcome: Outcome,
    },
    /// A step failed under `OnFailure::RollBack`: nothing new starts, undos follow once what is in
    /// flight has ended.
    RollbackStarted {
        /// The step that failed; `None` after a cancel.
        step: Option<StepId>,
        /// Why.
        failure: Failure,
    },
    /// Someone asked to stop.
    CancelRequested {
        /// Whether undos are given up too.
        force: bool,
    },
    /// The operation is over.
    Finished {
        /// Succeeded or failed.
        status: OperationStatus,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
    },
}

/// How a step, or its undo, ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "as")]
pub enum Outcome {
    /// The effect happened: the row has this object now.
    Present {
        /// The object.
        object: Box<Object>,
        /// Whether an older object was deposed by it (a replacement, planned or discovered).
        deposes: bool,
    },
    /// The effect happened: the object is gone (deleted, cleaned up, undone, or was gone already).
    Absent {
        /// Which object.
        native_id: NativeId,
    },
    /// The object is left alone on purpose (retained); the row no longer stands for it, except after
    /// a rollback that was skipped.
    Kept {
        /// Which object.
        native_id: NativeId,
    },
    /// No effect was needed.
    NoOp,
    /// The ledger took over what was observed or declared.
    Recorded {
        /// The object as it is now known.
        object: Option<Box<Object>>,
    },
    /// The row was dropped without an effect.
    Forgotten,
    /// Nothing happened at the provider.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// A create failed and left an object behind.
    Partial {
        /// The object, tainted.
        object: Box<Object>,
        /// Why.
        failure: Failure,
    },
    /// An update failed and may have changed the object.
    Uncertain {
        /// Why.
        failure: Failure,
    },
    /// Whether an object was created is not known and can't be found out here; the intent stays on
    /// the row, and the next plan begins with it.
    Unknown {
        /// Why.
        failure: Failure,
    },
    /// It was not begun, because of another step.
    Skipped {
        /// Why.
        failure: Failure,
    },
}

impl Outcome {
    /// Whether steps that depend on it may go on.
    pub fn is_success(&self) -> bool {
        matches!(
            self,
            Self::Present { .. }
                | Self::Absent { .. }
                | Self::Kept { .. }
                | Self::NoOp
                | Self::Recorded { .. }
                | Self::Forgotten
        )
    }

    /// Why it failed.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { failure }
            | Self::Partial { failure, .. }
            | Self::Uncertain { failure }
            | Self::Unknown { failure }
            | Self::Skipped { failure } => Some(failure),
            _ => None,
        }
    }
}
