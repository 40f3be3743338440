//! A formation only does what the caller could do directly (seed 4): every resource of a plan is
//! asked for as the action that its route takes, and all that is missing is told at once.

use super::plan::{DeniedAction, Ready};
use crate::access::{Verb, named, required, text_at};
use crate::authorise::{Permit, Question};
use crate::{Control, ControlError, Principal};
use formwork_iam::Context;
use formwork_model::{
    Action, Catalog as _, DeletionPolicy, IamActions, Json, NativeId, Observation, ProjectId, Row, RowId,
    RowRef, Step, TypeName, WireCode,
};
use formwork_platform::Platform;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What a plan takes: which actions, each with how often, and those that are missing.
pub(crate) struct Demands {
    pub(crate) denied: Vec<DeniedAction>,
    counts: BTreeMap<Arc<str>, usize>,
}

/// Decides over the steps of one plan. Most of them ask the same: whether things of a type may be
/// made in the project. That is decided once per type.
struct Asking<'a> {
    control: &'a Control,
    principal: &'a Principal,
    project: &'a ProjectId,
    rows: BTreeMap<&'a RowId, &'a Row>,
    observed: &'a BTreeMap<RowId, Observation>,
    asks_for_tags: bool,
    iam: HashMap<&'a TypeName, Option<IamActions>>,
    decided: HashMap<Arc<str>, bool>,
}

impl Control {
    /// What the principal needs, and lacks, to carry out a plan.
    pub(crate) fn demands(&self, p: &Principal, project: &ProjectId, ready: &Ready) -> Demands {
        let mut asking = Asking {
            control: self,
            principal: p,
            project,
            rows: ready.rows.iter().map(|row| (&row.id, row)).collect(),
            observed: &ready.observed,
            asks_for_tags: p.subject.asks_for_tags(),
            iam: HashMap::new(),
            decided: HashMap::new(),
        };
        let mut demands = Demands { denied: Vec::new(), counts: BTreeMap::new() };
        // A replacement may delete in two steps what a person deletes once.
        let mut told = BTreeSet::new();
        // What an object that is adopted takes is asked of the object, not of each step about it.
        let adopts = |step: &&Step| matches!(step.action, Action::Adopt { .. });
        let adopted: BTreeSet<&RowRef> =
            ready.plan.steps.iter().filter(adopts).map(|step| &step.row).collect();
        for step in ready.plan.steps.iter().filter(|step| !adopted.contains(&step.row)) {
            let Some((action, allowed)) = asking.ask(step) else { continue };
            *demands.counts.entry(action.clone()).or_default() += 1;
            if !allowed && told.insert((&step.stack, &step.label, action.clone())) {
                demands.denied.push(DeniedAction {
                    logical_id: step.label.to_string(),
                    resource_type: step.type_name.clone(),
                    action: action.to_string(),
                });
            }
        }
        demands
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
    ) -> Result<PermittedPlan, ControlError> {
        let Demands { mut denied, counts } = self.demands(p, project, ready);
        denied.extend(self.denied_imports(p, &ready.plan).await?);
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
    counts: BTreeMap<Arc<str>, usize>,
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

impl<'a> Asking<'a> {
    /// The action that a step takes and whether it is allowed; `None` if it takes none.
    fn ask(&mut self, step: &'a Step) -> Option<(Arc<str>, bool)> {
        let verb = verb(step)?;
        // A type without actions of its own is gated on the request's alone.
        let iam = self.iam_of(&step.type_name)?;
        let action = required(&iam, verb)?.clone();
        let row = match &step.row {
            RowRef::Existing(id) => self.rows.get(id).copied(),
            RowRef::New(_) => None,
        };
        let native_id = if verb == Verb::Create { None } else { native_id(step, row) };
        let parent = Platform::srn_parent(&step.type_name);
        let alike = native_id.is_none() && !self.asks_for_tags && parent.is_none();
        if alike && let Some(allowed) = self.decided.get(&action) {
            return Some((action, *allowed));
        }
        // They are read only for whom they matter to.
        let matter = parent.is_some() || self.asks_for_tags;
        let properties = if matter { self.properties(step, verb, row) } else { Json::Null };
        let id = match parent {
            // What a template is yet to make has no id that a policy could name.
            Some(parent) => text_at(&properties, parent),
            None => native_id.map_or("*", NativeId::as_str),
        };
        let question = Question {
            action: Cow::Borrowed(&action),
            srn: named(&iam.srn_type, Some(self.project), id),
            project: Some(self.project),
            context: Context::of_properties(&properties),
            admin_only: iam.admin_only,
        };
        let allowed = Control::may(self.principal, &question);
        if alike {
            self.decided.insert(action.clone(), allowed);
        }
        Some((action, allowed))
    }

    fn iam_of(&mut self, type_name: &'a TypeName) -> Option<IamActions> {
        let catalog = &self.control.catalog;
        let found = self.iam.entry(type_name);
        found.or_insert_with(|| catalog.get(type_name)?.capabilities().iam.clone()).clone()
    }

    /// What policies may ask about: of what is made, what is declared; of what is there, what it
    /// has.
    fn properties(&self, step: &Step, verb: Verb, row: Option<&Row>) -> Json {
        let seen = row.and_then(|row| match self.observed.get(&row.id) {
            Some(Observation::Present { properties, .. }) => Some(properties.masked()),
            _ => row.current.as_ref().map(|object| object.sent.masked()),
        });
        let properties = match verb {
            Verb::Create => step.after.as_ref().map(formwork_model::Planned::masked),
            Verb::Update | Verb::Delete => seen,
        };
        properties.unwrap_or_default()
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

/// The object that a step is about.
fn native_id<'a>(step: &'a Step, row: Option<&'a Row>) -> Option<&'a NativeId> {
    match &step.action {
        Action::Cleanup { native_id: Some(id) } => Some(id),
        _ => row.and_then(|row| row.current.as_ref()).map(|object| &object.native_id),
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
