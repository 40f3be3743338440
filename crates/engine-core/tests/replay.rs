//! Every prefix of a journal recovers to what the uninterrupted run reaches (INV-11).

mod support;

use formwork_engine_core::{Operation, ReplayError};
use formwork_model::{
    Action, Condition, Entry, Inputs, LookupRule, OnFailure, OperationErrorCode as Code, OperationKind, Path,
    StepId, Undo,
};
use serde_json::json;
use support::{Provider, Reply, Run, World};

/// Crashes after each entry: before the calls of its unit were made, and, where the entry is the
/// unit's last, after they had their effect and before the answer.
fn sweep(world: &World, provider: Provider) {
    let whole = world.run(provider);
    let rows = whole.final_rows();
    let objects = &whole.provider.objects;
    let mut tried = 0;
    for entries in 1..whole.journal.len() {
        let unit = whole.units.iter().rposition(|(before, _)| *before < entries).unwrap_or(0);
        let mut providers = vec![whole.units[unit].1.clone()];
        if let Some((before, later)) = whole.units.get(unit + 1)
            && *before == entries
        {
            providers.push(later.clone());
        }
        for provider in providers {
            let mut run = Run::recovered(world, &whole, entries, provider);
            run.finish();
            assert_eq!(run.final_rows(), rows, "crashed after {:?}", whole.journal[entries - 1]);
            assert_eq!(run.provider.objects, *objects, "crashed after {entries} entries");
            assert_eq!(run.status().0, whole.status().0);
            tried += 1;
        }
    }
    assert!(tried >= whole.journal.len() - 1);
}

fn tree() -> World {
    let mut world = World::new();
    world.create("a", &[]);
    world.create("b", &[0]);
    world.create("c", &[0]);
    world.create("d", &[1, 2]);
    world
}

#[test]
fn a_deploy_recovers_from_every_prefix() {
    sweep(&tree(), Provider::default());
}

#[test]
fn an_adoption_recovers_from_every_prefix_well_or_not() {
    let mut world = World::new();
    let adopted = world.adopt("old", "old-0", &json!({"size": 1}), json!({"size": 2}));
    world.create("new", &[adopted]);
    let mut provider = Provider::default();
    provider.objects.insert("old-0".to_owned(), json!({"size": 1}));
    sweep(&world, provider.clone());
    sweep(&world, provider.on("new", "create", &[Reply::Fail(Code::InvalidRequest)]));
}

#[test]
fn a_rollback_recovers_from_every_prefix() {
    let mut world = tree();
    world.steps[1].undo = Undo::KeepRetained;
    sweep(&world, Provider::default().on("d", "create", &[Reply::Fail(Code::InvalidRequest)]));
}

#[test]
fn retries_and_slow_calls_recover_from_every_prefix() {
    let provider = Provider::default()
        .on("a", "create", &[Reply::Fail(Code::Throttling), Reply::Lost])
        .on("b", "create", &[Reply::Slow(3)])
        .on("c", "create", &[Reply::EffectThenLost]);
    sweep(&tree(), provider);
}

#[test]
fn continue_recovers_from_every_prefix() {
    let world = tree().on_failure(OnFailure::Continue);
    sweep(&world, Provider::default().on("b", "create", &[Reply::Fail(Code::InvalidRequest)]));
}

#[test]
fn lookups_recover_from_every_prefix() {
    let world = tree().with(|found| found.lookup = LookupRule::ByUnique(vec![Path::of(["name"])]));
    sweep(&world, Provider::default().on("b", "create", &[Reply::EffectThenLost]));
}

#[test]
fn updates_replacements_and_deletes_recover_from_every_prefix() {
    let mut world = World::new();
    let one = world.existing("one", json!({"size": 1}));
    world.update("one", &one, json!({"size": 2}), &[]);
    let two = world.existing("two", json!({"size": 1}));
    let guard = world.guard(&two, true);
    let replace = world.add("two", two.clone(), Action::Replace, &[0]);
    replace.inputs = Some(Inputs::Plain(json!({"size": 3})));
    replace.guard = guard;
    let cleanup = world.add("two", two, Action::Cleanup { native_id: None }, &[]);
    cleanup.when = Condition::Replaced(StepId(1));
    cleanup.wave = 2;
    let three = world.existing("three", json!({"size": 1}));
    world.delete("three", &three, &[]).wave = 1;
    let four = world.existing("four", json!({"size": 1}));
    world.add("four", four, Action::NoOp, &[]);
    let provider = Provider::of(&world).on("two", "cleanup", &[Reply::Fail(Code::Throttling)]);
    sweep(&world, provider);
}

