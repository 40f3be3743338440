//! The one place where a fact changes a row: used live, on replay of rows that no store keeps, and
//! by the contract that a store's rows are the fold of its journal.

use formwork_model::{
    Action, Certainty, Entry, Failure, IntentKind, JournalEntry, NativeId, Object, OperationErrorCode,
    Outcome, Plan, Row, RowId, RowRef, RowStatus, Step, StepId,
};

/// Folds a fact into a row and says whether the row changed. The row's revision is the store's
/// matter. `minted` are the ids of the plan's new rows, as the journal's `started` binds them.
///
/// Pure and total: a fact about another row, or about a step that the plan does not have, changes
/// nothing.
pub fn fold(row: &mut Row, entry: &JournalEntry, plan: &Plan, minted: &[RowId]) -> bool {
    match &entry.entry {
        Entry::Intent { row: id, intent } if *id == row.id => {
            if let Some(step) = plan.step(intent.step) {
                add_references(row, step, minted);
            }
            row.intent = Some((**intent).clone());
            true
        }
        Entry::Accepted { attempt, request_id, native_id, .. } => {
            let Some(intent) = &mut row.intent else { return false };
            if intent.operation != entry.operation || intent.step != attempt.step {
                return false;
            }
            intent.request_id = Some(request_id.clone());
            intent.native_id = native_id.clone().or(intent.native_id.take());
            true
        }
        Entry::Settled { step, kind, row: id, outcome } if *id == row.id => {
            let Some(planned) = plan.step(*step) else { return false };
            let pinned = plan.types.get(&planned.type_name);
            let blind = pinned.is_some_and(|pinned| !pinned.capabilities.read);
            let settled = Settled { entry, step: planned, id: *step, kind: *kind, minted, blind };
            settled.fold(row, outcome)
        }
        _ => false,
    }
}

/// A settled step, or undo, that is folded into its row.
struct Settled<'a> {
    entry: &'a JournalEntry,
    step: &'a Step,
    id: StepId,
    kind: Option<IntentKind>,
    minted: &'a [RowId],
    /// Whether objects of the step's type can't be read.
    blind: bool,
}

