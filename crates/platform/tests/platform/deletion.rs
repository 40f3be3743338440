//! The deletion matrix: who blocks, what goes along.

use crate::world::{World, caller, native, provider, refusal, wire};
use formwork_model::{OperationErrorCode, ProjectId, WireCode};
use formwork_plugin::{OperationStatus, ResourcePlugin};
use formwork_store::{Link, NewObject, Store};
use serde_json::json;

impl World {
    async fn rest_delete(
        &self,
        type_name: &str,
        id: &str,
        force: bool,
    ) -> Result<(), formwork_platform::PlatformError> {
        let projects: &[ProjectId] = std::slice::from_ref(&self.project);
        self.platform.rest_delete(&caller(), &type_name.into(), Some(projects), id, force).await
    }

    /// What a running agent would leave behind.
    async fn leave_trace(&self, type_name: &'static str, agent: &str) {
        let object = NewObject {
            id: format!("{type_name}_of_{agent}"),
            type_name: type_name.to_owned(),
            project: Some(self.project.clone()),
            doc: json!({}),
            keys: Vec::new(),
            links: vec![Link { field: "agent_id".to_owned(), to: agent.to_owned() }],
        };
        let job = Box::new(move |tx: &mut dyn formwork_store::DomainTx| {
            tx.insert(object)?;
            Ok(json!(null))
        });
        self.store.domain(None, None, job).await.expect("an insert");
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
    let message = format!("Secret '{secret}' still has dependents: 1 of type `ai_provider`.");
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
    world.leave_trace("generation", &agent).await;
    world.leave_trace("trace", &agent).await;
    let answer = world.delete("agent", &agent).await;
    assert_eq!(refusal(&answer).1, "AGENT_HAS_DEPENDENTS");
    assert_eq!(answer.failure_meta, Some(json!({ "generationCount": 1, "traceCount": 1 })));
    world.rest_delete("agent", &agent, true).await.expect("forced");
    assert!(world.stored("generation").await.is_empty());
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
    world.leave_trace("generation", &agent).await;
    let blockers = world.platform.delete_blockers(&world.context(), &all[1..]).await.expect("an answer");
    let reasons: Vec<_> = blockers.iter().map(|blocker| blocker.reason.clone()).collect();
    assert_eq!(reasons, [format!("AI provider '{provider}' still has dependents: 1 of type `agent`.")]);
    let blockers = world.platform.delete_blockers(&world.context(), &all).await.expect("an answer");
    let reasons: Vec<_> = blockers.iter().map(|blocker| blocker.reason.clone()).collect();
    assert_eq!(reasons, [format!("Agent '{agent}' still has dependents: 1 of type `generation`.")]);
}

#[tokio::test]
async fn rest_answers_not_found_for_what_is_gone() {
    let world = World::new();
    let refused = world.rest_delete("memory", "mem_none", false).await.expect_err("not there");
    let (code, message, _) = wire(&refused);
    assert_eq!((code, message), (WireCode::ResourceNotFound, "Memory not found: mem_none"));
}
