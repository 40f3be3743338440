//! Purging the content of what is older than its project keeps it.

use crate::{
    Platform, PlatformError, ProjectSettings,
    failure::Failed,
    project,
    types::{PURGED_AT_ONCE, REPORTED, purge_before},
};
use formwork_model::{ProjectId, Timestamp};
use formwork_store::{DomainJob, ListQuery};
use serde_json::json;

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;
/// How many projects are looked at in one go.
const PROJECTS: usize = 200;

impl Platform {
    /// Purges the content of generations and traces that are older than their project keeps it. Answers
    /// of how many.
    ///
    /// # Errors
    /// [`PlatformError`]; what was purged by then stays purged.
    pub async fn purge_expired_content(&self, now: Timestamp) -> Result<usize, PlatformError> {
        let mut purged = 0;
        let mut offset = 0;
        loop {
            let query = ListQuery {
                type_name: project::TYPE.to_owned(),
                projects: Vec::new(),
                linked: None,
                limit: PROJECTS,
                offset,
            };
            let page = self.store.reader().objects(&query).await?;
            for object in &page.items {
                let Some(days) = ProjectSettings::of(object)?.trace_content_retention_days else { continue };
                let kept = i64::try_from(days.saturating_mul(DAY_MILLIS)).unwrap_or(i64::MAX);
                let before = Timestamp(now.0.saturating_sub(kept));
                purged += self.purge_project(&object.id.as_str().into(), before).await?;
            }
            offset += page.items.len();
            if page.items.is_empty() || offset >= page.total {
                return Ok(purged);
            }
        }
    }

    async fn purge_project(&self, project: &ProjectId, before: Timestamp) -> Result<usize, PlatformError> {
        let mut purged = 0;
        for reported in REPORTED {
            loop {
                let (key, project) = (self.key.clone(), project.clone());
                let job: DomainJob =
                    Box::new(move |tx| Ok(json!(purge_before(tx, &key, reported, &project, before)?)));
                let answer = self.store.domain(None, None, job).await;
                let answer = answer.map_err(|failure| Failed::of(failure, None))?;
                let count = answer.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
                purged += count;
                if count < PURGED_AT_ONCE {
                    break;
                }
            }
        }
        Ok(purged)
    }
}
