//! What a plugin is told of where an object lives.

mod common;

use common::plans::{PlanMaker, capabilities, object, pinned, secret};
use common::provider::{How, Provider};
use common::{World, failure, request, row, run, succeeded};
use formwork_engine::{Engine, NoHooks, ObserveRequest, Registry};
use formwork_model::{
    Catalog, Inputs, Observation, OnFailure, OperationKind, Plan, Schema, Secret, TypeCapabilities, TypeName,
    TypeRules,
};
use formwork_plugin::Operation;
use serde_json::{Value, json};
use std::sync::Arc;

const CANARY: &str = "correct horse battery staple";

/// An engine whose provider serves targets too.
fn engine(world: &World) -> Arc<Engine> {
    let registry = Registry::new();
    registry
        .register(Arc::clone(&world.provider) as _, ["T", "target"].map(Into::into))
        .expect("they are free");
    world.engine_with("owner-1", Arc::new(NoHooks), Arc::new(registry))
}

fn config(host: &str) -> Inputs {
    let config =
        object(vec![("host", Inputs::Plain(json!(host))), ("password", secret("pw", &json!(CANARY)))]);
    object(vec![("namespace", Inputs::Plain(json!("T"))), ("config", config)])
}

fn deployed() -> Plan {
    let plan =
        PlanMaker::create().on_failure(OnFailure::Continue).creates_as("target", "db", config("one"), &[]);
    plan.creates("a", &[0]).at("db").plan()
}

async fn deploy(world: &World, plan: Plan) -> formwork_engine::Finished {
    let mut request = request("op-1", &Arc::new(plan), Vec::new());
    request.secrets.insert("pw".into(), Secret::new(json!(CANARY)));
    engine(world).begin(request).await.expect("it begins").finished().await
}

/// What the provider was told of the target with the last call of an operation.
fn told(provider: &Provider, operation: Operation) -> Value {
    let calls = provider.received().into_iter().rev();
    calls.filter(|call| call.operation == operation).map(|call| call.target).next().expect("it was called")
}

#[tokio::test(start_paused = true)]
async fn a_plugin_is_told_the_configuration_of_the_target_with_its_secrets() {
    let world = World::new();
    assert_eq!(deploy(&world, deployed()).await, succeeded());
    let whole = json!({ "host": "one", "password": CANARY });
    assert_eq!(told(&world.provider, Operation::Create), whole);

    // Another process, which knows the password from the store alone.
    let rows = world.rows().await;
    let plan = PlanMaker::new(OperationKind::Update);
    let plan = plan.updates(row(&rows, "a"), json!({ "name": "a", "value": 2 })).plan();
    assert_eq!(run(&engine(&world), "op-2", plan, rows).await, succeeded());
    assert_eq!(told(&world.provider, Operation::Update), whole);
    assert_eq!(told(&world.provider, Operation::Read), whole);

    let rows = world.rows().await;
    let plan = PlanMaker::new(OperationKind::Delete).deletes(row(&rows, "a"), &[]);
    let plan = plan.deletes(row(&rows, "db"), &[0]).plan();
    assert_eq!(run(&engine(&world), "op-3", plan, rows).await, succeeded());
    let deletes = world.provider.received().into_iter().filter(|call| call.operation == Operation::Delete);
    let targets: Vec<Value> = deletes.map(|call| call.target).collect();
    assert_eq!(targets, [whole, json!({})]);
    for operation in ["op-1", "op-2", "op-3"] {
        assert!(!world.all_text(operation).await.contains(CANARY));
    }
}

#[tokio::test(start_paused = true)]
async fn polls_are_told_too_and_a_failure_shows_no_secret_of_the_target() {
    let world = World::new();
    world.provider.next(Operation::Create, "a", How::Polls(1));
    assert_eq!(deploy(&world, deployed()).await, succeeded());
    assert_eq!(told(&world.provider, Operation::CheckStatus)["password"], CANARY);

    let rows = world.rows().await;
    let quoted = format!("FATAL: password `{CANARY}` refused");
    world.provider.next(
        Operation::Update,
        "a",
        How::Refuse(formwork_plugin::OperationErrorCode::AccessDenied, quoted),
    );
    let plan = PlanMaker::new(OperationKind::Update);
    let plan = plan.updates(row(&rows, "a"), json!({ "name": "b" })).plan();
    let finished = run(&engine(&world), "op-2", plan, rows).await;
    assert!(failure(&finished).1.contains("password `(secret)` refused"), "{finished:?}");
    assert!(!world.all_text("op-2").await.contains(CANARY));
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_not_there_fails_its_resources_by_name() {
    let world = World::new();
    let plan = PlanMaker::create().on_failure(OnFailure::Continue).creates("a", &[]).at("nowhere").plan();
    let finished = deploy(&world, plan).await;
    assert_eq!(failure(&finished), ("RESOURCE_NOT_FOUND", "the target `nowhere` does not exist"));
    assert!(world.provider.received().is_empty());
}

struct Types(formwork_model::PinnedType);

impl TypeRules for Types {
    fn schema(&self) -> &Arc<Schema> {
        &self.0.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.0.capabilities
    }
}

struct All;

impl Catalog for All {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        (name.as_str() == "T").then(|| Arc::new(Types(pinned(name, capabilities()))) as Arc<dyn TypeRules>)
    }

    fn names(&self) -> Vec<TypeName> {
        vec!["T".into()]
    }
}

#[tokio::test(start_paused = true)]
async fn observing_asks_at_the_target() {
    let world = World::new();
    assert_eq!(deploy(&world, deployed()).await, succeeded());
    let rows = world.rows().await;
    let (targets, rows): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row.type_name.as_str() == "target");
    let observe = |targets| ObserveRequest {
        project: "project".into(),
        actor: "actor".into(),
        rows: rows.clone(),
        targets,
        types: Arc::new(All),
    };
    let seen = engine(&world).observe(observe(targets)).await;
    assert!(matches!(seen.values().next(), Some(Observation::Present { .. })), "{seen:?}");
    assert_eq!(told(&world.provider, Operation::Read)["password"], CANARY);
    let seen = engine(&world).observe(observe(Vec::new())).await;
    let Some(Observation::Failed { message, .. }) = seen.values().next() else { panic!("{seen:?}") };
    assert_eq!(message, "the target `db` does not exist");
}
