//! What the engine's tests share: a provider in memory, plans made by hand, a world around an
//! engine.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]

pub mod plans;
pub mod provider;

use formwork_engine::{
    BeginRequest, Engine, EngineOptions, Finished, Hooks, NoHooks, OperationHandle, Registry,
};
use formwork_model::{
    Event, InstanceKey, OperationKind, OperationStatus, Plan, Row, RowId, SecretSlots, Timestamp,
};
use formwork_store::{Clock, MemOptions, MemStore, Store};
use provider::Provider;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::time::Instant;

/// A clock that goes with tokio's, so that paused time pauses it too, and that somebody may set.
pub struct TokioClock {
    since: Instant,
    set_by: AtomicI64,
}

impl TokioClock {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { since: Instant::now(), set_by: AtomicI64::new(0) })
    }

    /// Sets the clock by so much, forwards or back.
    pub fn jump(&self, millis: i64) {
        self.set_by.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.since.elapsed().as_millis()).expect("a test is short");
        Timestamp(1_700_000_000_000 + elapsed + self.set_by.load(Ordering::SeqCst))
    }
}

/// A store and a provider that outlive engines.
pub struct World {
    pub clock: Arc<TokioClock>,
    pub store: MemStore,
    pub provider: Arc<Provider>,
    pub key: InstanceKey,
}

impl World {
    pub fn new() -> Self {
        let clock = TokioClock::new();
        let store = MemStore::new(MemOptions { clock: clock.clone(), ..MemOptions::default() });
        Self { clock, store, provider: Provider::new(0), key: InstanceKey::from_bytes([7; 32]) }
    }

    pub fn with_rate(limit: u32) -> Self {
        Self { provider: Provider::new(limit), ..Self::new() }
    }

    /// An engine whose registry knows the provider's types.
    pub fn engine(&self) -> Arc<Engine> {
        self.engine_as("owner-1", Arc::new(NoHooks))
    }

    pub fn engine_as(&self, owner: &str, hooks: Arc<dyn Hooks>) -> Arc<Engine> {
        let registry = Registry::new();
        let types = ["T", "U"].map(Into::into);
        registry.register(Arc::clone(&self.provider) as _, types).expect("the types are free");
        self.engine_with(owner, hooks, Arc::new(registry))
    }

    pub fn engine_with(&self, owner: &str, hooks: Arc<dyn Hooks>, registry: Arc<Registry>) -> Arc<Engine> {
        let options = EngineOptions { missing_plugin_millis: 5_000, ..EngineOptions::new(owner.into()) };
        let (store, clock) = (Arc::new(self.store.clone()), self.clock.clone());
        Engine::new(store, registry, self.key.clone(), clock, hooks, options)
    }

    pub async fn rows(&self) -> Vec<Row> {
        self.store.reader().rows(&"stack".into()).await.expect("the store reads")
    }

    pub async fn events(&self, operation: &str) -> Vec<Event> {
        self.store.reader().events(&operation.into(), 0, 10_000).await.expect("the store reads")
    }

    /// Everything that the store keeps in the clear of an operation, as text.
    pub async fn all_text(&self, operation: &str) -> String {
        let reader = self.store.reader();
        let journal = reader.journal(&operation.into()).await.expect("the store reads");
        let record = reader.operation(&operation.into()).await.expect("the store reads");
        let rows = self.rows().await;
        let events = self.events(operation).await;
        serde_json::to_string(&(journal, record, rows, events)).expect("it serialises")
    }
}

/// A request to carry a plan out.
pub fn request(id: &str, plan: &Arc<Plan>, rows: Vec<Row>) -> BeginRequest {
    BeginRequest {
        id: id.into(),
        kind: plan.kind,
        project: plan.project.clone(),
        actor: "actor".into(),
        plan: Arc::clone(plan),
        secrets: SecretSlots::new(),
        rows,
        minted: plans::minted(plan, id),
        objects: Vec::new(),
        requires: Vec::new(),
        audit: Vec::new(),
        decisions: std::collections::BTreeMap::new(),
    }
}

/// Begins, and waits for the end.
pub async fn run(engine: &Arc<Engine>, id: &str, plan: Plan, rows: Vec<Row>) -> Finished {
    begin(engine, id, plan, rows).await.finished().await
}

pub async fn begin(engine: &Arc<Engine>, id: &str, plan: Plan, rows: Vec<Row>) -> OperationHandle {
    engine.begin(request(id, &Arc::new(plan), rows)).await.expect("it begins")
}

pub fn succeeded() -> Finished {
    Finished::Done { status: OperationStatus::Succeeded, failure: None }
}

/// The code and message of a failure.
pub fn failure(finished: &Finished) -> (&str, &str) {
    match finished {
        Finished::Done { status: OperationStatus::Failed, failure: Some(failure) } => {
            (&failure.code, &failure.message)
        }
        other => panic!("it did not fail: {other:?}"),
    }
}

pub fn row<'a>(rows: &'a [Row], label: &str) -> &'a Row {
    rows.iter().find(|row| row.label.as_str() == label).expect("there is a row of this label")
}

pub fn ids(rows: &[Row]) -> Vec<RowId> {
    rows.iter().map(|row| row.id.clone()).collect()
}

pub fn create_kind() -> OperationKind {
    OperationKind::Create
}
