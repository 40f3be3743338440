//! Planning: what a deploy would do, changing nothing.

use super::deploy::Decisions;
use super::prepare::Prepared;
use super::record::FormationRecord;
use super::saved::Keeping;
use crate::authorise::Question;
use crate::{Control, ControlError, Parameters, Principal, TemplateInput, input::supplied};
use formwork_formation::{Supplied, missing_parameters, resolved_parameters};
use formwork_iam::Srn;
use formwork_model::{
    Action, Catalog as _, Cause, Diagnostic, DiagnosticCode, Json, NativeId, Observation, OnFailure,
    OperationKind, Place, Plan, PlanHash, ProjectId, Row, RowId, RowRef, SecretSlots, StackId, StackKey,
    Step, StepId, Stored, TypeName, WriteOnlyRule,
};
use formwork_planner::{PlanRequest, Planning, plan};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The id a formation has in a plan for one that does not exist yet: plans are deterministic, so
/// the real id is put in when the plan is carried out.
pub(crate) const UNBORN: &str = "form_new";

/// And its name: a plan for a new formation can be approved before the name is chosen.
pub(crate) const UNNAMED: &str = "new";

/// Whether to look at what is there before planning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObservePolicy {
    /// Yes, now.
    #[default]
    Live,
    /// No: plan from the ledger.
    Off,
}

/// What to plan.
#[derive(Clone, Debug)]
pub struct PlanFormation {
    /// The project; needed for a formation that does not exist yet.
    pub project_id: Option<ProjectId>,
    /// The formation; `None` plans a new one.
    pub formation_id: Option<StackId>,
    /// The template; `None` plans the stored one again.
    pub template: Option<TemplateInput>,
    /// The revision to plan in place of a template.
    pub revision: Option<u64>,
    /// The parameters.
    pub parameters: Option<Parameters>,
    /// Whether to look first.
    pub observe: ObservePolicy,
    /// What a failure would mean for the rest.
    pub on_failure: OnFailure,
}

/// A plan with what people see of it.
#[derive(Clone, Debug)]
pub struct PlannedFormation {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What a person approves.
    pub hash: PlanHash,
    /// One change per resource (seed 4, "Plan Diff").
    pub changes: Vec<PlanChange>,
    /// What is worth a look.
    pub warnings: Vec<Diagnostic>,
    /// What the caller may not do.
    pub unauthorized: Vec<DeniedAction>,
}

/// What happens to one resource.
#[derive(Clone, Debug)]
pub struct PlanChange {
    /// Its stack.
    pub stack: StackId,
    /// Its logical id.
    pub logical_id: String,
    /// Its type.
    pub resource_type: TypeName,
    /// `create`, `update`, `delete`, `no-op`; ours: `replace`, `adopt`.
    pub action: &'static str,
    /// Its object, where there is one.
    pub physical_resource_id: Option<NativeId>,
    /// The properties compared; none for a delete.
    pub diff: Option<PlanDiff>,
    /// Why.
    pub cause: Option<Cause>,
    /// Where it is declared.
    pub place: Option<Place>,
}

/// The properties that a change compares, secrets masked.
#[derive(Clone, Debug)]
pub struct PlanDiff {
    /// As declared.
    pub desired: Json,
    /// As they are; `None` where there is nothing to compare.
    pub current: Option<Json>,
}

/// An action that the caller may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedAction {
    /// On which resource.
    pub logical_id: String,
    /// Of which type.
    pub resource_type: TypeName,
    /// Which action.
    pub action: String,
}

/// Everything that a deploy of a plan needs.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) plan: Plan,
    pub(crate) hash: PlanHash,
    pub(crate) secrets: SecretSlots,
    pub(crate) rows: Vec<Row>,
    pub(crate) observed: BTreeMap<RowId, Observation>,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Whether to keep a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    No,
    Yes,
}

/// What to make ready.
pub(crate) struct Readying<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) project: &'a ProjectId,
    pub(crate) name: &'a str,
    pub(crate) existing: Option<&'a FormationRecord>,
    pub(crate) supplied: &'a Supplied,
    pub(crate) strict: bool,
    pub(crate) observe: ObservePolicy,
    pub(crate) on_failure: OnFailure,
}

