//! How requests are refused: each rule of the edge once, on every route it holds for.

use crate::world::{World, memories};
use axum::body::Body;
use formwork_server::{EndpointInfo, ServerOptions, endpoints};
use serde_json::json;

fn concrete(endpoint: &EndpointInfo) -> String {
    endpoint
        .path
        .split('/')
        .map(|part| if part.starts_with('{') { "nothing" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

fn has_body(endpoint: &EndpointInfo) -> bool {
    // A purge says all in its query.
    matches!(endpoint.method.as_str(), "POST" | "PUT" | "PATCH") && !endpoint.path.contains("/purge-")
}

fn has_id(endpoint: &EndpointInfo) -> bool {
    endpoint.path.contains('{')
}

#[tokio::test]
async fn every_route_but_the_open_ones_demands_a_token() {
    let world = World::new().await;
    for stranger in [world.bearing(""), world.bearing("sk_guess")] {
        for endpoint in endpoints() {
            let reply = stranger.send(&endpoint.method, &concrete(&endpoint), Some(&json!({}))).await;
            if endpoint.open {
                assert_ne!(reply.text, "", "{endpoint:?} answers");
                continue;
            }
            assert_eq!(reply.outcome(), (401, "UNAUTHORIZED"), "{endpoint:?}");
            assert_eq!(reply.headers["www-authenticate"], "Bearer");
        }
        assert_eq!(stranger.get("/api/v1/nothing").await.status, 401, "not even which routes there are");
    }
}

#[tokio::test]
async fn a_token_is_one_bearer_header() {
    let world = World::new().await;
    let with = |headers: &[&str]| {
        let mut request = world.bearing("").request("GET", "/projects");
        for header in headers {
            request = request.header("authorization", *header);
        }
        request.body(Body::empty()).expect("a request")
    };
    assert_eq!(world.answer(with(&["bearer sk_admin"])).await.status, 200);
    for refused in [
        &["Basic sk_admin"][..],
        &["Bearer"],
        &["Bearer "],
        &["sk_admin"],
        &["Bearer sk_admin", "Bearer sk_admin"],
    ] {
        assert_eq!(world.answer(with(refused)).await.status, 401, "{refused:?}");
    }
    let long = format!("Bearer {}", "x".repeat(10_000));
    assert_eq!(world.answer(with(&[&long])).await.status, 401);
}

#[tokio::test]
async fn every_route_with_an_id_answers_404_for_one_that_does_not_exist() {
    let world = World::new().await;
    for endpoint in endpoints().iter().filter(|endpoint| has_id(endpoint)) {
        let body = has_body(endpoint).then(|| json!({}));
        let reply = world.send(&endpoint.method, &concrete(endpoint), body.as_ref()).await;
        // Some types have a code of their own.
        let code = match endpoint.path.split('/').nth(3) {
            Some("orchestrations") => "ORCHESTRATION_NOT_FOUND",
            Some("orchestration-runs") => "ORCHESTRATION_RUN_NOT_FOUND",
            Some("workflows") => "WORKFLOW_NOT_FOUND",
            Some("tasks") => "TASK_NOT_FOUND",
            _ => "RESOURCE_NOT_FOUND",
        };
        assert_eq!(reply.outcome(), (404, code), "{endpoint:?}");
        assert!(!reply.message().is_empty());
    }
}

#[tokio::test]
async fn every_route_refuses_a_query_parameter_it_does_not_document() {
    let world = World::new().await;
    for endpoint in endpoints() {
        let path = format!("{}?nonsense=1", concrete(&endpoint));
        let reply = world.send(&endpoint.method, &path, Some(&json!({}))).await;
        assert_eq!(reply.outcome(), (400, "VALIDATION_FAILED"), "{endpoint:?}");
        assert_eq!(reply.message(), "Unknown field(s): nonsense");
    }
}

#[tokio::test]
async fn every_list_refuses_a_page_that_is_too_large() {
    let world = World::new().await;
    let lists = endpoints();
    let lists = lists.iter().filter(|endpoint| endpoint.query.contains(&"offset") && !has_id(endpoint));
    for endpoint in lists {
        let reply = world.get(&format!("{}?limit=101", endpoint.path)).await;
        assert_eq!(reply.message(), "`limit` must be between 1 and 100", "{endpoint:?}");
        let reply = world.get(&format!("{}?limit=1&offset=1000", endpoint.path)).await;
        assert_eq!(reply.status, 200, "{endpoint:?}");
        assert_eq!(
            (&reply.body["data"], &reply.body["limit"], &reply.body["offset"]),
            (&json!([]), &json!(1), &json!(1000))
        );
    }
}

#[tokio::test]
async fn every_collection_names_unknown_and_missing_fields() {
    let world = World::new().await;
    for endpoint in endpoints().iter().filter(|endpoint| has_body(endpoint) && !has_id(endpoint)) {
        let reply = world.post(&endpoint.path, json!({ "nonsense": 1 })).await;
        assert_eq!(reply.outcome(), (400, "VALIDATION_FAILED"), "{endpoint:?}");
        assert_eq!(reply.message(), "Unknown field(s): nonsense", "{endpoint:?}");
        assert_eq!(reply.meta()["unknownFields"], json!(["nonsense"]), "{endpoint:?}");
        let reply = world.post(&endpoint.path, json!({})).await;
        let free = ["/tools", "/agents", "/chats", "/conversations", "/files"];
        if free.iter().any(|path| endpoint.path.ends_with(path)) {
            // These need nothing, or what depends on what else they have: their own rules say it.
            continue;
        }
        assert_eq!(reply.status, 400, "{endpoint:?}");
        assert!(reply.message().starts_with("Missing required field(s): "), "{endpoint:?}: {}", reply.text);
        assert!(!reply.meta()["missingFields"].as_array().expect("a list").is_empty());
    }
}

#[tokio::test]
async fn updates_name_unknown_fields_too() {
    let world = World::new().await;
    let formation = world.made("/formations", json!({ "name": "s", "template": memories(1) })).await;
    let reply = world.send("PUT", &format!("/formations/{formation}"), Some(&json!({ "name": "t" }))).await;
    assert_eq!(reply.message(), "Unknown field(s): name");
    let memory = world.made("/memories", json!({ "name": "m" })).await;
    let reply = world.send("PUT", &format!("/memories/{memory}"), Some(&json!({ "nmae": "t" }))).await;
    assert_eq!(reply.message(), "Unknown field(s): nmae");
}

#[tokio::test]
async fn values_of_the_wrong_type_are_named_by_their_field() {
    let world = World::new().await;
    let reply = world.post("/formations", json!({ "name": 7, "template": {} })).await;
    assert_eq!(reply.message(), "`name` must be a string");
    let reply = world.post("/formations", json!({ "name": "s", "template": {}, "plan_hash": "x" })).await;
    assert_eq!(reply.message(), "`plan_hash` must be 64 hexadecimal digits");
    let reply = world.post("/projects", json!([])).await;
    assert_eq!(reply.message(), "The body must be a JSON object");
    let reply = world.post("/formations/plan", json!({ "template": {}, "observe": "maybe" })).await;
    assert!(reply.message().starts_with("`observe` must be"), "{}", reply.text);
    let reply = world.get("/operations/x/events?after=-1").await;
    assert_eq!(reply.message(), "`after` must be a whole number, 0 or more");
    let reply = world.send("DELETE", "/formations/x?wait=maybe", None).await;
    assert_eq!(reply.message(), "`wait` must be `true` or `false`");
}

#[tokio::test]
async fn permission_is_decided_before_the_body_is_talked_about() {
    let world = World::new().await;
    let (_, scoped) = world.scoped("mine").await;
    let other = world.made("/projects", json!({ "name": "theirs" })).await;
    let nonsense = json!({ "project_id": other, "nonsense": 1 });
    for path in ["/formations", "/formations/plan", "/tokens", "/memories"] {
        assert_eq!(
            scoped.post(path, nonsense.clone()).await.outcome(),
            (403, "API_KEY_PROJECT_SCOPE"),
            "{path}"
        );
    }
    assert_eq!(scoped.post("/projects", json!({ "nonsense": 1 })).await.outcome(), (403, "FORBIDDEN"));
    let hidden =
        world.made("/formations", json!({ "name": "s", "project_id": other, "template": memories(1) })).await;
    let reply = scoped.send("PUT", &format!("/formations/{hidden}"), Some(&json!({ "nonsense": 1 }))).await;
    assert_eq!(reply.outcome(), (404, "RESOURCE_NOT_FOUND"));
    let listed = scoped.get("/projects").await.body;
    assert_eq!(listed["total"], 1);
}

#[tokio::test]
async fn conflicts_are_409_with_their_code() {
    let world = World::new().await;
    let project = world.made("/projects", json!({ "name": "p" })).await;
    let body = json!({ "name": "s", "project_id": project, "template": memories(1) });
    world.made("/formations", body.clone()).await;
    assert_eq!(world.post("/formations", body).await.outcome(), (409, "NAME_CONFLICT"));
    assert_eq!(world.post("/projects", json!({ "name": "p" })).await.outcome(), (409, "NAME_CONFLICT"));
    let reply = world.send("DELETE", &format!("/projects/{project}"), None).await;
    assert_eq!(reply.outcome(), (409, "PROJECT_HAS_DEPENDENTS"));
    let secret = world.made("/secrets", json!({ "name": "k", "value": "v" })).await;
    let provider = json!({ "name": "p", "provider": "openai", "default_model": "m", "secret_id": secret });
    let provider = world.made("/ai-providers", provider).await;
    let reply = world.send("DELETE", &format!("/secrets/{secret}"), None).await;
    assert_eq!(reply.outcome(), (409, "SECRET_HAS_DEPENDENTS"));
    let agent = world.made("/agents", json!({ "name": "a", "ai_provider_id": provider })).await;
    let reply = world.send("DELETE", &format!("/ai-providers/{provider}"), None).await;
    assert_eq!(reply.outcome(), (409, "AI_PROVIDER_HAS_DEPENDENTS"));
    let default = world.get(&format!("/agents/{agent}")).await.body["project_id"]
        .as_str()
        .expect("a project")
        .to_owned();
    world.leave_history(&agent, &default).await;
    let reply = world.send("DELETE", &format!("/agents/{agent}"), None).await;
    assert_eq!(reply.outcome(), (409, "AGENT_HAS_DEPENDENTS"));
    assert_eq!(world.send("DELETE", &format!("/agents/{agent}?force=true"), None).await.status, 204);
}

#[tokio::test]
async fn a_plan_that_is_not_the_approved_one_is_refused() {
    let world = World::new().await;
    let planned = world.post("/formations/plan", json!({ "template": memories(1) })).await.body;
    let hash = planned["plan_hash"].clone();
    let other = json!({ "name": "s", "template": memories(2), "plan_hash": hash });
    assert_eq!(world.post("/formations", other).await.outcome(), (409, "PLAN_OUTDATED"));
    assert_eq!(world.get("/formations").await.body["total"], 0, "nothing was stored");
}

#[tokio::test]
async fn a_formation_that_is_being_deployed_is_held() {
    let (world, id) = World::interrupted(ServerOptions::default()).await;
    let path = format!("/formations/{id}");
    let reply = world.send("PUT", &path, Some(&json!({}))).await;
    assert_eq!(reply.outcome(), (409, "OPERATION_IN_PROGRESS"));
    let operation = world.get(&path).await.body["operation_id"].clone();
    assert_eq!(reply.meta()["operation_id"], operation);
    assert_eq!(world.send("DELETE", &path, None).await.outcome(), (409, "OPERATION_IN_PROGRESS"));
}

#[tokio::test]
async fn unknown_routes_and_methods_have_the_shape_of_all_errors() {
    let world = World::new().await;
    assert_eq!(world.get("/api/v1/nothing").await.outcome(), (404, "RESOURCE_NOT_FOUND"));
    assert_eq!(world.get("/api").await.outcome(), (404, "RESOURCE_NOT_FOUND"));
    let reply = world.send("PATCH", "/formations", Some(&json!({}))).await;
    assert_eq!(reply.outcome(), (405, "REQUEST_REJECTED"));
    assert_eq!(reply.headers["allow"], "POST,GET,HEAD");
    assert_eq!(world.send("OPTIONS", "/formations", None).await.status, 405);
    let raw = world.request("GET", "/formations/%ff").body(Body::empty()).expect("a request");
    assert_eq!(world.answer(raw).await.outcome(), (404, "RESOURCE_NOT_FOUND"));
}

#[tokio::test]
async fn answers_carry_an_id_and_headers_that_forbid_their_misuse() {
    let world = World::new().await;
    let request = world.request("GET", "/projects").header("x-request-id", "mine-1").body(Body::empty());
    let headers = world.answer(request.expect("a request")).await.headers;
    assert_eq!(headers["x-request-id"], "mine-1");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(headers["cache-control"], "no-store");
    let reply = world.get("/api/v1/nothing").await;
    assert_eq!(reply.headers["x-request-id"].len(), 16);
}
