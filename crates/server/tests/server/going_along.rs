//! What is deleted along with something takes its own permission, by route and by formation alike.

use crate::people::{Person, allow};
use crate::world::{Reply, World, agent};
use serde_json::json;

/// A secret that a provider uses, by their paths.
async fn used_secret(world: &World, name: &str) -> (String, String) {
    let secret = world.made("/secrets", json!({ "name": name, "value": "v" })).await;
    let body = json!({ "name": name, "provider": "openai", "default_model": "m", "secret_id": secret });
    let provider = world.made("/ai-providers", body).await;
    (format!("/secrets/{secret}"), format!("/ai-providers/{provider}"))
}

#[tokio::test]
async fn force_takes_the_permission_to_delete_each_that_goes_along() {
    let world = World::new().await;
    let ada = world.person("ada", &[allow(&["secrets:*"], &["*"])]).await;
    let (secret, provider) = used_secret(&world, "k").await;
    let forced = format!("{secret}?force=true");
    let refused = ada.world.send("DELETE", &forced, None).await;
    assert_eq!(refused.outcome(), (403, "FORBIDDEN"));
    let missing =
        json!({ "resource_type": "ai_provider", "action": "ai-providers:DeleteAiProvider", "count": 1 });
    assert_eq!(refused.meta(), &json!({ "denied_actions": [missing] }));
    assert!(!refused.text.contains("aip_"), "who may not read it is not told its id: {}", refused.text);
    for kept in [&secret, &provider] {
        assert_eq!(world.get(kept).await.status, 200, "nothing is done");
    }
    let line = &world.get("/audit?limit=1").await.body["data"][0];
    assert_eq!((&line["action"], &line["allowed"]), (&json!("secrets:DeleteSecret"), &json!(false)));
    ada.may(&[allow(&["secrets:*", "ai-providers:DeleteAiProvider"], &["*"])]).await;
    assert_eq!(ada.world.send("DELETE", &forced, None).await.status, 200);
    for gone in [&secret, &provider] {
        assert_eq!(world.get(gone).await.status, 404);
    }
}

#[tokio::test]
async fn all_that_is_missing_is_told_at_once_and_one_denied_thing_is_enough() {
    let world = World::new().await;
    let here = world.default_project().await;
    let secret = world.made("/secrets", json!({ "name": "k", "value": "v" })).await;
    let mut providers = Vec::new();
    for name in ["a", "b", "c"] {
        let body = json!({ "name": name, "provider": "openai", "default_model": "m", "secret_id": secret });
        providers.push(world.made("/ai-providers", body).await);
    }
    let one = format!("srn:{here}:aiProvider:{}", providers[0]);
    let statements = [allow(&["secrets:*"], &["*"]), allow(&["ai-providers:DeleteAiProvider"], &[&one])];
    let ada = world.person("ada", &statements).await;
    let refused = ada.world.send("DELETE", &format!("/secrets/{secret}?force=true"), None).await;
    assert_eq!(refused.meta()["denied_actions"][0]["count"], 2, "{}", refused.text);
    assert_eq!(world.get("/ai-providers").await.body["total"], 3);
}

/// An agent with a session and an eval, which go when it goes.
async fn busy_agent(world: &World, stack: &str) -> String {
    let made = world.post("/formations", json!({ "name": stack, "template": agent() })).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let id = made.body["outputs"]["botId"].as_str().expect("an id").to_owned();
    let dataset = world.made("/datasets", json!({ "name": stack })).await;
    world.made("/sessions", json!({ "agent_id": id })).await;
    let eval = json!({
        "name": stack, "agent_id": id, "dataset_id": dataset, "scorers": [{ "type": "exact_match" }],
    });
    world.made("/evals", eval).await;
    made.id()
}

#[tokio::test]
async fn what_goes_along_by_itself_is_asked_for_by_route_and_by_formation() {
    let world = World::new().await;
    let ada = world.person("ada", &[]).await;
    let may = async |actions: &[&str]| {
        let mut all = vec!["formations:*", "ai-providers:*", "agents:DeleteAgent", "agents:UpdateAgent"];
        all.extend(actions);
        ada.may(&[allow(&all, &["*"])]).await;
    };
    let stack = busy_agent(&world, "s").await;
    let rows = world.get(&format!("/formations/{stack}")).await.body["resources"].clone();
    let rows = rows.as_array().expect("a list").clone();
    let bot = rows.iter().find(|row| row["logical_id"] == "Bot").expect("the agent")["physical_resource_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let attempts = async |ada: &Person| -> [Reply; 3] {
        let emptied = json!({ "template": { "resources": {} } });
        [
            ada.world.send("DELETE", &format!("/agents/{bot}"), None).await,
            ada.world.send("PUT", &format!("/formations/{stack}"), Some(&emptied)).await,
            ada.world.send("DELETE", &format!("/formations/{stack}"), None).await,
        ]
    };
    for (actions, missing) in [
        (&[][..], vec!["agents:DeleteSession", "evaluations:DeleteEval"]),
        (&["agents:DeleteSession"][..], vec!["evaluations:DeleteEval"]),
    ] {
        may(actions).await;
        for refused in attempts(&ada).await {
            assert_eq!(refused.outcome(), (403, "FORBIDDEN"), "{}", refused.text);
            let denied = refused.meta()["denied_actions"].as_array().expect("a list").clone();
            let mut denied: Vec<_> = denied
                .iter()
                .map(|denied| denied["action"].as_str().expect("an action").to_owned())
                .collect();
            denied.sort();
            assert_eq!(denied, missing, "{}", refused.text);
        }
        assert_eq!(world.get(&format!("/agents/{bot}")).await.status, 200);
    }
    may(&["agents:DeleteSession", "evaluations:DeleteEval"]).await;
    let torn = ada.world.send("DELETE", &format!("/formations/{stack}"), None).await;
    assert_eq!(torn.status, 200, "{}", torn.text);
    assert_eq!(world.get("/evals").await.body["total"], 0);
}

#[tokio::test]
async fn parts_of_a_thing_go_with_it() {
    let world = World::new().await;
    let ada = world.person("ada", &[allow(&["memories:DeleteMemory"], &["*"])]).await;
    let memory = world.made("/memories", json!({ "name": "m" })).await;
    world.made("/memory-entries", json!({ "memory_id": memory, "content": "c" })).await;
    let deleted = ada.world.send("DELETE", &format!("/memories/{memory}"), None).await;
    assert_eq!(deleted.status, 204, "{}", deleted.text);
}
