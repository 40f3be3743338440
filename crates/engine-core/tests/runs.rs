//! Whole operations against a scripted provider.

mod support;

use formwork_engine_core::{Answer, CallId, Found, Input, WaitsFor};
use formwork_model::{
    Action, Certainty, Guard, Inputs, IntentKind, LookupRule, OnFailure, OperationErrorCode as Code,
    OperationKind, OperationStatus, Path, RetryRule, RowStatus, StepId, Undo,
};
use serde_json::json;
use support::{Provider, Reply, Run, World, failure, reference};

/// A chain `a <- b <- c` of creates.
fn chain() -> World {
    let mut world = World::new();
    world.create("a", &[]);
    world.create("b", &[0]);
    world.create("c", &[1]);
    world
}

fn code(run: &Run) -> String {
    run.status().1.map(|failure| failure.code).unwrap_or_default()
}

#[test]
fn a_deploy_creates_in_dependency_order_and_resolves_references() {
    let world = chain();
    let run = world.run(Provider::default());
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.provider.log, ["create a-1", "create b-1", "create c-1"]);
    assert_eq!(run.provider.objects["b-1"], json!({"name": "b", "ref0": "a-1"}));
    assert_eq!(run.row("b").status, RowStatus::Created);
    assert_eq!(run.row("b").generation.0, 1);
    assert_eq!(run.row("b").references, [run.row("a").id.clone()]);
    insta::assert_snapshot!(run.story().join("\n"), @r"
    operation started
    a create started
    a create succeeded
    b create started
    b create succeeded
    c create started
    c create succeeded
    operation succeeded
    ");
}

