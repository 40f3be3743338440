//! How a step begins: its condition, its inputs, its guard.

use crate::facts::Key;
use crate::inputs::{Prepared, Resolver, as_planned, references_changed};
use crate::live::{Errand, State};
use crate::operation::Operation;
use crate::{Act, ReadCall};
use formwork_model::{
    Action, Certainty, Condition, DeletionPolicy, Failure, Guard, NativeId, Object, OpenIntent,
    OperationKind, Outcome, Ownership, Patch, Plan, Row, Step, StepId, Stored, Timestamp, TypeCapabilities,
    WireCode, same,
};
use formwork_planner::{Comparison, Verdict, diff};
use std::sync::Arc;

impl Operation {
    /// Begins a step that may begin.
    pub(crate) fn begin(&mut self, now: Timestamp, id: StepId) {
        let plan = Arc::clone(&self.plan);
        let Some(step) = plan.step(id) else { return };
        if let Some(failure) = self.lost_ground(step) {
            self.settle(now, Key::forward(id), Outcome::Skipped { failure });
            return;
        }
        let row = self.row_id(&step.row);
        if self.busy.contains_key(&row) {
            self.queued.entry(row).or_default().push(id);
            return;
        }
        self.busy.insert(row, id);
        self.schedule.begin(&self.layout, id);
        self.carry_out(now, &plan, step);
    }

    /// Why a step of one stack must not build on another stack: that one rolls back.
    fn lost_ground(&self, step: &Step) -> Option<Failure> {
        let own = self.layout.stack_of(step.id);
        let others = step.after_steps.iter().filter(|on| self.plan.step(**on).is_some());
        let lost =
            others.map(|on| (*on, self.layout.stack_of(*on))).find(|(_, at)| *at != own && self.stopped[*at]);
        lost.map(|(on, _)| self.because_of(on))
    }

    /// Does what a step says, as far as that needs no answer.
    pub(crate) fn carry_out(&mut self, now: Timestamp, plan: &Plan, step: &Step) {
        let key = Key::forward(step.id);
        if self.row_for(&step.row).is_none() {
            let failure = Failure::new(WireCode::InternalError, "The ledger has no row for the step.");
            self.settle(now, key, Outcome::Failed { failure });
            return;
        }
        let goes = matches!(step.action, Action::Delete { .. } | Action::Forget);
        if let Some(failure) = self.refusal(step).filter(|_| goes) {
            self.settle(now, key, Outcome::Failed { failure });
            return;
        }
        match &step.action {
            Action::NoOp => self.settle(now, key, Outcome::NoOp),
            Action::Forget => self.settle(now, key, Outcome::Forgotten),
            Action::Rename { .. } => self.settle(now, key, Outcome::Recorded { object: None }),
            Action::Adopt { native_id } => self.adopt(now, step, native_id),
            Action::Read => self.read(now, step),
            Action::Resolve => self.resolve_earlier(now, step),
            Action::Record
            | Action::Create
            | Action::Update
            | Action::Replace
            | Action::Delete { .. }
            | Action::Cleanup { .. } => match self.prepare_step(step) {
                Ok((prepared, Some(read))) => {
                    self.set_live(now, key, State::Reading(Box::new(prepared)));
                    self.out.then.push(Act::Read(self.read_call(now, step, &read)));
                }
                Ok((prepared, None)) => self.arrange(now, plan, step, prepared),
                Err(outcome) => self.settle(now, key, outcome),
            },
        }
    }

    fn adopt(&mut self, now: Timestamp, step: &Step, native_id: &NativeId) {
        let key = Key::forward(step.id);
        let free = self.row_for(&step.row).map_or(Ok(()), |row| self.check_guard(step, row));
        let prepared = match free.and_then(|()| self.prepare(step)) {
            Ok(prepared) => prepared,
            Err(failure) => return self.settle(now, key, Outcome::Failed { failure }),
        };
        let object = adopted(step, native_id, prepared.sent.clone());
        if self.capabilities(step).is_some_and(|capabilities| capabilities.read) {
            self.set_live(now, key, State::Reading(Box::new(prepared)));
            self.out.then.push(Act::Read(self.read_call(now, step, &object)));
        } else {
            self.settle(now, key, Outcome::Recorded { object: Some(Box::new(object)) });
        }
    }

