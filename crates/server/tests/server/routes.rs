//! What each route does when all is well.

use crate::world::{World, agent, failing, memories};
use formwork_platform::{RestRoute, UpdateMode, rest_routes};
use serde_json::{Value, json};

#[tokio::test]
async fn a_formation_lives_and_dies() {
    let world = World::new().await;
    let made = world.post("/formations", json!({ "name": "s", "template": agent() })).await;
    assert_eq!((made.status, &made.body["status"]), (201, &json!("active")), "{}", made.text);
    let id = made.id();
    let path = format!("/formations/{id}");
    assert!(made.body["outputs"]["botId"].as_str().is_some_and(|bot| bot.starts_with("agent_")));
    assert_eq!(world.get(&path).await.body, made.body);
    let listed = world.get("/formations").await.body;
    assert_eq!((&listed["total"], &listed["data"][0]["id"]), (&json!(1), &json!(id)));
    assert!(listed["data"][0].get("resources").is_none(), "lists have no resources");
    let mut template = agent();
    template["resources"]["Bot"]["properties"]["name"] = json!("renamed");
    let changed =
        world.send("PUT", &path, Some(&json!({ "template": template, "metadata": { "a": 1 } }))).await;
    assert_eq!((changed.status, &changed.body["status"]), (200, &json!("active")), "{}", changed.text);
    assert_eq!(changed.body["metadata"], json!({ "a": 1 }));
    let cleared = world.send("PUT", &path, Some(&json!({ "metadata": null }))).await;
    assert_eq!(cleared.body["metadata"], Value::Null);
    let operations = world.get(&format!("{path}/events")).await.body;
    let kinds: Vec<_> =
        operations["data"].as_array().expect("a list").iter().map(|it| &it["operation_type"]).collect();
    assert_eq!(kinds, ["create", "update", "update"]);
    let deleted = world.send("DELETE", &path, None).await;
    assert_eq!((deleted.status, deleted.body), (200, json!({ "success": true })));
    assert_eq!(world.send("DELETE", &path, None).await.status, 404);
    world.made("/formations", json!({ "name": "s", "template": memories(1) })).await;
}

#[tokio::test]
async fn a_template_may_be_text_and_keeps_its_places() {
    let world = World::new().await;
    let yaml = "resources:\n  M:\n    type: memory\n    properties:\n      nmae: m\n";
    let reply = world.post("/formations/validate", json!({ "template": yaml })).await;
    assert_eq!((reply.status, &reply.body["valid"]), (200, &json!(false)));
    let error = &reply.body["errors"][0];
    assert_eq!((&error["line"], &error["column"]), (&json!(5), &json!(7)), "{}", reply.text);
    let reply = world.post("/formations", json!({ "name": "s", "template": yaml })).await;
    assert_eq!(reply.outcome(), (400, "VALIDATION_FAILED"));
    assert_eq!(reply.message(), "Invalid template");
    assert_eq!(reply.meta()["details"][0]["line"], 5);
    let fixed = yaml.replace("nmae", "name");
    assert_eq!(world.post("/formations", json!({ "name": "s", "template": fixed })).await.status, 201);
}

#[tokio::test]
async fn a_failed_deploy_is_201_with_the_reason() {
    let world = World::new().await;
    let made = world.post("/formations", json!({ "name": "s", "template": failing() })).await;
    assert_eq!((made.status, &made.body["status"]), (201, &json!("failed")), "{}", made.text);
    assert_eq!(made.body["error"]["meta"]["logical_id"], "Prov");
    let path = format!("/formations/{}", made.id());
    let again = world.send("PUT", &path, Some(&json!({}))).await;
    assert_eq!((again.status, &again.body["status"]), (200, &json!("failed")));
}

