//! How long planning takes: 1,000, 10,000 and 100,000 resources with twice as many references, with
//! nothing changed, one resource changed, and one whose change reaches all that follow it.
//!
//! `cargo run --release -p formwork-planner --example plan_bench`

use formwork_model::{
    Catalog, Certainty, Concurrency, DeletionPolicy, Desired, Expr, ExprLeaf, Generation, ImmutableRule,
    InstanceKey, Json, Kind, LookupRule, Matching, Mode, Object, Observation, OnFailure, OperationKind,
    Ownership, Path, Plan, PropertySchema, Ref, Replacement, ResourceDesired, RetryRule, Row, RowId,
    RowStatus, Schema, SecretKeeping, SourceMap, StackDesired, StackKey, Stored, StoredLeaf, TargetRev,
    Timestamp, Tree, TypeCapabilities, TypeName, TypeRules, WriteOnlyRule,
};
use formwork_planner::{PlanRequest, plan};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct OneType {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
}

impl TypeRules for OneType {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }
}

struct OneCatalog(Arc<OneType>);

impl Catalog for OneCatalog {
    fn get(&self, _: &TypeName) -> Option<Arc<dyn TypeRules>> {
        Some(self.0.clone())
    }

    fn names(&self) -> Vec<TypeName> {
        vec![self.0.schema.type_name.clone()]
    }
}

fn catalog() -> OneCatalog {
    let properties = ["name", "description", "size", "tags", "settings", "first", "second"];
    let properties = properties.map(|name| (name.into(), PropertySchema::new(Kind::Any, "A value.")));
    let schema = Schema {
        type_name: "node".into(),
        doc: "A node.".into(),
        properties: properties.into_iter().collect(),
    };
    let capabilities = TypeCapabilities {
        read: true,
        list: true,
        retry: RetryRule::ByCode,
        lookup: LookupRule::Token,
        replacement: Replacement::Discovered,
        write_only: WriteOnlyRule::Digest,
        on_immutable: ImmutableRule::Replace,
        settle_millis: 0,
        timeout_millis: 1000,
        validate: false,
        delete_blockers: false,
        secrets: SecretKeeping::Ledger,
        concurrency: Concurrency::Parallel,
        outputs: Vec::new(),
        credential_outputs: Vec::new(),
        iam: None,
    };
    OneCatalog(Arc::new(OneType { schema: Arc::new(schema), capabilities }))
}

/// What every node has beside its references.
fn literals(at: usize) -> Vec<(Arc<str>, Json)> {
    vec![
        ("name".into(), Json::from(format!("node-{at}"))),
        ("description".into(), Json::from("A node among many, described at some length.")),
        ("size".into(), Json::from(at)),
        ("tags".into(), serde_json::json!(["a", "b", "c"])),
        ("settings".into(), serde_json::json!({"retries": 3, "labels": {"team": "core", "tier": "1"}})),
    ]
}

/// The two nodes that a node refers to.
fn targets(at: usize) -> [Option<usize>; 2] {
    [at.checked_sub(1), (at > 2).then_some(at / 2)]
}

struct Case {
    desired: Desired,
    rows: Vec<Row>,
    observations: BTreeMap<RowId, Observation>,
}

fn label(at: usize) -> String {
    format!("node{at}")
}

fn properties<L: formwork_model::Leaf>(at: usize, leaf: impl Fn(usize) -> L) -> Tree<L> {
    let names = ["first", "second"];
    let references = targets(at).into_iter().zip(names).filter_map(|(target, name)| Some((target?, name)));
    let references = references.map(|(target, name)| (name.into(), Tree::Leaf(leaf(target))));
    let literals = literals(at).into_iter().map(|(name, value)| (name, Tree::Plain(value)));
    Tree::object(literals.chain(references).collect())
}

