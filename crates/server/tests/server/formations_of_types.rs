//! The types of conversations, evaluations, files and guardrails in templates, over HTTP.

use crate::world::World;
use serde_json::{Value, json};

/// Each of the types once, wired to each other.
fn template() -> Value {
    json!({
        "resources": {
            "Prov": { "type": "ai_provider", "properties": {
                "name": "p", "provider": "openai", "default_model": "m",
            } },
            "Guard": { "type": "guardrail", "properties": {
                "name": "g", "class": "B", "guard": { "<": [{ "var": "args.amount" }, 100] },
                "escalate": null, "context_mode": null,
            } },
            "Bot": { "type": "agent", "properties": {
                "name": "bot", "ai_provider_id": { "ref": "Prov" }, "guardrail_ids": [{ "ref": "Guard" }],
                "single_session_per_actor": true,
            } },
            "Chat": { "type": "chat", "properties": {
                "ai_provider_id": { "ref": "Prov" }, "name": "c", "model": "m-2",
            } },
            "Guest": { "type": "actor", "properties": { "name": "guest", "external_id": "u1" } },
            "Persona": { "type": "actor", "properties": { "name": "persona", "chat_id": { "ref": "Chat" } } },
            "Talk": { "type": "conversation", "properties": { "actor_id": { "ref": "Guest" } } },
            "Session": { "type": "session", "properties": {
                "agent_id": { "ref": "Bot" }, "actor_id": { "ref": "Guest" }, "inactivity_ttl_seconds": 60,
            } },
            "Cases": { "type": "dataset", "properties": { "name": "cases" } },
            "Case": { "type": "dataset_item", "properties": {
                "dataset_id": { "ref": "Cases" }, "input": [{ "role": "user", "content": "hi" }],
            } },
            "Eval": { "type": "eval", "properties": {
                "name": "e", "agent_id": { "ref": "Bot" }, "dataset_id": { "ref": "Cases" },
                "scorers": [{ "type": "llm_judge", "prompt": "p", "pass_threshold": 0.5,
                              "ai_provider_id": { "ref": "Prov" } }],
                "pass_threshold": null,
            } },
            "File": { "type": "file", "properties": { "prefix": "docs", "filename": "a.txt", "size": 3 } },
        },
    })
}

#[tokio::test]
async fn each_type_deploys_stays_as_it_is_and_is_torn_down() {
    let world = World::new().await;
    let formation = world.deployed(&template()).await;
    assert_eq!(world.changes(&formation, &template()).await, []);
    let again = world.redeploy(&formation, &template()).await;
    assert_eq!(again["status"], "active", "{again}");
    // What was said goes with its session, so it blocks nobody.
    let session = world.get("/sessions").await.body["data"][0]["id"].clone();
    let session = session.as_str().expect("a session");
    world.made(&format!("/sessions/{session}/messages"), json!({ "message": "hi" })).await;
    let gone = world.send("DELETE", &format!("/formations/{formation}"), None).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    for path in ["/sessions", "/conversations", "/actors", "/evals", "/datasets", "/files", "/guardrails"] {
        assert_eq!(world.get(path).await.body["total"], 0, "{path}");
    }
}

