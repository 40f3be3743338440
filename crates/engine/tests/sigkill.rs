//! SIGKILL at random moments: a child process runs an engine on SQLite against a fake cloud that
//! lives here, in the parent, and is killed again and again. In the end what the cloud logged is
//! held against the ledger and its journals: INV-1, INV-2, INV-3, and INV-12, INV-13 on the way out.
//!
//! No step waits for a time to pass: the moments are counted in lines of the cloud's log, so a slow
//! machine only takes longer.

use formwork_engine::{
    BeginError, BeginRequest, Engine, EngineOptions, Finished, NoHooks, ObserveRequest, Registry, SystemClock,
};
use formwork_model::{
    Catalog, Concurrency, DeletionPolicy, Desired, Entry, Expr, ExprLeaf, ImmutableRule, InstanceKey, Kind,
    LookupRule, Matching, Mode, NativeId, OnFailure, OperationKind, OperationStatus, Ownership, Path,
    PropertySchema, Ref, Replacement, ResourceDesired, RetryRule, Row, RowRef, Schema, SecretKeeping,
    SourceMap, StackDesired, StackId, StackKey, Timestamp, TypeCapabilities, TypeName, TypeRules,
    WriteOnlyRule,
};
use formwork_planner::{PlanRequest, Planning, plan};
use formwork_plugin::Operation;
use formwork_plugin_conformance::{CloudType, FakeCloud, FakeCloudPlugin, LogLine, Moment, Pause, Rule};
use formwork_store::{SqliteOptions, SqliteStore, Store};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as FilePath, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// How many kills a run has.
const KILLS: &str = "FORMWORK_SIGKILLS";
/// The seed of a run, to repeat it as far as it can be repeated.
const SEED: &str = "FORMWORK_SIGKILL_SEED";
/// Set for the child: the directory with its store and the cloud's socket.
const DIRECTORY: &str = "FORMWORK_SIGKILL_DIRECTORY";
/// Set for the last child, which brings everything to an end.
const LAST: &str = "FORMWORK_SIGKILL_LAST";

const STACK: &str = "stack";
const TYPES: [&str; 4] = ["Cloud::Token", "Cloud::Polled", "Cloud::Named", "Cloud::Unique"];
const RESOURCES: u32 = 12;
/// How long anything may take before the test gives up on it.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn no_kill_loses_doubles_or_orphans_an_object() {
    let kills: u32 = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()).unwrap_or(30);
    let seed = std::env::var(SEED).ok().and_then(|text| text.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| u64::from_le_bytes(formwork_secret::random_bytes()));
    println!("{SEED}={seed}");
    let mut dice = Dice(seed | 1);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let cloud = cloud(directory.path());
    for _ in 0..kills {
        let mut child = Running::start(directory.path(), dice.next(), false);
        let lines = writes(&cloud.snapshot().log) + usize::try_from(dice.below(60)).expect("few");
        let mut ended = None;
        let moved = cloud.wait_for(PATIENCE, |log| {
            ended = child.child.try_wait().expect("the child can be waited for");
            writes(log) > lines || ended.is_some()
        });
        assert!(ended.is_none(), "the child ended by itself: {ended:?}\n{}", child.words());
        assert!(moved, "the child does nothing\n{}", child.words());
        child.kill();
    }
    let mut last = Running::start(directory.path(), dice.next(), true);
    let status = last.child.wait().expect("the child can be waited for");
    assert!(status.success(), "the last child failed\n{}", last.words());
    judge(&cloud, directory.path());
}

/// What the parent runs as a child: does nothing on its own.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let seed = std::env::var(SEED).expect("the parent sets it").parse().expect("the parent sets a number");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let last = std::env::var_os(LAST).is_some();
    runtime.block_on(live(&directory, Dice(seed), last));
}

