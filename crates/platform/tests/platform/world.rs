//! A store, the platform on it, and short ways to call both.

use formwork_model::{
    ActorId, Catalog, CheckContext, ClientToken, Diagnostics, Expr, InstanceKey, Json, NativeId,
    OperationErrorCode, Path, ProjectId, Secret, Severity, Timestamp, TypeName, WireCode,
};
use formwork_platform::{Caller, Platform, PlatformError, RestList, UpdateMode, rest_routes};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, OperationStatus, ProgressResult, ReadRequest, ReadResult,
    ResourcePlugin, UpdateRequest,
};
use formwork_store::{
    Clock, DomainTx, Link, ListQuery, MemOptions, MemStore, NewObject, Page, Store, StoredObject, SystemClock,
};
use serde_json::json;
use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

pub(crate) const STORED_TYPES: [&str; 38] = [
    "eval_run",
    "orchestration_run",
    "trigger_firing",
    "actor",
    "chat",
    "conversation",
    "dataset",
    "dataset_item",
    "eval",
    "generation",
    "guardrail",
    "message",
    "session",
    "trace",
    "secret",
    "ai_provider",
    "memory",
    "memory_entry",
    "tool",
    "agent",
    "document",
    "file",
    "document_chunk",
    "agent_version",
    "api_key",
    "api_key_digest",
    "ingestion_rule",
    "model_route",
    "orchestration",
    "orchestration_version",
    "policy",
    "project_price",
    "quota",
    "task",
    "trigger",
    "webhook",
    "workflow",
    "workflow_version",
];

/// The machine's clock, moved on by hand.
#[derive(Default)]
pub(crate) struct ShiftedClock(AtomicU64);

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(self.0.load(Ordering::SeqCst))
    }
}

