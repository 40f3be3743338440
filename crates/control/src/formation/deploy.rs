//! Deploys: create and update.

use super::ObservePolicy;
use super::authorise::PermittedPlan;
use super::plan::{Ready, Readying, UNNAMED, rebind};
use super::record::{FormationDoc, FormationRecord, FormationStatus, Pending, seal_template};
use crate::authorise::Question;
use crate::input::{check_metadata, check_name, supplied};
use crate::{Control, ControlError, Parameters, Principal, TemplateInput, ids};
use formwork_engine::{BeginError, BeginRequest};
use formwork_formation::resolved_parameters;
use formwork_iam::Srn;
use formwork_model::{
    Action, IntentKind, Json, NativeId, OnFailure, OperationId, OperationKind, Plan, PlanHash, ProjectId,
    Row, RowRef, StackId, StackKey, StepId, WireCode,
};
use formwork_store::{DomainError, ObjectWrite, StoreError, UniqueKey};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often a deploy is planned again because somebody else's was quicker.
const ATTEMPTS: u32 = 4;

/// A formation to be made.
#[derive(Clone, Debug)]
pub struct CreateFormation {
    /// In which project.
    pub project_id: Option<ProjectId>,
    /// Its name, unique in the project.
    pub name: String,
    /// Its template.
    pub template: TemplateInput,
    /// Static annotations.
    pub metadata: Option<Json>,
    /// The parameters.
    pub parameters: Option<Parameters>,
    /// The plan that was approved; another one is refused.
    pub plan_hash: Option<PlanHash>,
    /// What a failure means for the rest.
    pub on_failure: OnFailure,
}

/// A further deploy of a formation.
#[derive(Clone, Debug, Default)]
pub struct UpdateFormation {
    /// The template; `None` applies the stored one again.
    pub template: Option<TemplateInput>,
    /// The revision to apply in place of a template.
    pub revision: Option<u64>,
    /// Static annotations: `None` leaves them, `Some(None)` clears them.
    pub metadata: Option<Option<Json>>,
    /// The parameters.
    pub parameters: Option<Parameters>,
    /// The plan that was approved; another one is refused.
    pub plan_hash: Option<PlanHash>,
    /// What a failure means for the rest.
    pub on_failure: OnFailure,
    /// What a person decided about earlier creates whose outcome is not known.
    pub decisions: Decisions,
}

/// For a logical id whose create has no known outcome: the object that it made, or `None` if it
/// made none.
pub type Decisions = IndexMap<String, Option<NativeId>>;

/// A deploy that has begun: durable, and running whatever the caller does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deploy {
    /// The formation.
    pub formation: StackId,
    /// The operation to follow.
    pub operation: OperationId,
}

/// What `begin` needs beside what is ready.
pub(crate) struct Beginning<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) project: &'a ProjectId,
    pub(crate) stack: StackId,
    pub(crate) operation: OperationId,
    pub(crate) kind: OperationKind,
    pub(crate) records: Vec<ObjectWrite>,
    pub(crate) permitted: PermittedPlan,
    pub(crate) decisions: &'a Decisions,
}

impl Control {
    /// Begins a formation's first deploy.
    ///
    /// # Errors
    /// `FORBIDDEN`, `VALIDATION_FAILED`, `FORMATION_MISSING_PARAMETERS`,
    /// `FORMATION_INVALID_METADATA`, `NAME_CONFLICT`, `PLAN_OUTDATED`. Nothing is stored then, but
    /// for a refusal in the audit.
    pub async fn create_formation(
        &self,
        p: &Principal,
        request: CreateFormation,
    ) -> Result<Deploy, ControlError> {
        let project =
            self.project_to_write(p, request.project_id.as_ref(), "formations:CreateFormation").await?;
        let permit = self.permit(p, &Self::creating(&project), &request.name).await?;
        self.demand_project(&project).await?;
        check_name(&request.name)?;
        let mut prepared = self.prepare(&request.template).await?;
        let supplied = supplied(request.parameters.as_ref(), false);
        let readying = Readying {
            principal: p,
            project: &project,
            name: UNNAMED,
            existing: None,
            supplied: &supplied,
            strict: true,
            observe: ObservePolicy::Off,
            on_failure: request.on_failure,
        };
        let mut ready = self.make_ready(&mut prepared, &readying).await?;
        check_metadata(request.metadata.as_ref())?;
        let decisions = Decisions::new();
        let permitted = self.permit_plan(p, permit, &request.name, &project, &ready, &decisions).await?;
        self.demand_hash(&ready, request.plan_hash).await?;
        self.demand_free_name(&project, &request.name).await?;
        let stack = StackId::from(ids::mint("form"));
        let operation = OperationId::from(ids::mint("form_op"));
        rebind(&mut ready.plan, &stack, &StackKey::new(project.clone(), request.name.as_str()));
        let sealed = seal_template(&self.key, &stack, prepared.template.raw());
        let pending = Pending {
            operation: operation.clone(),
            kind: OperationKind::Create,
            template: Some(sealed),
            resolved_parameters: resolved_parameters(&prepared.template, &supplied),
        };
        let doc = FormationDoc::creating(&request.name, request.metadata, pending);
        let record = doc.insert(&stack, &project);
        let beginning = Beginning {
            principal: p,
            project: &project,
            stack,
            operation,
            kind: OperationKind::Create,
            records: vec![record],
            permitted,
            decisions: &decisions,
        };
        self.begin(ready, beginning).await
    }

