//! What the store, the lease and the end of a process do to an operation.

mod common;

use common::plans::{PlanMaker, object, secret};
use common::provider::How;
use common::{World, begin, failure, request, row, run, succeeded};
use formwork_engine::{BeginError, Finished, NoHooks};
use formwork_model::{
    Inputs, InstanceKey, OnFailure, OperationKind, OperationStatus, Plan, Row, RowRef, RowStatus, Secret,
};
use formwork_plugin::Operation;
use formwork_store::{Fault, Store};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn three_steps() -> Plan {
    PlanMaker::create().creates("a", &[]).creates("b", &[0]).creates("c", &[1]).plan()
}

#[tokio::test(start_paused = true)]
async fn a_fault_at_any_write_is_recovered_from_without_a_double_create() {
    for fault in [Fault::FailBefore, Fault::FailAfter] {
        for number in 1..12 {
            let world = World::new();
            let handle = begin(&world.engine(), "op", three_steps(), Vec::new()).await;
            world.store.fail_at(number, fault);
            assert_eq!(handle.finished().await, succeeded(), "{fault:?} at write {number}");
            assert_eq!(world.provider.names(), ["a", "b", "c"], "{fault:?} at write {number}");
            assert_eq!(world.provider.created(), 3, "{fault:?} at write {number}");
            assert!(world.rows().await.iter().all(|row| row.status == RowStatus::Created));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stays_broken_is_given_up_and_the_operation_is_recovered_later() {
    let world = World::new();
    world.provider.next(Operation::Create, "a", How::Gate);
    let handle = begin(&world.engine(), "op", three_steps(), Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    let from = world.store.writes();
    for number in from..from + 40 {
        world.store.fail_at(number, Fault::FailBefore);
    }
    world.provider.open_gate();
    assert_eq!(handle.finished().await, Finished::Left);
    handle.given_up().await;
    for _ in 0..60 {
        // Lets the remaining faults pass.
        let _ = world.store.observe(Vec::new()).await;
    }
    let recovered = world.engine().recover(&|_| false).await.expect("the store works again");
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0].finished().await, succeeded());
    assert_eq!(world.provider.created(), 3);
    let minute = Duration::from_secs(60);
    let waited = tokio::time::timeout(minute, recovered[0].given_up()).await;
    assert!(waited.is_err(), "what is over was not given up");
}

#[tokio::test(start_paused = true)]
async fn an_operation_whose_lease_another_took_stops() {
    let world = World::new();
    world.provider.next(Operation::Create, "a", How::Gate);
    let handle = begin(&world.engine(), "op", three_steps(), Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    world.store.fail_next(Fault::LeaseLost);
    world.provider.open_gate();
    assert_eq!(handle.finished().await, Finished::Lost);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.provider.calls(Operation::Create), 1, "nothing is sent without a lease");
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_another_engine_recovers_is_lost_to_the_first_and_finished_by_the_second() {
    let world = World::new();
    world.provider.next(Operation::Create, "a", How::Gate);
    let first = begin(&world.engine(), "op", three_steps(), Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    let engine = world.engine_as("owner-2", Arc::new(NoHooks));
    assert!(engine.recover(&|_| false).await.expect("the store reads").is_empty(), "its owner lives");
    let second = engine.recover(&|owner| owner.as_str() == "owner-1").await.expect("the store reads");
    let [second] = second.as_slice() else { panic!("{second:?}") };
    world.provider.open_gate();
    assert_eq!(second.finished().await, succeeded());
    assert_eq!(first.finished().await, Finished::Lost);
    assert_eq!(world.provider.created(), 3);
    assert_eq!(world.provider.names(), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_costs_no_object_and_makes_none_twice() {
    const HOUR: i64 = 3_600_000;
    for jump in [HOUR, -HOUR, 24 * HOUR, -24 * HOUR] {
        let world = World::new();
        world.provider.next(Operation::Create, "b", How::Gate);
        let handle = begin(&world.engine(), "op", three_steps(), Vec::new()).await;
        world.provider.saw(Operation::Create, "b").await;
        world.clock.jump(jump);
        world.provider.open_gate();
        let mut finished = handle.finished().await;
        if finished != succeeded() {
            // Its leases ran out at once: whoever looks next goes on with it.
            assert!(matches!(finished, Finished::Lost | Finished::Left), "{finished:?}");
            let next = world.engine_as("owner-2", Arc::new(NoHooks));
            let recovered = next.recover(&|_| true).await.expect("the store reads");
            let [recovered] = recovered.as_slice() else { panic!("{recovered:?}") };
            finished = recovered.finished().await;
        }
        assert_eq!(finished, succeeded(), "set by {jump} ms");
        assert_eq!(world.provider.names(), ["a", "b", "c"], "set by {jump} ms");
        assert_eq!(world.provider.created(), 3, "set by {jump} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_survives_the_fault_of_its_own_commit() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "b", How::Gate);
    let handle = begin(&engine, "op", three_steps(), Vec::new()).await;
    world.provider.saw(Operation::Create, "b").await;
    world.store.fail_next(Fault::FailBefore);
    engine.cancel(&"op".into(), false).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    world.provider.open_gate();
    assert_eq!(failure(&handle.finished().await).0, "CANCELED");
    assert!(world.provider.objects().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_drains_and_the_next_engine_finishes() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "a", How::Slow(Duration::from_secs(4)));
    let handle = begin(&engine, "op", three_steps(), Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    engine.shutdown(Duration::from_secs(30)).await;
    assert_eq!(handle.finished().await, Finished::Left);
    assert_eq!(world.provider.calls(Operation::Create), 1, "nothing new was begun");
    assert!(world.rows().await.iter().any(|row| row.status == RowStatus::Created), "the answer was kept");
    let plan = Arc::new(PlanMaker::create().stack("other").creates("x", &[]).plan());
    assert!(matches!(engine.begin(request("late", &plan, Vec::new())).await, Err(BeginError::ShuttingDown)));

    let recovered = world.engine().recover(&|_| false).await.expect("the store reads");
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0].finished().await, succeeded());
    assert_eq!(world.provider.created(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_no_longer_than_its_grace() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "a", How::DoneAndHang);
    let handle = begin(&engine, "op", three_steps(), Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    let began = tokio::time::Instant::now();
    engine.shutdown(Duration::from_secs(2)).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(handle.finished().await, Finished::Left);
    let recovered = world.engine().recover(&|_| false).await.expect("the store reads");
    assert_eq!(recovered[0].finished().await, succeeded());
    assert_eq!(world.provider.created(), 3, "the token found what was made");
}

#[tokio::test(start_paused = true)]
async fn a_crash_leaves_what_the_next_process_finishes() {
    let mut world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "b", How::DoneAndHang);
    let handle = begin(&engine, "op", three_steps(), Vec::new()).await;
    world.provider.saw(Operation::Create, "b").await;
    let left = world.store.crash();
    world.store = left;
    let recovered = world.engine_as("owner-2", Arc::new(NoHooks)).recover(&|_| true).await;
    let recovered = recovered.expect("the store reads");
    assert_eq!(recovered[0].finished().await, succeeded());
    assert_eq!(world.provider.created(), 3);
    drop(handle);
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_cannot_be_read_does_not_keep_others_from_recovering() {
    let mut world = World::new();
    let engine = world.engine();
    for label in ["a", "x"] {
        world.provider.next(Operation::Create, label, How::Gate);
    }
    let properties = object(vec![("value", secret("slot", &json!("plaintext")))]);
    let plan = Arc::new(PlanMaker::create().creates_as("T", "a", properties, &[]).plan());
    let mut sealed = request("sealed", &plan, Vec::new());
    sealed.secrets.insert("slot".into(), Secret::new(json!("plaintext")));
    engine.begin(sealed).await.expect("it begins");
    let other = PlanMaker::create().stack("other").creates("x", &[]).plan();
    begin(&engine, "other", other, Vec::new()).await;
    world.provider.saw(Operation::Create, "a").await;
    world.provider.saw(Operation::Create, "x").await;
    engine.shutdown(Duration::ZERO).await;

    world.key = InstanceKey::from_bytes([8; 32]);
    let next = world.engine();
    let recovered = next.recover(&|_| false).await.expect("the store reads");
    let ids: Vec<_> = recovered.iter().map(|handle| handle.id().to_string()).collect();
    assert_eq!(ids, ["other"]);
    let unreadable = next.unreadable();
    let reason = &unreadable["sealed"];
    assert!(reason.contains("`slot`") && !reason.contains("plaintext"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_failed_step_rolls_back_what_was_created() {
    let world = World::new();
    let refusal = How::Refuse(formwork_plugin::OperationErrorCode::AccessDenied, "not you".into());
    world.provider.next(Operation::Create, "c", refusal);
    let finished = run(&world.engine(), "op", three_steps(), Vec::new()).await;
    assert!(matches!(&finished, Finished::Done { status: OperationStatus::Failed, .. }));
    assert!(world.provider.objects().is_empty());
    assert_eq!(world.provider.calls(Operation::Delete), 2);
}

#[tokio::test(start_paused = true)]
async fn a_recovered_operation_still_has_its_secrets() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "a", How::Slow(Duration::from_secs(1)));
    let value = json!("the plaintext");
    let properties = object(vec![("name", Inputs::Plain(json!("b"))), ("value", secret("slot", &value))]);
    let plan = PlanMaker::create().on_failure(OnFailure::Continue).creates("a", &[]);
    let plan = Arc::new(plan.creates_as("T", "b", properties, &[0]).plan());
    let mut request = request("op", &plan, Vec::new());
    request.secrets.insert("slot".into(), Secret::new(value.clone()));
    engine.begin(request).await.expect("it begins");
    world.provider.saw(Operation::Create, "a").await;
    engine.shutdown(Duration::from_secs(10)).await;
    let recovered = world.engine().recover(&|_| false).await.expect("the store reads");
    assert_eq!(recovered[0].finished().await, succeeded());
    let sent = world.provider.received().into_iter().find(|call| call.label == "b").expect("it was called");
    assert_eq!(sent.properties, json!({"name": "b", "value": value}));
    assert!(!world.all_text("op").await.contains("the plaintext"));
}

/// A plan of another stack that creates `x`, which refers to a row.
fn referring_to(stack: &str, referred: &Row) -> Plan {
    let mut plan = PlanMaker::create().stack(stack).creates("x", &[]).plan();
    plan.steps[0].references.push(RowRef::Existing(referred.id.clone()));
    plan
}

fn teardown(rows: &[Row]) -> Plan {
    let maker = PlanMaker::new(OperationKind::Delete);
    rows.iter().fold(maker, |maker, row| maker.deletes(row, &[])).plan()
}

#[tokio::test(start_paused = true)]
async fn what_another_stack_refers_to_stays_and_the_failure_names_who_refers() {
    let world = World::new();
    let engine = world.engine();
    let plan = PlanMaker::create().creates("a", &[]).creates("b", &[]).creates("c", &[]).plan();
    run(&engine, "make", plan, Vec::new()).await;
    let rows = world.rows().await;
    for (number, label) in ["a", "c"].into_iter().enumerate() {
        let plan = referring_to(&format!("other{number}"), row(&rows, label));
        assert_eq!(run(&engine, &format!("refer{number}"), plan, rows.clone()).await, succeeded());
    }
    let finished = run(&engine, "destroy", teardown(&rows), rows.clone()).await;
    let Finished::Done { failure: Some(failure), .. } = &finished else { panic!("{finished:?}") };
    assert_eq!(failure.code, "FORMATION_DELETE_FAILED");
    let errors: Vec<_> = failure.meta.as_ref().expect("it lists them")["failures"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|failed| format!("{}: {}", failed["logical_id"], failed["error"]))
        .collect();
    assert_eq!(
        errors,
        [
            r#""a": "It can't be deleted: `x` of `other0` still refers to it.""#,
            r#""c": "It can't be deleted: `x` of `other1` still refers to it.""#,
        ]
    );
    assert_eq!(world.provider.calls(Operation::Delete), 1, "only `b` was deleted");
    let told = world.events("destroy").await;
    let told = told.iter().filter_map(|event| event.failure.as_ref()).map(|error| error.code.as_str());
    assert!(told.filter(|code| *code == "STILL_REFERENCED").count() >= 2);
}

#[tokio::test(start_paused = true)]
async fn the_undo_of_what_another_stack_refers_to_by_now_is_refused_before_its_call() {
    let world = World::new();
    let engine = world.engine();
    world.provider.next(Operation::Create, "b", How::Gate);
    let plan = PlanMaker::create().creates("a", &[]).creates("b", &[0]).plan();
    let handle = begin(&engine, "op", plan, Vec::new()).await;
    world.provider.saw(Operation::Create, "b").await;
    let rows = world.rows().await;
    assert_eq!(
        run(&engine, "refer", referring_to("other", row(&rows, "a")), rows.clone()).await,
        succeeded()
    );
    engine.cancel(&"op".into(), false).await;
    world.provider.open_gate();
    assert_eq!(failure(&handle.finished().await).0, "CANCELED");
    assert_eq!(world.provider.names(), ["a", "x"], "`b` was undone, `a` was not");
    let rows = world.rows().await;
    assert_eq!((row(&rows, "a").status, row(&rows, "b").status), (RowStatus::Created, RowStatus::Deleted));
    let told = world.events("op").await;
    let told: Vec<_> = told.iter().filter_map(|event| event.failure.as_ref()).collect();
    assert!(
        told.iter().any(|error| error.code == "STILL_REFERENCED" && error.message.contains("`x` of `other`")),
        "{told:?}"
    );
}
