//! SIGKILL while a handler is being asked: the next process goes on from what was written down, and
//! nothing is asked for twice of which the outcome is not known.

use crate::common::{Agent, finish, text, wait_for};
use crate::decisions::{decide, in_doubt};
use crate::golden;
use crate::world::{World, one, scrubbed};
use formwork_example_handler::Deed;
use serde_json::{Value, json};

/// Kills the process that carries a command out, at the moment when the handler has been asked.
fn killed_during(world: &World, operation: &str, act: bool, arguments: &[&str]) {
    let before = world.asked().iter().filter(|asked| asked.starts_with(operation)).count();
    let asked = || world.asked().iter().filter(|asked| asked.starts_with(operation)).count() > before;
    world.misbehave(operation, act, Deed::Hang);
    let mut child = world.home.command(arguments).spawn().expect("it starts");
    wait_for("the handler to be asked, or the command to end", || {
        asked() || child.try_wait().is_ok_and(|ended| ended.is_some())
    });
    // It may have ended by itself; then what it said is why.
    let _ = child.kill();
    let ran = finish(child);
    assert!(asked(), "the handler was not asked to {operation}: {}", ran.stderr);
    world.handler.behave();
}

/// Lets another process take over, and waits until nothing runs any more.
fn recovered(world: &World, formation: &str) -> Agent {
    let agent = world.home.agent();
    wait_for("the operation to end", || {
        let status = text(&world.home.json(&["get-formation", formation]), "status").to_owned();
        !matches!(status.as_str(), "creating" | "updating" | "deleting")
    });
    agent
}

fn only_formation(world: &World) -> String {
    text(&world.home.json(&["list-formations"])["data"][0], "id").to_owned()
}

fn after(world: &World, id: &str) -> String {
    let text = format!(
        "asked\n  {}\n{}\nchannels {}",
        world.changes_asked().join("\n  "),
        world.shown(id),
        world.channels().join(" ")
    );
    scrubbed(&text)
}

#[test]
fn a_create_that_was_cut_off_is_repeated_by_a_person_and_by_nobody_else() {
    let world = World::new();
    world.home.write("template.json", one("a", "sms").to_string());
    let create = ["create-formation", "--name", "s", "--template-file", "template.json"];
    killed_during(&world, "create", true, &create);
    let id = only_formation(&world);
    let agent = recovered(&world, &id);
    golden!("killed create", after(&world, &id));
    assert_eq!(world.changes_asked(), ["create"], "recovery repeats nothing");
    drop(agent);
    world.update(&id, &one("a", "sms")).ok();
    assert_eq!(world.changes_asked(), ["create", "create"]);
    assert_eq!(world.channels(), ["chan_1"], "INV-2");
}

/// The handler was asked and did nothing: the repetition makes the one object that there is.
#[test]
fn a_create_that_was_cut_off_without_effect_is_made_once() {
    let world = World::new();
    world.home.write("template.json", one("a", "sms").to_string());
    let create = ["create-formation", "--name", "s", "--template-file", "template.json"];
    killed_during(&world, "create", false, &create);
    let id = only_formation(&world);
    drop(recovered(&world, &id));
    assert_eq!(world.changes_asked(), ["create"], "recovery repeats nothing");
    world.update(&id, &one("a", "sms")).ok();
    assert_eq!(world.channels(), ["chan_1"], "INV-2");
    let keys: Vec<_> = world.handler.seen().into_iter().filter(|seen| seen.operation == "create").collect();
    assert_eq!((keys.len(), &keys[0].key), (2, &keys[1].key));
    world.home.run(&["delete-formation", &id]).ok();
    assert!(world.channels().is_empty());
}

/// Killed while it takes back what it made: another process goes on with that.
#[test]
fn a_rollback_that_was_cut_off_is_finished_by_another() {
    for act in [true, false] {
        let world = World::new();
        let mut template = one("a", "sms");
        template["resources"]["Bad"] = json!({
            "type": "ai_provider", "depends_on": ["Chan"],
            "properties": { "name": "p", "provider": "openai", "default_model": "m", "secret_id": "sec_missing" },
        });
        world.home.write("template.json", template.to_string());
        let create = ["create-formation", "--name", "s", "--template-file", "template.json"];
        killed_during(&world, "delete", act, &create);
        let id = only_formation(&world);
        drop(recovered(&world, &id));
        let shown = world.home.json(&["get-formation", &id]);
        assert_eq!(
            (&shown["status"], &shown["error"]["code"]),
            (&json!("failed"), &json!("SECRET_NOT_FOUND"))
        );
        world.update(&id, &one("a", "sms")).ok();
        assert_eq!(world.channels().len(), 1, "{:?}", world.changes_asked());
        world.home.run(&["delete-formation", &id]).ok();
        assert!(world.channels().is_empty(), "{:?}", world.changes_asked());
    }
}

/// Killed while it disposes of what was replaced: the old object is not forgotten.
#[test]
fn a_disposal_that_was_cut_off_is_finished_by_another() {
    for act in [true, false] {
        let world = World::new();
        let id = world.deployed(&one("a", "sms"));
        world.home.write("template.json", one("a", "discord").to_string());
        let update = ["update-formation", "--formation-id", &id, "--template-file", "template.json"];
        killed_during(&world, "delete", act, &update);
        drop(recovered(&world, &id));
        world.update(&id, &one("a", "discord")).ok();
        assert_eq!(world.channels(), ["chan_2"], "{:?}", world.changes_asked());
        let shown = world.home.json(&["get-formation", &id]);
        assert_eq!((&shown["status"], &shown["error"]), (&json!("active"), &Value::Null));
        world.home.run(&["delete-formation", &id]).ok();
        assert!(world.channels().is_empty());
    }
}

