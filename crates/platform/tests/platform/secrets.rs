//! INV-9 and seed 4, "Secrets in Templates": no plaintext is stored or answered, and what is kept
//! stays what it was.

use crate::world::{World, caller, create_request, provider, refusal, wire};
use formwork_model::{
    Catalog, Expr, ExprLeaf, InstanceKey, Json, OperationErrorCode, Part, Path, Ref, Secret, TypeName,
    WireCode, digest_of,
};
use formwork_platform::{Platform, RestList, UpdateMode};
use formwork_plugin::{OperationStatus, ReadRequest, ResourcePlugin};
use serde_json::json;
use std::{fmt::Write as _, sync::Arc};

const CANARY: &str = "canary-7d1f-do-not-show";

fn header_tool(value: &str) -> Json {
    json!({ "name": "t", "execute": { "url": "https://x.test", "headers": { "X-Key": value } } })
}

fn header_path() -> Path {
    Path::of(["execute", "headers", "X-Key"])
}

/// Objects with the canary in every place that a secret can have.
async fn plant(world: &World) -> Vec<(&'static str, String)> {
    let mut planted = Vec::new();
    let secret = json!({ "name": "k", "value": CANARY });
    planted.push(("secret", world.create_secret("secret", secret, &[Path::of(["value"])]).await));
    planted.push(("secret", world.create("secret", json!({ "name": "k", "value": CANARY })).await));
    planted.push(("tool", world.create("tool", header_tool(CANARY)).await));
    let auth = json!({
        "type": "aws_sigv4", "region": "r", "service": "s", "access_key_id": CANARY, "secret_access_key": CANARY,
    });
    let signed = json!({ "name": "t", "execute": { "url": "https://x.test", "auth": auth } });
    planted.push(("tool", world.create("tool", signed).await));
    let mcp =
        json!({ "name": "t", "type": "mcp", "mcp": { "url": "https://x.test", "headers": { "K": CANARY } } });
    planted.push(("tool", world.create("tool", mcp).await));
    let inline = json!({
        "name": "t", "type": "pipeline",
        "pipeline": { "steps": [{ "id": "a", "tool": header_tool(CANARY) }] },
    });
    planted.push(("tool", world.create("tool", inline).await));
    let mut with_config = provider();
    with_config["config"] = json!({ "list": ["a", CANARY] });
    let at = [Path::of(["config", "list"]).index(1)];
    planted.push(("ai_provider", world.create_secret("ai_provider", with_config, &at).await));
    let declared = json!({ "content": CANARY, "title": CANARY });
    let at = [Path::of(["content"]), Path::of(["title"])];
    planted.push(("document", world.create_secret("document", declared, &at).await));
    planted
}

#[tokio::test]
async fn a_canary_is_nowhere_in_what_is_stored_or_answered() {
    let world = World::new();
    let planted = plant(&world).await;
    let mut seen = world.everything_stored().await;
    for (type_name, id) in &planted {
        let _ = writeln!(seen, "{:?}", world.read(type_name, id).await);
        let _ = writeln!(seen, "{}", world.rest_get(type_name, id).await.expect("a representation"));
        let query = RestList {
            type_name: (*type_name).into(),
            projects: None,
            filters: Vec::new(),
            limit: None,
            offset: 0,
        };
        let _ = writeln!(seen, "{:?}", world.platform.rest_list(query).await.expect("a page"));
    }
    assert!(!seen.contains(CANARY), "{seen}");
    assert!(seen.contains("$sealed"), "and yet it is kept");
}

#[tokio::test]
async fn a_canary_is_in_no_answer_to_a_write_and_in_no_refusal() {
    let world = World::new();
    let value = [Path::of(["value"])];
    let request = || create_request("secret", json!({ "name": "k", "value": CANARY }), &value);
    let made = world.platform.create(&world.context_with(1), request()).await.expect("an answer");
    let again = world.platform.create(&world.context_with(1), request()).await.expect("an answer");
    let id = made.native_id.clone().expect("an id").to_string();
    let updated = world.update("secret", &id, json!({ "value": format!("{CANARY}2") })).await;
    let bad_type = json!({ "name": "t", "type": CANARY });
    let refused = world.try_create("tool", bad_type, &[Path::of(["type"])]).await;
    assert_eq!(
        refusal(&refused).2,
        "Unsupported tool type '(secret)'. Supported types: http, client, mcp, builtin, pipeline"
    );
    let token = json!({ "name": "t", "execute": { "headers": { "K": format!("a b {{{{{CANARY}}}}} c") } } });
    let refused_by_place = world.rest_create("tool", token).await.expect_err("not a token");
    let seen = format!("{made:?}{again:?}{updated:?}{refused:?}{refused_by_place:?}");
    assert!(!seen.contains(CANARY), "{seen}");
}

