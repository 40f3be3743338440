//! Triggers and webhooks: when they fire, as whom, and what their signing secrets are.

use crate::{
    rules::{findings, object, plain, reference},
    versions::action_of,
    world::{World, caller, check, refusal, wire},
};
use formwork_model::{
    Catalog, Expr, ExprLeaf, ImmutableRule, InstanceKey, Json, Part, Ref, TypeName, WireCode,
};
use formwork_platform::{Platform, PlatformError, UpdateMode};
use formwork_plugin::OperationStatus;
use serde_json::json;
use std::sync::Arc;

fn trigger(kind: &str, more: &Json) -> Json {
    let mut declared = json!({ "name": "t", "type": kind, "target_type": "agent", "target_id": "agent_1" });
    for (name, value) in more.as_object().expect("an object") {
        declared[name] = value.clone();
    }
    declared
}

fn webhook() -> Json {
    json!({ "name": "w", "url": "https://x.test/hook", "events": ["agents.*"] })
}

impl World {
    async fn act(&self, type_name: &str, id: &str, path: &str) -> Result<Json, PlatformError> {
        let action = action_of(type_name, path);
        let projects = std::slice::from_ref(&self.project);
        self.platform.rest_act(&caller(), &type_name.into(), Some(projects), id, &action, Json::Null).await
    }
}

#[test]
fn the_rules_of_a_trigger() {
    insta::assert_snapshot!(findings(
        "trigger",
        &[
            trigger("schedule", &json!({})),
            trigger("schedule", &json!({ "cron": "0 6 * * mon-fri" })),
            trigger("schedule", &json!({ "cron": "0 6 * *" })),
            trigger("schedule", &json!({ "cron": "0 25 * * *" })),
            trigger("manual", &json!({ "cron": "* * * * *", "event_pattern": "*" })),
            trigger("event", &json!({})),
            trigger("event", &json!({ "event_pattern": "agents.*" })),
            trigger("event", &json!({ "event_pattern": "agents*" })),
            trigger("manual", &json!({ "action": "run" })),
            trigger("manual", &json!({ "target_type": "tool", "action": "run" })),
        ]
    ));
}

#[test]
fn the_rules_of_a_webhook() {
    let with = |name: &str, value: Json| {
        let mut declared = webhook();
        declared[name] = value;
        declared
    };
    insta::assert_snapshot!(findings(
        "webhook",
        &[
            webhook(),
            with("url", json!("ftp://x.test")),
            with("url", json!("https://")),
            with("url", json!("https://x.test/a b")),
            with("events", json!([])),
            with("events", json!(["*", "agents.created", "agents.*", "", "*.created", "a b", ".*", 7])),
        ]
    ));
}

#[test]
fn an_expression_counts_as_present_and_right() {
    let template = Expr::Leaf(ExprLeaf::Template(vec![
        Part::Text("https://x.test/".into()),
        Part::Ref(Ref::native_id("X")),
    ]));
    let whole =
        Expr::Leaf(ExprLeaf::Template(vec![Part::Ref(Ref::native_id("X")), Part::Text("/hook".into())]));
    for url in [template, whole, reference("U")] {
        let declared = object(vec![("url", url), ("events", Expr::array(vec![reference("E")]))]);
        assert_eq!(check("webhook", &declared), Vec::<String>::new());
    }
    let scheduled = |cron: Expr| {
        object(vec![
            ("type", plain(json!("schedule"))),
            ("cron", cron),
            ("target_type", reference("T")),
            ("action", reference("A")),
        ])
    };
    assert_eq!(check("trigger", &scheduled(reference("C"))), Vec::<String>::new());
    let found = check("trigger", &scheduled(plain(json!("x"))));
    assert_eq!(found, ["p: A trigger cron expression must have exactly 5 fields (UTC)."]);
    let bad =
        Expr::Leaf(ExprLeaf::Template(vec![Part::Text("ftp://".into()), Part::Ref(Ref::native_id("X"))]));
    assert_eq!(check("webhook", &object(vec![("url", bad)])), ["p.url: `url` must be an http or https URL"]);
}

