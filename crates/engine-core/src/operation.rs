//! The operation: its durable state, what is outstanding, and the loop that moves it on.

use crate::draft::Draft;
use crate::facts::{Facts, Key, Phase};
use crate::fold::fold;
use crate::live::{Live, State};
use crate::schedule::{Consequence, Layout, Place, Schedule};
use crate::undo::StackUndo;
use crate::{Act, Batch, Input, Limits, Opening, OperationSpec, ReplayError, Timer, TimerKey};
use formwork_model::{
    ActorId, Entry, EventStatus, Failure, InstanceKey, IntentKind, JOURNAL_VERSION, JournalEntry, NativeId,
    OpenIntent, OperationId, OperationStatus, Outcome, PinnedType, Plan, Row, RowId, RowRef, StackId, Step,
    StepId, Stored, Timestamp,
};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One run of one plan, as a state machine.
///
/// Facts change it only through the journal: each is recorded in the batch that is given out, and
/// applied at once. If the batch can't be made durable, the operation is to be dropped and made
/// again by [`replay`](Self::replay).
#[derive(Debug)]
pub struct Operation {
    pub(crate) id: OperationId,
    pub(crate) plan: Arc<Plan>,
    pub(crate) actor: ActorId,
    pub(crate) key: InstanceKey,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
    pub(crate) minted: Vec<RowId>,
    pub(crate) rows: IndexMap<RowId, Row>,
    pub(crate) layout: Layout,
    pub(crate) facts: Facts,
    pub(crate) schedule: Schedule,
    /// What is outstanding in this process.
    pub(crate) live: BTreeMap<Key, Live>,
    pub(crate) slots_used: usize,
    /// Calls that may be made again as soon as a slot is free.
    pub(crate) again: BTreeSet<Key>,
    /// Rows on which a step is under way: one intent at a time.
    pub(crate) busy: FxHashMap<RowId, StepId>,
    pub(crate) queued: FxHashMap<RowId, Vec<StepId>>,
    /// Stacks in which nothing starts any more.
    pub(crate) stopped: Vec<bool>,
    pub(crate) undoing: Vec<StackUndo>,
    /// What a person decided beforehand about effects of earlier operations.
    pub(crate) decisions: FxHashMap<StepId, Option<(NativeId, Stored)>>,
    pub(crate) out: Draft,
    stacks: FxHashSet<StackId>,
}

impl Operation {
    /// An operation and what its beginning stores. Nothing is started yet.
    pub fn open(spec: OperationSpec, now: Timestamp) -> (Self, Opening) {
        let mut operation = Self::new(spec);
        let new_rows: Vec<Row> = operation.new_rows().into_values().collect();
        operation.rows.reserve_exact(new_rows.len());
        for row in &new_rows {
            operation.rows.insert(row.id.clone(), row.clone());
        }
        let started = Entry::Started {
            plan: operation.plan.hash(),
            actor: operation.actor.clone(),
            seed: operation.seed,
            minted: operation.minted.clone(),
        };
        let started = operation.entry(now, started);
        operation.apply(&started, true);
        let events = operation.announce(now, EventStatus::Started, None, None);
        operation.schedule.queue_all(&operation.layout);
        (operation, Opening { started, new_rows, events })
    }

    fn new(spec: OperationSpec) -> Self {
        let layout = Layout::new(&spec.plan);
        let stacks = layout.stacks.len();
        Self {
            schedule: Schedule::new(&spec.plan, &layout),
            facts: Facts::new(spec.plan.steps.len()),
            layout,
            id: spec.id,
            actor: spec.actor,
            key: spec.key,
            limits: spec.limits,
            seed: spec.seed,
            minted: spec.minted,
            rows: spec.rows.into_iter().map(|row| (row.id.clone(), row)).collect(),
            live: BTreeMap::new(),
            slots_used: 0,
            again: BTreeSet::new(),
            busy: FxHashMap::default(),
            queued: FxHashMap::default(),
            stopped: vec![false; stacks],
            decisions: FxHashMap::default(),
            undoing: std::iter::repeat_with(StackUndo::default).take(stacks).collect(),
            out: Draft::default(),
            stacks: spec.plan.stacks.iter().map(|stack| stack.id.clone()).collect(),
            plan: spec.plan,
        }
    }

