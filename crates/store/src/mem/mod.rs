//! A store in memory: for tests and for the simulator, which injects faults and crashes it.
//!
//! Its futures are always ready at once, so that a simulator without an async runtime can poll them
//! a single time.

mod fault;
mod ledger;
mod records;
mod state;
mod table;

pub use fault::Fault;

use crate::backend::{Backend, Write};
use crate::snapshots::Snapshots;
use crate::tables::{Holder, LeaseTables, Tables};
use crate::{Clock, StoreError, SystemClock};
use fault::Injected;
use formwork_model::{Fence, StackId, Timestamp};
use state::State;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// For how long the stranger of [`Fault::LeaseLost`] takes a lease.
const STRANGER_TTL_MILLIS: u64 = 60_000;

/// When acknowledged writes are durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When they are acknowledged, as a store must.
    #[default]
    Sync,
    /// After [`MemStore::flush`] only: the mutation "no fsync", which tests must notice.
    None,
}

/// How a store in memory behaves.
#[derive(Clone)]
pub struct MemOptions {
    /// Its clock.
    pub clock: Arc<dyn Clock>,
    /// When writes are durable.
    pub durability: Durability,
    /// Whether it rejects stale fences; not doing so is a mutation that tests must notice.
    pub check_fence: bool,
}

impl Default for MemOptions {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), durability: Durability::Sync, check_fence: true }
    }
}

impl fmt::Debug for MemOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemOptions")
            .field("durability", &self.durability)
            .field("check_fence", &self.check_fence)
            .finish_non_exhaustive()
    }
}

/// A store in memory. Clones are handles to the same store, like several processes on one file.
#[derive(Clone)]
pub struct MemStore {
    shared: Arc<Shared>,
}

impl fmt::Debug for MemStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemStore").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

struct Shared {
    options: MemOptions,
    inner: Mutex<Inner>,
    signal: watch::Sender<u64>,
}

#[derive(Clone, Default)]
struct Inner {
    /// What readers see.
    volatile: State,
    /// What a crash leaves, under [`Durability::None`]; otherwise that is `volatile`.
    durable: State,
    /// How many writes there were.
    writes: u64,
    /// What happens at which write.
    faults: BTreeMap<u64, Fault>,
    /// Whether the process is dead.
    gone: bool,
}

impl MemStore {
    /// An empty store.
    pub fn new(options: MemOptions) -> Self {
        Self::with(options, Inner::default())
    }

    fn with(options: MemOptions, inner: Inner) -> Self {
        let last = inner.volatile.events.last_key().copied().unwrap_or_default();
        let shared = Shared { options, inner: Mutex::new(inner), signal: watch::Sender::new(last) };
        Self { shared: Arc::new(shared) }
    }

    /// Ends the process that has this store, and answers the store as the next one finds it: with
    /// what was durable. Every later call through this handle or a clone of it fails. Faults that
    /// are still scheduled, and the count of writes, pass to the new store.
    #[must_use]
    pub fn crash(&self) -> Self {
        let mut inner = self.shared.lock();
        let was = std::mem::replace(&mut *inner, Inner { gone: true, ..Inner::default() });
        let left = match self.shared.options.durability {
            Durability::Sync => Inner { gone: false, ..was },
            Durability::None => Inner { volatile: was.durable.clone(), gone: false, ..was },
        };
        Self::with(self.shared.options.clone(), left)
    }

    /// An independent store with the same contents, faults included; this one lives on.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::with(self.shared.options.clone(), self.shared.lock().clone())
    }

    /// Makes durable what was acknowledged, under [`Durability::None`].
    pub fn flush(&self) {
        self.shared.lock().flush(self.shared.options.durability);
    }

    /// How many writes there were, failed ones included: every call of [`Store`](crate::Store)
    /// that may change something counts one.
    pub fn writes(&self) -> u64 {
        self.shared.lock().writes
    }

    /// Lets the next write fail that has no fault yet.
    pub fn fail_next(&self, fault: Fault) {
        let mut inner = self.shared.lock();
        let mut number = inner.writes;
        while inner.faults.contains_key(&number) {
            number += 1;
        }
        inner.faults.insert(number, fault);
    }

    /// Lets the write with this number (from 0, see [`writes`](Self::writes)) fail.
    pub fn fail_at(&self, number: u64, fault: Fault) {
        self.shared.lock().faults.insert(number, fault);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic inside a transaction is caught and undone, so the state is whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<T, E: From<StoreError>>(
        &self,
        write: &Write,
        job: impl FnOnce(&mut dyn Tables) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut inner = self.lock();
        if inner.gone {
            return Err(Injected::Gone.error(write.doing).into());
        }
        let number = inner.writes;
        inner.writes += 1;
        let fault = inner.faults.remove(&number);
        match fault {
            Some(Fault::FailBefore) => return Err(Injected::Asked.error(write.doing).into()),
            Some(Fault::Torn) => {
                inner.gone = true;
                return Err(Injected::Asked.error(write.doing).into());
            }
            Some(Fault::LeaseLost) => inner.estrange(&write.stacks, self.options.clock.now())?,
            Some(Fault::FailAfter) | None => {}
        }
        let answer = job(&mut inner.tables(&self.options));
        if answer.is_err() {
            inner.volatile.undo();
            return answer;
        }
        inner.volatile.keep();
        self.tell(&inner);
        if fault == Some(Fault::FailAfter) {
            inner.flush(self.options.durability);
            return Err(Injected::Asked.error(write.doing).into());
        }
        answer
    }

    fn tell(&self, inner: &Inner) {
        let last = inner.volatile.events.last_key().copied().unwrap_or_default();
        self.signal.send_if_modified(|told| std::mem::replace(told, last) != last);
    }
}

impl Inner {
    fn tables<'a>(&'a mut self, options: &MemOptions) -> MemTables<'a> {
        MemTables { state: &mut self.volatile, now: options.clock.now(), check_fence: options.check_fence }
    }

    fn flush(&mut self, durability: Durability) {
        if durability == Durability::None {
            self.durable = self.volatile.clone();
        }
    }

    /// Passes leases to a stranger, as a take-over by another process would.
    fn estrange(&mut self, stacks: &[StackId], now: Timestamp) -> Result<(), StoreError> {
        let mut tables = MemTables { state: &mut self.volatile, now, check_fence: true };
        for stack in stacks {
            let Some(mut lease) = tables.lease(stack)? else { continue };
            let Some(holder) = lease.holder else { continue };
            lease.fence = Fence(lease.fence.0 + 1);
            let expires_at = now.plus(STRANGER_TTL_MILLIS);
            lease.holder = Some(Holder { owner: "stranger".into(), since: now, expires_at, ..holder });
            tables.put_lease(&lease)?;
        }
        self.volatile.keep();
        Ok(())
    }
}

/// The tables within one transaction.
struct MemTables<'a> {
    state: &'a mut State,
    now: Timestamp,
    check_fence: bool,
}

impl Backend for MemStore {
    type Snapshots = Self;

    fn snapshots(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    fn signal(&self) -> watch::Receiver<u64> {
        self.shared.signal.subscribe()
    }

    async fn write<T, E>(
        &self,
        write: Write,
        job: impl FnOnce(&mut dyn Tables) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.shared.write(&write, job)
    }
}

impl Snapshots for MemStore {
    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut dyn Tables) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut inner = self.shared.lock();
        if inner.gone {
            return Err(Injected::Gone.error("read"));
        }
        let answer = job(&mut inner.tables(&self.shared.options));
        // A reading job changes nothing, and if it did, nobody would see it.
        inner.volatile.undo();
        answer
    }
}
