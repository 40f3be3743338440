//! Kept plans: shown and carried out by their hash, or refused once what they rest on is no longer so.

use crate::world::{Reply, World};
use formwork_model::Json;
use serde_json::json;

fn memory(name: &str) -> Json {
    json!({ "resources": { "M": { "type": "memory", "properties": { "name": name } } } })
}

impl World {
    /// Keeps a plan and answers with its hash.
    async fn keep(&self, formation: Option<&str>, template: &Json) -> String {
        let body = json!({ "formation_id": formation, "template": template, "save": true });
        let reply = self.post("/formations/plan", body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body["plan_hash"].as_str().expect("a hash").to_owned()
    }

    async fn apply(&self, hash: &str, body: Json) -> Reply {
        self.post(&format!("/plans/{hash}/apply"), body).await
    }

    async fn memories(&self) -> Vec<String> {
        let listed = self.get("/memories").await.body;
        let name = |memory: &Json| memory["name"].as_str().expect("a name").to_owned();
        listed["data"].as_array().expect("a list").iter().map(name).collect()
    }
}

#[tokio::test]
async fn a_kept_plan_makes_a_formation_as_often_as_its_name_is_free() {
    let world = World::new().await;
    let hash = world.keep(None, &memory("one")).await;
    let shown = world.get(&format!("/plans/{hash}")).await;
    assert_eq!((shown.status, &shown.body["hash"]), (200, &json!(hash)));
    let unnamed = world.apply(&hash, json!({})).await;
    assert_eq!(unnamed.outcome(), (400, "VALIDATION_FAILED"));
    assert_eq!(unnamed.message(), "Missing required field(s): name");
    let made = world.apply(&hash, json!({ "name": "a" })).await;
    assert_eq!((made.status, &made.body["status"]), (200, &json!("active")), "{}", made.text);
    let again = world.apply(&hash, json!({ "name": "a" })).await;
    assert_eq!(again.outcome(), (409, "NAME_CONFLICT"));
    let other = world.apply(&hash, json!({ "name": "b" })).await;
    assert_ne!(other.id(), made.id());
    assert_eq!(world.memories().await, ["one", "one"]);
}

#[tokio::test]
async fn a_hash_that_names_no_plan_is_not_found() {
    let world = World::new().await;
    for hash in ["0".repeat(64), "nonsense".to_owned()] {
        let expected = format!("Plan '{hash}' not found.");
        for reply in [world.get(&format!("/plans/{hash}")).await, world.apply(&hash, json!({})).await] {
            assert_eq!((reply.outcome(), reply.message()), ((404, "RESOURCE_NOT_FOUND"), expected.as_str()));
        }
    }
}

#[tokio::test]
async fn a_plan_of_another_project_is_not_found() {
    let world = World::new().await;
    let hash = world.keep(None, &memory("one")).await;
    let (_, stranger) = world.scoped("elsewhere").await;
    assert_eq!(stranger.get(&format!("/plans/{hash}")).await.outcome(), (404, "RESOURCE_NOT_FOUND"));
    assert_eq!(stranger.apply(&hash, json!({ "name": "a" })).await.outcome(), (404, "RESOURCE_NOT_FOUND"));
    assert_eq!(world.memories().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_plan_is_refused_once_another_deploy_changed_what_it_rests_on() {
    let world = World::new().await;
    let template = json!({
        "parameters": { "Name": { "type": "string" } },
        "resources": {
            "Still": { "type": "memory", "properties": { "name": "still" } },
            "M": { "type": "memory", "properties": { "name": { "param": "Name" } } },
        },
    });
    let body = |name: &str| json!({ "name": "s", "template": template, "parameters": { "Name": name } });
    let id = world.made("/formations", body("one")).await;
    let planned = |name: &str| json!({ "formation_id": id, "template": template, "parameters": { "Name": name }, "save": true });
    let hash = world.post("/formations/plan", planned("two")).await.body["plan_hash"].clone();
    let hash = hash.as_str().expect("a hash");
    let update = json!({ "parameters": { "Name": "three" } });
    assert_eq!(world.send("PUT", &format!("/formations/{id}"), Some(&update)).await.status, 200);
    let refused = world.apply(hash, json!({})).await;
    assert_eq!(refused.outcome(), (409, "PLAN_OUTDATED"), "{}", refused.text);
    assert!(refused.message().contains("`M`"), "the first step that differs: {}", refused.message());
    assert_eq!(world.memories().await, ["still", "three"], "nothing was changed");
}

#[tokio::test]
async fn a_plan_is_refused_once_the_formation_has_another_template() {
    let world = World::new().await;
    let id = world.made("/formations", json!({ "name": "s", "template": memory("one") })).await;
    let hash = world.keep(Some(&id), &memory("two")).await;
    // No row moves: only an output comes.
    let mut template = memory("one");
    template["outputs"] = json!({ "id": { "ref": "M" } });
    let update = json!({ "template": template });
    assert_eq!(world.send("PUT", &format!("/formations/{id}"), Some(&update)).await.status, 200);
    let refused = world.apply(&hash, json!({})).await;
    assert_eq!(refused.outcome(), (409, "PLAN_OUTDATED"));
    assert_eq!(
        refused.message(),
        "The formation was deployed with another template since the plan was made. Plan again."
    );
    let formation = world.get(&format!("/formations/{id}")).await.body;
    assert!(formation["outputs"]["id"].is_string(), "the other deploy stands");
    assert_eq!(world.memories().await, ["one"]);
}

#[tokio::test]
async fn an_update_is_applied_once() {
    let world = World::new().await;
    let id = world.made("/formations", json!({ "name": "s", "template": memory("one") })).await;
    let hash = world.keep(Some(&id), &memory("two")).await;
    let applied = world.apply(&hash, json!({})).await;
    assert_eq!((applied.status, applied.id()), (200, id), "{}", applied.text);
    assert_eq!(applied.body["template"], memory("two"));
    assert_eq!(world.apply(&hash, json!({})).await.outcome(), (409, "PLAN_OUTDATED"));
    assert_eq!(world.memories().await, ["two"]);
}

#[tokio::test]
async fn a_kept_plan_holds_its_secrets_sealed() {
    let world = World::new().await;
    let canary = "Jd5KePtCaNaRyx3vWq8TnZ1b";
    let body = json!({
        "template": {
            "parameters": { "Key": { "type": "string", "no_echo": true } },
            "resources": { "S": { "type": "secret", "properties": { "name": "s", "value": { "param": "Key" } } } },
        },
        "parameters": { "Key": canary },
        "save": true,
    });
    let kept = world.post("/formations/plan", body).await;
    let hash = kept.body["plan_hash"].as_str().expect("a hash").to_owned();
    let shown = world.get(&format!("/plans/{hash}")).await;
    let made = world.apply(&hash, json!({ "name": "a" })).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    for reply in [&kept, &shown, &made] {
        assert!(!reply.text.contains(canary));
    }
}