    /// The rows that the plan creates, by their number.
    fn new_rows(&self) -> BTreeMap<u32, Row> {
        let mut rows = BTreeMap::new();
        for step in &self.plan.steps {
            let RowRef::New(number) = step.row else { continue };
            let Some(id) = self.minted.get(number as usize) else { continue };
            rows.entry(number).or_insert_with(|| {
                let (stack, label) = (step.stack.clone(), step.label.clone());
                Row::new(id.clone(), stack, label, step.type_name.clone(), step.position)
            });
        }
        rows
    }

    /// Notes what a person decided about the effect that a `resolve` step settles: its object is
    /// this one, or there is none. Given between [`open`](Self::open) and [`start`](Self::start); a
    /// crash before that forgets it, and the step settles as if nobody had decided.
    pub fn decide(&mut self, step: StepId, adopt: Option<(NativeId, Stored)>) {
        self.decisions.insert(step, adopt);
    }

    /// Begins, once what [`open`](Self::open) gave is durable.
    pub fn start(&mut self, now: Timestamp) -> Batch {
        self.advance(now);
        self.flush()
    }

    /// The operation as its journal left it. Its rows are not folded again: they come from the
    /// store, which keeps them together with the journal.
    ///
    /// # Errors
    /// If the journal is not one of an operation on this plan.
    pub fn replay(mut spec: OperationSpec, journal: &[JournalEntry]) -> Result<Self, ReplayError> {
        let Some(Entry::Started { plan, actor, seed, minted }) = journal.first().map(|first| &first.entry)
        else {
            return Err(ReplayError::NotStarted);
        };
        let expected = spec.plan.hash();
        if *plan != expected {
            return Err(ReplayError::OtherPlan { expected, found: *plan });
        }
        spec.seed = *seed;
        spec.actor.clone_from(actor);
        spec.minted.clone_from(minted);
        let mut operation = Self::new(spec);
        for entry in journal {
            operation.check(entry)?;
            operation.apply(entry, false);
        }
        operation.rebuild();
        Ok(operation)
    }

    fn check(&self, entry: &JournalEntry) -> Result<(), ReplayError> {
        let sequence = entry.sequence;
        if entry.version > JOURNAL_VERSION {
            return Err(ReplayError::Version { sequence, found: entry.version });
        }
        if entry.operation != self.id {
            return Err(ReplayError::OtherOperation { sequence, found: entry.operation.clone() });
        }
        if sequence != self.facts.sequence {
            return Err(ReplayError::Gap { expected: self.facts.sequence, found: sequence });
        }
        let again = sequence > 0 && matches!(entry.entry, Entry::Started { .. });
        if again || self.facts.finished.is_some() {
            return Err(ReplayError::OutOfOrder { sequence });
        }
        match step_of(&entry.entry) {
            Some(step) if self.plan.step(step).is_none() => Err(ReplayError::NoSuchStep { sequence, step }),
            _ => Ok(()),
        }
    }

    /// Makes the schedule from the facts.
    fn rebuild(&mut self) {
        for at in 0..self.plan.steps.len() {
            let step = self.plan.steps[at].id;
            let track = &self.facts.steps[at].forward;
            if track.is_settled() {
                let consequence = self.consequence(step);
                self.schedule.done(&self.layout, step, consequence);
            } else if track.is_open() {
                self.schedule.begin(&self.layout, step);
                let row = self.row_id(&self.plan.steps[at].row);
                self.busy.insert(row, step);
            }
        }
        self.schedule.queue_all(&self.layout);
        for (step, _) in self.facts.rollbacks.clone() {
            for stack in self.stops(step) {
                self.stop(stack);
            }
        }
        if self.facts.canceled.is_some() {
            self.stop_all();
        }
    }

