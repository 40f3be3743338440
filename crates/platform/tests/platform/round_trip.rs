//! What is declared is what is read, type by type.

use crate::world::{World, provider};
use formwork_model::{Json, OperationErrorCode};
use formwork_plugin::OperationStatus;
use serde_json::json;

/// Creates, reads, and holds both against what was declared and what the type fills in.
async fn round_trip(world: &World, type_name: &str, declared: Json, view: Json) -> String {
    let answer = world.try_create(type_name, declared, &[]).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
    let id = answer.native_id.expect("an id").to_string();
    let read = world.read(type_name, &id).await;
    assert_eq!(read.error_code, None);
    assert_eq!(read.resource_properties, Some(view), "{type_name}");
    assert_eq!(answer.resource_properties, read.resource_properties, "the echo is the view");
    assert_eq!(answer.secret_digests, read.secret_digests);
    id
}

#[tokio::test]
async fn a_secret_reads_back_without_its_value() {
    let world = World::new();
    let id = round_trip(&world, "secret", json!({ "name": "k", "value": "v" }), json!({ "name": "k" })).await;
    assert!(id.starts_with("sec_"));
}

#[tokio::test]
async fn a_provider_reads_back_with_nulls_for_what_it_lacks() {
    let world = World::new();
    let secret = world.create("secret", json!({ "name": "k", "value": "v" })).await;
    let mut declared = provider();
    declared["secret_id"] = json!(secret);
    declared["config"] = json!({ "project": "p", "nested": { "camelCase": [1, 2.5, null] } });
    let mut view = declared.clone();
    view["base_url"] = Json::Null;
    let id = round_trip(&world, "ai_provider", declared, view).await;
    assert!(id.starts_with("aip_"));
}

#[tokio::test]
async fn memories_and_entries_read_back() {
    let world = World::new();
    let view = json!({ "name": "m", "description": null, "tags": ["a", "b"] });
    let memory = round_trip(&world, "memory", json!({ "name": "m", "tags": ["a", "b"] }), view).await;
    assert!(memory.starts_with("mem_"));
    let declared = json!({ "memory_id": memory, "content": "c", "metadata": { "k": 1 } });
    let view = json!({
        "memory_id": memory, "content": "c", "source_type": "manual", "tags": null, "metadata": { "k": 1 }
    });
    let entry = round_trip(&world, "memory_entry", declared, view).await;
    assert!(entry.starts_with("mem_entry_"));
}

#[tokio::test]
async fn a_tool_reads_back_with_its_default_type() {
    let world = World::new();
    let declared = json!({
        "name": "t",
        "execute": { "url": "https://x.test/{id}", "method": "GET" },
        "parameters": { "type": "object", "properties": { "id": { "type": "string" } } },
        "output_mapping": { "var": "output" },
    });
    let mut view = json!({
        "type": "http", "description": null, "mcp": null, "actions": null, "denied_actions": null,
        "context_keys": null, "preset_parameters": null, "pipeline": null, "guardrail_ids": null,
    });
    for (name, value) in declared.as_object().expect("an object") {
        view[name] = value.clone();
    }
    let id = round_trip(&world, "tool", declared, view).await;
    assert!(id.starts_with("tool_"));
}

#[tokio::test]
async fn an_agent_reads_back_with_what_it_refers_to() {
    let world = World::new();
    let provider = world.create("ai_provider", provider()).await;
    let tool = world.create("tool", json!({ "name": "t" })).await;
    let memory = world.create("memory", json!({ "name": "m" })).await;
    let document = world.create("document", json!({ "content": "text" })).await;
    let declared = json!({
        "ai_provider_id": provider,
        "model": "m-2",
        "tool_bindings": [{ "tool_id": tool }],
        "tool_choice": { "type": "tool", "tool_name": "t" },
        "stop_conditions": [{ "type": "hasToolCall", "tool_name": "t" }],
        "step_rules": [{ "step": 1, "active_tool_ids": [tool], "tool_choice": "required" }],
        "boundary_policy": { "statement": [{ "effect": "Allow", "action": ["agents:*"] }] },
        "knowledge_config": { "memory_ids": [memory], "document_ids": [document], "write_memory_id": memory },
        "output_schema": { "type": "object" },
        "temperature": 0.5,
    });
    let mut view = json!({
        "model_route_id": null, "name": null, "instructions": null, "max_steps": 20,
        "active_tool_ids": null, "guardrail_ids": null, "max_context_messages": null,
        "single_session_per_actor": false, "trace_content_mode": null, "on_approval_expiry": "terminate",
    });
    for (name, value) in declared.as_object().expect("an object") {
        view[name] = value.clone();
    }
    let id = round_trip(&world, "agent", declared, view).await;
    assert!(id.starts_with("agent_"));
}