#[tokio::test]
async fn what_cannot_change_is_replaced() {
    let world = World::new().await;
    let formation = world.deployed(&template()).await;
    let mut next = template();
    next["resources"]["Chat"]["properties"]["name"] = json!("d");
    next["resources"]["Session"]["properties"]["inactivity_ttl_seconds"] = json!(61);
    next["resources"]["File"]["properties"]["size"] = json!(4);
    next["resources"]["Talk"]["properties"]["actor_id"] = json!({ "ref": "Persona" });
    let planned = world.changes(&formation, &next).await;
    for replaced in ["Chat", "Session", "File", "Talk"] {
        let expected = (replaced.to_owned(), "replace".to_owned());
        assert!(planned.contains(&expected), "{replaced}: {planned:?}");
    }
    let old = world.get("/chats").await.body["data"][0]["id"].clone();
    let done = world.redeploy(&formation, &next).await;
    assert_eq!(done["status"], "active", "{done}");
    let chats = world.get("/chats").await.body;
    assert_eq!((&chats["total"], &chats["data"][0]["name"]), (&json!(1), &json!("d")));
    assert_ne!(chats["data"][0]["id"], old);
    let personas =
        world.get(&format!("/actors?chat_id={}", chats["data"][0]["id"].as_str().expect("id"))).await;
    assert_eq!(personas.body["total"], 1, "who referred to the old chat refers to the new one");
    assert_eq!(world.get("/sessions").await.body["data"][0]["inactivity_ttl_seconds"], 61);
    assert_eq!(world.get("/files").await.body["data"][0]["size"], 4);
    assert_eq!(world.changes(&formation, &next).await, []);
}

#[tokio::test]
async fn an_item_that_is_to_change_its_dataset_fails_the_deploy_in_the_seeds_words() {
    let world = World::new().await;
    let formation = world.deployed(&template()).await;
    let mut next = template();
    next["resources"]["Others"] = json!({ "type": "dataset", "properties": { "name": "others" } });
    next["resources"]["Case"]["properties"]["dataset_id"] = json!({ "ref": "Others" });
    let failed = world.redeploy(&formation, &next).await;
    assert_eq!(failed["status"], "failed", "{failed}");
    assert_eq!(failed["error"]["code"], "VALIDATION_FAILED");
    let message = failed["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("dataset_id is immutable: item 'dsit_"), "{message}");
    assert!(message.ends_with("'. Declare a new dataset_item instead."), "{message}");
    assert_eq!(failed["error"]["meta"]["logical_id"], "Case");
}

#[tokio::test]
async fn ceasing_to_name_an_agent_takes_an_explicit_null() {
    let world = World::new().await;
    let formation = world.deployed(&template()).await;
    let mut next = template();
    next["resources"]["Persona"]["properties"] =
        json!({ "name": "persona", "agent_id": { "ref": "Bot" }, "chat_id": null });
    assert_eq!(world.changes(&formation, &next).await, [("Persona".to_owned(), "update".to_owned())]);
    let done = world.redeploy(&formation, &next).await;
    assert_eq!(done["status"], "active", "{done}");
    let both = json!({ "resources": { "A": { "type": "actor", "properties": {
        "name": "a", "agent_id": { "ref": "B" }, "chat_id": "chat_1",
    } }, "B": { "type": "agent", "properties": { "ai_provider_id": "aip_1" } } } });
    let found = world.post("/formations/validate", json!({ "template": both })).await.body;
    assert_eq!(found["errors"][0]["path"], "resources.A.properties");
    assert_eq!(found["errors"][0]["message"], "agentId and chatId are mutually exclusive");
}

#[tokio::test]
async fn the_deepest_template_that_is_valid_deploys_changes_and_is_torn_down() {
    let world = World::new().await;
    // The template, its resources, the resource and its properties are four levels.
    let template = |levels: usize, doc: &str| {
        let schema = (0..levels - 4).fold(json!(true), |inner, _| json!({ "not": inner }));
        json!({ "resources": { "W": { "type": "workflow", "properties": {
            "name": "w", "description": doc, "states": [{ "name": "a", "initial": true }],
            "transitions": [], "payload_schema": schema,
        } } } })
    };
    let formation = world.deployed(&template(99, "one")).await;
    let done = world.redeploy(&formation, &template(99, "two")).await;
    assert_eq!(done["status"], "active", "{done}");
    let gone = world.send("DELETE", &format!("/formations/{formation}"), None).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    let body = json!({ "name": "deep", "template": template(100, "three") });
    let refused = world.post("/formations", body).await;
    assert_eq!((refused.status, refused.code()), (400, "REQUEST_REJECTED"), "{}", refused.text);
    assert!(refused.message().contains("nested deeper than 100 levels at line"), "{}", refused.text);
}
