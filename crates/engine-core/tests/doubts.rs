//! What is known, and what is not, once a call may have had an effect.

mod support;

use formwork_model::{
    Action, Certainty, Condition, Inputs, LookupRule, OperationErrorCode as Code, OperationStatus, Patch,
    RefPath, RowRef, RowStatus, StepId,
};
use serde_json::json;
use support::{Provider, Reply, Run, World, reference};

fn certainty(run: &Run, label: &str) -> Option<Certainty> {
    run.row(label).current.as_ref().map(|object| object.certainty)
}

#[test]
fn a_refusal_after_an_attempt_of_unknown_outcome_leaves_the_object_uncertain() {
    for code in [Code::InvalidRequest, Code::AccessDenied] {
        let replies = [Reply::Lost, Reply::Fail(Code::Throttling), Reply::Fail(code)];
        let mut world = World::new();
        world.create("a", &[]);
        world.create("bad", &[0]);
        let provider = Provider::default()
            .on("bad", "create", &[Reply::Fail(Code::InvalidRequest)])
            .on("a", "undo", &replies);
        let run = world.run(provider);
        assert_eq!(certainty(&run, "a"), Some(Certainty::Uncertain), "undo, {code}");

        for verb in ["update", "delete"] {
            let mut world = World::new();
            let row = world.existing("a", json!({"size": 1}));
            match verb {
                "update" => world.update("a", &row, json!({"size": 2}), &[]),
                _ => world.delete("a", &row, &[]),
            };
            let run = world.run(Provider::of(&world).on("a", verb, &replies));
            assert_eq!(certainty(&run, "a"), Some(Certainty::Uncertain), "{verb}, {code}");
            assert_eq!(run.row("a").intent, None);
        }
    }
}

#[test]
fn a_refusal_of_the_only_attempt_says_that_nothing_happened() {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    world.delete("a", &row, &[]);
    let replies = [Reply::Fail(Code::Throttling), Reply::Fail(Code::AccessDenied)];
    let run = world.run(Provider::of(&world).on("a", "delete", &replies));
    assert_eq!(certainty(&run, "a"), Some(Certainty::Certain));
}

#[test]
fn a_create_in_doubt_is_asked_about_again_after_a_denial() {
    let mut world = World::new();
    world.create("a", &[]);
    let replies = [Reply::Lost, Reply::Fail(Code::NotFound)];
    let run = world.run(Provider::default().on("a", "create", &replies));
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.provider.attempts.len(), 3);
}

#[test]
fn an_update_that_finds_nothing_proves_the_object_gone_where_nothing_can_be_read() {
    let gone = |read: bool| {
        let mut world = World::new().with(|found| found.read = read);
        let row = world.existing("a", json!({"size": 1}));
        world.update("a", &row, json!({"size": 2}), &[]);
        world.run(Provider::of(&world).on("a", "update", &[Reply::Fail(Code::NotFound)]))
    };
    let run = gone(false);
    assert_eq!(run.row("a").current, None, "so that the next plan makes it again");
    assert_eq!(run.row("a").status, RowStatus::Failed);
    let failure = run.row("a").failure.as_ref().expect("it failed");
    assert_eq!(failure.code, "NOT_FOUND");
    assert_eq!(
        failure.message,
        "`a` was deleted outside, and the next plan makes it again: provider says NOT_FOUND"
    );
    assert!(gone(true).row("a").current.is_some(), "a look tells more");
}

#[test]
fn an_update_that_finds_nothing_after_a_lost_attempt_proves_it_too() {
    let mut world = World::new().with(|found| found.read = false);
    let row = world.existing("a", json!({"size": 1}));
    world.update("a", &row, json!({"size": 2}), &[]);
    let replies = [Reply::Lost, Reply::Fail(Code::NotFound)];
    let run = world.run(Provider::of(&world).on("a", "update", &replies));
    assert_eq!(run.row("a").current, None);
}

#[test]
fn a_condition_that_does_not_hold_still_settles_what_an_uncertain_object_is() {
    let run = |seen: &str| {
        let mut world = World::new();
        let first = world.existing("a", json!({"size": 1}));
        world.update("a", &first, json!({"size": 2}), &[]);
        let second = world.existing("b", json!({"ref0": "a-0"}));
        let guard = world.guard(&second, true);
        let on = world.steps[0].clone();
        let step = world.add("b", second, Action::Update, &[0]);
        step.when = Condition::RefChanged(vec![(StepId(0), RefPath::NativeId)]);
        step.inputs = Some(Inputs::object([("ref0".into(), reference(&on))].into_iter().collect()));
        step.guard = guard;
        step.patch = Patch::AtRuntime;
        world.rows[1].current.as_mut().expect("its object").certainty = Certainty::Uncertain;
        let mut provider = Provider::of(&world);
        provider.objects.insert("b-0".to_owned(), json!({ "ref0": seen }));
        world.run(provider)
    };
    let same = run("a-0");
    assert_eq!(same.provider.log, ["update a-0"], "nothing is sent");
    assert_eq!(certainty(&same, "b"), Some(Certainty::Certain));
    let other = run("elsewhere");
    assert_eq!(other.status(), (OperationStatus::Succeeded, None));
    assert_eq!(certainty(&other, "b"), Some(Certainty::Uncertain));
}

/// INV-13: a person may point at another object than the one that the call made. What differs must
/// not pass for sent, or no plan would ever show it.
#[test]
fn an_adopted_object_counts_as_what_it_is_seen_to_be() {
    let adopted = |seen: serde_json::Value| {
        let mut world = World::new().with(|found| found.lookup = LookupRule::None);
        world.create("a", &[]);
        let run = world.run(Provider::default().on("a", "create", &[Reply::EffectThenLost]));
        let mut next = World::new().with(|found| found.lookup = LookupRule::None);
        let row = run.row("a").clone();
        let reference = RowRef::Existing(row.id.clone());
        next.rows.push(row);
        next.add("a", reference.clone(), Action::Resolve, &[]);
        let create = next.add("a", reference, Action::Create, &[0]);
        create.inputs = Some(Inputs::Plain(json!({"name": "a"})));
        create.patch = Patch::AtRuntime;
        next.run_decided(run.provider, StepId(0), Some(("a-7".into(), seen.into())))
    };
    let right = adopted(json!({"name": "a", "colour": "grey"}));
    assert_eq!(right.status(), (OperationStatus::Succeeded, None));
    assert_eq!(certainty(&right, "a"), Some(Certainty::Certain));

    for seen in [json!({"name": "other"}), json!({"colour": "grey"})] {
        let wrong = adopted(seen.clone());
        let (status, failure) = wrong.status();
        assert_eq!(status, OperationStatus::Failed, "the plan said create, and it takes a change");
        assert_eq!(failure.map(|failure| failure.code).as_deref(), Some("DRIFTED"));
        let object = wrong.row("a").current.as_ref().expect("it is the row's now");
        assert_eq!(object.sent.comparable().get("name"), seen.get("name"), "so that a plan sees it");
        assert_eq!(object.certainty, Certainty::Uncertain);
    }
}
