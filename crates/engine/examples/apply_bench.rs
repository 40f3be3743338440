//! What the engine costs beyond its provider: applies with a provider in memory that answers at
//! once, on SQLite with durable commits. Prints one line per measurement; run it in release.
//!
//! `cargo run --release -p formwork-engine --example apply_bench [resources]`

#[path = "../tests/common/plans.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "the tests' plan maker, of which this uses a part"
)]
mod plans;

use async_trait::async_trait;
use formwork_engine::{BeginRequest, Engine, EngineOptions, Finished, NoHooks, Registry, SystemClock};
use formwork_model::{
    ClientToken, InstanceKey, NativeId, OperationErrorCode, OperationStatus, Plan, RowStatus, SecretSlots,
};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, Operation, PluginError,
    ProgressResult, ReadRequest, ReadResult, ResourcePlugin, StatusRequest, UpdateRequest,
};
use formwork_store::{SqliteOptions, SqliteStore, Store};
use plans::PlanMaker;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Answers at once, and remembers tokens and when it was called.
#[derive(Default)]
struct Instantly {
    made: AtomicU64,
    calls: Mutex<Vec<Instant>>,
    tokens: Mutex<BTreeMap<ClientToken, NativeId>>,
}

#[async_trait]
impl ResourcePlugin for Instantly {
    fn namespace(&self) -> &'static str {
        "bench"
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        let fresh = || NativeId::new(format!("object-{}", self.made.fetch_add(1, Ordering::Relaxed)));
        let id = match context.token {
            Some(token) => {
                let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
                tokens.entry(token).or_insert_with(fresh).clone()
            }
            None => fresh(),
        };
        Ok(ProgressResult::success(Operation::Create, id, request.properties.expose().clone()))
    }

    async fn read(&self, _: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        Ok(ReadResult {
            resource_type: request.resource_type,
            native_id: request.native_id,
            resource_properties: None,
            error_code: Some(OperationErrorCode::NotFound),
            secret_digests: Vec::new(),
        })
    }

    async fn update(&self, _: &CallContext, request: UpdateRequest) -> Result<ProgressResult, PluginError> {
        let properties = request.desired_properties.expose().clone();
        Ok(ProgressResult::success(Operation::Update, request.native_id, properties))
    }

    async fn delete(&self, _: &CallContext, request: DeleteRequest) -> Result<ProgressResult, PluginError> {
        Ok(ProgressResult::success(Operation::Delete, request.native_id, serde_json::Value::Null))
    }

    async fn status(&self, _: &CallContext, _: StatusRequest) -> Result<ProgressResult, PluginError> {
        let code = OperationErrorCode::NotFound;
        Ok(ProgressResult::failure(Operation::CheckStatus, code, "nothing is unfinished"))
    }

    async fn list(&self, _: &CallContext, _: ListRequest) -> Result<ListResult, PluginError> {
        Ok(ListResult::default())
    }
}

fn wide(resources: u32) -> Plan {
    (0..resources).fold(PlanMaker::create(), |plan, number| plan.creates(&format!("r{number}"), &[])).plan()
}

fn chain(resources: u32) -> Plan {
    let link = |plan: PlanMaker, number: u32| match number {
        0 => plan.creates("r0", &[]),
        _ => plan.creates(&format!("r{number}"), &[number - 1]),
    };
    (0..resources).fold(PlanMaker::create(), link).plan()
}

fn engine(file: &Path, plugin: &Arc<Instantly>) -> Result<(Arc<Engine>, Arc<SqliteStore>), Box<dyn Error>> {
    let store = Arc::new(SqliteStore::open(file, &SqliteOptions::default())?);
    let registry = Registry::new();
    registry.register(Arc::clone(plugin) as _, ["T".into()])?;
    let options = EngineOptions::new("bench".into());
    let key = InstanceKey::from_bytes([7; 32]);
    let (clock, hooks) = (Arc::new(SystemClock), Arc::new(NoHooks));
    Ok((Engine::new(Arc::clone(&store) as _, Arc::new(registry), key, clock, hooks, options), store))
}

