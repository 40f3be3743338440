//! What happens in the same transaction as a call over REST, on behalf of whoever makes it.

use formwork_model::Json;
use formwork_store::{DomainError, DomainJob, DomainTx, StoredObject};
use std::sync::Arc;

/// What belongs in the transaction of a call: what must hold before its effect, and what is
/// written with it. Both happen, with the effect, or nothing does.
pub trait Companion: Send + Sync {
    /// Checks what must hold.
    ///
    /// # Errors
    /// A refusal of the call.
    fn before(&self, tx: &mut dyn DomainTx) -> Result<(), DomainError>;

    /// Checks that what was decided holds for the object as it is now, before it is changed, deleted
    /// or acted on.
    ///
    /// # Errors
    /// A conflict, or a refusal of the call.
    fn found(&self, object: &StoredObject) -> Result<(), DomainError> {
        let _ = object;
        Ok(())
    }

    /// Checks that what was decided holds for the object as a change or an action leaves it.
    ///
    /// # Errors
    /// A refusal of the call.
    fn changed(&self, object: &StoredObject) -> Result<(), DomainError> {
        let _ = object;
        Ok(())
    }

    /// Checks that all these may be deleted, which go along with the object.
    ///
    /// # Errors
    /// A refusal of the call.
    fn along(&self, objects: &[StoredObject]) -> Result<(), DomainError> {
        let _ = objects;
        Ok(())
    }

    /// Writes what belongs to the effect, whose answer this is: a create's [`Made`](crate::Made), an
    /// update's object, whatever an action says, null for a delete.
    ///
    /// # Errors
    /// A fault of the store.
    fn after(&self, tx: &mut dyn DomainTx, answer: &Json) -> Result<(), DomainError>;
}

/// Whoever accompanies a call, or nobody.
pub(super) type Accompanied = Option<Arc<dyn Companion>>;

/// The job with its companion around it.
pub(super) fn accompanied(job: DomainJob, companion: Accompanied) -> DomainJob {
    let Some(companion) = companion else { return job };
    Box::new(move |tx| {
        companion.before(tx)?;
        let answer = job(tx)?;
        companion.after(tx, &answer)?;
        Ok(answer)
    })
}
