//! API keys and policies: who owns them, what is kept of a key, and what is global.

use crate::{
    rules::{findings, object, plain, reference},
    world::{World, caller, check, refusal, wire},
};
use formwork_model::{ClientToken, Expr, Json, Secret, WireCode};
use formwork_platform::{ApiKeyRecord, RestList, UpdateMode};
use formwork_plugin::OperationStatus;
use serde_json::json;

fn policy(action: &str) -> Json {
    json!({ "name": "p", "document": { "statement": [{ "effect": "Allow", "action": [action] }] } })
}

async fn find(world: &World, key: &str) -> Option<ApiKeyRecord> {
    world.platform.find_api_key(&Secret::new(key.to_owned())).await.expect("a lookup")
}

#[tokio::test]
async fn a_key_is_told_once_and_found_by_its_digest() {
    let world = World::new();
    let policy = world.create("policy", policy("agents:GetAgent")).await;
    let body = json!({ "name": "k", "policy_ids": [policy] });
    let made = world.rest_create("api_key", body).await.expect("made");
    let key = made["key"].as_str().expect("a key");
    assert_eq!(key.len(), 3 + 64);
    assert!(key.starts_with("sk_") && key[3..].bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(made["key_prefix"], json!(&key[..8]));
    assert_eq!(made["user_id"], json!("user_1"));
    let id = made["id"].as_str().expect("an id");
    let shown = world.rest_get("api_key", id).await.expect("a key");
    assert_eq!(shown.get("key"), None);
    assert!(!world.everything_stored().await.contains(&key[8..]), "only a digest is kept");
    let expected = ApiKeyRecord {
        id: id.to_owned(),
        owner: "user_1".into(),
        project: world.project.clone(),
        policy_ids: vec![policy],
    };
    assert_eq!(find(&world, key).await, Some(expected));
    assert_eq!(find(&world, &format!("{key}0")).await, None);
    assert_eq!(find(&world, "sk_").await, None);
}

#[tokio::test]
async fn a_formation_mints_a_key_under_its_caller_and_is_not_told_it() {
    let world = World::new();
    let answer = world.try_create("api_key", json!({ "name": "k" }), &[]).await;
    assert!(!format!("{answer:?}").contains("sk_"), "{answer:?}");
    let id = answer.native_id.expect("an id").to_string();
    let shown = world.rest_get("api_key", &id).await.expect("a key");
    assert_eq!(shown["user_id"], json!("user_1"));
}

#[tokio::test]
async fn a_repeated_request_makes_one_key_and_does_not_tell_it_again() {
    let world = World::new();
    let token = Some(ClientToken([7; 32]));
    let body = || json!({ "name": "k" });
    let make = async || {
        let type_name = "api_key".into();
        world.platform.rest_create(&caller(), &type_name, Some(&world.project), body(), token).await
    };
    let first = make().await.expect("made").shown;
    let second = make().await.expect("the same").shown;
    assert_eq!(first["id"], second["id"]);
    assert!(first.get("key").is_some() && second.get("key").is_none());
    assert_eq!(world.stored("api_key").await.len(), 1);
}

#[tokio::test]
async fn a_deleted_key_is_not_found_any_more() {
    let world = World::new();
    let made = world.rest_create("api_key", json!({ "name": "k" })).await.expect("made");
    let (id, key) = (made["id"].as_str().expect("an id"), made["key"].as_str().expect("a key"));
    world.update("api_key", id, json!({ "name": "renamed" })).await;
    assert!(find(&world, key).await.is_some());
    assert_eq!(world.delete("api_key", id).await.operation_status, OperationStatus::Success);
    assert_eq!(find(&world, key).await, None);
    assert!(world.stored("api_key_digest").await.is_empty());
}

#[tokio::test]
async fn a_policy_of_a_key_must_exist() {
    let world = World::new();
    let answer = world.try_create("api_key", json!({ "name": "k", "policy_ids": ["pol_none"] }), &[]).await;
    assert_eq!((refusal(&answer).1, refusal(&answer).2), ("POLICY_NOT_FOUND", "Policy not found: pol_none"));
    let found = findings("api_key", &[json!({ "name": "k", "policy_ids": [1] })]);
    assert!(found.ends_with("p.policy_ids[0]: `policy_ids[0]` must be a string"), "{found}");
}

#[test]
fn the_rules_of_a_policy_document() {
    let document = |document: Json| json!({ "document": document });
    let statement = |statement: Json| document(json!({ "statement": [statement] }));
    insta::assert_snapshot!(findings(
        "policy",
        &[
            document(json!({})),
            document(json!({ "statement": "all", "version": 1 })),
            statement(json!("x")),
            statement(json!({})),
            statement(json!({ "effect": "allow", "action": [], "resource": [] })),
            statement(
                json!({ "effect": "Deny", "action": ["agents", "agents:*", "*", "a:b:c", 7, "agents:Fly"] })
            ),
            statement(json!({
                "effect": "Allow", "action": ["*"],
                "resource": ["*", "srn:proj_1:agent:*", "srn:a:b", "soat:a:b:c", "srn:a::c", 1],
            })),
            statement(json!({ "effect": "Allow", "action": ["*"], "resources": ["*"] })),
            statement(json!({ "effect": "Allow", "action": ["*"], "condition": "x" })),
            statement(json!({
                "effect": "Allow", "action": ["*"],
                "condition": {
                    "StringLike": { "soat:ResourceType": "agent*" },
                    "StringEquals": { "ResourceType": "agent", "soat:ResourceTag/a": 1 },
                    "NumericEquals": { "soat:x": "1" },
                    "StringNotEquals": [],
                },
            })),
        ]
    ));
}

#[test]
fn an_expression_may_stand_anywhere_in_a_policy() {
    let statement = object(vec![
        ("effect", reference("E")),
        ("action", Expr::array(vec![reference("A")])),
        ("resource", Expr::array(vec![reference("R")])),
        ("condition", object(vec![("StringLike", object(vec![("soat:ResourceType", reference("T"))]))])),
    ]);
    let of = |statement: Expr| object(vec![("document", object(vec![("statement", statement)]))]);
    assert!(check("policy", &of(Expr::array(vec![statement, reference("S")]))).is_empty());
    assert!(check("policy", &of(reference("S"))).is_empty());
    assert!(check("policy", &object(vec![("document", reference("D"))])).is_empty());
    assert!(check("policy", &plain(policy("*"))).is_empty());
}

#[tokio::test]
async fn a_policy_belongs_to_no_project() {
    let mut world = World::new();
    let made = world.rest_create("policy", policy("agents:*")).await.expect("made");
    assert_eq!(made.get("project_id"), None);
    let id = made["id"].as_str().expect("an id").to_owned();
    assert_eq!(world.stored("policy").await[0].project, None);
    world.project = "proj_two".into();
    world.create("api_key", json!({ "name": "k", "policy_ids": [id] })).await;
    assert_eq!(world.read("policy", &id).await.error_code, None);
    let list = RestList {
        type_name: "policy".into(),
        projects: Some(vec![world.project.clone()]),
        filters: Vec::new(),
        limit: None,
        offset: 0,
    };
    assert_eq!(world.platform.rest_list(list).await.expect("a page").total, 1);
    let body = json!({ "document": { "statement": [] } });
    let put =
        world.platform.rest_update(&caller(), &"policy".into(), None, &id, body, UpdateMode::Put, None).await;
    assert_eq!(put.expect("changed")["name"], Json::Null);
    let body = json!({ "document": { "statement": [] }, "project_id": "proj_two" });
    let refused = world.rest_create("policy", body).await.expect_err("no project");
    assert_eq!(wire(&refused).1, "Unknown field(s): project_id");
}

#[tokio::test]
async fn a_trigger_of_any_project_keeps_its_policy() {
    let mut world = World::new();
    let policy = world.create("policy", policy("*")).await;
    world.create("api_key", json!({ "name": "k", "policy_ids": [policy] })).await;
    let (_, agent) = world.agent().await;
    let declared = json!({
        "name": "t", "type": "manual", "target_type": "agent", "target_id": agent, "policy_id": policy,
    });
    let trigger = world.create("trigger", declared).await;
    world.project = "proj_two".into();
    let answer = world.delete("policy", &policy).await;
    assert_eq!(refusal(&answer).1, "POLICY_HAS_DEPENDENTS");
    assert_eq!(answer.failure_meta, Some(json!({ "triggerCount": 1 })));
    world.project = "proj_one".into();
    world.update("trigger", &trigger, json!({ "policy_id": null })).await;
    assert_eq!(world.delete("policy", &policy).await.operation_status, OperationStatus::Success);
    assert_eq!(world.delete("policy", &policy).await.operation_status, OperationStatus::Success);
    let refused = world.rest_get("policy", &policy).await.expect_err("gone");
    assert_eq!(wire(&refused).0, WireCode::ResourceNotFound);
}

#[tokio::test]
async fn only_who_made_a_key_changes_what_it_may_do() {
    let world = World::new();
    let document = json!({ "statement": [{ "effect": "Allow", "action": ["agents:*"] }] });
    let policy = world.create("policy", json!({ "name": "p", "document": document })).await;
    let id = world.create("api_key", json!({ "name": "k", "policy_ids": [policy] })).await;
    let change = |actor: &str, body: Json| {
        let caller = formwork_platform::Caller { actor: actor.into() };
        let (world, id) = (&world, id.clone());
        async move {
            let type_name = "api_key".into();
            world.platform.rest_update(&caller, &type_name, None, &id, body, UpdateMode::Put, None).await
        }
    };
    // A `PUT` without them means none: no limit at all.
    let widened = change("user_2", json!({ "name": "k" })).await.expect_err("refused");
    assert_eq!(wire(&widened).0, WireCode::Forbidden);
    change("user_2", json!({ "name": "renamed", "policy_ids": [policy] })).await.expect("nothing it may do");
    change("user_1", json!({ "name": "k" })).await.expect("its maker");
}
