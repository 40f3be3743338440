//! The bodies of `formations-behaviour.md` §11, as this server writes them.

use crate::world::{World, agent, failing};
use formwork_model::Json;
use serde_json::json;

fn check(name: &str, body: &Json) {
    let text = serde_json::to_string_pretty(body).expect("JSON");
    insta::with_settings!({ filters => vec![
        (r"\b(form_op|form_res|form|proj|mem|agent|aip|sec|token)_[0-9A-Za-z]{16,}", "${1}_[id]"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "[time]"),
        (r"\b(fw_)?[0-9a-f]{64}\b", "[hex]"),
    ] }, { insta::assert_snapshot!(name, text) });
}

#[tokio::test]
async fn validate_an_invalid_template() {
    let world = World::new().await;
    let template = json!({
        "parameters": { "Key": { "type": "string" } },
        "resources": { "Bot": { "type": "agent", "properties": { "nmae": { "param": "Key" } } } },
    });
    check("11.1 validate", &world.post("/formations/validate", json!({ "template": template })).await.body);
}

#[tokio::test]
async fn plan_with_every_action() {
    let world = World::new().await;
    let before = json!({ "resources": {
        "Kb": { "type": "memory", "properties": { "name": "kb" } },
        "Key": { "type": "secret", "properties": { "name": "k", "value": "one" } },
        "Old": { "type": "memory", "properties": { "name": "old" } },
    } });
    let id = world.made("/formations", json!({ "name": "s", "template": before })).await;
    let after = json!({ "resources": {
        "Kb": { "type": "memory", "properties": { "name": "kb" } },
        "Key": { "type": "secret", "properties": { "name": "k", "value": "two" } },
        "Prov": { "type": "ai_provider", "properties": {
            "name": "p", "provider": "openai", "default_model": "m", "secret_id": { "ref": "Key" },
        } },
    } });
    let text = serde_json::to_string_pretty(&after).expect("JSON");
    let planned = world.post("/formations/plan", json!({ "formation_id": id, "template": text })).await;
    check("11.2 plan", &planned.body);
}

#[tokio::test]
async fn create_with_a_failed_deploy_and_its_operation() {
    let world = World::new().await;
    let made = world.post("/formations", json!({ "name": "stack", "template": failing() })).await;
    check("11.3 failed create", &made.body);
    let operations = world.get(&format!("/formations/{}/events", made.id())).await.body;
    check("11.4 operation with rollback", &operations);
    let operation = operations["data"][0]["id"].as_str().expect("an id");
    check("operation", &world.get(&format!("/operations/{operation}")).await.body);
    check("operation events", &world.get(&format!("/operations/{operation}/events")).await.body);
}

#[tokio::test]
async fn teardown_refused() {
    let world = World::new().await;
    let made = world.post("/formations", json!({ "name": "s", "template": agent() })).await.body;
    check("active formation", &made);
    let (bot, project) = (made["outputs"]["botId"].as_str(), made["project_id"].as_str());
    world.leave_history(bot.expect("an agent"), project.expect("a project")).await;
    let path = format!("/formations/{}", made["id"].as_str().expect("an id"));
    check("11.6 teardown refused", &world.send("DELETE", &path, None).await.body);
}

#[tokio::test]
async fn missing_parameters_and_static_metadata() {
    let world = World::new().await;
    let template = json!({
        "parameters": { "ApiKey": { "type": "string", "no_echo": true } },
        "resources": { "K": { "type": "secret", "properties": { "name": "k", "value": { "param": "ApiKey" } } } },
    });
    let body = json!({ "name": "s", "template": template });
    check("11.7 missing parameters", &world.post("/formations", body.clone()).await.body);
    let mut body = body;
    body["parameters"] = json!({ "ApiKey": "sk-canary" });
    body["metadata"] = json!({ "v": { "param": "ApiKey" } });
    check("11.8 static metadata", &world.post("/formations", body).await.body);
}

#[tokio::test]
async fn projects_tokens_and_acceptances() {
    let world = World::new().await;
    check("project", &world.post("/projects", json!({ "name": "p" })).await.body);
    check("token", &world.post("/tokens", json!({ "name": "t" })).await.body);
    check("tokens", &world.get("/tokens?limit=1").await.body);
    let template = json!({ "resources": {} });
    check(
        "accepted",
        &world.post("/formations?wait=false", json!({ "name": "s", "template": template })).await.body,
    );
}
