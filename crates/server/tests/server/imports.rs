//! Import: a declaration that takes over what exists already.

use crate::people::{allow, deny};
use crate::world::{ADMIN, World};
use serde_json::{Value, json};

/// A memory that somebody made by its route, and a template that imports it.
async fn memory(world: &World) -> String {
    world.made("/memories", json!({ "name": "by hand", "description": "mine" })).await
}

fn importing(memory: &str, name: &str) -> Value {
    json!({ "resources": {
        "Kb": { "type": "memory", "import": memory, "properties": { "name": name } },
        "First": { "type": "memory_entry", "properties": { "memory_id": { "ref": "Kb" }, "content": "c" } },
    } })
}

async fn create(world: &World, name: &str, template: &Value) -> crate::world::Reply {
    let project = world.bearing(ADMIN).default_project().await;
    world.post("/formations", json!({ "project_id": project, "name": name, "template": template })).await
}

/// Why a template is refused: the first of its details.
async fn refused(world: &World, template: &Value) -> String {
    let reply = create(world, "refused", template).await;
    assert_eq!(reply.outcome(), (400, "VALIDATION_FAILED"), "{}", reply.text);
    let detail = &reply.meta()["details"][0];
    assert_eq!(detail["path"], "resources.Kb.import", "{}", reply.text);
    detail["message"].as_str().expect("a message").to_owned()
}

#[tokio::test]
async fn an_object_is_adopted_and_changed_to_what_is_declared() {
    let world = World::new().await;
    let id = memory(&world).await;
    let template = importing(&id, "declared");

    let plan = world.post("/formations/plan", json!({ "template": template })).await.body;
    let change = &plan["changes"][0];
    assert_eq!(
        (&change["action"], &change["physical_resource_id"], &change["diff"]["desired"]["name"]),
        (&json!("adopt"), &json!(id), &json!("declared")),
        "{plan}"
    );
    assert_eq!(change["diff"]["current"]["name"], "by hand");
    assert_eq!(plan["changes"].as_array().map(Vec::len), Some(2), "one change per resource: {plan}");
    assert_eq!(world.get(&format!("/memories/{id}")).await.body["name"], "by hand", "nothing is done yet");

    let formation = world.deployed(&template).await;
    let found = world.get(&format!("/memories/{id}")).await.body;
    assert_eq!((&found["name"], &found["description"]), (&json!("declared"), &json!("mine")));
    let shown = world.get(&format!("/formations/{formation}")).await.body;
    let row = &shown["resources"][0];
    assert_eq!((&row["physical_resource_id"], &row["status"]), (&json!(id), &json!("updated")), "{shown}");
    let events = world.get(&format!("/formations/{formation}/events")).await.body;
    let actions: Vec<_> = events["data"][0]["events"].as_array().expect("events").iter().collect();
    assert_eq!(
        actions.iter().map(|event| event["action"].as_str().unwrap_or_default()).collect::<Vec<_>>(),
        ["adopt", "update", "create"],
        "{events}"
    );

    assert!(world.changes(&formation, &template).await.is_empty(), "an import of what it has is nothing");
    let drift = world.get(&format!("/formations/{formation}/drift")).await.body;
    assert_eq!(drift["drifted"], false, "{drift}");
    let without = json!({ "resources": {
        "Kb": { "type": "memory", "properties": { "name": "declared" } },
        "First": template["resources"]["First"],
    } });
    assert!(world.changes(&formation, &without).await.is_empty(), "nor is taking `import` off");

    assert_eq!(world.send("DELETE", &format!("/formations/{formation}"), None).await.status, 200);
    assert_eq!(world.get(&format!("/memories/{id}")).await.status, 404, "it was the formation's by then");
}

#[tokio::test]
async fn an_object_that_is_as_declared_is_only_recorded() {
    let world = World::new().await;
    let id = memory(&world).await;
    let before = world.get(&format!("/memories/{id}")).await.body;
    let formation = world.deployed(&importing(&id, "by hand")).await;
    assert_eq!(world.get(&format!("/memories/{id}")).await.body["updated_at"], before["updated_at"]);
    let shown = world.get(&format!("/formations/{formation}")).await.body;
    assert_eq!(shown["resources"][0]["status"], "created", "{shown}");
}

#[tokio::test]
async fn a_rollback_gives_up_what_was_adopted_and_never_deletes_it() {
    let world = World::new().await;
    let id = memory(&world).await;
    let mut template = importing(&id, "declared");
    template["resources"]["Bad"] = json!({ "type": "ai_provider", "depends_on": ["First"], "properties": {
        "name": "p", "provider": "openai", "default_model": "m", "secret_id": "sec_missing",
    } });
    let made = create(&world, "s", &template).await;
    assert_eq!(made.body["status"], "failed", "{}", made.text);
    let found = world.get(&format!("/memories/{id}")).await;
    assert_eq!(
        (found.status, &found.body["name"]),
        (200, &json!("declared")),
        "an update keeps its new state"
    );
    let rows = made.body["resources"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["logical_id"] == "Kb").expect("its row");
    assert_eq!((&row["status"], &row["physical_resource_id"]), (&json!("deleted"), &Value::Null), "{row}");
    let events = world.get(&format!("/formations/{}/events", made.id())).await.body;
    let rolled: Vec<_> = events["data"][0]["events"].as_array().expect("events").iter().collect();
    let rolled = rolled.iter().filter(|event| event["action"] == "rollback");
    assert_eq!(
        rolled.map(|event| event["logical_id"].as_str().unwrap_or_default()).collect::<Vec<_>>(),
        ["First", "Kb"]
    );

    template["resources"].as_object_mut().expect("resources").remove("Bad");
    let again = world.redeploy(&made.id(), &template).await;
    assert_eq!(again["status"], "active", "{again}");
}

