//! How an operation stops: after a failure under `OnFailure::RollBack`, or because someone asked.

use crate::facts::{Key, Phase};
use crate::live::State;
use crate::operation::Operation;
use crate::schedule::{Blocked, Consequence, Place};
use crate::{Act, CallId};
use formwork_model::{Entry, EventStatus, Failure, IntentKind, Outcome, StepId, Timestamp, WireCode};
use std::collections::BTreeSet;

impl Operation {
    /// Takes note of steps that can't begin any more.
    pub(crate) fn on_blocked(&mut self, now: Timestamp, blocked: Blocked) {
        match blocked {
            Blocked::Dependents(step) => {
                self.roll_back_if_due(now, step);
                for dependent in self.layout.dependents(step).collect::<Vec<_>>() {
                    self.skip(now, dependent, step);
                }
            }
            Blocked::LaterWaves(stack, cause) => {
                for step in self.schedule.later_waves(&self.layout, stack).collect::<Vec<_>>() {
                    self.skip(now, step, cause);
                }
            }
        }
    }

    fn roll_back_if_due(&mut self, now: Timestamp, step: StepId) {
        if self.is_leak(step) {
            return;
        }
        let due: Vec<_> = self.stops(Some(step)).into_iter().filter(|stack| !self.stopped[*stack]).collect();
        if due.is_empty() {
            return;
        }
        let failure = self.because_of(step);
        self.record(now, Entry::RollbackStarted { step: Some(step), failure });
        for stack in due {
            self.stop(stack);
        }
        self.abandon_retries(now);
    }

    /// The stacks that a failed step stops; after a cancel, all that roll back.
    pub(crate) fn stops(&self, step: Option<StepId>) -> BTreeSet<usize> {
        match step {
            Some(step) => self.layout.stops(step),
            None => (0..self.layout.stacks.len()).filter(|at| self.layout.stacks[*at].rolls_back).collect(),
        }
    }

    fn skip(&mut self, now: Timestamp, step: StepId, cause: StepId) {
        if matches!(self.schedule.place(step), Place::Idle | Place::Queued) {
            let needless = self.needless_cleanup(step).filter(|_| self.is_leak(cause));
            let skipped = || Outcome::Skipped { failure: self.because_of(cause) };
            let outcome = needless.unwrap_or_else(skipped);
            self.settle(now, Key::forward(step), outcome);
        }
    }

    /// Why steps that wait for this one can't go on: the failure at the root of it.
    pub(crate) fn because_of(&self, step: StepId) -> Failure {
        let track = self.facts.steps.get(step.index()).map(|facts| &facts.forward);
        if let Some(failure) = track.and_then(|track| track.failure.as_deref()) {
            let skipped = track
                .and_then(|track| track.ending())
                .is_some_and(|ending| ending.how == crate::facts::End::Skipped);
            if skipped {
                return failure.clone();
            }
            let label = self.step(step).map_or("", |step| step.label.as_str());
            let message = format!("not begun, because `{label}` failed: {}", failure.message);
            return Failure { code: failure.code.clone(), message, meta: None };
        }
        if self.facts.canceled.is_some() {
            return canceled();
        }
        let rolled = self.facts.rollbacks.last().map(|(_, failure)| failure.clone());
        rolled.unwrap_or_else(|| Failure::new(WireCode::Unknown, "not begun, because its stack rolls back"))
    }

    /// Nothing new starts in this stack. What has not begun is given up without a record: that it
    /// did not begin follows from what did.
    pub(crate) fn stop(&mut self, stack: usize) {
        if std::mem::replace(&mut self.stopped[stack], true) {
            return;
        }
        for wave in 0..self.layout.stacks[stack].waves.len() {
            for at in 0..self.layout.stacks[stack].waves[wave].steps.len() {
                let step = StepId(self.layout.stacks[stack].waves[wave].steps[at]);
                if !self.has_begun(step) {
                    self.give_up_unbegun(step);
                }
            }
        }
    }

