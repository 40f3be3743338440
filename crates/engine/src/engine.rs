//! The engine: begins, recovers and stops operations.

use crate::decisions;
use crate::discover::{DiscoverRequest, Discoveries};
use crate::driver::{Beginning, Driver, Parts};
use crate::observe::Observer;
use crate::rate::Rates;
use crate::recovery::{LoadError, load};
use crate::shared::{Seat, Shared};
use crate::slots::{Keeping, seal_all};
use crate::supervisor::supervise;
use crate::{
    BeginError, BeginRequest, CancelOutcome, Clock, EngineOptions, Hooks, ObserveRequest, OperationHandle,
    Registry,
};
use formwork_engine_core::{Input, Operation, OperationSpec};
use formwork_model::{
    Entry, InstanceKey, Observation, OperationId, OperationRecord, OperationStatus, OwnerId, Plan, RowId,
};
use formwork_secret::random_bytes;
use formwork_store::{Begin, Begun, LeaseHolder, OpenOperation, Store, StoreError, TakenOver};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument as _;

/// Carries operations out. Each runs in a task of its own, whatever becomes of who began it.
pub struct Engine {
    shared: Arc<Shared>,
}

impl Engine {
    /// An engine over a store. It needs a tokio runtime with timers.
    pub fn new(
        store: Arc<dyn Store>,
        registry: Arc<Registry>,
        key: InstanceKey,
        clock: Arc<dyn Clock>,
        hooks: Arc<dyn Hooks>,
        options: EngineOptions,
    ) -> Arc<Self> {
        let rates = Arc::new(Rates::default());
        Arc::new(Self { shared: Arc::new(Shared::new(store, registry, rates, key, clock, hooks, options)) })
    }

    /// Begins an operation: once this answers it is durable, and runs whatever the caller does.
    ///
    /// # Errors
    /// [`BeginError`]; nothing is stored then.
    pub async fn begin(self: &Arc<Self>, request: BeginRequest) -> Result<OperationHandle, BeginError> {
        if self.shared.is_stopping() {
            return Err(BeginError::ShuttingDown);
        }
        let seat = Seat::take(&self.shared, request.id.clone())
            .map_err(|running| BeginError::TooMany { running })?;
        // In a task of its own: a caller that goes away must not leave a begun operation behind
        // that nobody drives.
        let begun = tokio::spawn(begin(Arc::clone(&self.shared), seat, request)).await;
        begun.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(BeginError::ShuttingDown),
        })
    }

    /// Takes over every unfinished operation whose lease ran out, whose owner is dead, or which
    /// this owner ran in an earlier life. One that can't be read is reported
    /// ([`unreadable`](Self::unreadable)) and left; the others go on.
    ///
    /// # Errors
    /// [`StoreError`] if the operations can't be listed or the store fails on the way; what was
    /// taken over until then runs.
    pub async fn recover(
        self: &Arc<Self>,
        is_dead: &(dyn Fn(&OwnerId) -> bool + Send + Sync),
    ) -> Result<Vec<OperationHandle>, StoreError> {
        let mut recovered = Vec::new();
        for OpenOperation { id, holder, .. } in self.shared.store.reader().open_operations().await? {
            if self.handle(&id).is_some() || self.shared.is_stopping() {
                continue;
            }
            let dead = match &holder {
                Some(holder) if holder.owner == self.shared.options.owner || is_dead(&holder.owner) => {
                    Some(&holder.owner)
                }
                Some(LeaseHolder { expires_at, .. }) if *expires_at > self.shared.clock.now() => continue,
                Some(_) | None => None,
            };
            recovered.extend(self.recover_one(&id, dead).await?);
        }
        Ok(recovered)
    }

    async fn recover_one(
        &self,
        id: &OperationId,
        dead: Option<&OwnerId>,
    ) -> Result<Option<OperationHandle>, StoreError> {
        let (shared, options) = (&self.shared, &self.shared.options);
        let asked_at = shared.clock.now();
        let taken = match shared.store.take_over(id, &options.owner, dead, options.lease_millis).await {
            Err(error @ (StoreError::Unreadable { .. } | StoreError::Newer { .. })) => {
                shared.report_unreadable(id, &error);
                return Ok(None);
            }
            taken => taken?,
        };
        let TakenOver::Taken(guard) = taken else { return Ok(None) };
        match load(shared, id, guard, asked_at).await {
            Ok((driver, plan)) => {
                tracing::info!(operation = %id, "recovered");
                Ok(Some(spawn(shared, Seat::force(shared, id.clone()), plan, driver)))
            }
            Err(LoadError::Store(error)) => Err(error),
            Err(error) => {
                shared.report_unreadable(id, &error);
                Ok(None)
            }
        }
    }

    /// The operations that could not be recovered, and why. They stay in the store as they are.
    pub fn unreadable(&self) -> BTreeMap<OperationId, String> {
        self.shared.unreadable()
    }

    /// The operations that run in this process, by id.
    pub fn running(&self) -> Vec<OperationHandle> {
        self.shared.running()
    }

    /// An operation that runs in this process.
    pub fn handle(&self, id: &OperationId) -> Option<OperationHandle> {
        self.shared.handle(id)
    }

    /// Asks an operation to stop.
    pub async fn cancel(&self, id: &OperationId, force: bool) -> CancelOutcome {
        match self.handle(id) {
            Some(handle) if handle.send(Input::Cancel { force }).await => CancelOutcome::Requested,
            _ => CancelOutcome::NotRunning,
        }
    }

    /// Looks at the rows' objects, in parallel and within bounds. Rows without an object and types
    /// that can't be read are left out; a missing plugin or a failed read is
    /// [`Observation::Failed`].
    pub async fn observe(&self, request: ObserveRequest) -> BTreeMap<RowId, Observation> {
        self.observer().observe(request).await
    }

    /// Looks for objects at a target that no row stands for. Nothing is changed or stored.
    pub async fn discover(&self, request: DiscoverRequest) -> Discoveries {
        self.observer().discover(request).await
    }

    /// Stops starting calls, waits for those under way for at most `grace`, and leaves what is
    /// unfinished to the next recovery.
    pub async fn shutdown(&self, grace: Duration) {
        self.shared.stop();
        let running = self.running();
        let all = async {
            for handle in &running {
                handle.finished().await;
            }
        };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!("the grace period is over; what is unfinished is left to recovery");
        }
        self.shared.abort_all();
    }

    fn observer(&self) -> Observer {
        observer(&self.shared)
    }
}