#[test]
fn an_update_that_was_cut_off_is_healed_by_the_next() {
    for act in [true, false] {
        let world = World::new();
        let id = world.deployed(&one("a", "sms"));
        world.home.write("template.json", one("b", "sms").to_string());
        let update = ["update-formation", "--formation-id", &id, "--template-file", "template.json"];
        killed_during(&world, "update", act, &update);
        drop(recovered(&world, &id));
        world.update(&id, &one("b", "sms")).ok();
        assert_eq!(world.handler.channels()["chan_1"].properties["name"], "b");
        assert_eq!(world.channels().len(), 1);
        world.home.run(&["delete-formation", &id]).ok();
        assert!(world.channels().is_empty());
    }
}

#[test]
fn a_delete_that_was_cut_off_is_finished_by_another() {
    for act in [true, false] {
        let world = World::new();
        let id = world.deployed(&one("a", "sms"));
        killed_during(&world, "delete", act, &["delete-formation", &id]);
        let agent = world.home.agent();
        wait_for("the operation to end", || {
            let shown = world.home.run(&["get-formation", &id]);
            shown.code != Some(0) || shown.json()["status"] != "deleting"
        });
        drop(agent);
        let shown = world.home.run(&["get-formation", &id]);
        if shown.code == Some(0) {
            world.home.run(&["delete-formation", &id]).ok();
        }
        assert!(world.channels().is_empty());
    }
}

#[test]
fn a_read_or_a_validation_that_was_cut_off_leaves_nothing_behind() {
    let world = World::new();
    let id = world.deployed(&one("a", "sms"));
    world.home.write("template.json", one("b", "sms").to_string());
    let update = ["update-formation", "--formation-id", &id, "--template-file", "template.json"];
    for operation in ["read", "validate"] {
        let before: Value = world.home.json(&["get-formation", &id]);
        killed_during(&world, operation, false, &update);
        assert_eq!(world.home.json(&["get-formation", &id]), before, "{operation}");
    }
    assert_eq!(world.changes_asked(), ["create"]);
    world.update(&id, &one("b", "sms")).ok();
}

#[test]
fn a_decision_that_was_cut_off_was_made_wholly_or_not_at_all() {
    let (world, id) = in_doubt(true);
    let adopt = ["update-formation", &id, "--adopt", "Chan=chan_1"];
    // Until the call can no longer take effect, a decision is refused; then its object is looked at.
    wait_for("the decision to be allowed", || {
        let before = world.asked().len();
        world.misbehave("read", false, Deed::Hang);
        let mut child = world.home.command(&adopt).spawn().expect("it starts");
        wait_for("the object to be looked at", || {
            world.asked().len() > before || child.try_wait().is_ok_and(|ended| ended.is_some())
        });
        // It may have ended by itself.
        let _ = child.kill();
        let refused = finish(child).stderr.contains("It is too early");
        world.handler.behave();
        !refused
    });
    assert_eq!(world.home.json(&["get-formation", &id])["status"], "failed", "nothing was decided");
    assert_eq!(world.changes_asked(), ["create"]);
    // Now it is decided, and the update that follows is cut off.
    assert_eq!(decide(&world, &adopt).json()["status"], "active");
    world.home.write("template.json", one("b", "sms").to_string());
    killed_during(&world, "update", true, &["update-formation", &id, "--template-file", "template.json"]);
    drop(recovered(&world, &id));
    world.update(&id, &one("b", "sms")).ok();
    assert_eq!(world.channels(), ["chan_1"], "INV-2");
    assert_eq!(world.handler.channels()["chan_1"].properties["name"], "b");
    assert_eq!(world.changes_asked().iter().filter(|asked| *asked == "create").count(), 1);
    world.home.run(&["delete-formation", &id]).ok();
    assert!(world.channels().is_empty());
}

#[test]
fn an_import_that_was_cut_off_takes_over_once_or_not_at_all() {
    let world = World::new();
    let mut template = one("a", "sms");
    template["resources"]["Chan"]["deletion_policy"] = "retain".into();
    let first = world.deployed(&template);
    world.home.run(&["delete-formation", &first]).ok();
    assert_eq!(world.channels(), ["chan_1"], "it outlives its formation");
    let mut template = one("b", "sms");
    template["resources"]["Chan"]["import"] = "chan_1".into();
    world.home.write("template.json", template.to_string());
    let create = ["create-formation", "--name", "s", "--template-file", "template.json"];
    killed_during(&world, "read", false, &create);
    assert_eq!(world.home.json(&["list-formations"])["total"], 0, "nothing had begun");
    killed_during(&world, "update", true, &create);
    let id = only_formation(&world);
    drop(recovered(&world, &id));
    world.update(&id, &template).ok();
    assert_eq!(world.home.json(&["get-formation", &id])["resources"][0]["physical_resource_id"], "chan_1");
    assert_eq!(world.handler.channels()["chan_1"].properties["name"], "b");
    assert_eq!(world.changes_asked().iter().filter(|asked| *asked == "create").count(), 1);
    world.home.run(&["delete-formation", &id]).ok();
    assert!(world.channels().is_empty());
}
