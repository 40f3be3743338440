//! Drift: what was changed behind a formation's back is shown, planned and healed by one rule.

use crate::people::allow;
use crate::world::{World, failing, memories};
use formwork_server::ServerOptions;
use serde_json::{Value, json};

fn template() -> Value {
    json!({ "resources": {
        "Kb": { "type": "memory", "properties": { "name": "kb" } },
        "Key": { "type": "secret", "properties": { "name": "key", "value": "sk-first" } },
        "Ask": { "type": "tool", "properties": { "name": "ask", "type": "client" } },
    } })
}

async fn deployed(world: &World) -> (String, Value) {
    let made = world.post("/formations", json!({ "name": "s", "template": template() })).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    (made.id(), made.body["resources"].clone())
}

fn physical(resources: &Value, label: &str) -> String {
    let rows = resources.as_array().expect("rows");
    let row = rows.iter().find(|row| row["logical_id"] == label).expect("a row");
    row["physical_resource_id"].as_str().expect("an id").to_owned()
}

async fn drift(world: &World, formation: &str) -> Value {
    let reply = world.get(&format!("/formations/{formation}/drift")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body
}

async fn change(world: &World, method: &str, path: &str, body: Value) {
    let reply = world.send(method, path, Some(&body)).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
}

fn none(formation: &str, checked: usize) -> Value {
    json!({ "formation_id": formation, "drifted": false, "checked": checked, "resources": [] })
}

#[tokio::test]
async fn a_change_by_a_resources_own_route_is_shown_planned_and_healed() {
    let world = World::new().await;
    let (formation, resources) = deployed(&world).await;
    assert_eq!(drift(&world, &formation).await, none(&formation, 3));

    let memory = physical(&resources, "Kb");
    let mine = json!({ "name": "by hand", "description": "mine" });
    change(&world, "PUT", &format!("/memories/{memory}"), mine).await;
    let before = world.store.writes();
    let expected = json!({ "formation_id": formation, "drifted": true, "checked": 3, "resources": [{
        "logical_id": "Kb", "resource_type": "memory", "physical_resource_id": memory, "status": "changed",
        "changes": [{ "path": "/name", "was": "kb", "is": "by hand" }],
    }] });
    assert_eq!(drift(&world, &formation).await, expected, "and what is not declared is the other's own");
    assert_eq!(world.store.writes(), before, "looking stores nothing");

    let plan = world.post("/formations/plan", json!({ "formation_id": formation })).await.body;
    let planned = plan["changes"].as_array().expect("changes").iter().find(|it| it["logical_id"] == "Kb");
    let planned = planned.expect("the memory's");
    assert_eq!(
        (&planned["action"], &planned["cause"][0]["text"]),
        (&json!("update"), &json!("`Kb.name` changed outside"))
    );

    let path = format!("/formations/{formation}");
    let healed = world.send("PUT", &path, Some(&json!({}))).await;
    assert_eq!(healed.body["status"], "active", "{}", healed.text);
    let memory = world.get(&format!("/memories/{memory}")).await.body;
    assert_eq!((&memory["name"], &memory["description"]), (&json!("kb"), &json!("mine")));
    assert_eq!(drift(&world, &formation).await, none(&formation, 3));
}

#[tokio::test]
async fn an_object_that_is_gone_is_named_and_made_again() {
    let world = World::new().await;
    let (formation, resources) = deployed(&world).await;
    let tool = physical(&resources, "Ask");
    assert_eq!(world.send("DELETE", &format!("/tools/{tool}"), None).await.status, 204);
    let found = drift(&world, &formation).await;
    assert_eq!(found["drifted"], true);
    assert_eq!(
        found["resources"],
        json!([{ "logical_id": "Ask", "resource_type": "tool", "physical_resource_id": tool, "status": "gone" }])
    );
    let healed = world.send("PUT", &format!("/formations/{formation}"), Some(&json!({}))).await;
    assert_ne!(physical(&healed.body["resources"], "Ask"), tool);
    assert_eq!(drift(&world, &formation).await, none(&formation, 3));
}

#[tokio::test]
async fn a_secret_is_never_shown_and_never_drifts() {
    let world = World::new().await;
    let (formation, resources) = deployed(&world).await;
    let secret = physical(&resources, "Key");
    let mine = json!({ "name": "mine", "value": "sk-second" });
    change(&world, "PATCH", &format!("/secrets/{secret}"), mine).await;
    let found = drift(&world, &formation).await;
    assert_eq!(
        found["resources"][0]["changes"],
        json!([{ "path": "/name", "was": "key", "is": "mine" }]),
        "its value can't be read back"
    );
    assert!(!found.to_string().contains("sk-"), "{found}");
}

#[tokio::test]
async fn what_a_failed_deploy_took_back_is_no_drift() {
    let world = World::new().await;
    let made = world.post("/formations", json!({ "name": "s", "template": failing() })).await;
    assert_eq!(made.body["status"], "failed", "{}", made.text);
    assert_eq!(drift(&world, &made.id()).await, none(&made.id(), 0));
}

#[tokio::test]
async fn while_a_deploy_runs_nothing_is_said_of_drift() {
    let (world, formation) = World::interrupted(ServerOptions::default()).await;
    let reply = world.get(&format!("/formations/{formation}/drift")).await;
    assert_eq!(reply.outcome(), (409, "OPERATION_IN_PROGRESS"), "{}", reply.text);
}

#[tokio::test]
async fn who_may_plan_may_look_and_nobody_else() {
    let world = World::new().await;
    let formation = world.made("/formations", json!({ "name": "s", "template": memories(1) })).await;
    let path = format!("/formations/{formation}/drift");
    let ada = world.person("ada", &[allow(&["formations:GetFormation"], &["*"])]).await;
    assert_eq!(ada.world.get(&path).await.outcome(), (403, "FORBIDDEN"));
    ada.may(&[allow(&["formations:PlanFormation"], &["*"])]).await;
    assert_eq!(ada.world.get(&path).await.status, 200);
    let missing = world.get("/formations/form_0000000000000000/drift").await;
    assert_eq!(missing.outcome(), (404, "RESOURCE_NOT_FOUND"));
}
