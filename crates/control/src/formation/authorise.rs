//! A formation only does what the caller could do directly (seed 4): every resource of a plan is
//! asked for as the action that its route takes, and all that is missing is told at once.

use super::deploy::Decisions;
use super::plan::{DeniedAction, Ready};
use crate::access::{Access, Declared, Target, Verb, deleting, retagging};
use crate::authorise::{Permit, Question};
use crate::{Control, ControlError, Principal};
use formwork_iam::Context;
use formwork_model::{
    Action, Catalog as _, DeletionPolicy, Json, Label, NativeId, ProjectId, Row, RowId, RowRef, Step,
    TypeName, WireCode,
};
use formwork_platform::Platform;
use formwork_store::StoredObject;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What a plan takes: which actions, each with how often, and those that are missing.
#[derive(Default)]
pub(crate) struct Demands<'a> {
    pub(crate) denied: Vec<DeniedAction>,
    counts: BTreeMap<String, usize>,
    /// A replacement may delete in two steps what a person deletes once.
    told: BTreeSet<(&'a Label, TypeName, String)>,
}

/// Decides over the steps of one plan. Most of them ask the same: whether things of a type may be
/// made in the project. That is decided once per type.
struct Asking<'a> {
    control: &'a Control,
    principal: &'a Principal,
    project: &'a ProjectId,
    rows: BTreeMap<&'a RowId, &'a Row>,
    /// The logical ids of what is made.
    made: BTreeSet<&'a str>,
    /// The objects that new rows are given.
    adopting: BTreeMap<u32, &'a NativeId>,
    /// What is there, whatever the plan or the ledger thinks of it.
    stored: HashMap<&'a NativeId, StoredObject>,
    access: HashMap<&'a TypeName, Option<Arc<Access>>>,
    decided: HashMap<String, bool>,
}

impl Control {
    /// What the principal needs, and lacks, to carry out a plan.
    ///
    /// # Errors
    /// Faults of the store.
    pub(crate) async fn demands<'a>(
        &'a self,
        p: &'a Principal,
        project: &'a ProjectId,
        ready: &'a Ready,
        decisions: &'a Decisions,
    ) -> Result<Demands<'a>, ControlError> {
        // The id of what a handler makes is whatever the handler says.
        let makes = |step: &&Step| {
            matches!(step.action, Action::Create | Action::Replace)
                && !self.catalog.is_outside(&step.type_name)
        };
        let steps = &ready.plan.steps;
        let mut asking = Asking {
            control: self,
            principal: p,
            project,
            rows: ready.rows.iter().map(|row| (&row.id, row)).collect(),
            made: steps.iter().filter(makes).map(|step| step.label.as_str()).collect(),
            adopting: steps.iter().filter_map(adopting).collect(),
            stored: HashMap::new(),
            access: HashMap::new(),
            decided: HashMap::new(),
        };
        let adopted = asking.adopted(steps, decisions);
        asking.look(steps, &adopted).await?;
        let mut demands = Demands::default();
        for step in steps {
            asking.ask(step, &mut demands)?;
        }
        for adopted in &adopted {
            asking.ask_to_adopt(adopted, &mut demands)?;
        }
        asking.ask_for_what_goes_along(steps, &mut demands).await?;
        Ok(demands)
    }

    /// Demands every action that a plan takes. `subject` is the formation, as far as it has an id.
    ///
    /// # Errors
    /// `FORBIDDEN` with all of `meta.denied_actions`; nothing was changed, and the refusal is in the
    /// audit.
    pub(crate) async fn permit_plan(
        &self,
        p: &Principal,
        permit: Permit,
        subject: &str,
        project: &ProjectId,
        ready: &Ready,
        decisions: &Decisions,
    ) -> Result<PermittedPlan, ControlError> {
        let Demands { denied, counts, .. } = self.demands(p, project, ready, decisions).await?;
        if denied.is_empty() {
            return Ok(PermittedPlan { permit, counts });
        }
        let meta = serde_json::json!({ "denied_actions": wire(&denied) });
        self.refuse(permit, subject, meta.clone()).await?;
        Err(ControlError::new(WireCode::Forbidden, sentence(&denied)).with_meta(meta))
    }
}

/// A plan that may be carried out.
#[derive(Debug)]
#[must_use = "a decision on a write is audited with its effect"]
pub(crate) struct PermittedPlan {
    permit: Permit,
    counts: BTreeMap<String, usize>,
}

impl PermittedPlan {
    /// The line of the audit: the request's action, with the actions that its plan takes.
    pub(crate) fn record(self, subject: &str, mut detail: Json) -> formwork_store::AuditRecord {
        if !self.counts.is_empty() {
            detail["actions"] = serde_json::json!(self.counts);
        }
        self.permit.record(subject, detail)
    }
}

