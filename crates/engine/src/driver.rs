//! One operation being carried out: the turns of its loop, and the law that each of them keeps.

use crate::calls::{Calls, Poll};
use crate::censor::KnownSecrets;
use crate::handle::Ends;
use crate::held::{Held, outputs};
use crate::hooks::Ending;
use crate::lease::{Lease, LeaseEnd};
use crate::recognise::Recogniser;
use crate::shared::Shared;
use crate::slots::Keeping;
use crate::targets::{Place, Targets, target_row};
use crate::work::Work;
use formwork_engine_core::{Act, Batch, Call, Input, Operation, Records};
use formwork_model::{
    ActorId, Failure, NativeId, OperationId, OperationStatus, Plan, ProjectId, Row, RowId, RowRef,
    SecretSlots, StackId, StepId, TargetName, TargetRev, Timestamp, TypeName,
};
use formwork_store::{Finish, LeaseGuard, ObjectWrite, StoreError, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::time::Instant;

/// How long an operation must be quiet before what it waits for is published.
const QUIET: Duration = Duration::from_millis(20);
/// How old what was published may become while the operation is busy.
const STALE: Duration = Duration::from_millis(250);

/// One operation being carried out.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    plan: Arc<Plan>,
    operation: Operation,
    calls: Arc<Calls>,
    lease: Lease,
    keeping: Keeping,
    work: Work,
    beginning: Beginning,
    /// The rows of the targets that were called so far.
    targets: BTreeMap<(StackId, TargetName), RowId>,
    published_at: Option<Instant>,
}

/// What a driver is made from.
pub(crate) struct Parts {
    pub(crate) id: OperationId,
    pub(crate) project: ProjectId,
    pub(crate) actor: ActorId,
    pub(crate) plan: Arc<Plan>,
    pub(crate) operation: Operation,
    pub(crate) slots: SecretSlots,
    pub(crate) keeping: Keeping,
    pub(crate) guard: LeaseGuard,
    /// When the lease was asked for.
    pub(crate) asked_at: Timestamp,
    pub(crate) beginning: Beginning,
}

/// How a driver begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// The operation has just begun.
    Start,
    /// It was recovered from its journal.
    Resume,
}

/// Why a driver stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The operation is over.
    Done { status: OperationStatus, failure: Option<Failure> },
    /// The lease is not held any more.
    LeaseLost,
    /// The store failed: what was in memory may differ from what is durable.
    Fault(StoreError),
    /// The process shuts down.
    Shutdown,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LeaseLost { .. } => Self::LeaseLost,
            other => Self::Fault(other),
        }
    }
}

impl From<LeaseEnd> for Stop {
    fn from(_: LeaseEnd) -> Self {
        Self::LeaseLost
    }
}

impl Driver {
    /// A driver that has not begun.
    pub(crate) fn new(shared: &Arc<Shared>, parts: Parts) -> Self {
        let Parts { id, project, actor, plan, operation, slots, keeping, guard, asked_at, beginning } = parts;
        let options = &shared.options;
        let calls = Arc::new(Calls {
            operation: id,
            project,
            actor,
            key: shared.key.clone(),
            secrets: KnownSecrets::new(&slots, Recogniser::of(operation.rows(), &shared.key)),
            targets: Targets::default(),
            slots,
            clock: Arc::clone(&shared.clock),
            registry: Arc::clone(&shared.registry),
            rates: Arc::clone(&shared.rates),
            store: Arc::clone(&shared.store),
            closed: AtomicBool::new(false),
        });
        let lease = Lease::keep(
            guard,
            Arc::clone(&shared.store),
            Arc::clone(&shared.clock),
            options.lease_millis,
            asked_at,
        );
        let work = Work::new(Arc::clone(&calls), options.limits.concurrency, options.missing_plugin_millis);
        Self {
            shared: Arc::clone(shared),
            plan,
            operation,
            calls,
            lease,
            keeping,
            work,
            beginning,
            targets: BTreeMap::new(),
            published_at: None,
        }
    }

    /// Carries the operation out until it is over or can't go on here.
    pub(crate) async fn run(&mut self, ends: &mut Ends) -> Stop {
        match self.carry_out(ends).await {
            Ok(never) => match never {},
            Err(stop) => stop,
        }
    }

