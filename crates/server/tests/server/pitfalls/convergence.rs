//! What is declared is stored, all of it, and a deploy of the same changes nothing.

use super::{last_events, only, pair, physical};
use crate::world::World;
use formwork_model::{Catalog as _, Json, TypeName};
use formwork_platform::{Platform, rest_routes};
use serde_json::json;

/// Types with everything that one can declare of them, as far as it can stand side by side.
fn everything() -> Json {
    let mut resources = what_agents_use();
    for more in [the_agent(), what_uses_agents()] {
        resources.as_object_mut().expect("resources").extend(more.as_object().expect("resources").clone());
    }
    json!({ "resources": resources })
}

fn what_agents_use() -> Json {
    json!({
        "Prov": { "type": "ai_provider", "properties": {
            "name": "p", "provider": "azure", "default_model": "m", "secret_id": { "ref": "Key" },
            "base_url": "https://models.test", "config": { "deployment": "d", "apiVersion": "1" },
        } },
        "Key": { "type": "secret", "properties": { "name": "k", "value": "sk-literal" } },
        "Kb": { "type": "memory", "properties": { "name": "kb", "description": "d", "tags": ["a", "b"] } },
        "Fact": { "type": "memory_entry", "properties": {
            "memory_id": { "ref": "Kb" }, "content": "c", "source_type": "agent", "tags": ["t"],
            "metadata": { "Source": { "pageNumber": 3 } },
        } },
        "Doc": { "type": "document", "properties": {
            "content": "one two three", "path": "/a/b.txt", "filename": "b.txt", "title": "t",
            "metadata": { "a": { "b": 1 } }, "tags": { "team": "red" },
            "chunk_strategy": "size", "chunk_size": 5, "chunk_overlap": 1,
        } },
        "Ask": { "type": "tool", "properties": {
            "name": "ask", "type": "http", "description": "d",
            "parameters": { "type": "object", "properties": { "orderID": { "type": "string" } } },
            "execute": { "url": "https://x.test/{orderID}", "method": "PUT", "body_mode": "multipart" },
            "context_keys": ["tenant"], "preset_parameters": { "Region": "eu" },
            "output_mapping": { "var": "output" }, "guardrail_ids": [{ "ref": "Guard" }],
        } },
        "Guard": { "type": "guardrail", "properties": {
            "name": "g", "description": "d", "class": { "if": [{ "var": "args.big" }, "B", "A"] },
            "default_class": "D", "guard": { "<": [{ "var": "args.n" }, 3] }, "escalate": true,
            "context_mode": "replace",
        } },
    })
}

fn the_agent() -> Json {
    json!({
        "Bot": { "type": "agent", "properties": {
            "ai_provider_id": { "ref": "Prov" }, "name": "bot", "instructions": "be brief", "model": "m-2",
            "tool_bindings": [{ "tool_id": { "ref": "Ask" } }], "max_steps": 7,
            "tool_choice": { "type": "tool", "tool_name": "ask" },
            "stop_conditions": [{ "type": "hasToolCall", "tool_name": "ask" }],
            "active_tool_ids": [{ "ref": "Ask" }], "guardrail_ids": [{ "ref": "Guard" }],
            "step_rules": [{ "step": 1, "tool_choice": "required", "active_tool_ids": [{ "ref": "Ask" }] }],
            "boundary_policy": { "statement": [{ "effect": "Allow", "action": ["memories:*"] }] },
            "temperature": 0.25, "max_context_messages": 12, "single_session_per_actor": true,
            "trace_content_mode": "none", "on_approval_expiry": "react",
            "knowledge_config": {
                "memory_ids": [{ "ref": "Kb" }], "memory_tags": ["a*"], "document_ids": [{ "ref": "Doc" }],
                "document_paths": ["/a"], "min_score": 0.4, "limit": 3, "write_memory_id": { "ref": "Kb" },
                "extraction": { "enabled": true, "ai_provider_id": { "ref": "Prov" }, "model": "m", "prompt": "p" },
            },
            "output_schema": { "type": "object", "properties": { "answerText": { "type": "string" } } },
        } },
    })
}