#[test]
fn a_teardown_recovers_from_every_prefix() {
    let mut world = World::new().kind(OperationKind::Delete);
    for label in ["a", "b", "c"] {
        let row = world.existing(label, json!({"size": 1}));
        world.delete(label, &row, &[]);
    }
    // It fails before its call: after a crash, a refused call would leave a doubt.
    let mut provider = Provider::of(&world);
    provider.objects.insert("b-0".to_owned(), json!({"size": 2}));
    sweep(&world, provider);
}

#[test]
fn a_cancel_survives_a_crash() {
    let world = tree();
    let mut run = Run::begin(&world, Provider::default());
    while run.provider.log.len() < 2 {
        assert!(run.turn());
    }
    run.input(formwork_engine_core::Input::Cancel { force: false });
    let entries = run.journal.len();
    let mut recovered = Run::recovered(&world, &run, entries, run.provider.clone());
    recovered.finish();
    assert_eq!(recovered.status().1.map(|failure| failure.code).as_deref(), Some("CANCELED"));
    assert!(recovered.provider.objects.is_empty());
}

#[test]
fn a_crash_loop_cannot_retry_for_ever() {
    let mut world = World::new();
    world.create("a", &[]);
    let provider = Provider::default().on("a", "create", &vec![Reply::Silence; 100]);
    let mut run = Run::begin(&world, provider);
    let mut lives = 0;
    while !run.operation.is_finished() {
        while run.turn() {}
        if run.operation.is_finished() {
            break;
        }
        lives += 1;
        assert!(lives < 20, "it goes on and on");
        let base = run.base.clone();
        run = Run::recovered(&world, &run, run.journal.len(), run.provider.clone());
        run.base = base;
    }
    assert_eq!(run.provider.attempts.len(), 6);
    assert!(run.row("a").intent.is_some());
}

#[test]
fn a_finished_operation_replays_as_finished() {
    let world = tree();
    let whole = world.run(Provider::default());
    let mut spec = world.spec();
    spec.rows = whole.rows.values().cloned().collect();
    let mut operation = Operation::replay(spec, &whole.journal).expect("it replays");
    assert!(operation.is_finished());
    let batch = operation.resume(whole.now);
    assert!(!batch.has_records());
    assert_eq!(batch.finish(), operation.status());
}

#[test]
fn a_journal_that_is_not_ours_is_refused() {
    let world = tree();
    let whole = world.run(Provider::default());
    let replay =
        |journal: &[formwork_model::JournalEntry]| Operation::replay(world.spec(), journal).map(|_| ());
    assert_eq!(replay(&[]), Err(ReplayError::NotStarted));
    assert_eq!(replay(&whole.journal[1..]), Err(ReplayError::NotStarted));
    let mut gap = whole.journal.clone();
    gap.remove(2);
    assert_eq!(replay(&gap), Err(ReplayError::Gap { expected: 2, found: 3 }));
    let mut newer = whole.journal.clone();
    newer[1].version = 99;
    assert_eq!(replay(&newer), Err(ReplayError::Version { sequence: 1, found: 99 }));
    let mut foreign = whole.journal.clone();
    foreign[1].operation = "form_op_2".into();
    assert_eq!(replay(&foreign), Err(ReplayError::OtherOperation { sequence: 1, found: "form_op_2".into() }));
    let mut twice = whole.journal.clone();
    twice[1].entry = twice[0].entry.clone();
    assert_eq!(replay(&twice), Err(ReplayError::OutOfOrder { sequence: 1 }));
    let mut beyond = whole.journal.clone();
    if let Entry::Intent { intent, .. } = &mut beyond[1].entry {
        intent.step = StepId(50);
    }
    assert_eq!(replay(&beyond), Err(ReplayError::NoSuchStep { sequence: 1, step: StepId(50) }));
    let mut other = tree();
    other.create("e", &[]);
    assert!(matches!(Operation::replay(other.spec(), &whole.journal), Err(ReplayError::OtherPlan { .. })));
}