#[tokio::test]
async fn a_plan_is_what_the_deploy_then_does() {
    let world = World::new().await;
    let planned = world.post("/formations/plan", json!({ "template": agent() })).await;
    let actions: Vec<_> =
        planned.body["changes"].as_array().expect("changes").iter().map(|it| &it["action"]).collect();
    assert_eq!(actions, ["create", "create"]);
    assert!(planned.body.get("unauthorized_actions").is_none());
    let id = world.made("/formations", json!({ "name": "s", "template": agent() })).await;
    let again = world.post("/formations/plan", json!({ "formation_id": id, "template": agent() })).await;
    let actions: Vec<_> =
        again.body["changes"].as_array().expect("changes").iter().map(|it| &it["action"]).collect();
    assert_eq!(actions, ["no-op", "no-op"]);
    let body = json!({ "template": agent(), "plan_hash": again.body["plan_hash"] });
    let applied = world.send("PUT", &format!("/formations/{id}"), Some(&body)).await;
    assert_eq!(applied.status, 200, "{}", applied.text);
    let stored = world.post("/formations/plan", json!({ "formation_id": id, "observe": "off" })).await;
    assert_eq!(stored.status, 200, "{}", stored.text);
}

#[tokio::test]
async fn a_graph_has_nodes_in_order_and_edges() {
    let world = World::new().await;
    let graph = world.post("/formations/graph", json!({ "template": agent() })).await.body;
    assert_eq!(graph["nodes"][0], json!({ "logical_id": "Prov", "resource_type": "ai_provider" }));
    assert_eq!(graph["edges"], json!([{ "from": "Bot", "to": "Prov" }]));
}

#[tokio::test]
async fn a_deploy_that_is_not_waited_for_is_202_with_where_to_look() {
    let world = World::new().await;
    let reply = world.post("/formations?wait=false", json!({ "name": "s", "template": memories(1) })).await;
    assert_eq!(reply.status, 202, "{}", reply.text);
    let operation = reply.body["operation_id"].as_str().expect("an id").to_owned();
    assert_eq!(reply.body["status_url"], format!("/api/v1/operations/{operation}"));
    world.control.wait(&operation.as_str().into()).await.expect("it ends");
    let seen = world.get(reply.body["status_url"].as_str().expect("a path")).await.body;
    assert_eq!((&seen["status"], &seen["formation_id"]), (&json!("succeeded"), &reply.body["formation_id"]));
    let path = format!("/formations/{}", reply.body["formation_id"].as_str().expect("an id"));
    assert_eq!(world.send("PUT", &format!("{path}?wait=false"), Some(&json!({}))).await.status, 202);
}

#[tokio::test]
async fn a_teardown_that_is_not_waited_for_is_202() {
    let world = World::new().await;
    let id = world.made("/formations", json!({ "name": "s", "template": memories(2) })).await;
    let reply = world.send("DELETE", &format!("/formations/{id}?wait=false"), None).await;
    assert_eq!((reply.status, &reply.body["formation_id"]), (202, &json!(id)));
    let operation = reply.body["operation_id"].as_str().expect("an id");
    world.control.wait(&operation.into()).await.expect("it ends");
    assert_eq!(world.get(&format!("/formations/{id}")).await.status, 404);
}

#[tokio::test]
async fn a_teardown_with_a_blocker_is_409_and_destroys_nothing() {
    let world = World::new().await;
    let made = world.post("/formations", json!({ "name": "s", "template": agent() })).await.body;
    let (bot, project) = (made["outputs"]["botId"].as_str(), made["project_id"].as_str());
    world.leave_history(bot.expect("an agent"), project.expect("a project")).await;
    let path = format!("/formations/{}", made["id"].as_str().expect("an id"));
    let reply = world.send("DELETE", &path, None).await;
    assert_eq!(reply.outcome(), (409, "FORMATION_DELETE_FAILED"));
    assert_eq!(reply.meta()["failures"][0]["logical_id"], "Bot");
    assert_eq!(world.get(&path).await.body, made, "nothing changed");
}

#[tokio::test]
async fn canceling_a_finished_operation_changes_nothing() {
    let world = World::new().await;
    let id = world.made("/formations", json!({ "name": "s", "template": memories(1) })).await;
    let operations = world.get(&format!("/formations/{id}/events")).await.body;
    let operation = operations["data"][0]["id"].as_str().expect("an id");
    let reply = world.send("POST", &format!("/operations/{operation}/cancel"), None).await;
    assert_eq!((reply.status, &reply.body["status"]), (202, &json!("succeeded")), "{}", reply.text);
    let reply = world.post(&format!("/operations/{operation}/cancel"), json!({ "force": true })).await;
    assert_eq!(reply.status, 202);
}

