//! Generations and traces: reported, read, purged, and never declared.

use crate::world::{World, id_of, list_of, wire};
use formwork_model::{Catalog, Json, TypeName, WireCode};
use formwork_platform::{Platform, UpdateMode};
use formwork_plugin::OperationStatus;
use serde_json::json;

async fn generation(world: &World) -> Json {
    let (_, agent) = world.agent().await;
    let trace = world.rest_made("trace", json!({ "agent_id": agent, "steps": [{ "n": 1 }] })).await;
    let input = json!([{ "role": "user", "content": "what?" }]);
    let body = json!({ "agent_id": agent, "trace_id": trace["id"], "input": input });
    world.rest_made("generation", body).await
}

#[tokio::test]
async fn records_are_not_types_of_templates() {
    let world = World::new();
    for name in ["generation", "trace", "message"] {
        assert!(Platform::catalog().get(&TypeName::from(name)).is_none(), "{name}");
        let answer = world.try_create(name, json!({}), &[]).await;
        assert_eq!(answer.operation_status, OperationStatus::Failure, "{name}");
    }
}

#[tokio::test]
async fn a_generation_is_reported_completed_and_told_as_a_transcript() {
    let world = World::new();
    let made = generation(&world).await;
    let id = id_of(&made);
    assert_eq!(made["status"], json!("in_progress"));
    let done = json!({ "status": "completed", "stop_reason": "end_turn", "output": { "content": "that" } });
    world.rest_update("generation", id, done, UpdateMode::Patch, None).await.expect("completed");
    let transcript = world.rest_act("generation", id, "GetGenerationTranscript").await.expect("told");
    let messages =
        json!([{ "role": "user", "content": "what?" }, { "role": "assistant", "content": "that" }]);
    assert_eq!(transcript, json!({ "generation_id": id, "status": "completed", "messages": messages }));
    let page = world.rest_list(list_of("generation", &[("status", "completed")])).await.expect("a page");
    assert_eq!(page.total, 1);
    let trace = made["trace_id"].as_str().expect("a trace");
    let page = world.rest_list(list_of("generation", &[("trace_id", trace)])).await.expect("a page");
    assert_eq!(page.total, 1);
}

#[tokio::test]
async fn purging_takes_the_content_and_leaves_the_record() {
    let world = World::new();
    let made = generation(&world).await;
    let (id, trace) = (id_of(&made), made["trace_id"].as_str().expect("a trace"));
    let purged = world.rest_act("generation", id, "PurgeGenerationContent").await.expect("purged");
    assert_eq!((&purged["input"], &purged["agent_id"]), (&Json::Null, &made["agent_id"]));
    assert!(purged["content_purged_at"].is_string());
    let again = world.rest_act("generation", id, "PurgeGenerationContent").await.expect("purged before");
    assert_eq!(again, purged);
    let refused = world.rest_act("generation", id, "GetGenerationTranscript").await.expect_err("gone");
    let message = format!("The content of generation '{id}' was purged.");
    let (code, text, _) = wire(&refused);
    assert_eq!((code, text), (WireCode::GenerationContentUnavailable, &*message));
    let purged = world.rest_act("trace", trace, "PurgeTraceContent").await.expect("purged");
    assert_eq!(purged["steps"], Json::Null);
}

#[tokio::test]
async fn a_tree_shows_what_was_called_from_a_trace_in_order() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let trace = |parent: Json| json!({ "agent_id": agent, "parent_trace_id": parent });
    let root = world.rest_made("trace", trace(Json::Null)).await;
    let first = world.rest_made("trace", trace(root["id"].clone())).await;
    let second = world.rest_made("trace", trace(root["id"].clone())).await;
    let below = world.rest_made("trace", trace(first["id"].clone())).await;
    let tree = world.related("trace", id_of(&root), "GetTraceTree", (50, 0)).await;
    let seen: Vec<(&Json, &Json)> =
        tree.items.iter().map(|node| (&node["depth"], &node["trace"]["id"])).collect();
    let (zero, one, two) = (json!(0), json!(1), json!(2));
    assert_eq!(
        seen,
        [(&zero, &root["id"]), (&one, &first["id"]), (&two, &below["id"]), (&one, &second["id"])]
    );
    let page = world.related("trace", id_of(&root), "GetTraceTree", (2, 1)).await;
    let ids: Vec<_> = page.items.iter().map(|node| &node["trace"]["id"]).collect();
    assert_eq!((ids, page.total), (vec![&first["id"], &below["id"]], 4));
}

#[tokio::test]
async fn records_refer_within_their_project() {
    let mut world = World::new();
    world.project = "proj_two".into();
    let (_, agent) = world.agent().await;
    world.project = "proj_one".into();
    for type_name in ["generation", "trace"] {
        let refused =
            world.rest_create(type_name, json!({ "agent_id": agent })).await.expect_err("elsewhere");
        assert_eq!(wire(&refused).0, WireCode::AgentNotFound);
    }
}
