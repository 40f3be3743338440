//! Planning a forma: from what it declares, over the rows of all its stacks, to one plan.

use super::stacks::Known;
use crate::authorise::Question;
use crate::formation::Ready;
use crate::{
    ApplyForma, Control, ControlError, Decisions, DeniedAction, PlanChange, Principal, ResourceDrift,
};
use formwork_forma::{DesireRequest, Forma, desired, stack_id};
use formwork_iam::Srn;
use formwork_model::{
    Action, Desired, Diagnostic, DiagnosticCode, Diagnostics, ExprLeaf, Mode, Observation, OperationKind,
    Part, Plan, PlanHash, ProjectId, Ref, RefTarget, Row, RowId, StackId, StackKey, Step, TARGET_STACK,
    WireCode, is_target_stack, target_stack,
};
use formwork_planner::{KnownStacks, PlanRequest, Planning, plan};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A forma's plan with what people see of it.
#[derive(Clone, Debug)]
pub struct PlannedForma {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What a person approves.
    pub hash: PlanHash,
    /// One change per resource and target, in the order of the plan.
    pub changes: Vec<PlanChange>,
    /// What is worth a look.
    pub warnings: Vec<Diagnostic>,
    /// What was changed behind our back, and the forma does not say already.
    pub drift: Vec<ResourceDrift>,
    /// What the caller may not do.
    pub unauthorized: Vec<DeniedAction>,
}

/// Everything that applying a forma needs.
pub(super) struct ReadyForma {
    pub(super) ready: Ready,
    pub(super) stacks: Vec<Known>,
    pub(super) drift: Vec<ResourceDrift>,
}

impl Control {
    /// The project that a request is for, by the name that it gives.
    ///
    /// # Errors
    /// It names none and there is no default one, or the credential is confined to another.
    pub fn project_named(&self, p: &Principal, named: Option<&ProjectId>) -> Result<ProjectId, ControlError> {
        Self::project_of(p, named)
    }

    /// Whether formae may be applied in a project at all.
    pub(crate) fn applying(project: &ProjectId) -> Question<'_> {
        stack_question("stacks:ApplyStack", project, "*")
    }

    /// Plans a forma. Nothing is changed.
    ///
    /// # Errors
    /// `FORBIDDEN`, `VALIDATION_FAILED`.
    pub async fn plan_forma(
        &self,
        p: &Principal,
        request: &ApplyForma,
    ) -> Result<PlannedForma, ControlError> {
        let project = Self::project_of(p, request.project_id.as_ref())?;
        for label in stack_labels(&request.forma) {
            Self::demand(p, &stack_question("stacks:PlanStack", &project, &label))?;
        }
        self.demand_project(&project).await?;
        let ReadyForma { ready, drift, .. } = self.forma_ready(p, &project, request).await?;
        self.shown(p, &project, &ready, drift).await
    }

    /// What people see of a plan.
    pub(super) async fn shown(
        &self,
        p: &Principal,
        project: &ProjectId,
        ready: &Ready,
        drift: Vec<ResourceDrift>,
    ) -> Result<PlannedForma, ControlError> {
        let changes = self.changes(ready);
        let unauthorized = self.demands(p, project, ready, &Decisions::new()).await?.denied;
        let Ready { plan, hash, warnings, .. } = ready;
        let (plan, warnings) = (Arc::new(plan.clone()), warnings.clone());
        Ok(PlannedForma { plan, hash: *hash, changes, warnings, drift, unauthorized })
    }

    /// Observes and plans. The targets are part of it only if one of them changes, so that formae which
    /// live at the same targets do not wait for each other.
    pub(super) async fn forma_ready(
        &self,
        p: &Principal,
        project: &ProjectId,
        request: &ApplyForma,
    ) -> Result<ReadyForma, ControlError> {
        let mut desiring = DesireRequest {
            project,
            mode: request.mode,
            on_failure: request.on_failure,
            catalog: &*self.catalog,
            targets: true,
        };
        let mut desired = desired(&request.forma, &desiring);
        let stacks = self.known_stacks(&desired).await?;
        Self::demand_stacks(request, &stacks)?;
        self.demand_same_targets(&request.forma, &self.reader.rows(&target_stack(project)).await?)?;
        let (mut rows, known) = self.rows_for(&desired).await?;
        let observed = self.observe(p, project, &own_rows(&desired, &rows), &rows).await?;
        let mut planning = self.forma_plan(&desired, &rows, &known, &observed)?;
        if !changes_targets(&planning.plan) {
            desiring.targets = false;
            desired = formwork_forma::desired(&request.forma, &desiring);
            let (again, known) = self.rows_for(&desired).await?;
            rows = again;
            planning = self.forma_plan(&desired, &rows, &known, &observed)?;
        }
        let Planning { plan, mut secrets, warnings } = planning;
        self.add_row_secrets(&plan, &rows, &mut secrets).await?;
        let drift = self.drift_under(&plan, &rows, &observed);
        let hash = plan.hash();
        let warnings = warnings.iter().cloned().collect();
        let ready = Ready { plan, hash, secrets, rows, observed, warnings };
        Ok(ReadyForma { ready, stacks, drift })
    }

    fn forma_plan(
        &self,
        desired: &Desired,
        rows: &[Row],
        known: &KnownStacks,
        observed: &BTreeMap<RowId, Observation>,
    ) -> Result<Planning, ControlError> {
        plan(&PlanRequest {
            kind: OperationKind::Update,
            desired,
            rows,
            known,
            observations: observed,
            imports: &BTreeMap::new(),
            catalog: &*self.catalog,
            key: &self.key,
            incomplete: false,
        })
        .map_err(|found| ControlError::invalid_template(&found))
    }

    /// The rows of the stacks that should exist, and of those that they refer to.
    async fn rows_for(&self, desired: &Desired) -> Result<(Vec<Row>, KnownStacks), ControlError> {
        let mut rows = Vec::new();
        for stack in &desired.stacks {
            rows.extend(self.reader.rows(&stack.id).await?);
        }
        let known = referred(desired);
        for id in known.values() {
            rows.extend(self.reader.rows(id).await?);
        }
        Ok((rows, known))
    }

    /// Stacks that are only named must exist, and so must those that are patched.
    fn demand_stacks(request: &ApplyForma, stacks: &[Known]) -> Result<(), ControlError> {
        let mut found = Diagnostics::default();
        let source = &request.forma.source_map;
        for named in &request.forma.known_stacks {
            let exists = stacks.iter().any(|it| it.label == *named.label && it.record.is_some());
            if !exists && stacks.iter().any(|it| it.label == *named.label) {
                let message = format!("The stack `{}` does not exist", named.label);
                let place = source.place(&named.path);
                let path = named.path.clone();
                found.push(Diagnostic::error(DiagnosticCode::UnknownReference, path, message).at(place));
            }
        }
        if request.mode == Mode::Patch {
            for stack in stacks.iter().filter(|stack| stack.record.is_none()) {
                let declared = request.forma.stacks.iter().find(|it| *it.label == *stack.label);
                let path = declared.map(|it| it.path.clone()).unwrap_or_default();
                let place = source.place(&path);
                let message = format!("The stack `{}` does not exist, so it can't be patched", stack.label);
                let diagnostic = Diagnostic::error(DiagnosticCode::UnknownReference, path, message);
                found.push(diagnostic.at(place).hint("apply it with `--mode reconcile` first"));
            }
        }
        if found.has_errors() { Err(ControlError::invalid_template(&found)) } else { Ok(()) }
    }

    /// What was changed behind our back of the objects that a plan changes: where it leaves one as it is,
    /// the forma says already what was found.
    fn drift_under(
        &self,
        plan: &Plan,
        rows: &[Row],
        observed: &BTreeMap<RowId, Observation>,
    ) -> Vec<ResourceDrift> {
        let effects: BTreeSet<&RowId> = plan.steps.iter().filter_map(overwrites).collect();
        let touched = rows.iter().filter(|row| effects.contains(&row.id));
        touched.filter_map(|row| self.row_drift(row, observed.get(&row.id)?)).collect()
    }

    /// Refuses to overwrite what was changed behind our back.
    pub(super) fn demand_no_drift(drift: &[ResourceDrift]) -> Result<(), ControlError> {
        if drift.is_empty() {
            return Ok(());
        }
        let named: Vec<String> =
            drift.iter().map(|it| format!("{} ({})", it.logical_id, it.resource_type)).collect();
        let message = format!(
            "{} resource(s) changed since they were last applied: {}. Take the changes into the forma, or overwrite them with --force.",
            named.len(),
            named.join(", "),
        );
        Err(ControlError::new(WireCode::Drifted, message))
    }
}

