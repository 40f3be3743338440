//! Taking over objects that exist already, against a scripted provider.

mod support;

use formwork_model::{OperationErrorCode as Code, RowStatus};
use serde_json::{Value, json};
use support::{Provider, Reply, World};

fn holding(id: &str, properties: Value) -> Provider {
    let mut provider = Provider::default();
    provider.objects.insert(id.to_owned(), properties);
    provider
}

fn world() -> (World, u32) {
    let mut world = World::new();
    let adopted = world.adopt("old", "old-0", &json!({"size": 1}), json!({"size": 2}));
    (world, adopted)
}

#[test]
fn an_object_is_adopted_and_then_changed() {
    let (world, _) = world();
    let run = world.run(holding("old-0", json!({"size": 1})));
    assert_eq!(run.ends(), ["old adopt succeeded", "old update succeeded", "operation succeeded"]);
    let object = run.row("old").current.as_ref().expect("its object");
    assert_eq!((object.native_id.as_str(), object.sent.comparable()), ("old-0", json!({"size": 2})));
    assert_eq!(run.provider.objects["old-0"], json!({"size": 2}));
}

#[test]
fn a_rollback_releases_it_and_leaves_the_object_as_it_is() {
    let (mut world, adopted) = world();
    world.create("new", &[adopted]);
    let run = world.run(holding("old-0", json!({"size": 1})).on(
        "new",
        "create",
        &[Reply::Fail(Code::InvalidRequest)],
    ));
    assert_eq!(
        run.ends(),
        [
            "old adopt succeeded",
            "old update succeeded",
            "new create failed",
            "old rollback succeeded",
            "operation failed"
        ]
    );
    let row = run.row("old");
    assert!(!row.is_live());
    assert_eq!(row.status, RowStatus::Deleted);
    assert_eq!(run.provider.objects["old-0"], json!({"size": 2}), "never deleted, and an update stays");
}

#[test]
fn one_that_cannot_be_changed_is_released_and_still_says_why() {
    let (world, _) = world();
    let run = world.run(holding("old-0", json!({"size": 1})).on(
        "old",
        "update",
        &[Reply::Fail(Code::AccessDenied)],
    ));
    let row = run.row("old");
    assert!(!row.is_live() && row.failure.is_some(), "{row:?}");
    assert_eq!(row.status, RowStatus::Failed);
    assert_eq!(run.provider.objects["old-0"], json!({"size": 1}));
}

#[test]
fn one_that_changed_or_went_since_the_plan_is_not_touched() {
    let (world, _) = world();
    let changed = world.run(holding("old-0", json!({"size": 7})));
    assert_eq!(changed.status().1.map(|failure| failure.code).as_deref(), Some("DRIFTED"));
    let gone = world.run(Provider::default());
    assert_eq!(gone.status().1.map(|failure| failure.code).as_deref(), Some("RESOURCE_NOT_FOUND"));
    for run in [changed, gone] {
        assert!(!run.row("old").is_live());
        assert!(run.provider.attempts.is_empty(), "nothing was called but the read");
    }
}