    /// Goes on after a replay: repeats, polls, looks up and undoes, as the facts demand.
    pub fn resume(&mut self, now: Timestamp) -> Batch {
        if let Some((status, failure)) = self.facts.finished.clone() {
            self.out.then.push(Act::Finish { status, failure });
            return self.flush();
        }
        for at in 0..self.plan.steps.len() {
            let step = self.plan.steps[at].id;
            for key in [Key::forward(step), Key { step, undo: true }] {
                if self.facts.track(key).is_some_and(crate::facts::Track::is_open) {
                    self.take_up(now, key);
                }
            }
        }
        if self.facts.canceled == Some(true) {
            self.give_up(now);
        }
        self.advance(now);
        self.flush()
    }

    /// Takes up a step, or an undo, where an earlier process left it.
    fn take_up(&mut self, now: Timestamp, key: Key) {
        let Some(track) = self.facts.track(key) else { return };
        let kind = self.kind(key);
        let (state, timer, at) = match track.phase {
            Phase::Calling => {
                let failure = Failure::new(
                    formwork_model::WireCode::OutcomeUnknown,
                    "The process ended before the answer came.",
                );
                self.doubt(now, key, failure, false);
                return;
            }
            Phase::Accepted { poll_at, .. } => (State::PollPause, TimerKey::Poll(key.step, kind), poll_at),
            Phase::Backoff { at } => (State::Backoff, TimerKey::Retry(key.step, kind), at),
            Phase::Doubtful { resolve_at } => (State::Doubt, TimerKey::Resolve(key.step, kind), resolve_at),
            Phase::Waiting | Phase::Settled(_) => return,
        };
        if matches!(state, State::Backoff) && self.is_stopped(key) {
            self.abandon(now, key);
            return;
        }
        self.set_live(now, key, state);
        self.out.then.push(Act::SetTimer(Timer { key: timer, at: at.max(now) }));
    }

    /// Takes what happened. Total: an input that makes no sense (late, duplicate, about an unknown
    /// step) gives an empty batch.
    pub fn handle(&mut self, now: Timestamp, input: Input) -> Batch {
        if self.is_finished() {
            return Batch::default();
        }
        match input {
            Input::ReadDone { step, answer } => self.on_read(now, step, answer),
            Input::LookupDone { step, found } => self.on_found(now, step, found),
            Input::PermitGranted { step, kind } => self.on_permit(now, Key::of(step, kind)),
            Input::Answered { call, answer } => self.on_answer(now, call, answer),
            Input::TimerDue(timer) => self.on_timer(now, timer),
            Input::Cancel { force } => self.on_cancel(now, force),
        }
        self.advance(now);
        self.flush()
    }

    /// Begins what can begin, until nothing more can. Each round settles or begins something, so
    /// it ends.
    fn advance(&mut self, now: Timestamp) {
        while !self.is_finished() && self.advance_once(now) {}
    }

    fn advance_once(&mut self, now: Timestamp) -> bool {
        if let Some(blocked) = self.schedule.blocked.pop_front() {
            self.on_blocked(now, blocked);
            return true;
        }
        if self.slot_free()
            && let Some(key) = self.again.pop_first()
        {
            self.dispatch_again(now, key);
            return true;
        }
        if let Some(step) = self.schedule.next(self.slot_free()) {
            self.begin(now, step);
            return true;
        }
        self.advance_undo(now) || self.finish_if_done(now) || self.free_stuck(now)
    }

    /// A plan that contradicts itself must not hang: what can never begin fails.
    fn free_stuck(&mut self, now: Timestamp) -> bool {
        if !self.live.is_empty() || !self.again.is_empty() || self.schedule.open == 0 {
            return false;
        }
        let Some(step) = self.schedule.stuck() else { return false };
        let failure =
            Failure::new(formwork_model::WireCode::InternalError, "The step waits for what never happens.");
        self.settle(now, Key::forward(step), Outcome::Failed { failure });
        true
    }