fn observer(shared: &Shared) -> Observer {
    Observer {
        store: Arc::clone(&shared.store),
        registry: Arc::clone(&shared.registry),
        rates: Arc::clone(&shared.rates),
        clock: Arc::clone(&shared.clock),
        key: shared.key.clone(),
    }
}

async fn begin(
    shared: Arc<Shared>,
    seat: Seat,
    request: BeginRequest,
) -> Result<OperationHandle, BeginError> {
    let BeginRequest {
        id,
        kind,
        project,
        actor,
        plan,
        secrets,
        rows,
        minted,
        objects,
        requires,
        audit,
        decisions,
    } = request;
    let decisions = decisions::read(&observer(&shared), &plan, &rows, decisions).await?;
    let now = shared.clock.now();
    let claims = decisions::claims(&plan, &rows, &minted, &decisions);
    let decided = decisions::events(&plan, &rows, &decisions, (&id, &actor, now));
    let claiming = minted.clone();
    let keeping = Keeping::of(&rows);
    let spec = OperationSpec {
        id: id.clone(),
        plan: Arc::clone(&plan),
        rows,
        actor: actor.clone(),
        seed: u64::from_le_bytes(random_bytes()),
        minted,
        key: shared.key.clone(),
        limits: shared.options.limits.clone(),
    };
    let (mut operation, opening) = Operation::open(spec, now);
    let plan_hash = match &opening.started.entry {
        Entry::Started { plan, .. } => *plan,
        _ => plan.hash(),
    };
    let mut events = opening.events;
    events.extend(decided);
    for (step, adopt) in decisions {
        operation.decide(step, adopt);
    }
    let record = OperationRecord {
        id: id.clone(),
        project: project.clone(),
        stacks: plan.stacks.iter().map(|stack| stack.id.clone()).collect(),
        kind,
        status: OperationStatus::Running,
        actor: actor.clone(),
        plan_hash,
        started_at: now,
        updated_at: now,
        finished_at: None,
        failure: None,
    };
    let begin = Begin {
        operation: record,
        owner: shared.options.owner.clone(),
        ttl_millis: shared.options.lease_millis,
        plan: Arc::clone(&plan),
        slots: seal_all(&shared.key, &id, &secrets),
        new_rows: opening.new_rows,
        started: opening.started,
        events,
        objects,
        requires,
        audit,
        claims,
    };
    let asked_at = shared.clock.now();
    let guard = match shared.store.begin(begin).await {
        Ok(Begun::Running(guard)) => guard,
        Ok(Begun::Held(holder)) => return Err(BeginError::Held(holder)),
        Ok(Begun::Moved(step)) => return Err(BeginError::Moved(step)),
        Err(StoreError::Owned { row, native_id }) => {
            return Err(decisions::not_claimed(&plan, &claiming, &row)
                .unwrap_or(BeginError::Store(StoreError::Owned { row, native_id })));
        }
        Err(error) => return Err(error.into()),
    };
    let parts = Parts {
        id,
        project,
        actor,
        plan: Arc::clone(&plan),
        operation,
        slots: secrets,
        keeping,
        guard,
        asked_at,
        beginning: Beginning::Start,
    };
    let driver = Driver::new(&shared, parts);
    Ok(spawn(&shared, seat, plan, driver))
}

/// Drives an operation in a task of its own, which gives up its seat when it ends.
fn spawn(shared: &Arc<Shared>, seat: Seat, plan: Arc<Plan>, driver: Driver) -> OperationHandle {
    let id = seat.id().clone();
    let (handle, ends) = OperationHandle::new(id.clone(), plan);
    let span = tracing::info_span!("operation", operation = %id);
    let life = supervise(Arc::clone(shared), id, driver, ends);
    shared.seat(handle.clone(), || {
        let task = async move {
            life.await;
            drop(seat);
        };
        tokio::spawn(task.instrument(span)).abort_handle()
    });
    handle
}