impl Control {
    /// Plans a deploy. Nothing is changed.
    ///
    /// # Errors
    /// `FORBIDDEN`, `VALIDATION_FAILED`, `RESOURCE_NOT_FOUND` for a formation that is not there.
    pub async fn plan_formation(
        &self,
        p: &Principal,
        request: PlanFormation,
    ) -> Result<PlannedFormation, ControlError> {
        self.plan_and(p, request, Keep::No).await
    }

    /// Plans a deploy and keeps the plan, so that it can be shown and carried out by its hash.
    ///
    /// # Errors
    /// As [`plan_formation`](Self::plan_formation).
    pub async fn save_formation_plan(
        &self,
        p: &Principal,
        request: PlanFormation,
    ) -> Result<PlannedFormation, ControlError> {
        self.plan_and(p, request, Keep::Yes).await
    }

    async fn plan_and(
        &self,
        p: &Principal,
        request: PlanFormation,
        keep: Keep,
    ) -> Result<PlannedFormation, ControlError> {
        let existing = match &request.formation_id {
            Some(id) => Some(self.formation_record(p, id).await?),
            None => None,
        };
        let project = match &existing {
            Some(record) => {
                Self::project_of(p, Some(request.project_id.as_ref().unwrap_or(&record.project)))?
            }
            None => Self::project_of(p, request.project_id.as_ref())?,
        };
        if let Some(record) = existing.as_ref().filter(|record| record.project != project) {
            return Err(ControlError::not_found("Formation", record.id.as_str()));
        }
        Self::demand(p, &Self::planning(&project, existing.as_ref().map(|record| &record.id)))?;
        self.demand_project(&project).await?;
        let input = self.template_of(request.template, request.revision, existing.as_ref()).await?;
        let mut prepared = self.prepare(&input).await?;
        let supplied = supplied(request.parameters.as_ref(), existing.is_some());
        let readying = Readying {
            principal: p,
            project: &project,
            name: existing.as_ref().map_or(UNNAMED, |record| record.doc.name.as_str()),
            existing: existing.as_ref(),
            supplied: &supplied,
            strict: keep == Keep::Yes,
            observe: request.observe,
            on_failure: request.on_failure,
        };
        let ready = self.make_ready(&mut prepared, &readying).await?;
        let changes = self.changes(&ready);
        let nothing_decided = Decisions::new();
        let unauthorized = self.demands(p, &project, &ready, &nothing_decided).await?.denied;
        let Ready { plan, hash, secrets, mut warnings, .. } = ready;
        warnings.extend(self.without_a_model(&project, &plan).await?);
        // A plan is made with parameters, or shows what would be asked for: that is validation's to say.
        warnings.retain(|warning| warning.code != DiagnosticCode::ParameterWithoutDefault);
        let plan = Arc::new(plan);
        if keep == Keep::Yes {
            let kept = Keeping {
                hash,
                secrets: &secrets,
                plan: &plan,
                existing: existing.as_ref(),
                template: prepared.template.raw(),
                resolved_parameters: resolved_parameters(&prepared.template, &supplied),
            };
            self.keep(kept).await?;
        }
        Ok(PlannedFormation { plan, hash, changes, warnings, unauthorized })
    }

