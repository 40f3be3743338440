//! Applying a forma.

use super::ready::{ReadyForma, stack_labels, stack_question};
use crate::formation::Beginning;
use crate::{Control, ControlError, Decisions, PlannedForma, Principal, ids};
use formwork_forma::{Forma, stack_id};
use formwork_model::{
    Action, Mode, OnFailure, OperationId, OperationKind, Plan, PlanHash, ProjectId, WireCode,
};
use std::sync::Arc;

/// How often a forma is planned again because somebody else's operation was quicker.
const ATTEMPTS: u32 = 4;

/// A forma to be applied.
#[derive(Clone, Debug)]
pub struct ApplyForma {
    /// In which project.
    pub project_id: Option<ProjectId>,
    /// What it declares.
    pub forma: Arc<Forma>,
    /// Whether it is all that its stacks have.
    pub mode: Mode,
    /// Whether what was changed behind our back is overwritten.
    pub force: bool,
    /// What a failed step means for the rest.
    pub on_failure: OnFailure,
    /// The plan that was approved; another one is refused.
    pub plan_hash: Option<PlanHash>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct AppliedForma {
    /// The operation to follow; `None`: there was nothing to do.
    pub operation: Option<OperationId>,
    /// What it does.
    pub planned: PlannedForma,
}

impl Control {
    /// Applies a forma: once this answers, the operation is durable and runs whatever the caller does.
    ///
    /// # Errors
    /// `FORBIDDEN`, `VALIDATION_FAILED`, `DRIFTED`, `PLAN_OUTDATED`, `OPERATION_IN_PROGRESS`. Nothing is
    /// stored then, but for a refusal in the audit.
    pub async fn apply_forma(
        &self,
        p: &Principal,
        request: ApplyForma,
    ) -> Result<AppliedForma, ControlError> {
        // Nobody approved a plan: one that a short operation of somebody else outran is made again.
        if request.plan_hash.is_none() {
            for _ in 1..ATTEMPTS {
                match self.apply_once(p, &request).await {
                    Err(error) if error.code == WireCode::PlanOutdated => {}
                    done => return done,
                }
            }
        }
        self.apply_once(p, &request).await
    }

    async fn apply_once(&self, p: &Principal, request: &ApplyForma) -> Result<AppliedForma, ControlError> {
        const ACTION: &str = "stacks:ApplyStack";
        let project = self.project_to_write(p, request.project_id.as_ref(), ACTION).await?;
        let labels = stack_labels(&request.forma);
        // Each stack is asked for; the last permit is the one that is written down.
        let mut permit = None;
        for label in &labels {
            permit = Some(self.permit(p, &stack_question(ACTION, &project, label), label).await?);
        }
        let permit = match permit {
            Some(permit) => permit,
            None => self.permit(p, &stack_question(ACTION, &project, "*"), "*").await?,
        };
        self.demand_project(&project).await?;
        let ReadyForma { ready, stacks, drift } = self.forma_ready(p, &project, request).await?;
        let subject = labels.iter().cloned().collect::<Vec<_>>().join(",");
        let decisions = Decisions::new();
        let permitted = self.permit_plan(p, permit, &subject, &project, &ready, &decisions).await?;
        self.demand_hash(&ready, request.plan_hash).await?;
        if request.mode == Mode::Reconcile && !request.force {
            Self::demand_no_drift(&drift)?;
        }
        let records = Self::record_writes(&project, &request.forma, &stacks)?;
        let is_idle = is_idle(&ready.plan) && records.is_empty();
        let planned = self.shown(p, &project, &ready, drift).await?;
        if is_idle {
            return Ok(AppliedForma { operation: None, planned });
        }
        let operation = OperationId::from(ids::mint("op"));
        let stack = stacks.first().map_or_else(|| stack_id(&project, "*"), |stack| stack.id.clone());
        let beginning = Beginning {
            principal: p,
            project: &project,
            stack,
            operation: operation.clone(),
            kind: OperationKind::Update,
            records,
            permitted,
            decisions: &decisions,
        };
        self.begin(ready, beginning).await?;
        Ok(AppliedForma { operation: Some(operation), planned })
    }
}

/// Whether a plan does nothing.
pub(super) fn is_idle(plan: &Plan) -> bool {
    plan.steps.iter().all(|step| step.action == Action::NoOp)
}