#[tokio::test]
async fn a_read_tells_each_secret_by_its_digest() {
    let world = World::new();
    let secret = world.create("secret", json!({ "name": "k", "value": CANARY })).await;
    let read = world.read("secret", &secret).await;
    assert_eq!(read.secret_digests, [(Path::of(["value"]), digest_of(&world.key, &json!(CANARY)))]);
    let tool = world.create("tool", header_tool(CANARY)).await;
    let read = world.read("tool", &tool).await;
    assert_eq!(read.secret_digests, [(header_path(), digest_of(&world.key, &json!(CANARY)))]);
    let execute = &read.resource_properties.expect("properties")["execute"];
    assert_eq!(execute, &json!({ "url": "https://x.test", "headers": {} }));
}

#[tokio::test]
async fn a_token_in_a_header_is_shown_and_anything_beside_it_is_not() {
    let world = World::new();
    let secret = world.create("secret", json!({ "name": "k", "value": "v" })).await;
    let token = format!("Bearer {{{{secret:{secret}}}}}");
    let tool = world.create("tool", header_tool(&token)).await;
    let shown = world.rest_get("tool", &tool).await.expect("a tool");
    assert_eq!(shown["execute"]["headers"]["X-Key"], json!(token));
    let tool = world.create("tool", header_tool(&format!("{CANARY} {token}"))).await;
    let shown = world.rest_get("tool", &tool).await.expect("a tool");
    assert_eq!(shown["execute"]["headers"]["X-Key"], json!({ "no_echo": true }));
}

#[tokio::test]
async fn a_kept_secret_stays_what_it_was_while_the_rest_changes() {
    let world = World::new();
    let kept = [header_path()];
    let tool = world.create("tool", header_tool(CANARY)).await;
    let without = json!({ "name": "u", "execute": { "url": "https://y.test" } });
    let answer = world.update_secret("tool", &tool, without, &[], &kept).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
    assert_eq!(answer.secret_digests, [(header_path(), digest_of(&world.key, &json!(CANARY)))]);
    let shown = answer.resource_properties.expect("properties");
    assert_eq!((&shown["name"], &shown["execute"]["url"]), (&json!("u"), &json!("https://y.test")));

    let secret = world.create("secret", json!({ "name": "k", "value": CANARY })).await;
    let answer =
        world.update_secret("secret", &secret, json!({ "name": "l" }), &[], &[Path::of(["value"])]).await;
    assert_eq!(answer.secret_digests, [(Path::of(["value"]), digest_of(&world.key, &json!(CANARY)))]);
}

#[tokio::test]
async fn a_secret_in_a_list_is_kept_at_its_place() {
    let world = World::new();
    let at = Path::of(["config", "list"]).index(1);
    let mut declared = provider();
    declared["config"] = json!({ "list": ["a", CANARY, "c"] });
    let id = world.create_secret("ai_provider", declared, std::slice::from_ref(&at)).await;
    let without = json!({ "config": { "list": ["A", "C"] } });
    let answer = world.update_secret("ai_provider", &id, without, &[], std::slice::from_ref(&at)).await;
    assert_eq!(answer.secret_digests, [(at, digest_of(&world.key, &json!(CANARY)))]);
    assert_eq!(
        answer.resource_properties.expect("properties")["config"],
        json!({ "list": ["A", null, "C"] })
    );
}

#[tokio::test]
async fn keeping_what_was_never_stored_is_refused() {
    let world = World::new();
    let id = world.create("ai_provider", provider()).await;
    let kept = [Path::of(["base_url"])];
    let answer = world.update_secret("ai_provider", &id, json!({ "name": "n" }), &[], &kept).await;
    assert_eq!(
        refusal(&answer),
        (
            OperationErrorCode::InvalidRequest,
            "SECRET_UNAVAILABLE",
            "`base_url` has no stored value to keep: its value must be supplied"
        )
    );
}

#[tokio::test]
async fn a_mask_sent_back_is_refused_at_any_depth() {
    let world = World::new();
    let secret = world.rest_create("secret", json!({ "name": "k", "value": CANARY })).await.expect("made");
    let tool = world.rest_create("tool", header_tool(CANARY)).await.expect("made");
    let mut declared = provider();
    declared["config"] = json!({ "key": CANARY });
    let provider = world.create_secret("ai_provider", declared, &[Path::of(["config", "key"])]).await;
    let shown_tool = json!({ "execute": tool["execute"] });
    let shown_provider = world.rest_get("ai_provider", &provider).await.expect("a provider");
    let shown_provider = json!({ "config": shown_provider["config"] });
    for (type_name, id, body) in [
        ("secret", secret["id"].as_str().expect("an id"), json!({ "value": { "no_echo": true } })),
        ("tool", tool["id"].as_str().expect("an id"), shown_tool),
        ("ai_provider", &*provider, shown_provider),
    ] {
        let digests = world.read(type_name, id).await.secret_digests;
        let answer = world
            .platform
            .rest_update(&caller(), &type_name.into(), None, id, body, UpdateMode::Patch, None)
            .await;
        let refused = answer.expect_err("a mask");
        let (code, message, _) = wire(&refused);
        assert_eq!(code, WireCode::ValidationFailed);
        assert!(message.ends_with("holds the mask of a secret: send its value, or leave the property out"));
        assert_eq!(world.read(type_name, id).await.secret_digests, digests, "the secret is as it was");
    }
    let body = json!({ "name": "k", "value": { "no_echo": true } });
    let refused = world.rest_create("secret", body).await.expect_err("a mask");
    assert_eq!(wire(&refused).1, "`value` must be a string");
}

