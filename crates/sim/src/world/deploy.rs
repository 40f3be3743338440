//! What `control` does: observe, plan, begin.

use super::events::Happening;
use super::process::Process;
use super::{LEASE_MILLIS, Run, World};
use crate::declare::{Declaration, Declared};
use crate::judge::Invariant;
use crate::ready::ready;
use formwork_engine_core::{Operation, OperationSpec};
use formwork_model::{
    Diagnostics, Entry, Observation, OperationId, OperationKind, OperationRecord, OperationStatus, Plan,
    PlanHash, Row, RowId, RowRef, RowStatus, SecretSlots, StepId, Stored, canonical,
};
use formwork_planner::{PlanRequest, Planning};
use formwork_store::{Begin, Begun, Store as _};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What became of a request to deploy.
#[derive(Debug)]
pub enum Deployed {
    /// An operation runs.
    Begun(OperationId),
    /// The planner refused.
    Refused(Diagnostics),
    /// Another operation holds the stack.
    Held,
    /// The ledger moved on since the plan was made.
    Moved(StepId),
    /// The store failed.
    Fault,
}

/// A plan with what it was made from.
#[derive(Debug)]
pub struct Planned {
    /// The stack.
    pub declaration: Declaration,
    /// The plan.
    pub plan: Arc<Plan>,
    rows: Vec<Row>,
    secrets: SecretSlots,
}

impl World {
    /// Plans a stack with a fresh look at its objects. Planning twice must give the same bytes
    /// (INV-10) and change nothing (INV-5).
    ///
    /// # Errors
    /// What the planner has against it.
    pub fn plan(&mut self, declaration: &Declaration) -> Result<Planned, Diagnostics> {
        let before = self.thorough.then(|| self.everything());
        let rows = ready(self.store.reader().rows(&declaration.stack_id())).unwrap_or_default();
        let first = self.plan_once(declaration, &rows);
        if let Some(before) = before {
            let again = self.plan_once(declaration, &rows);
            if self.everything() != before {
                self.violated(
                    Invariant::Purity,
                    format!("planning `{}` changed something", declaration.stack),
                );
            }
            if bytes(&first) != bytes(&again) {
                self.violated(Invariant::Determinism, format!("two plans of `{}` differ", declaration.stack));
            }
        }
        let planning = first?;
        if let Err(faults) = formwork_planner::check(&planning.plan) {
            self.violated(Invariant::PlanFidelity, format!("the plan breaks its promises: {faults:?}"));
        }
        let passwords = declaration.resources.iter().filter_map(|resource| resource.password.clone());
        self.canaries.extend(passwords);
        self.judge_secrecy_of_plan(&planning.plan);
        Ok(Planned {
            declaration: declaration.clone(),
            plan: Arc::new(planning.plan),
            rows,
            secrets: planning.secrets,
        })
    }

    fn everything(&self) -> (String, (usize, usize, u64)) {
        let digest = ready(self.store.reader().logical_digest()).unwrap_or_default();
        (digest, self.provider.fingerprint())
    }

    fn plan_once(&self, declaration: &Declaration, rows: &[Row]) -> Result<Planning, Diagnostics> {
        let observations = self.observe(rows);
        formwork_planner::plan(&PlanRequest {
            kind: kind_of(declaration, rows),
            desired: &declaration.desired(),
            rows,
            known: &BTreeMap::new(),
            observations: &observations,
            imports: &BTreeMap::new(),
            catalog: &self.catalog,
            key: &self.key,
            incomplete: false,
        })
    }

    /// A fresh look at all objects that can be read.
    fn observe(&self, rows: &[Row]) -> BTreeMap<RowId, Observation> {
        let looked_at = rows.iter().filter_map(|row| {
            let object = row.current.as_ref()?;
            let backend = crate::catalog::Backend::of(&object.type_name)?;
            if !backend.reads() {
                return None;
            }
            let (id, native_id) = (row.id.clone(), object.native_id.clone());
            let seen = match self.provider.object(&native_id).filter(|seen| seen.backend == backend) {
                Some(seen) => Observation::Present {
                    row: row.id.clone(),
                    native_id,
                    properties: Stored::Plain(seen.readable()),
                    at: self.now,
                },
                None => Observation::Gone { row: row.id.clone(), native_id },
            };
            Some((id, seen))
        });
        looked_at.collect()
    }

    /// Plans a stack and begins the operation.
    pub fn deploy(&mut self, declaration: &Declaration) -> Deployed {
        match self.plan(declaration) {
            Ok(planned) => self.apply(planned),
            Err(refusal) => {
                let text = refusal.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; ");
                self.note(format_args!("`{}` is refused: {text}", declaration.stack));
                Deployed::Refused(refusal)
            }
        }
    }

