//! INV-9 at the edge: one unique secret through every route, and then it is in no answer and no
//! log. A test binary of its own, since what is logged is decided once for a whole process.
#![allow(missing_docs, reason = "tests")]

#[allow(dead_code, reason = "shared with the other tests of the server")]
#[path = "../server/world.rs"]
mod world;

use crate::world::World;
use axum::body::Body;
use formwork_model::Json;
use formwork_server::endpoints;
use serde_json::json;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use tracing_subscriber::fmt::MakeWriter;

const CANARY: &str = "c4n4ry-9f1e";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no panic")).into_owned()
    }
}

fn template(value: &Json) -> Json {
    json!({
        "parameters": { "Key": { "type": "string", "no_echo": true, "use_previous_value": true } },
        "resources": {
            "Literal": { "type": "secret", "properties": { "name": "literal", "value": value } },
            "Given": { "type": "secret", "properties": { "name": "given", "value": { "param": "Key" } } },
            "Hook": { "type": "tool", "properties": {
                "name": "hook", "type": "http",
                "execute": {
                    "url": "https://example.org", "method": "POST",
                    "headers": { "Authorization": { "sub": "Bearer ${Key}" } },
                },
            } },
        },
    })
}

/// Sends a request and demands that its answer does not hold the secret.
async fn quiet(world: &World, method: &str, path: &str, body: Option<Json>) -> Json {
    let reply = world.send(method, path, body.as_ref()).await;
    assert!(!reply.text.contains(CANARY), "{method} {path} answers {}", reply.text);
    reply.body
}

#[tokio::test]
async fn a_secret_is_in_no_answer_and_no_log() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).expect("the only test here");
    let world = World::new().await;

    let template = template(&json!(CANARY));
    let parameters = json!({ "Key": CANARY });
    let with = |name: &str| json!({ "name": name, "template": template, "parameters": parameters });
    let bare = json!({ "template": template, "parameters": parameters });
    quiet(&world, "POST", "/formations/validate", Some(bare.clone())).await;
    quiet(&world, "POST", "/formations/graph", Some(json!({ "template": template }))).await;
    quiet(&world, "POST", "/formations/plan", Some(bare.clone())).await;
    let made = quiet(&world, "POST", "/formations", Some(with("s"))).await;
    assert_eq!(made["status"], "active", "{made}");
    let path = format!("/formations/{}", made["id"].as_str().expect("an id"));
    quiet(&world, "GET", &path, None).await;
    quiet(&world, "GET", "/formations", None).await;
    let mut changed = bare.clone();
    changed["formation_id"] = made["id"].clone();
    quiet(&world, "POST", "/formations/plan", Some(changed)).await;
    quiet(&world, "PUT", &path, Some(bare.clone())).await;
    quiet(&world, "PUT", &path, Some(json!({}))).await;
    let operations = quiet(&world, "GET", &format!("{path}/events"), None).await;
    let operation = operations["data"][0]["id"].as_str().expect("an id").to_owned();
    quiet(&world, "GET", &format!("/operations/{operation}"), None).await;
    quiet(&world, "GET", &format!("/operations/{operation}/events"), None).await;
    let stream = world.request("GET", &format!("/operations/{operation}/events"));
    let stream = stream.header("accept", "text/event-stream").body(Body::empty()).expect("a request");
    assert!(!world.answer(stream).await.text.contains(CANARY));

    // In a failure of every kind.
    quiet(&world, "POST", "/formations", Some(with("s"))).await;
    let mut broken = with("t");
    broken["template"]["resources"]["Literal"]["properties"]["value"] = json!([CANARY]);
    quiet(&world, "POST", "/formations", Some(broken)).await;
    let mut broken = with("t");
    broken["parameters"] = json!(CANARY);
    quiet(&world, "POST", "/formations", Some(broken)).await;
    let mut failing = with("t");
    failing["template"]["resources"]["Prov"] = json!({ "type": "ai_provider", "depends_on": ["Given"], "properties": {
        "name": "p", "provider": "openai", "default_model": "m", "secret_id": "sec_missing",
    } });
    let failed = quiet(&world, "POST", "/formations", Some(failing)).await;
    assert_eq!(failed["status"], "failed", "{failed}");

    // Over the platform's own routes.
    let secret = quiet(&world, "POST", "/secrets", Some(json!({ "name": "k", "value": CANARY }))).await;
    let item = format!("/secrets/{}", secret["id"].as_str().expect("an id"));
    quiet(&world, "PATCH", &item, Some(json!({ "value": CANARY }))).await;
    quiet(&world, "PATCH", &item, Some(json!({ "value": [CANARY] }))).await;
    quiet(&world, "GET", &item, None).await;
    quiet(&world, "GET", "/secrets", None).await;

    // As a token, and as a value where every route has none.
    assert_eq!(world.bearing(CANARY).get("/projects").await.status, 401);
    for endpoint in endpoints() {
        let path = endpoint.path.replace(['{', '}'], "");
        if endpoint.method != "GET" {
            // Fields that a route does not have are named; what is in them is not.
            quiet(&world, &endpoint.method, &path, Some(json!({ "nonsense": CANARY }))).await;
            quiet(&world, &endpoint.method, &path, Some(json!([CANARY]))).await;
            quiet(&world, &endpoint.method, &path, Some(json!(CANARY))).await;
        }
    }
    quiet(&world, "DELETE", &path, None).await;
    let token = world.post("/tokens", json!({ "name": "t" })).await;
    let plaintext = token.body["token"].as_str().expect("shown once").to_owned();
    assert_eq!(world.bearing(&plaintext).get("/tokens").await.text.matches(&plaintext).count(), 0);

    let log = log.text();
    assert!(log.contains("answered"), "the log is the one of the server");
    for secret in [CANARY, plaintext.as_str(), world::ADMIN] {
        assert!(
            !log.contains(secret),
            "the log holds a secret: {}",
            log.lines().find(|line| line.contains(secret)).unwrap_or_default()
        );
    }
}
