//! Over real sockets: who may listen, clients that go away, stopping.

use crate::world::{ADMIN, World, memories};
use formwork_api::{Client, ClientError, CreateFormation, Endpoint, FormationStatus, TransportError};
use formwork_model::Secret;
use formwork_server::{Exposure, ListenError, Listeners, ServerOptions, Shutdown, run};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

fn admin(endpoint: &Endpoint) -> Client {
    Client::new(endpoint).with_bearer(Some(Secret::new(ADMIN.to_owned())))
}

#[tokio::test]
async fn unix_and_tcp_serve_the_same_and_stop_together() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("agent.sock");
    let world = World::new().await;
    let mut listeners = Listeners::new();
    listeners.unix(&path).await.expect("bound");
    let address =
        listeners.tcp("127.0.0.1:0".parse().expect("an address"), Exposure::Loopback).await.expect("bound");
    assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    let shutdown = Shutdown::new();
    let options = ServerOptions { shutdown: shutdown.clone(), ..ServerOptions::default() };
    let server = tokio::spawn(run(world.control.clone(), listeners, options, Duration::from_secs(5)));

    let over_unix = admin(&Endpoint::unix(&path));
    let over_tcp = admin(&format!("http://{address}").parse().expect("an endpoint"));
    let body = CreateFormation { name: "s".to_owned(), template: memories(2), ..CreateFormation::default() };
    let made = over_unix.create_formation(&body).await.expect("made");
    assert_eq!(made.status, FormationStatus::Active);
    assert_eq!(over_tcp.get_formation(&made.id).await.expect("there"), made);

    // An idle connection does not hold the server up.
    let _idle = TcpStream::connect(address).await.expect("connected");
    shutdown.trigger();
    tokio::time::timeout(Duration::from_secs(10), server).await.expect("it stops").expect("no panic");
    assert!(!path.exists(), "the socket is gone");
    let error = over_unix.health().await.expect_err("stopped");
    assert!(matches!(error, ClientError::Transport(TransportError::Connect { .. })));
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_stop_its_deploy() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("agent.sock");
    let world = World::new().await;
    let mut listeners = Listeners::new();
    listeners.unix(&path).await.expect("bound");
    let options = ServerOptions::default();
    let shutdown = options.shutdown.clone();
    let server = tokio::spawn(run(world.control.clone(), listeners, options, Duration::from_secs(5)));
    let body = json!({ "name": "s", "template": memories(20) }).to_string();
    let mut stream = UnixStream::connect(&path).await.expect("connected");
    let request = format!(
        "POST /api/v1/formations HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ADMIN}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    // Gone as soon as the server has begun with it.
    while world.get("/formations").await.body["total"] == 0 {
        tokio::task::yield_now().await;
    }
    drop(stream);
    let listed = world.get("/formations").await.body;
    let id = listed["data"][0]["id"].as_str().expect("an id").to_owned();
    let deployed = async {
        while world.get(&format!("/formations/{id}")).await.body["status"] != "active" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), deployed).await.expect("the deploy goes on");
    shutdown.trigger();
    server.await.expect("no panic");
}

#[tokio::test]
async fn what_is_in_flight_finishes_when_the_server_stops() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("agent.sock");
    let world = World::new().await;
    let mut listeners = Listeners::new();
    listeners.unix(&path).await.expect("bound");
    let options = ServerOptions::default();
    let shutdown = options.shutdown.clone();
    let server = tokio::spawn(run(world.control.clone(), listeners, options, Duration::from_secs(5)));
    // Half a request, then the signal, then the rest.
    let mut stream = UnixStream::connect(&path).await.expect("connected");
    let head = format!(
        "POST /api/v1/projects HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ADMIN}\r\ncontent-length: 12\r\n\r\n{{\"name\":"
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    tokio::time::sleep(Duration::from_millis(50)).await;
    shutdown.trigger();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(b"\"p\"}").await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    server.await.expect("no panic");
}

