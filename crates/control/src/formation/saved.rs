//! Plans that are kept: shown without their source, and carried out by their hash.

use super::deploy::{Beginning, Decisions, Deploy};
use super::plan::{Ready, UNBORN, rebind};
use super::record::{FormationDoc, FormationRecord, FormationStatus, Pending, open_template, seal_template};
use crate::authorise::Permit;
use crate::input::check_name;
use crate::{Control, ControlError, Principal, ids};
use formwork_model::{
    Digest, Json, OperationId, OperationKind, Plan, PlanHash, Row, Sealed, Secret, SecretSlots, SlotId,
    StackId, StackKey, Timestamp, WireCode, digest_of,
};
use formwork_store::{ObjectWrite, SavedPlan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A kept plan, safe to show.
#[derive(Clone, Debug)]
pub struct SavedPlanView {
    /// Its hash.
    pub hash: PlanHash,
    /// The plan.
    pub plan: Arc<Plan>,
    /// The formation it is for; `None`: one that is yet to be made.
    pub formation: Option<StackId>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What carrying a plan out needs beside the plan.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    formation: Option<StackId>,
    /// The digest of the template that the formation had when the plan was made: what differs in it
    /// may be in no row (outputs, metadata), and would be lost.
    #[serde(default)]
    base: Option<Digest>,
    /// Sealed under the formation's id, or under that of the unborn.
    template: Sealed,
    resolved_parameters: Option<Json>,
}

/// What keeping a plan takes.
pub(super) struct Keeping<'a> {
    pub(super) hash: PlanHash,
    pub(super) secrets: &'a SecretSlots,
    pub(super) plan: &'a Arc<Plan>,
    pub(super) existing: Option<&'a FormationRecord>,
    pub(super) template: &'a Json,
    pub(super) resolved_parameters: Option<Json>,
}

impl Control {
    /// Keeps a plan.
    pub(super) async fn keep(&self, kept: Keeping<'_>) -> Result<(), ControlError> {
        let Keeping { hash, secrets, plan, existing, template, resolved_parameters } = kept;
        let owner = existing.map_or_else(|| StackId::from(UNBORN), |record| record.id.clone());
        let request = Request {
            formation: existing.map(|record| record.id.clone()),
            base: existing.map(|record| self.template_digest(record)).transpose()?,
            template: seal_template(&self.key, &owner, template),
            resolved_parameters,
        };
        let seal = |slot: &SlotId, secret: &Secret<Json>| {
            self.key.seal(&aad(hash, slot), secret.expose().to_string().as_bytes())
        };
        let saved = SavedPlan {
            hash,
            project: plan.project.clone(),
            plan: plan.clone(),
            slots: secrets.iter().map(|(slot, secret)| (slot.clone(), seal(slot, secret))).collect(),
            request: serde_json::to_value(request).unwrap_or_default(),
            created_at: self.clock.now(),
        };
        Ok(self.store.save_plan(saved).await?)
    }

    async fn saved(&self, p: &Principal, hash: PlanHash) -> Result<(SavedPlan, Request), ControlError> {
        let missing = || ControlError::not_found("Plan", &hash.to_string());
        let saved = self.reader.saved_plan(&hash).await?.filter(|saved| Self::sees(p, &saved.project));
        let saved = saved.ok_or_else(missing)?;
        let request = serde_json::from_value(saved.request.clone()).map_err(|_| missing())?;
        Ok((saved, request))
    }

    /// A plan that was kept.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it.
    pub async fn saved_plan(&self, p: &Principal, hash: PlanHash) -> Result<SavedPlanView, ControlError> {
        let (saved, request) = self.saved(p, hash).await?;
        if !Self::may(p, &Self::planning(&saved.project, request.formation.as_ref())) {
            return Err(ControlError::not_found("Plan", &hash.to_string()));
        }
        Ok(SavedPlanView {
            hash,
            plan: saved.plan,
            formation: request.formation,
            created_at: saved.created_at,
        })
    }

    /// Carries a kept plan out, exactly as it is. `name` is for a formation that is yet to be made.
    ///
    /// # Errors
    /// `PLAN_OUTDATED` names the first step that rests on something that is no longer so, or says
    /// that the formation has another template by now;
    /// `FORBIDDEN`, `RESOURCE_NOT_FOUND`, `NAME_CONFLICT`, `OPERATION_IN_PROGRESS`,
    /// `VALIDATION_FAILED`.
    pub async fn apply_plan(
        &self,
        p: &Principal,
        hash: PlanHash,
        name: Option<&str>,
    ) -> Result<Deploy, ControlError> {
        let (saved, request) = self.saved(p, hash).await?;
        let permit = self.permit_apply(p, &saved, &request, name).await?;
        let mut secrets = SecretSlots::new();
        for (slot, sealed) in &saved.slots {
            secrets.insert(slot.clone(), self.open_slot(hash, slot, sealed)?);
        }
        let operation = OperationId::from(ids::mint("form_op"));
        let mut plan = Plan::clone(&saved.plan);
        let onto = match request.formation.clone() {
            Some(id) => self.onto_existing(p, id, request, &operation).await?,
            None => self.onto_new(&saved, request, name, &operation, &mut plan)?,
        };
        let Onto { stack, rows, record, kind } = onto;
        let ready = Ready { plan, hash, secrets, rows, observed: BTreeMap::new(), warnings: Vec::new() };
        let decisions = Decisions::new();
        let permitted =
            self.permit_plan(p, permit, stack.as_str(), &saved.project, &ready, &decisions).await?;
        if let (OperationKind::Create, Some(name)) = (kind, name) {
            self.demand_free_name(&saved.project, name).await?;
        }
        let beginning = Beginning {
            principal: p,
            project: &saved.project,
            stack,
            operation,
            kind,
            records: vec![record],
            permitted,
            decisions: &decisions,
        };
        self.begin(ready, beginning).await
    }

