//! A home whose binary knows the type `channel`, and the handler of that type.

use crate::common::{Home, Ran, text};
use axum::serve;
use formwork_example_handler::{Deed, Fault, Options, Seen, Service, router};
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub(crate) const SECRET: &str = "s3cret";
/// A credential that must be nowhere but in the calls.
pub(crate) const CANARY: &str = "canary-4f1d";
/// How long the handler may take. Only a hanging handler takes that long.
pub(crate) const TIMEOUT_SECONDS: f64 = 3.0;

pub(crate) struct World {
    pub(crate) home: Home,
    pub(crate) handler: Arc<Service>,
    /// Where the handler runs; it ends with it.
    _runtime: Runtime,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A world in which the registration is another one.
    pub(crate) fn with(change: impl FnOnce(&mut Value)) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address");
        let handler = Service::new(Options {
            secret: SECRET.to_owned(),
            max_age_seconds: 300,
            path: "/v1/resources".to_owned(),
            state: None,
            control: false,
        })
        .expect("a handler");
        let serving = router(handler.clone());
        runtime.spawn(async move { serve(listener, serving).await });
        let mut home = Home::new();
        let mut entry = registration(address);
        change(&mut entry);
        home.write("types.json", json!({ "resource_types": [entry] }).to_string());
        home.set("FORMATION_RESOURCE_TYPES_CONFIG", "types.json");
        home.set("CHANNEL_SECRET", SECRET);
        Self { home, handler, _runtime: runtime }
    }

    /// Tells the handler to misbehave once.
    pub(crate) fn misbehave(&self, on: &str, act: bool, deed: Deed) {
        self.handler.misbehave(Fault { on: on.to_owned(), of: None, times: 1, act, deed });
    }

    /// Tells the handler not to let an object go, once.
    pub(crate) fn hold(&self, id: &str) {
        let deed = Deed::Fail { status: 409, message: Some("it is still in use".to_owned()) };
        let (on, of) = ("delete".to_owned(), Some(id.to_owned()));
        self.handler.misbehave(Fault { on, of, times: 1, act: false, deed });
    }

    /// The operations that the handler was asked for, and of what.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.handler.seen().into_iter();
        asked.map(|Seen { operation, id, .. }| format!("{operation} {id}").trim_end().to_owned()).collect()
    }

    /// Those that change something.
    pub(crate) fn changes_asked(&self) -> Vec<String> {
        let changes = |asked: &String| !asked.starts_with("read") && !asked.starts_with("validate");
        self.asked().into_iter().filter(changes).collect()
    }

    pub(crate) fn create(&self, name: &str, template: &Value) -> Ran {
        self.home.write("template.json", template.to_string());
        let arguments = ["create-formation", "--name", name, "--template-file", "template.json"];
        self.home.run(&[&arguments[..], &["--progress", "none"]].concat())
    }

    pub(crate) fn update(&self, id: &str, template: &Value) -> Ran {
        self.home.write("template.json", template.to_string());
        let arguments = ["update-formation", "--formation-id", id, "--template-file", "template.json"];
        self.home.run(&[&arguments[..], &["--progress", "none"]].concat())
    }

    /// A deploy that succeeds; answers the formation's id.
    #[track_caller]
    pub(crate) fn deployed(&self, template: &Value) -> String {
        text(&self.create("s", template).ok().json(), "id").to_owned()
    }

    /// The events of the last operation, one line each.
    pub(crate) fn events(&self, id: &str) -> Vec<String> {
        let operations = self.home.json(&["list-formation-events", id, "--limit", "100"]);
        let last = operations["data"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
        last["events"].as_array().into_iter().flatten().map(line).collect()
    }

    /// A formation in few lines: status, error, rows.
    pub(crate) fn shown(&self, id: &str) -> String {
        let formation = self.home.json(&["get-formation", id]);
        let mut shown = format!("formation {}", text(&formation, "status"));
        if let Some(code) = formation["error"]["code"].as_str() {
            shown += &format!("\n  error {code}: {}", text(&formation["error"], "message"));
        }
        for row in formation["resources"].as_array().into_iter().flatten() {
            let id = row["physical_resource_id"].as_str().unwrap_or("-");
            shown += &format!("\n  row {} {} {id}", text(row, "logical_id"), text(row, "status"));
        }
        shown
    }

    /// The channels that exist.
    pub(crate) fn channels(&self) -> Vec<String> {
        self.handler.channels().into_keys().collect()
    }

    /// Nothing that is stored or logged holds the credential (INV-9).
    #[track_caller]
    pub(crate) fn assert_no_canary(&self) {
        // The template that a test writes holds it, as a person's would.
        let _ = fs::remove_file(self.home.path().join("template.json"));
        search(self.home.path());
    }
}

fn line(event: &Value) -> String {
    let text = |key: &str| event[key].as_str().unwrap_or("-");
    let error = event["error"].as_str().map(|error| format!(": {error}")).unwrap_or_default();
    format!(
        "{} {} {} {}{error}",
        text("logical_id"),
        text("action"),
        text("status"),
        text("physical_resource_id")
    )
}

#[track_caller]
fn search(directory: &Path) {
    for entry in fs::read_dir(directory).expect("readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            search(&path);
        } else if path.is_file() {
            let bytes = fs::read(&path).expect("readable");
            let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
            assert!(!found, "{} holds a credential", path.display());
        }
    }
}

/// The registration of the type `channel`.
pub(crate) fn registration(address: SocketAddr) -> Value {
    json!({
        "name": "channel",
        "description": "A messaging channel.",
        "handler": {
            "url": format!("http://{address}/v1/resources"),
            "secret_env": "CHANNEL_SECRET",
            "timeout_seconds": TIMEOUT_SECONDS,
        },
        "capabilities": ["validate", "read"],
        "write_only_properties": ["access_token"],
        "schema": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1 },
                "kind": { "type": "string" },
                "agent_id": { "type": "string" },
                "access_token": { "type": "string" },
                "hours": {
                    "type": "object",
                    "properties": { "from": { "type": "integer", "maximum": 23 } },
                    "required": ["from"],
                    "additionalProperties": false,
                },
            },
            "required": ["name", "kind"],
        },
    })
}

/// A template with one channel.
pub(crate) fn one(name: &str, kind: &str) -> Value {
    json!({ "resources": { "Chan": { "type": "channel", "properties": { "name": name, "kind": kind } } } })
}

/// Several lines, ids of channels in the order of their appearance and random ids as such.
pub(crate) fn scrubbed(text: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    let mut scrubbed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("chan_") {
        let digits = rest[at + 5..].chars().take_while(char::is_ascii_digit).count();
        let id = &rest[at..at + 5 + digits];
        let number = seen.iter().position(|known| known == id).unwrap_or_else(|| {
            seen.push(id.to_owned());
            seen.len() - 1
        });
        scrubbed += &rest[..at];
        scrubbed += &format!("chan#{}", number + 1);
        rest = &rest[at + 5 + digits..];
    }
    scrubbed + rest
}
