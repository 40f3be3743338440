//! Operations end to end, in paused time.

mod common;

use common::plans::{PlanMaker, capabilities, object, pinned, secret};
use common::provider::How;
use common::{World, begin, failure, request, row, run, succeeded};
use formwork_engine::{
    BeginError, BeginRequest, CancelOutcome, Ending, Finished, Hooks, NoHooks, ObserveRequest, Registry,
};
use formwork_model::{
    Catalog, Inputs, LookupRule, NativeId, Observation, OnFailure, OperationKind, OperationStatus,
    PinnedType, Row, RowRef, RowStatus, Schema, Secret, StepId, TypeCapabilities, TypeName, TypeRules,
};
use formwork_plugin::{Operation, OperationErrorCode};
use formwork_store::{NewObject, ObjectWrite, Store, StoreError};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn resources_are_created_updated_and_deleted() {
    let world = World::new();
    let engine = world.engine();
    let plan = PlanMaker::create().creates("a", &[]).creates("b", &[0]).plan();
    assert_eq!(run(&engine, "op-1", plan, Vec::new()).await, succeeded());
    assert_eq!(world.provider.names(), ["a", "b"]);

    let rows = world.rows().await;
    let plan = PlanMaker::new(OperationKind::Update)
        .updates(row(&rows, "a"), json!({"name": "a", "value": 2}))
        .plan();
    assert_eq!(run(&engine, "op-2", plan, rows).await, succeeded());
    let update = world.provider.received().into_iter().find(|call| call.operation == Operation::Update);
    assert_eq!(update.expect("it was called").patch, json!([{"op": "add", "path": "/value", "value": 2}]));

    let rows = world.rows().await;
    let (a, b) = (row(&rows, "a").clone(), row(&rows, "b").clone());
    assert_eq!(a.status, RowStatus::Updated);
    let plan = PlanMaker::new(OperationKind::Delete).deletes(&b, &[]).deletes(&a, &[0]).plan();
    assert_eq!(run(&engine, "op-3", plan, rows).await, succeeded());
    assert!(world.provider.objects().is_empty());
    assert!(world.rows().await.iter().all(|row| row.status == RowStatus::Deleted));
    assert!(engine.running().is_empty());
}

#[tokio::test(start_paused = true)]
async fn independent_steps_run_side_by_side_within_the_concurrency() {
    let world = World::new();
    let mut plan = PlanMaker::create();
    for number in 0..128 {
        let label = format!("r{number}");
        world.provider.next(Operation::Create, &label, How::Slow(Duration::from_secs(5)));
        plan = plan.creates(&label, &[]);
    }
    let began = Instant::now();
    assert_eq!(run(&world.engine(), "op", plan.plan(), Vec::new()).await, succeeded());
    // Two rounds of 64 calls, in virtual time.
    assert!(began.elapsed() < Duration::from_secs(11), "{:?}", began.elapsed());
    assert_eq!(world.provider.most_under_way(), 64);
}