#[tokio::test]
async fn projects_and_tokens_are_made_read_and_deleted() {
    let world = World::new().await;
    let project = world.made("/projects", json!({ "name": "p" })).await;
    assert_eq!(world.get(&format!("/projects/{project}")).await.body["name"], "p");
    assert_eq!(world.get("/projects").await.body["total"], 2, "with the default one");
    let token = world.post("/tokens", json!({ "name": "ci", "project_id": project })).await;
    assert_eq!(token.status, 201);
    let bearer = world.bearing(token.body["token"].as_str().expect("the plaintext"));
    assert_eq!(bearer.get("/projects").await.body["total"], 1);
    assert_eq!(bearer.get("/tokens").await.body["total"], 1);
    assert_eq!(world.send("DELETE", &format!("/tokens/{}", token.id()), None).await.status, 204);
    assert_eq!(bearer.get("/projects").await.status, 401, "revoked at once");
    let gone = world.send("DELETE", &format!("/projects/{project}"), None).await;
    assert_eq!((gone.status, gone.text.as_str()), (204, ""));
    assert_eq!(world.get(&format!("/projects/{project}")).await.status, 404);
}

/// A body that makes a resource of each type.
async fn sample(world: &World, type_name: &str) -> Value {
    let provider = json!({ "name": "p", "provider": "openai", "default_model": "m" });
    match type_name {
        "ai_provider" => provider,
        "agent" => json!({ "name": "a", "ai_provider_id": world.made("/ai-providers", provider).await }),
        "chat" => json!({ "ai_provider_id": world.made("/ai-providers", provider).await }),
        "session" | "trace" | "generation" => json!({ "agent_id": made_agent(world).await }),
        "dataset_item" => json!({ "input": [{ "role": "user", "content": "hi" }] }),
        "eval" => {
            // A name is taken once, and a sample is made anew for each method.
            let taken = world.get("/datasets").await.body["total"].clone();
            let dataset = world.made("/datasets", json!({ "name": format!("of-eval-{taken}") })).await;
            json!({ "name": "e", "agent_id": made_agent(world).await, "dataset_id": dataset, "scorers": [] })
        }
        "file" => json!({ "filename": "a.txt" }),
        "guardrail" => json!({ "name": "g", "class": "A" }),
        "conversation" | "eval_run" => json!({}),
        "message" => json!({ "message": "hello" }),
        "document" => json!({ "content": "c" }),
        "memory_entry" => {
            json!({ "memory_id": world.made("/memories", json!({ "name": "m" })).await, "content": "c" })
        }
        "secret" => json!({ "name": "k", "value": "v" }),
        "ingestion_rule" => json!({ "content_type_glob": "image/*", "agent_id": made_agent(world).await }),
        "model_route" => {
            let provider = world.made("/ai-providers", provider).await;
            json!({ "name": "r", "targets": [{ "ai_provider_id": provider, "model": "m" }] })
        }
        "orchestration" => json!({ "name": "o", "nodes": [], "edges": [] }),
        "policy" => json!({ "document": { "statement": [{ "effect": "Allow", "action": ["*"] }] } }),
        "project_price" => json!({
            "provider": "openai", "model": "m", "component": "request", "unit": "request", "unit_price": 1,
        }),
        "quota" => json!({ "scope": "project", "metric": "tokens", "window": "rolling_1h", "limit": 1 }),
        "trigger" => json!({
            "name": "t", "type": "webhook", "target_type": "agent", "target_id": made_agent(world).await,
        }),
        "webhook" => json!({ "name": "w", "url": "https://x.test/hook", "events": ["*"] }),
        "workflow" => workflow(),
        "task" => json!({ "workflow_id": world.made("/workflows", workflow()).await }),
        "orchestration_run" => {
            let graph = json!({ "name": "o", "nodes": [{ "id": "a", "type": "human" }], "edges": [] });
            json!({ "orchestration_id": world.made("/orchestrations", graph).await })
        }
        _ => json!({ "name": "n" }),
    }
}

async fn made_agent(world: &World) -> String {
    let provider = json!({ "name": "p", "provider": "openai", "default_model": "m" });
    let provider = world.made("/ai-providers", provider).await;
    world.made("/agents", json!({ "ai_provider_id": provider })).await
}

