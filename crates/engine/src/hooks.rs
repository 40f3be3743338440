//! What `control` adds to an operation.

use async_trait::async_trait;
use formwork_model::{Failure, OperationId, OperationStatus, Plan, Row, RowRef, Timestamp};
use formwork_store::{ObjectWrite, StoreError};

/// What `control` adds to an operation.
#[async_trait]
pub trait Hooks: Send + Sync + 'static {
    /// Called when an operation is about to finish, before its last unit is committed: the writes
    /// it answers are part of that unit. It is also called when a recovered operation finishes,
    /// and again if the unit could not be committed.
    ///
    /// # Errors
    /// [`StoreError`]; the operation is then recovered from its journal like after a failed commit.
    async fn finishing(&self, ending: &Ending<'_>) -> Result<Vec<ObjectWrite>, StoreError>;
}

/// An operation that is about to finish.
pub struct Ending<'a> {
    /// Which operation.
    pub operation: &'a OperationId,
    /// The plan it carried out.
    pub plan: &'a Plan,
    /// The rows as they will be.
    pub rows: &'a (dyn Fn(&RowRef) -> Option<&'a Row> + Send + Sync),
    /// Succeeded or failed.
    pub status: OperationStatus,
    /// Why it failed.
    pub failure: Option<&'a Failure>,
    /// When.
    pub at: Timestamp,
}

/// Hooks that add nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

#[async_trait]
impl Hooks for NoHooks {
    async fn finishing(&self, _: &Ending<'_>) -> Result<Vec<ObjectWrite>, StoreError> {
        Ok(Vec::new())
    }
}
