//! The engine: begins, recovers, and stops operations.

use crate::{
    BeginError, BeginRequest, CancelOutcome, Clock, EngineOptions, Hooks, ObserveRequest, OperationHandle,
    Registry, ResolveOutcome,
};
use formwork_model::{InstanceKey, NativeId, Observation, OperationId, OwnerId, RowId, StepId};
use formwork_store::{Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Carries operations out.
pub struct Engine {}

#[allow(unused_variables, clippy::unused_async)]
impl Engine {
    /// An engine over a store.
    pub fn new(
        store: Arc<dyn Store>,
        registry: Arc<Registry>,
        key: InstanceKey,
        clock: Arc<dyn Clock>,
        hooks: Arc<dyn Hooks>,
        options: EngineOptions,
    ) -> Arc<Self> {
        unimplemented!()
    }

    /// Begins an operation: once this answers it is durable, and runs whatever the caller does.
    ///
    /// # Errors
    /// [`BeginError`]; nothing is stored then.
    pub async fn begin(self: &Arc<Self>, request: BeginRequest) -> Result<OperationHandle, BeginError> {
        unimplemented!()
    }

    /// Takes over every unfinished operation whose lease ran out, whose owner is dead, or which
    /// this owner ran in an earlier life. One that can't be read is reported and left; the others
    /// go on.
    ///
    /// # Errors
    /// [`StoreError`] if the operations can't be listed.
    pub async fn recover(
        self: &Arc<Self>,
        is_dead: &(dyn Fn(&OwnerId) -> bool + Send + Sync),
    ) -> Result<Vec<OperationHandle>, StoreError> {
        unimplemented!()
    }

    /// The operations that run in this process, by id.
    pub fn running(&self) -> Vec<OperationHandle> {
        unimplemented!()
    }

    /// An operation that runs in this process.
    pub fn handle(&self, id: &OperationId) -> Option<OperationHandle> {
        unimplemented!()
    }

    /// Asks an operation to stop.
    pub async fn cancel(&self, id: &OperationId, force: bool) -> CancelOutcome {
        unimplemented!()
    }

    /// Settles a step whose outcome is unknown: the object is this one, or there is none.
    pub async fn resolve(&self, id: &OperationId, step: StepId, adopt: Option<NativeId>) -> ResolveOutcome {
        unimplemented!()
    }

    /// Looks at the rows' objects, in parallel and within bounds. Rows without an object and types
    /// that can't be read are left out.
    pub async fn observe(&self, request: ObserveRequest) -> BTreeMap<RowId, Observation> {
        unimplemented!()
    }

    /// Stops starting calls, waits for those under way for at most `grace`, and leaves what is
    /// unfinished to the next recovery.
    pub async fn shutdown(&self, grace: Duration) {
        unimplemented!()
    }
}