    fn read(&mut self, now: Timestamp, step: &Step) {
        let key = Key::forward(step.id);
        let Some(object) = self.row_for(&step.row).and_then(|row| row.current.clone()) else {
            let failure =
                Failure::new(WireCode::ResourceNotFound, format!("`{}` does not exist.", step.label));
            return self.settle(now, key, Outcome::Failed { failure });
        };
        if self.capabilities(step).is_some_and(|capabilities| capabilities.read) {
            self.set_live(now, key, State::Reading(Box::default()));
            self.out.then.push(Act::Read(self.read_call(now, step, &object)));
        } else {
            self.settle(now, key, Outcome::NoOp);
        }
    }

    fn read_call(&self, now: Timestamp, step: &Step, object: &Object) -> ReadCall {
        let timeout = self.capabilities(step).map_or(0, |capabilities| capabilities.timeout_millis);
        ReadCall {
            step: step.id,
            type_name: object.type_name.clone(),
            target: object.target.clone(),
            native_id: object.native_id.clone(),
            prior: (!matches!(step.action, Action::Adopt { .. })).then(|| object.echo.clone()),
            deadline: now.plus(timeout),
        }
    }

    pub(crate) fn capabilities(&self, step: &Step) -> Option<&TypeCapabilities> {
        self.pinned(&step.type_name).map(|pinned| &pinned.capabilities)
    }

    /// Everything before a call: whether there is anything to do, what to send, whether the guard
    /// holds, and the object to read first. `Err`: how the step ends instead.
    fn prepare_step(&self, step: &Step) -> Result<(Prepared, Option<Object>), Outcome> {
        if let Condition::Replaced(on) = step.when
            && !self.was_replaced(on)
        {
            return Err(Outcome::NoOp);
        }
        let failed = |failure| Outcome::Failed { failure };
        let row = self.row_for(&step.row).ok_or(Outcome::NoOp)?;
        let capabilities = self.capabilities(step).ok_or_else(|| failed(not_pinned(step)))?;
        let prepared = self.prepare(step).map_err(failed)?;
        if !self.references_moved(step, row, &prepared) {
            let object = to_confirm(step, row, capabilities).ok_or(Outcome::NoOp)?;
            return Ok((prepared, Some(object)));
        }
        let object = self.object_of(step, row)?;
        if let Some(failure) = self.held_up(step) {
            return Err(Outcome::Skipped { failure });
        }
        if let Some(intent) = row.intent.as_ref().filter(|intent| !self.is_own(step, intent)) {
            return Err(failed(unsettled(step, intent)));
        }
        self.check_guard(step, row).map_err(failed)?;
        let reads = match &step.guard {
            Guard::Unchanged { baseline, .. } => baseline.is_some(),
            // Planned because the row's object was seen to be gone: it must still be.
            _ => step.action == Action::Create && !self.was_resolved(row),
        };
        let reads = reads && capabilities.read;
        Ok((prepared, object.filter(|_| reads)))
    }

    /// How a cleanup ends that needs no call whatever it waits for: nothing was replaced, or what was
    /// is kept.
    pub(crate) fn needless_cleanup(&self, step: StepId) -> Option<Outcome> {
        let step = self.step(step).filter(|step| matches!(step.action, Action::Cleanup { .. }))?;
        if let Condition::Replaced(on) = step.when {
            self.facts.steps.get(on.index())?.forward.ending()?;
            if !self.was_replaced(on) {
                return Some(Outcome::NoOp);
            }
        }
        self.object_of(step, self.row_for(&step.row)?).err()
    }

