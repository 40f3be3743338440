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

/// What is declared, with nulls for the rest of what a type has.
fn with_nulls(declared: &Json, nulls: &[&str]) -> Json {
    let mut view = declared.clone();
    for name in nulls {
        view[*name] = Json::Null;
    }
    view
}

#[tokio::test]
async fn rules_limits_and_prices_read_back() {
    let world = World::new();
    let (provider, agent) = world.agent().await;
    let declared = json!({
        "content_type_glob": "image/*", "agent_id": agent, "native_extraction": "skip",
        "file_delivery": "download_url", "chunk_strategy": "size", "chunk_size": 500, "chunk_overlap": 50,
        "preset_parameters": { "language": "en" },
    });
    let view = with_nulls(&declared, &["tool_id", "action", "metadata"]);
    assert!(round_trip(&world, "ingestion_rule", declared, view).await.starts_with("igr_"));
    let declared = json!({
        "name": "r", "targets": [{ "ai_provider_id": provider, "model": "m", "max_retries": 2 }],
    });
    let mut view = declared.clone();
    view["retry_on"] = json!(["provider_error", "timeout", "rate_limited"]);
    view["failure_threshold"] = json!(3);
    view["cooldown_seconds"] = json!(60);
    assert!(round_trip(&world, "model_route", declared, view).await.starts_with("route_"));
    let declared = json!({
        "scope": "agent", "scope_ref": agent, "metric": "cost_usd", "window": "calendar_month", "limit": 2.5,
        "mode": "monitor", "on_unpriced": "allow",
    });
    assert!(round_trip(&world, "quota", declared.clone(), declared).await.starts_with("quota_"));
    let declared = json!({
        "provider": "openai", "model": "m", "component": "request", "unit": "request", "unit_price": 0.5,
        "meter_type": "calls", "effective_from": "2025-01-01T00:00:00.000Z",
    });
    assert!(round_trip(&world, "project_price", declared.clone(), declared).await.starts_with("price_"));
}

#[tokio::test]
async fn triggers_and_webhooks_read_back() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let declared = json!({
        "name": "t", "type": "event", "target_type": "agent", "target_id": agent,
        "event_pattern": "agents.*", "input": { "a": 1 }, "active": false,
    });
    let view = with_nulls(&declared, &["description", "action", "cron", "policy_id"]);
    assert!(round_trip(&world, "trigger", declared, view).await.starts_with("trg_"));
    let declared = json!({ "name": "w", "url": "http://x.test/hook", "events": ["*"] });
    let view = with_nulls(&declared, &["description"]);
    assert!(round_trip(&world, "webhook", declared, view).await.starts_with("wh_"));
}

#[tokio::test]
async fn graphs_and_machines_read_back() {
    let world = World::new();
    let declared = json!({
        "name": "o",
        "nodes": [
            { "id": "ask", "type": "human", "prompt": "go on?", "state_mapping": { "state.answer": { "var": "output" } } },
            { "id": "wait", "type": "delay", "duration": 5 },
        ],
        "edges": [{ "from": "ask", "to": "wait", "condition": "yes" }],
        "input_schema": { "type": "object" },
    });
    let view = with_nulls(&declared, &["description", "state_schema"]);
    assert!(round_trip(&world, "orchestration", declared, view).await.starts_with("orch_"));
    let declared = json!({
        "name": "w",
        "states": [{ "name": "new", "initial": true }, { "name": "done", "terminal": true, "kind": "human" }],
        "transitions": [{ "name": "finish", "from": ["new"], "to": "done", "guard": { "var": "payload.ok" } }],
    });
    let view = with_nulls(&declared, &["description", "payload_schema"]);
    assert!(round_trip(&world, "workflow", declared, view).await.starts_with("wfl_"));
}

#[tokio::test]
async fn keys_and_policies_read_back() {
    let world = World::new();
    let declared =
        json!({ "name": "p", "document": { "statement": [{ "effect": "Deny", "action": ["*"] }] } });
    let view = with_nulls(&declared, &["description"]);
    let policy = round_trip(&world, "policy", declared, view).await;
    assert!(policy.starts_with("pol_"));
    let declared = json!({ "name": "k", "policy_ids": [policy] });
    assert!(round_trip(&world, "api_key", declared.clone(), declared).await.starts_with("key_"));
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

#[tokio::test]
async fn chats_actors_and_conversations_read_back() {
    let world = World::new();
    let provider = world.create("ai_provider", provider()).await;
    let declared = json!({ "ai_provider_id": provider, "model": "m-2" });
    let view = json!({ "ai_provider_id": provider, "name": null, "instructions": null, "model": "m-2" });
    let chat = round_trip(&world, "chat", declared, view).await;
    assert!(chat.starts_with("chat_"));
    let declared = json!({ "name": "a", "external_id": "u1", "chat_id": chat });
    let view = json!({
        "name": "a", "external_id": "u1", "instructions": null, "agent_id": null, "chat_id": chat
    });
    let actor = round_trip(&world, "actor", declared, view).await;
    assert!(actor.starts_with("actor_"));
    let view = json!({ "name": null, "status": "open", "actor_id": actor });
    let conversation = round_trip(&world, "conversation", json!({ "actor_id": actor }), view).await;
    assert!(conversation.starts_with("conv_"));
    let answer = world.update("actor", &actor, json!({ "external_id": null })).await;
    assert_eq!(answer.resource_properties.expect("a view")["external_id"], Json::Null);
    let agent = world.create("agent", json!({ "ai_provider_id": provider })).await;
    let answer = world.update("actor", &actor, json!({ "agent_id": agent })).await;
    let refused = crate::world::refusal(&answer);
    assert_eq!(
        (refused.1, refused.2),
        ("AGENT_AND_CHAT_EXCLUSIVE", "agentId and chatId are mutually exclusive")
    );
    let answer = world.update("actor", &actor, json!({ "agent_id": agent, "chat_id": null })).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
}

#[tokio::test]
async fn a_session_reads_back_without_what_only_routes_set() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let declared = json!({ "agent_id": agent, "tool_context": { "x-user": "u" } });
    let view = json!({
        "agent_id": agent, "name": null, "actor_id": null, "auto_generate": false,
        "inactivity_ttl_seconds": 0, "tool_context": { "x-user": "u" },
    });
    let id = round_trip(&world, "session", declared, view).await;
    assert!(id.starts_with("sess_"));
}

