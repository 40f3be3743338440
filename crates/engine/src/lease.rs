//! The lease of a running operation: renewed in the background, and before a call that it would
//! not outlive.
//!
//! All renewals go through one task, so that a short one can never cut a longer one. Expiry is
//! counted by this process's clock from before each renewal was asked for, so it is never later
//! than the store's.

use crate::Clock;
use formwork_model::Timestamp;
use formwork_store::{LeaseGuard, Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Why a lease can no longer be relied on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeaseEnd {
    /// It is someone else's, or ran out.
    #[error("the lease is no longer held")]
    Lost,
    /// The store can't be reached, and it ran out meanwhile.
    #[error("the lease could not be renewed in time")]
    Unreachable,
}

/// A lease that is kept alive until it is dropped.
pub(crate) struct Lease {
    guard: LeaseGuard,
    expires_at: Arc<AtomicI64>,
    extensions: mpsc::Sender<Extension>,
    ended: oneshot::Receiver<LeaseEnd>,
    keeper: JoinHandle<()>,
}

struct Extension {
    until: Timestamp,
    done: oneshot::Sender<Result<(), LeaseEnd>>,
}

impl Lease {
    /// Keeps a lease alive that was asked for at `asked_at`.
    pub(crate) fn keep(
        guard: LeaseGuard,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        ttl_millis: u64,
        asked_at: Timestamp,
    ) -> Self {
        let expires_at = Arc::new(AtomicI64::new(asked_at.plus(ttl_millis).0));
        let (extensions, requests) = mpsc::channel(1);
        let (end, ended) = oneshot::channel();
        let keeper =
            Keeper { guard: guard.clone(), store, clock, ttl_millis, expires_at: Arc::clone(&expires_at) };
        let keeper = tokio::spawn(async move {
            let _ = end.send(keeper.run(requests).await);
        });
        Self { guard, expires_at, extensions, ended, keeper }
    }

    /// What commits are made under.
    pub(crate) fn guard(&self) -> &LeaseGuard {
        &self.guard
    }

    /// Makes sure that the lease outlives a moment.
    pub(crate) async fn outlive(&self, moment: Timestamp) -> Result<(), LeaseEnd> {
        if self.expires_at.load(Ordering::SeqCst) > moment.0 {
            return Ok(());
        }
        let (done, answer) = oneshot::channel();
        if self.extensions.send(Extension { until: moment, done }).await.is_err() {
            return Err(LeaseEnd::Lost);
        }
        answer.await.unwrap_or(Err(LeaseEnd::Lost))
    }

    /// Waits until the lease can no longer be relied on.
    pub(crate) async fn ended(&mut self) -> LeaseEnd {
        (&mut self.ended).await.unwrap_or(LeaseEnd::Lost)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

struct Keeper {
    guard: LeaseGuard,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ttl_millis: u64,
    expires_at: Arc<AtomicI64>,
}

impl Keeper {
    async fn run(self, mut requests: mpsc::Receiver<Extension>) -> LeaseEnd {
        let mut pause = self.ttl_millis / 3;
        loop {
            let request = tokio::select! {
                request = requests.recv() => request,
                () = tokio::time::sleep(Duration::from_millis(pause.max(1))) => None,
            };
            let until = request.as_ref().map_or(Timestamp(0), |request| request.until);
            let renewed = self.renew(until).await;
            let answer = match &renewed {
                Ok(()) => Ok(()),
                Err(StoreError::LeaseLost { .. }) => Err(LeaseEnd::Lost),
                Err(_) => Err(LeaseEnd::Unreachable),
            };
            if let Some(request) = request {
                // Nobody waits any more if the operation was dropped.
                let _ = request.done.send(answer);
            }
            pause = match renewed {
                Ok(()) => self.ttl_millis / 3,
                Err(StoreError::LeaseLost { .. }) => return LeaseEnd::Lost,
                Err(error) => {
                    tracing::warn!(%error, "a lease could not be renewed; trying again");
                    if self.clock.now().0 >= self.expires_at.load(Ordering::SeqCst) {
                        return LeaseEnd::Unreachable;
                    }
                    self.ttl_millis / 12
                }
            };
        }
    }

    /// Renews for the usual time, or until a third of it after `until`; never for less than is
    /// left.
    async fn renew(&self, until: Timestamp) -> Result<(), StoreError> {
        let asked_at = self.clock.now();
        let left = Timestamp(self.expires_at.load(Ordering::SeqCst)).since(asked_at);
        let needed = match until.since(asked_at) {
            0 => 0,
            millis => millis + self.ttl_millis / 3 + 1,
        };
        let ttl = self.ttl_millis.max(left).max(needed);
        self.store.renew(&self.guard, ttl).await?;
        self.expires_at.fetch_max(asked_at.plus(ttl).0, Ordering::SeqCst);
        Ok(())
    }
}
