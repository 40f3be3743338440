//! A server with its store, and what tests need to talk to it.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use formwork_api::Client;
use formwork_control::{Control, ControlOptions};
use formwork_engine::{EngineOptions, SystemClock};
use formwork_formation::Limits;
use formwork_model::{InstanceKey, Json, Secret};
use formwork_server::{ServerOptions, local_router};
use formwork_store::{Fault, MemOptions, MemStore};
use http_body_util::BodyExt;
use serde_json::json;
use std::sync::Arc;
use tower::ServiceExt;

pub(crate) const ADMIN: &str = "sk_admin";

pub(crate) struct World {
    pub(crate) control: Arc<Control>,
    pub(crate) router: Router,
    pub(crate) store: MemStore,
    pub(crate) token: String,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Json,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(ServerOptions::default()).await
    }

    pub(crate) async fn with(options: ServerOptions) -> Self {
        Self::over(MemStore::new(MemOptions::default()), options).await
    }

    pub(crate) async fn over(store: MemStore, options: ServerOptions) -> Self {
        let engine = EngineOptions::new("test".into());
        let control = Control::open(
            Arc::new(store.clone()),
            InstanceKey::from_bytes([7; 32]),
            Arc::new(SystemClock),
            ControlOptions { limits: Limits::default(), engine },
        )
        .await
        .expect("it opens");
        control.admin_token(&Secret::new(ADMIN.to_owned()), "here").await.expect("registered");
        let router = local_router(control.clone(), options);
        Self { control, router, store, token: ADMIN.to_owned() }
    }

    /// A server over a store in which an operation was cut off: its process is dead, and nobody has
    /// recovered it yet. Answers with the formation's id.
    pub(crate) async fn interrupted(options: ServerOptions) -> (Self, String) {
        for after in 1..40 {
            let first = Self::with(ServerOptions::default()).await;
            first.store.fail_at(first.store.writes() + after, Fault::Torn);
            let body = json!({ "name": "cut-off", "template": memories(3) });
            first.send("POST", "/formations?wait=false", Some(&body)).await;
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            let second = Self::over(first.store.crash(), options.clone()).await;
            let listed = second.get("/formations").await.body;
            if listed["data"][0]["status"] == "creating" {
                let id = listed["data"][0]["id"].as_str().expect("an id").to_owned();
                return (second, id);
            }
        }
        panic!("no write of a deploy leaves it unfinished");
    }

    /// The same server, spoken to with another token.
    pub(crate) fn bearing(&self, token: &str) -> Self {
        Self {
            control: self.control.clone(),
            router: self.router.clone(),
            store: self.store.clone(),
            token: token.to_owned(),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::in_process(self.router.clone()).with_bearer(Some(Secret::new(self.token.clone())))
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let path = if path.starts_with("/health") || path == "/api" || path.starts_with("/api/") {
            path.to_owned()
        } else {
            format!("/api/v1{path}")
        };
        let mut request = Request::builder().method(method).uri(path);
        if !self.token.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        request
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<&Json>) -> Reply {
        let mut request = self.request(method, path);
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = body.map(Json::to_string).map_or_else(Body::empty, Body::from);
        self.answer(request.body(body).expect("a request")).await
    }

    pub(crate) async fn answer(&self, request: Request<Body>) -> Reply {
        let response = self.router.clone().oneshot(request).await.expect("infallible");
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("a whole body").to_bytes();
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        let body = serde_json::from_str(&text).unwrap_or_default();
        Reply { status: parts.status.as_u16(), headers: parts.headers, text, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Json) -> Reply {
        self.send("POST", path, Some(&body)).await
    }

    /// Posts what must succeed, and answers with the new thing's id.
    pub(crate) async fn made(&self, path: &str, body: Json) -> String {
        let reply = self.post(path, body).await;
        assert_eq!(reply.status, StatusCode::CREATED, "{path}: {}", reply.text);
        reply.id()
    }

    /// Deploys a new formation, which works.
    pub(crate) async fn deployed(&self, template: &Json) -> String {
        let made = self.post("/formations", json!({ "name": "s", "template": template })).await;
        assert_eq!(made.body["status"], "active", "{}", made.text);
        made.id()
    }

    /// Deploys a formation again.
    pub(crate) async fn redeploy(&self, formation: &str, template: &Json) -> Json {
        let body = json!({ "template": template });
        self.send("PUT", &format!("/formations/{formation}"), Some(&body)).await.body
    }

    /// What deploying it again would do: logical ids and actions, without what stays.
    pub(crate) async fn changes(&self, formation: &str, template: &Json) -> Vec<(String, String)> {
        let body = json!({ "template": template, "formation_id": formation });
        let plan = self.post("/formations/plan", body).await;
        let changes = plan.body["changes"].as_array().unwrap_or_else(|| panic!("{}", plan.text));
        let text = |change: &Json, name: &str| change[name].as_str().expect("a text").to_owned();
        let all = changes.iter().map(|change| (text(change, "logical_id"), text(change, "action")));
        all.filter(|(_, action)| action != "no-op").collect()
    }

    /// A token that is confined to a new project; answers with the project and a server spoken to
    /// with the token.
    pub(crate) async fn scoped(&self, name: &str) -> (String, Self) {
        let project = self.made("/projects", json!({ "name": name })).await;
        let reply = self.post("/tokens", json!({ "name": name, "project_id": project })).await;
        let world = self.bearing(reply.body["token"].as_str().expect("the plaintext"));
        (project, world)
    }

    /// Leaves generations and traces of an agent behind, as running it would.
    pub(crate) async fn leave_history(&self, agent: &str, project: &str) {
        let body = json!({ "agent_id": agent, "project_id": project });
        for path in ["/generations", "/traces"].repeat(3) {
            self.made(path, body.clone()).await;
        }
    }
}

impl Reply {
    pub(crate) fn id(&self) -> String {
        self.body["id"].as_str().unwrap_or_else(|| panic!("no id in {}", self.text)).to_owned()
    }

    pub(crate) fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_else(|| panic!("no error in {}", self.text))
    }

    pub(crate) fn message(&self) -> &str {
        self.body["error"]["message"].as_str().unwrap_or_default()
    }

    pub(crate) fn meta(&self) -> &Json {
        &self.body["error"]["meta"]
    }

    /// Status and code in one.
    pub(crate) fn outcome(&self) -> (u16, &str) {
        (self.status, self.code())
    }
}

