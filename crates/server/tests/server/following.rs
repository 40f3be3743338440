//! Following an operation: pages and server-sent events.

use crate::world::{World, failing, memories};
use axum::body::Body;
use formwork_api::{ClientError, StreamItem};
use formwork_model::OperationStatus;
use formwork_server::{ServerOptions, Shutdown};
use http_body_util::BodyExt;
use serde_json::json;
use std::time::Duration;
use tower::ServiceExt;

async fn finished(world: &World, template: formwork_model::Json) -> String {
    let id = world.made("/formations", json!({ "name": "s", "template": template })).await;
    let operations = world.get(&format!("/formations/{id}/events")).await.body;
    operations["data"][0]["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn pages_follow_a_cursor_to_the_end() {
    let world = World::new().await;
    let operation = finished(&world, memories(3)).await;
    let all = world.client().list_operation_events(&operation, 0, None).await.expect("a page");
    assert!(all.complete && all.data.len() > 3);
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let page = world.client().list_operation_events(&operation, after, Some(2)).await.expect("a page");
        seen.extend(page.data);
        after = page.next_after;
        if page.complete {
            break;
        }
    }
    assert_eq!(seen, all.data);
    let beyond = world.client().list_operation_events(&operation, after, None).await.expect("a page");
    assert_eq!((beyond.data.len(), beyond.next_after, beyond.complete), (0, after, true));
}

#[tokio::test]
async fn a_stream_tells_everything_once_and_ends() {
    let world = World::new().await;
    let operation = finished(&world, failing()).await;
    let listed = world.client().list_operation_events(&operation, 0, None).await.expect("a page").data;
    let mut stream = world.client().follow_operation(&operation, 0);
    let (mut events, mut end) = (Vec::new(), None);
    while let Some(item) = stream.next().await.expect("it goes on") {
        match item {
            StreamItem::Event(event) => events.push(event),
            StreamItem::Waiting(_) => {}
            StreamItem::End(last) => end = Some(last),
        }
    }
    assert_eq!(events, listed);
    let end = end.expect("an end");
    assert_eq!(end.status, OperationStatus::Failed);
    assert_eq!(end.error.expect("a reason").meta.expect("facts")["logical_id"], "Prov");
}

#[tokio::test]
async fn a_stream_begins_after_the_last_event_that_was_heard() {
    let world = World::new().await;
    let operation = finished(&world, memories(2)).await;
    let listed = world.client().list_operation_events(&operation, 0, None).await.expect("a page").data;
    let middle = listed[1].sequence;
    let request = world
        .request("GET", &format!("/operations/{operation}/events?after=0"))
        .header("accept", "text/event-stream")
        .header("last-event-id", middle.to_string());
    let reply = world.answer(request.body(Body::empty()).expect("a request")).await;
    assert_eq!(reply.headers["content-type"], "text/event-stream");
    let ids: Vec<_> = reply.text.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    let expected: Vec<_> = listed[2..].iter().map(|event| event.sequence.to_string()).collect();
    assert_eq!(ids, expected);
    assert!(reply.text.trim_end().lines().any(|line| line == "event: end"), "{}", reply.text);
}

#[tokio::test]
async fn a_malformed_cursor_is_refused() {
    let world = World::new().await;
    let request = world.request("GET", "/operations/x/events").header("last-event-id", "x");
    let reply = world.answer(request.body(Body::empty()).expect("a request")).await;
    assert_eq!(reply.message(), "`Last-Event-ID` must be a sequence number");
}

#[tokio::test]
async fn a_stream_of_an_unknown_operation_is_404() {
    let error = World::new().await.client().follow_operation("nothing", 0).next().await.expect_err("refused");
    assert_eq!(error.api().map(|error| error.status), Some(404));
}

fn quick() -> ServerOptions {
    ServerOptions {
        heartbeat: Duration::from_millis(20),
        poll: Duration::from_millis(5),
        ..ServerOptions::default()
    }
}

#[tokio::test]
async fn a_stream_without_events_says_that_it_is_alive_and_goes_on_after_recovery() {
    let (world, id) = World::interrupted(quick()).await;
    let formation = world.client().get_formation(&id).await.expect("there");
    let mut stream = world.client().follow_operation(&formation.operation_id.expect("running"), 0);
    loop {
        match stream.next().await.expect("it goes on").expect("no end yet") {
            StreamItem::Waiting(_) => break,
            StreamItem::Event(_) => {}
            StreamItem::End(end) => panic!("{end:?}"),
        }
    }
    world.control.recover(&|_| true).await.expect("recovered");
    let mut last = None;
    while let Some(item) = stream.next().await.expect("it goes on") {
        last = Some(item);
    }
    let Some(StreamItem::End(end)) = last else { panic!("{last:?}") };
    assert_eq!(end.status, OperationStatus::Succeeded);
    assert_eq!(world.get(&format!("/formations/{id}")).await.body["status"], "active");
}

#[tokio::test]
async fn streams_end_when_the_server_stops_and_are_bounded_in_number_and_time() {
    let shutdown = Shutdown::new();
    let options = ServerOptions { max_streams: 1, shutdown: shutdown.clone(), ..quick() };
    let (world, id) = World::interrupted(options).await;
    let formation = world.client().get_formation(&id).await.expect("there");
    let path = format!("/operations/{}/events", formation.operation_id.expect("running"));
    let request = || {
        let request = world.request("GET", &path).header("accept", "text/event-stream");
        request.body(Body::empty()).expect("a request")
    };
    let mut first = world.router.clone().oneshot(request()).await.expect("infallible").into_body();
    assert_eq!(world.answer(request()).await.outcome(), (503, "REQUEST_TIMEOUT"));
    let mut text = String::new();
    while !text.contains(": heartbeat") {
        text.push_str(&next_text(&mut first).await.expect("it goes on"));
    }
    shutdown.trigger();
    while let Some(more) = next_text(&mut first).await {
        text.push_str(&more);
    }
    assert!(!text.contains("event: end"), "{text}");
}

/// The next piece of a stream; `None` at its end.
async fn next_text(body: &mut Body) -> Option<String> {
    let frame = tokio::time::timeout(Duration::from_secs(10), body.frame()).await.expect("not silent");
    let bytes = frame?.expect("whole").into_data().expect("data");
    Some(String::from_utf8(bytes.to_vec()).expect("text"))
}

#[tokio::test]
async fn an_operation_of_another_process_cannot_be_canceled_here() {
    let (world, id) = World::interrupted(quick()).await;
    let operation = world.client().get_formation(&id).await.expect("there").operation_id.expect("running");
    let error = world.client().cancel_operation(&operation, false).await.expect_err("refused");
    let ClientError::Api(error) = error else { panic!("{error:?}") };
    assert_eq!((error.status, error.body.code.as_str()), (409, "OPERATION_IN_PROGRESS"));
}