/// An eval with a case to run on.
async fn made_eval(world: &World) -> String {
    let dataset = world.made("/datasets", json!({ "name": "of-runs" })).await;
    let case = json!({ "input": [{ "role": "user", "content": "q" }] });
    world.made(&format!("/datasets/{dataset}/items"), case).await;
    let eval = json!({
        "name": "of-runs", "agent_id": made_agent(world).await, "dataset_id": dataset,
        "scorers": [{ "type": "exact_match" }],
    });
    world.made("/evals", eval).await
}

/// The path of a type's collection; one that lies below another item gets an item of its own.
async fn collection(world: &World, route: &RestRoute) -> String {
    let Some(parent) = route.parent else { return route.path.to_owned() };
    let id = match parent.type_name {
        "dataset" => world.made("/datasets", json!({ "name": "of-items" })).await,
        "eval" => made_eval(world).await,
        _ => world.made("/sessions", json!({ "agent_id": made_agent(world).await })).await,
    };
    route.path.replace(&format!("{{{}}}", parent.property), &id)
}

fn workflow() -> Value {
    json!({ "name": "w", "states": [{ "name": "a", "initial": true }], "transitions": [] })
}

#[tokio::test]
async fn every_platform_type_is_made_read_changed_and_deleted() {
    let world = World::new().await;
    assert_eq!(rest_routes().len(), 38);
    // Versions are left by writes.
    for route in rest_routes().iter().filter(|route| route.create.is_some()) {
        let path = collection(&world, route).await;
        let made = world.post(&path, sample(&world, route.type_name).await).await;
        assert_eq!(made.status, route.create_status, "{}: {}", route.type_name, made.text);
        let item = format!("{path}/{}", made.id());
        let mut shown = made.body.clone();
        for told_once in ["key", "secret"] {
            shown.as_object_mut().expect("an object").shift_remove(told_once);
        }
        assert_eq!(world.get(&item).await.body, shown, "{}", route.type_name);
        let listed = world.get(&path).await.body;
        assert!(
            listed["data"].as_array().is_some_and(|all| all.iter().any(|it| it["id"] == made.body["id"]))
        );
        for mode in route.update_modes {
            let (method, body) = match mode {
                UpdateMode::Patch => ("PATCH", json!({})),
                UpdateMode::Put => {
                    let mut body = sample(&world, route.type_name).await;
                    // What cannot change is not sent again.
                    body.as_object_mut().expect("an object").remove("memory_id");
                    ("PUT", body)
                }
            };
            let reply = world.send(method, &format!("{item}{}", route.update_suffix), Some(&body)).await;
            assert_eq!(reply.status, 200, "{method} {}: {}", route.type_name, reply.text);
        }
        if route.delete.is_none() {
            assert_eq!(world.send("DELETE", &item, None).await.status, 405, "{}", route.type_name);
            continue;
        }
        let gone = world.send("DELETE", &item, None).await;
        let expected = if route.type_name == "secret" { 200 } else { 204 };
        assert_eq!(gone.status, expected, "{}: {}", route.type_name, gone.text);
        assert_eq!(world.get(&item).await.status, 404);
    }
}

#[tokio::test]
async fn health_says_only_that_it_is_there() {
    let world = World::new().await.bearing("");
    let reply = world.get("/health").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }));
}

#[tokio::test]
async fn an_item_is_found_below_its_own_parent_only() {
    let world = World::new().await;
    let one = world.made("/datasets", json!({ "name": "one" })).await;
    let two = world.made("/datasets", json!({ "name": "two" })).await;
    let input = json!({ "input": [{ "role": "user", "content": "hi" }] });
    let item = world.made(&format!("/datasets/{one}/items"), input.clone()).await;
    let listed = world.get(&format!("/datasets/{two}/items")).await.body;
    assert_eq!(listed["total"], 0);
    for method in ["GET", "DELETE"] {
        let reply = world.send(method, &format!("/datasets/{two}/items/{item}"), None).await;
        assert_eq!(reply.outcome(), (404, "RESOURCE_NOT_FOUND"), "{method}: {}", reply.text);
    }
    assert_eq!(world.post("/datasets/dset_none/items", input.clone()).await.status, 404);
    let mut elsewhere = input;
    elsewhere["dataset_id"] = json!(two);
    let reply = world.post(&format!("/datasets/{one}/items"), elsewhere).await;
    assert_eq!(reply.outcome(), (400, "VALIDATION_FAILED"));
    assert_eq!(reply.body["error"]["message"], "`dataset_id` must be the id in the path");
}

