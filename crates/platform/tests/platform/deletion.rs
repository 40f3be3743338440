//! The deletion matrix: who blocks, what goes along.

use crate::world::{World, id_of, native, provider, refusal, wire};
use formwork_model::{Json, OperationErrorCode, WireCode};
use formwork_plugin::{OperationStatus, ResourcePlugin};
use serde_json::json;

impl World {
    /// What a running agent leaves behind.
    async fn leave(&self, type_name: &'static str, agent: &str) -> String {
        id_of(&self.rest_made(type_name, json!({ "agent_id": agent })).await).to_owned()
    }
}

async fn secret_with_provider(world: &World) -> (String, String) {
    let secret = world.create("secret", json!({ "name": "k", "value": "v" })).await;
    let mut declared = provider();
    declared["secret_id"] = json!(secret);
    let provider = world.create("ai_provider", declared).await;
    (secret, provider)
}

#[tokio::test]
async fn a_formation_never_takes_a_provider_along_with_its_secret() {
    let world = World::new();
    let (secret, provider) = secret_with_provider(&world).await;
    let answer = world.delete("secret", &secret).await;
    let message = format!("Secret '{secret}' has 1 dependent AI provider(s), so it cannot be deleted.");
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "SECRET_HAS_DEPENDENTS", &*message));
    assert_eq!(answer.failure_meta, Some(json!({ "aiProviderCount": 1 })));
    assert_eq!(world.read("ai_provider", &provider).await.error_code, None);
}

#[tokio::test]
async fn rest_takes_providers_along_only_by_force_and_never_agents() {
    let world = World::new();
    let (secret, provider) = secret_with_provider(&world).await;
    let refused = world.rest_delete("secret", &secret, false).await.expect_err("a provider uses it");
    assert_eq!(wire(&refused).0, WireCode::SecretHasDependents);
    let agent = world.create("agent", json!({ "ai_provider_id": provider })).await;
    let refused = world.rest_delete("secret", &secret, true).await.expect_err("an agent uses the provider");
    assert_eq!(wire(&refused).0, WireCode::AiProviderHasDependents);
    assert_eq!(world.read("secret", &secret).await.error_code, None, "nothing was deleted");
    world.rest_delete("agent", &agent, false).await.expect("nothing blocks it");
    world.rest_delete("secret", &secret, true).await.expect("forced");
    assert_eq!(world.read("ai_provider", &provider).await.error_code, Some(OperationErrorCode::NotFound));
}

#[tokio::test]
async fn an_agent_blocks_its_provider_and_the_one_it_extracts_with() {
    let world = World::new();
    let (main, _) = world.agent().await;
    let other = world.create("ai_provider", provider()).await;
    let knowledge = json!({ "extraction": { "ai_provider_id": other } });
    world.create("agent", json!({ "ai_provider_id": main, "knowledge_config": knowledge })).await;
    for (id, count) in [(&main, 2), (&other, 1)] {
        let answer = world.delete("ai_provider", id).await;
        assert_eq!(refusal(&answer).1, "AI_PROVIDER_HAS_DEPENDENTS");
        assert_eq!(answer.failure_meta, Some(json!({ "agentCount": count })));
    }
}

#[tokio::test]
async fn what_an_agent_did_blocks_it_unless_forced() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    world.leave("generation", &agent).await;
    world.leave("trace", &agent).await;
    let answer = world.delete("agent", &agent).await;
    let message =
        format!("Agent '{agent}' has 1 dependent generation(s) and 1 trace(s), so it cannot be deleted.");
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "AGENT_HAS_DEPENDENTS", &*message));
    assert_eq!(answer.failure_meta, Some(json!({ "generationCount": 1, "traceCount": 1 })));
    world.rest_delete("agent", &agent, true).await.expect("forced");
    assert!(world.stored("generation").await.is_empty() && world.stored("trace").await.is_empty());
}

#[tokio::test]
async fn a_memory_takes_all_its_entries_along_and_no_others() {
    let world = World::new();
    let memory = world.create("memory", json!({ "name": "m" })).await;
    let other = world.create("memory", json!({ "name": "o" })).await;
    for _ in 0..205 {
        world.create("memory_entry", json!({ "memory_id": memory, "content": "c" })).await;
    }
    world.create("memory_entry", json!({ "memory_id": other, "content": "c" })).await;
    assert_eq!(world.delete("memory", &memory).await.operation_status, OperationStatus::Success);
    assert_eq!(world.stored("memory_entry").await.len(), 1);
}