    /// Why a deletion must not be made: the cleanup of what refers to its object came to nothing. A
    /// failed cleanup holds up nothing else, and in a teardown only other cleanups.
    fn held_up(&self, step: &Step) -> Option<Failure> {
        let is_cleanup = |step: &Step| matches!(step.action, Action::Cleanup { .. });
        let removes = step.action == Action::Delete { replacing: false };
        if !is_cleanup(step) && (!removes || self.plan.kind == OperationKind::Delete) {
            return None;
        }
        let failed = |on: &&StepId| {
            let ending = self.facts.steps.get(on.index()).and_then(|facts| facts.forward.ending());
            ending.is_some_and(|ending| !ending.how.is_success()) && self.step(**on).is_some_and(is_cleanup)
        };
        step.after_steps.iter().find(failed).map(|holder| self.because_of(*holder))
    }

    /// Whether a step has nothing to do, because its condition does not hold.
    pub(crate) fn is_idle(&self, step: &Step, prepared: &Prepared) -> bool {
        self.row_for(&step.row).is_some_and(|row| !self.references_moved(step, row, prepared))
    }

    fn is_own(&self, step: &Step, intent: &OpenIntent) -> bool {
        intent.operation == self.id && intent.step == step.id
    }

    /// Whether this operation settled an earlier effect on the row.
    fn was_resolved(&self, row: &Row) -> bool {
        self.facts.own.get(&row.id).is_some_and(|own| own.resolved)
    }

    fn can_be_seen(&self, step: &Step) -> bool {
        self.capabilities(step).is_some_and(|capabilities| capabilities.read)
    }

    fn was_replaced(&self, on: StepId) -> bool {
        let track = self.facts.steps.get(on.index()).map(|facts| &facts.forward);
        track.and_then(|track| track.ending()).is_some_and(|ending| ending.replaced)
    }

    /// The step's inputs with their references resolved.
    pub(crate) fn prepare(&self, step: &Step) -> Result<Prepared, Failure> {
        let Some(inputs) = &step.inputs else {
            return Ok(Prepared { sent: Stored::empty_object(), ..Prepared::default() });
        };
        let pinned = self.pinned(&step.type_name).ok_or_else(|| not_pinned(step))?;
        let row = self.row_for(&step.row);
        let resolver = Resolver {
            rows: &|row| self.row_for(row),
            key: &self.key,
            schema: &pinned.schema,
            keeping: pinned.capabilities.secrets,
            previous: row.and_then(|row| row.current.as_ref()).map(|object| &object.sent),
            after: step.after.as_ref(),
        };
        resolver.resolve(inputs).map_err(|unresolved| unresolved.failure())
    }

    fn references_moved(&self, step: &Step, row: &Row, prepared: &Prepared) -> bool {
        let Condition::RefChanged(listed) = &step.when else { return true };
        let (Some(inputs), Some(object)) = (&step.inputs, &row.current) else { return true };
        references_changed(inputs, &prepared.sent, &object.sent, |bound| {
            listed.iter().any(|(on, path)| {
                let named = self.plan.step(*on).is_some_and(|other| other.row == bound.row);
                named && bound.reference.path == *path
            })
        })
    }

    /// The object that a step acts on. `Err`: how the step ends instead.
    fn object_of(&self, step: &Step, row: &Row) -> Result<Option<Object>, Outcome> {
        match &step.action {
            Action::Cleanup { native_id } => {
                let named = match (native_id, &step.when) {
                    (Some(native_id), _) => Some(native_id.clone()),
                    (None, Condition::Replaced(on)) => self.facts.deposed_by(*on, &self.plan),
                    (None, _) => row.deposed.last().map(|object| object.native_id.clone()),
                };
                let named = named.or_else(|| row.deposed.last().map(|object| object.native_id.clone()));
                let found = row.deposed.iter().find(|object| Some(&object.native_id) == named.as_ref());
                let Some(object) = found else { return Err(Outcome::NoOp) };
                if step.deletion_policy != DeletionPolicy::Delete {
                    return Err(Outcome::Kept { native_id: object.native_id.clone() });
                }
                Ok(Some(object.clone()))
            }
            Action::Delete { replacing } if row.current.is_none() && step.guard == Guard::None => {
                Err(if *replacing { Outcome::NoOp } else { Outcome::Forgotten })
            }
            _ => Ok(row.current.clone()),
        }
    }