#[tokio::test]
async fn a_target_must_be_there_and_of_its_kind() {
    let mut world = World::new();
    let (_, agent) = world.agent().await;
    let of = |kind: &str, id: &str| trigger("manual", &json!({ "target_type": kind, "target_id": id }));
    for (kind, noun) in
        [("agent", "Agent"), ("tool", "Tool"), ("orchestration", "Orchestration"), ("eval", "Eval")]
    {
        let answer = world.try_create("trigger", of(kind, "x_none"), &[]).await;
        let message = format!("{noun} not found: x_none");
        assert_eq!((refusal(&answer).1, refusal(&answer).2), ("TRIGGER_TARGET_NOT_FOUND", &*message));
    }
    let answer = world.try_create("trigger", of("tool", &agent), &[]).await;
    assert_eq!(refusal(&answer).1, "TRIGGER_TARGET_NOT_FOUND", "an agent is no tool");
    world.project = "proj_two".into();
    let answer = world.try_create("trigger", of("agent", &agent), &[]).await;
    assert_eq!(refusal(&answer).2, format!("Agent not found: {agent}"));
}

#[tokio::test]
async fn a_tool_must_be_one_that_a_trigger_can_call() {
    let world = World::new();
    for (kind, message) in [
        ("client", "client tools cannot be executed server-side and cannot be a trigger target."),
        ("builtin", "builtin tool targets require an 'action'."),
        ("mcp", "mcp tool targets require an 'action'."),
    ] {
        let tool = world.create("tool", json!({ "name": "t", "type": kind })).await;
        let declared = trigger("manual", &json!({ "target_type": "tool", "target_id": tool }));
        let answer = world.try_create("trigger", declared, &[]).await;
        assert_eq!((refusal(&answer).1, refusal(&answer).2), ("VALIDATION_FAILED", message));
    }
    let tool = world.create("tool", json!({ "name": "t", "type": "mcp" })).await;
    let with_action = json!({ "target_type": "tool", "target_id": tool, "action": "run" });
    world.create("trigger", trigger("manual", &with_action)).await;
}

#[tokio::test]
async fn a_trigger_runs_as_whoever_made_it_and_tells_when_it_fires_next() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let declared = trigger("schedule", &json!({ "target_id": agent, "cron": "* * * * *" }));
    let id = world.create("trigger", declared).await;
    let shown = world.rest_get("trigger", &id).await.expect("a trigger");
    assert_eq!(shown["created_by"], json!("user_1"));
    assert!(shown["next_fire_at"].as_str().is_some_and(|at| at.ends_with(":00.000Z")), "{shown}");
    let other = formwork_platform::Caller { actor: "user_2".into() };
    let body = json!({ "active": false });
    let changed =
        world.platform.rest_update(&other, &"trigger".into(), None, &id, body, UpdateMode::Patch, None).await;
    let changed = changed.expect("changed");
    assert_eq!((&changed["created_by"], &changed["next_fire_at"]), (&json!("user_1"), &Json::Null));
    let body = json!({ "input": { "say": "something else" } });
    let changed =
        world.platform.rest_update(&other, &"trigger".into(), None, &id, body, UpdateMode::Patch, None).await;
    assert_eq!(changed.expect("changed")["created_by"], json!("user_2"), "who says what it does");
}

#[tokio::test]
async fn the_type_of_a_trigger_cannot_change_and_its_name_is_its_own() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let declared = trigger("manual", &json!({ "target_id": agent, "input": { "a": 1 } }));
    let id = world.create("trigger", declared.clone()).await;
    let answer = world.update("trigger", &id, json!({ "type": "webhook" })).await;
    assert_eq!(refusal(&answer).1, "TRIGGER_TYPE_IMMUTABLE");
    let rules = Platform::catalog().get(&TypeName::from("trigger")).expect("a type");
    assert_eq!(rules.capabilities().on_immutable, ImmutableRule::ReplaceDeleteFirst);
    let answer = world.try_create("trigger", declared, &[]).await;
    assert_eq!(refusal(&answer).1, "NAME_CONFLICT");
    let answer = world.update("trigger", &id, json!({ "input": null, "policy_id": null })).await;
    assert_eq!(answer.resource_properties.expect("a view")["input"], Json::Null);
}