#[test]
fn a_failed_deploy_walks_back_what_it_created_newest_first() {
    let mut world = chain();
    world.create("d", &[2]);
    let provider = Provider::default().on("d", "create", &[Reply::Fail(Code::InvalidRequest)]);
    let run = world.run(provider);
    assert_eq!(run.provider.log[3..], ["undo c-1", "undo b-1", "undo a-1"]);
    assert!(run.provider.objects.is_empty());
    for label in ["a", "b", "c"] {
        assert_eq!(run.row(label).status, RowStatus::Deleted);
        assert_eq!(run.row(label).generation.0, 2);
    }
    assert_eq!(run.row("d").status, RowStatus::Failed);
    assert_eq!(run.row("d").failure, Some(failure(Code::InvalidRequest)));
    let failure = run.status().1.expect("it failed");
    assert_eq!(failure.meta, Some(json!({"logical_id": "d", "resource_type": "thing"})));
    insta::assert_snapshot!(run.ends().join("\n"), @r"
    a create succeeded
    b create succeeded
    c create succeeded
    d create failed
    c rollback succeeded
    b rollback succeeded
    a rollback succeeded
    operation failed
    ");
}

#[test]
fn rollback_leaves_what_is_retained_or_updated() {
    let mut world = World::new();
    let row = world.existing("old", json!({"size": 1}));
    world.update("old", &row, json!({"size": 2}), &[]);
    world.create("kept", &[0]).undo = Undo::KeepRetained;
    world.create("bad", &[1]);
    let provider = Provider::of(&world).on("bad", "create", &[Reply::Fail(Code::AccessDenied)]);
    let run = world.run(provider);
    assert_eq!(run.provider.log, ["update old-0", "create kept-1"]);
    assert_eq!(run.row("kept").status, RowStatus::Created);
    assert!(run.row("kept").current.is_some());
    assert_eq!(run.row("old").status, RowStatus::Updated);
    assert_eq!(run.ends()[2..], ["bad create failed", "kept rollback-skipped succeeded", "operation failed"]);
}

#[test]
fn rollback_waits_for_what_is_in_flight_and_undoes_it_too() {
    let mut world = World::new();
    world.create("slow", &[]);
    world.create("bad", &[]);
    world.create("later", &[0]);
    let provider = Provider::default().on("slow", "create", &[Reply::Slow(3)]).on(
        "bad",
        "create",
        &[Reply::Fail(Code::InvalidRequest)],
    );
    let run = world.run(provider);
    assert_eq!(run.provider.log, ["create slow-1", "undo slow-1"]);
    assert_eq!(
        run.ends(),
        ["bad create failed", "slow create succeeded", "slow rollback succeeded", "operation failed"]
    );
    assert_eq!(run.row("later").status, RowStatus::Pending);
}

#[test]
fn under_continue_only_dependents_are_skipped_and_say_why() {
    let mut world = World::new().on_failure(OnFailure::Continue);
    world.create("a", &[]);
    world.create("b", &[0]);
    world.create("c", &[1]);
    world.create("other", &[]);
    let provider = Provider::default().on("a", "create", &[Reply::Fail(Code::InvalidRequest)]);
    let run = world.run(provider);
    let mut ends = run.ends();
    ends.sort();
    assert_eq!(
        ends,
        [
            "a create failed",
            "b create skipped",
            "c create skipped",
            "operation failed",
            "other create succeeded"
        ]
    );
    let skipped = run.events.iter().rfind(|event| event.note.is_some()).expect("a skipped step");
    assert_eq!(skipped.note.as_deref(), Some("not begun, because `a` failed: provider says INVALID_REQUEST"));
}

#[test]
fn throttling_is_retried_with_the_same_token_and_growing_pauses() {
    let mut world = World::new();
    world.create("a", &[]);
    let provider = Provider::default().on("a", "create", &[Reply::Fail(Code::Throttling), Reply::Unsent]);
    let run = world.run(provider.clone());
    assert_eq!(run.status().0, OperationStatus::Succeeded);
    let times: Vec<_> = run.provider.attempts.iter().map(|(_, at)| at.0).collect();
    assert!(times[1] - times[0] >= 100 && times[2] - times[1] >= 200, "{times:?}");
    assert_eq!(run.trace(), world.run(provider.clone()).trace(), "the same seed gives the same trace");
    world.seed = 43;
    let others: Vec<_> = world.run(provider).provider.attempts.iter().map(|(_, at)| at.0).collect();
    assert_ne!(times, others, "jitter comes from the seed");
}

#[test]
fn attempts_are_bounded() {
    let mut world = World::new();
    world.create("a", &[]);
    let run = world.run(Provider::default().on("a", "create", &vec![Reply::Fail(Code::Throttling); 20]));
    assert_eq!(run.provider.attempts.len(), 6);
    assert_eq!(code(&run), "THROTTLING");
}

#[test]
fn a_type_that_is_never_retried_is_called_once() {
    for reply in
        [Reply::Fail(Code::Throttling), Reply::Unsent, Reply::Lost, Reply::Fail(Code::InternalFailure)]
    {
        let mut world = World::new().with(|found| found.retry = RetryRule::Never);
        world.create("a", &[]);
        let run = world.run(Provider::default().on("a", "create", &[reply]));
        assert_eq!(run.provider.attempts.len(), 1);
        assert_eq!(run.status().0, OperationStatus::Failed);
    }
}

#[test]
fn a_slow_create_is_polled() {
    let mut world = World::new();
    world.create("a", &[]);
    let run = world.run(Provider::default().on("a", "create", &[Reply::Slow(4)]));
    assert_eq!(run.status().0, OperationStatus::Succeeded);
    assert!(run.story().contains(&"a create waiting".to_owned()));
}

#[test]
fn a_slow_create_that_fails_for_good_fails() {
    let mut world = World::new();
    world.create("a", &[]);
    let run =
        world.run(Provider::default().on("a", "create", &[Reply::SlowThenFail(2, Code::InvalidRequest)]));
    assert_eq!(code(&run), "INVALID_REQUEST");
    assert_eq!(run.row("a").intent, None);
}

#[test]
fn a_create_that_leaves_an_object_is_undone_under_rollback() {
    let mut world = World::new();
    world.create("a", &[]);
    let run =
        world.run(Provider::default().on("a", "create", &[Reply::FailLeaving(Code::NotStabilized, "half")]));
    assert!(run.provider.objects.is_empty());
    assert_eq!(run.row("a").status, RowStatus::Failed);
    assert_eq!(run.row("a").current, None);
    assert_eq!(run.ends(), ["a create failed", "a rollback succeeded", "operation failed"]);
}

#[test]
fn a_create_that_leaves_an_object_taints_it_under_continue() {
    let mut world = World::new().on_failure(OnFailure::Continue);
    world.create("a", &[]);
    let run =
        world.run(Provider::default().on("a", "create", &[Reply::FailLeaving(Code::NotStabilized, "half")]));
    let current = run.row("a").current.as_ref().expect("the row stands for the object");
    assert_eq!(current.certainty, Certainty::Tainted);
    assert_eq!(run.row("a").generation.0, 1);
}

#[test]
fn an_ambiguous_create_with_a_token_is_repeated_and_made_once() {
    for reply in [Reply::EffectThenLost, Reply::Lost, Reply::Fail(Code::ServiceUnavailable)] {
        let mut world = World::new();
        world.create("a", &[]);
        let run = world.run(Provider::default().on("a", "create", &[reply]));
        assert_eq!(run.status().0, OperationStatus::Succeeded);
        assert_eq!(run.provider.log, ["create a-1"]);
    }
}

#[test]
fn what_a_repetition_says_is_no_word_on_the_first_call() {
    let mut world = World::new();
    world.create("a", &[]);
    let provider = Provider::default().on("a", "create", &[Reply::Lost, Reply::Fail(Code::AccessDenied)]);
    let run = world.run(provider);
    assert_eq!(code(&run), "OUTCOME_UNKNOWN");
    assert!(run.row("a").intent.is_some(), "the intent outlives the operation");
}

#[test]
fn an_ambiguous_create_is_found_by_its_unique_properties() {
    let unique =
        |world: World| world.with(|found| found.lookup = LookupRule::ByUnique(vec![Path::of(["name"])]));
    let mut world = unique(World::new());
    world.create("a", &[]);
    world.create("b", &[]);
    let run = world.run(Provider::default().on("a", "create", &[Reply::EffectThenLost]));
    assert_eq!(run.status().0, OperationStatus::Succeeded);
    assert_eq!(run.provider.attempts.len(), 2, "nothing is sent twice");
    assert_eq!(run.row("a").current.as_ref().map(|object| object.native_id.as_str()), Some("a-1"));
    assert!(run.now.0 - 1_000_000 >= 31_000, "not before `not_after` and the time to settle");

    let run = world.run(Provider::default().on("a", "create", &[Reply::Lost]));
    assert_eq!(run.status().0, OperationStatus::Succeeded, "nothing was found, so it is made again");
    assert_eq!(run.provider.log.len(), 2);
}

#[test]
fn an_ambiguous_create_is_found_by_the_native_id_it_chose() {
    let mut world = World::new().with(|found| found.lookup = LookupRule::ByNativeId(Path::of(["name"])));
    world.create("a-1", &[]).inputs = Some(Inputs::Plain(json!({"name": "a-1-1"})));
    let run = world.run(Provider::default().on("a-1", "create", &[Reply::EffectThenLost]));
    assert_eq!(run.status().0, OperationStatus::Succeeded);
    assert_eq!(run.provider.attempts.len(), 1);
}

#[test]
fn an_ambiguous_create_that_cannot_be_found_stays_unknown_until_a_person_decides() {
    let mut world = World::new().with(|found| found.lookup = LookupRule::None);
    world.create("a", &[]);
    let provider = Provider::default().on("a", "create", &[Reply::EffectThenLost]);
    let run = world.run(provider);
    assert_eq!(code(&run), "OUTCOME_UNKNOWN");
    assert_eq!(run.row("a").status, RowStatus::Failed);
    assert!(run.row("a").intent.is_some());

    let mut next = World::new().with(|found| found.lookup = LookupRule::None);
    let row = run.row("a").clone();
    let reference = formwork_model::RowRef::Existing(row.id.clone());
    next.rows.push(row);
    next.add("a", reference, Action::Resolve, &[]);
    let undecided = next.run(run.provider.clone());
    assert_eq!(code(&undecided), "OUTCOME_UNKNOWN");
    assert!(undecided.row("a").intent.is_some(), "nobody decided");

    let made = ("a-1".into(), json!({"name": "a"}).into());
    let adopted = next.run_decided(run.provider.clone(), StepId(0), Some(made));
    assert_eq!(adopted.status(), (OperationStatus::Succeeded, None));
    assert_eq!(adopted.row("a").intent, None);
    assert_eq!(adopted.row("a").current.as_ref().map(|object| object.native_id.as_str()), Some("a-1"));

    let discarded = next.run_decided(run.provider.clone(), StepId(0), None);
    assert_eq!(discarded.status(), (OperationStatus::Succeeded, None));
    assert_eq!(discarded.row("a").intent, None);
    assert!(discarded.row("a").current.is_none());
}

#[test]
fn a_late_answer_settles_what_was_thought_unknown() {
    let mut world = World::new().with(|found| found.lookup = LookupRule::None);
    world.create("a", &[]);
    world.create("slow", &[]);
    let provider =
        Provider::default().on("a", "create", &[Reply::Silence]).on("slow", "create", &[Reply::Slow(5)]);
    let mut run = Run::begin(&world, provider);
    let call = CallId { step: StepId(0), kind: IntentKind::Create, attempt: 1 };
    while run.provider.attempts.len() < 2 {
        assert!(run.turn());
    }
    run.input(Input::Answered { call, answer: Answer::Deadline });
    while run.row("a").status != RowStatus::Failed {
        assert!(run.turn());
    }
    run.input(Input::Answered {
        call,
        answer: Answer::Success { native_id: Some("a-9".into()), properties: None },
    });
    assert_eq!(run.row("a").status, RowStatus::Created);
    run.input(Input::Answered {
        call,
        answer: Answer::Success { native_id: Some("a-10".into()), properties: None },
    });
    assert_eq!(run.row("a").current.as_ref().map(|object| object.native_id.as_str()), Some("a-9"));
    run.finish();
    assert!(run.provider.log.contains(&"undo a-9".to_owned()));
}

#[test]
fn resolve_settles_the_intent_of_an_earlier_operation() {
    // First an operation whose create stays unknown, though it had its effect.
    let mut first = World::new().with(|found| found.lookup = LookupRule::ByUnique(vec![Path::of(["name"])]));
    first.limits.lookups = 0;
    first.create("a", &[]);
    let before = first.run(Provider::default().on("a", "create", &[Reply::EffectThenLost]));
    assert!(before.row("a").intent.is_some());

    let mut next = World::new().with(|found| found.lookup = LookupRule::ByUnique(vec![Path::of(["name"])]));
    let row = before.row("a").clone();
    let reference = formwork_model::RowRef::Existing(row.id.clone());
    next.rows.push(row);
    next.add("a", reference.clone(), Action::Resolve, &[]);
    let create = next.add("a", reference, Action::Create, &[0]);
    create.inputs = Some(Inputs::Plain(json!({"name": "a"})));
    let run = next.run(before.provider.clone());
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.provider.attempts.len(), 1, "what was found is not made again");
    assert_eq!(run.row("a").intent, None);
    assert_eq!(run.ends(), ["a resolve succeeded", "a record succeeded", "operation succeeded"]);

    let mut nothing = before.provider;
    nothing.objects.clear();
    let run = next.run(nothing);
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.row("a").status, RowStatus::Created);
}

