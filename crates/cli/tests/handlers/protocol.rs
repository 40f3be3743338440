//! What reaches a handler: who is asked for what, under which key, and when it is left in peace.

use crate::common::text;
use crate::world::{CANARY, World, one};
use formwork_example_handler::{Deed, Seen};
use serde_json::{Value, json};

fn of<'s>(seen: &'s [Seen], operation: &str) -> Vec<&'s Seen> {
    seen.iter().filter(|seen| seen.operation == operation).collect()
}

#[test]
fn every_request_names_the_resource_its_project_and_its_object() {
    let world = World::new();
    let id = world.deployed(&one("a", "sms"));
    world.update(&id, &one("b", "sms")).ok();
    world.home.run(&["delete-formation", &id]).ok();
    let seen = world.handler.seen();
    let project = text(&world.home.json(&["list-projects"])["data"][0], "id").to_owned();
    for request in &seen {
        let is_validation = request.operation == "validate";
        assert_eq!(request.logical_id, "Chan", "{request:?}");
        assert_eq!(request.project, if is_validation { "" } else { project.as_str() }, "{request:?}");
        let names_object = matches!(request.operation.as_str(), "update" | "delete" | "read");
        assert_eq!(request.id, if names_object { "chan_1" } else { "" }, "{request:?}");
        let brings_properties = matches!(request.operation.as_str(), "create" | "update" | "validate");
        assert_eq!(!request.properties.is_empty(), brings_properties, "{request:?}");
        assert_eq!(request.key.len(), 64);
    }
    assert_eq!(world.changes_asked(), ["create", "update chan_1", "delete chan_1"]);
    assert!(world.channels().is_empty());
}

#[test]
fn a_key_is_that_of_the_deed_repeated_and_of_no_other() {
    let world = World::new();
    world.misbehave("create", false, Deed::Fail { status: 422, message: Some("no".to_owned()) });
    let failed = world.create("s", &one("a", "sms")).exits(1).json();
    let id = text(&failed, "id");
    world.update(id, &one("a", "sms")).ok();
    // Back and forth: three different updates.
    for name in ["b", "a", "b"] {
        world.update(id, &one(name, "sms")).ok();
    }
    let seen = world.handler.seen();
    let creates = of(&seen, "create");
    assert_eq!(creates[0].key, creates[1].key, "the repetition of a failed deploy");
    let keys: Vec<_> = of(&seen, "update").iter().map(|seen| &seen.key).collect();
    assert_eq!(keys.len(), 3);
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    assert_eq!(world.handler.channels()["chan_1"].properties["name"], "b", "each was carried out");
}

#[test]
fn a_create_that_was_rolled_back_is_made_again_under_another_key() {
    let world = World::new();
    let mut template = one("a", "sms");
    let failing = json!({
        "type": "ai_provider", "depends_on": ["Chan"],
        "properties": { "name": "p", "provider": "openai", "default_model": "m", "secret_id": "sec_AAAAAAAAAAAAAAAA" },
    });
    template["resources"]["After"] = failing;
    let id = text(&world.create("s", &template).exits(1).json(), "id").to_owned();
    assert!(world.channels().is_empty(), "it was rolled back");
    world.update(&id, &one("a", "sms")).ok();
    let seen = world.handler.seen();
    let creates = of(&seen, "create");
    assert_eq!(creates.len(), 2);
    assert_ne!(creates[0].key, creates[1].key, "else the handler would answer with what is gone");
    assert_eq!(world.channels().len(), 1);
    world.home.run(&["delete-formation", &id]).ok();
    assert!(world.channels().is_empty());
}

