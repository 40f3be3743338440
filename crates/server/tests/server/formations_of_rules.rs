//! The types of rules, limits, triggers, graphs, keys and policies in templates, over HTTP.

use crate::world::World;
use serde_json::{Value, json};

/// Each of the types once, wired to each other.
fn template() -> Value {
    json!({
        "parameters": { "Url": { "type": "string", "default": "https://x.test/hook" } },
        "resources": {
            "Prov": { "type": "ai_provider", "properties": {
                "name": "p", "provider": "openai", "default_model": "m",
            } },
            "Route": { "type": "model_route", "properties": {
                "name": "r", "targets": [{ "ai_provider_id": { "ref": "Prov" }, "model": "m", "max_retries": 1 }],
            } },
            "Bot": { "type": "agent", "properties": { "model_route_id": { "ref": "Route" } } },
            "Ocr": { "type": "ingestion_rule", "properties": {
                "content_type_glob": "image/*", "agent_id": { "ref": "Bot" },
            } },
            "Flow": { "type": "orchestration", "properties": {
                "name": "flow",
                "nodes": [
                    { "id": "think", "type": "agent", "agent_id": { "ref": "Bot" } },
                    { "id": "done", "type": "emit_event", "event_type": "flow.done" },
                ],
                "edges": [{ "from": "think", "to": "done" }],
            } },
            "Desk": { "type": "workflow", "properties": {
                "name": "desk",
                "states": [
                    { "name": "new", "initial": true, "on_enter": {
                        "dispatch": { "kind": "orchestration", "orchestration_id": { "ref": "Flow" } },
                        "on_complete": [{ "transition": "finish" }],
                    } },
                    { "name": "done", "terminal": true },
                ],
                "transitions": [{ "name": "finish", "from": ["new"], "to": "done" }],
            } },
            "Limits": { "type": "policy", "properties": {
                "document": { "statement": [{ "effect": "Allow", "action": ["agents:*"] }] },
            } },
            "Key": { "type": "api_key", "properties": { "name": "k", "policy_ids": [{ "ref": "Limits" }] } },
            "Nightly": { "type": "trigger", "properties": {
                "name": "nightly", "type": "schedule", "cron": "0 3 * * *", "target_type": "orchestration",
                "target_id": { "ref": "Flow" }, "policy_id": { "ref": "Limits" },
            } },
            "Hook": { "type": "webhook", "properties": {
                "name": "hook", "url": { "param": "Url" }, "events": ["agents.*"],
            } },
            "Budget": { "type": "quota", "properties": {
                "scope": "agent", "scope_ref": { "ref": "Bot" }, "metric": "cost_usd", "window": "calendar_month",
                "limit": 10,
            } },
            "Price": { "type": "project_price", "properties": {
                "provider": "openai", "model": "m", "component": "input_tokens", "unit": "token",
                "unit_price": 0.01,
            } },
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
    let gone = world.send("DELETE", &format!("/formations/{formation}"), None).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    for path in [
        "/model-routes",
        "/ingestion-rules",
        "/orchestrations",
        "/workflows",
        "/policies",
        "/api-keys",
        "/triggers",
        "/webhooks",
        "/quotas",
        "/project-prices",
    ] {
        assert_eq!(world.get(path).await.body["total"], 0, "{path}");
    }
}

#[tokio::test]
async fn a_trigger_of_another_type_takes_the_place_of_the_old_one() {
    let world = World::new().await;
    let formation = world.deployed(&template()).await;
    let mut next = template();
    next["resources"]["Nightly"]["properties"]["type"] = json!("manual");
    next["resources"]["Nightly"]["properties"]["cron"] = json!(null);
    assert_eq!(world.changes(&formation, &next).await, [("Nightly".to_owned(), "replace".to_owned())]);
    let done = world.redeploy(&formation, &next).await;
    assert_eq!(done["status"], "active", "{done}");
    let triggers = world.get("/triggers").await.body;
    assert_eq!((&triggers["total"], &triggers["data"][0]["type"]), (&json!(1), &json!("manual")));
    assert_eq!(triggers["data"][0]["name"], "nightly");
}

#[tokio::test]
async fn a_quota_about_something_else_fails_the_deploy_in_the_words_of_the_type() {
    let world = World::new().await;
    let formation = world.deployed(&template()).await;
    let mut next = template();
    next["resources"]["Budget"]["properties"]["window"] = json!("rolling_1h");
    let failed = world.redeploy(&formation, &next).await;
    assert_eq!(failed["status"], "failed", "{failed}");
    assert_eq!(
        failed["error"]["message"],
        "window is immutable and cannot be changed after creation (declared \"rolling_1h\", current \
         \"calendar_month\"). Replace the quota instead."
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_graph_is_told_before_anything_is_made() {
    let world = World::new().await;
    let mut broken = template();
    broken["resources"]["Flow"]["properties"]["edges"] = json!([{ "from": "think", "to": "nowhere" }]);
    broken["resources"]["Desk"]["properties"]["states"][0]["initial"] = json!(false);
    let found = world.post("/formations/validate", json!({ "template": broken })).await.body;
    let errors: Vec<_> =
        found["errors"].as_array().expect("errors").iter().map(|it| &it["message"]).collect();
    assert_eq!(
        errors,
        [
            "Edge references unknown node 'nowhere'.",
            "A workflow must have exactly one initial state (found 0)."
        ]
    );
    let path = &found["errors"][0]["path"];
    assert_eq!(path, "resources.Flow.properties.edges[0].to");
}

#[tokio::test]
async fn a_formation_tells_no_key_and_no_signing_secret() {
    let world = World::new().await;
    let formation = world.deployed(&template()).await;
    let hook = world.get("/webhooks").await.body["data"][0]["id"].clone();
    let secret = world.get(&format!("/webhooks/{}/secret", hook.as_str().expect("an id"))).await.body;
    let secret = secret["secret"].as_str().expect("a secret");
    let shown = world.get(&format!("/formations/{formation}")).await.text;
    let events = world.get(&format!("/formations/{formation}/events")).await.text;
    assert!(!shown.contains(secret) && !events.contains(secret));
    assert!(!shown.contains("sk_") && !events.contains("sk_"));
    let mut published = template();
    published["outputs"] = json!({ "secret": { "ref_attr": "Hook.secret" } });
    let body = json!({ "template": published });
    let refused = world.send("PUT", &format!("/formations/{formation}"), Some(&body)).await;
    assert_eq!(refused.outcome(), (400, "VALIDATION_FAILED"));
}
