//! Routes beyond CRUD, as clients meet them: bodies of actions, bytes of files, price lists, graphs.

use crate::people::{allow, deny};
use crate::world::World;
use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::json;
use tower::ServiceExt;

#[tokio::test]
async fn tags_have_routes_of_their_own_under_the_objects_permissions() {
    let world = World::new().await;
    let actor = world.made("/actors", json!({ "name": "a" })).await;
    let path = format!("/actors/{actor}/tags");
    let ada = world.person("ada", &[allow(&["actors:GetActor"], &["*"])]).await;
    assert_eq!(ada.world.get(&path).await.body, json!({}));
    let body = json!({ "team": "x" });
    let refused = ada.world.send("PUT", &path, Some(&body)).await;
    assert_eq!(refused.outcome(), (403, "FORBIDDEN"), "{}", refused.text);
    let set = world.send("PUT", &path, Some(&body)).await;
    assert_eq!((set.status, &set.body), (200, &body), "{}", set.text);
    let merged = world.send("PATCH", &path, Some(&json!({ "env": "dev" }))).await;
    assert_eq!(merged.body, json!({ "team": "x", "env": "dev" }), "no mark stands among tags");
    let wrong = world.send("PUT", &path, Some(&json!([1]))).await;
    assert_eq!(wrong.outcome(), (400, "VALIDATION_FAILED"), "{}", wrong.text);
}

#[tokio::test]
async fn a_trigger_is_fired_by_whoever_may_and_with_what_they_say() {
    let world = World::new().await;
    let tool = world.made("/tools", json!({ "name": "t", "execute": { "url": "https://x.example" } })).await;
    let trigger = json!({ "name": "t", "type": "manual", "target_type": "tool", "target_id": tool });
    let trigger = world.made("/triggers", trigger).await;
    let path = format!("/triggers/{trigger}/fire");
    let fired = world.send("POST", &path, Some(&json!({ "input": { "a": 1 } }))).await;
    assert_eq!((fired.status, &fired.body["status"]), (202, &json!("pending")), "{}", fired.text);
    assert_eq!(world.send("POST", &path, None).await.status, 202, "the body may be left out");
    let unknown = world.send("POST", &path, Some(&json!({ "inputs": {} }))).await;
    assert_eq!(unknown.message(), "Unknown field(s): inputs");

    let shown = world.get(&format!("/trigger-firings/{}", fired.id())).await;
    assert_eq!(shown.body, fired.body);
    let listed = world.get(&format!("/trigger-firings?trigger_id={trigger}")).await;
    assert_eq!(listed.body["total"], 2, "{}", listed.text);

    let all = allow(&["*"], &["*"]);
    let ada = world.person("ada", &[all, deny(&["triggers:FireTrigger"])]).await;
    let refused = ada.world.send("POST", &path, Some(&json!({ "inputs": {} }))).await;
    assert_eq!(refused.outcome(), (403, "FORBIDDEN"), "before anything is said of the body");
}

#[tokio::test]
async fn of_very_many_mistakes_the_first_are_told_and_the_others_counted() {
    let world = World::new().await;
    let node = |number: usize| json!({ "id": format!("n{number}"), "type": "no such type" });
    let nodes: Vec<_> = (0..900).map(node).collect();
    let reply = world.post("/orchestrations/validate", json!({ "nodes": nodes, "edges": [] })).await;
    let errors = reply.body["errors"].as_array().expect("errors").len();
    let left_out = reply.body["left_out"].as_u64().expect("how many more");
    assert_eq!((errors, left_out >= 800), (100, true), "{left_out}");
    let whole = json!({ "name": "o", "nodes": nodes, "edges": [] });
    let refused = world.post("/orchestrations", whole).await;
    assert_eq!(refused.meta()["details"].as_array().map(Vec::len), Some(100), "{}", refused.text);
    assert!(refused.meta()["left_out"].as_u64().is_some_and(|count| count >= 800));
    let long = "x".repeat(50_000);
    let edges = json!([{ "from": long, "to": "a" }]);
    let nodes = json!([{ "id": "a", "type": "human" }]);
    let reply = world.post("/orchestrations/validate", json!({ "nodes": nodes, "edges": edges })).await;
    assert!(reply.text.len() < 3_000, "{} bytes", reply.text.len());
}