#[test]
fn an_update_reads_first_and_fails_as_drifted_without_effect() {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    world.update("a", &row, json!({"size": 2}), &[]);
    let mut provider = Provider::of(&world);
    provider.objects.insert("a-0".to_owned(), json!({"size": 7}));
    let run = world.run(provider.clone());
    assert_eq!(code(&run), "DRIFTED");
    assert!(run.provider.attempts.is_empty());
    provider.objects.clear();
    assert_eq!(code(&world.run(provider)), "DRIFTED");
}

#[test]
fn deleting_what_is_gone_is_done() {
    let mut world = World::new().kind(OperationKind::Delete);
    let row = world.existing("a", json!({"size": 1}));
    world.delete("a", &row, &[]);
    let run = world.run(Provider::default());
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.row("a").status, RowStatus::Deleted);
    assert!(run.provider.attempts.is_empty());
}

#[test]
fn a_refused_update_leaves_the_object_and_an_ambiguous_one_makes_it_uncertain() {
    let mut world = World::new().with(|found| found.lookup = LookupRule::None);
    let row = world.existing("a", json!({"size": 1}));
    world.update("a", &row, json!({"size": 2}), &[]);
    let refused = world.run(Provider::of(&world).on("a", "update", &[Reply::Fail(Code::InvalidRequest)]));
    let certainty = |run: &Run| run.row("a").current.as_ref().map(|object| object.certainty);
    assert_eq!(certainty(&refused), Some(Certainty::Certain));
    assert_eq!(refused.row("a").status, RowStatus::Failed);
    for reply in [Reply::Fail(Code::InternalFailure), Reply::Lost] {
        let run = world.run(Provider::of(&world).on("a", "update", &[reply]));
        assert_eq!(certainty(&run), Some(Certainty::Uncertain));
        assert_eq!(run.row("a").intent, None);
    }
}

