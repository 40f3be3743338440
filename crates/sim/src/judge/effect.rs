//! Judging each effect at the moment at which it appears: INV-1, INV-2, INV-6, INV-7.

use super::Invariant;
use crate::provider::{Change, Effect, Mark};
use crate::ready::ready;
use crate::world::World;
use formwork_model::{
    Action, Certainty, DeletionPolicy, Entry, IntentKind, JournalEntry, NativeId, Object, OperationId,
    Outcome, RowId, StepId,
};
use formwork_store::Store as _;

impl World {
    /// Judges a line of the provider's log that was just written.
    pub(crate) fn judge_effect(&mut self, at: usize) {
        let Some(effect) = self.provider.log().get(at).cloned() else { return };
        let Some(mark) = effect.mark.clone() else { return };
        self.judge_intent(&mark);
        self.judge_fidelity(&effect, &mark);
        match &effect.change {
            Change::Created(_) => {
                // An object that a caller names can come back under the id of one that vanished.
                self.lost.remove(&effect.native_id);
                self.judge_single(&effect, &mark);
                self.judge_dependencies(&effect);
            }
            Change::Updated(_) => self.judge_dependencies(&effect),
            Change::Deleted => {
                self.judge_dependents(&effect, &mark);
                self.judge_retained(&effect, &mark);
            }
        }
    }

    pub(super) fn journal_of(&self, operation: &OperationId) -> Vec<JournalEntry> {
        ready(self.store.reader().journal(operation)).unwrap_or_default()
    }

    /// INV-1: the intent is in the journal before its effect appears.
    fn judge_intent(&mut self, mark: &Mark) {
        if !self.has_intent(mark) {
            let what = format!(
                "{:?} of `{}` (step {}, attempt {}) took effect without an intent in the journal",
                mark.kind, mark.label, mark.step, mark.attempt
            );
            self.violated(Invariant::NoLostEffect, what);
        }
    }

    fn has_intent(&self, mark: &Mark) -> bool {
        self.journal_of(&mark.operation).iter().any(|entry| match &entry.entry {
            Entry::Intent { row, intent } => {
                *row == mark.row
                    && intent.step == mark.step
                    && intent.kind == mark.kind
                    && intent.attempt == mark.attempt
            }
            _ => false,
        })
    }

    /// INV-1 again, once a crash has shown what was durable: each effect so far has its intent.
    pub(crate) fn judge_after_crash(&mut self) {
        let open = self.runs.iter().filter(|(_, run)| run.ended.is_none());
        let open: Vec<OperationId> = open.map(|(id, _)| id.clone()).collect();
        let marks: Vec<Mark> = self
            .provider
            .log()
            .iter()
            .filter_map(|effect| effect.mark.clone())
            .filter(|mark| open.contains(&mark.operation))
            .collect();
        for mark in marks {
            self.judge_intent(&mark);
        }
    }

    /// INV-2: the object is the only live one of its row's incarnation. An older object may live on
    /// beside it if its row knows it: it is deposed, tainted, or about to be replaced, and was made
    /// under an earlier generation.
    fn judge_single(&mut self, effect: &Effect, mark: &Mark) {
        if mark.kind != IntentKind::Create {
            // A discovered replacement makes an object beside the old one, on purpose.
            return;
        }
        let rows = self.ledger();
        let known: Vec<&Object> = rows
            .iter()
            .filter(|row| row.id == mark.row)
            .flat_map(|row| row.current.iter().chain(&row.deposed))
            .collect();
        let twin = self.provider.objects().iter().find(|(id, object)| {
            let Some(other) = object.mark.as_ref().filter(|other| other.row == mark.row) else {
                return false;
            };
            let known = known.iter().find(|object| object.native_id == **id);
            let may_stay = known.is_some_and(|object| {
                other.generation != mark.generation || object.certainty == Certainty::Tainted
            });
            **id != effect.native_id && !may_stay && !self.is_released(id)
        });
        if let Some((twin, _)) = twin {
            let what = format!("`{}` was made for `{}` while `{twin}` lives", effect.native_id, mark.label);
            self.violated(Invariant::NoDoubleCreate, what);
        }
    }

    /// Whether an operation let go of an object on purpose: it was kept, or its row was dropped.
    pub(super) fn is_released(&self, id: &NativeId) -> bool {
        self.released.contains(id)
    }