    /// Records a fact: applies it, and adds it to the batch.
    pub(crate) fn record(&mut self, now: Timestamp, entry: Entry) {
        let entry = self.entry(now, entry);
        self.apply(&entry, true);
        self.out.entries.push(entry);
    }

    fn entry(&self, now: Timestamp, entry: Entry) -> JournalEntry {
        JournalEntry {
            version: JOURNAL_VERSION,
            operation: self.id.clone(),
            sequence: self.facts.sequence,
            at: now,
            entry,
        }
    }

    /// Takes a fact: the sole mutation of the durable state, the same live and on replay. `folds`:
    /// whether rows are to be changed too; on replay the store's rows have been already. Rows of
    /// other stacks are never stored, so they are always folded.
    fn apply(&mut self, entry: &JournalEntry, folds: bool) {
        let (plan, layout) = (&self.plan, &self.layout);
        self.facts.apply(entry, plan, |step| is_leak(plan, layout, step));
        let id = match &entry.entry {
            Entry::Intent { row, .. } | Entry::Settled { row, .. } => row.clone(),
            Entry::Accepted { attempt, .. } => match self.plan.step(attempt.step) {
                Some(step) => self.row_id(&step.row),
                None => return,
            },
            _ => return,
        };
        let Some(row) = self.rows.get_mut(&id) else { return };
        let own = self.stacks.contains(&row.stack);
        let folds = folds || !own;
        let changed = folds && fold(row, entry, &self.plan, &self.minted);
        if changed && own {
            self.out.touched.insert(id);
        }
    }

    /// Ends a step, or its undo.
    pub(crate) fn settle(&mut self, now: Timestamp, key: Key, outcome: Outcome) {
        let Some(step) = self.plan.step(key.step) else { return };
        let row = self.row_id(&step.row);
        let called = self.facts.track(key).is_some_and(|track| track.calls > 0);
        let kind = (called || key.undo).then(|| self.kind(key));
        self.take_live(key);
        self.again.remove(&key);
        self.tell_settled(now, key, &row, &outcome);
        self.record(now, Entry::Settled { step: key.step, kind, row: row.clone(), outcome });
        if key.undo {
            self.undone(key.step);
            return;
        }
        let was_done = self.schedule.place(key.step) == Place::Done;
        let consequence = self.consequence(key.step);
        self.schedule.done(&self.layout, key.step, consequence);
        self.release(&row, key.step);
        if was_done {
            self.settled_again(key.step);
        }
    }

    /// Lets the next step of a row begin.
    pub(crate) fn release(&mut self, row: &RowId, step: StepId) {
        if self.busy.get(row) != Some(&step) {
            return;
        }
        self.busy.remove(row);
        for step in self.queued.remove(row).unwrap_or_default() {
            self.schedule.requeue(step);
        }
    }

    fn consequence(&self, step: StepId) -> Consequence {
        let success =
            self.facts.steps[step.index()].forward.ending().is_some_and(|ending| ending.how.is_success());
        let leak = self.is_leak(step);
        let cleanup = matches!(self.plan.steps[step.index()].action, formwork_model::Action::Cleanup { .. });
        let teardown = self.plan.kind == formwork_model::OperationKind::Delete;
        Consequence { pass: success || cleanup, spoils: !success && !leak && !teardown }
    }

    /// Whether the failure of a step leaves the operation whole.
    pub(crate) fn is_leak(&self, step: StepId) -> bool {
        is_leak(&self.plan, &self.layout, step)
    }

    fn flush(&mut self) -> Batch {
        std::mem::take(&mut self.out).into_batch(&self.rows)
    }

    /// The id of the row that a plan's name for it means.
    pub(crate) fn row_id(&self, row: &RowRef) -> RowId {
        match row {
            RowRef::Existing(id) => id.clone(),
            // A plan with more new rows than were minted fails at these steps: no row has this id.
            RowRef::New(number) => {
                self.minted.get(*number as usize).cloned().unwrap_or_else(|| RowId::from(""))
            }
        }
    }