    /// Whether a deploy may be planned: of a formation, or of one that is yet to be made.
    pub(crate) fn planning<'a>(project: &'a ProjectId, formation: Option<&StackId>) -> Question<'a> {
        let id = formation.map_or("*", StackId::as_str);
        Question::new("formations:PlanFormation", project, Srn::new(project, super::SRN_TYPE, id))
    }

    /// The request's template, or the stored one where it has none: that is what makes "change
    /// only the parameters" and "retry a failed deploy" work (seed 4, "Secrets in Templates").
    pub(crate) fn template_or_stored(
        &self,
        input: Option<TemplateInput>,
        existing: Option<&FormationRecord>,
    ) -> Result<TemplateInput, ControlError> {
        match (input, existing) {
            (Some(input), _) => Ok(input),
            (None, Some(record)) => Ok(TemplateInput::Json(record.template(&self.key)?)),
            (None, None) => Err(ControlError::validation("Missing required field(s): template")
                .with_meta(serde_json::json!({ "missingFields": ["template"] }))),
        }
    }

    /// Lowers, asks handlers, observes and plans.
    pub(crate) async fn make_ready(
        &self,
        prepared: &mut Prepared,
        readying: &Readying<'_>,
    ) -> Result<Ready, ControlError> {
        let stack = readying.existing.map_or_else(|| UNBORN.into(), |record| record.id.clone());
        let key = StackKey::new(readying.project.clone(), readying.name);
        let mut desired = self.lower(prepared, readying.supplied, stack.clone(), key, readying.strict)?;
        for stack in &mut desired.stacks {
            stack.on_failure = readying.on_failure;
        }
        let found = self.ask_handlers(readying.principal, &desired).await?;
        if found.has_errors() {
            return Err(ControlError::invalid_template(&found));
        }
        let rows = match readying.existing {
            Some(_) => self.reader.rows(&stack).await?,
            None => Vec::new(),
        };
        let observed = match readying.observe {
            ObservePolicy::Live => self.observe(readying.principal, readying.project, &rows, &rows).await?,
            ObservePolicy::Off => BTreeMap::new(),
        };
        let imports = self.imports(readying.principal, &desired, &rows).await?;
        let kind = if readying.existing.is_some() { OperationKind::Update } else { OperationKind::Create };
        let planning = plan(&PlanRequest {
            kind,
            desired: &desired,
            rows: &rows,
            known: &BTreeMap::new(),
            observations: &observed,
            imports: &imports,
            catalog: &*self.catalog,
            key: &self.key,
            incomplete: !readying.strict
                && !missing_parameters(&prepared.template, readying.supplied).is_empty(),
        });
        let Planning { plan, mut secrets, warnings } =
            planning.map_err(|found| ControlError::invalid_template(&found))?;
        self.add_row_secrets(&plan, &rows, &mut secrets).await?;
        prepared.warnings.extend(warnings.iter().cloned());
        let hash = plan.hash();
        Ok(Ready { plan, hash, secrets, rows, observed, warnings: std::mem::take(&mut prepared.warnings) })
    }

    /// One change per resource, in the order of the plan.
    pub(crate) fn changes(&self, ready: &Ready) -> Vec<PlanChange> {
        let rows: BTreeMap<_, _> = ready.rows.iter().map(|row| (&row.id, row)).collect();
        let mut changes: Vec<PlanChange> = Vec::new();
        for step in &ready.plan.steps {
            let row = match &step.row {
                RowRef::Existing(id) => rows.get(id).copied(),
                RowRef::New(_) => None,
            };
            if let Some(adoption) = changes.last_mut().filter(|last| adopts(&ready.plan, step, last)) {
                adoption.follow(step);
            } else if let Some(action) = wire_action(&step.action) {
                let observed = row.and_then(|row| ready.observed.get(&row.id));
                changes.push(self.change(step, action, row, observed));
            }
        }
        changes
    }

    fn change(
        &self,
        step: &Step,
        action: &'static str,
        row: Option<&Row>,
        observed: Option<&Observation>,
    ) -> PlanChange {
        let object = row.and_then(|row| row.current.as_ref());
        let adopted = match (&step.action, &step.before) {
            (Action::Adopt { native_id }, Some(seen)) => Some((native_id, seen)),
            _ => None,
        };
        let current = if let Some((_, seen)) = adopted {
            self.current(&step.type_name, seen, Some(seen))
        } else {
            let seen = match observed {
                Some(Observation::Present { properties, .. }) => Some(properties),
                _ => None,
            };
            object.and_then(|object| self.current(&object.type_name, &object.sent, seen))
        };
        let diff = match action {
            "delete" => None,
            "create" => Some(PlanDiff { desired: desired(step, row), current: None }),
            _ => Some(PlanDiff { desired: desired(step, row), current }),
        };
        PlanChange {
            stack: step.stack.clone(),
            logical_id: step.label.to_string(),
            resource_type: step.type_name.clone(),
            action,
            physical_resource_id: adopted
                .map(|(native_id, _)| native_id)
                .or(object.filter(|_| action != "create").map(|object| &object.native_id))
                .cloned(),
            diff,
            cause: (!step.cause.0.is_empty()).then(|| step.cause.clone()),
            place: step.place.clone(),
        }
    }

    /// What a resource is compared with: what is there, or for a type that is only written, what
    /// was last applied, without what must not be shown (seed 4, "Plan Diff").
    fn current(&self, type_name: &TypeName, sent: &Stored, seen: Option<&Stored>) -> Option<Json> {
        let rules = self.catalog.get(type_name)?;
        let properties = &rules.schema().properties;
        let write_only = properties.iter().filter(|(_, property)| property.hint.write_only);
        let hidden: Vec<_> = write_only.map(|(name, _)| name.clone()).collect();
        // What is always sent is not compared, so the rest is compared with what is there.
        let always_sent = rules.capabilities().write_only == WriteOnlyRule::AlwaysSend;
        let mut shown = match seen {
            _ if !hidden.is_empty() && !always_sent => sent.masked(),
            Some(properties) => properties.masked(),
            None => return None,
        };
        if let Some(members) = shown.as_object_mut() {
            let is_hidden = |name: &str| hidden.iter().any(|hidden| **hidden == *name);
            members.retain(|name, _| properties.contains_key(name.as_str()) && !is_hidden(name));
        }
        Some(shown)
    }
}