#[tokio::test]
async fn blockers_are_told_beforehand_but_not_those_that_leave_as_well() {
    let world = World::new();
    let (secret, provider) = secret_with_provider(&world).await;
    let agent = world.create("agent", json!({ "ai_provider_id": provider })).await;
    let all = [
        ("agent".into(), native(&agent)),
        ("ai_provider".into(), native(&provider)),
        ("secret".into(), native(&secret)),
        ("memory".into(), native("mem_gone")),
    ];
    let blockers = world.platform.delete_blockers(&world.context(), &all).await.expect("an answer");
    assert!(blockers.is_empty(), "{blockers:?}");
    world.leave("generation", &agent).await;
    let blockers = world.platform.delete_blockers(&world.context(), &all[1..]).await.expect("an answer");
    let reasons: Vec<_> = blockers.iter().map(|blocker| blocker.reason.clone()).collect();
    let reason = format!("AI provider '{provider}' has 1 dependent agent(s), so it cannot be deleted.");
    assert_eq!(reasons, [reason]);
    let blockers = world.platform.delete_blockers(&world.context(), &all).await.expect("an answer");
    let reasons: Vec<_> = blockers.iter().map(|blocker| blocker.reason.clone()).collect();
    let reason =
        format!("Agent '{agent}' has 1 dependent generation(s) and 0 trace(s), so it cannot be deleted.");
    assert_eq!(reasons, [reason]);
}

#[tokio::test]
async fn rest_answers_not_found_for_what_is_gone() {
    let world = World::new();
    let refused = world.rest_delete("memory", "mem_none", false).await.expect_err("not there");
    let (code, message, _) = wire(&refused);
    assert_eq!((code, message), (WireCode::ResourceNotFound, "Memory not found: mem_none"));
}

#[tokio::test]
async fn an_agent_takes_its_sessions_and_evals_along_and_lets_its_actors_go() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let actor = world.create("actor", json!({ "name": "a", "agent_id": agent })).await;
    let session = world.create("session", json!({ "agent_id": agent })).await;
    world.rest_made("message", json!({ "session_id": session, "message": "m" })).await;
    let dataset = world.create("dataset", json!({ "name": "d" })).await;
    let eval = json!({ "name": "e", "agent_id": agent, "dataset_id": dataset, "scorers": [] });
    world.create("eval", eval).await;
    let answer = world.delete("agent", &agent).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
    for gone in ["session", "conversation", "message", "eval"] {
        assert!(world.stored(gone).await.is_empty(), "{gone}");
    }
    let shown = world.rest_get("actor", &actor).await.expect("it stays");
    assert_eq!(shown["agent_id"], Json::Null);
    assert_eq!(world.read("dataset", &dataset).await.error_code, None);
    assert!(!world.everything_stored().await.contains(&agent), "nothing names it any more");
}

#[tokio::test]
async fn a_chat_lets_its_actors_go_and_keeps_its_provider() {
    let world = World::new();
    let provider = world.create("ai_provider", provider()).await;
    let chat = world.create("chat", json!({ "ai_provider_id": provider })).await;
    let actor = world.create("actor", json!({ "name": "a", "external_id": "u1", "chat_id": chat })).await;
    let answer = world.delete("ai_provider", &provider).await;
    assert_eq!(refusal(&answer).1, "AI_PROVIDER_HAS_DEPENDENTS");
    assert_eq!(answer.failure_meta, Some(json!({ "chatCount": 1 })));
    assert_eq!(world.delete("chat", &chat).await.operation_status, OperationStatus::Success);
    let shown = world.rest_get("actor", &actor).await.expect("it stays");
    assert_eq!((&shown["chat_id"], &shown["external_id"]), (&Json::Null, &json!("u1")));
    let again = json!({ "name": "b", "external_id": "u1" });
    assert_eq!(refusal(&world.try_create("actor", again, &[]).await).1, "NAME_CONFLICT", "its keys stay");
}

