//! Undos that come to nothing, against a scripted provider.

mod support;

use formwork_model::OperationErrorCode as Code;
use serde_json::json;
use support::{Provider, Reply, World};

fn chain() -> World {
    let mut world = World::new();
    world.create("a", &[]);
    world.create("b", &[0]);
    world.create("c", &[1]);
    world
}

#[test]
fn what_an_object_refers_to_stays_if_its_own_undo_failed() {
    let world = chain();
    let provider = Provider::default().on("c", "create", &[Reply::Fail(Code::InvalidRequest)]).on(
        "b",
        "undo",
        &[Reply::Fail(Code::AccessDenied)],
    );
    let run = world.run(provider);
    assert_eq!(
        run.ends()[2..],
        ["c create failed", "b rollback failed", "a rollback-skipped skipped", "operation failed"]
    );
    assert!(run.row("a").current.is_some(), "`b` still refers to it");
    let skipped = run.events.iter().rfind(|event| event.note.is_some()).expect("a skipped undo");
    assert_eq!(
        skipped.note.as_deref(),
        Some("kept, because `b` could not be undone: provider says ACCESS_DENIED")
    );
    assert_eq!(run.row("b").current.as_ref().map(|object| object.native_id.as_str()), Some("b-1"));
    assert_eq!(run.status().1.map(|failure| failure.code).as_deref(), Some("INVALID_REQUEST"));
}

#[test]
fn what_a_failed_undo_holds_is_kept_all_the_way_down() {
    let mut world = World::new();
    world.create("a", &[]);
    world.create("b", &[0]);
    let row = world.existing("between", json!({"size": 1}));
    world.update("between", &row, json!({"size": 2}), &[1]);
    world.create("top", &[2]);
    world.create("free", &[]);
    world.create("bad", &[3, 4]);
    let provider = Provider::of(&world).on("bad", "create", &[Reply::Fail(Code::InvalidRequest)]).on(
        "top",
        "undo",
        &[Reply::Fail(Code::AccessDenied)],
    );
    let run = world.run(provider);
    let kept = |label: &str| run.row(label).current.is_some();
    assert!(kept("b") && kept("a"), "`top` builds on them through what is not undone");
    assert!(!kept("free"), "nothing builds on it");
    let notes: Vec<_> = run.events.iter().filter_map(|event| event.note.as_deref()).collect();
    let why = "kept, because `top` could not be undone: provider says ACCESS_DENIED";
    assert_eq!(notes.iter().filter(|note| **note == why).count(), 2, "{notes:?}");
}
