//! The settings of a project, and what the types do by them.

use crate::world::{World, id_of, provider, refusal, wire};
use formwork_model::{Json, Timestamp, WireCode};
use formwork_platform::{ProjectChange, ProjectSettings, UpdateMode};
use formwork_store::{Clock, DomainError, DomainFailure, DomainTx, NewObject, Store};
use serde_json::json;

/// Makes the project that everything is in.
async fn project(world: &World) {
    let id = world.project.to_string();
    let object = NewObject {
        id,
        type_name: "project".to_owned(),
        project: None,
        doc: json!({ "name": "one" }),
        keys: Vec::new(),
        links: Vec::new(),
    };
    let job = Box::new(move |tx: &mut dyn DomainTx| tx.insert(object).map(|_| Json::Null));
    world.store.domain(None, None, job).await.expect("an insert");
}

/// Changes it; a refusal is its code, message and facts.
async fn set(world: &World, body: Json) -> Result<ProjectSettings, (String, String, Json)> {
    let change = ProjectChange::parse(body).expect("a change");
    let id = world.project.clone();
    let job = Box::new(move |tx: &mut dyn DomainTx| Ok(change.apply(tx, &id)?.doc));
    match world.store.domain(None, None, job).await {
        Ok(doc) => Ok(serde_json::from_value(doc).expect("settings")),
        Err(DomainFailure::Job(DomainError::Refused { code, message, meta })) => {
            Err((code, message, meta.unwrap_or_default()))
        }
        Err(other) => panic!("{other}"),
    }
}

async fn route(world: &World, name: &str) -> String {
    let provider = world.create("ai_provider", provider()).await;
    let targets = json!([{ "ai_provider_id": provider, "model": "m" }]);
    world.create("model_route", json!({ "name": name, "targets": targets })).await
}

#[tokio::test]
async fn what_names_no_model_inherits_the_default_route_which_then_stays() {
    let world = World::new();
    project(&world).await;
    let answer = world.try_create("agent", json!({ "name": "a" }), &[]).await;
    let message = "An agent needs an ai_provider_id or a model_route_id: the project has no default model route \
                   to inherit.";
    assert_eq!(refusal(&answer).2, message);
    let (first, second) = (route(&world, "first").await, route(&world, "second").await);
    set(&world, json!({ "default_model_route_id": first })).await.expect("set");
    let agent = world.create("agent", json!({ "name": "a" })).await;
    let chat = world.create("chat", json!({ "name": "c" })).await;
    // Another route serves as well; none does not.
    set(&world, json!({ "default_model_route_id": second })).await.expect("another");
    let (code, message, meta) =
        set(&world, json!({ "default_model_route_id": null })).await.expect_err("kept");
    assert_eq!(code, "PROJECT_DEFAULT_ROUTE_INHERITED");
    assert!(message.contains("1 agent(s) and 1 chat(s)"), "{message}");
    assert_eq!(meta, json!({ "agentCount": 1, "chatCount": 1 }));
    let refused = world.delete("model_route", &second).await;
    let (_, code, message) = refusal(&refused);
    assert_eq!(code, "MODEL_ROUTE_HAS_DEPENDENTS");
    assert!(message.contains("1 dependent project(s)"), "{message}");
    // Whoever names one does not inherit any more.
    world.update("agent", &agent, json!({ "model_route_id": first })).await;
    world.delete("chat", &chat).await;
    let settings = set(&world, json!({ "default_model_route_id": null })).await.expect("cleared");
    assert_eq!(settings, ProjectSettings::default());
    let back = world.update("agent", &agent, json!({ "model_route_id": null })).await;
    assert_eq!(refusal(&back).1, "VALIDATION_FAILED");
    world.delete("model_route", &second).await;
    assert!(world.stored("model_route").await.iter().all(|route| route.id != second));
}

