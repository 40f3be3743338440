//! A synchronous driver, a scripted provider, and builders for plans made by hand.
#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses its part")]

mod provider;

pub use provider::{Provider, Reply, failure, lost, refusal};

use formwork_engine_core::{Act, Batch, CallId, Input, Limits, Opening, Operation, OperationSpec, fold};
use formwork_model::{
    Action, BoundRef, Certainty, Concurrency, Condition, DeletionPolicy, Entry, Event, Failure, Generation,
    Guard, ImmutableRule, InputLeaf, Inputs, InstanceKey, JournalEntry, Json, Kind, LookupRule, NativeId,
    Object, OnFailure, OperationKind, OperationStatus, Ownership, PLAN_FORMAT, Patch, PinnedType, Plan,
    PlannedStack, PropertySchema, Ref, Replacement, RetryRule, Row, RowId, RowRef, RowStatus, Schema,
    SecretKeeping, StackId, StackKey, Step, StepId, Stored, Timestamp, TypeCapabilities, TypeName, Undo,
    WriteOnlyRule, fingerprint,
};
use indexmap::IndexMap;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub const STACK: &str = "form_1";

pub fn capabilities() -> TypeCapabilities {
    TypeCapabilities {
        read: true,
        list: true,
        retry: RetryRule::ByCode,
        lookup: LookupRule::Token,
        replacement: Replacement::Declared,
        write_only: WriteOnlyRule::Digest,
        on_immutable: ImmutableRule::Replace,
        settle_millis: 1_000,
        timeout_millis: 30_000,
        validate: false,
        delete_blockers: false,
        secrets: SecretKeeping::Provider,
        concurrency: Concurrency::Parallel,
        outputs: Vec::new(),
        credential_outputs: Vec::new(),
        iam: None,
    }
}

pub fn key() -> InstanceKey {
    InstanceKey::from_bytes([7; 32])
}

pub fn object(native_id: &str, type_name: &str, properties: Json) -> Object {
    Object {
        native_id: native_id.into(),
        type_name: type_name.into(),
        target: formwork_model::TargetRev::default(),
        deletion_policy: DeletionPolicy::Delete,
        sent: properties.clone().into(),
        echo: properties.into(),
        observed: None,
        certainty: Certainty::Certain,
    }
}

/// A plan in the making, with the rows it rests on.
pub struct World {
    pub kind: OperationKind,
    pub steps: Vec<Step>,
    pub types: BTreeMap<TypeName, TypeCapabilities>,
    pub rows: Vec<Row>,
    pub limits: Limits,
    pub seed: u64,
    pub stacks: Vec<(StackId, OnFailure)>,
    new: u32,
}

impl World {
    pub fn new() -> Self {
        Self {
            kind: OperationKind::Create,
            steps: Vec::new(),
            types: BTreeMap::from([("thing".into(), capabilities())]),
            rows: Vec::new(),
            limits: Limits::default(),
            seed: 42,
            stacks: vec![(STACK.into(), OnFailure::RollBack)],
            new: 0,
        }
    }

    pub fn on_failure(mut self, rule: OnFailure) -> Self {
        self.stacks[0].1 = rule;
        self
    }