#[tokio::test]
async fn a_signing_secret_is_read_and_rotated_by_routes_of_its_own() {
    let world = World::new().await;
    let body = json!({ "name": "w", "url": "https://x.test/hook", "events": ["*"] });
    let made = world.post("/webhooks", body).await;
    let item = format!("/webhooks/{}", made.id());
    assert_eq!(world.get(&format!("{item}/secret")).await.body["secret"], made.body["secret"]);
    let rotated = world.send("POST", &format!("{item}/rotate-secret"), None).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text);
    assert_ne!(rotated.body["secret"], made.body["secret"]);
    assert_eq!(world.get("/webhooks/wh_none/secret").await.status, 404);
}

#[tokio::test]
async fn versions_are_listed_below_their_object_and_restored() {
    let world = World::new().await;
    let states = json!([{ "name": "a", "initial": true }]);
    let body = json!({ "name": "w", "states": states, "transitions": [] });
    let id = world.made("/workflows", body).await;
    world.send("PATCH", &format!("/workflows/{id}"), Some(&json!({ "description": "d" }))).await;
    let listed = world.get(&format!("/workflows/{id}/versions")).await.body;
    assert_eq!((&listed["total"], &listed["data"][1]["version"]), (&json!(2), &json!(2)));
    let first = listed["data"][0]["id"].as_str().expect("an id");
    let restored = world.send("POST", &format!("/workflows/{id}/versions/{first}/restore"), None).await;
    assert_eq!((restored.status, &restored.body["description"]), (200, &Value::Null), "{}", restored.text);
    assert_eq!(restored.body["version"], 3);
    let elsewhere = world.send("POST", &format!("/workflows/wfl_none/versions/{first}/restore"), None).await;
    assert_eq!(elsewhere.status, 404);
}

#[tokio::test]
async fn an_actor_that_is_there_is_answered_with_200() {
    let world = World::new().await;
    let body = json!({ "name": "a", "external_id": "u1" });
    let first = world.post("/actors", body.clone()).await;
    let again = world.post("/actors", body).await;
    assert_eq!((first.status, again.status), (201, 200));
    assert_eq!(again.body, first.body);
}

#[tokio::test]
async fn the_content_of_records_is_told_and_purged() {
    let world = World::new().await;
    let agent = made_agent(&world).await;
    let trace = world.made("/traces", json!({ "agent_id": agent, "steps": [1] })).await;
    let generation = json!({ "agent_id": agent, "trace_id": trace, "input": [] });
    let generation = world.made("/generations", generation).await;
    let transcript = format!("/generations/{generation}/transcript");
    assert_eq!(world.get(&transcript).await.body["messages"], json!([]));
    let tree = world.get(&format!("/traces/{trace}/tree")).await.body;
    assert_eq!(tree["data"][0]["trace"]["id"], json!(trace));
    let purged = world.send("DELETE", &format!("/generations/{generation}/content"), None).await;
    assert_eq!((purged.status, &purged.body["input"]), (200, &Value::Null));
    assert_eq!(world.get(&transcript).await.outcome(), (409, "GENERATION_CONTENT_UNAVAILABLE"));
}

#[tokio::test]
async fn lists_show_the_template_of_the_last_deploy_however_often_they_were_asked_for() {
    let world = World::new().await;
    let id = world.made("/formations", json!({ "name": "s", "template": memories(1) })).await;
    let listed = async || world.get("/formations").await.body["data"][0]["template"].clone();
    assert_eq!((listed().await, listed().await), (memories(1), memories(1)));
    let update = json!({ "template": memories(2) });
    assert_eq!(world.send("PUT", &format!("/formations/{id}"), Some(&update)).await.status, 200);
    assert_eq!((listed().await, listed().await), (memories(2), memories(2)));
}
