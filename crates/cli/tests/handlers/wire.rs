//! The handler's messages and the registration file of seed 4, byte for byte: against a server that
//! has nothing of ours but the check of the signature.

use crate::common::{Home, text};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Json;
use axum::routing::post;
use formwork_example_handler::verify;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const SECRET: &str = "s3cret";

/// The file that the seed shows.
const CONFIGURATION: &str = include_str!("../../../handler/tests/seed/resource-types.json");

const CHANNEL: &str = r#"{"resources": {"SupportChannel": {
  "type": "channel", "properties": {"name": "Support WhatsApp", "kind": "whatsapp"}
}}}"#;

/// What came in, as it came.
#[derive(Default)]
struct Recorder {
    calls: Mutex<Vec<(HeaderMap, Bytes)>>,
    /// What was sent last, which is what is read back.
    properties: Mutex<Value>,
}

async fn answer(State(recorder): State<Arc<Recorder>>, headers: HeaderMap, body: Bytes) -> Json<Value> {
    let request: Value = serde_json::from_slice(&body).expect("a JSON body");
    recorder.calls.lock().expect("no panic").push((headers, body));
    let mut properties = recorder.properties.lock().expect("no panic");
    let outputs = json!({ "address": "+55 11 5550 1234", "seats": 3 });
    Json(match text(&request, "request_type") {
        "validate" => json!({ "errors": [] }),
        "create" | "update" => {
            *properties = request["properties"].clone();
            json!({ "physical_resource_id": "chn_1", "outputs": outputs })
        }
        "read" => json!({
            "exists": true, "physical_resource_id": "chn_1", "properties": *properties, "outputs": outputs,
        }),
        _ => json!({}),
    })
}

struct Wire {
    home: Home,
    address: SocketAddr,
    recorder: Arc<Recorder>,
    _runtime: Runtime,
}

impl Wire {
    fn new() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address");
        let recorder = Arc::new(Recorder::default());
        let router =
            Router::new().route("/v1/formation-resources", post(answer)).with_state(recorder.clone());
        runtime.spawn(async move { axum::serve(listener, router).await });
        let mut home = Home::called("soat");
        home.set("FORMATION_RESOURCE_TYPES_CONFIG", "resource-types.json");
        home.set("CHANNEL_HANDLER_SECRET", SECRET);
        let wire = Self { home, address, recorder, _runtime: runtime };
        wire.register(|_| {});
        wire
    }

    /// Writes the registration, with something changed.
    fn register(&self, change: impl FnOnce(&mut Value)) {
        let here = format!("http://{}", self.address);
        let text = CONFIGURATION.replace("https://platform.internal", &here);
        let mut configuration: Value = serde_json::from_str(&text).expect("JSON");
        change(&mut configuration);
        // As it stands in the seed, if nothing was changed.
        let unchanged = configuration == serde_json::from_str::<Value>(&text).expect("JSON");
        let text = if unchanged { text } else { configuration.to_string() };
        self.home.write("resource-types.json", text);
    }

    fn deployed(&self) -> Value {
        self.home.write("formation.json", CHANNEL);
        self.home.deploy("support", "formation.json", &[])
    }

    /// The bodies of one kind.
    fn bodies(&self, kind: &str) -> Vec<String> {
        let calls = self.recorder.calls.lock().expect("no panic");
        let bodies = calls.iter().map(|(_, body)| String::from_utf8(body.to_vec()).expect("text"));
        bodies.filter(|body| body.starts_with(&format!("{{\"request_type\":\"{kind}\""))).collect()
    }

    fn count(&self) -> usize {
        self.recorder.calls.lock().expect("no panic").len()
    }
}

