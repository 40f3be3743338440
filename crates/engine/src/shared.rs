//! What all operations of an engine share, and which of them run.

use crate::rate::Rates;
use crate::{Clock, EngineOptions, Hooks, OperationHandle, Registry};
use formwork_model::{InstanceKey, OperationId};
use formwork_store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// What all operations of an engine share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) rates: Arc<Rates>,
    pub(crate) key: InstanceKey,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) options: EngineOptions,
    state: Mutex<State>,
    stopping: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    /// Operations that run, or are about to.
    seats: BTreeSet<OperationId>,
    running: BTreeMap<OperationId, (OperationHandle, AbortHandle)>,
    unreadable: BTreeMap<OperationId, String>,
}

impl Shared {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        registry: Arc<Registry>,
        rates: Arc<Rates>,
        key: InstanceKey,
        clock: Arc<dyn Clock>,
        hooks: Arc<dyn Hooks>,
        options: EngineOptions,
    ) -> Self {
        let (state, stopping) = (Mutex::default(), watch::Sender::new(false));
        Self { store, registry, rates, key, clock, hooks, options, state, stopping }
    }

    /// Whether the process shuts down.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Tells when the process shuts down.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }

    /// The process shuts down.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Ends all tasks of operations.
    pub(crate) fn abort_all(&self) {
        self.lock().running.values().for_each(|(_, task)| task.abort());
    }

    pub(crate) fn running(&self) -> Vec<OperationHandle> {
        self.lock().running.values().map(|(handle, _)| handle.clone()).collect()
    }

    pub(crate) fn handle(&self, id: &OperationId) -> Option<OperationHandle> {
        self.lock().running.get(id).map(|(handle, _)| handle.clone())
    }

    /// Notes an operation whose task `spawn` starts; the task can't end before it is noted.
    pub(crate) fn seat(&self, handle: OperationHandle, spawn: impl FnOnce() -> AbortHandle) {
        let mut state = self.lock();
        let task = spawn();
        state.running.insert(handle.id().clone(), (handle, task));
    }

    /// Notes that an operation can't be recovered.
    pub(crate) fn report_unreadable(&self, id: &OperationId, error: &dyn std::error::Error) {
        let mut reason = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            reason = format!("{reason}: {cause}");
            source = cause.source();
        }
        tracing::error!(operation = %id, reason, "an operation can't be recovered");
        self.lock().unreadable.insert(id.clone(), reason);
    }

    pub(crate) fn unreadable(&self) -> BTreeMap<OperationId, String> {
        self.lock().unreadable.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An operation's place among those that run; given up when dropped.
pub(crate) struct Seat {
    shared: Arc<Shared>,
    id: OperationId,
}

impl Seat {
    /// A seat, or how many are taken if that is all there are.
    pub(crate) fn take(shared: &Arc<Shared>, id: OperationId) -> Result<Self, usize> {
        let mut state = shared.lock();
        if state.seats.len() >= shared.options.max_operations {
            return Err(state.seats.len());
        }
        state.seats.insert(id.clone());
        Ok(Self { shared: Arc::clone(shared), id })
    }

    /// A seat in any case, for what had one before a crash.
    pub(crate) fn force(shared: &Arc<Shared>, id: OperationId) -> Self {
        shared.lock().seats.insert(id.clone());
        Self { shared: Arc::clone(shared), id }
    }

    pub(crate) fn id(&self) -> &OperationId {
        &self.id
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.seats.remove(&self.id);
        state.running.remove(&self.id);
    }
}
