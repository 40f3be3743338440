//! What is known, and what is not, once a call may have had an effect.

mod support;

use formwork_model::{Certainty, OperationErrorCode as Code, OperationStatus};
use serde_json::json;
use support::{Provider, Reply, Run, World};

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
