//! Quotas, prices, model routes and ingestion rules.

use crate::{
    rules::{findings, object, plain, reference},
    world::{World, check, provider, refusal},
};
use formwork_model::{Expr, Json, OperationErrorCode};
use formwork_plugin::OperationStatus;
use serde_json::json;

fn with(base: &Json, more: &Json) -> Json {
    let mut declared = base.clone();
    for (name, value) in more.as_object().expect("an object") {
        declared[name] = value.clone();
    }
    declared
}

fn quota(more: &Json) -> Json {
    with(&json!({ "scope": "project", "metric": "tokens", "window": "rolling_1h", "limit": 10 }), more)
}

#[test]
fn the_rules_of_a_quota() {
    insta::assert_snapshot!(findings(
        "quota",
        &[
            quota(&json!({})),
            quota(&json!({ "metric": "requests", "scope": "agent" })),
            quota(&json!({ "scope": "api_key" })),
            quota(&json!({ "metric": "cost_usd", "scope": "api_key", "limit": 0.5 })),
            quota(&json!({ "scope_ref": "x" })),
            quota(&json!({ "limit": 0 })),
            quota(&json!({ "limit": -1.5 })),
            quota(&json!({ "limit": 1.5 })),
            quota(&json!({ "limit": 10.0 })),
            quota(&json!({ "on_unpriced": "allow" })),
        ]
    ));
    let open = object(vec![
        ("scope", reference("S")),
        ("scope_ref", reference("R")),
        ("metric", reference("M")),
        ("limit", reference("L")),
        ("on_unpriced", reference("U")),
    ]);
    assert_eq!(check("quota", &open), Vec::<String>::new());
}

#[tokio::test]
async fn what_a_quota_is_about_cannot_change() {
    let world = World::new();
    let id = world.create("quota", quota(&json!({}))).await;
    for (name, declared, current) in [
        ("scope", json!("agent"), "project"),
        ("metric", json!("cost_usd"), "tokens"),
        ("window", json!("rolling_1m"), "rolling_1h"),
    ] {
        let answer = world.update("quota", &id, json!({ name: declared })).await;
        let declared = declared.as_str().expect("a text");
        let message = format!(
            "{name} is immutable and cannot be changed after creation (declared \"{declared}\", current \
             \"{current}\"). Replace the quota instead."
        );
        assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "VALIDATION_FAILED", &*message));
    }
    let answer = world.update("quota", &id, json!({ "scope_ref": "agent_1" })).await;
    assert!(refusal(&answer).2.starts_with("scope_ref is immutable and cannot be changed after creation"));
    let answer = world.update("quota", &id, quota(&json!({ "scope_ref": null, "limit": 20 }))).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
}

#[tokio::test]
async fn a_quota_refers_to_what_its_scope_says() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    world.create("quota", quota(&json!({ "scope": "agent", "scope_ref": agent }))).await;
    for (scope, metric, noun) in
        [("agent", "tokens", "agent"), ("actor", "tokens", "actor"), ("api_key", "requests", "API key")]
    {
        let declared = quota(&json!({ "scope": scope, "metric": metric, "scope_ref": "x_none" }));
        let answer = world.try_create("quota", declared, &[]).await;
        let message = format!("scope_ref 'x_none' does not reference an {noun} in this project.");
        assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "VALIDATION_FAILED", &*message));
    }
}

#[tokio::test]
async fn two_quotas_cannot_be_about_the_same_use() {
    let world = World::new();
    world.create("quota", quota(&json!({}))).await;
    let answer = world.try_create("quota", quota(&json!({ "limit": 99 })), &[]).await;
    let message =
        "A quota on tokens for scope \"project\" and window \"rolling_1h\" already exists in this project.";
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "QUOTA_CONFLICT", message));
    world.create("quota", quota(&json!({ "window": "calendar_month" }))).await;
}

#[tokio::test]
async fn use_without_a_price_is_blocked_by_a_quota_on_cost() {
    let world = World::new();
    let id = world.create("quota", quota(&json!({ "metric": "cost_usd", "limit": 0.5 }))).await;
    let read = world.read("quota", &id).await.resource_properties.expect("a quota");
    assert_eq!((&read["on_unpriced"], &read["mode"]), (&json!("block"), &json!("enforce")));
}