#[tokio::test]
async fn what_a_project_names_is_its_own() {
    let mut world = World::new();
    project(&world).await;
    world.project = "proj_two".into();
    let elsewhere = route(&world, "elsewhere").await;
    let guardrail = world.create("guardrail", json!({ "name": "g", "class": "A" })).await;
    world.project = "proj_one".into();
    for (body, expected) in [
        (json!({ "default_model_route_id": elsewhere }), "MODEL_ROUTE_NOT_FOUND"),
        (json!({ "default_model_route_id": "route_missing" }), "MODEL_ROUTE_NOT_FOUND"),
        (json!({ "guardrail_ids": [guardrail] }), "GUARDRAIL_NOT_FOUND"),
    ] {
        assert_eq!(set(&world, body).await.expect_err("elsewhere").0, expected);
    }
    let own = world.create("guardrail", json!({ "name": "g", "class": "A" })).await;
    set(&world, json!({ "guardrail_ids": [own] })).await.expect("set");
    let refused = world.delete("guardrail", &own).await;
    assert_eq!(refusal(&refused).1, "GUARDRAIL_HAS_REFERENCES");
    set(&world, json!({ "guardrail_ids": [] })).await.expect("set");
    world.delete("guardrail", &own).await;
    assert!(world.stored("guardrail").await.iter().all(|guardrail| guardrail.id != own));
}

#[tokio::test]
async fn a_project_that_keeps_no_content_drops_what_is_reported() {
    let world = World::new();
    project(&world).await;
    let (provider, agent) = world.agent().await;
    set(&world, json!({ "trace_content_mode": "none" })).await.expect("set");
    let input = json!([{ "role": "user", "content": "canary-5a1" }]);
    let made = world.rest_made("generation", json!({ "agent_id": agent, "input": input })).await;
    assert_eq!(made["input"], Json::Null);
    assert!(made["content_purged_at"].is_string());
    let done = json!({ "status": "completed", "output": { "content": "canary-5a1" } });
    let done = world.rest_update("generation", id_of(&made), done, UpdateMode::Patch, None).await;
    assert_eq!(done.expect("reported")["status"], "completed");
    world.rest_made("trace", json!({ "agent_id": agent, "steps": [{ "said": "canary-5a1" }] })).await;
    assert!(!world.everything_stored().await.contains("canary-5a1"));
    let full = json!({ "ai_provider_id": provider, "trace_content_mode": "full" });
    let answer = world.try_create("agent", full, &[]).await;
    assert!(refusal(&answer).2.starts_with("trace_content_mode 'full' is not possible"));
    // An agent may keep none where the project keeps all.
    set(&world, json!({ "trace_content_mode": null })).await.expect("set");
    world.update("agent", &agent, json!({ "trace_content_mode": "none" })).await;
    let made = world.rest_made("generation", json!({ "agent_id": agent, "input": input })).await;
    assert_eq!(made["input"], Json::Null);
    let refused = world.rest_act("generation", id_of(&made), "GetGenerationTranscript").await;
    assert_eq!(wire(&refused.expect_err("none")).0, WireCode::GenerationContentUnavailable);
}

#[tokio::test]
async fn content_is_purged_when_its_days_are_over() {
    let world = World::new();
    project(&world).await;
    let (_, agent) = world.agent().await;
    let input = json!([{ "role": "user", "content": "hi" }]);
    let report = json!({ "agent_id": agent, "input": input });
    let mut old = Json::Null;
    for _ in 0..201 {
        old = world.rest_made("generation", report.clone()).await;
    }
    let trace = world.rest_made("trace", json!({ "agent_id": agent, "steps": [1] })).await;
    let now = |world: &World| -> Timestamp { world.clock.now() };
    assert_eq!(world.platform.purge_expired_content(now(&world)).await.expect("purged"), 0, "kept for ever");
    set(&world, json!({ "trace_content_retention_days": 2 })).await.expect("set");
    world.advance(24 * 60 * 60);
    let young = world.rest_made("generation", report).await;
    assert_eq!(world.platform.purge_expired_content(now(&world)).await.expect("purged"), 0, "not yet");
    world.advance(24 * 60 * 60 + 60);
    assert_eq!(world.platform.purge_expired_content(now(&world)).await.expect("purged"), 202);
    assert_eq!(world.platform.purge_expired_content(now(&world)).await.expect("purged"), 0, "once");
    let shown = world.rest_get("generation", id_of(&old)).await.expect("there");
    assert_eq!((&shown["input"], shown["content_purged_at"].is_string()), (&Json::Null, true));
    assert_eq!(world.rest_get("trace", id_of(&trace)).await.expect("there")["steps"], Json::Null);
    let shown = world.rest_get("generation", id_of(&young)).await.expect("there");
    assert_eq!((&shown["input"], &shown["content_purged_at"]), (&input, &Json::Null));
}
