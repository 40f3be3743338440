//! A process that carries one operation on, and how it dies.

use super::events::Happening;
use super::{LEASE_MILLIS, World};
use crate::judge::Invariant;
use crate::ready::ready;
use crate::weather::{CommitFault, RECOVERY_AFTER};
use formwork_engine_core::{Act, Batch, CallId, Input, LookupCall, Operation, Records};
use formwork_model::{OperationId, OperationStatus, OwnerId, SecretSlots, StepId, Stored, StoredLeaf};
use formwork_store::{
    Fault as StoreFault, Finish, LeaseGuard, MemStore, RowSlot, Store as _, StoreError, Unit,
};
use std::collections::BTreeMap;

/// What an answer is awaited for.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// A call, or a poll of it.
    Call(CallId),
    /// A read.
    Read(StepId),
    /// A lookup.
    Find(Box<LookupCall>),
}

/// A message that a process sent.
#[derive(Clone, Debug)]
pub(super) struct Awaited {
    pub(super) purpose: Purpose,
    /// Whether the process has given up on it: an answer is late then.
    pub(super) given_up: bool,
}

/// One life of an operation in a process.
#[derive(Debug)]
pub struct Process {
    pub(crate) operation: Operation,
    pub(super) id: OperationId,
    pub(super) owner: OwnerId,
    pub(super) guard: LeaseGuard,
    /// The store as this process has it: dead once the process crashed.
    pub(super) store: MemStore,
    pub(super) secrets: SecretSlots,
    pub(super) awaited: BTreeMap<u64, Awaited>,
    alive: bool,
    /// What came in while it stood still; `None` if it moves.
    stalled: Option<Vec<Input>>,
}

impl Process {
    pub(super) fn new(
        operation: Operation,
        id: OperationId,
        owner: OwnerId,
        guard: LeaseGuard,
        store: MemStore,
        secrets: SecretSlots,
    ) -> Self {
        Self {
            operation,
            id,
            owner,
            guard,
            store,
            secrets,
            awaited: BTreeMap::new(),
            alive: true,
            stalled: None,
        }
    }

    /// Whether it still does anything.
    pub fn is_alive(&self) -> bool {
        self.alive
    }
}

impl World {
    /// Lets a process take inputs, commit what follows, and act on it.
    pub(super) fn turn(&mut self, at: usize, inputs: Vec<Input>) {
        let now = self.now;
        let process = &mut self.processes[at];
        if !process.alive {
            return;
        }
        if let Some(inbox) = &mut process.stalled {
            inbox.extend(inputs);
            return;
        }
        let mut batch = Batch::default();
        for input in inputs {
            let text = format!("{input:?}");
            let next = self.processes[at].operation.handle(now, input);
            self.note(format_args!("p{at} {text}"));
            batch.merge(next);
        }
        self.carry_out(at, batch);
    }

    /// Commits a batch and starts its actions: the law of architecture §3.
    pub(super) fn carry_out(&mut self, at: usize, batch: Batch) {
        let fault = batch.has_records().then(|| {
            let number = self.commits;
            self.commits += 1;
            self.weather.at_commit(number)
        });
        let fault = fault.flatten();
        if let Some(fault) = fault {
            self.note(format_args!("p{at} {fault:?}"));
        }
        match fault {
            Some(CommitFault::CrashBefore) => return self.crash(at),
            Some(CommitFault::FailBefore) => self.processes[at].store.fail_next(StoreFault::FailBefore),
            Some(CommitFault::FailAfter) => self.processes[at].store.fail_next(StoreFault::FailAfter),
            Some(CommitFault::Rival) => self.rival(at),
            Some(CommitFault::CrashAfter) | None => {}
        }
        for entry in &batch.entries {
            let text = describe(&entry.entry);
            self.trace.line(self.now, format_args!("p{at} [{}] {text}", entry.sequence));
        }
        match self.commit(at, batch) {
            Ok(acts) => {
                if fault == Some(CommitFault::CrashAfter) {
                    self.remember_end(at, &acts);
                    return self.crash(at);
                }
                if let Some(millis) = self.weather.stall() {
                    self.stall(at, millis);
                }
                for act in acts {
                    self.start(at, act);
                }
            }
            Err(StoreError::LeaseLost { .. }) => {
                self.note(format_args!("p{at} lost its lease"));
                self.bury(at);
                self.recover_later(at);
            }
            Err(error) => {
                self.note(format_args!("p{at} {error}"));
                if !is_injected(&error) {
                    self.violated(Invariant::Integrity, format!("the store refused a unit: {error}"));
                }
                // The store is still there; only this life of the operation is over.
                self.bury(at);
                self.recover_later(at);
            }
        }
    }

    fn commit(&mut self, at: usize, batch: Batch) -> Result<Vec<Act>, StoreError> {
        let has_records = batch.has_records();
        let process = &self.processes[at];
        let (now, key, secrets) = (self.now, &self.key, &process.secrets);
        let acts = ready(batch.after_commit(|records| {
            let unit = unit(records, now, |slot| {
                let plain = secrets.get(slot)?;
                let text = serde_json::to_vec(plain.expose()).ok()?;
                Some(key.seal(slot.as_str().as_bytes(), &text))
            });
            process.store.commit(&process.guard, unit)
        }))?;
        let id = process.id.clone();
        let newest = self.runs.get(&id).and_then(|run| run.newest);
        if has_records && newest != Some(at) {
            let what = format!("process {at} wrote for {id}, which process {newest:?} has taken over");
            self.violated(Invariant::Isolation, what);
        }
        Ok(acts)
    }

