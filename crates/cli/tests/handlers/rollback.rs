//! Rollback (seed 4, "Rollback on a Failed Deploy") of objects behind a handler.

use crate::common::text;
use crate::world::{World, one};
use formwork_example_handler::Deed;
use serde_json::{Value, json};

/// A chain of channels, whose last is a provider that the platform refuses.
fn chain(policy: &str) -> Value {
    let channel = |name: &str, more: &Value| {
        let mut declared = json!({ "type": "channel", "properties": { "name": name, "kind": "sms" } });
        for (key, value) in more.as_object().into_iter().flatten() {
            declared[key] = value.clone();
        }
        declared
    };
    json!({ "resources": {
        "First": channel("first", &json!({ "deletion_policy": policy })),
        "Second": channel("second", &json!({ "depends_on": ["First"] })),
        "Third": channel("third", &json!({ "depends_on": ["Second"] })),
        "Bad": {
            "type": "ai_provider", "depends_on": ["Third"],
            "properties": { "name": "p", "provider": "openai", "default_model": "m", "secret_id": "sec_missing" },
        },
    } })
}

fn corrected(policy: &str) -> Value {
    let mut template = chain(policy);
    template["resources"]["Bad"]["properties"]["secret_id"] = Value::Null;
    template
}

#[test]
fn what_was_made_goes_in_reverse_order_after_the_failure() {
    let world = World::new();
    let failed = world.create("s", &chain("delete")).exits(1).json();
    let id = text(&failed, "id");
    let bad = "Bad create failed -: Secret not found: sec_missing";
    let events = world.events(id);
    let expected = [
        "First create succeeded chan_1",
        "Second create succeeded chan_2",
        "Third create succeeded chan_3",
        bad,
        "Third rollback succeeded chan_3",
        "Second rollback succeeded chan_2",
        "First rollback succeeded chan_1",
    ];
    assert_eq!(events, expected);
    assert!(world.channels().is_empty());
    world.update(id, &corrected("delete")).ok();
    assert_eq!(world.channels().len(), 3, "from scratch");
}

#[test]
fn a_rollback_that_fails_is_reported_and_the_first_error_stays() {
    let world = World::new();
    world.hold("chan_2");
    let failed = world.create("s", &chain("delete")).exits(1).json();
    let id = text(&failed, "id");
    let error = json!({
        "code": "SECRET_NOT_FOUND", "message": "Secret not found: sec_missing",
        "meta": { "logical_id": "Bad", "resource_type": "ai_provider" },
    });
    assert_eq!(failed["error"], error);
    let operations = world.home.json(&["list-formation-events", id]);
    assert_eq!(operations["data"][0]["error"], error);
    let events = world.events(id);
    let told = events.iter().find(|event| event.starts_with("Second rollback failed chan_2"));
    assert!(told.is_some_and(|told| told.contains("it is still in use (HTTP 409)")), "{events:?}");
    let rows = failed["resources"].as_array().expect("rows");
    let second = rows.iter().find(|row| row["logical_id"] == "Second").expect("a row");
    assert_eq!(
        second["physical_resource_id"], "chan_2",
        "it can be cleaned up by hand, or by the next deploy"
    );
    world.update(id, &corrected("delete")).ok();
    let asked = world.changes_asked();
    assert_eq!(world.channels().len(), 3, "none is there twice: {asked:?}");
    world.home.run(&["delete-formation", id]).ok();
    assert!(world.channels().is_empty());
}

#[test]
fn what_is_retained_survives_and_is_adopted_by_the_next_deploy() {
    let world = World::new();
    let failed = world.create("s", &chain("retain")).exits(1).json();
    let id = text(&failed, "id");
    assert!(
        world.events(id).contains(&"First rollback-skipped succeeded chan_1".to_owned()),
        "{:?}",
        world.events(id)
    );
    assert_eq!(world.channels(), ["chan_1"]);
    world.update(id, &corrected("retain")).ok();
    assert_eq!(world.channels().len(), 3);
    let created = world.changes_asked().into_iter().filter(|asked| asked == "create").count();
    assert_eq!(created, 5, "the first was not made again");
    world.home.run(&["delete-formation", id]).ok();
    assert_eq!(world.channels(), ["chan_1"]);
}

#[test]
fn an_updated_resource_keeps_its_new_state() {
    let world = World::new();
    let id = world.deployed(&one("a", "sms"));
    let mut next = one("b", "sms");
    next["resources"]["Bad"] = json!({
        "type": "ai_provider", "depends_on": ["Chan"],
        "properties": { "name": "p", "provider": "openai", "default_model": "m", "secret_id": "sec_missing" },
    });
    world.update(&id, &next).exits(1);
    assert_eq!(world.handler.channels()["chan_1"].properties["name"], "b");
    assert!(
        world.events(&id).iter().all(|event| !event.starts_with("Chan rollback")),
        "{:?}",
        world.events(&id)
    );
}

/// Where nobody can tell whether a create had its effect, what it may refer to has to stay, and the
/// history says so; what it has nothing to do with goes as ever.
#[test]
fn an_unknown_outcome_keeps_what_it_may_refer_to_and_nothing_else() {
    let world = World::with(|entry| entry["handler"]["timeout_seconds"] = json!(1));
    let memory = |name: &str| json!({ "type": "memory", "properties": { "name": name } });
    let template = json!({ "resources": {
        "Before": memory("before"), "Used": memory("used"), "Other": memory("other"),
        "Chan": { "type": "channel", "depends_on": ["Before"], "properties": {
            "name": "a", "kind": "sms", "agent_id": { "ref": "Used" },
        } },
    } });
    world.misbehave("create", true, Deed::Hang);
    let failed = world.create("s", &template).exits(1).json();
    let id = text(&failed, "id");
    let operations = world.home.json(&["list-formation-events", id]);
    let events = operations["data"][0]["events"].as_array().expect("events");
    let after: Vec<_> =
        events.iter().skip(4).map(|event| (text(event, "logical_id"), text(event, "action"))).collect();
    assert_eq!(after, [("Other", "rollback"), ("Used", "rollback-skipped"), ("Before", "rollback-skipped")]);
    let why = "kept, because `Chan` may have been created, and would refer to it.";
    assert!(
        events[5..].iter().all(|event| event["note"] == why && event["status"] == "succeeded"),
        "{events:#?}"
    );
    world.update(id, &template).ok();
    assert_eq!(world.channels(), ["chan_1"]);
    world.home.run(&["delete-formation", id]).ok();
    assert!(world.channels().is_empty());
}