impl<'a> Demands<'a> {
    fn note(&mut self, label: &'a Label, type_name: &TypeName, action: &str, allowed: bool) {
        *self.counts.entry(action.to_owned()).or_default() += 1;
        if !allowed && self.told.insert((label, type_name.clone(), action.to_owned())) {
            self.denied.push(DeniedAction {
                logical_id: label.to_string(),
                resource_type: type_name.clone(),
                action: action.to_owned(),
            });
        }
    }
}

/// An object that becomes a resource's.
struct Adopted<'a> {
    label: &'a Label,
    type_name: &'a TypeName,
    native_id: &'a NativeId,
}

impl<'a> Asking<'a> {
    /// The objects that the plan takes over: those that it adopts, and those that a person says
    /// earlier creates made.
    fn adopted(&self, steps: &'a [Step], decisions: &'a Decisions) -> Vec<Adopted<'a>> {
        let adopted = steps.iter().filter_map(|step| {
            let (type_name, native_id) = match &step.action {
                Action::Adopt { native_id } => (&step.type_name, native_id),
                Action::Resolve => {
                    let native_id = decisions.get(step.label.as_str())?.as_ref()?;
                    (&self.row(step)?.intent.as_ref()?.type_name, native_id)
                }
                _ => return None,
            };
            Some(Adopted { label: &step.label, type_name, native_id })
        });
        adopted.collect()
    }

    /// Looks at what is there, as far as anything of it is asked for.
    async fn look(&mut self, steps: &'a [Step], adopted: &[Adopted<'a>]) -> Result<(), ControlError> {
        let mut wanted: Vec<(&TypeName, &NativeId)> = Vec::new();
        for step in steps {
            let Some(_) = verb(step).filter(|verb| *verb != Verb::Create) else { continue };
            if let (Some(id), true) = (self.native_id(step), self.matters(step)) {
                wanted.push((&step.type_name, id));
            }
        }
        wanted.extend(adopted.iter().map(|adopted| (adopted.type_name, adopted.native_id)));
        for (type_name, id) in wanted {
            if let Some(object) = self.control.object_of(self.project, type_name, id).await? {
                self.stored.insert(id, object);
            }
        }
        Ok(())
    }

    /// Whether it matters what the object of a step is, beyond its id.
    fn matters(&self, step: &Step) -> bool {
        self.principal.subject.asks_for_tags() || Platform::srn_parent(&step.type_name).is_some()
    }

    /// The object that a step is about, if there is one: its row's, or the one that an earlier step
    /// gives to a new row.
    fn native_id(&self, step: &'a Step) -> Option<&'a NativeId> {
        match (&step.action, &step.row) {
            (Action::Cleanup { native_id: Some(id) }, _) => Some(id),
            (_, RowRef::New(number)) => self.adopting.get(number).copied(),
            _ => self.row(step).and_then(|row| row.current.as_ref()).map(|object| &object.native_id),
        }
    }

    fn row(&self, step: &Step) -> Option<&'a Row> {
        match &step.row {
            RowRef::Existing(id) => self.rows.get(id).copied(),
            RowRef::New(_) => None,
        }
    }

    /// Asks for what a step does, if it takes an action at all.
    fn ask(&mut self, step: &'a Step, demands: &mut Demands<'a>) -> Result<(), ControlError> {
        let Some(verb) = verb(step) else { return Ok(()) };
        // A type without actions of its own is gated on the request's alone.
        let Some(access) = self.access_of(&step.type_name) else { return Ok(()) };
        let Ok(action) = access.action(verb) else { return Ok(()) };
        let native_id = self.native_id(step).filter(|_| verb != Verb::Create);
        if native_id.is_none() && !self.matters(step) {
            let allowed = match self.decided.get(&action) {
                Some(allowed) => *allowed,
                None => Control::may(self.principal, &self.question(&access, step, verb, None)?),
            };
            self.decided.insert(action.clone(), allowed);
            demands.note(&step.label, &step.type_name, &action, allowed);
            return Ok(());
        }
        let question = self.question(&access, step, verb, native_id)?;
        let mut allowed = Control::may(self.principal, &question);
        if let Some(tags) = self.tags_after(step, verb)
            && let Some(question) = retagging(self.principal, &question, tags)
        {
            allowed &= Control::may(self.principal, &question);
        }
        demands.note(&step.label, &step.type_name, &action, allowed);
        Ok(())
    }

    /// What a step takes, judged by what is stored: what was sent once may have been changed since,
    /// and what is sent now does not count before it is there.
    fn question(
        &self,
        access: &Access,
        step: &'a Step,
        verb: Verb,
        native_id: Option<&'a NativeId>,
    ) -> Result<Question<'a>, ControlError> {
        let nothing = formwork_model::Planned::default();
        let sent;
        let target = match (native_id, native_id.and_then(|id| self.stored.get(id))) {
            (None, _) => {
                let properties = step.after.as_ref().unwrap_or(&nothing);
                Target::Planned(Declared { properties, made: &self.made })
            }
            (Some(_), Some(object)) => Target::Stored(object),
            // Of one that is gone, what it was part of is all that can matter.
            (Some(_), None) if Platform::srn_parent(&step.type_name).is_some() => {
                let object = self.row(step).and_then(|row| row.current.as_ref());
                sent = object.map(|object| object.sent.masked()).unwrap_or_default();
                Target::New(&sent)
            }
            (Some(id), None) => Target::Named(id.as_str()),
        };
        let home = (!Platform::is_global(&step.type_name)).then_some(self.project);
        access.writing(self.principal, verb, home, target)
    }

    /// The tags that an update leaves, where it declares some.
    fn tags_after(&self, step: &Step, verb: Verb) -> Option<Context> {
        let properties = step.after.as_ref().filter(|_| verb == Verb::Update)?;
        Declared { properties, made: &self.made }.context()
    }

    /// Whoever takes an object over could change it from then on, so they must be able to see and
    /// change it now; one of a type that is never changed, to delete it. An object that is not there
    /// is refused where it is looked for.
    fn ask_to_adopt(&mut self, adopted: &Adopted<'a>, demands: &mut Demands<'a>) -> Result<(), ControlError> {
        let Some(access) = self.access_of(adopted.type_name) else { return Ok(()) };
        let Some(object) = self.stored.get(adopted.native_id) else { return Ok(()) };
        let verb = if access.action(Verb::Update).is_ok() { Verb::Update } else { Verb::Delete };
        let changing =
            access.writing(self.principal, verb, object.project.as_ref(), Target::Stored(object))?;
        for question in [access.getting(self.principal, object), changing] {
            let allowed = Control::may(self.principal, &question);
            demands.note(adopted.label, adopted.type_name, &question.action, allowed);
        }
        Ok(())
    }

    /// Asks for what goes when the plan's deletes take it along, as the routes do.
    async fn ask_for_what_goes_along(
        &mut self,
        steps: &'a [Step],
        demands: &mut Demands<'a>,
    ) -> Result<(), ControlError> {
        if self.principal.is_unlimited() {
            return Ok(());
        }
        let doomed: Vec<_> = steps
            .iter()
            .filter(|step| verb(step) == Some(Verb::Delete))
            .filter_map(|step| {
                let id = self.native_id(step)?;
                Some((&step.label, (step.type_name.clone(), id.clone())))
            })
            .collect();
        if doomed.is_empty() {
            return Ok(());
        }
        let objects: Vec<_> = doomed.iter().map(|(_, object)| object.clone()).collect();
        for (place, object) in self.control.platform.along(self.project, &objects).await? {
            let type_name = TypeName::from(object.type_name.as_str());
            let Some(question) = deleting(&self.control.catalog, self.principal, &object) else { continue };
            let allowed = Control::may(self.principal, &question);
            demands.note(doomed[place].0, &type_name, &question.action, allowed);
        }
        Ok(())
    }

    fn access_of(&mut self, type_name: &'a TypeName) -> Option<Arc<Access>> {
        let catalog = &self.control.catalog;
        let found = self.access.entry(type_name).or_insert_with(|| {
            catalog.get(type_name)?.capabilities().iam.as_ref()?;
            Access::of(catalog, type_name).ok().map(Arc::new)
        });
        found.clone()
    }
}