impl Settled<'_> {
    fn fold(&self, row: &mut Row, outcome: &Outcome) -> bool {
        let acted_on = self.acted_on(row);
        if !matches!(outcome, Outcome::Unknown { .. } | Outcome::Skipped { .. }) {
            self.close_intent(row);
        }
        match outcome {
            Outcome::Present { object, deposes } => self.present(row, object, *deposes),
            Outcome::Absent { native_id } => self.absent(row, native_id),
            Outcome::Kept { native_id } => {
                if matches!(self.step.action, Action::Cleanup { .. }) && !self.is_undo() {
                    row.deposed.retain(|object| object.native_id != *native_id);
                }
            }
            Outcome::NoOp => return self.no_op(row),
            Outcome::Recorded { object } => self.recorded(row, object.as_deref()),
            Outcome::Forgotten => {
                row.current = None;
                row.intent = None;
                self.bury(row);
            }
            Outcome::Failed { failure } => {
                let current = row.current.as_ref().map(|object| &object.native_id);
                if self.proves_absence(failure) && current == acted_on.as_ref() {
                    row.current = None;
                }
                self.failed(row, failure);
            }
            Outcome::Unknown { failure } => self.failed(row, failure),
            Outcome::Partial { object, failure } => {
                // Something was made: the next attempt is another effect and needs another token, or
                // a provider that knows tokens would answer it with this failure for ever.
                row.generation = row.generation.next();
                self.half_made(row, object);
                self.failed(row, failure);
            }
            Outcome::Uncertain { failure } => {
                // Two effects that may both have happened: the first of them, made again, would be
                // answered with what came of it then, and must be another call.
                if doubt(row, acted_on.as_ref()) {
                    row.generation = row.generation.next();
                }
                self.failed(row, failure);
            }
            Outcome::Skipped { .. } => return false,
        }
        true
    }

    fn is_undo(&self) -> bool {
        self.kind == Some(IntentKind::Undo)
    }

    /// An object that an update did not find, of a type that can't be read, is gone: nothing else
    /// would ever tell, and each further update would fail alike.
    fn proves_absence(&self, failure: &Failure) -> bool {
        let not_found = failure.code == OperationErrorCode::NotFound.as_str();
        self.blind && self.kind == Some(IntentKind::Update) && not_found
    }

    /// The object that the step's call acts on.
    fn acted_on(&self, row: &Row) -> Option<NativeId> {
        let named = row.intent.as_ref().and_then(|intent| intent.native_id.clone());
        let current = || row.current.as_ref().map(|object| object.native_id.clone());
        match self.step.action {
            Action::Cleanup { .. } => named,
            _ => named.or_else(current),
        }
    }

    /// The intent is settled: the step's own, or the earlier one that it resolves.
    fn close_intent(&self, row: &mut Row) {
        let own = |intent: &formwork_model::OpenIntent| {
            intent.operation == self.entry.operation && intent.step == self.id
        };
        if row.intent.as_ref().is_some_and(|intent| own(intent) || self.step.action == Action::Resolve) {
            row.intent = None;
        }
    }

    fn present(&self, row: &mut Row, object: &Object, deposes: bool) {
        let before = row.current.replace(object.clone());
        let fresh = before.is_none();
        if let Some(before) = before.filter(|before| deposes && before.native_id != object.native_id) {
            depose(row, before);
        }
        row.deposed.retain(|deposed| deposed.native_id != object.native_id);
        row.generation = row.generation.next();
        row.status = match self.step.action {
            Action::Update | Action::Replace => RowStatus::Updated,
            Action::Resolve if !fresh => RowStatus::Updated,
            _ => RowStatus::Created,
        };
        row.failure = None;
        self.declare(row);
    }

    /// While the row has an object that works it goes on standing for that, and the half-made one is
    /// cleaned up. A create on a row that has an object was planned, and guarded, because that one is
    /// gone; and an object that its caller names is back under the same id.
    fn half_made(&self, row: &mut Row, object: &Object) {
        let works =
            |current: &Object| self.step.action != Action::Create && current.native_id != object.native_id;
        if row.current.as_ref().is_some_and(works) {
            depose(row, object.clone());
        } else {
            row.deposed.retain(|deposed| deposed.native_id != object.native_id);
            row.current = Some(object.clone());
        }
    }

    fn absent(&self, row: &mut Row, native_id: &NativeId) {
        row.generation = row.generation.next();
        let deposed_before = row.deposed.len();
        row.deposed.retain(|object| object.native_id != *native_id);
        if row.deposed.len() < deposed_before {
            return;
        }
        if row.current.as_ref().is_none_or(|current| current.native_id != *native_id) {
            return;
        }
        row.current = None;
        if self.step.action == (Action::Delete { replacing: true }) && !self.is_undo() {
            row.status = RowStatus::Pending;
            return;
        }
        self.bury(row);
    }

    /// Nothing is left that the row stands for. That a step failed, and why, stays readable after its
    /// remains are undone.
    fn bury(&self, row: &mut Row) {
        row.references.clear();
        if !(self.is_undo() && row.status == RowStatus::Failed) {
            row.status = RowStatus::Deleted;
            row.failure = None;
        }
    }

    /// A step whose condition did not hold still brings the declaration's annotations up to date. One
    /// that was never needed changes nothing but what an earlier failure left behind.
    fn no_op(&self, row: &mut Row) -> bool {
        match self.step.action {
            Action::Update | Action::Replace => {
                if let Some(current) = &mut row.current {
                    current.deletion_policy = self.step.deletion_policy;
                }
                recover(row);
                self.declare(row);
                true
            }
            Action::NoOp => recover(row),
            Action::Resolve => true,
            _ => false,
        }
    }

    fn recorded(&self, row: &mut Row, object: Option<&Object>) {
        let had = row.current.is_some();
        if let Some(object) = object {
            row.current = Some(object.clone());
        }
        if matches!(self.step.action, Action::Read | Action::Resolve) {
            return;
        }
        if row.current.is_some() && !matches!(row.status, RowStatus::Created | RowStatus::Updated) {
            row.status = if had { RowStatus::Updated } else { RowStatus::Created };
        }
        if !matches!(self.step.action, Action::Rename { .. }) {
            row.failure = None;
        }
        self.declare(row);
    }

    /// A failed cleanup or undo says nothing about the resource itself; the object stays listed.
    fn failed(&self, row: &mut Row, failure: &Failure) {
        if self.is_undo() || matches!(self.step.action, Action::Cleanup { .. } | Action::Read) {
            return;
        }
        row.status = RowStatus::Failed;
        row.failure = Some(failure.clone());
        if !row.is_live() {
            row.references.clear();
        }
    }

    /// Takes over what the declaration says of the row itself.
    fn declare(&self, row: &mut Row) {
        if matches!(self.step.action, Action::Resolve | Action::Read) {
            return;
        }
        row.label = self.step.label.clone();
        row.position = self.step.position;
        if matches!(self.step.action, Action::Rename { .. }) {
            return;
        }
        row.type_name = self.step.type_name.clone();
        row.metadata.clone_from(&self.step.metadata);
        row.references.clear();
        add_references(row, self.step, self.minted);
    }
}

/// Takes a failure back from a row that stands for what is declared after all: its object is known,
/// and nothing is under way on it. Whether it did.
fn recover(row: &mut Row) -> bool {
    let known = row.current.as_ref().is_some_and(|object| object.certainty == Certainty::Certain);
    let recovers = row.status == RowStatus::Failed && known && row.intent.is_none();
    if recovers {
        row.status = RowStatus::Updated;
        row.failure = None;
    }
    recovers
}

/// The object that the effect acted on may have changed, or be gone. Whether it was in doubt before.
fn doubt(row: &mut Row, acted_on: Option<&NativeId>) -> bool {
    let mut before = false;
    let objects = row.current.iter_mut().chain(&mut row.deposed);
    for object in objects.filter(|object| Some(&object.native_id) == acted_on) {
        before |= object.certainty == Certainty::Uncertain;
        if object.certainty == Certainty::Certain {
            object.certainty = Certainty::Uncertain;
        }
    }
    before
}

/// Deposes an object, once.
fn depose(row: &mut Row, object: Object) {
    row.deposed.retain(|other| other.native_id != object.native_id);
    row.deposed.push(object);
}

/// Adds what a step refers to: while its call is under way, both the old and the new references
/// count.
fn add_references(row: &mut Row, step: &Step, minted: &[RowId]) {
    for reference in &step.references {
        let id = match reference {
            RowRef::Existing(id) => Some(id),
            RowRef::New(number) => minted.get(*number as usize),
        };
        if let Some(id) = id.filter(|id| !row.references.contains(id)) {
            row.references.push(id.clone());
        }
    }
}
