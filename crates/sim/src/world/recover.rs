//! Recovery: another life for an operation, from its journal.

use super::events::Happening;
use super::process::Process;
use super::{LEASE_MILLIS, World};
use crate::judge::Invariant;
use crate::provider::Mark;
use crate::ready::ready;
use formwork_engine_core::{Input, Operation, OperationSpec};
use formwork_model::{
    Action, Catalog as _, IntentKind, NativeId, OpenIntent, OperationId, OperationStatus, OwnerId, Plan, Row,
    RowId, RowRef, Secret, SecretSlots, StepId, Stored, Timestamp,
};
use formwork_store::{LeaseGuard, Store as _, TakenOver};

impl World {
    /// Takes an operation over whose process is gone, and goes on with it.
    pub(super) fn recover(&mut self, id: &OperationId) {
        let Some(run) = self.runs.get(id).filter(|run| run.ended.is_none()) else { return };
        let newest = run.newest;
        let dead = newest.filter(|at| !self.alive(*at)).map(|at| self.processes[at].owner.clone());
        match self.take_over(id, dead.as_ref()) {
            Some((guard, owner)) => self.revive(id, owner, guard),
            // Somebody holds it. If that process is gone, the lease will run out.
            None if dead.is_some() => {
                self.at(self.now.plus(LEASE_MILLIS / 4), Happening::Recover(id.clone()));
            }
            None => {}
        }
    }

    fn take_over(&mut self, id: &OperationId, dead: Option<&OwnerId>) -> Option<(LeaseGuard, OwnerId)> {
        let owner = self.next_owner();
        match ready(self.store.take_over(id, &owner, dead, LEASE_MILLIS)) {
            Ok(TakenOver::Taken(guard)) => Some((guard, owner)),
            Ok(TakenOver::Held(holder)) => {
                self.note(format_args!("{id} is held by {} until {}", holder.owner, holder.expires_at.0));
                None
            }
            Ok(TakenOver::Nothing) => {
                self.vanished(id);
                None
            }
            Err(error) => {
                self.note(format_args!("{id} can't be taken over: {error}"));
                None
            }
        }
    }

    /// The store does not know of the operation as an open one: it finished with its process dying
    /// on the last commit, or its record is lost.
    fn vanished(&mut self, id: &OperationId) {
        let record = ready(self.store.reader().operation(id)).ok().flatten();
        let now = self.now;
        let status = record.as_ref().map(|record| record.status);
        let is_known = status.is_some_and(OperationStatus::is_final);
        if let Some(run) = self.runs.get_mut(id) {
            run.ended = Some((status.unwrap_or(OperationStatus::Failed), now));
            run.disturbed = true;
        }
        if !is_known {
            self.violated(Invariant::Integrity, format!("the record of {id} is lost"));
        }
    }

    /// Another process takes the operation over, while the one that has it is alive and unaware.
    pub(super) fn rival(&mut self, at: usize) {
        let (id, owner) = (self.processes[at].id.clone(), self.processes[at].owner.clone());
        self.note(format_args!("a rival takes {id} over from p{at}"));
        if let Some((guard, owner)) = self.take_over(&id, Some(&owner)) {
            self.revive(&id, owner, guard);
        }
    }

    fn revive(&mut self, id: &OperationId, owner: OwnerId, guard: LeaseGuard) {
        let Some((operation, secrets)) = self.replayed(id) else { return };
        let at = self.processes.len();
        let process = Process::new(operation, id.clone(), owner, guard, self.store.clone(), secrets);
        self.processes.push(process);
        if let Some(run) = self.runs.get_mut(id) {
            run.newest = Some(at);
            run.lives += 1;
        }
        self.note(format_args!("p{at} recovers {id}"));
        self.at(self.now.plus(LEASE_MILLIS / 3), Happening::Renew(at));
        let now = self.now;
        let batch = self.processes[at].operation.resume(now);
        self.carry_out(at, batch);
    }