/// The row whose object a step writes over.
fn overwrites(step: &Step) -> Option<&RowId> {
    let formwork_model::RowRef::Existing(row) = &step.row else { return None };
    let writes =
        matches!(step.action, Action::Create | Action::Update | Action::Replace | Action::Delete { .. });
    writes.then_some(row)
}

/// Whether a plan does anything to a target.
fn changes_targets(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| is_target_stack(&step.stack) && step.action != Action::NoOp)
}

/// The rows that a request may change.
fn own_rows(desired: &Desired, rows: &[Row]) -> Vec<Row> {
    let own: BTreeSet<&StackId> = desired.stacks.iter().map(|stack| &stack.id).collect();
    rows.iter().filter(|row| own.contains(&row.stack)).cloned().collect()
}

/// The stacks that a request refers to and does not declare, by name; the project's targets are one of them.
fn referred(desired: &Desired) -> KnownStacks {
    let declared: BTreeSet<&StackKey> = desired.stacks.iter().map(|stack| &stack.key).collect();
    let targets = StackKey::new(desired.project.clone(), TARGET_STACK);
    let mut known = KnownStacks::new();
    if !declared.contains(&targets) {
        known.insert(targets, target_stack(&desired.project));
    }
    for resource in desired.stacks.iter().flat_map(|stack| &stack.resources) {
        resource.properties.for_each_leaf(&mut |_, leaf| {
            each_ref(leaf, &mut |reference| {
                if let RefTarget::Resource { stack: Some(key), .. } = &reference.to
                    && !declared.contains(key)
                {
                    known.insert(key.clone(), stack_id(&desired.project, &key.name));
                }
            });
        });
    }
    known
}

fn each_ref(leaf: &ExprLeaf, visit: &mut dyn FnMut(&Ref)) {
    match leaf {
        ExprLeaf::Ref(reference) => visit(reference),
        ExprLeaf::Template(parts) => {
            for part in parts {
                if let Part::Ref(reference) = part {
                    visit(reference);
                }
            }
        }
        ExprLeaf::Once(inner) => inner.for_each_leaf(&mut |_, leaf| each_ref(leaf, visit)),
        ExprLeaf::Secret(_) | ExprLeaf::KeepPrevious => {}
    }
}

/// The stacks that a forma is about, each once.
pub(super) fn stack_labels(forma: &Forma) -> BTreeSet<String> {
    let used = forma.resources.iter().map(|resource| resource.stack.to_string());
    used.chain(forma.stacks.iter().map(|stack| stack.label.to_string())).collect()
}

pub(super) fn stack_question<'a>(action: &'a str, project: &'a ProjectId, label: &str) -> Question<'a> {
    Question::new(action, project, Srn::new(project, super::SRN_TYPE, label))
}