#[test]
fn every_message_has_the_members_of_its_kind_and_no_other() {
    let wire = Wire::new();
    let made = wire.deployed();
    let (id, project) = (text(&made, "id"), text(&made, "project_id"));
    wire.home.write("formation.json", CHANNEL.replace("Support WhatsApp", "Sales"));
    wire.home.redeploy(id, "formation.json", &[]);
    wire.home.json(&["delete-formation", id]);
    let of = r#""resource_type":"channel","logical_id":"SupportChannel""#;
    let (first, second) =
        (r#"{"name":"Support WhatsApp","kind":"whatsapp"}"#, r#"{"name":"Sales","kind":"whatsapp"}"#);
    let whose = format!(r#"{of},"project_id":"{project}""#);
    assert_eq!(
        wire.bodies("create"),
        [format!(r#"{{"request_type":"create",{whose},"properties":{first}}}"#)]
    );
    assert_eq!(
        wire.bodies("update"),
        [format!(
            r#"{{"request_type":"update",{whose},"physical_resource_id":"chn_1","properties":{second}}}"#
        )]
    );
    assert_eq!(
        wire.bodies("delete"),
        [format!(r#"{{"request_type":"delete",{whose},"physical_resource_id":"chn_1"}}"#)]
    );
    let read = format!(r#"{{"request_type":"read",{whose},"physical_resource_id":"chn_1"}}"#);
    let reads = wire.bodies("read");
    assert!(!reads.is_empty() && reads.iter().all(|body| *body == read), "{reads:?}");
    let validate =
        |properties: &str| format!(r#"{{"request_type":"validate",{of},"properties":{properties}}}"#);
    assert_eq!(wire.bodies("validate"), [validate(first), validate(second)]);
}

#[test]
fn two_headers_travel_with_every_call() {
    let wire = Wire::new();
    let made = wire.deployed();
    wire.home.write("formation.json", CHANNEL.replace("Support WhatsApp", "Sales"));
    wire.home.redeploy(text(&made, "id"), "formation.json", &[]);
    wire.home.json(&["delete-formation", text(&made, "id")]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let now = i64::try_from(now).expect("before the end of time");
    let mut keys = Vec::new();
    for (headers, body) in wire.recorder.calls.lock().expect("no panic").iter() {
        let header = |name: &str| headers[name].to_str().expect("text").to_owned();
        assert_eq!(header("content-type"), "application/json");
        let signature = header("x-soat-signature");
        assert_eq!(verify(SECRET, &signature, body, now, 300), Ok(()), "{signature}");
        let (at, hex) =
            signature.strip_prefix("t=").and_then(|rest| rest.split_once(",v1=")).expect("its form");
        assert!(at.bytes().all(|byte| byte.is_ascii_digit()));
        assert!(
            hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
            "{hex}"
        );
        let key = header("x-soat-idempotency-key");
        assert!(!key.is_empty());
        let request: Value = serde_json::from_slice(body).expect("JSON");
        if ["create", "update", "delete"].contains(&text(&request, "request_type")) {
            keys.push(key);
        }
    }
    assert_eq!(keys.len(), 3);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 3, "each deed has a key of its own");
}

#[test]
fn a_dependent_of_a_custom_type_is_made_after_it_and_the_other_way_round() {
    let wire = Wire::new();
    wire.home.write(
        "formation.yaml",
        "resources:
  SupportChannel:
    type: channel
    properties: { name: Support WhatsApp, kind: whatsapp, agent_id: { ref: SupportAgent } }
  SupportAgent: { type: agent, properties: { name: Support, ai_provider_id: { ref: Prov } } }
  Prov: { type: ai_provider, properties: { name: p, provider: openai, default_model: m } }
  Note: { type: memory, properties: { name: { sub: 'of ${SupportChannel}' } } }
outputs:
  channel: { ref: SupportChannel }
  address: { ref_attr: SupportChannel.address }
  seats: { ref_attr: SupportChannel.seats }
",
    );
    let made = wire.home.deploy("support", "formation.yaml", &[]);
    assert_eq!(made["status"], "active", "{made:#}");
    let order: Vec<_> =
        wire.home.last_events(text(&made, "id")).into_iter().map(|(label, _)| label).collect();
    assert_eq!(order, ["Prov", "SupportAgent", "SupportChannel", "Note"]);
    let agent = wire.home.all(&["list-agents"]).remove(0);
    let expected = format!(r#""agent_id":"{}"}}}}"#, text(&agent, "id"));
    assert!(wire.bodies("create")[0].ends_with(&expected), "{:?}", wire.bodies("create"));
    assert_eq!(wire.home.all(&["list-memories"])[0]["name"], "of chn_1");
    assert_eq!(made["outputs"], json!({ "channel": "chn_1", "address": "+55 11 5550 1234" }), "only texts");
}

#[test]
fn a_stored_template_is_checked_against_the_types_that_there_are_by_then() {
    let wire = Wire::new();
    let made = wire.deployed();
    let id = text(&made, "id");
    let asked = wire.count();
    wire.register(|all| {
        let schema = &mut all["resource_types"][0]["schema"];
        schema["properties"].as_object_mut().expect("properties").remove("kind");
        schema["required"] = json!(["name"]);
    });
    let refused = wire.home.run(&["update-formation", id]).exits(1);
    for told in ["VALIDATION_FAILED", "resources.SupportChannel.properties.kind"] {
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    // Where the type is not known at all, nothing is lost: it can come back.
    wire.register(|all| all["resource_types"] = json!([]));
    let refused = wire.home.run(&["update-formation", id]).exits(1);
    assert!(refused.stderr.contains("Unsupported resource type: channel"), "{}", refused.stderr);
    let kept = wire.home.run(&["delete-formation", id]).exits(1);
    assert!(kept.stderr.contains("channel"), "{}", kept.stderr);
    assert_eq!(wire.count(), asked, "nobody was asked for anything");
    wire.register(|_| {});
    assert_eq!(wire.home.json(&["update-formation", id])["status"], "active");
    wire.home.json(&["delete-formation", id]);
    assert_eq!(wire.bodies("delete").len(), 1);
}

#[test]
fn the_registrations_of_a_process_are_those_that_it_started_with() {
    let wire = Wire::new();
    let agent = wire.home.agent();
    wire.register(|all| all["resource_types"] = json!([]));
    let made = wire.deployed();
    assert_eq!(made["status"], "active");
    wire.home.json(&["delete-formation", text(&made, "id")]);
    drop(agent);
    let _agent = wire.home.agent();
    let refused =
        wire.home.run(&["create-formation", "--name", "t", "--template-file", "formation.json"]).exits(1);
    assert!(refused.stderr.contains("Unsupported resource type: channel"), "{}", refused.stderr);
}

#[test]
fn a_host_that_cannot_be_reached_fails_each_operation_and_nothing_is_tried_twice() {
    let wire = Wire::new();
    let made = wire.deployed();
    let id = text(&made, "id");
    let gone = |all: &mut Value| all["resource_types"][0]["handler"]["url"] = json!("http://127.0.0.1:1/");
    wire.home.write("formation.json", CHANNEL.replace("Support WhatsApp", "Sales"));
    wire.register(gone);
    let update = ["update-formation", "--formation-id", id, "--template-file", "formation.json"];
    let refused = wire.home.run(&update).exits(1);
    assert!(refused.stderr.contains("FORMATION_HANDLER_FAILED"), "{}", refused.stderr);
    assert!(refused.stderr.contains("'channel' failed on validate: request failed: "), "{}", refused.stderr);
    assert_eq!(wire.home.json(&["get-formation", id])["status"], "active", "nothing was begun");
    wire.register(|all| {
        gone(all);
        all["resource_types"][0]["capabilities"] = json!([]);
    });
    let failed = wire.home.run(&update).exits(1).json();
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!("FORMATION_HANDLER_FAILED"))
    );
    assert!(
        text(&failed["error"], "message").contains("'channel' failed on update: request failed: "),
        "{failed:#}"
    );
    assert_eq!(failed["error"]["meta"]["logical_id"], "SupportChannel");
    let kept = wire.home.run(&["delete-formation", id]).exits(1);
    assert!(kept.stderr.contains("FORMATION_DELETE_FAILED"), "{}", kept.stderr);
    let shown = wire.home.json(&["get-formation", id]);
    assert_eq!(shown["status"], "delete_failed");
    assert_eq!(shown["resources"][0]["physical_resource_id"], "chn_1", "it is not forgotten");
    wire.register(|_| {});
    wire.home.redeploy(id, "formation.json", &[]);
    assert_eq!(wire.bodies("update").len(), 1, "each call was made once, by a person");
    wire.home.json(&["delete-formation", id]);
}