pub(crate) struct World {
    pub(crate) clock: Arc<ShiftedClock>,
    pub(crate) store: MemStore,
    pub(crate) platform: Arc<Platform>,
    pub(crate) key: InstanceKey,
    pub(crate) project: ProjectId,
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = Arc::<ShiftedClock>::default();
        let store = MemStore::new(MemOptions { clock: clock.clone(), ..MemOptions::default() });
        let key = InstanceKey::from_bytes([5; 32]);
        let platform = Platform::new(Arc::new(store.clone()), key.clone());
        Self { clock, store, platform, key, project: "proj_one".into() }
    }

    /// Lets time pass for the store.
    pub(crate) fn advance(&self, seconds: u64) {
        self.clock.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    pub(crate) fn context(&self) -> CallContext {
        CallContext::observing(self.project.clone(), "user_1".into(), Timestamp(0))
    }

    pub(crate) fn context_with(&self, token: u8) -> CallContext {
        CallContext { token: Some(ClientToken([token; 32])), ..self.context() }
    }

    pub(crate) async fn try_create(
        &self,
        type_name: &str,
        properties: Json,
        secrets: &[Path],
    ) -> ProgressResult {
        self.platform
            .create(&self.context(), create_request(type_name, properties, secrets))
            .await
            .expect("an answer")
    }

    pub(crate) async fn create(&self, type_name: &str, properties: Json) -> String {
        self.create_secret(type_name, properties, &[]).await
    }

    pub(crate) async fn create_secret(&self, type_name: &str, properties: Json, secrets: &[Path]) -> String {
        let answer = self.try_create(type_name, properties, secrets).await;
        assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
        answer.native_id.expect("an id").to_string()
    }

    pub(crate) async fn update(&self, type_name: &str, id: &str, properties: Json) -> ProgressResult {
        self.update_secret(type_name, id, properties, &[], &[]).await
    }

    pub(crate) async fn update_secret(
        &self,
        type_name: &str,
        id: &str,
        properties: Json,
        secrets: &[Path],
        kept: &[Path],
    ) -> ProgressResult {
        let request = UpdateRequest {
            resource_type: type_name.into(),
            native_id: id.into(),
            prior_properties: json!({}),
            desired_properties: Secret::new(properties),
            patch_document: Secret::new(json!([])),
            target_config: Secret::new(Json::Null),
            secret_paths: secrets.to_vec(),
            kept_paths: kept.to_vec(),
        };
        self.platform.update(&self.context(), request).await.expect("an answer")
    }

    pub(crate) async fn read(&self, type_name: &str, id: &str) -> ReadResult {
        let request = ReadRequest {
            resource_type: type_name.into(),
            native_id: id.into(),
            target_config: Secret::new(Json::Null),
            redact_sensitive: true,
            prior_properties: None,
        };
        self.platform.read(&self.context(), request).await.expect("an answer")
    }

    pub(crate) async fn delete(&self, type_name: &str, id: &str) -> ProgressResult {
        let request = DeleteRequest {
            resource_type: type_name.into(),
            native_id: id.into(),
            target_config: Secret::new(Json::Null),
        };
        self.platform.delete(&self.context(), request).await.expect("an answer")
    }

    pub(crate) async fn rest_create(&self, type_name: &str, body: Json) -> Result<Json, PlatformError> {
        let type_name = type_name.into();
        let made = self.platform.rest_create(&caller(), &type_name, Some(&self.project), body, None).await;
        made.map(|made| made.shown)
    }

    pub(crate) async fn rest_made(&self, type_name: &str, body: Json) -> Json {
        self.rest_create(type_name, body).await.expect("made")
    }

    pub(crate) async fn rest_update(
        &self,
        type_name: &str,
        id: &str,
        body: Json,
        mode: UpdateMode,
        version: Option<u64>,
    ) -> Result<Json, PlatformError> {
        let projects = std::slice::from_ref(&self.project);
        self.platform.rest_update(&caller(), &type_name.into(), Some(projects), id, body, mode, version).await
    }

    pub(crate) async fn rest_list(&self, query: RestList) -> Result<Page<Json>, PlatformError> {
        self.platform.rest_list(query).await
    }

    pub(crate) async fn rest_delete(
        &self,
        type_name: &str,
        id: &str,
        force: bool,
    ) -> Result<(), PlatformError> {
        let projects = std::slice::from_ref(&self.project);
        self.platform.rest_delete(&caller(), &type_name.into(), Some(projects), id, force).await
    }

    /// One of the actions of a type's route.
    pub(crate) async fn rest_act(
        &self,
        type_name: &str,
        id: &str,
        operation: &str,
    ) -> Result<Json, PlatformError> {
        self.rest_act_with(type_name, id, operation, Json::Null).await
    }

    /// One of the actions of a type's route, with a body.
    pub(crate) async fn rest_act_with(
        &self,
        type_name: &str,
        id: &str,
        operation: &str,
        body: Json,
    ) -> Result<Json, PlatformError> {
        let route = rest_routes().iter().find(|route| route.type_name == type_name).expect("a route");
        let action = route.actions.iter().find(|action| action.operation == operation).expect("an action");
        let projects = std::slice::from_ref(&self.project);
        self.platform.rest_act(&caller(), &type_name.into(), Some(projects), id, action, body).await
    }

    /// A page of what one of the actions of a type's route lists.
    pub(crate) async fn related(
        &self,
        type_name: &str,
        id: &str,
        operation: &str,
        slice: (usize, usize),
    ) -> Page<Json> {
        let route = rest_routes().iter().find(|route| route.type_name == type_name).expect("a route");
        let action = route.actions.iter().find(|action| action.operation == operation).expect("an action");
        let item = self.store.reader().object(id).await.expect("read").expect("an item");
        let listed = action.lists.expect("it lists");
        self.platform.rest_related(&listed, &item, slice, None).await.expect("a page")
    }

    pub(crate) async fn rest_get(&self, type_name: &str, id: &str) -> Result<Json, PlatformError> {
        self.platform.rest_get(&type_name.into(), Some(std::slice::from_ref(&self.project)), id).await
    }

    pub(crate) async fn stored(&self, type_name: &str) -> Vec<StoredObject> {
        let query = ListQuery {
            type_name: type_name.to_owned(),
            projects: Vec::new(),
            linked: None,
            limit: 1000,
            offset: 0,
        };
        self.store.reader().objects(&query).await.expect("a page").items
    }

    /// Everything that is stored, as one text.
    pub(crate) async fn everything_stored(&self) -> String {
        let mut text = String::new();
        for type_name in STORED_TYPES {
            for object in self.stored(type_name).await {
                let _ = writeln!(text, "{object:?}");
                let links = self.store.reader().links_to(&object.id, 100).await.expect("links");
                let _ = writeln!(text, "{links:?}");
            }
        }
        text
    }

    /// Stores a record that no type of ours makes yet.
    pub(crate) async fn leave_record(&self, type_name: &str, id: &str, links: &[(&str, &str)]) {
        let link = |(field, to): &(&str, &str)| Link { field: (*field).to_owned(), to: (*to).to_owned() };
        let object = NewObject {
            id: id.to_owned(),
            type_name: type_name.to_owned(),
            project: Some(self.project.clone()),
            doc: json!({}),
            keys: Vec::new(),
            links: links.iter().map(link).collect(),
        };
        let job = Box::new(move |tx: &mut dyn DomainTx| tx.insert(object).map(|_| Json::Null));
        self.store.domain(None, None, job).await.expect("an insert");
    }

    /// Takes a record away, whatever it is.
    pub(crate) async fn take_record(&self, id: &str) {
        let id = id.to_owned();
        let job = Box::new(move |tx: &mut dyn DomainTx| tx.delete(&id).map(Json::Bool));
        self.store.domain(None, None, job).await.expect("a delete");
    }

    /// An agent that can stand: with a provider of its own.
    pub(crate) async fn agent(&self) -> (String, String) {
        let provider = self.create("ai_provider", provider()).await;
        let agent = self.create("agent", json!({ "ai_provider_id": provider })).await;
        (provider, agent)
    }
}