    async fn carry_out(&mut self, ends: &mut Ends) -> Result<std::convert::Infallible, Stop> {
        let now = self.shared.clock.now();
        let mut batch = match self.beginning {
            Beginning::Start => self.operation.start(now),
            Beginning::Resume => {
                for (row, failure) in &ends.refused {
                    self.operation.refuse(row.clone(), failure.clone());
                }
                self.operation.resume(now)
            }
        };
        // Requests that a failed commit may have lost.
        self.handle(&mut batch, ends.unsettled.clone());
        loop {
            self.turn(batch).await?;
            ends.unsettled.clear();
            let inputs = self.gather(ends).await?;
            batch = Batch::default();
            self.handle(&mut batch, inputs);
        }
    }

    /// Takes what happened, and the permits that can be granted at once: so one commit covers the
    /// end of a step and the intents of those that waited for it.
    fn handle(&mut self, batch: &mut Batch, inputs: Vec<Input>) {
        let now = self.shared.clock.now();
        let open = !self.shared.is_stopping();
        let mut inputs = inputs;
        loop {
            for input in inputs {
                batch.merge(self.operation.handle(now, input));
            }
            // While the process shuts down nothing begins; recovery will begin it.
            for request in batch.take_permit_requests().into_iter().filter(|_| open) {
                self.work.request_permit(request);
            }
            inputs = if open { self.work.take_permits() } else { Vec::new() };
            if inputs.is_empty() {
                return;
            }
        }
    }

    /// How far the operation's journal got.
    pub(crate) fn sequence(&self) -> u64 {
        self.operation.next_sequence()
    }

    /// **The law**: one commit makes all records of a turn durable, and only then do the turn's
    /// actions start. If the commit fails, nothing is started and the operation is dropped.
    async fn turn(&mut self, batch: Batch) -> Result<(), Stop> {
        let objects = self.last_writes(&batch).await?;
        let row_slots = self.keeping.follow(&batch.rows, &self.calls.slots, &self.shared.key);
        let (store, guard, at) = (&self.shared.store, self.lease.guard(), self.shared.clock.now());
        let commit = |records: Records| {
            let Records { entries, rows, events, finish } = records;
            let finish = finish.map(|(status, failure)| Finish { status, failure, at });
            store.commit(guard, Unit { entries, rows, events, row_slots, objects, finish })
        };
        let acts = batch.after_commit(commit).await?;
        self.start(acts).await
    }

    /// What `control` adds to the last unit.
    async fn last_writes(&self, batch: &Batch) -> Result<Vec<ObjectWrite>, StoreError> {
        let Some((status, failure)) = batch.finish() else { return Ok(Vec::new()) };
        let rows = |row: &RowRef| self.operation.row_for(row);
        let ending = Ending {
            operation: &self.calls.operation,
            plan: &self.plan,
            rows: &rows,
            status,
            failure,
            at: self.shared.clock.now(),
        };
        self.shared.hooks.finishing(&ending).await
    }

    /// Starts what a durable turn asks for. Calls start under a lease that outlives them all.
    async fn start(&mut self, acts: Vec<Act>) -> Result<(), Stop> {
        self.work.permits_used();
        if let Some(latest) = acts.iter().filter_map(not_after).max() {
            self.lease.outlive(latest).await?;
        }
        let open = !self.shared.is_stopping();
        for act in acts {
            match act {
                Act::Finish { status, failure } => return Err(Stop::Done { status, failure }),
                Act::CancelCall(call) => self.work.cancel(call),
                Act::SetTimer(timer) => self.work.set_timer(&timer),
                // While the process shuts down nothing begins; recovery will begin it. A call whose
                // intent is durable is made: left out, it would look like one of unknown outcome.
                Act::Poll { .. } | Act::Read(_) | Act::Find(_) if !open => {}
                Act::Call(call) => {
                    let place = self.place(Some(&call.stack), &call.target);
                    let held = self.held(&call);
                    let fence = self.lease.guard().fence(&call.stack);
                    let row = self.operation.row(&call.row);
                    tracing::debug!(step = %call.id.step, label = %call.label, attempt = call.id.attempt, "calling");
                    self.work.call(*call, fence, row, place, held);
                }
                Act::Poll { call, type_name, target, request_id, deadline } => {
                    let place = self.place_of(call.step, &target);
                    let row = row_of(&self.operation, &self.plan, call.step);
                    self.work.poll(Poll { call, type_name, place, request_id, deadline }, row);
                }
                Act::Read(read) => {
                    let place = self.place_of(read.step, &read.target);
                    let row = row_of(&self.operation, &self.plan, read.step);
                    self.work.read(read, row, place);
                }
                Act::Find(find) => {
                    let mut owned = owned(&self.operation, &find.type_name);
                    if let Some(gone) = &find.gone {
                        owned.remove(gone);
                    }
                    let place = self.place_of(find.step, &find.target);
                    let row = self.operation.row(&find.row);
                    self.work.find(*find, row, place, owned);
                }
                // Requests for permits were taken out before the commit.
                Act::RequestPermit { .. } => {}
            }
        }
        Ok(())
    }