    /// Begins a further deploy.
    ///
    /// # Errors
    /// As [`create_formation`](Self::create_formation), and `RESOURCE_NOT_FOUND`,
    /// `OPERATION_IN_PROGRESS`.
    pub async fn update_formation(
        &self,
        p: &Principal,
        id: &StackId,
        request: UpdateFormation,
    ) -> Result<Deploy, ControlError> {
        // Nobody approved a plan: one that a short operation of somebody else outran is made again.
        if request.plan_hash.is_none() {
            for _ in 1..ATTEMPTS {
                match self.update_once(p, id, request.clone()).await {
                    Err(error) if error.code == WireCode::PlanOutdated => {}
                    done => return done,
                }
            }
        }
        self.update_once(p, id, request).await
    }

    async fn update_once(
        &self,
        p: &Principal,
        id: &StackId,
        request: UpdateFormation,
    ) -> Result<Deploy, ControlError> {
        let existing = self.formation_record(p, id).await?;
        let permit = self.permit(p, &existing.question("formations:UpdateFormation"), id.as_str()).await?;
        check_metadata(request.metadata.as_ref().and_then(Option::as_ref))?;
        self.demand_idle(&existing).await?;
        let input = self.template_of(request.template, request.revision, Some(&existing)).await?;
        let mut prepared = self.prepare(&input).await?;
        let supplied = supplied(request.parameters.as_ref(), true);
        let readying = Readying {
            principal: p,
            project: &existing.project,
            name: &existing.doc.name,
            existing: Some(&existing),
            supplied: &supplied,
            strict: true,
            observe: ObservePolicy::Live,
            on_failure: request.on_failure,
        };
        let ready = self.make_ready(&mut prepared, &readying).await?;
        let decisions = &request.decisions;
        let permitted =
            self.permit_plan(p, permit, id.as_str(), &existing.project, &ready, decisions).await?;
        self.demand_hash(&ready, request.plan_hash).await?;
        let operation = OperationId::from(ids::mint("form_op"));
        let doc = FormationDoc {
            status: FormationStatus::Updating,
            metadata: request.metadata.unwrap_or_else(|| existing.doc.metadata.clone()),
            pending: Some(Pending {
                operation: operation.clone(),
                kind: OperationKind::Update,
                template: Some(seal_template(&self.key, id, prepared.template.raw())),
                resolved_parameters: resolved_parameters(&prepared.template, &supplied),
            }),
            ..existing.doc.clone()
        };
        let beginning = Beginning {
            principal: p,
            project: &existing.project,
            stack: id.clone(),
            operation,
            kind: OperationKind::Update,
            records: vec![doc.update(id, Some(existing.version))],
            permitted,
            decisions: &request.decisions,
        };
        self.begin(ready, beginning).await
    }

