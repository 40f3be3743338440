//! The audit, as people read it.

use crate::{Control, ControlError, Principal};
use formwork_model::{Json, ProjectId, Timestamp};
use formwork_store::{AuditRecord, Page};

const ACTION: &str = "audit:ListAuditEntries";
const SRN_TYPE: &str = "audit";
/// How far back the audits of several projects are read as one.
const FARTHEST: usize = 1_000;

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
    /// A page of the audit, newest first: of one project, of every project whose audit they may
    /// read, or of everything for whoever nothing limits.
    ///
    /// # Errors
    /// `API_KEY_PROJECT_SCOPE`; `VALIDATION_FAILED` for a page that is too far back in the audit of
    /// several projects.
    pub async fn audit_entries(
        &self,
        p: &Principal,
        project: Option<&ProjectId>,
        limit: usize,
        offset: usize,
    ) -> Result<Page<AuditEntry>, ControlError> {
        // Project by project: what is denied in one must not show among those of all.
        let page = match self.reach(p, project, ACTION, SRN_TYPE).await?.as_deref() {
            None => self.reader.audit_log(None, limit, offset).await?,
            Some([]) => Page { items: Vec::new(), total: 0 },
            Some([one]) => self.reader.audit_log(Some(one), limit, offset).await?,
            Some(several) => self.audit_of(several, limit, offset).await?,
        };
        Ok(Page { items: page.items.into_iter().map(AuditEntry::from).collect(), total: page.total })
    }

    /// A page of what is in the audit of several projects.
    async fn audit_of(
        &self,
        projects: &[ProjectId],
        limit: usize,
        offset: usize,
    ) -> Result<Page<AuditRecord>, ControlError> {
        let end = offset.saturating_add(limit);
        if end > FARTHEST {
            return Err(ControlError::validation(format!(
                "Beyond the newest {FARTHEST} entries, name the project: `project_id`"
            )));
        }
        let mut found = Page { items: Vec::new(), total: 0 };
        for project in projects {
            let page = self.reader.audit_log(Some(project), end, 0).await?;
            found.total += page.total;
            found.items.extend(page.items);
            // Each is in order already; no more than the page needs is kept of them together.
            found.items.sort_by_key(|entry| std::cmp::Reverse(entry.at));
            found.items.truncate(end);
        }
        found.items.drain(..offset.min(found.items.len()));
        Ok(found)
    }
}