#[test]
fn a_retained_resource_is_forgotten_and_stays() {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    world.add("a", row, Action::Forget, &[]);
    let run = world.run(Provider::of(&world));
    assert!(run.provider.objects.contains_key("a-0"));
    assert_eq!(run.row("a").status, RowStatus::Deleted);
    assert_eq!(run.ends(), ["a delete succeeded", "operation succeeded"]);
}

#[test]
fn cancel_rolls_back_and_names_itself() {
    let mut world = chain();
    world.create("d", &[2]);
    let mut run = Run::begin(&world, Provider::default());
    while run.provider.log.len() < 2 {
        assert!(run.turn());
    }
    run.input(Input::Cancel { force: false });
    run.finish();
    assert_eq!(code(&run), "CANCELED");
    assert_eq!(run.provider.log, ["create a-1", "create b-1", "undo b-1", "undo a-1"]);
    assert!(run.provider.objects.is_empty());
}

#[test]
fn cancel_by_force_ends_at_once_and_says_what_may_stand() {
    let mut world = chain();
    let row = world.existing("old", json!({"size": 1}));
    world.update("old", &row, json!({"size": 2}), &[]);
    let provider =
        Provider::of(&world).on("b", "create", &[Reply::Silence]).on("old", "update", &[Reply::Silence]);
    let mut run = Run::begin(&world, provider);
    while run.turn() {}
    assert_eq!(run.operation.waiting(run.now).len(), 2);
    assert!(matches!(run.operation.waiting(run.now)[0].on, WaitsFor::Answer(_)));
    run.input(Input::Cancel { force: true });
    assert!(run.operation.is_finished());
    run.check();
    assert_eq!(code(&run), "CANCELED");
    assert!(run.row("a").current.is_some(), "nothing is undone");
    assert!(run.row("b").intent.is_some());
    let old = run.row("old").current.as_ref().map(|object| object.certainty);
    assert_eq!(old, Some(Certainty::Uncertain));
}