    pub fn kind(mut self, kind: OperationKind) -> Self {
        self.kind = kind;
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut TypeCapabilities)) -> Self {
        change(self.types.get_mut("thing").expect("the type is there"));
        self
    }

    pub fn with_type(mut self, name: &str, change: impl FnOnce(&mut TypeCapabilities)) -> Self {
        let mut other = capabilities();
        change(&mut other);
        self.types.insert(name.into(), other);
        self
    }

    pub fn add(&mut self, label: &str, row: RowRef, action: Action, after: &[u32]) -> &mut Step {
        let id = StepId(u32::try_from(self.steps.len()).expect("few steps"));
        self.steps.push(Step {
            id,
            row,
            stack: STACK.into(),
            label: label.into(),
            type_name: "thing".into(),
            action,
            when: Condition::Always,
            guard: Guard::None,
            inputs: None,
            before: None,
            after: None,
            patch: Patch::None,
            undo: Undo::Nothing,
            target: formwork_model::TargetRev::default(),
            deletion_policy: DeletionPolicy::Delete,
            after_steps: after.iter().map(|on| StepId(*on)).collect(),
            wave: 0,
            references: Vec::new(),
            metadata: None,
            position: id.0,
            cause: formwork_model::Cause::default(),
            place: None,
        });
        self.steps.last_mut().expect("just pushed")
    }

    /// A create of a new row; it refers to the native ids of the rows of the steps it waits for.
    pub fn create(&mut self, label: &str, after: &[u32]) -> &mut Step {
        let row = RowRef::New(self.new);
        self.new += 1;
        let rows: Vec<_> = after.iter().map(|on| self.steps[*on as usize].clone()).collect();
        let step = self.add(label, row, Action::Create, after);
        let mut members: IndexMap<Arc<str>, Inputs> =
            IndexMap::from_iter([("name".into(), Inputs::Plain(json!(label)))]);
        for (at, on) in rows.iter().enumerate() {
            members.insert(format!("ref{at}").into(), reference(on));
            step.references.push(on.row.clone());
        }
        step.inputs = Some(Inputs::object(members));
        step.guard = Guard::Absent { generation: Generation(0) };
        step.undo = Undo::DeleteCreated;
        step
    }

    /// A new row that takes over an object which was seen with these properties, and its update.
    pub fn adopt(&mut self, label: &str, native_id: &str, seen: &Json, declared: Json) -> u32 {
        let row = RowRef::New(self.new);
        self.new += 1;
        let guard = Guard::Unchanged {
            native_id: native_id.into(),
            generation: Generation(0),
            baseline: Some(fingerprint(&seen.clone().into())),
        };
        let step = self.add(label, row.clone(), Action::Adopt { native_id: native_id.into() }, &[]);
        step.guard = guard.clone();
        step.undo = Undo::Release;
        let adoption = step.id.0;
        let step = self.add(label, row, Action::Update, &[adoption]);
        step.guard = guard;
        step.inputs = Some(Inputs::Plain(declared));
        step.id.0
    }

    /// An existing row with an object.
    pub fn existing(&mut self, label: &str, properties: Json) -> RowRef {
        let id = RowId::from(format!("row_{label}"));
        let mut row = Row::new(id.clone(), STACK.into(), label.into(), "thing".into(), 0);
        row.generation = Generation(1);
        row.status = RowStatus::Created;
        row.current = Some(object(&format!("{label}-0"), "thing", properties));
        self.rows.push(row);
        RowRef::Existing(id)
    }

    pub fn guard(&self, row: &RowRef, read: bool) -> Guard {
        let RowRef::Existing(id) = row else { panic!("an existing row") };
        let row = self.rows.iter().find(|row| row.id == *id).expect("the row");
        let current = row.current.as_ref().expect("its object");
        Guard::Unchanged {
            native_id: current.native_id.clone(),
            generation: row.generation,
            baseline: read.then(|| fingerprint(&current.echo)),
        }
    }

    pub fn update(&mut self, label: &str, row: &RowRef, properties: Json, after: &[u32]) -> &mut Step {
        let guard = self.guard(row, true);
        let step = self.add(label, row.clone(), Action::Update, after);
        step.guard = guard;
        step.inputs = Some(Inputs::Plain(properties));
        step
    }

    pub fn delete(&mut self, label: &str, row: &RowRef, after: &[u32]) -> &mut Step {
        let guard = self.guard(row, true);
        let step = self.add(label, row.clone(), Action::Delete { replacing: false }, after);
        step.guard = guard;
        step
    }

    pub fn plan(&self) -> Plan {
        let types = self.types.iter().map(|(name, capabilities)| {
            let mut properties = IndexMap::new();
            for property in ["name", "size", "ref0", "ref1"] {
                properties.insert(property.into(), PropertySchema::new(Kind::Any, "A property."));
            }
            let schema = Schema { type_name: name.clone(), doc: "A type.".into(), properties };
            let pinned = PinnedType { schema: Arc::new(schema), capabilities: capabilities.clone() };
            (name.clone(), pinned)
        });
        Plan {
            format: PLAN_FORMAT,
            kind: self.kind,
            project: "proj_1".into(),
            stacks: self
                .stacks
                .iter()
                .map(|(id, on_failure)| PlannedStack {
                    id: id.clone(),
                    key: StackKey::new("proj_1".into(), id.as_str()),
                    on_failure: *on_failure,
                    ownership: Ownership::DeclaredOnly,
                    outputs: IndexMap::new(),
                    metadata: None,
                })
                .collect(),
            steps: self.steps.clone(),
            bases: Vec::new(),
            types: types.collect(),
        }
    }

    pub fn spec(&self) -> OperationSpec {
        OperationSpec {
            id: "form_op_1".into(),
            plan: Arc::new(self.plan()),
            rows: self.rows.clone(),
            actor: "user_1".into(),
            seed: self.seed,
            minted: (0..self.new).map(|at| RowId::from(format!("new_{at}"))).collect(),
            key: key(),
            limits: self.limits.clone(),
        }
    }

    pub fn run(&self, provider: Provider) -> Run {
        let mut run = Run::begin(self, provider);
        run.finish();
        run
    }

    /// Runs with what a person decided about an earlier effect.
    pub fn run_decided(&self, provider: Provider, step: StepId, adopt: Option<(NativeId, Stored)>) -> Run {
        let mut run = Run::begin_decided(self, provider, Some((step, adopt)));
        run.finish();
        run
    }
}