    /// Whether what a step rests on is still so. Effects of this operation itself are expected.
    fn check_guard(&self, step: &Step, row: &Row) -> Result<(), Failure> {
        let own = self.facts.own.get(&row.id).copied().unwrap_or_default();
        let expected = |generation: formwork_model::Generation| {
            generation <= row.generation && row.generation.0 - generation.0 <= own.rises
        };
        let current = row.current.as_ref().map(|object| &object.native_id);
        let holds = match &step.guard {
            Guard::None => true,
            Guard::Absent { generation } => expected(*generation),
            Guard::Unchanged { native_id, generation, .. } => {
                let same = match step.action {
                    Action::Cleanup { .. } => true,
                    Action::Adopt { .. } => current.is_none(),
                    Action::Replace if own.deleted_first => current.is_none(),
                    _ => current == Some(native_id),
                };
                same && expected(*generation)
            }
        };
        if !holds {
            return Err(drifted(step, "its record changed since the plan was made"));
        }
        match (&step.action, current) {
            (Action::Create, Some(_)) if !own.resolved && !self.can_be_seen(step) => {
                Err(drifted(step, "it exists already"))
            }
            (Action::Update, None) => Err(drifted(step, "it does not exist")),
            _ => Ok(()),
        }
    }

    /// Asks for the permit to make the call, unless nothing is left to do.
    pub(crate) fn arrange(&mut self, now: Timestamp, plan: &Plan, step: &Step, prepared: Prepared) {
        let key = Key::forward(step.id);
        match self.errand(plan, step, prepared) {
            Ok(errand) => self.request_permit(now, key, errand),
            Err(outcome) => self.settle(now, key, outcome),
        }
    }

    fn errand(&self, plan: &Plan, step: &Step, prepared: Prepared) -> Result<Errand, Outcome> {
        let row = self.row_for(&step.row).ok_or(Outcome::NoOp)?;
        if self.is_idle(step, &prepared) {
            let object = row.current.as_ref().ok_or(Outcome::NoOp)?;
            return Err(match self.compare(plan, step, row, object, prepared) {
                Err(recorded @ Outcome::Recorded { .. }) => recorded,
                _ => Outcome::NoOp,
            });
        }
        match &step.action {
            Action::Record => Err(Outcome::Recorded { object: recorded(step, row, &prepared) }),
            Action::Delete { .. } | Action::Cleanup { .. } => match self.object_of(step, row)? {
                Some(object) => Ok(Errand::Delete(object.native_id)),
                None => Err(Outcome::NoOp),
            },
            action => {
                let at_runtime = match action {
                    Action::Create => self.was_resolved(row),
                    _ => step.patch == Patch::AtRuntime,
                };
                match row.current.as_ref().filter(|_| at_runtime) {
                    Some(object) => self.compare(plan, step, row, object, prepared),
                    None => Ok(Errand::Send(prepared)),
                }
            }
        }
    }

