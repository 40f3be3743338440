//! The audit, as people read it.

use crate::access::named;
use crate::authorise::Question;
use crate::{Control, ControlError, Principal};
use formwork_model::{Json, ProjectId, Timestamp};
use formwork_store::{AuditRecord, Page};

const ACTION: &str = "audit:ListAuditEntries";
const SRN_TYPE: &str = "audit";

/// A decision on a write.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who asked.
    pub actor: String,
    /// In which project; `None` for what is in none.
    pub project_id: Option<ProjectId>,
    /// For which action.
    pub action: String,
    /// On what.
    pub subject: String,
    /// Whether it was allowed.
    pub allowed: bool,
    /// Further facts: the resource's name, what decided, what came of it.
    pub detail: Json,
}

impl From<AuditRecord> for AuditEntry {
    fn from(record: AuditRecord) -> Self {
        let AuditRecord { at, actor, project, action, subject, allowed, detail } = record;
        Self { at, actor, project_id: project, action, subject, allowed, detail }
    }
}

impl Control {
    /// A page of the audit, newest first: of one project, or of everything for whoever may read
    /// that of every project. Others see none where they name no project.
    ///
    /// # Errors
    /// `API_KEY_PROJECT_SCOPE`.
    pub async fn audit_entries(
        &self,
        p: &Principal,
        project: Option<&ProjectId>,
        limit: usize,
        offset: usize,
    ) -> Result<Page<AuditEntry>, ControlError> {
        let project = match (project, &p.scope) {
            (None, None) => None,
            _ => Some(Self::project_of(p, project)?),
        };
        let srn = named(SRN_TYPE, project.as_ref(), "*");
        let question =
            Question { project: project.as_ref(), admin_only: false, ..Question::global(ACTION, srn) };
        if !Self::may(p, &question) {
            return Ok(Page { items: Vec::new(), total: 0 });
        }
        let page = self.reader.audit_log(project.as_ref(), limit, offset).await?;
        Ok(Page { items: page.items.into_iter().map(AuditEntry::from).collect(), total: page.total })
    }
}