    /// Begins an operation: from here on it is durable and goes on by itself.
    pub(crate) async fn begin(&self, ready: Ready, beginning: Beginning<'_>) -> Result<Deploy, ControlError> {
        let Beginning { principal, project, stack, operation, kind, records, permitted, decisions } =
            beginning;
        let plan = Arc::new(ready.plan);
        let decided = decided_steps(&plan, &ready.rows, decisions)?;
        let new_rows = plan.steps.iter().filter_map(|step| match step.row {
            RowRef::New(number) => Some(number + 1),
            RowRef::Existing(_) => None,
        });
        let minted = (0..new_rows.max().unwrap_or(0)).map(|_| ids::mint("form_res").into()).collect();
        let mut detail = serde_json::json!({ "operation_id": operation, "plan_hash": ready.hash });
        if !decisions.is_empty() {
            detail["unknown_outcomes"] = serde_json::json!(decisions);
        }
        let request = BeginRequest {
            id: operation.clone(),
            kind,
            project: project.clone(),
            actor: principal.actor.clone(),
            plan: plan.clone(),
            secrets: ready.secrets,
            rows: ready.rows,
            minted,
            objects: records,
            requires: vec![project.to_string()],
            audit: vec![permitted.record(stack.as_str(), detail)],
            decisions: decided,
        };
        match self.engine.begin(request).await {
            Ok(_) => Ok(Deploy { formation: stack, operation }),
            Err(BeginError::Held(holder)) => Err(ControlError::held(&holder)),
            Err(BeginError::MayLand { step, until }) => {
                Err(ControlError::may_land(step, &plan, until.since(self.clock.now())))
            }
            Err(BeginError::NotAdoptable { step, failure }) => {
                Err(ControlError::not_adoptable(step, &plan, failure.as_ref()))
            }
            Err(BeginError::Moved(step)) => Err(ControlError::moved(step, &plan)),
            Err(BeginError::TooMany { running }) => Err(ControlError::new(
                WireCode::OperationInProgress,
                format!("{running} operations are in progress, which is the most at once. Try again later."),
            )),
            Err(BeginError::ShuttingDown) => Err(ControlError::new(
                WireCode::ShuttingDown,
                "The server is shutting down; nothing was begun. Try again later.",
            )),
            Err(BeginError::Store(StoreError::Object(DomainError::KeyTaken { value, .. }))) => {
                Err(name_conflict(&value))
            }
            // The project was deleted meanwhile, which it could be while it was empty.
            Err(BeginError::Store(StoreError::Object(DomainError::NotFound { id })))
                if id == project.as_str() =>
            {
                Err(ControlError::not_found("Project", &id))
            }
            // The record changed under us: somebody else began between our read and our write.
            Err(BeginError::Store(StoreError::Object(DomainError::VersionConflict { .. }))) => {
                match self.reader.lease(&stack).await? {
                    Some(holder) => Err(ControlError::held(&holder)),
                    None => Err(ControlError::new(
                        WireCode::PlanOutdated,
                        "The formation changed while the deploy was being prepared. Try again.",
                    )),
                }
            }
            Err(BeginError::Store(error)) => Err(error.into()),
        }
    }

    /// Refuses early what `begin` would refuse anyway, before anything is observed.
    pub(crate) async fn demand_idle(&self, record: &FormationRecord) -> Result<(), ControlError> {
        match self.reader.lease(&record.id).await? {
            Some(holder) => Err(ControlError::held(&holder)),
            None => Ok(()),
        }
    }

    /// Whether a formation may be made in a project.
    pub(crate) fn creating(project: &ProjectId) -> Question<'_> {
        Question::new("formations:CreateFormation", project, Srn::any(project, super::SRN_TYPE))
    }

    pub(super) async fn demand_free_name(&self, project: &ProjectId, name: &str) -> Result<(), ControlError> {
        let key = UniqueKey { key: "name".to_owned(), value: name.to_owned() };
        match self.reader.find_object(Some(project), super::record::TYPE, &key).await? {
            Some(_) => Err(name_conflict(name)),
            None => Ok(()),
        }
    }
}

/// The steps that a person's decisions are about.
fn decided_steps(
    plan: &Plan,
    rows: &[Row],
    decisions: &Decisions,
) -> Result<BTreeMap<StepId, Option<NativeId>>, ControlError> {
    let steps = decisions.iter().map(|(label, adopt)| {
        let step = plan.steps.iter().find(|step| {
            step.action == Action::Resolve && step.label.as_str() == label && is_create(&step.row, rows)
        });
        let step = step.ok_or_else(|| {
            ControlError::validation(format!(
                "Nothing is to be decided about '{label}': it has no create whose outcome is unknown."
            ))
        })?;
        Ok((step.id, adopt.clone()))
    });
    steps.collect()
}

fn is_create(row: &RowRef, rows: &[Row]) -> bool {
    let RowRef::Existing(id) = row else { return false };
    let intent = rows.iter().find(|row| row.id == *id).and_then(|row| row.intent.as_ref());
    intent.is_some_and(|intent| intent.kind == IntentKind::Create)
}

fn name_conflict(name: &str) -> ControlError {
    ControlError::new(WireCode::NameConflict, format!("A formation with the name '{name}' already exists."))
}
