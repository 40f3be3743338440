//! Replacement (seed 4, "Replacement"): the old object goes last, and one that does not go is told
//! of until it does.

use crate::common::text;
use crate::golden;
use crate::world::{World, scrubbed};
use formwork_example_handler::Deed;
use serde_json::{Value, json};

/// A channel and another that refers to it.
fn template(kind: &str, more: &Value) -> Value {
    let mut chan = json!({ "type": "channel", "properties": { "name": "a", "kind": kind } });
    for (name, value) in more.as_object().into_iter().flatten() {
        chan[name] = value.clone();
    }
    json!({ "resources": {
        "Chan": chan,
        "Bridge": { "type": "channel", "properties": { "name": "b", "kind": "sms", "agent_id": { "ref": "Chan" } } },
    } })
}

fn after(world: &World, id: &str) -> String {
    let events = world.events(id).join("\n  ");
    let text = format!(
        "asked\n  {}\nevents\n  {events}\n{}\nchannels {}",
        world.changes_asked().join("\n  "),
        world.shown(id),
        world.channels().join(" ")
    );
    scrubbed(&text)
}

#[test]
fn dependents_are_pointed_at_the_new_object_before_the_old_one_goes() {
    let world = World::new();
    let id = world.deployed(&template("whatsapp", &json!({})));
    world.update(&id, &template("discord", &json!({}))).ok();
    golden!("replacement", after(&world, &id));
    let bridge = &world.handler.channels()["chan_2"].properties;
    assert_eq!(bridge["agent_id"], "chan_3");
    world.update(&id, &template("discord", &json!({}))).ok();
    assert_eq!(world.changes_asked().len(), 5, "nothing is left to do");
    world.home.run(&["delete-formation", &id]).ok();
    assert!(world.channels().is_empty());
}

#[test]
fn a_retained_resource_leaves_its_old_object_alive() {
    let world = World::new();
    let retain = json!({ "deletion_policy": "retain" });
    let id = world.deployed(&template("whatsapp", &retain));
    world.update(&id, &template("discord", &retain)).ok();
    golden!("retained replacement", after(&world, &id));
    assert_eq!(world.channels(), ["chan_1", "chan_2", "chan_3"]);
}

#[test]
fn an_old_object_that_does_not_go_is_told_of_and_tried_again() {
    let world = World::new();
    let id = world.deployed(&template("whatsapp", &json!({})));
    world.hold("chan_1");
    let leaked = world.update(&id, &template("discord", &json!({}))).ok().json();
    golden!("leaked replacement", after(&world, &id));
    assert_eq!(leaked["status"], "active");
    assert_eq!(leaked["error"]["code"], "FORMATION_REPLACE_CLEANUP_FAILED");
    let failure = &leaked["error"]["meta"]["failures"][0];
    assert_eq!(failure["physical_resource_id"], "chan_1");
    assert_eq!((text(failure, "logical_id"), text(failure, "resource_type")), ("Chan", "channel"));
    // It fails again, then it succeeds: without anything else to do.
    world.hold("chan_1");
    let again = world.update(&id, &template("discord", &json!({}))).ok().json();
    assert_eq!(again["error"]["code"], "FORMATION_REPLACE_CLEANUP_FAILED");
    let healed = world.update(&id, &template("discord", &json!({}))).ok().json();
    assert_eq!((&healed["status"], &healed["error"]), (&json!("active"), &Value::Null));
    assert_eq!(world.channels(), ["chan_2", "chan_3"]);
}

#[test]
fn a_teardown_tries_old_objects_again_and_never_fails_for_them() {
    let world = World::new();
    let id = world.deployed(&template("whatsapp", &json!({})));
    world.hold("chan_1");
    world.update(&id, &template("discord", &json!({}))).ok();
    world.hold("chan_1");
    world.home.run(&["delete-formation", &id]).ok();
    let asked = world.changes_asked();
    assert_eq!(asked.iter().filter(|asked| *asked == "delete chan_1").count(), 2, "{asked:?}");
    assert_eq!(world.channels(), ["chan_1"], "only what the handler does not let go is left");
}

#[test]
fn a_replacement_whose_deploy_fails_later_disposes_of_nothing_until_the_next() {
    let world = World::new();
    let id = world.deployed(&template("whatsapp", &json!({})));
    let mut failing = template("discord", &json!({}));
    failing["resources"]["After"] = json!({
        "type": "channel", "depends_on": ["Chan"], "properties": { "name": "c", "kind": "sms" },
    });
    world.misbehave("create", false, Deed::Fail { status: 422, message: Some("no".to_owned()) });
    let failed = world.update(&id, &failing).exits(1).json();
    assert_eq!(failed["status"], "failed");
    assert!(world.channels().contains(&"chan_1".to_owned()), "it was not disposed of");
    world.update(&id, &failing).ok();
    assert!(!world.channels().contains(&"chan_1".to_owned()));
    world.home.run(&["delete-formation", &id]).ok();
    assert!(world.channels().is_empty());
}