#[tokio::test]
async fn a_document_reads_back_with_its_chunk_configuration() {
    let world = World::new();
    let declared = json!({ "content": "text", "path": "/a.txt", "tags": { "k": "v" }, "filename": "a.txt" });
    let view = json!({
        "content": "text", "path": "/a.txt", "filename": "a.txt", "title": null, "metadata": null,
        "tags": { "k": "v" }, "chunk_strategy": "whole", "chunk_size": 1000, "chunk_overlap": 200,
    });
    let id = round_trip(&world, "document", declared, view).await;
    assert!(id.starts_with("doc_"));
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_nothing_else() {
    let world = World::new();
    let memory = world.create("memory", json!({ "name": "m", "description": "d", "tags": ["a"] })).await;
    let answer = world.update("memory", &memory, json!({ "name": "n" })).await;
    let view = json!({ "name": "n", "description": "d", "tags": ["a"] });
    assert_eq!(answer.resource_properties, Some(view.clone()));
    assert_eq!(world.read("memory", &memory).await.resource_properties, Some(view));
}

#[tokio::test]
async fn null_clears_what_may_be_null_and_brings_defaults_back() {
    let world = World::new();
    let secret = world.create("secret", json!({ "name": "k", "value": "v" })).await;
    let mut declared = provider();
    declared["secret_id"] = json!(secret);
    let provider = world.create("ai_provider", declared).await;
    let answer = world.update("ai_provider", &provider, json!({ "secret_id": null })).await;
    assert_eq!(answer.resource_properties.expect("a view")["secret_id"], Json::Null);
    assert_eq!(world.delete("secret", &secret).await.operation_status, OperationStatus::Success);

    let agent = world.create("agent", json!({ "ai_provider_id": provider, "max_steps": 3 })).await;
    let answer = world.update("agent", &agent, json!({ "max_steps": null })).await;
    assert_eq!(answer.resource_properties.expect("a view")["max_steps"], json!(20));

    let answer = world.update("ai_provider", &provider, json!({ "name": null })).await;
    let (code, wire, message) = crate::world::refusal(&answer);
    assert_eq!(
        (code, wire, message),
        (OperationErrorCode::InvalidRequest, "VALIDATION_FAILED", "`name` must be a string")
    );
}

#[tokio::test]
async fn an_update_that_changes_nothing_writes_nothing() {
    let world = World::new();
    let (provider, agent) = world.agent().await;
    let before = world.stored("agent").await;
    world.update("agent", &agent, json!({ "ai_provider_id": provider, "max_steps": 20.0 })).await;
    assert_eq!(world.stored("agent").await, before);
    world.update("agent", &agent, json!({ "max_steps": 21 })).await;
    let shown = world.rest_get("agent", &agent).await.expect("an agent");
    assert_eq!(shown["version"], json!(2));
}

#[tokio::test]
async fn what_cannot_change_is_refused_and_never_passed_over() {
    let world = World::new();
    let memory = world.create("memory", json!({ "name": "m" })).await;
    let other = world.create("memory", json!({ "name": "o" })).await;
    let entry = world.create("memory_entry", json!({ "memory_id": memory, "content": "c" })).await;
    for (name, value) in [("memory_id", json!(other)), ("source_type", json!("agent"))] {
        let answer = world.update("memory_entry", &entry, json!({ name: value })).await;
        let (_, wire, message) = crate::world::refusal(&answer);
        assert_eq!(
            (wire, message),
            ("VALIDATION_FAILED", &*format!("`{name}` cannot be changed after creation"))
        );
    }
    let restated = json!({ "memory_id": memory, "source_type": "manual", "content": "d" });
    let answer = world.update("memory_entry", &entry, restated).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
    let document = world.create("document", json!({ "content": "c", "filename": "a" })).await;
    let answer = world.update("document", &document, json!({ "filename": "b" })).await;
    assert_eq!(crate::world::refusal(&answer).2, "`filename` cannot be changed after creation");
}