/// A template of memories that wait for each other.
pub(crate) fn memories(count: usize) -> Json {
    let resources = (0..count).map(|index| {
        let mut declared = json!({ "type": "memory", "properties": { "name": format!("m{index}") } });
        if index > 0 {
            declared["depends_on"] = json!([format!("M{}", index - 1)]);
        }
        (format!("M{index}"), declared)
    });
    json!({ "resources": resources.collect::<serde_json::Map<_, _>>() })
}

/// A template whose second resource is refused while the deploy runs.
pub(crate) fn failing() -> Json {
    json!({ "resources": {
        "Kb": { "type": "memory", "properties": { "name": "kb" } },
        "Prov": { "type": "ai_provider", "depends_on": ["Kb"], "properties": {
            "name": "p", "provider": "openai", "default_model": "m", "secret_id": "sec_missing",
        } },
    } })
}

/// A provider with an agent.
pub(crate) fn agent() -> Json {
    json!({
        "resources": {
            "Prov": { "type": "ai_provider", "properties": {
                "name": "p", "provider": "openai", "default_model": "m",
            } },
            "Bot": { "type": "agent", "properties": { "name": "bot", "ai_provider_id": { "ref": "Prov" } } },
        },
        "outputs": { "botId": { "ref": "Bot" } },
    })
}