    /// Begins an operation that carries a plan out.
    pub fn apply(&mut self, planned: Planned) -> Deployed {
        let Planned { declaration, plan, rows, secrets } = planned;
        self.operations += 1;
        let id = OperationId::from(format!("form_op_{}", self.operations));
        let minted = self.mint(&plan);
        let seed = self.chance.any();
        let spec = OperationSpec {
            id: id.clone(),
            plan: plan.clone(),
            rows: rows.clone(),
            actor: "tester".into(),
            seed,
            minted: minted.clone(),
            key: self.key.clone(),
            limits: self.limits.clone(),
        };
        let (mut operation, opening) = Operation::open(spec, self.now);
        let Entry::Started { plan: hash, .. } = opening.started.entry else {
            unreachable!("an operation's first entry says that it started")
        };
        let slots = secrets.iter().filter_map(|(slot, secret)| {
            let text = serde_json::to_vec(secret.expose()).ok()?;
            Some((slot.clone(), self.key.seal(slot.as_str().as_bytes(), &text)))
        });
        let slots: Vec<_> = slots.collect();
        let owner = self.next_owner();
        let begin = Begin {
            operation: self.record(&id, &plan, hash),
            owner: owner.clone(),
            ttl_millis: LEASE_MILLIS,
            plan: plan.clone(),
            slots,
            new_rows: opening.new_rows,
            started: opening.started,
            events: opening.events,
            objects: Vec::new(),
            requires: Vec::new(),
            audit: Vec::new(),
            claims: Vec::new(),
        };
        let guard = match ready(self.store.begin(begin)) {
            Ok(Begun::Running(guard)) => guard,
            Ok(Begun::Held(_)) => return Deployed::Held,
            Ok(Begun::Moved(step)) => return Deployed::Moved(step),
            Err(_) => return Deployed::Fault,
        };
        let at = self.processes.len();
        self.note(format_args!("p{at} begins {id} with plan {hash}"));
        let run = Run {
            plan: plan.clone(),
            stack: declaration.stack_id(),
            minted,
            rows_before: rows,
            newest: Some(at),
            ended: None,
            canceled: None,
            lives: 1,
            disturbed: false,
        };
        self.runs.insert(id.clone(), run);
        for (step, adopt) in self.decisions(&plan, &self.runs[&id].rows_before) {
            self.note(format_args!("a person decides about {step} of {id}: {adopt:?}"));
            operation.decide(step, adopt);
        }
        let process = Process::new(operation, id.clone(), owner, guard, self.store.clone(), secrets);
        self.processes.push(process);
        self.at(self.now.plus(LEASE_MILLIS / 3), Happening::Renew(at));
        let now = self.now;
        let batch = self.processes[at].operation.start(now);
        self.carry_out(at, batch);
        Deployed::Begun(id)
    }

    fn record(&self, id: &OperationId, plan: &Plan, plan_hash: PlanHash) -> OperationRecord {
        OperationRecord {
            id: id.clone(),
            project: plan.project.clone(),
            stacks: plan.stacks.iter().map(|stack| stack.id.clone()).collect(),
            kind: plan.kind,
            status: OperationStatus::Running,
            actor: "tester".into(),
            plan_hash,
            started_at: self.now,
            updated_at: self.now,
            finished_at: None,
            failure: None,
        }
    }

    fn mint(&mut self, plan: &Plan) -> Vec<RowId> {
        let new: BTreeSet<u32> = plan
            .steps
            .iter()
            .filter_map(|step| match step.row {
                RowRef::New(number) => Some(number),
                RowRef::Existing(_) => None,
            })
            .collect();
        let count = new.last().map_or(0, |last| last + 1);
        (0..count)
            .map(|_| {
                self.rows += 1;
                RowId::from(format!("form_res_{}", self.rows))
            })
            .collect()
    }

    /// How an operation ended, once it has.
    pub fn status(&self, id: &OperationId) -> Option<OperationStatus> {
        self.runs.get(id)?.ended.map(|(status, _)| status)
    }

    /// Whether every declared resource is there as declared, and nothing else is in the stack.
    /// Says what is not.
    pub fn difference(&self, declaration: &Declaration) -> Option<String> {
        let rows = ready(self.store.reader().rows(&declaration.stack_id())).unwrap_or_default();
        let live: BTreeMap<&str, &Row> =
            rows.iter().filter(|row| row.is_live()).map(|row| (row.label.as_str(), row)).collect();
        let declared: BTreeSet<&str> =
            declaration.resources.iter().map(|resource| resource.label.as_str()).collect();
        if let Some(extra) = live.keys().find(|label| !declared.contains(**label)) {
            return Some(format!("`{extra}` is still there"));
        }
        declaration.resources.iter().find_map(|resource| self.missing(declaration, resource, &live))
    }

    fn missing(
        &self,
        declaration: &Declaration,
        resource: &Declared,
        live: &BTreeMap<&str, &Row>,
    ) -> Option<String> {
        let label = &resource.label;
        let Some(object) = live.get(label.as_str()).and_then(|row| row.current.as_ref()) else {
            return Some(format!("`{label}` has no object"));
        };
        let Some(found) = self.provider.object(&object.native_id) else {
            return Some(format!("`{label}` is `{}`, which does not exist", object.native_id));
        };
        let wanted = crate::judge::evaluated(resource, declaration, live);
        crate::judge::differing(&wanted, &found.properties)
            .map(|(name, wanted, found)| format!("`{label}.{name}` is {found}, not {wanted}"))
    }
}

fn kind_of(declaration: &Declaration, rows: &[Row]) -> OperationKind {
    let live = rows.iter().any(|row| row.is_live() || row.status != RowStatus::Deleted);
    match (declaration.resources.is_empty(), live) {
        (true, _) => OperationKind::Delete,
        (false, true) => OperationKind::Update,
        (false, false) => OperationKind::Create,
    }
}

/// A plan as bytes, or its refusal in words.
fn bytes(planning: &Result<Planning, Diagnostics>) -> String {
    match planning {
        Ok(planning) => serde_json::to_value(&planning.plan).map(|plan| canonical(&plan)).unwrap_or_default(),
        Err(refusal) => format!("{refusal:?}"),
    }
}