    /// INV-6: what an object refers to is there.
    fn judge_dependencies(&mut self, effect: &Effect) {
        let Some(object) = self.provider.object(&effect.native_id) else { return };
        let missing: Vec<String> = object
            .uses()
            .filter(|id| {
                let id = NativeId::from(*id);
                self.provider.object(&id).is_none() && !self.lost.contains(&id)
            })
            .map(str::to_owned)
            .collect();
        if !missing.is_empty() {
            let what =
                format!("`{}` refers to `{}`, which is not there", effect.native_id, missing.join("`, `"));
            self.violated(Invariant::Order, what);
        }
    }

    /// INV-6: what refers to an object is gone before it, unless the plan replaces it by deleting
    /// first, or leaves the referrer alone on purpose.
    fn judge_dependents(&mut self, effect: &Effect, mark: &Mark) {
        if self.replaces_first(&mark.operation, mark.step) {
            return;
        }
        let owned = self.owned();
        let referrer = self.provider.objects().iter().find(|(id, object)| {
            object.uses().any(|used| used == effect.native_id.as_str())
                && owned.contains(*id)
                && !self.is_older(id, &effect.native_id)
        });
        if let Some((referrer, object)) = referrer {
            // A retained referrer leaves the ledger only when its own step settles.
            let row_of_referrer = self
                .ledger()
                .into_iter()
                .find(|row| row.current.iter().any(|current| current.native_id == *referrer));
            let stays = row_of_referrer
                .as_ref()
                .and_then(|row| row.current.as_ref())
                .is_some_and(|current| current.deletion_policy != DeletionPolicy::Delete);
            let is_tainted = row_of_referrer
                .as_ref()
                .and_then(|row| row.current.as_ref())
                .is_some_and(|current| current.certainty != Certainty::Certain);
            // Its create counted as unknown, and its answer overtook a delete that was on its way.
            let is_late = row_of_referrer.is_some_and(|row| self.was_unknown(&mark.operation, &row.id));
            if stays || is_tainted || is_late {
                return;
            }
            let label = object.mark.as_ref().map(|mark| mark.label.to_string()).unwrap_or_default();
            let what = format!(
                "`{}` (`{}`) was deleted while `{referrer}` (`{label}`) refers to it",
                effect.native_id, mark.label
            );
            self.violated(Invariant::Order, what);
        }
    }

    fn was_unknown(&self, operation: &OperationId, row: &RowId) -> bool {
        self.journal_of(operation).iter().any(|entry| match &entry.entry {
            Entry::Settled { row: settled, outcome: Outcome::Unknown { .. }, .. } => settled == row,
            _ => false,
        })
    }

    /// Whether the referrer was last written before the object was made: it refers to an earlier
    /// one of the same name, which is gone already.
    fn is_older(&self, referrer: &NativeId, object: &NativeId) -> bool {
        let log = self.provider.log();
        let written = log
            .iter()
            .rposition(|effect| effect.native_id == *referrer && !matches!(effect.change, Change::Deleted));
        let made = log
            .iter()
            .rposition(|effect| effect.native_id == *object && matches!(effect.change, Change::Created(_)));
        written < made
    }

    fn replaces_first(&self, operation: &OperationId, step: StepId) -> bool {
        self.runs.get(operation).is_some_and(|run| {
            run.plan.step(step).is_some_and(|step| step.action == Action::Delete { replacing: true })
        })
    }

    /// INV-7: an object whose policy is not to delete is not deleted.
    fn judge_retained(&mut self, effect: &Effect, mark: &Mark) {
        let row = self.ledger().into_iter().find(|row| row.id == mark.row);
        let object = row.and_then(|row| {
            row.current.into_iter().chain(row.deposed).find(|object| object.native_id == effect.native_id)
        });
        let by_ledger = object.map(|object| object.deletion_policy);
        let by_plan = self
            .runs
            .get(&mark.operation)
            .and_then(|run| run.plan.step(mark.step).map(|step| step.deletion_policy));
        if by_plan.or(by_ledger).is_some_and(|policy| policy != DeletionPolicy::Delete) {
            let what = format!("`{}` (`{}`) was deleted though it is to stay", effect.native_id, mark.label);
            self.violated(Invariant::Retain, what);
        }
    }
}