/// Whether a step is what follows the adoption that a change shows: all of it is one change.
fn adopts(plan: &Plan, step: &Step, last: &PlanChange) -> bool {
    let before = step.id.0.checked_sub(1).and_then(|at| plan.step(StepId(at)));
    let follows = |before: &Step| matches!(before.action, Action::Adopt { .. }) && before.row == step.row;
    last.action == "adopt" && before.is_some_and(follows)
}

impl PlanChange {
    /// Shows what an adopted object becomes.
    fn follow(&mut self, step: &Step) {
        if let (Some(diff), Some(after)) = (&mut self.diff, &step.after) {
            diff.desired = after.masked();
        }
        if step.action == Action::Update
            && let Some(cause) = &mut self.cause
        {
            cause.0.extend(step.cause.0.iter().cloned());
        }
    }
}

/// The declared properties, secrets masked; an unchanged resource's are those it has.
fn desired(step: &Step, row: Option<&Row>) -> Json {
    match (&step.after, row.and_then(|row| row.current.as_ref())) {
        (Some(after), _) => after.masked(),
        (None, Some(object)) => object.sent.masked(),
        (None, None) => Json::Object(serde_json::Map::new()),
    }
}

/// How a step shows in a plan on the wire; a step that is part of another one's change does not.
fn wire_action(action: &Action) -> Option<&'static str> {
    match action {
        Action::Create => Some("create"),
        Action::Update | Action::Rename { .. } => Some("update"),
        Action::Replace => Some("replace"),
        Action::Delete { replacing: false } | Action::Forget => Some("delete"),
        Action::Adopt { .. } => Some("adopt"),
        Action::Record | Action::NoOp => Some("no-op"),
        Action::Delete { replacing: true } | Action::Cleanup { .. } | Action::Read | Action::Resolve => None,
    }
}

/// Gives a plan for a formation that did not exist the id it has now.
pub(crate) fn rebind(plan: &mut Plan, stack: &StackId, key: &StackKey) {
    for planned in plan.stacks.iter_mut().filter(|planned| planned.id.as_str() == UNBORN) {
        planned.id = stack.clone();
        planned.key = key.clone();
    }
    for step in plan.steps.iter_mut().filter(|step| step.stack.as_str() == UNBORN) {
        step.stack = stack.clone();
    }
    for base in plan.bases.iter_mut().filter(|base| base.stack.as_str() == UNBORN) {
        base.stack = stack.clone();
    }
}

impl Control {
    /// Refuses a plan that is not the one that was approved, naming what differs where the approved
    /// one was kept.
    pub(crate) async fn demand_hash(
        &self,
        ready: &Ready,
        approved: Option<PlanHash>,
    ) -> Result<(), ControlError> {
        let Some(approved) = approved.filter(|approved| *approved != ready.hash) else { return Ok(()) };
        let difference = self.first_difference(approved, &ready.plan).await;
        let difference = difference
            .unwrap_or_else(|| "The template, its parameters, the ledger or reality changed.".to_owned());
        Err(ControlError::new(
            formwork_model::WireCode::PlanOutdated,
            format!("The plan is not the one that was approved. {difference} Plan again."),
        )
        .with_meta(serde_json::json!({ "approved": approved, "planned": ready.hash })))
    }
}