fn case(count: usize) -> Case {
    let resource = |at: usize| {
        let path = Path::of(["resources", &label(at)]);
        ResourceDesired {
            label: label(at).into(),
            alias: None,
            type_name: "node".into(),
            target: None,
            properties: properties::<ExprLeaf>(at, |to| ExprLeaf::Ref(Ref::native_id(label(to)))),
            depends_on: Vec::new(),
            import: None,
            deletion_policy: DeletionPolicy::Delete,
            metadata: None,
            properties_path: path.key("properties"),
            path,
        }
    };
    let stack = StackDesired {
        id: "stack".into(),
        key: StackKey::new("proj".into(), "bench"),
        mode: Mode::Reconcile,
        ownership: Ownership::DeclaredOnly,
        matching: Matching::Label,
        on_failure: OnFailure::RollBack,
        resources: (0..count).map(resource).collect(),
        outputs: indexmap::IndexMap::new(),
        metadata: None,
    };
    let rows: Vec<Row> = (0..count).map(row).collect();
    let observations = rows.iter().filter_map(|row| {
        let object = row.current.as_ref()?;
        let (native_id, properties) = (object.native_id.clone(), object.echo.clone());
        let seen = Observation::Present { row: row.id.clone(), native_id, properties, at: Timestamp(0) };
        Some((row.id.clone(), seen))
    });
    let observations = observations.collect();
    let desired =
        Desired { project: "proj".into(), stacks: vec![stack], source_map: Arc::new(SourceMap::default()) };
    Case { desired, rows, observations }
}

fn row(at: usize) -> Row {
    let position = u32::try_from(at).unwrap_or(u32::MAX);
    let mut row =
        Row::new(format!("row_{at}").into(), "stack".into(), label(at).into(), "node".into(), position);
    let sent: Stored = properties(at, |to| StoredLeaf::Resolved {
        reference: Ref::native_id(label(to)),
        sent: Json::from(format!("id-{to}")),
    });
    let mut references: Vec<usize> = targets(at).into_iter().flatten().collect();
    references.dedup();
    row.references = references.iter().map(|to| format!("row_{to}").into()).collect();
    row.generation = Generation(1);
    row.status = RowStatus::Created;
    row.current = Some(Object {
        native_id: format!("id-{at}").into(),
        type_name: "node".into(),
        target: TargetRev::default(),
        deletion_policy: DeletionPolicy::Delete,
        echo: sent.clone(),
        sent,
        observed: None,
        certainty: Certainty::Certain,
    });
    row
}

/// The processor time of this thread so far, which other load does not distort; wall time where the
/// system does not tell.
fn now(started: Instant) -> Duration {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = spent.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| started.elapsed(), Duration::from_nanos)
}

/// The shortest of several runs, and the plan.
fn time(case: &Case, runs: u32) -> (Duration, Plan) {
    let catalog = catalog();
    let key = InstanceKey::from_bytes([1; 32]);
    let request = PlanRequest {
        kind: OperationKind::Update,
        desired: &case.desired,
        rows: &case.rows,
        known: &BTreeMap::new(),
        observations: &case.observations,
        imports: &BTreeMap::new(),
        catalog: &catalog,
        key: &key,
        incomplete: false,
    };
    let started = Instant::now();
    let mut best: Option<(Duration, Plan)> = None;
    for _ in 0..runs {
        let before = now(started);
        let planning = plan(&request).expect("the bench has a sound request");
        let took = now(started).saturating_sub(before);
        if best.as_ref().is_none_or(|(shortest, _)| took < *shortest) {
            best = Some((took, planning.plan));
        }
    }
    best.expect("there was a run")
}

fn change(case: &mut Case, at: usize) {
    let properties = &mut case.desired.stacks[0].resources[at].properties;
    let changed = Expr::Plain(Json::from("changed"));
    match properties {
        Expr::Object(members) => {
            members.insert("description".into(), changed);
        }
        Expr::Plain(Json::Object(members)) => {
            members.insert("description".into(), Json::from("changed"));
        }
        _ => {}
    }
}

fn report(what: &str, count: usize, (took, plan): &(Duration, Plan)) {
    let busy = plan.steps.iter().filter(|step| step.action.name() != "no-op").count();
    println!(
        "{count:>7} resources, {what:<22} {:>9.2} ms, {busy} steps that do something",
        took.as_secs_f64() * 1e3
    );
}

fn main() {
    for count in [1_000, 10_000, 100_000] {
        let runs = 5;
        let mut case = case(count);
        report("nothing changed", count, &time(&case, runs));
        change(&mut case, count - 1);
        report("the last changed", count, &time(&case, runs));
        change(&mut case, 0);
        report("all may have to follow", count, &time(&case, runs));
    }
}