    /// Whatever happens to the process now, the operation is over.
    fn remember_end(&mut self, at: usize, acts: &[Act]) {
        for act in acts {
            if let Act::Finish { status, .. } = act {
                self.end(at, *status);
            }
        }
    }

    pub(super) fn end(&mut self, at: usize, status: OperationStatus) {
        let id = self.processes[at].id.clone();
        let now = self.now;
        self.note(format_args!("p{at} {id} is over: {status:?}"));
        if let Some(run) = self.runs.get_mut(&id) {
            run.ended = Some((status, now));
        }
        self.bury(at);
    }

    /// Ends a process. What it sent travels on.
    pub(super) fn bury(&mut self, at: usize) {
        self.processes[at].alive = false;
    }

    /// Kills a process together with its store handle; only what is durable is left.
    pub(super) fn crash(&mut self, at: usize) {
        if !self.processes[at].alive {
            return;
        }
        self.note(format_args!("p{at} crashes"));
        // One process has several operations; all its lives end with it.
        let owner = self.processes[at].owner.clone();
        let dying: Vec<usize> = (0..self.processes.len())
            .filter(|other| self.processes[*other].alive && self.processes[*other].owner == owner)
            .collect();
        self.store = self.store.crash();
        for process in &mut self.processes {
            // Another process on the same machine has the same file; it goes on with it.
            if process.owner != owner {
                process.store = self.store.clone();
            }
        }
        for at in dying {
            self.bury(at);
            self.recover_later(at);
        }
        self.judge_after_crash();
    }

    pub(super) fn recover_later(&mut self, at: usize) {
        let id = self.processes[at].id.clone();
        let is_open = self.runs.get(&id).is_some_and(|run| run.ended.is_none() && run.newest == Some(at));
        if is_open {
            self.at(self.now.plus(RECOVERY_AFTER), Happening::Recover(id));
        }
    }

    fn stall(&mut self, at: usize, millis: u64) {
        if !self.processes[at].alive || self.processes[at].stalled.is_some() {
            return;
        }
        self.note(format_args!("p{at} stands still for {millis} ms"));
        self.processes[at].stalled = Some(Vec::new());
        self.at(self.now.plus(millis), Happening::Wake(at));
        // Whoever looks after the store takes the operation over once the lease has run out.
        let id = self.processes[at].id.clone();
        if let Some(run) = self.runs.get_mut(&id) {
            run.disturbed = true;
        }
        let expires_at = self.processes[at].guard.expires_at;
        self.at(expires_at.plus(1), Happening::Recover(id));
    }

    pub(super) fn wake(&mut self, at: usize) {
        let Some(inbox) = self.processes[at].stalled.take() else { return };
        self.note(format_args!("p{at} goes on"));
        if !inbox.is_empty() {
            self.turn(at, inbox);
        }
        self.renew(at);
    }

    pub(super) fn renew(&mut self, at: usize) {
        let process = &mut self.processes[at];
        if !process.alive || process.stalled.is_some() {
            return;
        }
        match ready(process.store.renew(&process.guard, LEASE_MILLIS)) {
            Ok(()) => {
                process.guard.expires_at = self.now.plus(LEASE_MILLIS);
                self.at(self.now.plus(LEASE_MILLIS / 3), Happening::Renew(at));
            }
            Err(error) => {
                self.note(format_args!("p{at} can't renew: {error}"));
                self.bury(at);
                self.recover_later(at);
            }
        }
    }
}

fn unit(
    records: Records,
    now: formwork_model::Timestamp,
    seal: impl Fn(&formwork_model::SlotId) -> Option<formwork_model::Sealed>,
) -> Unit {
    let mut row_slots = Vec::new();
    for row in &records.rows {
        let objects = row.current.iter().chain(&row.deposed).map(|object| &object.sent);
        for sent in objects {
            sealed_leaves(sent, &mut |slot| {
                if let Some(sealed) = seal(slot) {
                    row_slots.push(RowSlot { row: row.id.clone(), slot: slot.clone(), sealed: Some(sealed) });
                }
            });
        }
    }
    Unit {
        entries: records.entries,
        rows: records.rows,
        events: records.events,
        row_slots,
        objects: Vec::new(),
        finish: records.finish.map(|(status, failure)| Finish { status, failure, at: now }),
    }
}

fn sealed_leaves(sent: &Stored, visit: &mut impl FnMut(&formwork_model::SlotId)) {
    sent.for_each_leaf(&mut |_, leaf| {
        if let StoredLeaf::Sealed { slot, .. } = leaf {
            visit(slot);
        }
    });
}

fn is_injected(error: &StoreError) -> bool {
    matches!(error, StoreError::Fault { .. })
}

/// An entry in a line: serialised, so that the trace has all of it.
fn describe(entry: &formwork_model::Entry) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}