#[tokio::test]
async fn what_is_not_there_or_another_formations_is_refused() {
    let world = World::new().await;
    let id = memory(&world).await;
    let missing = refused(&world, &importing("mem_0000000000000000", "n")).await;
    assert_eq!(missing, "`Kb` cannot import `mem_0000000000000000`: it names no `memory` of this project");
    let tool = world.made("/tools", json!({ "name": "t", "type": "client" })).await;
    assert!(refused(&world, &importing(&tool, "n")).await.ends_with("names no `memory` of this project"));
    let (project, other) = world.scoped("elsewhere").await;
    let foreign = other.made("/memories", json!({ "name": "n", "project_id": project })).await;
    assert!(refused(&world, &importing(&foreign, "n")).await.ends_with("names no `memory` of this project"));

    let owner = world.deployed(&importing(&id, "n")).await;
    let taken = refused(&world, &importing(&id, "n")).await;
    assert_eq!(taken, format!("`Kb` cannot import `{id}`: it is owned by formation `{owner}`, as `Kb`"));
}

#[tokio::test]
async fn of_two_deploys_that_import_the_same_one_gets_it() {
    let world = World::new().await;
    let id = memory(&world).await;
    let (template, other) = (importing(&id, "one"), importing(&id, "two"));
    let (first, second) = tokio::join!(create(&world, "a", &template), create(&world, "b", &other));
    let active = [&first, &second].iter().filter(|reply| reply.body["status"] == "active").count();
    assert_eq!(active, 1, "{}\n{}", first.text, second.text);
}

#[tokio::test]
async fn nothing_is_replaced_in_order_to_be_imported() {
    let world = World::new().await;
    let providers = json!({ "name": "p", "provider": "openai", "default_model": "m" });
    let provider = world.made("/ai-providers", providers).await;
    let chat = world.made("/chats", json!({ "name": "old", "ai_provider_id": provider })).await;
    let template = json!({ "resources": {
        "Kb": { "type": "chat", "import": chat, "properties": { "name": "new" } },
    } });
    let why = refused(&world, &template).await;
    assert!(why.contains("would have to replace it, since `name` cannot be changed"), "{why}");
    assert_eq!(world.get(&format!("/chats/{chat}")).await.status, 200);
}

#[tokio::test]
async fn an_import_takes_the_permission_to_see_and_to_change_the_object() {
    let world = World::new().await;
    let id = memory(&world).await;
    let template = importing(&id, "declared");
    let all = allow(&["*"], &["*"]);
    let ada = world.person("ada", &[all.clone(), deny(&["memories:GetMemory"])]).await;
    assert!(refused(&ada.world, &template).await.ends_with("names no `memory` of this project"));

    ada.may(&[all.clone(), deny(&["memories:UpdateMemory"])]).await;
    let reply = create(&ada.world, "s", &template).await;
    assert_eq!(reply.outcome(), (403, "FORBIDDEN"), "{}", reply.text);
    let denied =
        json!([{ "logical_id": "Kb", "resource_type": "memory", "action": "memories:UpdateMemory" }]);
    assert_eq!(reply.meta()["denied_actions"], denied);
    let body = json!({ "project_id": world.default_project().await, "template": template });
    let plan = ada.world.post("/formations/plan", body).await.body;
    assert_eq!(plan["unauthorized_actions"], denied, "{plan}");
    assert_eq!(world.get(&format!("/memories/{id}")).await.body["name"], "by hand");

    ada.may(&[all]).await;
    assert_eq!(create(&ada.world, "s", &template).await.body["status"], "active");
}

#[tokio::test]
async fn the_object_can_be_named_by_a_parameter() {
    let world = World::new().await;
    let id = memory(&world).await;
    let template = json!({
        "parameters": { "Existing": { "type": "string" } },
        "resources": { "Kb": {
            "type": "memory", "import": { "param": "Existing" }, "properties": { "name": "declared" },
        } },
    });
    let body = json!({ "name": "s", "template": template, "parameters": { "Existing": id } });
    let made = world.post("/formations", body).await;
    assert_eq!(made.body["resources"][0]["physical_resource_id"], json!(id), "{}", made.text);
    let missing = world.post("/formations", json!({ "name": "t", "template": template })).await;
    assert_eq!(missing.outcome(), (400, "FORMATION_MISSING_PARAMETERS"), "{}", missing.text);
}

#[tokio::test]
async fn a_kept_plan_that_adopts_is_carried_out_only_while_the_object_is_as_it_was() {
    let world = World::new().await;
    let id = memory(&world).await;
    let body = json!({ "template": importing(&id, "declared"), "save": true });
    let kept = world.post("/formations/plan", body).await;
    let hash = kept.body["plan_hash"].as_str().expect("a hash").to_owned();
    let changed = world.send("PUT", &format!("/memories/{id}"), Some(&json!({ "name": "moved on" }))).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let applied = world.post(&format!("/plans/{hash}/apply"), json!({ "name": "s" })).await;
    assert_eq!(applied.body["status"], "failed", "{}", applied.text);
    assert_eq!(applied.body["error"]["code"], "DRIFTED");
    assert_eq!(world.get(&format!("/memories/{id}")).await.body["name"], "moved on");
}
