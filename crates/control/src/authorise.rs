//! What a principal may do. Decided before any effect; every decision on a write is audited.

use crate::{Control, ControlError, Principal};
use formwork_model::{Json, ProjectId, WireCode};
use formwork_store::AuditRecord;

impl Control {
    /// The project a request is for: the one it names, else the credential's own, else the default
    /// one (`formations-behaviour.md` §1.2, notes).
    pub(crate) fn project_of(p: &Principal, named: Option<&ProjectId>) -> Result<ProjectId, ControlError> {
        match (named, &p.scope) {
            (Some(named), Some(scope)) if named != scope => Err(ControlError::new(
                WireCode::ApiKeyProjectScope,
                "The credential is confined to another project.",
            )
            .with_meta(serde_json::json!({ "scoped_project": scope, "requested_project": named }))),
            (Some(named), _) => Ok(named.clone()),
            (None, Some(scope)) => Ok(scope.clone()),
            (None, None) => p.default_project.clone().ok_or_else(|| {
                ControlError::validation("Missing required field(s): project_id")
                    .with_meta(serde_json::json!({ "missingFields": ["project_id"] }))
            }),
        }
    }

    /// Whether the principal can see into a project.
    pub(crate) fn sees(p: &Principal, project: &ProjectId) -> bool {
        p.scope.as_ref().is_none_or(|scope| scope == project)
    }

    /// The projects a request is over; `None` is all.
    pub(crate) fn visible(
        p: &Principal,
        named: Option<&ProjectId>,
    ) -> Result<Option<Vec<ProjectId>>, ControlError> {
        match (named, &p.scope) {
            (None, None) => Ok(None),
            _ => Ok(Some(vec![Self::project_of(p, named)?])),
        }
    }

    /// Demands the admin role.
    pub(crate) fn demand_admin(p: &Principal) -> Result<(), ControlError> {
        if p.admin && p.scope.is_none() {
            return Ok(());
        }
        Err(ControlError::new(WireCode::Forbidden, "Forbidden"))
    }

    /// Writes a decision down.
    pub(crate) async fn audit(
        &self,
        p: &Principal,
        project: Option<&ProjectId>,
        action: &str,
        subject: &str,
        detail: Json,
    ) -> Result<(), ControlError> {
        let record = AuditRecord {
            at: self.clock.now(),
            actor: p.actor.to_string(),
            project: project.cloned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            allowed: true,
            detail,
        };
        Ok(self.store.audit(record).await?)
    }
}