#[tokio::test]
async fn datasets_items_and_evals_read_back() {
    let world = World::new();
    let (provider, agent) = world.agent().await;
    let view = json!({ "name": "d", "description": null });
    let dataset = round_trip(&world, "dataset", json!({ "name": "d" }), view).await;
    assert!(dataset.starts_with("dset_"));
    let input = json!([{ "role": "user", "content": "hi" }]);
    let declared = json!({ "dataset_id": dataset, "input": input, "expected_output": "ho" });
    let view = json!({
        "dataset_id": dataset, "input": input, "expected_output": "ho", "metadata": null
    });
    let item = round_trip(&world, "dataset_item", declared, view).await;
    assert!(item.starts_with("dsit_"));
    let tool = world.create("tool", json!({ "name": "t" })).await;
    let scorers = json!([
        { "type": "exact_match" },
        { "type": "llm_judge", "prompt": "p", "pass_threshold": 0.5, "ai_provider_id": provider },
        { "type": "tool", "name": "mine", "tool_id": tool },
    ]);
    let declared = json!({
        "name": "e", "agent_id": agent, "dataset_id": dataset, "scorers": scorers, "pass_threshold": 0.9
    });
    let eval = round_trip(&world, "eval", declared.clone(), declared).await;
    assert!(eval.starts_with("eval_"));
    let answer = world.update("eval", &eval, json!({ "pass_threshold": null })).await;
    assert_eq!(answer.resource_properties.expect("a view")["pass_threshold"], Json::Null);
}

#[tokio::test]
async fn files_and_guardrails_read_back() {
    let world = World::new();
    let declared = json!({ "prefix": "/d", "filename": "a.txt", "size": 3, "metadata": "{\"k\":1}" });
    let mut view = declared.clone();
    view["content_type"] = Json::Null;
    let file = round_trip(&world, "file", declared, view).await;
    assert!(file.starts_with("file_"));
    let class = json!({ "if": [{ "var": "runtime.usage.tokens_24h" }, "B", "A"] });
    let declared = json!({ "name": "g", "class": class, "escalate": true, "context_mode": "replace" });
    let mut view = declared.clone();
    view["description"] = Json::Null;
    view["default_class"] = json!("C");
    view["guard"] = Json::Null;
    view["context_tool_id"] = Json::Null;
    let guardrail = round_trip(&world, "guardrail", declared, view).await;
    assert!(guardrail.starts_with("guard_"));
}

#[tokio::test]
async fn an_item_stays_in_its_dataset_and_says_so_in_the_seeds_words() {
    let world = World::new();
    let dataset = world.create("dataset", json!({ "name": "d" })).await;
    let other = world.create("dataset", json!({ "name": "o" })).await;
    let item = world.create("dataset_item", json!({ "dataset_id": dataset, "input": [] })).await;
    let answer = world.update("dataset_item", &item, json!({ "dataset_id": other })).await;
    let message = format!(
        "dataset_id is immutable: item '{item}' belongs to '{dataset}'. Declare a new dataset_item instead."
    );
    let refused = crate::world::refusal(&answer);
    assert_eq!((refused.1, refused.2), ("VALIDATION_FAILED", &*message));
}

#[tokio::test]
async fn no_fixed_property_is_passed_over() {
    let world = World::new();
    let (provider, agent) = world.agent().await;
    let actor = world.create("actor", json!({ "name": "a" })).await;
    let chat = world.create("chat", json!({ "ai_provider_id": provider, "name": "c" })).await;
    let conversation = world.create("conversation", json!({})).await;
    let session = world.create("session", json!({ "agent_id": agent })).await;
    let file = world.create("file", json!({ "filename": "a" })).await;
    for (type_name, id, name, value) in [
        ("chat", &chat, "name", json!("d")),
        ("chat", &chat, "instructions", json!("i")),
        ("conversation", &conversation, "actor_id", json!(actor)),
        ("session", &session, "actor_id", json!(actor)),
        ("session", &session, "inactivity_ttl_seconds", json!(5)),
        ("file", &file, "content_type", json!("text/plain")),
        ("file", &file, "size", json!(1)),
    ] {
        let answer = world.update(type_name, id, json!({ name: value })).await;
        let message = format!("`{name}` cannot be changed after creation");
        assert_eq!(crate::world::refusal(&answer).2, message, "{type_name}");
    }
}