fn cloud(directory: &FilePath) -> FakeCloud {
    let cloud = FakeCloud::start(directory.join("socket")).expect("the socket is free");
    cloud.define(CloudType::new(TYPES[0]).tokens());
    cloud.define(CloudType::new(TYPES[1]).tokens().polls(2));
    cloud.define(CloudType::new(TYPES[2]).named_by("name"));
    cloud.define(CloudType::new(TYPES[3]).unique(&["name"]));
    // Some time between arrival, effect and answer, so that kills fall between them.
    let pause = Pause::For(Duration::from_millis(3));
    cloud.script(Rule::any().before(pause).after(pause));
    cloud
}

/// How many lines of the log are about calls that may change something.
fn writes(log: &[LogLine]) -> usize {
    let is_write = |operation| matches!(operation, Operation::Create | Operation::Update | Operation::Delete);
    log.iter().filter(|line| line.operation.is_some_and(is_write)).count()
}

struct Running {
    child: Child,
    words: PathBuf,
}

impl Running {
    fn start(directory: &FilePath, seed: u64, last: bool) -> Self {
        let words = directory.join("words");
        let file = std::fs::File::create(&words).expect("a file for what it says");
        let mut command = Command::new(std::env::current_exe().expect("this test's path"));
        command
            .args(["--exact", "child", "--nocapture"])
            .env(DIRECTORY, directory)
            .env(SEED, seed.to_string());
        if last {
            command.env(LAST, "1");
        }
        command.stdin(Stdio::null()).stdout(file.try_clone().expect("one file, twice")).stderr(file);
        Self { child: command.spawn().expect("the child starts"), words }
    }

    fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it can be waited for");
    }

    fn words(&self) -> String {
        std::fs::read_to_string(&self.words).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A small generator of numbers that only have to be different.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A life of the child: recovers, and then deploys one random state after the other.
async fn live(directory: &FilePath, mut dice: Dice, last: bool) {
    let host = Host::open(directory);
    let recovered = host.engine.recover(&|_| true).await.expect("the store reads");
    for handle in recovered {
        handle.finished().await;
    }
    assert!(host.engine.unreadable().is_empty(), "{:?}", host.engine.unreadable());
    if last {
        host.bring_to_an_end().await;
        return;
    }
    loop {
        let desired = desired(|_| (dice.below(5) > 0).then(|| dice.below(3)));
        host.deploy(&desired, dice.next()).await;
    }
}

struct Host {
    store: Arc<SqliteStore>,
    engine: Arc<Engine>,
    key: InstanceKey,
    types: Arc<Types>,
}

impl Host {
    fn open(directory: &FilePath) -> Self {
        let store = SqliteStore::open(directory.join("store"), &SqliteOptions::default());
        let store = Arc::new(store.expect("the store opens"));
        let registry = Registry::new();
        let plugin = FakeCloudPlugin::new("Cloud", directory.join("socket"));
        registry.register(Arc::new(plugin), TYPES.map(TypeName::from)).expect("the types are free");
        let key = InstanceKey::from_bytes([7; 32]);
        let mut options = EngineOptions::new(format!("pid-{}", std::process::id()).into());
        options.limits.poll_millis = 5;
        options.limits.backoff_millis = 20;
        let engine = Engine::new(
            Arc::clone(&store) as _,
            Arc::new(registry),
            key.clone(),
            Arc::new(SystemClock),
            Arc::new(NoHooks),
            options,
        );
        Self { store, engine, key, types: Arc::new(Types::new()) }
    }

    async fn rows(&self) -> Vec<Row> {
        self.store.reader().rows(&STACK.into()).await.expect("the store reads")
    }

    async fn plan(&self, desired: &Desired, rows: &[Row]) -> Planning {
        let observe = ObserveRequest {
            project: "project".into(),
            actor: "actor".into(),
            rows: rows.to_vec(),
            targets: Vec::new(),
            types: Arc::clone(&self.types) as _,
        };
        let observations = self.engine.observe(observe).await;
        let request = PlanRequest {
            kind: OperationKind::Update,
            desired,
            rows,
            known: &BTreeMap::new(),
            observations: &observations,
            imports: &BTreeMap::new(),
            catalog: &*self.types,
            key: &self.key,
            incomplete: false,
        };
        plan(&request).expect("every state can be planned")
    }

    /// Deploys a state; `None` if there is nothing to do.
    async fn deploy(&self, desired: &Desired, number: u64) -> Option<Finished> {
        let rows = self.rows().await;
        let Planning { plan, secrets, .. } = self.plan(desired, &rows).await;
        if plan.is_no_op() {
            return None;
        }
        let new: BTreeSet<u32> = plan
            .steps
            .iter()
            .filter_map(|step| match step.row {
                RowRef::New(new) => Some(new),
                RowRef::Existing(_) => None,
            })
            .collect();
        let minted = new.iter().map(|new| format!("row-{number}-{new}").into()).collect();
        let request = BeginRequest {
            id: format!("op-{number}").into(),
            kind: plan.kind,
            project: "project".into(),
            actor: "actor".into(),
            plan: Arc::new(plan),
            secrets,
            rows,
            decisions: BTreeMap::new(),
            minted,
            objects: Vec::new(),
            requires: Vec::new(),
            audit: Vec::new(),
        };
        match self.engine.begin(request).await {
            Ok(handle) => Some(handle.finished().await),
            Err(BeginError::Store(error)) => panic!("{error:?}"),
            Err(error) => panic!("{error}"),
        }
    }

    /// From wherever the kills left it to "desired", and to a plan without effect.
    async fn bring_to_an_end(&self) {
        let desired = desired(|number| Some(u64::from(number)));
        for number in 0..6 {
            let finished = self.deploy(&desired, number).await;
            println!("deploy {number}: {finished:?}");
            match finished {
                None => return,
                Some(Finished::Done { .. }) => {}
                Some(other) => panic!("{other:?}"),
            }
            if let Some(Finished::Done { status: OperationStatus::Succeeded, .. }) = finished {
                let rows = self.rows().await;
                let again = self.plan(&desired, &rows).await.plan;
                assert!(again.is_no_op(), "INV-13: {:?}", again.steps);
                return;
            }
        }
        panic!("INV-12: the desired state is not reached");
    }
}

/// A stack of resources, each with a value if it is to be there; some refer to others.
fn desired(mut value: impl FnMut(u32) -> Option<u64>) -> Desired {
    let mut resources: Vec<ResourceDesired> = Vec::new();
    for number in 0..RESOURCES {
        let Some(value) = value(number) else { continue };
        let label = format!("r{number}");
        let mut members = vec![("name", Expr::Plain(json!(label))), ("value", Expr::Plain(json!(value)))];
        if let Some(earlier) = resources.last().filter(|_| number % 3 == 2) {
            members.push(("other", Expr::Leaf(ExprLeaf::Ref(Ref::native_id(earlier.label.clone())))));
        }
        let properties =
            Expr::object(members.into_iter().map(|(name, member)| (name.into(), member)).collect());
        resources.push(ResourceDesired {
            label: label.as_str().into(),
            alias: None,
            type_name: TYPES[number as usize % TYPES.len()].into(),
            target: None,
            properties,
            depends_on: Vec::new(),
            import: None,
            deletion_policy: DeletionPolicy::Delete,
            metadata: None,
            path: Path::root(),
            properties_path: Path::root(),
        });
    }
    let stack = StackDesired {
        id: STACK.into(),
        key: StackKey::new("project".into(), STACK),
        mode: Mode::Reconcile,
        ownership: Ownership::DeclaredOnly,
        matching: Matching::Label,
        on_failure: OnFailure::Continue,
        resources,
        outputs: indexmap::IndexMap::new(),
        metadata: None,
    };
    Desired { project: "project".into(), stacks: vec![stack], source_map: Arc::new(SourceMap::default()) }
}

struct Types(BTreeMap<TypeName, Arc<Rules>>);

struct Rules {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
}

impl Types {
    fn new() -> Self {
        let lookups = [
            LookupRule::Token,
            LookupRule::Token,
            LookupRule::ByNativeId(Path::of(["name"])),
            LookupRule::ByUnique(vec![Path::of(["name"])]),
        ];
        let types =
            TYPES.iter().zip(lookups).map(|(name, lookup)| (TypeName::from(*name), rules(name, lookup)));
        Self(types.collect())
    }
}

fn rules(name: &str, lookup: LookupRule) -> Arc<Rules> {
    let mut properties: indexmap::IndexMap<Arc<str>, PropertySchema> = ["value", "other"]
        .map(|name| (name.into(), PropertySchema::new(Kind::Any, "")))
        .into_iter()
        .collect();
    properties.insert("name".into(), PropertySchema::new(Kind::String, "").create_only());
    Arc::new(Rules {
        schema: Arc::new(Schema { type_name: name.into(), doc: "".into(), properties }),
        capabilities: TypeCapabilities {
            read: true,
            list: true,
            retry: RetryRule::ByCode,
            lookup,
            replacement: Replacement::Declared,
            write_only: WriteOnlyRule::Digest,
            on_immutable: ImmutableRule::Replace,
            settle_millis: 100,
            timeout_millis: 1_500,
            validate: false,
            delete_blockers: false,
            secrets: SecretKeeping::Ledger,
            concurrency: Concurrency::Parallel,
            outputs: Vec::new(),
            credential_outputs: Vec::new(),
            iam: None,
        },
    })
}

impl TypeRules for Rules {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }
}