#[tokio::test]
async fn a_graph_is_checked_without_making_anything() {
    let world = World::new().await;
    let good = json!({ "nodes": [{ "id": "a", "type": "human" }], "edges": [] });
    let reply = world.post("/orchestrations/validate", good).await;
    assert_eq!((reply.status, &reply.body["valid"]), (200, &json!(true)), "{}", reply.text);
    let bad = json!({ "nodes": [{ "id": "a", "type": "agent" }], "edges": [{ "from": "a", "to": "b" }] });
    let reply = world.post("/orchestrations/validate", bad).await;
    let messages: Vec<_> = reply.body["errors"].as_array().expect("errors").iter().collect();
    assert_eq!((reply.status, &reply.body["valid"]), (200, &json!(false)));
    let told = |text: &str| {
        messages.iter().any(|error| error["message"].as_str().unwrap_or_default().contains(text))
    };
    assert!(told("missing required field 'agent_id'") && told("unknown node 'b'"), "{}", reply.text);
    assert_eq!(world.get("/orchestrations").await.body["total"], 0);
    let ada = world.person("ada", &[allow(&["orchestrations:GetOrchestration"], &["*"])]).await;
    let body = json!({ "project_id": world.default_project().await, "nodes": [], "edges": [] });
    let refused = ada.world.post("/orchestrations/validate", body).await;
    assert_eq!(refused.outcome(), (403, "FORBIDDEN"));
}

#[tokio::test]
async fn the_bytes_of_a_file_come_back_as_they_were() {
    let world = World::new().await;
    let body = json!({ "content": "AP8K", "filename": "a b\"\u{fc}.bin", "content_type": "image/png" });
    let made = world.post("/files/upload/base64", body).await;
    assert_eq!((made.status, &made.body["size"]), (201, &json!(3)), "{}", made.text);
    let told = world.get(&format!("/files/{}/download/base64", made.id())).await;
    assert_eq!(
        told.body,
        json!({ "content": "AP8K", "size": 3, "filename": "a b\"\u{fc}.bin", "content_type": "image/png" })
    );
    let request = world.request("GET", &format!("/files/{}/download", made.id()));
    let response = world.router.clone().oneshot(request.body(Body::empty()).expect("a request")).await;
    let (parts, bytes) = response.expect("infallible").into_parts();
    let header =
        |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("content-disposition"), "attachment; filename=\"a b__.bin\"");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(&bytes.collect().await.expect("bytes").to_bytes()[..], [0, 255, 10]);

    let bare = world.made("/files", json!({ "filename": "bare" })).await;
    let none = world.get(&format!("/files/{bare}/download")).await;
    assert_eq!(none.outcome(), (404, "RESOURCE_NOT_FOUND"), "{}", none.text);
    let document = world.post("/documents", json!({ "content": "hello" })).await;
    let file = document.body["file_id"].as_str().expect("a file");
    let text = world.get(&format!("/files/{file}/download")).await;
    assert_eq!((text.status, text.text.as_str()), (200, "hello"), "a document's file is its text");

    for (body, message) in [
        (json!({}), "Missing required field(s): content"),
        (json!({ "content": "?" }), "`content` must be a string in base64"),
        (json!({ "content": "", "size": 3 }), "Unknown field(s): size"),
        (json!({ "content": "", "name": "x" }), "Unknown field(s): name"),
    ] {
        let refused = world.post("/files/upload/base64", body).await;
        assert_eq!((refused.status, refused.message()), (400, message));
    }
    assert_eq!(world.send("DELETE", &format!("/files/{}", made.id()), None).await.status, 204);
    assert_eq!(world.get(&format!("/files/{}/download", made.id())).await.status, 404);
}

