//! Deploys after deploys, and teardowns: nothing is lost, nothing wedges, nothing is taken along.

use super::{last_events, only, pair, physical};
use crate::matrix::Given;
use crate::world::{World, agent, memories};
use formwork_model::{Catalog as _, Json};
use formwork_platform::{Platform, rest_routes};
use serde_json::json;

#[tokio::test]
async fn a_label_that_comes_back_names_something_new() {
    let world = World::new().await;
    let formation = world.deployed(&memories(2)).await;
    let first = physical(&world, &formation, "M1").await;
    assert_eq!(world.changes(&formation, &memories(1)).await, [pair("M1", "delete")]);
    world.redeploy(&formation, &memories(1)).await;
    assert_eq!(last_events(&world, &formation).await, [pair("M0", "no-op"), pair("M1", "delete")]);
    for _ in 0..2 {
        assert_eq!(world.changes(&formation, &memories(1)).await, [], "it is told once");
        world.redeploy(&formation, &memories(1)).await;
        assert_eq!(last_events(&world, &formation).await, [pair("M0", "no-op")]);
    }
    assert_eq!(world.changes(&formation, &memories(2)).await, [pair("M1", "create")]);
    world.redeploy(&formation, &memories(2)).await;
    assert_eq!(last_events(&world, &formation).await, [pair("M0", "no-op"), pair("M1", "create")]);
    assert_ne!(physical(&world, &formation, "M1").await, first);
    assert_eq!(world.changes(&formation, &memories(2)).await, []);
    assert_eq!(world.get("/memories").await.body["total"], 2);
}

/// The path of a type's items.
fn items(given: &Given, type_name: &str) -> String {
    let route = rest_routes().iter().find(|route| route.type_name == type_name).expect("a route");
    route.parent.map_or_else(
        || route.path.to_owned(),
        |parent| route.path.replace(&format!("{{{}}}", parent.property), given.id(parent.type_name)),
    )
}

#[tokio::test]
async fn what_was_deleted_by_hand_is_made_again_and_never_blocks_a_teardown_whatever_the_type() {
    let world = World::new().await;
    let given = Given::make(&world).await;
    for type_name in Platform::catalog().names() {
        let type_name = type_name.as_str();
        let template = only(type_name, given.properties(type_name, "it"));
        let formation = world.deployed(&template).await;
        let items = items(&given, type_name);
        let by_hand = async || {
            let id = physical(&world, &formation, "It").await;
            let deleted = world.send("DELETE", &format!("{items}/{id}"), None).await;
            assert!(deleted.status < 300, "{type_name}: {}", deleted.text);
            id
        };
        let first = by_hand().await;
        assert_eq!(world.changes(&formation, &template).await, [pair("It", "create")], "{type_name}");
        let healed = world.send("PUT", &format!("/formations/{formation}"), Some(&json!({}))).await;
        assert_eq!(healed.body["status"], "active", "{type_name}: {}", healed.text);
        assert_eq!(last_events(&world, &formation).await, [pair("It", "create")], "{type_name}");
        assert_ne!(by_hand().await, first, "{type_name}");
        let gone = world.send("DELETE", &format!("/formations/{formation}"), None).await;
        assert_eq!((gone.status, &gone.body["success"]), (200, &json!(true)), "{type_name}: {}", gone.text);
    }
    let listed = world.get("/formations").await.body;
    assert_eq!(listed["total"], 0, "those that are deleted are listed no more");
}