pub(crate) fn create_request(type_name: &str, properties: Json, secrets: &[Path]) -> CreateRequest {
    CreateRequest {
        resource_type: type_name.into(),
        properties: Secret::new(properties),
        target_config: Secret::new(Json::Null),
        secret_paths: secrets.to_vec(),
    }
}

pub(crate) fn caller() -> Caller {
    Caller { actor: ActorId::from("user_1") }
}

/// All objects of a type whose filters match.
pub(crate) fn list_of(type_name: &str, filters: &[(&str, &str)]) -> RestList {
    RestList {
        type_name: type_name.into(),
        projects: None,
        filters: filters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        limit: None,
        offset: 0,
    }
}

/// The id of what a route answered.
pub(crate) fn id_of(shown: &Json) -> &str {
    shown["id"].as_str().expect("an id")
}

pub(crate) fn provider() -> Json {
    json!({ "name": "main", "provider": "openai", "default_model": "m-1" })
}

/// Code, wire code and message of a refused call.
pub(crate) fn refusal(answer: &ProgressResult) -> (OperationErrorCode, &str, &str) {
    assert_eq!(answer.operation_status, OperationStatus::Failure, "{answer:?}");
    let code = answer.error_code.expect("a code");
    let wire = answer.failure_code.as_deref().unwrap_or_default();
    (code, wire, answer.status_message.as_deref().unwrap_or_default())
}

/// Code, message and facts of a refused request.
pub(crate) fn wire(error: &PlatformError) -> (WireCode, &str, Json) {
    match error {
        PlatformError::Wire { code, message, meta } => (*code, message, meta.clone().unwrap_or_default()),
        PlatformError::Store(error) => panic!("the store failed: {error}"),
    }
}

/// What the static check of a type says: severity, path and message of each finding.
pub(crate) fn check(type_name: &str, properties: &Expr) -> Vec<String> {
    let rules = Platform::catalog().get(&TypeName::from(type_name)).expect("a type");
    let mut found = Diagnostics::default();
    rules.check(properties, &mut CheckContext { base: Path::of(["p"]), found: &mut found });
    let line = |found: &formwork_model::Diagnostic| match found.severity {
        Severity::Error => format!("{}: {}", found.path, found.message),
        Severity::Warning => format!("{} (warning): {}", found.path, found.message),
    };
    found.iter().map(line).collect()
}

pub(crate) fn native(id: &str) -> NativeId {
    NativeId::from(id)
}