#[tokio::test]
async fn what_an_actor_said_blocks_it() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let actor = world.create("actor", json!({ "name": "a" })).await;
    let conversation = world.create("conversation", json!({ "actor_id": actor })).await;
    let session = world.create("session", json!({ "agent_id": agent, "actor_id": actor })).await;
    world.rest_made("message", json!({ "session_id": session, "message": "m" })).await;
    let answer = world.delete("actor", &actor).await;
    let message = format!("Actor '{actor}' has 1 dependent message(s), so it cannot be deleted.");
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "ACTOR_HAS_MESSAGES", &*message));
    assert_eq!(answer.failure_meta, Some(json!({ "messageCount": 1 })));

    let with_session = [("session".into(), native(&session)), ("actor".into(), native(&actor))];
    let blockers = world.platform.delete_blockers(&world.context(), &with_session).await.expect("an answer");
    assert!(blockers.is_empty(), "the message goes with the session: {blockers:?}");
    let alone = &with_session[1..];
    let blockers = world.platform.delete_blockers(&world.context(), alone).await.expect("an answer");
    assert_eq!(blockers.len(), 1);
    let with_agent = [("agent".into(), native(&agent)), ("actor".into(), native(&actor))];
    let blockers = world.platform.delete_blockers(&world.context(), &with_agent).await.expect("an answer");
    assert!(blockers.is_empty(), "the session goes with the agent: {blockers:?}");

    assert_eq!(world.delete("session", &session).await.operation_status, OperationStatus::Success);
    assert!(world.stored("message").await.is_empty());
    assert_eq!(world.delete("actor", &actor).await.operation_status, OperationStatus::Success);
    let shown = world.rest_get("conversation", &conversation).await.expect("it stays");
    assert_eq!(shown["actor_id"], Json::Null);
}

#[tokio::test]
async fn a_dataset_takes_its_items_and_evals_along() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let dataset = world.create("dataset", json!({ "name": "d" })).await;
    world.create("dataset_item", json!({ "dataset_id": dataset, "input": [] })).await;
    let eval = json!({ "name": "e", "agent_id": agent, "dataset_id": dataset, "scorers": [] });
    world.create("eval", eval).await;
    assert_eq!(world.delete("dataset", &dataset).await.operation_status, OperationStatus::Success);
    assert!(world.stored("dataset_item").await.is_empty() && world.stored("eval").await.is_empty());
}

#[tokio::test]
async fn a_guardrail_is_held_by_the_tools_and_agents_that_name_it() {
    let world = World::new();
    let guardrail = world.create("guardrail", json!({ "name": "g", "class": "A" })).await;
    let tool = world.create("tool", json!({ "name": "t", "guardrail_ids": [guardrail] })).await;
    let answer = world.delete("guardrail", &guardrail).await;
    let message = format!("Guardrail '{guardrail}' has 1 dependent tool(s), so it cannot be deleted.");
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "GUARDRAIL_HAS_REFERENCES", &*message));
    assert_eq!(answer.failure_meta, Some(json!({ "toolCount": 1 })));
    world.update("tool", &tool, json!({ "guardrail_ids": null })).await;
    assert_eq!(world.delete("guardrail", &guardrail).await.operation_status, OperationStatus::Success);
}

#[tokio::test]
async fn a_documents_file_cannot_be_deleted_under_it() {
    let world = World::new();
    let document = world.create("document", json!({ "content": "c", "path": "/a" })).await;
    let shown = world.rest_get("document", &document).await.expect("a document");
    let file = shown["file_id"].as_str().expect("a file");
    let answer = world.delete("file", file).await;
    let message = format!("File '{file}' has 1 dependent document(s), so it cannot be deleted.");
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "FILE_HAS_DEPENDENTS", &*message));
    assert_eq!(world.delete("document", &document).await.operation_status, OperationStatus::Success);
    assert!(world.stored("file").await.is_empty());
    let own = world.create("file", json!({ "filename": "a" })).await;
    assert_eq!(world.delete("file", &own).await.operation_status, OperationStatus::Success);
}

#[tokio::test]
async fn what_is_gone_counts_as_deleted_and_cannot_be_updated() {
    let world = World::new();
    for type_name in
        ["actor", "chat", "conversation", "session", "dataset", "dataset_item", "eval", "file", "guardrail"]
    {
        let answer = world.delete(type_name, "x_gone").await;
        assert_eq!(answer.operation_status, OperationStatus::Success, "{type_name}");
        let answer = world.update(type_name, "x_gone", json!({})).await;
        assert_eq!(refusal(&answer).0, OperationErrorCode::NotFound, "{type_name}");
    }
}