    /// Demands what carrying a kept plan out takes, before anything is said of the request's body.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub(crate) async fn gate_apply(&self, p: &Principal, hash: PlanHash) -> Result<(), ControlError> {
        let (saved, request) = self.saved(p, hash).await?;
        self.permit_apply(p, &saved, &request, None).await.map(drop)
    }

    async fn permit_apply(
        &self,
        p: &Principal,
        saved: &SavedPlan,
        request: &Request,
        name: Option<&str>,
    ) -> Result<Permit, ControlError> {
        match &request.formation {
            Some(id) => {
                let existing = self.formation_record(p, id).await?;
                self.permit(p, &existing.question("formations:UpdateFormation"), id.as_str()).await
            }
            None => self.permit(p, &Self::creating(&saved.project), name.unwrap_or_default()).await,
        }
    }

    async fn onto_existing(
        &self,
        p: &Principal,
        stack: StackId,
        request: Request,
        operation: &OperationId,
    ) -> Result<Onto, ControlError> {
        let existing = self.formation_record(p, &stack).await?;
        self.demand_idle(&existing).await?;
        if let Some(base) = request.base
            && base != self.template_digest(&existing)?
        {
            return Err(ControlError::new(
                WireCode::PlanOutdated,
                "The formation was deployed with another template since the plan was made. Plan again.",
            ));
        }
        let kind = OperationKind::Update;
        let pending = pending(operation, kind, request.template, request.resolved_parameters);
        let doc = FormationDoc {
            status: FormationStatus::Updating,
            pending: Some(pending),
            ..existing.doc.clone()
        };
        let record = doc.update(&stack, Some(existing.version));
        Ok(Onto { rows: self.reader.rows(&stack).await?, stack, record, kind })
    }

    fn onto_new(
        &self,
        saved: &SavedPlan,
        request: Request,
        name: Option<&str>,
        operation: &OperationId,
        plan: &mut Plan,
    ) -> Result<Onto, ControlError> {
        let name = name.ok_or_else(|| {
            ControlError::validation("Missing required field(s): name")
                .with_meta(serde_json::json!({ "missingFields": ["name"] }))
        })?;
        check_name(name)?;
        let stack = StackId::from(ids::mint("form"));
        rebind(plan, &stack, &StackKey::new(saved.project.clone(), name));
        let template = open_template(&self.key, &UNBORN.into(), &request.template)?;
        let template = seal_template(&self.key, &stack, &template);
        let kind = OperationKind::Create;
        let pending = pending(operation, kind, template, request.resolved_parameters);
        let record = FormationDoc::creating(name, None, pending).insert(&stack, &saved.project);
        Ok(Onto { stack, rows: Vec::new(), record, kind })
    }

    fn template_digest(&self, record: &FormationRecord) -> Result<Digest, ControlError> {
        Ok(digest_of(&self.key, &record.template(&self.key)?))
    }

    fn open_slot(
        &self,
        hash: PlanHash,
        slot: &SlotId,
        sealed: &Sealed,
    ) -> Result<Secret<Json>, ControlError> {
        let refused = || {
            ControlError::new(
                WireCode::SecretNotDecryptable,
                "The plan's secrets can't be opened with this instance key.",
            )
        };
        let opened = self.key.open(&aad(hash, slot), sealed).map_err(|_| refused())?;
        serde_json::from_slice(opened.expose()).map(Secret::new).map_err(|_| refused())
    }

    /// The first step in which a plan differs from the kept one that was approved, in words.
    pub(super) async fn first_difference(&self, approved: PlanHash, planned: &Plan) -> Option<String> {
        let saved = self.reader.saved_plan(&approved).await.ok()??;
        let (old, new) = (&saved.plan.steps, &planned.steps);
        let position = (0..old.len().max(new.len())).find(|index| old.get(*index) != new.get(*index))?;
        let words = |step: Option<&formwork_model::Step>| {
            step.map_or_else(
                || "nothing".to_owned(),
                |step| format!("{} `{}`", step.action.name(), step.label),
            )
        };
        Some(format!(
            "The first step that differs: approved was {}, now it would be {}.",
            words(old.get(position)),
            words(new.get(position))
        ))
    }
}

/// The formation that a kept plan is carried out on.
struct Onto {
    stack: StackId,
    rows: Vec<Row>,
    record: ObjectWrite,
    kind: OperationKind,
}

fn aad(hash: PlanHash, slot: &SlotId) -> Vec<u8> {
    format!("plan:{hash}:{slot}").into_bytes()
}

fn pending(
    operation: &OperationId,
    kind: OperationKind,
    template: Sealed,
    resolved_parameters: Option<Json>,
) -> Pending {
    Pending { operation: operation.clone(), kind, template: Some(template), resolved_parameters }
}