#[tokio::test(start_paused = true)]
async fn a_chain_costs_one_commit_per_step() {
    let world = World::new();
    let plan = (0..50).fold(PlanMaker::create(), |plan, number| {
        let after: Vec<u32> = (number > 0).then(|| number - 1).into_iter().collect();
        plan.creates(&format!("r{number}"), &after)
    });
    assert_eq!(run(&world.engine(), "op", plan.plan(), Vec::new()).await, succeeded());
    // One to begin, one before the first call, and one per answer; renewals need time to pass.
    assert_eq!(world.store.writes(), 52);
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_spreads_the_calls() {
    let world = World::with_rate(10);
    let plan = (0..40).fold(PlanMaker::create(), |plan, number| plan.creates(&format!("r{number}"), &[]));
    let began = Instant::now();
    assert_eq!(run(&world.engine(), "op", plan.plan(), Vec::new()).await, succeeded());
    let elapsed = began.elapsed();
    assert!(elapsed >= Duration::from_millis(3_800), "{elapsed:?}");
    assert!(elapsed < Duration::from_secs(6), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn two_operations_share_a_rate_limit_fairly() {
    let world = World::with_rate(10);
    let engine = world.engine();
    let wide = (0..100).fold(PlanMaker::create(), |plan, number| plan.creates(&format!("w{number}"), &[]));
    let wide = begin(&engine, "wide", wide.plan(), Vec::new()).await;
    world.provider.saw(Operation::Create, "w5").await;
    let began = Instant::now();
    let narrow = (0..5)
        .fold(PlanMaker::create().stack("other"), |plan, number| plan.creates(&format!("n{number}"), &[]));
    assert_eq!(run(&engine, "narrow", narrow.plan(), Vec::new()).await, succeeded());
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert!(wide.finished().await == succeeded());
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_call_is_polled() {
    let world = World::new();
    world.provider.next(Operation::Create, "a", How::Polls(3));
    let plan = PlanMaker::create().creates("a", &[]).plan();
    assert_eq!(run(&world.engine(), "op", plan, Vec::new()).await, succeeded());
    assert_eq!(world.provider.calls(Operation::CheckStatus), 4);
    assert_eq!(world.provider.created(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_operation_goes_on_without_its_client() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "a", How::Slow(Duration::from_secs(3)));
    let plan = PlanMaker::create().creates("a", &[]).creates("b", &[0]).plan();
    drop(begin(&engine, "op", plan, Vec::new()).await);
    while !engine.running().is_empty() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(world.provider.names(), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_second_operation_on_a_stack_is_told_who_holds_it() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "a", How::Gate);
    let first = begin(&engine, "first", PlanMaker::create().creates("a", &[]).plan(), Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    let plan = Arc::new(PlanMaker::create().creates("b", &[]).plan());
    match engine.begin(request("second", &plan, Vec::new())).await {
        Err(BeginError::Held(holder)) => assert_eq!(holder.operation, "first".into()),
        other => panic!("{other:?}"),
    }
    world.provider.open_gate();
    assert_eq!(first.finished().await, succeeded());
    let rows = world.rows().await;
    let second = engine.begin(request("second", &plan, rows)).await.expect("the stack is free");
    assert_eq!(second.finished().await, succeeded());
}

#[tokio::test(start_paused = true)]
async fn waiting_says_what_is_under_way() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "a", How::Gate);
    let plan = PlanMaker::create().creates("a", &[]).creates("b", &[0]).plan();
    let handle = begin(&engine, "op", plan, Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let labels: Vec<_> = handle.waiting().iter().map(|waiting| waiting.label.to_string()).collect();
    assert_eq!(labels, ["a"]);
    world.provider.open_gate();
    handle.finished().await;
    assert!(handle.waiting().is_empty());
}

#[tokio::test(start_paused = true)]
async fn cancel_lets_calls_end_and_rolls_back() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "b", How::Gate);
    let plan = PlanMaker::create().creates("a", &[]).creates("b", &[0]).creates("c", &[1]).plan();
    let handle = begin(&engine, "op", plan, Vec::new()).await;
    world.provider.saw(Operation::Create, "b").await;
    assert_eq!(engine.cancel(&"op".into(), false).await, CancelOutcome::Requested);
    tokio::time::sleep(Duration::from_millis(10)).await;
    world.provider.open_gate();
    assert_eq!(failure(&handle.finished().await).0, "CANCELED");
    assert!(world.provider.objects().is_empty());
    assert_eq!(world.provider.created(), 2);
    assert_eq!(engine.cancel(&"op".into(), false).await, CancelOutcome::NotRunning);
}

#[tokio::test(start_paused = true)]
async fn a_forced_cancel_ends_at_once_and_leaves_what_stands() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "b", How::Hang);
    let plan = PlanMaker::create().creates("a", &[]).creates("b", &[0]).plan();
    let handle = begin(&engine, "op", plan, Vec::new()).await;
    world.provider.saw(Operation::Create, "b").await;
    let began = Instant::now();
    engine.cancel(&"op".into(), true).await;
    assert_eq!(failure(&handle.finished().await).0, "CANCELED");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(world.provider.names(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_lease_shorter_than_a_call_is_extended_before_it() {
    let world = World::new();
    world.provider.next(Operation::Create, "a", How::Slow(Duration::from_secs(100)));
    let plan = PlanMaker::create().capable("T", |can| can.timeout_millis = 120_000).creates("a", &[]).plan();
    assert_eq!(run(&world.engine(), "op", plan, Vec::new()).await, succeeded());
    assert_eq!(world.provider.calls(Operation::Create), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_plugin_is_a_lost_call_and_not_the_end() {
    let world = World::new();
    world.provider.next(Operation::Create, "a", How::Panic("the plugin is broken".into()));
    let plan = PlanMaker::create().creates("a", &[]).plan();
    assert_eq!(run(&world.engine(), "op", plan, Vec::new()).await, succeeded());
    assert_eq!((world.provider.calls(Operation::Create), world.provider.created()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_ends_at_its_deadline_and_is_repeated_with_its_token() {
    let world = World::new();
    world.provider.next(Operation::Create, "a", How::DoneAndHang);
    let plan = PlanMaker::create().creates("a", &[]).plan();
    let began = Instant::now();
    assert_eq!(run(&world.engine(), "op", plan, Vec::new()).await, succeeded());
    assert!(began.elapsed() >= Duration::from_secs(10));
    assert_eq!((world.provider.calls(Operation::Create), world.provider.created()), (2, 1));
    let tokens: Vec<_> = world.provider.received().into_iter().map(|call| call.token).collect();
    assert!(tokens[0].is_some() && tokens[0] == tokens[1]);
}

#[tokio::test(start_paused = true)]
async fn a_missing_plugin_fails_its_steps_by_name_within_the_bound() {
    let world = World::new();
    let plan = PlanMaker::create()
        .on_failure(OnFailure::Continue)
        .creates("a", &[])
        .creates_as("Missing", "m", Inputs::Plain(json!({"name": "m"})), &[])
        .plan();
    let began = Instant::now();
    let finished = run(&world.engine(), "op", plan, Vec::new()).await;
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert!(matches!(finished, Finished::Done { status: OperationStatus::Failed, .. }));
    let rows = world.rows().await;
    let failure = row(&rows, "m").failure.clone().expect("it failed");
    assert_eq!(failure.code, "PLUGIN_UNAVAILABLE");
    assert!(failure.message.contains("`Missing`"), "{}", failure.message);
    assert_eq!(world.provider.names(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_plugin_that_comes_within_the_bound_is_waited_for() {
    let world = World::new();
    let registry = Arc::new(Registry::new());
    let engine = world.engine_with("owner-1", Arc::new(NoHooks), Arc::clone(&registry));
    let handle = begin(&engine, "op", PlanMaker::create().creates("a", &[]).plan(), Vec::new()).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    registry.register(Arc::clone(&world.provider) as _, ["T".into()]).expect("the type is free");
    assert_eq!(handle.finished().await, succeeded());
    let clash = registry.register(Arc::clone(&world.provider) as _, ["U".into(), "T".into()]);
    assert_eq!(clash.expect_err("it is taken").type_name, "T".into());
    assert!(registry.plugin(&"U".into()).is_none());
}

const CANARY: &str = "canary-5f0c9a";

fn secret_plan(kind: OnFailure) -> formwork_model::Plan {
    let properties =
        object(vec![("name", Inputs::Plain(json!("a"))), ("value", secret("slot", &json!(CANARY)))]);
    PlanMaker::create().on_failure(kind).creates_as("T", "a", properties, &[]).plan()
}

async fn run_secret(world: &World) -> Finished {
    let plan = Arc::new(secret_plan(OnFailure::Continue));
    let mut request = request("op", &plan, Vec::new());
    request.secrets.insert("slot".into(), Secret::new(json!(CANARY)));
    world.engine().begin(request).await.expect("it begins").finished().await
}

#[tokio::test(start_paused = true)]
async fn a_secret_reaches_its_provider_and_nothing_else() {
    let world = World::new();
    assert_eq!(run_secret(&world).await, succeeded());
    assert_eq!(world.provider.received()[0].properties, json!({"name": "a", "value": CANARY}));
    let text = world.all_text("op").await;
    assert!(!text.contains(CANARY), "{text}");
    let row = &world.rows().await[0];
    let kept = world.store.reader().row_slots(&row.id).await.expect("the store reads");
    assert_eq!(kept.len(), 1, "an update will need it again");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_repeats_a_secret_does_not_get_it_into_the_ledger() {
    let world = World::new();
    let echo = json!({"name": "a", "value": CANARY, "url": format!("db://u:{CANARY}@h")});
    world.provider.next(Operation::Create, "a", How::Answer(echo));
    assert_eq!(run_secret(&world).await, succeeded());
    let text = world.all_text("op").await;
    assert!(!text.contains(CANARY), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_quotes_a_secret_is_redacted() {
    let world = World::new();
    let refusal = How::Refuse(OperationErrorCode::InvalidRequest, format!("bad value `{CANARY}`"));
    world.provider.next(Operation::Create, "a", refusal);
    let finished = run_secret(&world).await;
    assert!(!format!("{finished:?}").contains(CANARY), "{finished:?}");
    let text = world.all_text("op").await;
    assert!(!text.contains(CANARY), "{text}");
    assert!(text.contains("bad value `(secret)`"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_creation_was_lost_is_found_by_its_unique_properties() {
    let world = World::new();
    world.provider.next(Operation::Create, "b", How::Lost);
    let by_name = |can: &mut TypeCapabilities| {
        can.lookup = LookupRule::ByUnique(vec![formwork_model::Path::of(["name"])]);
    };
    let plan = ["a", "b", "c", "d"]
        .iter()
        .fold(PlanMaker::create().capable("T", by_name), |plan, label| plan.creates(label, &[]));
    assert_eq!(run(&world.engine(), "op", plan.plan(), Vec::new()).await, succeeded());
    assert_eq!(world.provider.created(), 4);
    let rows = world.rows().await;
    let found = row(&rows, "b").current.clone().expect("it was found");
    assert_eq!(world.provider.objects()[&found.native_id]["name"], json!("b"));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_differs_from_what_was_sent_is_not_taken_for_ours() {
    let world = World::new();
    // The effect is another client's: same name, another value.
    let theirs = Inputs::Plain(json!({"name": "a", "value": "theirs"}));
    let first = PlanMaker::create().stack("other").creates_as("T", "theirs", theirs, &[]).plan();
    assert_eq!(run(&world.engine(), "first", first, Vec::new()).await, succeeded());
    world.provider.next(Operation::Create, "a", How::Hang);
    let by_name = |can: &mut TypeCapabilities| {
        can.lookup = LookupRule::ByUnique(vec![formwork_model::Path::of(["name"])]);
    };
    let plan =
        PlanMaker::create().on_failure(OnFailure::Continue).capable("T", by_name).creates("a", &[]).plan();
    let engine = world.engine();
    let mut plan = plan;
    plan.steps[0].inputs = Some(Inputs::Plain(json!({"name": "a", "value": "ours"})));
    let finished = run(&engine, "op", plan, Vec::new()).await;
    assert!(matches!(finished, Finished::Done { status: OperationStatus::Failed, .. }), "{finished:?}");
    let rows = world.rows().await;
    assert!(row(&rows, "a").current.is_none());
    assert!(row(&rows, "a").intent.is_some(), "a person decides");
}

#[tokio::test(start_paused = true)]
async fn a_person_decides_about_a_create_once_it_can_have_no_more_effect() {
    let world = World::new();
    let engine = world.engine();
    let nowhere = |can: &mut TypeCapabilities| can.lookup = LookupRule::None;
    // The provider fails at once, having made the object: its call could still be under way.
    world.provider.next(Operation::Create, "a", How::Lost);
    let create = PlanMaker::create().on_failure(OnFailure::Continue).capable("T", nowhere);
    let handle = begin(&engine, "op", create.creates("a", &[]).plan(), Vec::new()).await;
    engine.cancel(handle.id(), true).await;
    assert!(matches!(handle.finished().await, Finished::Done { status: OperationStatus::Failed, .. }));
    let made = world.provider.objects().keys().next().expect("it was made").clone();

    let rows = world.rows().await;
    let update = PlanMaker::new(OperationKind::Update).capable("T", nowhere);
    let plan = Arc::new(update.resolves(row(&rows, "a")).plan());
    let decided = |id: &str, adopt: Option<NativeId>| BeginRequest {
        decisions: BTreeMap::from([(StepId(0), adopt)]),
        ..request(id, &plan, rows.clone())
    };
    let early = engine.begin(decided("early", Some(made.clone()))).await;
    assert!(matches!(early, Err(BeginError::MayLand { step: StepId(0), .. })), "{early:?}");

    tokio::time::sleep(Duration::from_secs(11)).await;
    let absent = engine.begin(decided("absent", Some("no-such".into()))).await;
    assert!(matches!(absent, Err(BeginError::NotAdoptable { failure: None, .. })), "{absent:?}");
    assert!(row(&world.rows().await, "a").intent.is_some(), "a refusal changes nothing");

    let adopted = engine.begin(decided("adopt", Some(made.clone()))).await.expect("it begins");
    assert_eq!(adopted.finished().await, succeeded());
    let rows = world.rows().await;
    assert_eq!(row(&rows, "a").intent, None);
    assert_eq!(row(&rows, "a").current.as_ref().map(|object| &object.native_id), Some(&made));
}

struct Finishes;

#[async_trait::async_trait]
impl Hooks for Finishes {
    async fn finishing(&self, ending: &Ending<'_>) -> Result<Vec<ObjectWrite>, StoreError> {
        let row: Option<&Row> = (ending.rows)(&RowRef::New(0));
        let object = row.and_then(|row| row.current.as_ref()).map(|object| object.native_id.to_string());
        Ok(vec![ObjectWrite::Insert(NewObject {
            id: "formation".into(),
            type_name: "formation".into(),
            project: None,
            doc: json!({"status": ending.status, "object": object}),
            keys: Vec::new(),
            links: Vec::new(),
        })])
    }
}

#[tokio::test(start_paused = true)]
async fn what_control_adds_at_the_end_is_stored_with_the_end() {
    let world = World::new();
    let engine = world.engine_as("owner-1", Arc::new(Finishes));
    assert_eq!(
        run(&engine, "op", PlanMaker::create().creates("a", &[]).plan(), Vec::new()).await,
        succeeded()
    );
    let stored = world.store.reader().object("formation").await.expect("the store reads");
    assert_eq!(stored.expect("it is there").doc, json!({"status": "succeeded", "object": "object-1"}));
}

struct Types(PinnedType, PinnedType);

struct Rules(PinnedType);

impl TypeRules for Rules {
    fn schema(&self) -> &Arc<Schema> {
        &self.0.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.0.capabilities
    }
}

impl Catalog for Types {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        let pinned = if name.as_str() == "T" { &self.0 } else { &self.1 };
        Some(Arc::new(Rules(pinned.clone())))
    }

    fn names(&self) -> Vec<TypeName> {
        vec!["T".into(), "U".into()]
    }
}

#[tokio::test(start_paused = true)]
async fn observing_tells_present_gone_and_failed_and_leaves_out_what_cannot_be_read() {
    let world = World::new();
    let engine = world.engine();
    let unreadable = Inputs::Plain(json!({"name": "u"}));
    let plan = ["here", "gone", "dead", "slow"]
        .iter()
        .fold(PlanMaker::create(), |plan, label| plan.creates(label, &[]))
        .creates_as("U", "u", unreadable, &[]);
    assert_eq!(run(&engine, "op", plan.plan(), Vec::new()).await, succeeded());
    let rows = world.rows().await;
    world.provider.remove(&row(&rows, "gone").current.as_ref().expect("it has one").native_id);
    world.provider.next(Operation::Read, "dead", How::Lost);
    world.provider.next(Operation::Read, "slow", How::Hang);
    let blind = TypeCapabilities { read: false, ..capabilities() };
    let types = Types(pinned(&"T".into(), capabilities()), pinned(&"U".into(), blind));
    let observe = ObserveRequest {
        project: "project".into(),
        actor: "actor".into(),
        rows: rows.clone(),
        targets: Vec::new(),
        types: Arc::new(types),
    };
    let seen = engine.observe(observe).await;
    let of = |label: &str| seen.get(&row(&rows, label).id);
    match of("here") {
        Some(Observation::Present { properties, .. }) => {
            assert_eq!(properties.as_plain(), Some(&json!({"name": "here"})));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(of("gone"), Some(Observation::Gone { .. })));
    assert!(matches!(of("dead"), Some(Observation::Failed { message, .. }) if message.contains("it died")));
    assert!(matches!(of("slow"), Some(Observation::Failed { message, .. }) if message.contains("in time")));
    assert_eq!(of("u"), None);
}

/// A provider may show for a while what was before: nothing is made twice, or called drift, for that (INV-2).
#[tokio::test(start_paused = true)]
async fn what_seems_gone_or_changed_is_looked_at_again_once_effects_must_be_visible() {
    let stale =
        || [How::Refuse(OperationErrorCode::NotFound, String::new()), How::Answer(json!({"name": "b"}))];
    for (settle_millis, looks_again) in [(300, true), (0, false)] {
        let world = World::new();
        let engine = world.engine();
        let plan = PlanMaker::create().creates("gone", &[]).creates("changed", &[]).creates("same", &[]);
        assert_eq!(run(&engine, "op", plan.plan(), Vec::new()).await, succeeded());
        let rows = world.rows().await;
        for (label, how) in ["gone", "changed"].into_iter().zip(stale()) {
            world.provider.next(Operation::Read, label, how);
        }
        let lagging = pinned(&"T".into(), TypeCapabilities { settle_millis, ..capabilities() });
        let observe = ObserveRequest {
            project: "project".into(),
            actor: "actor".into(),
            rows: rows.clone(),
            targets: Vec::new(),
            types: Arc::new(Types(lagging.clone(), lagging)),
        };
        let began = Instant::now();
        let seen = engine.observe(observe).await;
        let is = |label: &str| match seen.get(&row(&rows, label).id) {
            Some(Observation::Present { properties, .. }) => {
                properties.as_plain() == Some(&json!({ "name": label }))
            }
            _ => false,
        };
        assert!(is("same"));
        assert_eq!((is("gone"), is("changed")), (looks_again, looks_again));
        assert_eq!(began.elapsed(), Duration::from_millis(settle_millis), "all wait side by side");
        let reads = world.provider.calls(Operation::Read);
        assert_eq!(reads, if looks_again { 5 } else { 3 }, "what is as it was left is believed");
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_operations_run_than_may() {
    let world = World::new();
    let registry = Arc::new(Registry::new());
    registry.register(Arc::clone(&world.provider) as _, ["T".into()]).expect("the type is free");
    let options = formwork_engine::EngineOptions {
        max_operations: 1,
        ..formwork_engine::EngineOptions::new("owner-1".into())
    };
    let engine = formwork_engine::Engine::new(
        Arc::new(world.store.clone()),
        registry,
        world.key.clone(),
        world.clock.clone(),
        Arc::new(NoHooks),
        options,
    );
    world.provider.next(Operation::Create, "a", How::Gate);
    let first = begin(&engine, "first", PlanMaker::create().creates("a", &[]).plan(), Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    let other = Arc::new(PlanMaker::create().stack("other").creates("b", &[]).plan());
    let refused = engine.begin(request("second", &other, Vec::new())).await;
    assert!(matches!(refused, Err(BeginError::TooMany { running: 1 })));
    world.provider.open_gate();
    assert_eq!(first.finished().await, succeeded());
}