#[test]
fn cancel_gives_up_what_waits_for_another_attempt() {
    let mut world = World::new();
    world.create("a", &[]);
    let mut run =
        Run::begin(&world, Provider::default().on("a", "create", &vec![Reply::Fail(Code::Throttling); 9]));
    while !run.story().contains(&"a create waiting".to_owned()) {
        assert!(run.turn());
    }
    run.input(Input::Cancel { force: false });
    assert!(run.operation.is_finished());
    assert_eq!(run.provider.attempts.len(), 1);
}

#[test]
fn a_missing_reference_fails_the_step_and_nothing_else() {
    let mut world = World::new();
    let row = world.existing("gone", json!({}));
    world.rows[0].current = None;
    let on = world.add("gone", row, Action::NoOp, &[]).clone();
    world.create("a", &[]).inputs =
        Some(Inputs::object([("ref0".into(), reference(&on))].into_iter().collect()));
    let run = world.run(Provider::default());
    assert_eq!(run.status().1.map(|failure| failure.message).as_deref(), Some("Unresolved ref: gone"));
    assert!(run.provider.attempts.is_empty());
}

#[test]
fn a_plan_that_waits_for_itself_fails_instead_of_hanging() {
    let mut world = World::new().on_failure(OnFailure::Continue);
    world.create("a", &[]);
    world.create("b", &[0]);
    world.steps[0].after_steps = vec![StepId(1), StepId(77)];
    let run = world.run(Provider::default());
    assert_eq!(code(&run), "INTERNAL_ERROR");
}

#[test]
fn inputs_that_make_no_sense_change_nothing() {
    let world = chain();
    let mut run = Run::begin(&world, Provider::default());
    let entries = run.journal.len();
    let nonsense = CallId { step: StepId(99), kind: IntentKind::Undo, attempt: 3 };
    run.input(Input::Answered { call: nonsense, answer: Answer::Deadline });
    run.input(Input::Answered {
        call: CallId { step: StepId(0), kind: IntentKind::Create, attempt: 1 },
        answer: Answer::Success { native_id: Some("x".into()), properties: None },
    });
    run.input(Input::LookupDone { step: StepId(1), found: Found::Nothing });
    run.input(Input::PermitGranted { step: StepId(2), kind: IntentKind::Delete });
    run.input(Input::TimerDue(formwork_engine_core::TimerKey::Poll(StepId(0), IntentKind::Create)));
    assert_eq!(run.journal.len(), entries);
    run.finish();
    assert_eq!(run.status().0, OperationStatus::Succeeded);
    assert!(run.operation.handle(run.now, Input::Cancel { force: true }).is_empty());
}

