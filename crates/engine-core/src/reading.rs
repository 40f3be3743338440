//! What a read before a call, or instead of one, found.

use crate::facts::Key;
use crate::inputs::Prepared;
use crate::live::State;
use crate::operation::Operation;
use crate::step::{adopted, drifted};
use crate::{Act, ReadAnswer, Timer, TimerKey, backoff};
use formwork_model::{
    Action, Attempt, Entry, Failure, Guard, OperationErrorCode as Code, Outcome, Plan, RetryRule, Step,
    StepId, Stored, Timestamp, WireCode, fingerprint,
};
use std::sync::Arc;

impl Operation {
    pub(crate) fn on_read(&mut self, now: Timestamp, step: StepId, answer: ReadAnswer) {
        let key = Key::forward(step);
        if !matches!(self.state(key), Some(State::Reading(_))) {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let Some(step) = plan.step(step) else { return };
        let Some(State::Reading(prepared)) = self.take_live(key) else { return };
        match answer {
            ReadAnswer::Present { properties } => self.is_there(now, &plan, step, *prepared, properties),
            ReadAnswer::Gone | ReadAnswer::Failed { code: Some(Code::NotFound), .. } => {
                self.is_gone(now, &plan, step, *prepared);
            }
            ReadAnswer::Failed { .. } if self.is_idle(step, &prepared) => {
                self.settle(now, key, Outcome::NoOp);
            }
            ReadAnswer::Failed { code, failure } => self.read_failed(now, step, code, failure),
        }
    }

    fn is_there(&mut self, now: Timestamp, plan: &Plan, step: &Step, mut prepared: Prepared, seen: Stored) {
        let key = Key::forward(step.id);
        match &step.action {
            Action::Create => {
                let failure = drifted(step, "it was seen to be gone, and exists again");
                self.settle(now, key, Outcome::Failed { failure });
            }
            Action::Adopt { .. } if moved(&step.guard, &seen) => {
                let failure = drifted(step, "it was changed outside since the plan was made");
                self.settle(now, key, Outcome::Failed { failure });
            }
            Action::Adopt { native_id } => {
                let mut object = adopted(step, native_id, seen.clone());
                object.observed = Some((seen, now));
                self.settle(now, key, Outcome::Recorded { object: Some(Box::new(object)) });
            }
            Action::Read => {
                let current = self.row_for(&step.row).and_then(|row| row.current.clone());
                let object = current.map(|mut object| {
                    object.observed = Some((seen, now));
                    Box::new(object)
                });
                self.settle(now, key, Outcome::Recorded { object });
            }
            _ if moved(&step.guard, &seen) && self.is_idle(step, &prepared) => {
                self.settle(now, key, Outcome::NoOp);
            }
            _ if moved(&step.guard, &seen) => {
                let failure = drifted(step, "it was changed outside since the plan was made");
                self.settle(now, key, Outcome::Failed { failure });
            }
            _ => {
                prepared.observed = Some(seen);
                self.arrange(now, plan, step, prepared);
            }
        }
    }

    /// Deleting what is gone is done (seed 4: "Deletion is idempotent"); anything else has drifted.
    fn is_gone(&mut self, now: Timestamp, plan: &Plan, step: &Step, prepared: Prepared) {
        if step.action == Action::Create {
            return self.arrange(now, plan, step, prepared);
        }
        if self.is_idle(step, &prepared) {
            return self.settle(now, Key::forward(step.id), Outcome::NoOp);
        }
        let guarded = match &step.guard {
            Guard::Unchanged { native_id, .. } => Some(native_id.clone()),
            _ => None,
        };
        let outcome = match (&step.action, guarded) {
            (Action::Delete { .. } | Action::Cleanup { .. }, Some(native_id)) => {
                Outcome::Absent { native_id }
            }
            (Action::Adopt { .. } | Action::Read, _) => Outcome::Failed {
                failure: Failure::new(
                    WireCode::ResourceNotFound,
                    format!("`{}` does not exist.", step.label),
                ),
            },
            _ => Outcome::Failed { failure: drifted(step, "it was deleted outside") },
        };
        self.settle(now, Key::forward(step.id), outcome);
    }

    fn read_failed(&mut self, now: Timestamp, step: &Step, code: Option<Code>, failure: Failure) {
        let key = Key::forward(step.id);
        let passing = match code {
            None => true,
            Some(code) => matches!(
                code,
                Code::Throttling | Code::ServiceUnavailable | Code::InternalFailure | Code::NotStabilized
            ),
        };
        let allowed = self.capabilities(step).is_some_and(|found| found.retry == RetryRule::ByCode);
        if passing && allowed && self.may_try_again(key) && !self.is_stopped(key) {
            self.back_off(now, key, failure);
        } else {
            self.settle(now, key, Outcome::Failed { failure });
        }
    }

    /// Puts a step off, or its undo: the next attempt is due later.
    pub(crate) fn back_off(&mut self, now: Timestamp, key: Key, failure: Failure) {
        let Some(track) = self.facts.track(key) else { return };
        let at = now.plus(backoff::pause(&self.limits, self.seed, key, track.retries + track.doubts));
        self.put_off(now, key, at, failure, false);
    }

    /// The delete is done, but an earlier call of it may still come: it is made once more when no
    /// earlier one can follow, and only then counts.
    pub(crate) fn delete_again(&mut self, now: Timestamp, key: Key, at: Timestamp) {
        let failure = Failure::new(
            WireCode::OutcomeUnknown,
            "An earlier call to delete it was never answered and may still take effect.",
        );
        self.put_off(now, key, at, failure, true);
    }

    fn put_off(&mut self, now: Timestamp, key: Key, at: Timestamp, failure: Failure, in_doubt: bool) {
        let Some(track) = self.facts.track(key) else { return };
        let attempt = Attempt { step: key.step, kind: self.kind(key), number: track.attempt };
        self.record(now, Entry::RetryAt { attempt, at, failure: failure.clone(), in_doubt });
        self.set_live(now, key, State::Backoff);
        let why = if in_doubt {
            "waiting until no earlier call can take effect"
        } else {
            "waiting for the next attempt"
        };
        self.tell_waiting(now, key, Some(failure), why);
        let timer = Timer { key: TimerKey::Retry(key.step, attempt.kind), at };
        self.out.then.push(Act::SetTimer(timer));
    }
}

fn moved(guard: &Guard, seen: &Stored) -> bool {
    match guard {
        Guard::Unchanged { baseline: Some(baseline), .. } => fingerprint(seen) != *baseline,
        _ => false,
    }
}
