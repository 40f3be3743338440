//! The trait [`Store`] for whatever can run a transaction over [`Tables`].

use crate::snapshots::Snapshots;
use crate::tables::Tables;
use crate::{
    AuditRecord, Begin, Begun, DomainFailure, DomainJob, LeaseGuard, ObservationWrite, Reader, SavedPlan,
    Store, StoreError, TakenOver, Unit, rules,
};
use async_trait::async_trait;
use formwork_model::{ClientToken, Fence, Json, OperationId, OwnerId, StackId, Timestamp};
use std::sync::Arc;
use tokio::sync::watch;

/// What a transaction is about, beside its job.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// Completes "the store failed while it …".
    pub(crate) doing: &'static str,
    /// The stacks whose leases it rests on.
    pub(crate) stacks: Vec<StackId>,
}

impl Write {
    fn new(doing: &'static str) -> Self {
        Self { doing, stacks: Vec::new() }
    }

    fn under(doing: &'static str, guard: &LeaseGuard) -> Self {
        Self { doing, stacks: guard.fences.iter().map(|(stack, _)| stack.clone()).collect() }
    }
}

/// Runs transactions.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Its reading side.
    type Snapshots: Snapshots;

    fn snapshots(&self) -> Arc<Self::Snapshots>;

    fn signal(&self) -> watch::Receiver<u64>;

    /// Runs a job in a transaction of its own: what it changed is durable when this answers `Ok`,
    /// and undone when the job fails.
    fn write<T, E>(
        &self,
        write: Write,
        job: impl FnOnce(&mut dyn Tables) -> Result<T, E> + Send + 'static,
    ) -> impl Future<Output = Result<T, E>> + Send
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static;
}

#[async_trait]
impl<B: Backend> Store for B {
    fn reader(&self) -> Arc<dyn Reader> {
        self.snapshots()
    }

    fn event_signal(&self) -> watch::Receiver<u64> {
        self.signal()
    }

    async fn begin(&self, begin: Begin) -> Result<Begun, StoreError> {
        let stacks = begin.operation.stacks.clone();
        let write = Write { doing: "began an operation", stacks };
        self.write(write, move |tables| rules::begin(tables, begin)).await
    }

    async fn commit(&self, guard: &LeaseGuard, unit: Unit) -> Result<(), StoreError> {
        let guard = guard.clone();
        let write = Write::under("stored a unit of an operation", &guard);
        self.write(write, move |tables| rules::commit(tables, &guard, unit)).await
    }

    async fn renew(&self, guard: &LeaseGuard, ttl_millis: u64) -> Result<(), StoreError> {
        let guard = guard.clone();
        let write = Write::under("renewed a lease", &guard);
        self.write(write, move |tables| rules::renew(tables, &guard, ttl_millis)).await
    }

    async fn take_over(
        &self,
        operation: &OperationId,
        owner: &OwnerId,
        dead: Option<&OwnerId>,
        ttl_millis: u64,
    ) -> Result<TakenOver, StoreError> {
        let (operation, owner, dead) = (operation.clone(), owner.clone(), dead.cloned());
        self.write(Write::new("took over an operation"), move |tables| {
            rules::take_over(tables, &operation, &owner, dead.as_ref(), ttl_millis)
        })
        .await
    }

    async fn domain(
        &self,
        fence: Option<(StackId, Fence)>,
        token: Option<ClientToken>,
        job: DomainJob,
    ) -> Result<Json, DomainFailure> {
        let stacks = fence.iter().map(|(stack, _)| stack.clone()).collect();
        let write = Write { doing: "changed objects", stacks };
        self.write(write, move |tables| rules::domain(tables, fence, token, job)).await
    }

    async fn save_plan(&self, plan: SavedPlan) -> Result<(), StoreError> {
        self.write(Write::new("saved a plan"), move |tables| rules::save_plan(tables, &plan)).await
    }

    async fn observe(&self, observations: Vec<ObservationWrite>) -> Result<usize, StoreError> {
        let write = Write::new("stored observations");
        self.write(write, move |tables| rules::observe(tables, observations)).await
    }

    async fn audit(&self, record: AuditRecord) -> Result<(), StoreError> {
        self.write(Write::new("appended to the audit"), move |tables| tables.append_audit(&record)).await
    }

    async fn compact(&self, before: Timestamp, most: usize) -> Result<usize, StoreError> {
        let write = Write::new("deleted old journals");
        self.write(write, move |tables| rules::compact(tables, before, most)).await
    }
}
