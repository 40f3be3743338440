//! Conditions of policies on tags are judged by the tags that are stored: by route and by formation
//! alike, whatever was sent once or is sent now.

use crate::people::{Person, allow};
use crate::world::{Reply, World};
use formwork_model::Json;
use formwork_store::Store as _;
use serde_json::json;

/// Somebody who may do anything with formations, and with what is tagged `team: red`.
async fn red(world: &World) -> Person {
    let red = json!({ "effect": "Allow", "action": ["documents:*", "actors:*", "files:*"], "condition": {
        "StringEquals": { "soat:ResourceTag/team": "red" },
    } });
    world.person("ada", &[red, allow(&["formations:*"], &["*"])]).await
}

fn document(team: &str) -> Json {
    json!({ "content": "text", "tags": { "team": team } })
}

fn template(properties: &Json) -> Json {
    json!({ "resources": { "D": { "type": "document", "properties": properties } } })
}

/// A formation of the admin's with one document; answers with its path and the document's.
async fn deployed(world: &World, name: &str, team: &str) -> (String, String) {
    let body = json!({ "name": name, "template": template(&document(team)) });
    let made = world.post("/formations", body).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let id = made.body["resources"][0]["physical_resource_id"].as_str().expect("an id").to_owned();
    (format!("/formations/{}", made.id()), format!("/documents/{id}"))
}

async fn retag(world: &World, document: &str, team: &str) {
    let body = json!({ "tags": { "team": team } });
    let reply = world.send("PATCH", document, Some(&body)).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
}

fn assert_same(what: &str, by_route: &Reply, by_formation: &Reply, may: bool) {
    for (path, reply) in [("route", by_route), ("formation", by_formation)] {
        let done = reply.status < 300 && reply.body["status"] != "failed";
        assert_eq!(done, may, "{what} by {path}: {}", reply.text);
        assert!(done || reply.status == 403, "{what} by {path}: {}", reply.text);
    }
}

#[tokio::test]
async fn what_was_retagged_behind_the_formation_is_judged_as_it_is_now() {
    let world = World::new().await;
    let ada = red(&world).await;
    for (round, (sent, stored, may)) in
        [("red", "red", true), ("red", "blue", false), ("blue", "red", true)].into_iter().enumerate()
    {
        let what = format!("sent as {sent}, stored as {stored}");
        // Changing something else, with the tags as they are.
        let (stack, document) = deployed(&world, &format!("u{round}"), sent).await;
        retag(&world, &document, stored).await;
        let change = json!({ "content": "more" });
        let by_route = ada.world.send("PATCH", &document, Some(&change)).await;
        let again = json!({ "template": template(&json!({ "content": "other" })) });
        let by_formation = ada.world.send("PUT", &stack, Some(&again)).await;
        assert_same(&format!("update, {what}"), &by_route, &by_formation, may);
        // Deleting.
        let (stack, _) = deployed(&world, &format!("d{round}"), sent).await;
        let listed = world.get(&stack).await.body;
        let id = listed["resources"][0]["physical_resource_id"].as_str().expect("an id").to_owned();
        retag(&world, &format!("/documents/{id}"), stored).await;
        let (_, other) = deployed(&world, &format!("r{round}"), stored).await;
        let by_route = ada.world.send("DELETE", &other, None).await;
        let emptied = json!({ "template": { "resources": {} } });
        let removed = ada.world.send("PUT", &stack, Some(&emptied)).await;
        assert_same(&format!("removal, {what}"), &by_route, &removed, may);
        let (stack, document) = deployed(&world, &format!("t{round}"), sent).await;
        retag(&world, &document, stored).await;
        let torn = ada.world.send("DELETE", &stack, None).await;
        assert_same(&format!("teardown, {what}"), &by_route, &torn, may);
    }
}