/// Types whose names are taken once, before a provider that is refused.
fn with_unique_names(secret: Option<&str>) -> Json {
    let mut template = json!({ "resources": {
        "Cases": { "type": "dataset", "properties": { "name": "cases" } },
        "Desk": { "type": "workflow", "properties": {
            "name": "desk", "states": [{ "name": "s", "initial": true, "terminal": true }], "transitions": [],
        } },
        "Doc": { "type": "document", "properties": { "content": "c", "path": "/a.txt" } },
        "Guest": { "type": "actor", "properties": { "name": "g", "external_id": "u1" } },
        "Prov": { "type": "ai_provider", "depends_on": ["Cases", "Desk", "Doc", "Guest"], "properties": {
            "name": "p", "provider": "openai", "default_model": "m", "secret_id": null,
        } },
    } });
    template["resources"]["Prov"]["properties"]["secret_id"] = json!(secret);
    template
}

#[tokio::test]
async fn a_corrected_deploy_does_not_collide_with_the_failed_one() {
    let world = World::new().await;
    let broken = with_unique_names(Some("sec_missing"));
    let failed = world.post("/formations", json!({ "name": "s", "template": broken })).await;
    assert_eq!((failed.status, &failed.body["status"]), (201, &json!("failed")), "{}", failed.text);
    for path in ["/datasets", "/workflows", "/documents", "/actors", "/files"] {
        assert_eq!(world.get(path).await.body["total"], 0, "{path}: nothing is left behind");
    }
    let corrected = world.redeploy(&failed.id(), &with_unique_names(None)).await;
    assert_eq!((&corrected["status"], &corrected["error"]), (&json!("active"), &Json::Null), "{corrected}");
    for path in ["/datasets", "/workflows", "/documents", "/actors"] {
        assert_eq!(world.get(path).await.body["total"], 1, "{path}");
    }
    assert_eq!(world.send("DELETE", &format!("/formations/{}", failed.id()), None).await.status, 200);
}

/// An agent with the eval that judges it.
fn judged(policy: &str) -> Json {
    let mut template = agent();
    let more = json!({
        "Cases": { "type": "dataset", "properties": { "name": format!("cases-{policy}") } },
        "Case": { "type": "dataset_item", "properties": {
            "dataset_id": { "ref": "Cases" }, "input": [{ "role": "user", "content": "hi" }],
        } },
        "Judge": { "type": "eval", "properties": {
            "name": format!("judge-{policy}"), "agent_id": { "ref": "Bot" }, "dataset_id": { "ref": "Cases" },
            "scorers": [{ "type": "exact_match" }],
        } },
    });
    let resources = template["resources"].as_object_mut().expect("resources");
    resources.extend(more.as_object().expect("resources").clone());
    resources["Bot"]["deletion_policy"] = json!(policy);
    if policy == "retain" {
        resources["Prov"]["deletion_policy"] = json!(policy);
    }
    template
}

async fn with_history(world: &World, policy: &str) -> (String, String) {
    let made = world.post("/formations", json!({ "name": policy, "template": judged(policy) })).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let bot = made.body["outputs"]["botId"].as_str().expect("an agent").to_owned();
    world.leave_history(&bot, made.body["project_id"].as_str().expect("a project")).await;
    (format!("/formations/{}", made.id()), format!("/agents/{bot}"))
}

#[tokio::test]
async fn the_history_of_an_agent_stops_a_teardown_before_its_eval_is_destroyed() {
    let world = World::new().await;
    let (formation, bot) = with_history(&world, "delete").await;
    let before = world.get(&formation).await.body;
    for _ in 0..2 {
        let refused = world.send("DELETE", &formation, None).await;
        assert_eq!(refused.outcome(), (409, "FORMATION_DELETE_FAILED"));
        assert!(refused.message().contains("No resource was deleted"), "{}", refused.text);
        let failures = refused.meta()["failures"].as_array().expect("failures");
        assert_eq!(failures.len(), 1, "{}", refused.text);
        let named = (&failures[0]["logical_id"], &failures[0]["resource_type"]);
        assert_eq!(named, (&json!("Bot"), &json!("agent")));
        let error = failures[0]["error"].as_str().expect("a reason");
        assert!(
            error.ends_with("has 3 dependent generation(s) and 3 trace(s), so it cannot be deleted."),
            "{error}"
        );
        assert_eq!(world.get(&formation).await.body, before, "the stack is intact and active");
        for path in ["/datasets", "/evals", "/agents", "/ai-providers"] {
            assert_eq!(world.get(path).await.body["total"], 1, "{path}");
        }
    }
    assert_eq!(world.send("DELETE", &bot, None).await.outcome(), (409, "AGENT_HAS_DEPENDENTS"));
    assert_eq!(world.send("DELETE", &format!("{bot}?force=true"), None).await.status, 204);
    let gone = world.send("DELETE", &formation, None).await;
    assert_eq!(gone.status, 200, "the same command succeeds then: {}", gone.text);
    for path in ["/datasets", "/evals", "/agents", "/ai-providers"] {
        assert_eq!(world.get(path).await.body["total"], 0, "{path}");
    }
}