impl Catalog for Types {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        self.0.get(name).map(|rules| Arc::clone(rules) as _)
    }

    fn names(&self) -> Vec<TypeName> {
        self.0.keys().cloned().collect()
    }
}

/// Holds the cloud's log against the ledger and its journals.
fn judge(cloud: &FakeCloud, directory: &FilePath) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (rows, intents) = runtime.block_on(async {
        let store = SqliteStore::open(directory.join("store"), &SqliteOptions::default()).expect("it opens");
        let reader = store.reader();
        let stack = StackId::from(STACK);
        let operations = reader.operations(&stack, 100_000, 0).await.expect("the store reads").items;
        let mut intents: BTreeMap<String, Timestamp> = BTreeMap::new();
        for operation in operations {
            assert!(operation.status.is_final(), "INV-15: {operation:?}");
            for entry in reader.journal(&operation.id).await.expect("the store reads") {
                if let Entry::Intent { intent, .. } = entry.entry {
                    intents.entry(intent.token.to_string()).or_insert(entry.at);
                }
            }
        }
        (reader.rows(&stack).await.expect("the store reads"), intents)
    });
    let snapshot = cloud.snapshot();
    let effects: Vec<&LogLine> = snapshot.log.iter().filter(|line| line.moment.is_effect()).collect();
    let mut created: BTreeSet<&str> = BTreeSet::new();
    for line in &effects {
        let token = line.token.as_deref().expect("every effect is a call's");
        let intent = intents.get(token).unwrap_or_else(|| panic!("INV-1: no intent for {line:?}"));
        assert!(*intent <= line.at, "INV-1: the effect is older than its intent: {line:?}");
        if let Moment::Created { .. } = &line.moment {
            assert!(created.insert(token), "INV-2: two objects for one token: {line:?}");
        }
    }
    let mut alive: BTreeMap<String, NativeId> = BTreeMap::new();
    for (native_id, object) in &snapshot.objects {
        let row = object.row.clone().expect("every object is a row's");
        if let Some(other) = alive.insert(row.clone(), native_id.clone()) {
            panic!("INV-2: row {row} has both {other} and {native_id}");
        }
    }
    let owned: BTreeSet<NativeId> = rows
        .iter()
        .flat_map(|row| row.current.iter().chain(&row.deposed))
        .map(|object| object.native_id.clone())
        .collect();
    let there: BTreeSet<NativeId> = snapshot.objects.keys().cloned().collect();
    assert_eq!(owned, there, "INV-3: the ledger and the provider");
    assert!(rows.iter().all(|row| row.intent.is_none()), "INV-3: nothing is left open");
    let kinds = effects.iter().filter(|line| matches!(line.moment, Moment::Created { .. })).count();
    println!("{} effects, {kinds} objects made, {} calls logged", effects.len(), snapshot.log.len());
}