#[test]
fn an_unchanged_resource_is_only_read_and_drift_is_healed() {
    let world = World::new();
    let id = world.deployed(&one("a", "sms"));
    world.update(&id, &one("a", "sms")).ok();
    assert_eq!(world.changes_asked(), ["create"]);
    world.handler.meddle("chan_1", "name", json!("z"));
    world.handler.meddle("chan_1", "colour", json!("red"));
    world.home.write("template.json", one("a", "sms").to_string());
    let plan =
        world.home.json(&["plan-formation", "--formation-id", &id, "--template-file", "template.json"]);
    let change = &plan["changes"][0];
    assert_eq!(change["action"], "update");
    assert_eq!(change["diff"]["current"], json!({ "name": "z", "kind": "sms" }), "only what the type has");
    world.update(&id, &one("a", "sms")).ok();
    assert_eq!(world.handler.channels()["chan_1"].properties["name"], "a");
    world.update(&id, &one("a", "sms")).ok();
    assert_eq!(world.changes_asked(), ["create", "update chan_1"]);
}

#[test]
fn what_is_gone_is_made_again() {
    let world = World::new();
    let id = world.deployed(&one("a", "sms"));
    world.misbehave("read", false, Deed::Forget);
    world.update(&id, &one("a", "sms")).ok();
    assert_eq!(world.channels(), ["chan_2"]);
    assert_eq!(world.changes_asked(), ["create", "create"]);
}

#[test]
fn a_type_without_read_is_never_read_and_shows_no_drift() {
    let world = World::with(|entry| entry["capabilities"] = json!([]));
    let mut template = one("a", "sms");
    template["outputs"] = json!({ "Inbox": { "ref_attr": "Chan.inbox_url" } });
    let deployed = world.create("s", &template).ok().json();
    let id = text(&deployed, "id");
    assert_eq!(deployed["outputs"]["Inbox"], "https://channels.example/chan_1");
    world.handler.meddle("chan_1", "name", json!("z"));
    world.update(id, &template).ok();
    assert_eq!(world.asked(), ["create"]);
}

#[test]
fn outputs_are_those_that_a_read_answers_and_only_texts() {
    let world = World::new();
    let mut template = one("a", "sms");
    template["outputs"] = json!({
        "Inbox": { "ref_attr": "Chan.inbox_url" },
        "Shards": { "ref_attr": "Chan.shards" },
        "Nothing": { "ref_attr": "Chan.nothing" },
        "Id": { "ref": "Chan" },
    });
    let deployed = world.create("s", &template).ok().json();
    assert_eq!(deployed["outputs"], json!({ "Inbox": "https://channels.example/chan_1", "Id": "chan_1" }));
}

#[test]
fn a_write_only_property_is_always_sent_and_never_kept() {
    let world = World::new();
    let mut template = one("a", "sms");
    template["resources"]["Chan"]["properties"]["access_token"] = json!(CANARY);
    let id = world.deployed(&template);
    world.update(&id, &template).ok();
    assert_eq!(world.changes_asked(), ["create", "update chan_1"]);
    let seen = world.handler.seen();
    for request in [of(&seen, "create")[0], of(&seen, "update")[0]] {
        assert!(request.properties.contains(&"access_token".to_owned()));
    }
    let shown = world.home.run(&["get-formation", &id]).ok();
    let masked = json!({ "no_echo": true });
    assert_eq!(shown.json()["template"]["resources"]["Chan"]["properties"]["access_token"], masked);
    let plan = ["plan-formation", "--formation-id", &id, "--template-file", "template.json"];
    let plan = world.home.run(&plan).ok();
    assert_eq!(plan.json()["changes"][0]["action"], "update");
    assert_eq!(plan.json()["changes"][0]["diff"]["desired"]["access_token"], masked);
    assert!(!plan.stdout.contains(CANARY) && !shown.stdout.contains(CANARY));
    // A handler that answers with it puts it nowhere.
    world.handler.meddle("chan_1", "access_token", json!(CANARY));
    world.update(&id, &template).ok();
    world.assert_no_canary();
}