    /// Asks the one change rule again, now that all references are known: the step may become a
    /// no-op, but never another action.
    fn compare(
        &self,
        plan: &Plan,
        step: &Step,
        row: &Row,
        object: &Object,
        prepared: Prepared,
    ) -> Result<Errand, Outcome> {
        let failed = |failure| Outcome::Failed { failure };
        let pinned = self.pinned(&step.type_name).ok_or_else(|| failed(not_pinned(step)))?;
        let stack = plan.stacks.iter().find(|stack| stack.id == step.stack);
        let verdict = diff(&Comparison {
            schema: &pinned.schema,
            capabilities: &pinned.capabilities,
            ownership: stack.map_or(Ownership::default(), |stack| stack.ownership),
            desired: &as_planned(&prepared),
            object: Some(object),
            observed: prepared.observed.as_ref(),
        });
        match (verdict, &step.action) {
            (Verdict::NoOp, Action::Create) | (Verdict::Record, _) => {
                Err(Outcome::Recorded { object: recorded(step, row, &prepared) })
            }
            (Verdict::NoOp, _) => Err(Outcome::NoOp),
            (Verdict::Update { .. }, Action::Update)
            | (Verdict::Replace { .. }, Action::Replace)
            | (Verdict::Undetermined { .. }, Action::Update | Action::Replace) => Ok(Errand::Send(prepared)),
            // A property that must always be sent looks changed, and was sent just so.
            (Verdict::Update { .. }, Action::Create)
                if object.certainty == Certainty::Certain
                    && same(&object.sent.comparable(), &prepared.sent.comparable()) =>
            {
                Err(Outcome::Recorded { object: recorded(step, row, &prepared) })
            }
            (Verdict::Update { .. }, Action::Create) => {
                Err(failed(drifted(step, "an interrupted create had succeeded, with other properties")))
            }
            _ => Err(failed(drifted(step, "the change it needs is not the one that was planned"))),
        }
    }

    pub(crate) fn request_permit(&mut self, now: Timestamp, key: Key, errand: Errand) {
        let Some(step) = self.step(key.step) else { return };
        let act =
            Act::RequestPermit { step: step.id, kind: self.kind(key), type_name: step.type_name.clone() };
        self.set_live(now, key, State::Permit(Box::new(errand)));
        self.out.then.push(act);
    }
}

/// The object of a step that has nothing to do, if it is worth a look whether an earlier call
/// changed it after all: a step's end must not leave it uncertain for ever.
fn to_confirm(step: &Step, row: &Row, capabilities: &TypeCapabilities) -> Option<Object> {
    let Guard::Unchanged { native_id, baseline: Some(_), .. } = &step.guard else { return None };
    let object = row.current.as_ref().filter(|object| object.native_id == *native_id)?;
    let open = object.certainty == Certainty::Uncertain && row.intent.is_none();
    (open && capabilities.read).then(|| object.clone())
}

/// The object as it is after a `Record`, or after a step that found nothing left to do.
fn recorded(step: &Step, row: &Row, prepared: &Prepared) -> Option<Box<Object>> {
    let mut object = row.current.clone()?;
    object.deletion_policy = step.deletion_policy;
    if step.inputs.is_some() {
        object.sent = prepared.sent.clone();
    }
    let seen = prepared.observed.clone().or_else(|| object.observed.as_ref().map(|(seen, _)| seen.clone()));
    if let Some(seen) = seen {
        object.echo = seen;
        if object.certainty == Certainty::Uncertain {
            object.certainty = Certainty::Certain;
        }
    }
    Some(Box::new(object))
}

/// An object that existed before we knew it: what is there counts as what was sent.
pub(crate) fn adopted(step: &Step, native_id: &NativeId, properties: Stored) -> Object {
    Object {
        native_id: native_id.clone(),
        type_name: step.type_name.clone(),
        target: step.target.clone(),
        deletion_policy: step.deletion_policy,
        sent: properties.clone(),
        echo: properties,
        observed: None,
        certainty: Certainty::Certain,
    }
}

pub(crate) fn drifted(step: &Step, why: &str) -> Failure {
    Failure::new(WireCode::Drifted, format!("`{}` was not touched: {why}. Plan again.", step.label))
}

fn not_pinned(step: &Step) -> Failure {
    let message = format!("The plan does not describe the type `{}`.", step.type_name);
    Failure::new(WireCode::InternalError, message)
}

fn unsettled(step: &Step, intent: &OpenIntent) -> Failure {
    let message = format!(
        "`{}` was not touched: whether an earlier call of operation `{}` had an effect is not known.",
        step.label, intent.operation
    );
    Failure::new(WireCode::OutcomeUnknown, message)
}