    /// Where the objects live whose secrets a call needs.
    fn held(&mut self, call: &Call) -> Held {
        let mut held = Held::default();
        for output in outputs(call) {
            let place = self.place(Some(&output.stack), &output.target);
            held.put(output, place);
        }
        held
    }

    /// Where the object of a step lives.
    fn place_of(&mut self, step: StepId, target: &TargetRev) -> Place {
        let stack = row_of(&self.operation, &self.plan, step).map(|row| row.stack.clone());
        self.place(stack.as_ref(), target)
    }

    /// Where a target is. Its row is looked for once.
    fn place(&mut self, stack: Option<&StackId>, target: &TargetRev) -> Place {
        let Some(stack) = stack.filter(|_| *target != TargetRev::default()) else {
            return Place::new(target, None);
        };
        let key = (stack.clone(), target.name.clone());
        if !self.targets.contains_key(&key)
            && let Some(row) = target_row(self.operation.rows(), stack, &target.name)
        {
            self.targets.insert(key.clone(), row.id.clone());
        }
        let row = self.targets.get(&key).and_then(|row| self.operation.row(row));
        Place::new(target, row)
    }

    /// Waits until something happens, and takes everything that has happened by then.
    async fn gather(&mut self, ends: &mut Ends) -> Result<Vec<Input>, Stop> {
        let mut stopping = self.shared.stopping();
        loop {
            let open = !*stopping.borrow_and_update();
            let mut inputs = self.work.take_ready(open);
            while let Ok(input) = ends.inbox.try_recv() {
                ends.unsettled.push(input.clone());
                inputs.push(input);
            }
            if !inputs.is_empty() {
                ends.is_outdated = true;
                if self.published_at.is_none_or(|at| at.elapsed() > STALE) {
                    self.publish(ends);
                }
                return Ok(inputs);
            }
            if !open && !self.work.is_calling() {
                return Err(Stop::Shutdown);
            }
            tokio::select! {
                () = self.work.changed() => {}
                Some(input) = ends.inbox.recv() => {
                    ends.unsettled.push(input.clone());
                    ends.is_outdated = true;
                    return Ok(vec![input]);
                }
                end = self.lease.ended() => return Err(end.into()),
                Ok(()) = stopping.changed() => {}
                () = tokio::time::sleep(QUIET), if ends.is_outdated => self.publish(ends),
            }
        }
    }

    fn publish(&mut self, ends: &mut Ends) {
        ends.waiting.send_replace(self.operation.waiting(self.shared.clock.now()));
        ends.is_outdated = false;
        self.published_at = Some(Instant::now());
    }
}

/// No effect of the call may begin after this.
fn not_after(act: &Act) -> Option<Timestamp> {
    match act {
        Act::Call(call) => Some(call.not_after),
        _ => None,
    }
}

fn row_of<'a>(operation: &'a Operation, plan: &Plan, step: StepId) -> Option<&'a Row> {
    operation.row_for(&plan.step(step)?.row)
}

/// The native ids that rows of this operation own.
fn owned(operation: &Operation, type_name: &TypeName) -> BTreeSet<NativeId> {
    let objects = operation.rows().flat_map(|row| row.current.iter().chain(&row.deposed));
    objects.filter(|object| object.type_name == *type_name).map(|object| object.native_id.clone()).collect()
}
