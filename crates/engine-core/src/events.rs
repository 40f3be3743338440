//! What people see of an operation.

use crate::facts::{End, Key};
use crate::operation::Operation;
use formwork_model::{
    Action, Event, EventAction, EventStatus, EventSubject, Failure, NativeId, Outcome, RowId, Step, Timestamp,
};

impl Operation {
    /// An event about the operation itself: one per stack.
    pub(crate) fn announce(
        &self,
        now: Timestamp,
        status: EventStatus,
        failure: Option<&Failure>,
        note: Option<&str>,
    ) -> Vec<Event> {
        let event = |stack: &formwork_model::PlannedStack| Event {
            sequence: 0,
            at: now,
            operation: self.id.clone(),
            stack: stack.id.clone(),
            subject: None,
            action: EventAction::Operation,
            status,
            native_id: None,
            failure: failure.cloned(),
            attempt: None,
            note: note.map(str::to_owned),
        };
        self.plan.stacks.iter().map(event).collect()
    }

    /// A call is about to be made.
    pub(crate) fn tell_started(&mut self, now: Timestamp, key: Key, row: &RowId, attempt: u32) {
        let Some(action) = self.plan.step(key.step).map(|step| action_of(step, key, None)) else { return };
        self.tell(now, key, row, action, EventStatus::Started, |event| event.attempt = Some(attempt));
    }

    /// Something is awaited.
    pub(crate) fn tell_waiting(&mut self, now: Timestamp, key: Key, failure: Option<Failure>, note: &str) {
        let Some(step) = self.plan.step(key.step) else { return };
        let action = action_of(step, key, None);
        let row = self.row_id(&step.row);
        let attempt = self.facts.track(key).map(|track| track.attempt).filter(|attempt| *attempt > 0);
        self.tell(now, key, &row, action, EventStatus::Waiting, |event| {
            event.attempt = attempt;
            event.failure = failure;
            event.note = Some(note.to_owned());
        });
    }

    /// A step, or its undo, is over. Some ends are nobody's news: a read that went well, a delete or
    /// cleanup that was not needed.
    pub(crate) fn tell_settled(&mut self, now: Timestamp, key: Key, row: &RowId, outcome: &Outcome) {
        let Some(step) = self.plan.step(key.step) else { return };
        let is_no_op = matches!(outcome, Outcome::NoOp);
        let silent = match step.action {
            Action::Cleanup { .. } | Action::Delete { .. } => is_no_op,
            Action::Read => outcome.is_success(),
            _ => false,
        };
        if silent && !key.undo {
            return;
        }
        let action = action_of(step, key, Some(outcome));
        let status = match outcome {
            Outcome::Skipped { .. } => EventStatus::Skipped,
            other if other.is_success() => EventStatus::Succeeded,
            _ => EventStatus::Failed,
        };
        let native_id = named_object(outcome)
            .or_else(|| self.facts.track(key)?.acts_on.clone())
            .or_else(|| Some(self.rows.get(row)?.current.as_ref()?.native_id.clone()));
        let attempt = self.facts.track(key).map(|track| track.attempt).filter(|attempt| *attempt > 0);
        let skipped = End::of(outcome) == End::Skipped;
        self.tell(now, key, row, action, status, |event| {
            event.native_id = native_id;
            event.attempt = attempt;
            match outcome.failure() {
                Some(failure) if skipped => event.note = Some(failure.message.clone()),
                failure => event.failure = failure.cloned(),
            }
        });
    }

    fn tell(
        &mut self,
        now: Timestamp,
        key: Key,
        row: &RowId,
        action: EventAction,
        status: EventStatus,
        fill: impl FnOnce(&mut Event),
    ) {
        let Some(step) = self.plan.step(key.step) else { return };
        let mut event = Event {
            sequence: 0,
            at: now,
            operation: self.id.clone(),
            stack: step.stack.clone(),
            subject: Some(EventSubject {
                row: row.clone(),
                label: step.label.clone(),
                type_name: step.type_name.clone(),
                step: step.id,
            }),
            action,
            status,
            native_id: None,
            failure: None,
            attempt: None,
            note: None,
        };
        fill(&mut event);
        self.out.events.push(event);
    }
}

fn named_object(outcome: &Outcome) -> Option<NativeId> {
    match outcome {
        Outcome::Present { object, .. } | Outcome::Partial { object, .. } => Some(object.native_id.clone()),
        Outcome::Absent { native_id } | Outcome::Kept { native_id } => Some(native_id.clone()),
        Outcome::Recorded { object } => object.as_ref().map(|object| object.native_id.clone()),
        _ => None,
    }
}

/// What an event calls the step: by what became of it, once that is known.
fn action_of(step: &Step, key: Key, outcome: Option<&Outcome>) -> EventAction {
    if key.undo {
        return match outcome {
            Some(Outcome::Kept { .. } | Outcome::Skipped { .. }) => EventAction::RollbackSkipped,
            _ => EventAction::Rollback,
        };
    }
    let base = match &step.action {
        Action::Create => EventAction::Create,
        Action::Update => EventAction::Update,
        Action::Replace => EventAction::Replace,
        Action::Delete { .. } | Action::Forget => EventAction::Delete,
        Action::Cleanup { .. } => EventAction::ReplaceCleanup,
        Action::Adopt { .. } => EventAction::Adopt,
        Action::Rename { .. } | Action::Read | Action::Record => EventAction::Record,
        Action::Resolve => EventAction::Resolve,
        Action::NoOp => EventAction::NoOp,
    };
    match (outcome, base) {
        (Some(Outcome::Present { deposes: true, .. }), EventAction::Update) => EventAction::Replace,
        (Some(Outcome::Kept { .. }), EventAction::ReplaceCleanup) => EventAction::ReplaceRetained,
        (Some(Outcome::NoOp), EventAction::Create | EventAction::Update | EventAction::Replace) => {
            EventAction::NoOp
        }
        (
            Some(Outcome::Recorded { .. }),
            EventAction::Create | EventAction::Update | EventAction::Replace,
        ) => EventAction::Record,
        (_, base) => base,
    }
}
