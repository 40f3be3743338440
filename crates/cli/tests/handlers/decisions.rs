//! A create whose outcome is not known: a person decides, and no second object comes of it.

use crate::common::{Ran, text, wait_for};
use crate::world::{World, one};
use formwork_example_handler::Deed;
use serde_json::json;

/// A world in which a create was never answered; and its formation.
pub(crate) fn in_doubt(act: bool) -> (World, String) {
    let world = World::with(|entry| entry["handler"]["timeout_seconds"] = json!(1));
    world.misbehave("create", act, Deed::Hang);
    let failed = world.create("s", &one("a", "sms")).exits(1).json();
    assert_eq!(failed["error"]["code"], "FORMATION_HANDLER_FAILED");
    assert!(text(&failed["error"], "message").starts_with("Whether `Chan` was created is not known: "));
    let id = text(&failed, "id").to_owned();
    (world, id)
}

/// Decides, as soon as the call can no longer take effect.
pub(crate) fn decide(world: &World, arguments: &[&str]) -> Ran {
    let mut last = None;
    wait_for("the decision to be allowed", || {
        let ran = world.home.run(arguments);
        let allowed = ran.code == Some(0);
        last = Some(ran);
        allowed
    });
    last.expect("it ran")
}

fn create_keys(world: &World) -> Vec<String> {
    let creates = world.handler.seen().into_iter().filter(|seen| seen.operation == "create");
    creates.map(|seen| seen.key).collect()
}

#[test]
fn a_deploy_that_is_run_again_repeats_the_create_under_its_key() {
    for act in [true, false] {
        let (world, id) = in_doubt(act);
        let formation = world.update(&id, &one("a", "sms")).ok().json();
        assert_eq!(formation["status"], "active");
        assert_eq!(world.channels(), ["chan_1"], "INV-2");
        let keys = create_keys(&world);
        assert_eq!(keys.len(), 2);
        assert_eq!(keys[0], keys[1]);
    }
}

#[test]
fn a_discarded_create_comes_again_under_its_key_and_finds_what_it_made() {
    let (world, id) = in_doubt(true);
    let update = ["update-formation", "--formation-id", &id, "--discard", "Chan"];
    let formation = decide(&world, &update).json();
    assert_eq!(formation["status"], "active");
    assert_eq!(world.channels(), ["chan_1"], "INV-2");
    let keys = create_keys(&world);
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
    world.home.run(&["delete-formation", &id]).ok();
    assert!(world.channels().is_empty());
}

#[test]
fn an_adopted_object_is_the_resources_from_then_on() {
    let (world, id) = in_doubt(true);
    let update = ["update-formation", "--formation-id", &id, "--adopt", "Chan=chan_1"];
    let formation = decide(&world, &update).json();
    assert_eq!(world.events(&id)[..1], ["Chan decide succeeded chan_1".to_owned()]);
    assert_eq!(formation["resources"][0]["physical_resource_id"], "chan_1");
    assert_eq!(world.channels(), ["chan_1"], "INV-2");
    assert_eq!(create_keys(&world).len(), 1, "what a person decided is not asked again");
    world.update(&id, &one("b", "sms")).ok();
    assert_eq!(world.handler.channels()["chan_1"].properties["name"], "b");
}

#[test]
fn a_teardown_can_discard_what_was_never_made() {
    let (world, id) = in_doubt(false);
    decide(&world, &["delete-formation", &id, "--discard", "Chan"]);
    assert!(world.channels().is_empty());
    assert_eq!(create_keys(&world).len(), 1, "what a person decided is not asked again");
}

#[test]
fn what_another_formation_has_cannot_be_adopted() {
    let (world, id) = in_doubt(false);
    let other = text(&world.create("other", &one("b", "sms")).ok().json(), "id").to_owned();
    let has = world.channels();
    let adopt = format!("Chan={}", has[0]);
    let update = ["update-formation", "--formation-id", &id, "--adopt", &adopt];
    let mut refusal = String::new();
    wait_for("the decision to be looked at", || {
        let ran = world.home.run(&update).exits(1);
        let early = ran.stderr.contains("It is too early");
        refusal = ran.stderr;
        !early
    });
    assert!(refusal.contains("'Chan' can't adopt the object: another resource has it."), "{refusal}");
    assert!(!refusal.contains(&other), "whose it is, is not for everybody to know");
    assert_eq!(world.channels(), has);
    // Once nobody has it any more, it is free.
    world.home.run(&["delete-formation", &other]).ok();
    let update = ["update-formation", "--formation-id", &id, "--discard", "Chan"];
    decide(&world, &update);
}

#[test]
fn a_decision_says_who_made_it() {
    let (world, id) = in_doubt(false);
    let update = ["update-formation", "--formation-id", &id, "--discard", "Chan"];
    decide(&world, &update);
    let operations = world.home.json(&["list-formation-events", &id, "--limit", "100"]);
    let last = operations["data"].as_array().and_then(|all| all.last()).expect("an operation").clone();
    let decided = last["events"].as_array().expect("a list").iter().find(|event| event["action"] == "decide");
    let decided = decided.unwrap_or_else(|| panic!("no decision in {last}"));
    assert_eq!(text(decided, "logical_id"), "Chan");
    assert_eq!(text(decided, "note"), "discarded by token_local_admin");
    assert!(decided["timestamp"].is_string() && decided["physical_resource_id"].is_null(), "{decided}");
}