#[tokio::test]
async fn a_retained_agent_blocks_nothing_and_outlives_its_stack() {
    let world = World::new().await;
    let (formation, bot) = with_history(&world, "retain").await;
    let gone = world.send("DELETE", &formation, None).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(world.get(&bot).await.status, 200);
    assert_eq!(world.get("/datasets").await.body["total"], 0);
}

#[tokio::test]
async fn a_removal_that_is_refused_is_told_on_the_formation_and_tried_again() {
    let world = World::new().await;
    let (formation, bot) = with_history(&world, "delete").await;
    let id = formation.rsplit('/').next().expect("an id").to_owned();
    let mut less = judged("delete");
    for label in ["Bot", "Judge"] {
        less["resources"].as_object_mut().expect("resources").shift_remove(label);
    }
    less.as_object_mut().expect("a template").shift_remove("outputs");
    let left = world.redeploy(&id, &less).await;
    let told = left["error"].to_string();
    assert!(told.contains("Bot"), "it is not only in the events: {left:#}");
    assert_eq!(world.get(&bot).await.status, 200);
    let shown = world.get(&formation).await.body;
    assert_eq!(shown["error"], left["error"], "and stays readable");
    assert_eq!(world.send("DELETE", &format!("{bot}?force=true"), None).await.status, 204);
    let healed = world.redeploy(&id, &less).await;
    assert_eq!((&healed["status"], &healed["error"]), (&json!("active"), &Json::Null), "{healed:#}");
}

#[tokio::test]
async fn a_secret_takes_no_provider_of_others_along() {
    let world = World::new().await;
    let secret = |labels: &[&str]| {
        let resources = labels.iter().map(|label| {
            ((*label).to_owned(), json!({ "type": "secret", "properties": { "name": label, "value": "v" } }))
        });
        json!({ "resources": resources.collect::<serde_json::Map<_, _>>() })
    };
    let formation = world.deployed(&secret(&["Used", "Other"])).await;
    let used = physical(&world, &formation, "Used").await;
    let body = json!({ "name": "mine", "provider": "openai", "default_model": "m", "secret_id": used });
    let provider = format!("/ai-providers/{}", world.made("/ai-providers", body).await);
    let left = world.redeploy(&formation, &secret(&["Other"])).await;
    assert!(left["error"].to_string().contains("Used"), "{left:#}");
    let refused = world.send("DELETE", &format!("/formations/{formation}"), None).await;
    assert_eq!(refused.outcome(), (409, "FORMATION_DELETE_FAILED"));
    assert_eq!(
        world.get(&provider).await.body["secret_id"],
        json!(used),
        "the provider stands, with its secret"
    );
    assert_eq!(world.send("DELETE", &provider, None).await.status, 204);
    assert_eq!(world.send("DELETE", &format!("/formations/{formation}"), None).await.status, 200);
}