#[tokio::test]
async fn a_signing_secret_is_told_on_create_and_read_back_by_its_own_route_only() {
    let world = World::new();
    let made = world.rest_create("webhook", webhook()).await.expect("made");
    let secret = made["secret"].as_str().expect("a secret").to_owned();
    assert_eq!(secret.len(), 64);
    let id = made["id"].as_str().expect("an id").to_owned();
    assert_eq!(world.rest_get("webhook", &id).await.expect("a webhook").get("secret"), None);
    assert!(!world.everything_stored().await.contains(&secret), "it is sealed");
    assert_eq!(world.act("webhook", &id, "secret").await.expect("a secret"), json!({ "secret": secret }));
    let rotated = world.act("webhook", &id, "rotate-secret").await.expect("rotated");
    assert_ne!(rotated["secret"], json!(secret));
    let read = world.act("webhook", &id, "secret").await.expect("a secret");
    assert_eq!(read["secret"], rotated["secret"]);
    world.update("webhook", &id, json!({ "name": "n", "description": null })).await;
    assert_eq!(world.act("webhook", &id, "secret").await.expect("a secret"), read, "an update keeps it");
}

#[tokio::test]
async fn only_triggers_that_are_called_have_a_secret() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let made = |kind: &str| trigger(kind, &json!({ "target_id": agent, "name": kind }));
    let called = world.rest_create("trigger", made("webhook")).await.expect("made");
    let id = called["id"].as_str().expect("an id");
    let read = world.act("trigger", id, "secret").await.expect("a secret");
    assert_eq!(read["secret"], called["secret"]);
    let manual = world.rest_create("trigger", made("manual")).await.expect("made");
    assert_eq!(manual.get("secret"), None);
    let id = manual["id"].as_str().expect("an id");
    for path in ["secret", "rotate-secret"] {
        let refused = world.act("trigger", id, path).await.expect_err("none");
        let expected = (WireCode::ResourceNotFound, format!("Trigger '{id}' has no signing secret"));
        assert_eq!((wire(&refused).0, wire(&refused).1.to_owned()), expected);
    }
}

#[tokio::test]
async fn a_formation_is_not_told_a_signing_secret_and_cannot_output_it() {
    let world = World::new();
    let answer = world.try_create("webhook", webhook(), &[]).await;
    let id = answer.native_id.clone().expect("an id").to_string();
    let secret = world.act("webhook", &id, "secret").await.expect("a secret");
    let seen = format!("{answer:?}{:?}", world.read("webhook", &id).await);
    assert!(!seen.contains(secret["secret"].as_str().expect("a secret")));
    for type_name in ["webhook", "trigger"] {
        let rules = Platform::catalog().get(&TypeName::from(type_name)).expect("a type");
        assert_eq!(rules.capabilities().credential_outputs, ["secret".into()]);
        let template = json!({
            "resources": { "R": { "type": type_name, "properties": {} } },
            "outputs": { "o": { "ref_attr": "R.secret" } },
        });
        let document = formwork_formation::document_from_json("t", &template);
        let found = formwork_formation::check(document, &*Platform::catalog()).found;
        let refused = found.errors().find(|error| error.path.to_string() == "outputs.o").expect("an error");
        assert!(refused.message.starts_with("Attribute 'secret' of resource 'R' is a credential"));
    }
}

#[tokio::test]
async fn under_another_key_a_signing_secret_is_unreadable_but_can_be_rotated() {
    let world = World::new();
    let id = world.create("webhook", webhook()).await;
    let key = InstanceKey::from_bytes([6; 32]);
    let other = World { platform: Platform::new(Arc::new(world.store.clone()), key.clone()), key, ..world };
    let refused = other.act("webhook", &id, "secret").await.expect_err("sealed under another key");
    assert_eq!(wire(&refused).0, WireCode::SecretNotDecryptable);
    let rotated = other.act("webhook", &id, "rotate-secret").await.expect("rotated");
    assert_eq!(other.act("webhook", &id, "secret").await.expect("a secret")["secret"], rotated["secret"]);
}

#[tokio::test]
async fn what_only_rest_may_set_stays_when_a_formation_updates() {
    let world = World::new();
    let mut body = webhook();
    body["active"] = json!(false);
    let made = world.rest_create("webhook", body).await.expect("made");
    let id = made["id"].as_str().expect("an id");
    assert_eq!(world.update("webhook", id, webhook()).await.operation_status, OperationStatus::Success);
    assert_eq!(world.rest_get("webhook", id).await.expect("a webhook")["active"], json!(false));
    let template = json!({ "resources": { "R": { "type": "webhook", "properties": { "active": true } } } });
    let document = formwork_formation::document_from_json("t", &template);
    let found = formwork_formation::check(document, &*Platform::catalog()).found;
    let messages: Vec<_> = found.errors().map(|error| error.message.clone()).collect();
    let expected = "Unknown webhook field 'active'. Allowed: name, description, url, events".to_owned();
    assert!(messages.contains(&expected), "{messages:?}");
}
