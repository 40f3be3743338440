//! What happens in the same transaction as a call over REST, on behalf of whoever makes it.

use formwork_model::Json;
use formwork_store::{DomainError, DomainJob, DomainTx};
use std::sync::Arc;

/// What belongs in the transaction of a call: what must hold before its effect, and what is
/// written with it. Both happen, with the effect, or nothing does.
pub trait Companion: Send + Sync {
    /// Checks what must hold.
    ///
    /// # Errors
    /// A refusal of the call.
    fn before(&self, tx: &mut dyn DomainTx) -> Result<(), DomainError>;

    /// Writes what belongs to the effect, whose answer this is: a create's [`Made`](crate::Made), an
    /// update's object, null for a delete.
    ///
    /// # Errors
    /// A fault of the store.
    fn after(&self, tx: &mut dyn DomainTx, answer: &Json) -> Result<(), DomainError>;
}

/// The job with its companion around it.
pub(super) fn accompanied(job: DomainJob, companion: Option<Arc<dyn Companion>>) -> DomainJob {
    let Some(companion) = companion else { return job };
    Box::new(move |tx| {
        companion.before(tx)?;
        let answer = job(tx)?;
        companion.after(tx, &answer)?;
        Ok(answer)
    })
}
