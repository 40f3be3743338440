//! What the journal says of an operation: the durable state, and its only mutation.

use formwork_model::{
    Action, Entry, Failure, Guard, IntentKind, JournalEntry, NativeId, OperationStatus, Outcome, Plan, RowId,
    Step, StepId, Timestamp,
};
use rustc_hash::FxHashMap;

/// A step or its undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) step: StepId,
    pub(crate) undo: bool,
}

impl Key {
    pub(crate) fn forward(step: StepId) -> Self {
        Self { step, undo: false }
    }

    pub(crate) fn of(step: StepId, kind: IntentKind) -> Self {
        Self { step, undo: kind == IntentKind::Undo }
    }
}

/// How far a step, or its undo, got.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Phase {
    /// Not begun.
    #[default]
    Waiting,
    /// A call was about to be made, or was made.
    Calling,
    /// The provider works on it.
    Accepted { request_id: String, poll_at: Timestamp, deadline: Timestamp },
    /// It will be tried again.
    Backoff { at: Timestamp },
    /// Whether it had an effect is not known.
    Doubtful { resolve_at: Timestamp },
    /// Over.
    Settled(Ending),
}

/// How a step, or its undo, ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ending {
    pub(crate) how: End,
    /// How many were over before it.
    pub(crate) order: u32,
    /// The object that it made.
    pub(crate) made: Option<NativeId>,
    /// Whether its object is another than before.
    pub(crate) replaced: bool,
}

/// [`Outcome`] without its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Present,
    Absent,
    Kept,
    NoOp,
    Recorded,
    Forgotten,
    Failed,
    Partial,
    Uncertain,
    Unknown,
    Skipped,
}

impl End {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Present { .. } => Self::Present,
            Outcome::Absent { .. } => Self::Absent,
            Outcome::Kept { .. } => Self::Kept,
            Outcome::NoOp => Self::NoOp,
            Outcome::Recorded { .. } => Self::Recorded,
            Outcome::Forgotten => Self::Forgotten,
            Outcome::Failed { .. } => Self::Failed,
            Outcome::Partial { .. } => Self::Partial,
            Outcome::Uncertain { .. } => Self::Uncertain,
            Outcome::Unknown { .. } => Self::Unknown,
            Outcome::Skipped { .. } => Self::Skipped,
        }
    }

    pub(crate) fn is_success(self) -> bool {
        !matches!(self, Self::Failed | Self::Partial | Self::Uncertain | Self::Unknown | Self::Skipped)
    }
}

/// What the journal says of a step, or of its undo.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    pub(crate) phase: Phase,
    /// The number of the last attempt; 0 before the first.
    pub(crate) attempt: u32,
    /// How many calls were made in this operation.
    pub(crate) calls: u32,
    /// How many times it was put off after a failure.
    pub(crate) retries: u32,
    /// How many times its outcome was looked for.
    pub(crate) doubts: u32,
    /// Whether an earlier attempt may have had an effect.
    pub(crate) in_doubt: bool,
    /// Until when the provider may begin the last call.
    pub(crate) not_after: Timestamp,
    /// Until when a call that was never answered may begin; the epoch if each was answered.
    pub(crate) may_land_until: Timestamp,
    /// When it began.
    pub(crate) since: Timestamp,
    /// How it failed last.
    pub(crate) failure: Option<Box<Failure>>,
    /// What its call acts on.
    pub(crate) acts_on: Option<NativeId>,
}

impl Track {
    pub(crate) fn ending(&self) -> Option<&Ending> {
        match &self.phase {
            Phase::Settled(ending) => Some(ending),
            _ => None,
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.ending().is_some()
    }

    /// Whether it was begun and is not over.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Waiting | Phase::Settled(_))
    }
}

/// The two tracks of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepFacts {
    pub(crate) forward: Track,
    pub(crate) undo: Option<Box<Track>>,
}

/// What this operation did to a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnEffects {
    /// By how much it raised the generation.
    pub(crate) rises: u64,
    /// Whether it deleted the object in order to replace it.
    pub(crate) deleted_first: bool,
    /// Whether it settled an earlier intent.
    pub(crate) resolved: bool,
}

/// What failed the operation first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FirstFailure {
    Step(StepId),
    Cancel,
}

/// What the journal says of an operation.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The number of the next entry.
    pub(crate) sequence: u64,
    pub(crate) steps: Vec<StepFacts>,
    pub(crate) own: FxHashMap<RowId, OwnEffects>,
    /// Steps under which a rollback started, in order, with the reason; `None` after a cancel.
    pub(crate) rollbacks: Vec<(Option<StepId>, Failure)>,
    /// Whether a cancel was asked for, and whether by force.
    pub(crate) canceled: Option<bool>,
    pub(crate) first_failure: Option<FirstFailure>,
    /// Steps that failed, in order; skipped ones are not among them.
    pub(crate) failures: Vec<StepId>,
    /// Steps that failed, or were skipped because of one that did, without failing the operation.
    pub(crate) leaks: Vec<StepId>,
    pub(crate) finished: Option<(OperationStatus, Option<Failure>)>,
    ended: u32,
}

impl Facts {
    pub(crate) fn new(steps: usize) -> Self {
        Self {
            sequence: 0,
            steps: vec![StepFacts::default(); steps],
            own: FxHashMap::default(),
            rollbacks: Vec::new(),
            canceled: None,
            first_failure: None,
            failures: Vec::new(),
            leaks: Vec::new(),
            finished: None,
            ended: 0,
        }
    }