pub fn reference(on: &Step) -> Inputs {
    Inputs::Leaf(InputLeaf::Ref(BoundRef {
        row: on.row.clone(),
        reference: Ref::native_id(on.label.clone()),
    }))
}

/// Acts that wait for their time.
type Agenda = BTreeMap<(Timestamp, u64), Input>;

/// A run of an operation under a driver without threads.
pub struct Run {
    pub operation: Operation,
    pub journal: Vec<JournalEntry>,
    pub events: Vec<Event>,
    pub rows: IndexMap<RowId, Row>,
    pub base: IndexMap<RowId, Row>,
    pub now: Timestamp,
    pub provider: Provider,
    /// For each unit: how many entries were durable before it, and the provider before its acts.
    pub units: Vec<(usize, Provider)>,
    pub most_at_once: usize,
    agenda: Agenda,
    number: u64,
    calls: BTreeSet<CallId>,
    trace: Vec<String>,
}

impl Run {
    pub fn begin(world: &World, provider: Provider) -> Self {
        Self::begin_decided(world, provider, None)
    }

    fn begin_decided(
        world: &World,
        provider: Provider,
        decision: Option<(StepId, Option<(NativeId, Stored)>)>,
    ) -> Self {
        let now = Timestamp(1_000_000);
        let (mut operation, Opening { started, new_rows, events }) = Operation::open(world.spec(), now);
        if let Some((step, adopt)) = decision {
            operation.decide(step, adopt);
        }
        let mut rows: IndexMap<_, _> = world.rows.iter().map(|row| (row.id.clone(), row.clone())).collect();
        rows.extend(new_rows.into_iter().map(|row| (row.id.clone(), row)));
        let mut run = Self::with(operation, vec![started], rows, now, provider);
        run.events = events;
        let batch = run.operation.start(now);
        run.take(batch);
        run
    }

    fn with(
        operation: Operation,
        journal: Vec<JournalEntry>,
        rows: IndexMap<RowId, Row>,
        now: Timestamp,
        provider: Provider,
    ) -> Self {
        Self {
            operation,
            journal,
            events: Vec::new(),
            base: rows.clone(),
            rows,
            now,
            provider,
            units: Vec::new(),
            most_at_once: 0,
            agenda: Agenda::new(),
            number: 0,
            calls: BTreeSet::new(),
            trace: Vec::new(),
        }
    }

    /// A new process, on the first entries of the journal.
    pub fn recovered(world: &World, run: &Self, entries: usize, provider: Provider) -> Self {
        let journal = run.journal[..entries].to_vec();
        let rows = fold_all(&run.base, &journal, run.operation.plan(), &world.spec().minted);
        let mut spec = world.spec();
        spec.rows = rows.values().cloned().collect();
        let operation = Operation::replay(spec, &journal).expect("the journal replays");
        assert_eq!(operation.next_sequence(), entries as u64);
        let now = journal.last().map_or(run.now, |entry| entry.at).plus(5);
        let mut recovered = Self::with(operation, journal, rows, now, provider);
        let batch = recovered.operation.resume(now);
        recovered.take(batch);
        recovered
    }

    pub fn input(&mut self, input: Input) {
        let batch = self.operation.handle(self.now, input);
        self.take(batch);
    }