#[tokio::test]
async fn listening_beyond_this_machine_is_refused() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80", "[::ffff:192.0.2.1]:80"] {
        let refused = Listeners::new()
            .tcp(address.parse().expect("an address"), Exposure::Loopback)
            .await
            .expect_err("refused");
        assert!(matches!(refused, ListenError::NotLoopback { .. }), "{address}");
        assert!(refused.hint().is_some());
    }
    assert!(
        Listeners::new()
            .tcp("[::ffff:127.0.0.1]:0".parse().expect("an address"), Exposure::Loopback)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_dead_servers_socket_is_replaced_and_a_live_ones_is_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("agent.sock");
    let mut listeners = Listeners::new();
    listeners.unix(&path).await.expect("bound");
    let refused = Listeners::new().unix(&path).await.expect_err("in use");
    assert!(matches!(refused, ListenError::InUse { .. }));
    drop(listeners);
    assert!(path.exists(), "a dead server leaves its socket");
    Listeners::new().unix(&path).await.expect("replaced");
    let file = directory.path().join("file");
    std::fs::write(&file, "precious").expect("written");
    let refused = Listeners::new().unix(&file).await.expect_err("no socket");
    assert!(matches!(refused, ListenError::NotASocket { .. }));
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "precious");
}

/// What comes back for bytes on a connection of their own, until it is closed.
async fn answer_to(address: std::net::SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connected");
    stream.write_all(bytes).await.expect("sent");
    let mut answer = Vec::new();
    // What is not read of a request that is too large resets the connection, after the answer.
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut chunk).await {
        answer.extend_from_slice(&chunk[..length]);
    }
    String::from_utf8(answer).expect("text")
}

#[tokio::test]
async fn what_is_no_request_is_answered_in_the_shape_of_errors() {
    let world = World::new().await;
    let mut listeners = Listeners::new();
    let address =
        listeners.tcp("127.0.0.1:0".parse().expect("an address"), Exposure::Loopback).await.expect("bound");
    let options = ServerOptions::default();
    let shutdown = options.shutdown.clone();
    let server = tokio::spawn(run(world.control.clone(), listeners, options, Duration::from_secs(5)));
    let large = format!("GET /health HTTP/1.1\r\nhost: x\r\nx-large: {}\r\n\r\n", "x".repeat(100 << 10));
    let second = "GET /health HTTP/1.1\r\nhost: x\r\n\r\n";
    for (status, request) in [
        ("400 Bad Request", "no request at all\r\n\r\n"),
        ("400 Bad Request", "GET / HTTP/1.1\r\nbad header\r\n\r\n"),
        ("431 Request Header Fields Too Large", &large),
    ] {
        let answer = answer_to(address, request.as_bytes()).await;
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{answer}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(body["error"]["code"], "REQUEST_REJECTED");
    }
    // After an answer on the same connection too.
    let mut stream = TcpStream::connect(address).await.expect("connected");
    stream.write_all(second.as_bytes()).await.expect("sent");
    let mut answer = vec![0; 4096];
    let length = stream.read(&mut answer).await.expect("answered");
    assert!(answer[..length].starts_with(b"HTTP/1.1 200"));
    stream.write_all(b"no request at all\r\n\r\n").await.expect("sent");
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.expect("answered");
    assert!(rest.starts_with("HTTP/1.1 400") && rest.contains("REQUEST_REJECTED"), "{rest}");
    shutdown.trigger();
    server.await.expect("no panic");
}

#[tokio::test]
async fn a_body_that_looks_like_an_answer_is_left_as_it_is() {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    let world = World::new().await;
    let bytes = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    let body = json!({ "content": BASE64_STANDARD.encode(bytes), "filename": "a" });
    let made = world.post("/files/upload/base64", body).await;
    let id = made.body["id"].as_str().expect("an id").to_owned();
    let mut listeners = Listeners::new();
    let address =
        listeners.tcp("127.0.0.1:0".parse().expect("an address"), Exposure::Loopback).await.expect("bound");
    let options = ServerOptions::default();
    let shutdown = options.shutdown.clone();
    let server = tokio::spawn(run(world.control.clone(), listeners, options, Duration::from_secs(5)));
    let request = format!(
        "GET /api/v1/files/{id}/download HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ADMIN}\r\nconnection: \
         close\r\n\r\n"
    );
    let answer = answer_to(address, request.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(bytes), "{answer}");
    shutdown.trigger();
    server.await.expect("no panic");
}