/// What a person would do directly to have a step's effect. A declared resource is asked for even
/// where nothing changes, and a step with a condition as if it held.
fn verb(step: &Step) -> Option<Verb> {
    let retained = step.deletion_policy == DeletionPolicy::Retain;
    match &step.action {
        Action::Create | Action::Replace => Some(Verb::Create),
        Action::Update | Action::Record | Action::NoOp | Action::Rename { .. } => Some(Verb::Update),
        Action::Cleanup { .. } if retained => None,
        Action::Delete { .. } | Action::Cleanup { .. } => Some(Verb::Delete),
        // What an adoption takes is asked of the object itself.
        Action::Forget | Action::Read | Action::Resolve | Action::Adopt { .. } => None,
    }
}

/// The object that a step gives to a new row.
fn adopting(step: &Step) -> Option<(u32, &NativeId)> {
    match (&step.row, &step.action) {
        (RowRef::New(number), Action::Adopt { native_id }) => Some((*number, native_id)),
        _ => None,
    }
}

fn wire(denied: &[DeniedAction]) -> Vec<Json> {
    let each = |denied: &DeniedAction| {
        serde_json::json!({
            "logical_id": denied.logical_id,
            "resource_type": denied.resource_type,
            "action": denied.action,
        })
    };
    denied.iter().map(each).collect()
}

fn sentence(denied: &[DeniedAction]) -> String {
    let resources: BTreeSet<&str> = denied.iter().map(|denied| denied.logical_id.as_str()).collect();
    let named: Vec<_> =
        denied.iter().map(|denied| format!("{} ({})", denied.logical_id, denied.action)).collect();
    format!(
        "Not permitted to apply {} resource(s) this template declares: {}. \
         A formation may only do what the caller could do directly.",
        resources.len(),
        named.join(", ")
    )
}
