//! Rollback: what a failed operation created is deleted again, dependents first, newest first (seed
//! 4, "Rollback on a Failed Deploy").

use crate::facts::{End, Ending, Key};
use crate::live::Errand;
use crate::operation::Operation;
use formwork_model::{Action, Failure, NativeId, Outcome, StepId, Timestamp, Undo, WireCode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Newest first.
type Newest = BTreeSet<(Reverse<u32>, StepId)>;

/// The undos of one stack.
#[derive(Debug, Default)]
pub(crate) struct StackUndo {
    stage: Stage,
    /// For each step that began, how many of its dependents are not undone yet.
    waiting: FxHashMap<StepId, u32>,
    ready: Newest,
    /// Ready, of types that run one at a time.
    ready_serial: Newest,
    serial_busy: bool,
    /// Steps that count as undone for what they build on. One whose late answer came after that may
    /// have an undo of its own, but counts once.
    counted: FxHashSet<StepId>,
    /// Whose objects must stay, and because of which step that was not undone.
    held: FxHashMap<StepId, StepId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Not begun: nothing failed, or something is still in flight.
    #[default]
    Before,
    Undoing,
}

impl Operation {
    /// Whether something is to be undone or will be.
    pub(crate) fn undo_is_open(&self) -> bool {
        (0..self.undoing.len()).any(|stack| {
            let undo = &self.undoing[stack];
            self.will_undo(stack)
                && (undo.stage == Stage::Before || !undo.ready.is_empty() || !undo.ready_serial.is_empty())
        })
    }

    fn will_undo(&self, stack: usize) -> bool {
        self.stopped[stack] && self.layout.stacks[stack].rolls_back && self.facts.canceled != Some(true)
    }

    /// Begins an undo that may begin.
    pub(crate) fn advance_undo(&mut self, now: Timestamp) -> bool {
        for stack in 0..self.undoing.len() {
            if !self.will_undo(stack) {
                continue;
            }
            if self.undoing[stack].stage == Stage::Before {
                if !self.is_drained(stack) {
                    continue;
                }
                self.plan_undo(now, stack);
                return true;
            }
            if let Some(step) = self.next_undo(stack) {
                self.undo(now, stack, step);
                return true;
            }
        }
        false
    }

    /// Whether nothing of a stack is in flight, and nothing of another that builds on it.
    fn is_drained(&self, stack: usize) -> bool {
        if self.schedule.begun_in(stack) > 0 {
            return false;
        }
        if self.layout.stacks.len() == 1 {
            return true;
        }
        let builds_on = |key: &Key| {
            let step = self.step(key.step);
            step.is_some_and(|step| {
                step.after_steps
                    .iter()
                    .any(|on| self.step(*on).is_some() && self.layout.stack_of(*on) == stack)
            })
        };
        !self.live.keys().chain(&self.again).any(|key| !key.undo && builds_on(key))
    }

    /// Finds out what waits for what: a step is undone after all steps that build on it, directly
    /// or through steps that have nothing to undo.
    fn plan_undo(&mut self, now: Timestamp, stack: usize) {
        if self.facts.canceled.is_some()
            && !self.facts.rollbacks.iter().any(|(step, _)| self.stops(*step).contains(&stack))
        {
            let failure = crate::stop::canceled();
            self.record(now, formwork_model::Entry::RollbackStarted { step: None, failure });
        }
        self.undoing[stack].stage = Stage::Undoing;
        let began: Vec<StepId> = self.layout.stacks[stack]
            .waves
            .iter()
            .flat_map(|wave| wave.steps.iter().map(|at| StepId(*at)))
            .filter(|step| self.took_part(*step))
            .collect();
        let mut free = Vec::new();
        for step in &began {
            let dependents = self.layout.dependents(*step);
            let count = dependents
                .filter(|other| self.layout.stack_of(*other) == stack && self.took_part(*other))
                .count();
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            self.undoing[stack].waiting.insert(*step, count);
            if count == 0 {
                free.push(*step);
            }
        }
        self.free(stack, free);
    }

    fn took_part(&self, step: StepId) -> bool {
        let ending = self.facts.steps[step.index()].forward.ending();
        ending.is_some_and(|ending| ending.how != End::Skipped)
    }

    /// Makes steps ready to be undone, and, where there is nothing to undo, what they build on.
    fn free(&mut self, stack: usize, mut free: Vec<StepId>) {
        while let Some(step) = free.pop() {
            if !self.needs_undo(step) {
                free.extend(self.count_down(stack, step));
                continue;
            }
            // An earlier process may have left it under way.
            if self.facts.track(Key { step, undo: true }).is_some_and(crate::facts::Track::is_open) {
                self.undoing[stack].serial_busy |= self.layout.is_serial(step);
                continue;
            }
            let order = self.facts.steps[step.index()].forward.ending().map_or(0, |ending| ending.order);
            let undo = &mut self.undoing[stack];
            let ready = if self.layout.is_serial(step) { &mut undo.ready_serial } else { &mut undo.ready };
            ready.insert((Reverse(order), step));
        }
    }

    /// What a step builds on, as far as nothing else that is not undone builds on it too.
    fn count_down(&mut self, stack: usize, step: StepId) -> Vec<StepId> {
        let holder = self.holder(stack, step);
        let Some(planned) = self.plan.step(step) else { return Vec::new() };
        // What stands keeps what it refers to, not all that it was to come after.
        let stands = holder == Some(step) && self.undo_ending(step).is_none();
        let keeps =
            |on: StepId| !stands || self.plan.step(on).is_some_and(|on| planned.references.contains(&on.row));
        let kept: Vec<bool> = planned.after_steps.iter().map(|on| keeps(*on)).collect();
        let StackUndo { waiting, held, counted, .. } = &mut self.undoing[stack];
        let again = !counted.insert(step);
        let mut freed = Vec::new();
        for (on, kept) in planned.after_steps.iter().zip(kept) {
            if let Some(count) = waiting.get_mut(on) {
                if let Some(holder) = holder.filter(|_| kept) {
                    held.entry(*on).or_insert(holder);
                }
                if again {
                    continue;
                }
                *count = count.saturating_sub(1);
                if *count == 0 {
                    freed.push(*on);
                }
            }
        }
        freed
    }

    /// On whose account what a step builds on must stay: its own, if its undo came to nothing, or
    /// that of a step that builds on it, if it had nothing to undo.
    fn holder(&self, stack: usize, step: StepId) -> Option<StepId> {
        if let Some(ending) = self.undo_ending(step) {
            return (!ending.how.is_success()).then_some(step);
        }
        let held = self.undoing[stack].held.get(&step).copied();
        held.or_else(|| self.may_refer(step).then_some(step))
    }

    /// Whether what a step made stands and refers to others: an updated object keeps its new state
    /// (seed 4, "Rollback on a Failed Deploy"), and one whose create has no known outcome may be
    /// there, to be settled by the next deploy.
    fn may_refer(&self, step: StepId) -> bool {
        let updates = self.step(step).is_some_and(|step| step.action == Action::Update);
        updates && self.made_by(step).is_some() || self.is_unknown(step)
    }

    fn is_unknown(&self, step: StepId) -> bool {
        let ending = self.facts.steps.get(step.index()).and_then(|facts| facts.forward.ending());
        ending.is_some_and(|ending| ending.how == End::Unknown)
    }

    fn undo_ending(&self, step: StepId) -> Option<&Ending> {
        self.facts.track(Key { step, undo: true })?.ending()
    }

    fn needs_undo(&self, step: StepId) -> bool {
        let declared = self.step(step).is_some_and(|step| step.undo != Undo::Nothing);
        let undone = self.facts.track(Key { step, undo: true }).is_some_and(crate::facts::Track::is_settled);
        declared && !undone && self.made_by(step).is_some()
    }

    /// The object that a step made.
    pub(crate) fn made_by(&self, step: StepId) -> Option<NativeId> {
        self.facts.steps.get(step.index())?.forward.ending()?.made.clone()
    }

    fn next_undo(&mut self, stack: usize) -> Option<StepId> {
        let slot_free = self.slot_free();
        let undo = &mut self.undoing[stack];
        if !slot_free {
            return None;
        }
        if !undo.serial_busy
            && let Some((_, step)) = undo.ready_serial.pop_first()
        {
            return Some(step);
        }
        undo.ready.pop_first().map(|(_, step)| step)
    }

    fn undo(&mut self, now: Timestamp, stack: usize, step: StepId) {
        let key = Key { step, undo: true };
        let (Some(planned), Some(native_id)) = (self.step(step), self.made_by(step)) else { return };
        if planned.undo == Undo::KeepRetained {
            self.settle(now, key, Outcome::Kept { native_id });
            return;
        }
        if planned.undo == Undo::Release {
            // The object stays, so it does not matter what builds on it; the record goes.
            let outcome = match self.refusal(planned) {
                Some(failure) => Outcome::Failed { failure },
                None => Outcome::Forgotten,
            };
            self.settle(now, key, outcome);
            return;
        }
        if let Some(failure) = self.why_held(stack, step) {
            self.settle(now, key, Outcome::Skipped { failure });
            return;
        }
        if let Some(failure) = self.why_not_undone(step) {
            self.settle(now, key, Outcome::Failed { failure });
            return;
        }
        self.undoing[stack].serial_busy |= self.layout.is_serial(step);
        self.request_permit(now, key, Errand::Delete(native_id));
    }

    /// Why an object must stay: what builds on it could not be undone, and must not be left without
    /// what it refers to. The reason names the failure at the root of it.
    fn why_held(&self, stack: usize, step: StepId) -> Option<Failure> {
        let holder = *self.undoing[stack].held.get(&step)?;
        if self.undo_ending(holder).is_none() {
            let label = self.step(holder).map_or("", |holder| holder.label.as_str());
            let message = if self.is_unknown(holder) {
                format!("kept, because `{label}` may have been created, and would refer to it.")
            } else {
                format!("kept, because `{label}` was updated and refers to it now.")
            };
            return Some(Failure::new(WireCode::Unknown, message));
        }
        let failure = self.last_failure(Key { step: holder, undo: true });
        if self.undo_ending(holder).is_some_and(|ending| ending.how == End::Skipped) {
            return Some(failure);
        }
        let label = self.step(holder).map_or("", |holder| holder.label.as_str());
        let message = format!("kept, because `{label}` could not be undone: {}", failure.message);
        Some(Failure { code: failure.code, message, meta: None })
    }

    /// Why an object must stay: something of another stack, which stays, builds on it, or its row
    /// waits for the outcome of another call, or something of a stack outside this operation refers
    /// to it.
    fn why_not_undone(&self, step: StepId) -> Option<Failure> {
        if let Some(refusal) = self.step(step).and_then(|step| self.refusal(step)) {
            return Some(refusal);
        }
        let user = self.layout.dependents(step).find(|other| {
            let made =
                || self.facts.steps[other.index()].forward.ending().is_some_and(|end| end.made.is_some());
            let stays = !self.stopped[self.layout.stack_of(*other)]
                || self.undo_ending(*other).is_some_and(|ending| !ending.how.is_success());
            stays && made()
        });
        if let Some(user) = user.and_then(|user| self.step(user)) {
            let message = format!("`{}` of another stack builds on it.", user.label);
            return Some(Failure::new(WireCode::Unknown, message));
        }
        let intent = self.row_of(step)?.intent.as_ref()?;
        let message =
            format!("Whether a call of operation `{}` had an effect is not known.", intent.operation);
        Some(Failure::new(WireCode::OutcomeUnknown, message))
    }

    /// An undo is over, well or not: others go on.
    pub(crate) fn undone(&mut self, step: StepId) {
        let stack = self.layout.stack_of(step);
        if self.layout.is_serial(step) {
            self.undoing[stack].serial_busy = false;
        }
        let freed = self.count_down(stack, step);
        self.free(stack, freed);
    }

    /// A step turned out otherwise after all: what it made is undone with the rest.
    pub(crate) fn settled_again(&mut self, step: StepId) {
        let stack = self.layout.stack_of(step);
        if self.undoing[stack].stage == Stage::Undoing && self.needs_undo(step) {
            self.free(stack, vec![step]);
        }
    }
}