    pub(crate) fn track(&self, key: Key) -> Option<&Track> {
        let step = self.steps.get(key.step.index())?;
        if key.undo { step.undo.as_deref() } else { Some(&step.forward) }
    }

    fn track_mut(&mut self, key: Key) -> Option<&mut Track> {
        let step = self.steps.get_mut(key.step.index())?;
        Some(if key.undo { step.undo.get_or_insert_default() } else { &mut step.forward })
    }

    /// Takes a fact. `is_leak` says whether the failure of a step leaves the operation whole.
    pub(crate) fn apply(&mut self, entry: &JournalEntry, plan: &Plan, is_leak: impl Fn(StepId) -> bool) {
        self.sequence = entry.sequence + 1;
        match &entry.entry {
            Entry::Started { .. } => {}
            Entry::Intent { intent, .. } => {
                let Some(track) = self.begin(Key::of(intent.step, intent.kind), entry.at) else { return };
                track.phase = Phase::Calling;
                track.attempt = intent.attempt;
                track.calls += 1;
                track.not_after = intent.not_after;
                track.acts_on.clone_from(&intent.native_id);
            }
            Entry::Accepted { attempt, request_id, poll_at, deadline, .. } => {
                let Some(track) = self.begin(Key::of(attempt.step, attempt.kind), entry.at) else { return };
                track.attempt = attempt.number;
                track.phase = Phase::Accepted {
                    request_id: request_id.clone(),
                    poll_at: *poll_at,
                    deadline: *deadline,
                };
            }
            Entry::RetryAt { attempt, at, failure, in_doubt } => {
                let Some(track) = self.begin(Key::of(attempt.step, attempt.kind), entry.at) else { return };
                track.attempt = attempt.number;
                track.phase = Phase::Backoff { at: *at };
                track.retries += 1;
                track.in_doubt = *in_doubt;
                track.failure = Some(Box::new(failure.clone()));
            }
            Entry::Ambiguous { attempt, resolve_at, failure } => {
                let Some(track) = self.begin(Key::of(attempt.step, attempt.kind), entry.at) else { return };
                track.attempt = attempt.number;
                track.phase = Phase::Doubtful { resolve_at: *resolve_at };
                track.doubts += 1;
                track.in_doubt = true;
                track.may_land_until = track.may_land_until.max(track.not_after);
                track.failure = Some(Box::new(failure.clone()));
            }
            Entry::Settled { step, kind, row, outcome } => {
                let key = Key { step: *step, undo: *kind == Some(IntentKind::Undo) };
                self.settle(key, row, outcome, plan, is_leak);
            }
            Entry::RollbackStarted { step, failure } => self.rollbacks.push((*step, failure.clone())),
            Entry::CancelRequested { force } => {
                self.canceled = Some(*force || self.canceled == Some(true));
                self.first_failure.get_or_insert(FirstFailure::Cancel);
            }
            Entry::Finished { status, failure } => self.finished = Some((*status, failure.clone())),
        }
    }

    fn begin(&mut self, key: Key, at: Timestamp) -> Option<&mut Track> {
        let track = self.track_mut(key)?;
        if track.phase == Phase::Waiting {
            track.since = at;
        }
        Some(track)
    }

    fn settle(
        &mut self,
        key: Key,
        row: &RowId,
        outcome: &Outcome,
        plan: &Plan,
        is_leak: impl Fn(StepId) -> bool,
    ) {
        let order = self.ended;
        self.ended += 1;
        let action = plan.step(key.step).map(|step| &step.action);
        let own = self.own.entry(row.clone()).or_default();
        let ending = match outcome {
            Outcome::Present { object, deposes } => {
                own.rises += 1;
                let replaced = *deposes || action == Some(&Action::Replace);
                Ending { how: End::Present, order, made: Some(object.native_id.clone()), replaced }
            }
            Outcome::Partial { object, .. } => {
                Ending { how: End::Partial, order, made: Some(object.native_id.clone()), replaced: false }
            }
            // What it adopted is what rollback has to release.
            Outcome::Recorded { object: Some(object) } if matches!(action, Some(Action::Adopt { .. })) => {
                Ending { how: End::Recorded, order, made: Some(object.native_id.clone()), replaced: false }
            }
            other => Ending { how: End::of(other), order, made: None, replaced: false },
        };
        if ending.how == End::Absent {
            own.rises += 1;
            own.deleted_first |= action == Some(&Action::Delete { replacing: true });
        }
        own.resolved |= action == Some(&Action::Resolve) && ending.how == End::Present;
        let how = ending.how;
        let Some(track) = self.track_mut(key) else { return };
        let again = track.is_settled();
        track.phase = Phase::Settled(ending);
        track.in_doubt = false;
        track.failure = outcome.failure().cloned().map(Box::new).or(track.failure.take());
        if key.undo || how.is_success() || again {
            return;
        }
        let stays = how == End::Skipped && matches!(plan.step(key.step), Some(step) if removes(step));
        if is_leak(key.step) || stays {
            self.leaks.push(key.step);
        } else if how != End::Skipped {
            self.failures.push(key.step);
            self.first_failure.get_or_insert(FirstFailure::Step(key.step));
        }
    }

    /// The object that a step deposed by replacing it, as far as the plan or its call names it.
    pub(crate) fn deposed_by(&self, step: StepId, plan: &Plan) -> Option<NativeId> {
        match &plan.step(step)?.guard {
            Guard::Unchanged { native_id, .. } => Some(native_id.clone()),
            _ => self.steps.get(step.index())?.forward.acts_on.clone(),
        }
    }
}

fn removes(step: &Step) -> bool {
    step.action == Action::Delete { replacing: false }
}
