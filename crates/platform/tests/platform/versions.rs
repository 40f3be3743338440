//! Versions: every changing write leaves one, and each can be written again.

use crate::world::{World, caller, provider, wire};
use formwork_model::{Json, Path, WireCode};
use formwork_platform::{PlatformError, RestAction, UpdateMode, rest_routes};
use serde_json::json;

impl World {
    async fn versions(&self, type_name: &str) -> Vec<Json> {
        let mut shown = Vec::new();
        for object in self.stored(type_name).await {
            shown.push(self.rest_get(type_name, &object.id).await.expect("a version"));
        }
        shown
    }

    async fn restore(&self, type_name: &str, id: &str) -> Result<Json, PlatformError> {
        let action = action_of(type_name, "restore");
        let projects = std::slice::from_ref(&self.project);
        self.platform.rest_act(&caller(), &type_name.into(), Some(projects), id, &action, Json::Null).await
    }
}

pub(crate) fn action_of(type_name: &str, path: &str) -> RestAction {
    let route = rest_routes().iter().find(|route| route.type_name == type_name).expect("a route");
    *route.actions.iter().find(|action| action.path == path).expect("an action")
}

fn text(version: &Json, name: &str) -> String {
    version[name].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn each_changing_write_leaves_a_version_and_no_other_write_does() {
    let world = World::new();
    let declared = json!({ "name": "w", "states": [{ "name": "a", "initial": true }], "transitions": [] });
    let workflow = world.create("workflow", declared.clone()).await;
    world.update("workflow", &workflow, declared).await;
    world.update("workflow", &workflow, json!({ "description": "d" })).await;
    let shown = world.rest_get("workflow", &workflow).await.expect("a workflow");
    assert_eq!(shown["version"], json!(2));
    let versions = world.versions("workflow_version").await;
    assert_eq!(versions.len(), 2);
    assert!(text(&versions[0], "id").starts_with("wfl_ver_"));
    assert_eq!(versions[1]["workflow_id"], json!(workflow));
    assert_eq!((&versions[1]["version"], &versions[1]["created_by"]), (&json!(2), &json!("user_1")));
    assert_eq!(versions[0]["properties"].get("description"), None);
    assert_eq!(versions[1]["properties"]["description"], json!("d"));
}

#[tokio::test]
async fn restoring_writes_all_of_it_again_as_a_version_of_its_own() {
    let world = World::new();
    let nodes = json!([{ "id": "a", "type": "human" }]);
    let declared = json!({ "name": "o", "nodes": nodes, "edges": [] });
    let orchestration = world.create("orchestration", declared).await;
    world.update("orchestration", &orchestration, json!({ "name": "p", "description": "d" })).await;
    let first = text(&world.versions("orchestration_version").await[0], "id");
    let restored = world.restore("orchestration_version", &first).await.expect("restored");
    assert_eq!((&restored["name"], &restored["description"]), (&json!("o"), &Json::Null));
    assert_eq!(restored["version"], json!(3));
    assert_eq!(world.versions("orchestration_version").await.len(), 3);
}

#[tokio::test]
async fn a_secret_stays_sealed_in_a_version_and_comes_back_with_it() {
    let world = World::new();
    let provider = world.create("ai_provider", provider()).await;
    let declared = json!({ "ai_provider_id": provider, "instructions": "canary-4711" });
    let at = [Path::of(["instructions"])];
    let agent = world.create_secret("agent", declared, &at).await;
    let before = world.read("agent", &agent).await.secret_digests;
    world.update("agent", &agent, json!({ "instructions": "open" })).await;
    let versions = world.versions("agent_version").await;
    assert_eq!(versions[0]["properties"]["instructions"], json!({ "no_echo": true }));
    assert!(!format!("{:?}", world.stored("agent_version").await).contains("canary"));
    let restored = world.restore("agent_version", &text(&versions[0], "id")).await.expect("restored");
    assert_eq!(restored["instructions"], json!({ "no_echo": true }));
    assert_eq!(world.read("agent", &agent).await.secret_digests, before);
}

#[tokio::test]
async fn a_version_whose_references_are_gone_is_not_restored() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let other = world.create("ai_provider", provider()).await;
    let old = text(&world.rest_get("agent", &agent).await.expect("an agent"), "ai_provider_id");
    world.update("agent", &agent, json!({ "ai_provider_id": other })).await;
    world.delete("ai_provider", &old).await;
    let first = text(&world.versions("agent_version").await[0], "id");
    let refused = world.restore("agent_version", &first).await.expect_err("the provider is gone");
    assert_eq!(wire(&refused).0, WireCode::AiProviderNotFound);
}

#[tokio::test]
async fn versions_go_with_what_they_are_versions_of() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let (_, other) = world.agent().await;
    world.delete("agent", &agent).await;
    let left = world.versions("agent_version").await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["agent_id"], json!(other));
}

#[tokio::test]
async fn a_label_names_the_version_that_its_write_makes_and_no_other() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let change = async |body: Json| {
        world.rest_update("agent", &agent, body, UpdateMode::Patch, None).await.expect("changed")
    };
    let labelled = change(json!({ "name": "two", "version_label": "beta" })).await;
    assert_eq!((&labelled["version"], &labelled["version_label"]), (&json!(2), &json!("beta")));
    let same = change(json!({ "name": "two" })).await;
    assert_eq!((&same["version"], &same["version_label"]), (&json!(2), &json!("beta")), "nothing changed");
    let next = change(json!({ "name": "three" })).await;
    assert_eq!((&next["version"], &next["version_label"]), (&json!(3), &Json::Null));
    let labels: Vec<_> = world
        .versions("agent_version")
        .await
        .iter()
        .map(|version| version["version_label"].clone())
        .collect();
    assert_eq!(labels, [Json::Null, json!("beta"), Json::Null]);
    let second = text(&world.versions("agent_version").await[1], "id");
    let restored = world.restore("agent_version", &second).await.expect("restored");
    assert_eq!((&restored["name"], &restored["version_label"]), (&json!("two"), &Json::Null));

    let renamed = change(json!({ "version_label": "stable" })).await;
    assert_eq!((&renamed["version"], &renamed["version_label"]), (&json!(5), &json!("stable")));
    world.update("agent", &agent, json!({ "name": "by a deploy" })).await;
    let deployed = world.rest_get("agent", &agent).await.expect("an agent");
    assert_eq!(deployed["version_label"], Json::Null, "a deploy names no versions");
}