    fn take(&mut self, batch: Batch) {
        let trace = format!("{batch:?}");
        let before = self.journal.len();
        let (journal, events, rows) = (&mut self.journal, &mut self.events, &mut self.rows);
        let committed = batch.after_commit::<(), _>(|records| {
            journal.extend(records.entries);
            events.extend(records.events);
            for row in records.rows {
                rows.insert(row.id.clone(), row);
            }
            std::future::ready(Ok(()))
        });
        let acts = ready(committed).expect("nothing fails here");
        // Only small runs are swept; a snapshot per unit of a large one would dwarf the run.
        if self.rows.len() <= 100 {
            self.units.push((before, self.provider.clone()));
            self.trace.push(trace);
        }
        for act in acts {
            self.act(act);
        }
        self.most_at_once = self.most_at_once.max(self.calls.len());
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::RequestPermit { step, kind, .. } => self.later(0, Input::PermitGranted { step, kind }),
            Act::Call(call) => {
                self.calls.insert(call.id);
                if let Some(answer) = self.provider.call(&call, self.now) {
                    self.later(10, Input::Answered { call: call.id, answer });
                }
            }
            Act::Poll { call, request_id, .. } => {
                let answer = self.provider.poll(&request_id);
                self.later(10, Input::Answered { call, answer });
            }
            Act::Read(call) => {
                let answer = self.provider.read(&call.native_id);
                self.later(5, Input::ReadDone { step: call.step, answer });
            }
            Act::Find(call) => {
                let found = self.provider.find(&call.lookup);
                self.later(5, Input::LookupDone { step: call.step, found });
            }
            Act::SetTimer(timer) => self.at(timer.at, Input::TimerDue(timer.key)),
            Act::CancelCall(_) | Act::Finish { .. } => {}
        }
    }

    pub fn later(&mut self, millis: u64, input: Input) {
        self.at(self.now.plus(millis), input);
    }

    fn at(&mut self, at: Timestamp, input: Input) {
        self.number += 1;
        self.agenda.insert((at, self.number), input);
    }

    /// The next thing that happens; `false` if nothing will.
    pub fn turn(&mut self) -> bool {
        let Some(((at, _), input)) = self.agenda.pop_first() else { return false };
        self.now = self.now.max(at);
        if let Input::Answered { call, .. } = &input {
            self.calls.remove(call);
        }
        self.input(input);
        true
    }

    pub fn finish(&mut self) {
        for _ in 0..1_000_000 {
            if self.operation.is_finished() {
                return self.check();
            }
            if !self.turn() {
                break;
            }
        }
        panic!("the operation hangs, waiting for {:?}", self.operation.waiting(self.now));
    }

    /// What must hold after every run: the store's rows are the operation's, and the fold of the
    /// journal.
    pub fn check(&self) {
        let plan = self.operation.plan();
        let minted: Vec<RowId> = match &self.journal[0].entry {
            Entry::Started { minted, .. } => minted.clone(),
            other => panic!("the journal begins with {other:?}"),
        };
        for (id, row) in &self.rows {
            assert_eq!(Some(row), self.operation.row(id), "the batches carry every change of a row");
        }
        for (at, entry) in self.journal.iter().enumerate() {
            assert_eq!(entry.sequence, at as u64);
        }
        let from_start = self.base.values().all(|row| row.intent.is_none()) && self.journal.len() > 1;
        if from_start && self.units.first().is_some_and(|(before, _)| *before == 1) {
            let folded = fold_all(&self.base, &self.journal, plan, &minted);
            assert_eq!(folded, self.rows, "the rows are the fold of the journal");
        }
    }

    pub fn status(&self) -> (OperationStatus, Option<Failure>) {
        let (status, failure) = self.operation.status().expect("it is finished");
        (status, failure.cloned())
    }

    pub fn row(&self, label: &str) -> &Row {
        self.rows.values().find(|row| row.label.as_str() == label).expect("the row")
    }

    /// The events as `label action status`, the operation's own without a label.
    pub fn story(&self) -> Vec<String> {
        let line = |event: &Event| {
            let label = event.subject.as_ref().map_or("", |subject| subject.label.as_str());
            let action = serde_json::to_value(event.action).expect("an action");
            let status = serde_json::to_value(event.status).expect("a status");
            let line = format!(
                "{label} {} {}",
                action.as_str().unwrap_or_default(),
                status.as_str().unwrap_or_default()
            );
            line.trim().to_owned()
        };
        self.events.iter().map(line).collect()
    }

    /// As [`story`](Self::story), without what only began or waits.
    pub fn ends(&self) -> Vec<String> {
        let over = |line: &String| !line.ends_with("started") && !line.ends_with("waiting");
        self.story().into_iter().filter(over).collect()
    }

    pub fn trace(&self) -> &[String] {
        &self.trace
    }

    /// The rows without what two runs may differ in.
    pub fn final_rows(&self) -> Vec<Row> {
        let strip = |row: &Row| {
            let mut row = row.clone();
            for object in row.current.iter_mut().chain(&mut row.deposed) {
                object.observed = None;
            }
            row
        };
        self.rows.values().map(strip).collect()
    }
}

/// Rows after some entries.
fn fold_all(
    base: &IndexMap<RowId, Row>,
    journal: &[JournalEntry],
    plan: &Plan,
    minted: &[RowId],
) -> IndexMap<RowId, Row> {
    let mut rows = base.clone();
    for entry in journal {
        match &entry.entry {
            Entry::Intent { row, .. } | Entry::Settled { row, .. } => {
                fold(&mut rows[row], entry, plan, minted);
            }
            // Any other fact finds its row by itself, or concerns none.
            _ => rows.values_mut().for_each(|row| {
                fold(row, entry, plan, minted);
            }),
        }
    }
    rows
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the commit does not wait"),
    }
}