fn what_uses_agents() -> Json {
    json!({
        "Guest": { "type": "actor", "properties": { "name": "guest", "external_id": "u1" } },
        "Talk": { "type": "session", "properties": {
            "agent_id": { "ref": "Bot" }, "name": "s", "actor_id": { "ref": "Guest" }, "auto_generate": true,
            "inactivity_ttl_seconds": 60, "tool_context": { "tenant": "x" },
        } },
        "Nightly": { "type": "trigger", "properties": {
            "name": "nightly", "description": "d", "type": "schedule", "target_type": "agent",
            "target_id": { "ref": "Bot" }, "input": { "message": { "Deep_Key": 1 } }, "cron": "0 3 * * *",
            "active": false, "policy_id": { "ref": "Limits" },
        } },
        "Limits": { "type": "policy", "properties": {
            "name": "l", "description": "d",
            "document": { "statement": [{ "effect": "Allow", "action": ["agents:*"], "resource": ["*"] }] },
        } },
        "Price": { "type": "project_price", "properties": {
            "provider": "azure", "model": "m", "component": "input_tokens", "unit": "token",
            "unit_price": 0.01, "meter_type": "llm_tokens", "effective_from": "2030-01-01T00:00:00.000Z",
        } },
        "Budget": { "type": "quota", "properties": {
            "scope": "agent", "scope_ref": { "ref": "Bot" }, "metric": "cost_usd", "window": "calendar_month",
            "limit": 12.5, "mode": "monitor", "on_unpriced": "allow",
        } },
        "Hook": { "type": "webhook", "properties": {
            "name": "h", "description": "d", "url": "https://x.test/hook", "events": ["agents.*", "quota.exceeded"],
        } },
        "Ocr": { "type": "ingestion_rule", "properties": {
            "content_type_glob": "image/*", "tool_id": { "ref": "Ask" }, "preset_parameters": { "Lang": "en" },
            "native_extraction": "skip", "chunk_strategy": "size", "chunk_size": 100, "chunk_overlap": 10,
            "metadata": { "a": 1 },
        } },
    })
}

/// What cannot be declared beside the rest, or has a test of its own.
fn left_out(type_name: &str) -> &'static [&'static str] {
    match type_name {
        "agent" => &["model_route_id"],
        "tool" => &["mcp", "actions", "denied_actions", "pipeline"],
        "actor" => &["instructions", "agent_id", "chat_id"],
        "guardrail" => &["context_tool_id"],
        "trigger" => &["action", "event_pattern"],
        "ingestion_rule" => &["agent_id", "action", "file_delivery"],
        _ => &[],
    }
}

/// The value with ids in place of what refers to them.
fn resolved(value: &Json, ids: &serde_json::Map<String, Json>) -> Json {
    match value {
        Json::Object(members) if members.len() == 1 && members.contains_key("ref") => {
            ids[members["ref"].as_str().expect("a logical id")].clone()
        }
        Json::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), resolved(value, ids))).collect()
        }
        Json::Array(items) => items.iter().map(|value| resolved(value, ids)).collect(),
        other => other.clone(),
    }
}