    /// Whether the journal says that a step has begun.
    fn has_begun(&self, step: StepId) -> bool {
        self.facts.steps[step.index()].forward.phase != Phase::Waiting
    }

    fn give_up_unbegun(&mut self, step: StepId) {
        let key = Key::forward(step);
        self.take_live(key);
        self.again.remove(&key);
        self.schedule.done(&self.layout, step, Consequence { pass: false, spoils: false });
        let row = self.plan.step(step).map(|step| self.row_id(&step.row));
        if let Some(row) = row {
            self.release(&row, step);
        }
    }

    pub(crate) fn stop_all(&mut self) {
        for stack in 0..self.layout.stacks.len() {
            self.stop(stack);
        }
    }

    /// Whether nothing new starts where a step is. Undos go on.
    pub(crate) fn is_stopped(&self, key: Key) -> bool {
        !key.undo && self.stopped[self.layout.stack_of(key.step)]
    }

    /// Attempts that were put off are not made any more.
    fn abandon_retries(&mut self, now: Timestamp) {
        let waiting = self.live.keys().chain(&self.again).copied();
        let put_off = |key: &Key| {
            self.facts.track(*key).is_some_and(|track| matches!(track.phase, Phase::Backoff { .. }))
        };
        let put_off: Vec<_> = waiting.filter(|key| self.is_stopped(*key) && put_off(key)).collect();
        for key in put_off {
            self.abandon(now, key);
        }
    }

    /// Gives up an attempt that was put off: it had no effect, or, for a delete, perhaps one.
    pub(crate) fn abandon(&mut self, now: Timestamp, key: Key) {
        let failure = self.last_failure(key);
        let called = self.facts.track(key).is_some_and(|track| track.calls > 0);
        let outcome = match self.kind(key) {
            IntentKind::Create | IntentKind::Update => Outcome::Failed { failure },
            _ if called => Outcome::Uncertain { failure },
            _ => Outcome::Failed { failure },
        };
        self.settle(now, key, outcome);
    }

    /// Someone asked to stop: as after a failure, or, by force, at once and without undos.
    pub(crate) fn on_cancel(&mut self, now: Timestamp, force: bool) {
        if self.facts.canceled.is_some_and(|forced| forced || !force) {
            return;
        }
        self.record(now, Entry::CancelRequested { force });
        let note = if force { "canceled by force" } else { "canceled" };
        let events = self.announce(now, EventStatus::Waiting, None, Some(note));
        self.out.events.extend(events);
        self.stop_all();
        if force {
            self.give_up(now);
        } else {
            self.abandon_retries(now);
        }
    }

    /// Stops waiting for anything: what is under way is recorded as not known.
    pub(crate) fn give_up(&mut self, now: Timestamp) {
        self.stop_all();
        let open: Vec<_> =
            self.live.keys().chain(&self.again).copied().collect::<BTreeSet<_>>().into_iter().collect();
        for key in open {
            self.give_up_one(now, key);
        }
    }

    fn give_up_one(&mut self, now: Timestamp, key: Key) {
        let Some(track) = self.facts.track(key).filter(|track| track.is_open()) else {
            self.take_live(key);
            self.again.remove(&key);
            return;
        };
        let attempt = track.attempt;
        let put_off = matches!(track.phase, Phase::Backoff { .. });
        if matches!(self.state(key), Some(State::Calling | State::Polling)) {
            let call = CallId { step: key.step, kind: self.kind(key), attempt };
            self.out.then.push(Act::CancelCall(call));
        }
        if put_off {
            self.abandon(now, key);
        } else {
            let failure = canceled();
            self.end_in_doubt(now, key, failure);
        }
    }
}

/// Why a canceled operation, and what it had not begun, failed.
pub(crate) fn canceled() -> Failure {
    Failure::new(WireCode::Canceled, "The operation was canceled.")
}