#[tokio::test]
async fn a_tag_is_changed_only_where_both_the_old_and_the_new_one_allow_it() {
    let world = World::new().await;
    let ada = red(&world).await;
    for (round, (from, to, may)) in
        [("red", "red", true), ("red", "blue", false), ("blue", "red", false), ("blue", "blue", false)]
            .into_iter()
            .enumerate()
    {
        let (_, document) = deployed(&world, &format!("r{round}"), from).await;
        let change = json!({ "content": "more", "tags": { "team": to } });
        let by_route = ada.world.send("PATCH", &document, Some(&change)).await;
        let (stack, of_stack) = deployed(&world, &format!("f{round}"), from).await;
        let by_formation =
            ada.world.send("PUT", &stack, Some(&json!({ "template": template(&change) }))).await;
        assert_same(&format!("from {from} to {to}"), &by_route, &by_formation, may);
        let mut documents = vec![document, of_stack];
        for method in ["PUT", "PATCH"] {
            let name = format!("{}{round}", method.to_lowercase());
            let (_, document) = deployed(&world, &name, from).await;
            let tags = json!({ "team": to });
            let reply = ada.world.send(method, &format!("{document}/tags"), Some(&tags)).await;
            assert_eq!(reply.status, if may { 200 } else { 403 }, "{method} {from} to {to}: {}", reply.text);
            documents.push(document);
        }
        for document in documents {
            let tags = world.get(&document).await.body["tags"].clone();
            assert_eq!(tags, json!({ "team": if may { to } else { from } }));
        }
    }
    // Taking the tags away is a change of tags too.
    let (stack, document) = deployed(&world, "cleared", "red").await;
    let by_route = ada.world.send("PATCH", &document, Some(&json!({ "tags": null }))).await;
    let cleared = json!({ "template": template(&json!({ "content": "text", "tags": null })) });
    let by_formation = ada.world.send("PUT", &stack, Some(&cleared)).await;
    assert_same("cleared", &by_route, &by_formation, false);
    let refusal = &world.get("/audit?limit=2").await.body["data"];
    assert_eq!((&refusal[0]["allowed"], &refusal[1]["allowed"]), (&json!(false), &json!(false)));
}

#[tokio::test]
async fn a_tag_that_is_not_known_before_the_deploy_lets_nobody_in() {
    let world = World::new().await;
    let project = world.default_project().await;
    let ada = red(&world).await;
    let template = json!({ "resources": {
        "A": { "type": "document", "properties": document("red") },
        "D": { "type": "document", "properties": {
            "content": "text", "tags": { "team": { "sub": "${A}" } },
        } },
    } });
    let body = json!({ "name": "s", "project_id": project, "template": template });
    let refused = ada.world.post("/formations", body.clone()).await;
    assert_eq!(refused.outcome(), (403, "FORBIDDEN"), "{}", refused.text);
    assert_eq!(refused.meta()["denied_actions"][0]["logical_id"], "D");
    // What denies a tag denies what may turn out to have it.
    let not_blue = json!({ "effect": "Deny", "action": ["documents:*"], "condition": {
        "StringEquals": { "soat:ResourceTag/team": "blue" },
    } });
    ada.may(&[allow(&["*"], &["*"]), not_blue]).await;
    assert_eq!(ada.world.post("/formations", body).await.outcome(), (403, "FORBIDDEN"));
}

#[tokio::test]
async fn an_object_that_was_decided_about_is_not_deleted_as_another() {
    for round in 0..40 {
        let world = World::new().await;
        let ada = red(&world).await;
        let document = format!("/documents/{}", world.made("/documents", document("red")).await);
        let blue = json!({ "tags": { "team": "blue" } });
        let (deleted, retagged) = tokio::join!(
            async {
                for _ in 0..round {
                    tokio::task::yield_now().await;
                }
                ada.world.send("DELETE", &document, None).await
            },
            world.send("PATCH", &document, Some(&blue)),
        );
        let both = deleted.status == 204 && retagged.status == 200;
        assert!(!both, "{round}: what was blue by then was deleted");
    }
}

#[tokio::test]
async fn a_formation_takes_items_of_something_only_where_it_is_known_to_be_allowed() {
    let world = World::new().await;
    let here = world.default_project().await;
    let secret = world.made("/datasets", json!({ "name": "secret" })).await;
    let denied = json!({
        "effect": "Deny", "action": ["evaluations:*"], "resource": [format!("srn:{here}:dataset:{secret}")],
    });
    let ada = world.person("ada", &[allow(&["*"], &["*"]), denied]).await;
    let item = |dataset: Json| {
        json!({ "type": "dataset_item", "properties": {
            "dataset_id": dataset, "input": [{ "role": "user", "content": "hi" }],
        } })
    };
    let deploy = async |name: &str, resources: Json| {
        let body = json!({ "name": name, "project_id": here, "template": { "resources": resources } });
        ada.world.post("/formations", body).await
    };
    let own = json!({
        "Set": { "type": "dataset", "properties": { "name": "own" } },
        "It": item(json!({ "ref": "Set" })),
    });
    let made = deploy("own", own).await;
    assert_eq!(made.body["status"], "active", "what the template makes is nobody's yet: {}", made.text);
    assert_eq!(deploy("named", json!({ "It": item(json!(secret)) })).await.outcome(), (403, "FORBIDDEN"));
    let left = world.store.reader().links_to(&secret, 10).await.expect("read");
    assert!(left.is_empty(), "{left:?}");
}
