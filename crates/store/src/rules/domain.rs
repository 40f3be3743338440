//! One job over objects, once per token (architecture §4, "Platform").

use super::{lease, objects::Objects};
use crate::tables::Tables;
use crate::{DomainError, DomainFailure, DomainJob};
use formwork_model::{ClientToken, Fence, Json, StackId};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A job ended by a panic; what it had changed is rolled back like after any failure.
#[derive(Debug, thiserror::Error)]
#[error("the job over objects panicked")]
struct JobPanicked;

/// [`Store::domain`](crate::Store::domain).
pub(crate) fn domain(
    tables: &mut dyn Tables,
    fence: Option<(StackId, Fence)>,
    token: Option<ClientToken>,
    job: DomainJob,
) -> Result<Json, DomainFailure> {
    if let Some((stack, fence)) = fence
        && tables.enforces_fences()
        && !lease::is_newest(tables, &stack, fence)?
    {
        return Err(DomainFailure::Fenced { stack });
    }
    if let Some(token) = &token
        && let Some(outcome) = tables.effect(token)?
    {
        return Ok(outcome);
    }
    // The job runs on a thread that serves others too, so its panic must not end that.
    let outcome = catch_unwind(AssertUnwindSafe(|| job(&mut Objects(tables))))
        .unwrap_or_else(|_| Err(DomainError::Fault(Box::new(JobPanicked))))?;
    if let Some(token) = &token {
        tables.put_effect(token, &outcome)?;
    }
    Ok(outcome)
}