    pub(crate) fn step(&self, step: StepId) -> Option<&Step> {
        self.plan.step(step)
    }

    /// The row of a step.
    pub(crate) fn row_of(&self, step: StepId) -> Option<&Row> {
        self.row_for(&self.plan.step(step)?.row)
    }

    pub(crate) fn pinned(&self, type_name: &formwork_model::TypeName) -> Option<&PinnedType> {
        self.plan.types.get(type_name)
    }

    /// The open intent that a step, or its undo, is about.
    pub(crate) fn intent(&self, key: Key) -> Option<&OpenIntent> {
        let intent = self.row_of(key.step)?.intent.as_ref()?;
        let own = intent.operation == self.id && Key::of(intent.step, intent.kind) == key;
        let resolves = self.step(key.step)?.action == formwork_model::Action::Resolve;
        (own || (resolves && !key.undo)).then_some(intent)
    }

    /// What kind of effect a step, or its undo, has.
    pub(crate) fn kind(&self, key: Key) -> IntentKind {
        use formwork_model::Action;
        if key.undo {
            return IntentKind::Undo;
        }
        match self.step(key.step).map(|step| &step.action) {
            Some(Action::Update) => IntentKind::Update,
            Some(Action::Delete { .. }) => IntentKind::Delete,
            Some(Action::Cleanup { .. }) => IntentKind::Cleanup,
            Some(Action::Resolve) => self.intent(key).map_or(IntentKind::Create, |intent| intent.kind),
            _ => IntentKind::Create,
        }
    }

    /// Whether it is over.
    pub fn is_finished(&self) -> bool {
        self.facts.finished.is_some()
    }

    /// How it ended.
    pub fn status(&self) -> Option<(OperationStatus, Option<&Failure>)> {
        self.facts.finished.as_ref().map(|(status, failure)| (*status, failure.as_ref()))
    }

    /// Its id.
    pub fn id(&self) -> &OperationId {
        &self.id
    }

    /// The plan it carries out.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Who asked for it: calls are made, and recovery runs, as them.
    pub fn actor(&self) -> &ActorId {
        &self.actor
    }

    /// The rows as the facts leave them.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    /// A row as the facts leave it.
    pub fn row(&self, id: &RowId) -> Option<&Row> {
        self.rows.get(id)
    }

    /// The row that a plan's name for it means.
    pub fn row_for(&self, row: &RowRef) -> Option<&Row> {
        match row {
            RowRef::Existing(id) => self.rows.get(id),
            RowRef::New(number) => self.rows.get(self.minted.get(*number as usize)?),
        }
    }

    /// The number of the next journal entry.
    pub fn next_sequence(&self) -> u64 {
        self.facts.sequence
    }
}

/// The step that an entry is about.
fn step_of(entry: &Entry) -> Option<StepId> {
    match entry {
        Entry::Intent { intent, .. } => Some(intent.step),
        Entry::Accepted { attempt, .. }
        | Entry::RetryAt { attempt, .. }
        | Entry::Ambiguous { attempt, .. } => Some(attempt.step),
        Entry::Settled { step, .. } => Some(*step),
        Entry::RollbackStarted { step, .. } => *step,
        Entry::Started { .. } | Entry::CancelRequested { .. } | Entry::Finished { .. } => None,
    }
}

/// A failed cleanup never fails an operation (seed 4, "Replacement"); nor does a failed removal in
/// a deploy that would otherwise roll back: what is declared stands.
fn is_leak(plan: &Plan, layout: &Layout, step: StepId) -> bool {
    use formwork_model::Action;
    match plan.step(step).map(|step| &step.action) {
        Some(Action::Cleanup { .. }) => true,
        Some(Action::Delete { replacing: false } | Action::Forget) => {
            layout.stacks[layout.stack_of(step)].rolls_back
        }
        _ => false,
    }
}