fn price(more: &Json) -> Json {
    let base = json!({
        "provider": "openai", "model": "m-1", "component": "input_tokens", "unit": "token", "unit_price": 0.01,
    });
    with(&base, more)
}

#[tokio::test]
async fn a_price_has_one_moment_from_which_it_counts() {
    let world = World::new();
    let read = async |id: &str| world.read("project_price", id).await.resource_properties.expect("a price");
    let id = world.create("project_price", price(&json!({}))).await;
    let from = read(&id).await["effective_from"].clone();
    assert!(from.as_str().is_some_and(|from| from.ends_with('Z')), "{from}");
    world.update("project_price", &id, json!({ "unit_price": 0.02 })).await;
    let after = read(&id).await;
    assert_eq!((&after["effective_from"], &after["unit_price"]), (&from, &json!(0.02)));
    for (given, expected) in [
        ("2025-01-01T02:00:00+02:00", "2025-01-01T00:00:00.000Z"),
        ("2025-02-01", "2025-02-01T00:00:00.000Z"),
    ] {
        let id = world.create("project_price", price(&json!({ "effective_from": given }))).await;
        assert_eq!(read(&id).await["effective_from"], json!(expected));
    }
    let same = price(&json!({ "effective_from": "2025-01-01T00:00:00Z", "unit_price": 9 }));
    let answer = world.try_create("project_price", same, &[]).await;
    let message =
        "A price for input_tokens of 'm-1' by 'openai' from 2025-01-01T00:00:00.000Z on already exists.";
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "NAME_CONFLICT", message));
}

#[test]
fn the_rules_of_a_price() {
    let found = findings(
        "project_price",
        &[
            price(&json!({ "unit_price": 0 })),
            price(&json!({ "unit_price": -0.1 })),
            price(&json!({ "effective_from": "soon" })),
            price(&json!({ "effective_from": "2025-02-30" })),
        ],
    );
    insta::assert_snapshot!(found);
    let open = object(vec![("unit_price", reference("P")), ("effective_from", reference("F"))]);
    assert_eq!(check("project_price", &open), Vec::<String>::new());
}

fn route(targets: &Json) -> Json {
    json!({ "name": "r", "targets": targets })
}

#[test]
fn the_rules_of_a_model_route() {
    let target = |more: &Json| with(&json!({ "ai_provider_id": "aip_1", "model": "m" }), more);
    insta::assert_snapshot!(findings(
        "model_route",
        &[
            route(&json!([])),
            route(&json!(["x", {}, { "ai_provider_id": 1, "model": "" }])),
            route(&json!([target(&json!({ "weight": 1 }))])),
            route(&json!([target(&json!({ "timeout_seconds": 0, "max_retries": -1 }))])),
            route(&json!([target(&json!({ "max_retries": 9 }))])),
            route(&json!([target(&json!({ "max_retries": 8 })), target(&json!({ "max_retries": 1 }))])),
            with(&route(&json!([target(&json!({}))])), &json!({ "retry_on": [] })),
            with(&route(&json!([target(&json!({}))])), &json!({ "retry_on": ["timeout", "boredom"] })),
            with(
                &route(&json!([target(&json!({}))])),
                &json!({ "failure_threshold": 0, "cooldown_seconds": 0.5 })
            ),
        ]
    ));
}

#[test]
fn a_route_and_its_providers_ship_in_one_template() {
    let target = object(vec![
        ("ai_provider_id", reference("P")),
        ("model", reference("M")),
        ("timeout_seconds", reference("T")),
        ("max_retries", reference("R")),
    ]);
    let declared = object(vec![
        ("targets", Expr::array(vec![target, reference("X")])),
        ("retry_on", Expr::array(vec![reference("Y"), plain(json!("timeout"))])),
    ]);
    assert_eq!(check("model_route", &declared), Vec::<String>::new());
}