    /// The operation as the store has it.
    fn replayed(&mut self, id: &OperationId) -> Option<(Operation, SecretSlots)> {
        let reader = self.store.reader();
        let plan = ready(reader.plan(id)).ok().flatten()?;
        let journal = ready(reader.journal(id)).ok()?;
        let record = ready(reader.operation(id)).ok().flatten()?;
        let rows = self.rows_of(&plan);
        let secrets = self.opened_slots(id);
        let spec = OperationSpec {
            id: id.clone(),
            plan,
            rows,
            actor: record.actor,
            seed: 0,
            minted: Vec::new(),
            key: self.key.clone(),
            limits: self.limits.clone(),
        };
        match Operation::replay(spec, &journal) {
            Ok(operation) => Some((operation, secrets)),
            Err(error) => {
                self.violated(Invariant::Integrity, format!("{id} does not replay: {error}"));
                if let Some(run) = self.runs.get_mut(id) {
                    run.ended = Some((OperationStatus::Failed, self.now));
                }
                None
            }
        }
    }

    fn opened_slots(&self, id: &OperationId) -> SecretSlots {
        let slots = ready(self.store.reader().slots(id)).unwrap_or_default();
        slots
            .into_iter()
            .filter_map(|(slot, sealed)| {
                let plain = self.key.open(slot.as_str().as_bytes(), &sealed).ok()?;
                let value = serde_json::from_slice(plain.expose()).ok()?;
                Some((slot, Secret::new(value)))
            })
            .collect()
    }

    /// All rows of the plan's stacks.
    pub(super) fn rows_of(&self, plan: &Plan) -> Vec<Row> {
        let reader = self.store.reader();
        plan.stacks.iter().flat_map(|stack| ready(reader.rows(&stack.id)).unwrap_or_default()).collect()
    }

    /// All rows there are, of every stack that had an operation.
    pub(crate) fn ledger(&self) -> Vec<Row> {
        let reader = self.store.reader();
        let stacks: std::collections::BTreeSet<_> = self.runs.values().map(|run| &run.stack).collect();
        stacks.into_iter().flat_map(|stack| ready(reader.rows(stack)).unwrap_or_default()).collect()
    }

    pub(super) fn next_owner(&mut self) -> OwnerId {
        OwnerId::from(format!("host-{}", self.processes.len()))
    }

    /// Somebody asks an operation to stop.
    pub(super) fn cancel(&mut self, id: &OperationId, force: bool) {
        let Some(run) = self.runs.get(id).filter(|run| run.ended.is_none()) else { return };
        let Some(at) = run.newest.filter(|at| self.alive(*at)) else {
            // Its process is dead; whoever asks finds it once it is recovered.
            return self.at(self.now.plus(100), Happening::Cancel(id.clone(), force));
        };
        let now = self.now;
        if let Some(run) = self.runs.get_mut(id) {
            run.canceled = run.canceled.filter(|(_, forced)| *forced || !force).or(Some((now, force)));
        }
        self.turn(at, vec![Input::Cancel { force }]);
    }

    /// A person looks at the provider, when no call can take effect any more, and decides what came
    /// of creates of earlier operations.
    pub(super) fn decisions(&self, plan: &Plan, rows: &[Row]) -> Vec<(StepId, Option<(NativeId, Stored)>)> {
        let resolves = plan.steps.iter().filter(|step| step.action == Action::Resolve);
        resolves
            .filter_map(|step| {
                let RowRef::Existing(id) = &step.row else { return None };
                let row = rows.iter().find(|row| row.id == *id)?;
                let intent = row.intent.as_ref()?;
                let decidable = intent.kind == IntentKind::Create && self.lands_until(row)? <= self.now;
                decidable.then(|| (step.id, self.made_by(&row.id, intent)))
            })
            .collect()
    }

    /// Until when the call of a row's open intent may take effect.
    pub(crate) fn lands_until(&self, row: &Row) -> Option<Timestamp> {
        let intent = row.intent.as_ref()?;
        let rules = self.catalog.get(&intent.type_name)?;
        Some(intent.not_after.plus(rules.capabilities().settle_millis))
    }

    /// The object that an unanswered call made: what a person finds who looks, by its date and its
    /// marks. One that was made for the row under an earlier generation, and that an operation let go
    /// of since, is not it, however like it looks.
    fn made_by(&self, row: &RowId, intent: &OpenIntent) -> Option<(NativeId, Stored)> {
        let is_its = |mark: &Mark| {
            mark.row == *row && mark.generation == intent.generation && mark.kind == intent.kind
        };
        let mut objects = self.provider.objects().iter();
        let (id, object) = objects.find(|(_, object)| object.mark.as_ref().is_some_and(is_its))?;
        // Where the engine can't look, the person's word is what it has.
        let seen =
            if object.backend.reads() { Stored::Plain(object.readable()) } else { intent.sent.clone() };
        Some((id.clone(), seen))
    }
}