#[tokio::test]
async fn every_declared_property_is_stored_and_the_next_plan_is_empty() {
    let world = World::new().await;
    let template = everything();
    let formation = world.deployed(&template).await;
    assert_eq!(world.changes(&formation, &template).await, [], "it converges at once");
    let shown = world.get(&format!("/formations/{formation}")).await.body;
    let rows = shown["resources"].as_array().expect("rows");
    let ids = rows.iter().map(|row| {
        (row["logical_id"].as_str().expect("a label").to_owned(), row["physical_resource_id"].clone())
    });
    let ids: serde_json::Map<String, Json> = ids.collect();
    for (label, declared) in template["resources"].as_object().expect("resources") {
        let type_name = declared["type"].as_str().expect("a type");
        let route = rest_routes().iter().find(|route| route.type_name == type_name).expect("a route");
        let object = world.get(&format!("{}/{}", route.path, ids[label].as_str().expect("an id"))).await;
        let properties = declared["properties"].as_object().expect("properties");
        for (name, value) in properties {
            if (type_name, name.as_str()) != ("secret", "value") {
                assert_eq!(object.body[name], resolved(value, &ids), "{label}.{name}: {}", object.text);
            }
        }
        let rules = Platform::catalog().get(&TypeName::from(type_name)).expect("a type of the catalogue");
        let missing = rules.schema().names().filter(|name| !properties.contains_key(*name));
        let missing: Vec<_> = missing.filter(|name| !left_out(type_name).contains(name)).collect();
        assert_eq!(missing, Vec::<&str>::new(), "{type_name}: say in `everything` what it is to be");
    }
    let again = world.redeploy(&formation, &template).await;
    assert_eq!(again["status"], "active", "{again}");
    let events = last_events(&world, &formation).await;
    assert!(events.iter().all(|(_, action)| action == "no-op"), "{events:?}");
}

#[tokio::test]
async fn a_literal_secret_is_written_when_it_changed_and_only_then() {
    let world = World::new().await;
    let secret = |value: &str| only("secret", json!({ "name": "k", "value": value }));
    let formation = world.deployed(&secret("one")).await;
    assert_eq!(world.changes(&formation, &secret("one")).await, []);
    world.redeploy(&formation, &secret("one")).await;
    assert_eq!(last_events(&world, &formation).await, [pair("It", "no-op")]);
    assert_eq!(world.changes(&formation, &secret("two")).await, [pair("It", "update")]);
    world.redeploy(&formation, &secret("two")).await;
    assert_eq!(last_events(&world, &formation).await, [pair("It", "update")]);
}

#[tokio::test]
async fn a_kept_parameter_deep_in_a_value_keeps_what_stands_there() {
    let world = World::new().await;
    let tool = |description: &str| {
        let mut template = only(
            "tool",
            json!({
                "name": "t", "description": description,
                "execute": { "url": "https://x.test", "headers": {
                    "Authorization": { "sub": "Bearer ${Key}" }, "X-Other": "1",
                } },
                "preset_parameters": { "deep": { "zone": { "param": "Zone" } } },
            }),
        );
        template["parameters"] = json!({
            "Key": { "type": "string", "no_echo": true, "use_previous_value": true },
            "Zone": { "type": "string", "use_previous_value": true },
        });
        template
    };
    let parameters = json!({ "Key": "sk-kept", "Zone": "eu" });
    let body = json!({ "name": "s", "template": tool("a"), "parameters": parameters });
    let made = world.post("/formations", body).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let formation = made.id();
    let path = format!("/tools/{}", physical(&world, &formation, "It").await);
    let before = world.get(&path).await.body;
    assert_eq!(world.redeploy(&formation, &tool("a")).await["status"], "active");
    assert_eq!(last_events(&world, &formation).await, [pair("It", "no-op")]);
    assert_eq!(world.redeploy(&formation, &tool("b")).await["status"], "active");
    let after = world.get(&path).await.body;
    assert_eq!((&after["description"], &after["execute"]), (&json!("b"), &before["execute"]));
    assert_eq!(after["preset_parameters"], json!({ "deep": { "zone": "eu" } }));
    // The same value given again is what stands there already.
    let again = json!({ "template": tool("b"), "parameters": parameters });
    world.send("PUT", &format!("/formations/{formation}"), Some(&again)).await;
    assert_eq!(last_events(&world, &formation).await, [pair("It", "no-op")]);
}

