//! Order, waves, lanes, bounds, and what large plans cost.

mod support;

use formwork_engine_core::Operation;
use formwork_model::{Action, Concurrency, OperationStatus, Timestamp};
use serde_json::json;
use std::time::Instant;
use support::{Provider, Reply, Run, World};

#[test]
fn calls_under_way_are_bounded() {
    let mut world = World::new();
    world.limits.concurrency = 4;
    for at in 0..30 {
        world.create(&format!("r{at}"), &[]);
    }
    let run = world.run(Provider::default());
    assert_eq!(run.most_at_once, 4);
    assert_eq!(run.provider.log.len(), 30);
}

#[test]
fn a_step_that_waits_for_its_next_attempt_holds_no_slot() {
    let mut world = World::new();
    world.limits.concurrency = 1;
    world.create("a", &[]);
    world.create("b", &[]);
    let provider =
        Provider::default().on("a", "create", &[Reply::Fail(formwork_model::OperationErrorCode::Throttling)]);
    let run = world.run(provider);
    assert_eq!(run.provider.log, ["create b-1", "create a-1"]);
}

#[test]
fn a_wave_begins_when_all_lower_waves_are_done() {
    let mut world = World::new();
    let row = world.existing("old", json!({"size": 1}));
    world.delete("old", &row, &[]).wave = 5;
    world.create("slow", &[]).wave = 1;
    world.create("fast", &[]);
    let run = world.run(Provider::of(&world).on("slow", "create", &[Reply::Slow(3)]));
    assert_eq!(run.provider.log, ["create fast-1", "create slow-1", "delete old-0"]);
    let slow = run.ends().iter().position(|line| line == "slow create succeeded");
    let old = run.ends().iter().position(|line| line == "old delete succeeded");
    assert!(slow < old);
}

#[test]
fn serial_types_run_one_at_a_time_in_step_order_beside_parallel_ones() {
    let mut world = World::new().with_type("serial", |found| found.concurrency = Concurrency::Serial);
    world.create("gate", &[]);
    world.create("s1", &[0]).type_name = "serial".into();
    world.create("s2", &[]).type_name = "serial".into();
    world.create("s3", &[]).type_name = "serial".into();
    world.create("p", &[]);
    let provider = Provider::default().on("gate", "create", &[Reply::Slow(2)]);
    let run = world.run(provider);
    let ends: Vec<_> = run.ends().into_iter().filter(|line| line.starts_with('s')).collect();
    assert_eq!(ends, ["s1 create succeeded", "s2 create succeeded", "s3 create succeeded"]);
    assert_eq!(run.ends()[0], "p create succeeded", "parallel types do not wait for the lane");
    let started: Vec<_> = run.story();
    let at = |line: &str| started.iter().position(|found| found == line).expect("it happened");
    assert!(at("s1 create succeeded") < at("s2 create started"));
}

#[test]
fn steps_on_one_row_do_not_overlap() {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    for old in ["x", "y"] {
        world.rows[0].deposed.push(support::object(old, "thing", json!({})));
        world.add("a", row.clone(), Action::Cleanup { native_id: Some(old.into()) }, &[]);
    }
    let run = world.run(Provider::of(&world));
    assert_eq!(run.most_at_once, 1);
    assert_eq!(run.provider.log, ["cleanup x", "cleanup y"]);
}

/// Runs a plan whose steps need no call, and says how long that took.
fn run_without_calls(world: &World) -> (Operation, u128) {
    let (mut operation, _) = Operation::open(world.spec(), Timestamp(0));
    let begun = Instant::now();
    let batch = operation.start(Timestamp(0));
    let took = begun.elapsed().as_millis();
    assert_eq!(operation.status().map(|(status, _)| status), Some(OperationStatus::Succeeded));
    assert_eq!(batch.entries.len(), world.steps.len() + 1);
    assert!(batch.rows.is_empty(), "a no-op writes no row");
    (operation, took)
}

fn no_ops(count: u32, after: impl Fn(u32) -> Vec<u32>) -> World {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    for at in 0..count {
        world.add(&format!("r{at}"), row.clone(), Action::NoOp, &after(at));
    }
    world
}

#[test]
fn a_chain_of_a_hundred_thousand_steps_runs_without_recursion() {
    let world = no_ops(100_000, |at| at.checked_sub(1).into_iter().collect());
    let (_, took) = run_without_calls(&world);
    assert!(took < if cfg!(debug_assertions) { 30_000 } else { 1_000 }, "{took} ms");
}

#[test]
fn a_fan_out_of_fifty_thousand_steps_is_linear() {
    let world = no_ops(50_000, |at| if at == 0 { Vec::new() } else { vec![0] });
    let (_, took) = run_without_calls(&world);
    assert!(took < if cfg!(debug_assertions) { 30_000 } else { 1_000 }, "{took} ms");
}

#[test]
fn a_long_chain_behind_a_failure_is_skipped_without_recursion() {
    let mut world = World::new().on_failure(formwork_model::OnFailure::Continue);
    for at in 0..20_000_u32 {
        let after: Vec<u32> = at.checked_sub(1).into_iter().collect();
        world.create(&format!("r{at}"), &after);
    }
    let fail = [Reply::Fail(formwork_model::OperationErrorCode::InvalidRequest)];
    let run = world.run(Provider::default().on("r0", "create", &fail));
    assert_eq!(run.status().0, OperationStatus::Failed);
    assert_eq!(run.journal.len(), 20_000 + 3);
}

#[test]
fn a_wide_rollback_undoes_everything() {
    let mut world = World::new();
    world.create("root", &[]);
    for at in 0..2_000 {
        world.create(&format!("r{at}"), &[0]);
    }
    world.create("bad", &[0]).wave = 1;
    let fail = [Reply::Fail(formwork_model::OperationErrorCode::InvalidRequest)];
    let run = world.run(Provider::default().on("bad", "create", &fail));
    assert!(run.provider.objects.is_empty());
    assert_eq!(run.provider.log.last().map(String::as_str), Some("undo root-1"));
}

#[test]
fn serial_types_are_undone_one_at_a_time_newest_first() {
    let mut world = World::new().with(|found| found.concurrency = Concurrency::Serial);
    for label in ["a", "b", "c", "bad"] {
        world.create(label, &[]);
    }
    let fail = [Reply::Fail(formwork_model::OperationErrorCode::InvalidRequest)];
    let run = world.run(Provider::default().on("bad", "create", &fail));
    assert_eq!(run.provider.log[3..], ["undo c-1", "undo b-1", "undo a-1"]);
    assert_eq!(run.most_at_once, 1);
}

#[test]
fn the_same_inputs_give_the_same_batches_byte_for_byte() {
    let mut world = World::new();
    for at in 0..20_u32 {
        let after: Vec<u32> = (at >= 3).then(|| at - 3).into_iter().collect();
        world.create(&format!("r{at}"), &after);
    }
    let provider = Provider::default()
        .on("r4", "create", &[Reply::Fail(formwork_model::OperationErrorCode::Throttling)])
        .on("r19", "create", &[Reply::Fail(formwork_model::OperationErrorCode::InvalidRequest)]);
    let first = world.run(provider.clone());
    let second = world.run(provider);
    assert_eq!(first.trace(), second.trace());
}

#[test]
fn a_started_run_reports_what_it_waits_for() {
    let mut world = World::new();
    world.create("a", &[]);
    let run = Run::begin(&world, Provider::default());
    let waiting = run.operation.waiting(run.now);
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].label.as_str(), "a");
    assert_eq!(waiting[0].attempt, 1);
}
