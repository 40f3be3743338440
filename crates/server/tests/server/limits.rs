//! The bounds of the edge.

use crate::world::World;
use axum::body::{Body, Bytes};
use formwork_server::ServerOptions;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;

fn raw(world: &World, path: &str, body: impl Into<Body>) -> axum::http::Request<Body> {
    let request = world.request("POST", path).header("content-type", "application/json");
    request.body(body.into()).expect("a request")
}

#[tokio::test]
async fn a_body_beyond_the_limit_of_its_route_is_413() {
    let world = World::new().await;
    let body = json!({ "name": "x".repeat(1 << 20) });
    let reply = world.post("/projects", body).await;
    assert_eq!(reply.outcome(), (413, "REQUEST_REJECTED"));
    assert_eq!(reply.meta()["limit"], 1 << 20);
    let template = json!({ "resources": {}, "metadata": { "note": "x".repeat(2 << 20) } });
    let reply = world.post("/formations/validate", json!({ "template": template })).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let template = json!({ "template": "x".repeat(16 << 20) });
    assert_eq!(world.post("/formations/validate", template).await.status, 413);
    // Without a length beforehand, as a stream.
    let chunks = std::iter::repeat_n(Bytes::from(vec![b' '; 1 << 16]), 17).map(Ok::<_, Infallible>);
    let stream = Body::from_stream(futures_util::stream::iter(chunks));
    assert_eq!(world.answer(raw(&world, "/projects", stream)).await.status, 413);
}

#[tokio::test]
async fn malformed_json_is_400_with_its_place() {
    let world = World::new().await;
    let reply = world.answer(raw(&world, "/projects", "{\n  \"name\": sk_canary\n}")).await;
    assert_eq!(reply.outcome(), (400, "REQUEST_REJECTED"));
    assert_eq!((&reply.meta()["line"], &reply.meta()["column"]), (&json!(2), &json!(11)));
    assert!(!reply.text.contains("canary"));
    let reply = world.answer(raw(&world, "/projects", "{\"name\": \"a\", \"name\": \"b\"}")).await;
    assert!(reply.message().contains("the key `name` stands twice"), "{}", reply.text);
    assert_eq!(world.answer(raw(&world, "/projects", "")).await.outcome(), (400, "REQUEST_REJECTED"));
    assert_eq!(world.answer(raw(&world, "/projects", &b"{\"name\": \"\xff\"}"[..])).await.status, 400);
}

#[tokio::test]
async fn json_beyond_100_levels_is_400_and_costs_no_stack() {
    let world = World::new().await;
    let nested = |levels: usize| {
        format!("{{\"template\": {{\"a\": {}{}}}}}", "[".repeat(levels - 1), "]".repeat(levels - 1))
    };
    assert_eq!(world.answer(raw(&world, "/formations/validate", nested(99))).await.status, 200);
    let reply = world.answer(raw(&world, "/formations/validate", nested(100))).await;
    assert_eq!(reply.outcome(), (400, "REQUEST_REJECTED"));
    assert!(reply.message().contains("nested deeper than 100 levels"), "{}", reply.text);
    let reply = world.answer(raw(&world, "/formations/validate", "[".repeat(4 << 20))).await;
    assert_eq!(reply.status, 400);
}

#[tokio::test]
async fn a_body_that_is_not_json_is_415() {
    let world = World::new().await;
    let request =
        world.request("POST", "/projects").header("content-type", "application/x-www-form-urlencoded");
    let reply = world.answer(request.body(Body::from("name=x")).expect("a request")).await;
    assert_eq!(reply.outcome(), (415, "REQUEST_REJECTED"));
    for accepted in ["application/json; charset=utf-8", "application/merge-patch+json"] {
        let request = world.request("POST", "/projects").header("content-type", accepted);
        let body = json!({ "name": accepted }).to_string();
        let reply = world.answer(request.body(Body::from(body)).expect("a request")).await;
        assert_eq!(reply.status, 201, "{accepted}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_given_up() {
    let options = ServerOptions { body_timeout: Duration::from_millis(20), ..ServerOptions::default() };
    let world = World::with(options).await;
    for path in ["/projects", "/formations"] {
        let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, Infallible>>());
        let reply = world.answer(raw(&world, path, never)).await;
        assert_eq!(reply.outcome(), (408, "REQUEST_REJECTED"), "{path}");
    }
}

#[tokio::test]
async fn a_request_without_a_place_is_given_up_in_its_time() {
    let options = ServerOptions {
        request_timeout: Duration::from_millis(20),
        max_requests: 0,
        ..ServerOptions::default()
    };
    let world = World::with(options).await;
    let reply = world.get("/projects").await;
    assert_eq!(reply.outcome(), (503, "REQUEST_TIMEOUT"));
    assert_eq!(reply.headers["retry-after"], "1");
}

#[tokio::test]
async fn more_waiting_requests_than_there_are_places_are_turned_away() {
    let world = World::with(ServerOptions { max_waiting: 0, ..ServerOptions::default() }).await;
    let reply = world.post("/formations", json!({})).await;
    assert_eq!(reply.outcome(), (503, "REQUEST_TIMEOUT"));
    assert_eq!(world.get("/formations").await.status, 200, "others are not held up");
}