#[tokio::test]
async fn an_explicit_null_clears_what_may_be_null() {
    let world = World::new().await;
    let before = everything();
    let formation = world.deployed(&before).await;
    let mut after = before.clone();
    let cleared = [
        ("Hook", "/webhooks", "description"),
        ("Nightly", "/triggers", "input"),
        ("Nightly", "/triggers", "policy_id"),
        ("Nightly", "/triggers", "description"),
        ("Doc", "/documents", "metadata"),
        ("Doc", "/documents", "tags"),
        ("Doc", "/documents", "title"),
        ("Guest", "/actors", "external_id"),
        ("Prov", "/ai-providers", "secret_id"),
        ("Prov", "/ai-providers", "config"),
        ("Kb", "/memories", "description"),
        ("Fact", "/memory-entries", "metadata"),
        ("Bot", "/agents", "knowledge_config"),
        ("Bot", "/agents", "boundary_policy"),
        ("Ask", "/tools", "guardrail_ids"),
        ("Talk", "/sessions", "tool_context"),
    ];
    for (label, _, name) in cleared {
        after["resources"][label]["properties"][name] = Json::Null;
    }
    let planned = world.changes(&formation, &after).await;
    let done = world.redeploy(&formation, &after).await;
    assert_eq!(done["status"], "active", "{done}");
    for (label, path, name) in cleared {
        assert!(planned.contains(&pair(label, "update")), "{label}.{name}: {planned:?}");
        let id = physical(&world, &formation, label).await;
        let object = world.get(&format!("{path}/{id}")).await.body;
        assert_eq!(object.get(name), Some(&Json::Null), "{label}.{name}");
    }
    assert_eq!(world.changes(&formation, &after).await, []);
}

#[tokio::test]
async fn what_is_not_declared_any_more_stays_as_it_is() {
    let world = World::new().await;
    let formation =
        world.deployed(&only("memory", json!({ "name": "m", "description": "d", "tags": ["a"] }))).await;
    let path = format!("/memories/{}", physical(&world, &formation, "It").await);
    let less = only("memory", json!({ "name": "m" }));
    assert_eq!(world.changes(&formation, &less).await, []);
    world.redeploy(&formation, &less).await;
    assert_eq!(last_events(&world, &formation).await, [pair("It", "no-op")]);
    let memory = world.get(&path).await.body;
    assert_eq!((&memory["description"], &memory["tags"]), (&json!("d"), &json!(["a"])));
}

#[tokio::test]
async fn the_order_of_keys_is_no_change_and_that_of_a_list_is_one() {
    let world = World::new().await;
    let provider = |config: &str| {
        let config: Json = serde_json::from_str(config).expect("JSON");
        only(
            "ai_provider",
            json!({ "name": "p", "provider": "custom", "default_model": "m", "config": config }),
        )
    };
    let formation = world.deployed(&provider(r#"{ "a": { "x": 1, "y": [1, 2] }, "b": 2.0 }"#)).await;
    assert_eq!(world.changes(&formation, &provider(r#"{ "b": 2, "a": { "y": [1, 2], "x": 1 } }"#)).await, []);
    let turned = provider(r#"{ "a": { "x": 1, "y": [2, 1] }, "b": 2 }"#);
    assert_eq!(world.changes(&formation, &turned).await, [pair("It", "update")]);
}

#[tokio::test]
async fn a_quota_is_restated_freely_and_refuses_to_be_about_something_else() {
    let world = World::new().await;
    let quota = |metric: &str, limit: u64| {
        only("quota", json!({ "scope": "project", "metric": metric, "window": "rolling_1h", "limit": limit }))
    };
    let formation = world.deployed(&quota("requests", 10)).await;
    let path = format!("/quotas/{}", physical(&world, &formation, "It").await);
    assert_eq!(world.changes(&formation, &quota("requests", 10)).await, []);
    assert_eq!(world.redeploy(&formation, &quota("requests", 11)).await["status"], "active");
    let failed = world.redeploy(&formation, &quota("tokens", 99)).await;
    assert_eq!(failed["status"], "failed", "{failed}");
    let message = failed["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("metric is immutable and cannot be changed after creation"), "{message}");
    let stands = world.get(&path).await.body;
    assert_eq!(
        (&stands["metric"], &stands["limit"]),
        (&json!("requests"), &json!(11)),
        "nothing of it was done"
    );
}