#[test]
fn a_kept_write_only_property_is_left_out_of_an_update() {
    let world = World::new();
    let mut template = one("a", "sms");
    template["parameters"] =
        json!({ "Token": { "type": "string", "no_echo": true, "use_previous_value": true } });
    template["resources"]["Chan"]["properties"]["access_token"] = json!({ "param": "Token" });
    world.home.write("template.json", template.to_string());
    let create = ["create-formation", "--name", "s", "--template-file", "template.json"];
    let token = format!("Token={CANARY}");
    let ran = world.home.run(&[&create[..], &["--parameter", &token]].concat()).ok();
    let id = text(&ran.json(), "id").to_owned();
    world.update(&id, &template).ok();
    assert_eq!(world.changes_asked(), ["create"], "nothing else changed");
    template["resources"]["Chan"]["properties"]["name"] = json!("b");
    world.update(&id, &template).ok();
    let seen = world.handler.seen();
    assert_eq!(of(&seen, "update")[0].properties, ["name", "kind"]);
    world.assert_no_canary();
}

#[test]
fn a_handler_that_is_not_there_made_nothing() {
    let world = World::with(|entry| {
        entry["handler"]["url"] = json!("http://127.0.0.1:1/");
        entry["capabilities"] = json!([]);
    });
    let failed = world.create("s", &one("a", "sms")).exits(1).json();
    assert_eq!(failed["error"]["code"], "FORMATION_HANDLER_FAILED");
    let message = text(&failed["error"], "message");
    assert!(
        message.starts_with("Formation handler for 'channel' failed on create: request failed: "),
        "{message}"
    );
    assert_eq!(failed["error"]["meta"]["request_type"], "create");
    world.home.run(&["delete-formation", text(&failed, "id")]).ok();
}

#[test]
fn a_handler_that_does_not_believe_us_says_so() {
    let mut world = World::new();
    world.home.set("CHANNEL_SECRET", "another");
    let ran = world.create("s", &one("a", "sms")).exits(1);
    assert!(
        ran.stderr
            .contains("Formation handler for 'channel' failed on validate: invalid signature (HTTP 401)"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.asked(), Vec::<String>::new());
}

#[test]
fn a_refusal_is_relayed_verbatim_and_without_the_credential() {
    let world = World::new();
    let words = format!("“{CANARY}” is\nno token 🤷");
    world.misbehave("create", false, Deed::Fail { status: 422, message: Some(words) });
    let mut template = one("a", "sms");
    template["resources"]["Chan"]["properties"]["access_token"] = json!(CANARY);
    let failed = world.create("s", &template).exits(1);
    let body: Value = failed.json();
    let message = text(&body["error"], "message");
    assert!(message.contains("is\nno token 🤷 (HTTP 422)"), "{message}");
    assert!(!failed.stdout.contains(CANARY) && !failed.stderr.contains(CANARY));
    world.assert_no_canary();
}

#[test]
fn a_secret_that_an_earlier_deploy_sent_is_taken_out_of_what_the_handler_says() {
    let world = World::new();
    let with = |token: &str| {
        let properties = json!({ "name": "a", "kind": "sms", "access_token": token });
        json!({ "resources": { "Chan": { "type": "channel", "properties": properties } } })
    };
    let says = |on: &str| {
        let message = Some(format!("the token {CANARY} was revoked, and '{CANARY}' can't come back"));
        world.misbehave(on, false, Deed::Fail { status: 422, message });
    };
    let id = world.deployed(&with(CANARY));
    // The operation itself knows only the new one.
    says("update");
    let failed = world.update(&id, &with("another-one-77")).exits(1);
    assert!(
        failed.stdout.contains("the token (secret) was revoked, and '(secret)' can't"),
        "{}",
        failed.stdout
    );
    assert!(!failed.stdout.contains(CANARY) && !failed.stderr.contains(CANARY));
    // A teardown brings none at all.
    says("delete");
    let failed = world.home.run(&["delete-formation", &id]).exits(1);
    assert!(!failed.stdout.contains(CANARY) && !failed.stderr.contains(CANARY), "{}", failed.stderr);
    world.assert_no_canary();
}