#[tokio::test]
async fn bytes_are_bounded_and_have_permissions_of_their_own() {
    let world = World::new().await;
    let much = "A".repeat(8 << 20);
    let refused = world.post("/files/upload/base64", json!({ "content": much })).await;
    assert_eq!(refused.status, 413, "{}", refused.text);
    let file = world.post("/files/upload/base64", json!({ "content": "AA==" })).await.id();
    let all = allow(&["*"], &["*"]);
    let ada = world.person("ada", &[all, deny(&["files:DownloadFile", "files:UploadFile"])]).await;
    assert_eq!(ada.world.get(&format!("/files/{file}")).await.status, 200);
    assert_eq!(
        ada.world.get(&format!("/files/{file}/download")).await.outcome(),
        (404, "RESOURCE_NOT_FOUND")
    );
    let body = json!({ "project_id": world.default_project().await, "content": "AA==" });
    let upload = ada.world.post("/files/upload/base64", body).await;
    assert_eq!(upload.outcome(), (403, "FORBIDDEN"), "{}", upload.text);
}

#[tokio::test]
async fn a_price_list_is_set_as_a_whole_and_what_is_in_effect_stays() {
    let world = World::new().await;
    let project = world.default_project().await;
    let path = format!("/projects/{project}/prices");
    let price = |from: &str, price: f64| {
        json!({
            "provider": "openai", "model": "m", "component": "input_tokens", "unit": "token",
            "unit_price": price, "effective_from": from,
        })
    };
    let (past, future) = ("2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z");
    let put =
        async |prices: serde_json::Value| world.send("PUT", &path, Some(&json!({ "prices": prices }))).await;
    let set = put(json!([price(past, 1.0), price(future, 2.0)])).await;
    assert_eq!(set.status, 200, "{}", set.text);
    let again = put(json!([price(past, 1.0), price(future, 3.0)])).await;
    assert_eq!(again.body["data"][0]["id"], set.body["data"][0]["id"], "{}", again.text);
    assert_eq!(again.body["data"][1]["unit_price"], 3.0);
    let refused = put(json!([price(future, 4.0), price(past, 5.0)])).await;
    assert_eq!(refused.outcome(), (409, "NAME_CONFLICT"), "{}", refused.text);
    let listed = world.get(&path).await.body;
    let prices: Vec<_> =
        listed["data"].as_array().expect("prices").iter().map(|price| &price["unit_price"]).collect();
    assert_eq!(prices, [&json!(1.0), &json!(3.0)], "all of them, or none");
    let wrong = world.send("PUT", &path, Some(&json!([1]))).await;
    assert_eq!(wrong.outcome(), (400, "VALIDATION_FAILED"));
    let missing = world.get("/projects/proj_none/prices").await;
    assert_eq!(missing.outcome(), (404, "RESOURCE_NOT_FOUND"), "{}", missing.text);
}

#[tokio::test]
async fn a_task_is_moved_by_whoever_may_and_its_history_is_read_with_it() {
    let world = World::new().await;
    let workflow = json!({
        "name": "w",
        "states": [{ "name": "new", "initial": true }, { "name": "done", "terminal": true }],
        "transitions": [{ "name": "end", "from": ["new"], "to": "done",
                          "guard": { "var": "payload.ready" } }],
    });
    let workflow = world.made("/workflows", workflow).await;
    let task = world.post("/tasks", json!({ "workflow_id": workflow })).await;
    assert_eq!((task.status, &task.body["state"]), (201, &json!("new")), "{}", task.text);
    let path = format!("/tasks/{}", task.id());
    let ada = world.person("ada", &[allow(&["tasks:*"], &["*"]), deny(&["tasks:TransitionTask"])]).await;
    let end = json!({ "transition": "end" });
    let refused = ada.world.post(&format!("{path}/transitions"), end.clone()).await;
    assert_eq!(refused.outcome(), (403, "FORBIDDEN"));
    assert_eq!(world.post(&format!("{path}/transitions"), end).await.outcome(), (400, "TASK_GUARD_REJECTED"));
    let end = json!({ "transition": "end", "payload": { "ready": true } });
    let moved = world.post(&format!("{path}/transitions"), end.clone()).await;
    assert_eq!((moved.status, &moved.body["status"]), (200, &json!("closed")), "{}", moved.text);
    let again = world.post(&format!("{path}/transitions"), end).await;
    assert_eq!(again.outcome(), (409, "TASK_TRANSITION_CONFLICT"));
    let history = ada.world.get(&format!("{path}/history")).await;
    assert_eq!((&history.body["total"], &history.body["data"][0]["to_state"]), (&json!(1), &json!("done")));
    assert_eq!(ada.world.get("/tasks?status=closed").await.body["total"], 1);
    ada.may(&[allow(&["tasks:ListTasks"], &["*"])]).await;
    for hidden in [format!("{path}/history"), "/tasks/task_missing/history".to_owned()] {
        assert_eq!(ada.world.get(&hidden).await.outcome(), (404, "TASK_NOT_FOUND"), "{hidden}");
    }
    assert_eq!(world.get("/tasks/task_missing").await.outcome(), (404, "TASK_NOT_FOUND"));
}