#[test]
fn a_reused_tombstone_starts_afresh_under_a_new_token() {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    world.rows[0].current = None;
    world.rows[0].status = RowStatus::Deleted;
    let step = world.add("a", row, Action::Create, &[]);
    step.guard = Guard::Absent { generation: formwork_model::Generation(1) };
    step.inputs = Some(Inputs::Plain(json!({"size": 1})));
    let run = world.run(Provider::default());
    assert_eq!(run.row("a").status, RowStatus::Created);
    assert_eq!(run.row("a").generation.0, 2);
}

#[test]
fn what_was_undone_is_made_anew_though_the_same_is_sent() {
    let mut world = chain();
    world.create("bad", &[2]);
    let provider = Provider::default().on("bad", "create", &[Reply::Fail(Code::InvalidRequest)]);
    let first = world.run(provider);
    assert!(first.provider.objects.is_empty());

    let mut again = World::new();
    let row = first.row("a").clone();
    let generation = row.generation;
    let reference = formwork_model::RowRef::Existing(row.id.clone());
    again.rows.push(row);
    let step = again.add("a", reference, Action::Create, &[]);
    step.inputs = Some(Inputs::Plain(json!({"name": "a"})));
    step.guard = Guard::Absent { generation };
    // The provider remembers every token; only the generation tells this create from the first.
    let run = again.run(first.provider);
    assert_eq!(run.status().0, OperationStatus::Succeeded);
    assert_eq!(run.provider.objects.keys().collect::<Vec<_>>(), ["a-2"]);
}

#[test]
fn one_operation_on_two_stacks_rolls_back_only_the_failed_one() {
    let mut world = World::new();
    world.stacks.push(("form_2".into(), OnFailure::RollBack));
    world.create("a", &[]);
    world.create("bad", &[0]);
    world.create("other", &[]).stack = "form_2".into();
    world.create("later", &[2]).stack = "form_2".into();
    let run = world.run(Provider::default().on("bad", "create", &[Reply::Fail(Code::InvalidRequest)]));
    assert_eq!(run.provider.objects.keys().collect::<Vec<_>>(), ["later-1", "other-1"]);
    assert_eq!(run.status().0, OperationStatus::Failed);
}

#[test]
fn a_stack_that_builds_on_a_failed_one_rolls_back_too() {
    let mut world = World::new();
    world.stacks.push(("form_2".into(), OnFailure::RollBack));
    world.create("other", &[]).stack = "form_2".into();
    world.create("bad", &[]);
    world.create("on_bad", &[1]).stack = "form_2".into();
    let run = world.run(Provider::default().on("bad", "create", &[Reply::Fail(Code::InvalidRequest)]));
    assert!(run.provider.objects.is_empty());
    assert_eq!(run.row("on_bad").status, RowStatus::Pending);
}

#[test]
fn what_was_deleted_outside_is_made_again_and_leaves_nothing_behind() {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    let step = world.add("a", row, Action::Create, &[]);
    step.guard = Guard::Absent { generation: formwork_model::Generation(1) };
    step.inputs = Some(Inputs::Plain(json!({"size": 1})));
    let run = world.run(Provider::default());
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.row("a").current.as_ref().map(|object| object.native_id.as_str()), Some("a-1"));
    assert!(run.row("a").deposed.is_empty());

    let run = world.run(Provider::of(&world));
    assert_eq!(code(&run), "DRIFTED", "it is not made twice if it is there after all");
    assert!(run.provider.attempts.is_empty());
}

#[test]
fn a_teardown_of_what_was_never_made_leaves_a_tombstone() {
    let mut world = World::new().kind(OperationKind::Delete);
    let row = world.existing("a", json!({}));
    world.rows[0].current = None;
    world.add("a", row, Action::Delete { replacing: false }, &[]);
    let run = world.run(Provider::default());
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.row("a").status, RowStatus::Deleted);
}
