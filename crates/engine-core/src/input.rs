//! What happens to an operation.

use formwork_model::{Failure, IntentKind, NativeId, OperationErrorCode, StepId, Stored};

/// Which call an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    /// The step.
    pub step: StepId,
    /// Forward or undo.
    pub kind: IntentKind,
    /// The attempt, from 1. An answer to an earlier attempt is late, not lost.
    pub attempt: u32,
}

/// Something that happened, with the time at which it did.
#[derive(Clone, Debug)]
pub enum Input {
    /// A guard's or a resolve's read came back.
    ReadDone {
        /// For which step.
        step: StepId,
        /// What it found.
        answer: ReadAnswer,
    },
    /// A lookup of an object whose create has no known outcome came back.
    LookupDone {
        /// For which step.
        step: StepId,
        /// What it found.
        found: Found,
    },
    /// A call may be made: concurrency and rate limit allow it.
    PermitGranted {
        /// For which step.
        step: StepId,
        /// Forward or undo.
        kind: IntentKind,
    },
    /// A call, or a poll of its status, came back.
    Answered {
        /// Which call.
        call: CallId,
        /// With what.
        answer: Answer,
    },
    /// A timer that was asked for is due.
    TimerDue(crate::TimerKey),
    /// Someone asked to stop.
    Cancel {
        /// Whether undos are given up too.
        force: bool,
    },
}

/// How a call ended, before it is classified.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is done.
    Success {
        /// The object; a delete need not name it.
        native_id: Option<NativeId>,
        /// The object after the call, secrets as digests.
        properties: Option<Stored>,
    },
    /// It goes on.
    InProgress {
        /// What to poll with.
        request_id: String,
        /// The object, if it is named already.
        native_id: Option<NativeId>,
    },
    /// It failed and says how.
    Failure {
        /// The protocol's code.
        code: OperationErrorCode,
        /// What to show a person.
        failure: Failure,
        /// The object that a failed create left behind.
        native_id: Option<NativeId>,
    },
    /// The plugin died, could not be reached, or answered nonsense.
    Lost {
        /// What to show a person.
        failure: Failure,
        /// Whether the call certainly never left this process.
        unsent: bool,
    },
    /// No answer came in time.
    Deadline,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadAnswer {
    /// The object.
    Present {
        /// Its properties, secrets as digests.
        properties: Stored,
    },
    /// It does not exist.
    Gone,
    /// The read failed.
    Failed {
        /// The protocol's code, if there is one.
        code: Option<OperationErrorCode>,
        /// What to show a person.
        failure: Failure,
    },
}

/// What a lookup found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// Exactly one object that no row owns and that is provably ours.
    One {
        /// Its id.
        native_id: NativeId,
        /// Its properties.
        properties: Stored,
    },
    /// Something, but it is not certain that it is ours.
    Unsure {
        /// What was found, in words.
        detail: String,
    },
    /// The lookup failed.
    Failed {
        /// What to show a person.
        failure: Failure,
    },
}