#[tokio::test]
async fn a_route_is_kept_by_its_agents_and_keeps_its_providers() {
    let world = World::new();
    let provider = world.create("ai_provider", provider()).await;
    let target = json!([{ "ai_provider_id": provider, "model": "m" }]);
    let id = world.create("model_route", route(&target)).await;
    let agent = world.create("agent", json!({ "model_route_id": id })).await;
    let answer = world.delete("model_route", &id).await;
    assert_eq!(refusal(&answer).1, "MODEL_ROUTE_HAS_DEPENDENTS");
    let answer = world.delete("ai_provider", &provider).await;
    assert_eq!(refusal(&answer).1, "AI_PROVIDER_HAS_DEPENDENTS");
    for (type_name, id) in [("agent", &agent), ("model_route", &id), ("ai_provider", &provider)] {
        assert_eq!(world.delete(type_name, id).await.operation_status, OperationStatus::Success);
    }
    let answer = world.try_create("model_route", route(&target), &[]).await;
    assert_eq!(refusal(&answer).1, "AI_PROVIDER_NOT_FOUND");
}

fn rule(more: &Json) -> Json {
    with(&json!({ "content_type_glob": "image/*" }), more)
}

#[test]
fn the_rules_of_an_ingestion_rule() {
    insta::assert_snapshot!(findings(
        "ingestion_rule",
        &[
            rule(&json!({})),
            rule(&json!({ "tool_id": "a", "agent_id": "b" })),
            rule(&json!({ "tool_id": "a", "agent_id": null })),
            json!({ "content_type_glob": "image", "tool_id": "a" }),
            json!({ "content_type_glob": "image/svg+xml;q=1", "tool_id": "a" }),
            rule(&json!({ "tool_id": "a", "preset_parameters": { "file": 1, "callback": 2, "ok": 3 } })),
            rule(&json!({ "tool_id": "a", "chunk_strategy": "size", "chunk_size": 5, "chunk_overlap": 5 })),
        ]
    ));
    let open = object(vec![("content_type_glob", reference("G")), ("tool_id", reference("T"))]);
    assert_eq!(check("ingestion_rule", &open), Vec::<String>::new());
}

#[tokio::test]
async fn a_converter_must_be_able_to_convert() {
    let world = World::new();
    let invalid = "INGESTION_RULE_VALIDATION_FAILED";
    for (kind, message) in [
        ("client", "client tools cannot be executed server-side and cannot be a converter."),
        ("builtin", "action is required when the converter tool type is builtin or mcp"),
        ("mcp", "action is required when the converter tool type is builtin or mcp"),
    ] {
        let tool = world.create("tool", json!({ "name": "t", "type": kind })).await;
        let answer = world.try_create("ingestion_rule", rule(&json!({ "tool_id": tool })), &[]).await;
        assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, invalid, message));
    }
    let answer = world.try_create("ingestion_rule", rule(&json!({ "agent_id": "x" })), &[]).await;
    assert_eq!((refusal(&answer).1, refusal(&answer).2), ("AGENT_NOT_FOUND", "Agent not found: x"));
}

#[tokio::test]
async fn a_rule_keeps_its_converter_and_its_glob_is_its_own() {
    let world = World::new();
    let tool = world.create("tool", json!({ "name": "t" })).await;
    let (_, agent) = world.agent().await;
    let first = world.create("ingestion_rule", rule(&json!({ "tool_id": tool }))).await;
    let answer = world.try_create("ingestion_rule", rule(&json!({ "agent_id": agent })), &[]).await;
    let message = "An ingestion rule for 'image/*' already exists in this project.";
    assert_eq!((refusal(&answer).1, refusal(&answer).2), ("INGESTION_RULE_GLOB_CONFLICT", message));
    let answer = world.delete("tool", &tool).await;
    assert_eq!(refusal(&answer).1, "TOOL_HAS_DEPENDENTS");
    let answer = world.update("ingestion_rule", &first, json!({ "tool_id": null, "agent_id": agent })).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
    assert_eq!(world.delete("tool", &tool).await.operation_status, OperationStatus::Success);
    let answer = world.delete("agent", &agent).await;
    assert_eq!(refusal(&answer).1, "AGENT_HAS_DEPENDENTS");
    world.delete("ingestion_rule", &first).await;
    assert_eq!(world.delete("agent", &agent).await.operation_status, OperationStatus::Success);
}