fn request(plan: Plan) -> BeginRequest {
    let minted = plans::minted(&plan, "op");
    BeginRequest {
        id: "op".into(),
        kind: plan.kind,
        project: plan.project.clone(),
        actor: "actor".into(),
        plan: Arc::new(plan),
        secrets: SecretSlots::new(),
        rows: Vec::new(),
        minted,
        objects: Vec::new(),
        requires: Vec::new(),
        audit: Vec::new(),
        decisions: BTreeMap::new(),
    }
}

fn expect_success(finished: &Finished) -> Result<(), Box<dyn Error>> {
    match finished {
        Finished::Done { status: OperationStatus::Succeeded, .. } => Ok(()),
        other => Err(format!("it did not succeed: {other:?}").into()),
    }
}

/// Applies a plan in a fresh store; answers how long it took, and the times between one call and the
/// next, in order of length. In a chain that is what each step costs beyond its provider.
async fn apply(plan: Plan) -> Result<(Duration, Vec<Duration>), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let plugin = Arc::<Instantly>::default();
    let (engine, _store) = engine(&directory.path().join("store"), &plugin)?;
    let began = Instant::now();
    let finished = engine.begin(request(plan)).await?.finished().await;
    let elapsed = began.elapsed();
    expect_success(&finished)?;
    let calls = plugin.calls.lock().unwrap_or_else(PoisonError::into_inner);
    let mut gaps: Vec<_> = calls.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    Ok((elapsed, gaps))
}

/// Leaves an apply in the middle, as a killed process would, and recovers it.
async fn recovery(resources: u32) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let (file, plugin) = (directory.path().join("store"), Arc::<Instantly>::default());
    {
        let (engine, _store) = engine(&file, &plugin)?;
        let handle = engine.begin(request(wide(resources))).await?;
        while plugin.made.load(Ordering::Relaxed) < u64::from(resources / 2) {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        engine.shutdown(Duration::ZERO).await;
        handle.finished().await;
    }
    let made = plugin.made.load(Ordering::Relaxed);
    let began = Instant::now();
    let (engine, store) = engine(&file, &plugin)?;
    let handles = engine.recover(&|_| true).await?;
    let recovered = began.elapsed();
    while plugin.made.load(Ordering::Relaxed) == made {
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    let going_on = began.elapsed();
    for handle in handles {
        expect_success(&handle.finished().await)?;
    }
    let rows = store.reader().rows(&"stack".into()).await?;
    let created = rows.iter().filter(|row| row.status == RowStatus::Created).count();
    println!("recovery after {made} of {resources}: loaded {recovered:.0?}, next effect {going_on:.0?}");
    println!("  created {created}, objects made {}", plugin.made.load(Ordering::Relaxed));
    Ok(())
}

/// A line of `/proc/self/status` in KiB; 0 where there is none.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found =
        status.lines().find_map(|text| text.strip_prefix(line)?.split_whitespace().nth(1)?.parse().ok());
    found.unwrap_or(0)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let resources: u32 = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    apply(wide(100)).await?;
    let before = memory("VmRSS");
    let plan = wide(resources);
    let planned = memory("VmRSS");
    let (elapsed, _) = apply(plan).await?;
    let peak = memory("VmHWM");
    println!("wide {resources}: {elapsed:.0?}, {:.1} µs per resource", per(elapsed, resources));
    let in_all = (peak - before) * 1024 / u64::from(resources);
    let of_plan = planned.saturating_sub(before) * 1024 / u64::from(resources);
    println!("  memory per resource: {in_all} bytes, of which plan {of_plan}");
    let (elapsed, gaps) = apply(chain(resources)).await?;
    println!("chain {resources}: {elapsed:.0?}, {:.1} µs per resource", per(elapsed, resources));
    let (median, late) = (gaps[gaps.len() / 2], gaps[gaps.len() * 99 / 100]);
    println!("  from one call to the next: p50 {median:.0?}, p99 {late:.0?}");
    recovery(resources).await
}

fn per(elapsed: Duration, resources: u32) -> f64 {
    elapsed.as_secs_f64() * 1e6 / f64::from(resources)
}