#[tokio::test]
async fn under_another_key_a_secret_is_unreadable_but_can_be_replaced() {
    let world = World::new();
    let id = world.create("secret", json!({ "name": "k", "value": CANARY })).await;
    let key = InstanceKey::from_bytes([6; 32]);
    let other = World { platform: Platform::new(Arc::new(world.store.clone()), key.clone()), key, ..world };
    assert_eq!(other.read("secret", &id).await.error_code, Some(OperationErrorCode::InternalFailure));
    let answer = other.update("secret", &id, json!({ "name": "l" })).await;
    assert_eq!(refusal(&answer).1, "SECRET_NOT_DECRYPTABLE");
    let answer = other.update("secret", &id, json!({ "value": "new value" })).await;
    assert_eq!(answer.secret_digests, [(Path::of(["value"]), digest_of(&other.key, &json!("new value")))]);
}

#[tokio::test]
async fn a_sealed_value_moved_to_another_object_does_not_open() {
    let world = World::new();
    let first = world.create("secret", json!({ "name": "k", "value": CANARY })).await;
    let second = world.create("secret", json!({ "name": "k", "value": "other value" })).await;
    let doc = world.stored("secret").await.into_iter().find(|object| object.id == first).expect("it").doc;
    let moved = second.clone();
    let job = Box::new(move |tx: &mut dyn formwork_store::DomainTx| {
        tx.update(formwork_store::ObjectChange {
            id: moved,
            expected_version: None,
            doc,
            keys: Vec::new(),
            links: Vec::new(),
        })?;
        Ok(json!(null))
    });
    formwork_store::Store::domain(&world.store, None, None, job).await.expect("an update");
    let request = ReadRequest {
        resource_type: "secret".into(),
        native_id: second.as_str().into(),
        target_config: Secret::new(Json::Null),
        redact_sensitive: true,
        prior_properties: None,
    };
    let read = world.platform.read(&world.context(), request).await.expect("an answer");
    assert_eq!(read.error_code, Some(OperationErrorCode::InternalFailure));
}

#[test]
fn credentials_by_their_place_are_named_for_whoever_lowers_a_declaration() {
    let rules = Platform::catalog().get(&TypeName::from("tool")).expect("a type");
    assert_eq!(rules.sensitive(&header_tool(CANARY).into()), [header_path()]);
    assert!(rules.sensitive(&header_tool("Bearer {{secret:sec_1}}").into()).is_empty());
    let template = |text: &str| {
        let parts = vec![Part::Text(text.into()), Part::Ref(Ref::native_id("S")), Part::Text("}}".into())];
        let headers = [("X-Key".into(), Expr::Leaf(ExprLeaf::Template(parts)))];
        let execute = [("headers".into(), Expr::object(headers.into_iter().collect()))];
        let members = [("execute".into(), Expr::object(execute.into_iter().collect()))];
        Expr::object(members.into_iter().collect())
    };
    assert!(rules.sensitive(&template("Bearer {{secret:")).is_empty());
    assert_eq!(rules.sensitive(&template("Bearer literal-key {{secret:")), [header_path()]);
}

#[tokio::test]
async fn the_same_secrets_again_write_nothing_however_their_places_are_told() {
    let world = World::new();
    let declared = || {
        let mut declared = provider();
        declared["config"] = json!({ "key": { "deep": CANARY } });
        declared
    };
    let outer = [Path::of(["config", "key"])];
    let id = world.create_secret("ai_provider", declared(), &outer).await;
    let before = world.stored("ai_provider").await;
    let more = [Path::of(["config", "key"]), Path::of(["config", "key", "deep"]), Path::of(["base_url"])];
    world.update_secret("ai_provider", &id, declared(), &more, &[]).await;
    assert_eq!(world.stored("ai_provider").await, before);
    world.update("ai_provider", &id, declared()).await;
    assert_ne!(world.stored("ai_provider").await, before, "what is no secret any more is stored as data");
}