#[tokio::test]
async fn policies_of_one_name_in_two_projects_are_two() {
    let world = World::new().await;
    let there = world.made("/projects", json!({ "name": "there" })).await;
    let policy = |action: &str| {
        only(
            "policy",
            json!({
                "name": "limits", "document": { "statement": [{ "effect": "Allow", "action": [action] }] },
            }),
        )
    };
    let here = world.deployed(&policy("agents:*")).await;
    let body = json!({ "name": "s", "project_id": there, "template": policy("tools:*") });
    let made = world.post("/formations", body).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let first = physical(&world, &here, "It").await;
    assert_ne!(first, physical(&world, &made.id(), "It").await);
    assert_eq!(world.send("DELETE", &format!("/formations/{}", made.id()), None).await.status, 200);
    let kept = world.get(&format!("/policies/{first}")).await.body;
    assert_eq!(kept["document"]["statement"][0]["action"], json!(["agents:*"]));
}

#[tokio::test]
async fn a_template_of_more_than_a_megabyte_is_deployed_and_comes_back() {
    let world = World::new().await;
    let large =
        |word: &str| only("document", json!({ "content": word.repeat(300_000), "chunk_strategy": "whole" }));
    let formation = world.deployed(&large("words ")).await;
    let path = format!("/formations/{formation}");
    assert_eq!(world.get(&path).await.body["template"], large("words "));
    assert_eq!(world.redeploy(&formation, &large("other ")).await["status"], "active");
    let plan = json!({ "formation_id": formation, "template": large("other ") });
    assert_eq!(world.post("/formations/plan", plan).await.body["changes"][0]["action"], "no-op");
    assert_eq!(world.send("DELETE", &path, None).await.status, 200);
}

#[tokio::test]
async fn the_stored_template_needs_its_parameters_like_any_other() {
    let world = World::new().await;
    let mut template = only("memory", json!({ "name": { "param": "Name" } }));
    template["parameters"] = json!({ "Name": { "type": "string" } });
    let body = json!({ "name": "s", "template": template, "parameters": { "Name": "one" } });
    let made = world.post("/formations", body).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let path = format!("/formations/{}", made.id());
    let missing = world.send("PUT", &path, Some(&json!({}))).await;
    assert_eq!(missing.outcome(), (400, "FORMATION_MISSING_PARAMETERS"));
    assert_eq!(missing.message(), "Missing required parameters: Name");
    assert_eq!(world.get("/memories").await.body["data"][0]["name"], "one", "nothing is dropped in silence");
    let given = world.send("PUT", &path, Some(&json!({ "parameters": { "Name": "two" } }))).await;
    assert_eq!(given.body["status"], "active", "{}", given.text);
    assert_eq!(world.get("/memories").await.body["data"][0]["name"], "two");
}

#[tokio::test]
async fn an_operation_keeps_the_plan_that_it_carried_out() {
    let world = World::new().await;
    let formation = world.deployed(&memories(1)).await;
    world.redeploy(&formation, &memories(2)).await;
    let operations = world.get(&format!("/formations/{formation}/events")).await.body;
    let steps = operations["data"][1]["plan"]["steps"].as_array().expect("a plan").iter();
    let actions: Vec<_> = steps.map(|it| (it["logical_id"].clone(), it["action"].clone())).collect();
    assert_eq!(actions, [(json!("M0"), json!("no-op")), (json!("M1"), json!("create"))]);
}

#[tokio::test]
async fn a_project_with_a_formation_is_refused_in_words_until_it_is_torn_down() {
    let world = World::new().await;
    let project = world.made("/projects", json!({ "name": "p" })).await;
    let body = json!({ "name": "s", "project_id": project, "template": memories(1) });
    let formation = world.made("/formations", body).await;
    let path = format!("/projects/{project}");
    assert_eq!(world.send("DELETE", &path, None).await.outcome(), (409, "PROJECT_HAS_DEPENDENTS"));
    assert_eq!(world.send("DELETE", &format!("/formations/{formation}"), None).await.status, 200);
    assert_eq!(world.send("DELETE", &path, None).await.status, 204);
}