#[tokio::test]
async fn lists_below_what_may_not_be_read_say_what_is_said_of_nothing() {
    let world = World::new().await;
    let states = json!([{ "name": "a", "initial": true }, { "name": "b" }]);
    let ways = json!([{ "name": "go", "from": ["a"], "to": "b" }]);
    let body = json!({ "name": "w", "states": states, "transitions": ways });
    let workflow = world.made("/workflows", body).await;
    let task = world.made("/tasks", json!({ "workflow_id": workflow })).await;
    let other = world.made("/tasks", json!({ "workflow_id": workflow })).await;
    world.post(&format!("/tasks/{other}/transitions"), json!({ "transition": "go" })).await;
    let moved = world.get(&format!("/tasks/{other}/history")).await.body["data"][0]["id"].clone();
    let moved = moved.as_str().expect("an id");
    let stranger = world.person("ada", &[allow(&["*"], &["srn:prj_other:*:*"])]).await.world;
    for (path, id, missing) in [
        ("/tasks/{}/history", &task, "task_AAAAAAAAAAAAAAAA"),
        ("/tasks/{}/history", &other, "task_AAAAAAAAAAAAAAAA"),
        ("/workflows/{}/versions", &workflow, "wfl_AAAAAAAAAAAAAAAA"),
    ] {
        let denied = stranger.get(&path.replace("{}", id)).await;
        let nothing = stranger.get(&path.replace("{}", missing)).await;
        assert_eq!((denied.status, nothing.status), (404, 404), "{path}: {}", denied.text);
        assert_eq!(denied.message().replace(id.as_str(), missing), nothing.message());
        assert_eq!(denied.code(), nothing.code());
        assert_eq!(world.get(&path.replace("{}", id)).await.status, 200);
    }
    // One of another task is as one of none.
    let elsewhere = world.get(&format!("/tasks/{task}/history/{moved}")).await;
    let nowhere = world.get(&format!("/tasks/{task}/history/task_tr_AAAAAAAAAAAAAAAA")).await;
    assert_eq!(elsewhere.outcome(), nowhere.outcome());
    assert_eq!(elsewhere.message().replace(moved, "task_tr_AAAAAAAAAAAAAAAA"), nowhere.message());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_named_no_version_is_told_of_none() {
    let world = World::new().await;
    let states = json!([{ "name": "a", "initial": true }]);
    let ways = json!([{ "name": "stay", "from": ["a"], "to": "a" }]);
    let body = json!({ "name": "w", "states": states, "transitions": ways });
    let workflow = world.made("/workflows", body).await;
    let task = world.made("/tasks", json!({ "workflow_id": workflow })).await;
    let path = format!("/tasks/{task}/transitions");
    let all = (0..16).map(|number| {
        let payload = json!({ "transition": "stay", "payload": { "n": number } });
        world.post(&path, payload)
    });
    for reply in futures_util::future::join_all(all).await {
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
    assert_eq!(world.get(&format!("/tasks/{task}/history")).await.body["total"], 16);
}
