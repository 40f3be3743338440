//! How an operation ends, and what it says then.

use crate::Act;
use crate::facts::{FirstFailure, Key};
use crate::operation::Operation;
use crate::stop::canceled;
use formwork_model::{
    Action, Entry, EventStatus, Failure, Json, NativeId, OperationKind, OperationStatus, StepId, Timestamp,
    WireCode,
};
use serde_json::json;

/// How many failures the bag of an operation lists; its events list all.
const MOST_FAILURES: usize = 100;

impl Operation {
    /// Ends the operation if nothing is left to do or to wait for.
    pub(crate) fn finish_if_done(&mut self, now: Timestamp) -> bool {
        let idle = self.live.is_empty() && self.again.is_empty();
        if self.schedule.open > 0 || !idle || self.undo_is_open() {
            return false;
        }
        let (status, failure) = self.verdict();
        self.record(now, Entry::Finished { status, failure: failure.clone() });
        let ended = match status {
            OperationStatus::Succeeded => EventStatus::Succeeded,
            _ => EventStatus::Failed,
        };
        let events = self.announce(now, ended, failure.as_ref(), None);
        self.out.events.extend(events);
        self.out.then.push(Act::Finish { status, failure });
        true
    }

    fn verdict(&self) -> (OperationStatus, Option<Failure>) {
        match &self.facts.first_failure {
            Some(FirstFailure::Cancel) => (OperationStatus::Failed, Some(canceled())),
            Some(FirstFailure::Step(_)) if self.plan.kind == OperationKind::Delete => {
                (OperationStatus::Failed, Some(self.not_torn_down()))
            }
            Some(FirstFailure::Step(step)) => (OperationStatus::Failed, Some(self.failed_at(*step))),
            None if self.plan.kind == OperationKind::Delete => (OperationStatus::Succeeded, None),
            None => (OperationStatus::Succeeded, self.leaks()),
        }
    }

    /// The failure of one step, as the operation's (seed 4, "A Failed Deploy Still Answers 2xx").
    fn failed_at(&self, step: StepId) -> Failure {
        let mut failure = self.last_failure(Key::forward(step));
        let mut meta = match failure.meta.take() {
            Some(Json::Object(meta)) => meta,
            Some(other) => serde_json::Map::from_iter([("details".to_owned(), other)]),
            None => serde_json::Map::new(),
        };
        if let Some(step) = self.step(step) {
            meta.insert("logical_id".to_owned(), json!(step.label));
            meta.insert("resource_type".to_owned(), json!(step.type_name));
        }
        if self.facts.failures.len() > 1 {
            meta.insert("failures".to_owned(), self.list(&self.facts.failures, false));
            let others = self.facts.failures.len() - 1;
            failure.message = format!("{} ({others} more failed)", failure.message);
        }
        failure.meta(Json::Object(meta))
    }

    /// `formations-behaviour.md` §3.9.
    fn not_torn_down(&self) -> Failure {
        let failures = &self.facts.failures;
        let formation = self.plan.stacks.first().map_or("", |stack| stack.id.as_str());
        let message = format!(
            "Formation '{formation}' could not be fully deleted; {} resource(s) could not be removed: {}. The \
             formation is left in 'delete_failed'; resolve these and delete it again.",
            failures.len(),
            self.named(failures)
        );
        let bag = Failure::new(WireCode::FormationDeleteFailed, message);
        bag.meta(json!({ "failures": self.list(failures, false) }))
    }

    /// What a deploy that succeeded could not remove (`formations-behaviour.md` §3.6): nothing that
    /// is declared is missing, but it must not go unseen.
    fn leaks(&self) -> Option<Failure> {
        let is_cleanup = |step: &&StepId| {
            self.step(**step).is_some_and(|step| matches!(step.action, Action::Cleanup { .. }))
        };
        let (cleanups, removals): (Vec<_>, Vec<_>) = self.facts.leaks.iter().partition(is_cleanup);
        let mut sentences = Vec::new();
        if !cleanups.is_empty() {
            let objects: Vec<_> =
                cleanups.iter().take(MOST_FAILURES).map(|step| self.leaked(*step)).collect();
            sentences.push(format!(
                "The deploy succeeded, but {} replaced resource(s) could not be deleted and are still live: {}. \
                 They stay on the formation as pending cleanup and are retried on the next deploy or teardown.",
                cleanups.len(),
                objects.join(", ")
            ));
        }
        if !removals.is_empty() {
            sentences.push(format!(
                "The deploy succeeded, but {} removed resource(s) could not be deleted and are still live: {}. \
                 They stay on the formation and are retried on the next deploy or teardown.",
                removals.len(),
                self.named(&removals)
            ));
        }
        let code = match (cleanups.is_empty(), removals.is_empty()) {
            (true, true) => return None,
            (false, _) => WireCode::FormationReplaceCleanupFailed,
            (true, false) => WireCode::FormationDeleteFailed,
        };
        let all: Vec<_> = cleanups.into_iter().chain(removals).collect();
        Some(Failure::new(code, sentences.join(" ")).meta(json!({ "failures": self.list(&all, true) })))
    }

    fn leaked(&self, step: StepId) -> String {
        let object = self.leaked_object(step);
        let label = self.step(step).map_or("", |step| step.label.as_str());
        format!("{} ({label})", object.as_ref().map_or("", NativeId::as_str))
    }

    fn leaked_object(&self, step: StepId) -> Option<NativeId> {
        if let Some(object) = self.facts.steps.get(step.index())?.forward.acts_on.clone() {
            return Some(object);
        }
        let planned = self.step(step)?;
        match &planned.action {
            Action::Cleanup { native_id: Some(native_id) } => Some(native_id.clone()),
            Action::Cleanup { native_id: None } => match &planned.when {
                formwork_model::Condition::Replaced(on) => self.facts.deposed_by(*on, &self.plan),
                _ => None,
            },
            _ => self.row_of(step)?.current.as_ref().map(|object| object.native_id.clone()),
        }
    }

    fn named(&self, steps: &[StepId]) -> String {
        let named = steps.iter().take(MOST_FAILURES).filter_map(|step| self.step(*step));
        let named: Vec<_> = named.map(|step| format!("{} ({})", step.label, step.type_name)).collect();
        named.join(", ")
    }

    fn list(&self, steps: &[StepId], with_object: bool) -> Json {
        let entry = |step: &StepId| {
            let planned = self.step(*step)?;
            let mut entry = serde_json::Map::new();
            entry.insert("logical_id".to_owned(), json!(planned.label));
            entry.insert("resource_type".to_owned(), json!(planned.type_name));
            if with_object && let Some(object) = self.leaked_object(*step) {
                entry.insert("physical_resource_id".to_owned(), json!(object));
            }
            entry.insert("error".to_owned(), json!(self.last_failure(Key::forward(*step)).message));
            Some(Json::Object(entry))
        };
        steps.iter().take(MOST_FAILURES).filter_map(entry).collect()
    }
}
