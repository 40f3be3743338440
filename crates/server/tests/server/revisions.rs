//! Revisions: what each successful deploy applied can be seen, masked, and applied again.

use crate::people::allow;
use crate::world::{World, failing, memories};
use formwork_store::Store as _;
use serde_json::{Value, json};

fn named(name: &str) -> Value {
    json!({ "resources": { "M": { "type": "memory", "properties": { "name": name } } } })
}

async fn create(world: &World, template: Value) -> String {
    let made = world.post("/formations", json!({ "name": "s", "template": template })).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    made.id()
}

async fn update(world: &World, formation: &str, body: Value) -> Value {
    let done = world.send("PUT", &format!("/formations/{formation}"), Some(&body)).await;
    assert_eq!(done.status, 200, "{}", done.text);
    done.body
}

async fn numbers(world: &World, formation: &str, query: &str) -> (Vec<u64>, u64) {
    let page = world.get(&format!("/formations/{formation}/revisions{query}")).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let data = page.body["data"].as_array().expect("a page");
    let numbers = data.iter().map(|item| item["revision"].as_u64().expect("a number")).collect();
    (numbers, page.body["total"].as_u64().expect("a count"))
}

#[tokio::test]
async fn each_successful_deploy_keeps_its_template_and_a_failed_one_does_not() {
    let world = World::new().await;
    let formation = create(&world, named("one")).await;
    update(&world, &formation, json!({ "template": named("two") })).await;
    let failed = update(&world, &formation, json!({ "template": failing() })).await;
    assert_eq!(failed["status"], "failed", "{failed}");
    assert_eq!(numbers(&world, &formation, "").await, (vec![2, 1], 2));
    assert_eq!(numbers(&world, &formation, "?limit=1&offset=1").await, (vec![1], 2));

    let first = world.get(&format!("/formations/{formation}/revisions/1")).await.body;
    assert_eq!(first["template"], named("one"));
    let operations = world.get(&format!("/formations/{formation}/events")).await.body;
    assert_eq!(first["operation_id"], operations["data"][0]["id"]);
    assert_eq!(first["formation_id"], json!(formation));
    let listed = world.get(&format!("/formations/{formation}/revisions")).await.body;
    assert!(listed["data"][0].get("template").is_none(), "a list is without templates: {listed}");
    for number in ["0", "3", "x", "18446744073709551615"] {
        let missing = world.get(&format!("/formations/{formation}/revisions/{number}")).await;
        assert_eq!(missing.outcome(), (404, "RESOURCE_NOT_FOUND"), "{number}");
    }
}

#[tokio::test]
async fn a_revision_is_planned_and_applied_again() {
    let world = World::new().await;
    let formation = create(&world, named("one")).await;
    update(&world, &formation, json!({ "template": memories(2) })).await;
    let body = json!({ "formation_id": formation, "revision": 1 });
    let plan = world.post("/formations/plan", body).await.body;
    let mut actions: Vec<_> = plan["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .map(|change| format!("{} {}", change["action"], change["logical_id"]).replace('"', ""))
        .collect();
    actions.sort();
    assert_eq!(actions, ["create M", "delete M0", "delete M1"]);
    let back = update(&world, &formation, json!({ "revision": 1 })).await;
    assert_eq!((&back["status"], &back["template"]), (&json!("active"), &named("one")));
    let memories = world.get("/memories").await.body;
    assert_eq!((&memories["total"], &memories["data"][0]["name"]), (&json!(1), &json!("one")));
    assert_eq!(numbers(&world, &formation, "").await, (vec![3, 2, 1], 3), "going back is a deploy too");
}

#[tokio::test]
async fn a_literal_credential_is_masked_and_still_deployed() {
    let world = World::new().await;
    let secret = |value: &str| json!({ "resources": { "Key": { "type": "secret", "properties": { "name": "k", "value": value } } } });
    let formation = create(&world, secret("sk-first")).await;
    update(&world, &formation, json!({ "template": secret("sk-second") })).await;
    let first = world.get(&format!("/formations/{formation}/revisions/1")).await;
    assert!(!first.text.contains("sk-"), "{}", first.text);
    let current = world.get(&format!("/formations/{formation}")).await.body;
    assert_eq!(first.body["template"], current["template"], "masked as every read is");
    let plan = world.post("/formations/plan", json!({ "formation_id": formation, "revision": 1 })).await;
    assert_eq!(plan.body["changes"][0]["action"], "update", "{}", plan.text);
    assert!(!plan.text.contains("sk-"), "{}", plan.text);
    let back = update(&world, &formation, json!({ "revision": 1 })).await;
    assert_eq!(back["status"], "active", "{back}");
    let plan =
        world.post("/formations/plan", json!({ "formation_id": formation, "template": secret("sk-first") }));
    assert_eq!(plan.await.body["changes"][0]["action"], "no-op");
}

#[tokio::test]
async fn a_template_and_a_revision_exclude_each_other() {
    let world = World::new().await;
    let formation = create(&world, named("one")).await;
    let path = format!("/formations/{formation}");
    let both = json!({ "template": named("two"), "revision": 1 });
    let refused = world.send("PUT", &path, Some(&both)).await;
    assert_eq!(refused.outcome(), (400, "VALIDATION_FAILED"));
    assert_eq!(refused.message(), "`template` and `revision` exclude each other");
    let unborn = world.post("/formations/plan", json!({ "revision": 1 })).await;
    assert_eq!(unborn.message(), "`revision` needs a `formation_id`");
    let missing = world.send("PUT", &path, Some(&json!({ "revision": 7 }))).await;
    assert_eq!(missing.outcome(), (404, "RESOURCE_NOT_FOUND"));
    assert_eq!(missing.message(), format!("Formation '{formation}' has no revision 7."));
    assert_eq!(numbers(&world, &formation, "").await, (vec![1], 1));
}

#[tokio::test]
async fn the_last_hundred_are_kept_and_they_go_with_the_formation() {
    let world = World::new().await;
    let formation = create(&world, json!({ "resources": {} })).await;
    for _ in 1..102 {
        update(&world, &formation, json!({})).await;
    }
    let (kept, total) = numbers(&world, &formation, "?limit=100").await;
    assert_eq!((kept.len(), kept[0], kept[99], total), (100, 102, 3, 100));
    let outlived = world.get(&format!("/formations/{formation}/revisions/2")).await;
    assert_eq!(outlived.status, 404, "{}", outlived.text);
    let last = format!("{formation}/revisions/102");
    assert!(world.store.reader().object(&last).await.expect("readable").is_some());
    assert_eq!(world.send("DELETE", &format!("/formations/{formation}"), None).await.status, 200);
    assert_eq!(world.get(&format!("/formations/{formation}/revisions")).await.status, 404);
    assert!(world.store.reader().object(&last).await.expect("readable").is_none());
}

#[tokio::test]
async fn who_may_see_the_formation_may_see_its_revisions_and_nobody_else() {
    let world = World::new().await;
    let formation = create(&world, named("one")).await;
    let paths = ["revisions", "revisions/1"].map(|path| format!("/formations/{formation}/{path}"));
    let ada = world.person("ada", &[allow(&["formations:ListFormations"], &["*"])]).await;
    for path in &paths {
        assert_eq!(ada.world.get(path).await.outcome(), (403, "FORBIDDEN"), "{path}");
    }
    ada.may(&[allow(&["formations:GetFormation"], &["*"])]).await;
    for path in &paths {
        assert_eq!(ada.world.get(path).await.status, 200, "{path}");
    }
}
