//! A provider in memory, in the same process: it remembers client tokens, and does as it is told.

use async_trait::async_trait;
use formwork_model::{Json, NativeId, Secret, TypeName};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, Operation, OperationErrorCode,
    PluginError, ProgressResult, RateLimitConfig, ReadRequest, ReadResult, ResourcePlugin, StatusRequest,
    UpdateRequest,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::Notify;

/// How a call goes.
#[derive(Clone, Debug)]
pub enum How {
    /// It takes so long.
    Slow(Duration),
    /// It never answers, and does nothing.
    Hang,
    /// It has its effect and never answers.
    DoneAndHang,
    /// It panics with a text.
    Panic(String),
    /// It refuses.
    Refuse(OperationErrorCode, String),
    /// It waits until the gate is opened.
    Gate,
    /// Its answer shows these properties.
    Answer(Json),
    /// It goes on; this many polls later it is done.
    Polls(u32),
    /// The plugin dies after the effect.
    Lost,
}

/// A call that was received.
#[derive(Clone, Debug)]
pub struct Received {
    pub operation: Operation,
    pub label: String,
    pub token: Option<String>,
    pub properties: Json,
    pub patch: Json,
    /// What it was told of the target.
    pub target: Json,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<NativeId, Json>,
    tokens: BTreeMap<String, ProgressResult>,
    unfinished: BTreeMap<String, (u32, ProgressResult)>,
    script: BTreeMap<(String, String), VecDeque<How>>,
    received: Vec<Received>,
    created: u64,
    under_way: usize,
    most_under_way: usize,
}

pub struct Provider {
    limit: u32,
    state: Mutex<State>,
    gate: Notify,
}

impl Provider {
    pub fn new(limit: u32) -> Arc<Self> {
        Arc::new(Self { limit, state: Mutex::default(), gate: Notify::new() })
    }

    /// Scripts the next unscripted call of an operation on a label.
    pub fn next(&self, operation: Operation, label: &str, how: How) {
        let key = (format!("{operation:?}"), label.to_owned());
        self.state().script.entry(key).or_default().push_back(how);
    }

    pub fn open_gate(&self) {
        self.gate.notify_waiters();
    }

    pub fn objects(&self) -> BTreeMap<NativeId, Json> {
        self.state().objects.clone()
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .state()
            .objects
            .values()
            .map(|object| object["name"].as_str().unwrap_or("").to_owned())
            .collect();
        names.sort();
        names
    }

    pub fn created(&self) -> u64 {
        self.state().created
    }

    pub fn received(&self) -> Vec<Received> {
        self.state().received.clone()
    }

    pub fn calls(&self, operation: Operation) -> usize {
        self.state().received.iter().filter(|call| call.operation == operation).count()
    }

    pub fn most_under_way(&self) -> usize {
        self.state().most_under_way
    }

    pub fn remove(&self, native_id: &NativeId) {
        self.state().objects.remove(native_id);
    }

    /// Waits until a call of an operation on a label was received.
    pub async fn saw(&self, operation: Operation, label: &str) {
        while !self.state().received.iter().any(|call| call.operation == operation && call.label == label) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn receive(
        &self,
        operation: Operation,
        context: &CallContext,
        properties: Json,
        patch: Json,
        target: &Secret<Json>,
    ) -> Option<How> {
        let mut state = self.state();
        let label = context.label.as_ref().map(ToString::to_string).unwrap_or_default();
        let token = context.token.map(|token| token.to_string());
        state.received.push(Received {
            operation,
            label: label.clone(),
            token,
            properties,
            patch,
            target: target.expose().clone(),
        });
        state.under_way += 1;
        state.most_under_way = state.most_under_way.max(state.under_way);
        state.script.get_mut(&(format!("{operation:?}"), label))?.pop_front()
    }

    /// Does `effect` once per token, the way the script says.
    async fn write(
        &self,
        operation: Operation,
        context: &CallContext,
        properties: Json,
        patch: Json,
        target: &Secret<Json>,
        effect: impl FnOnce(&mut State) -> ProgressResult + Send,
    ) -> Result<ProgressResult, PluginError> {
        let how = self.receive(operation, context, properties, patch, target);
        let under_way = UnderWay(self);
        match &how {
            Some(How::Slow(duration)) => tokio::time::sleep(*duration).await,
            Some(How::Hang) => std::future::pending().await,
            Some(How::Panic(text)) => panic!("{text}"),
            Some(How::Refuse(code, message)) => {
                return Ok(ProgressResult::failure(operation, *code, message));
            }
            Some(How::Gate) => self.gate.notified().await,
            _ => {}
        }
        let result = self.once(context, effect);
        match how {
            Some(How::DoneAndHang) => std::future::pending().await,
            Some(How::Lost) => {
                return Err(PluginError::Lost { namespace: "test".into(), reason: "it died".into() });
            }
            Some(How::Answer(properties)) => {
                return Ok(ProgressResult { resource_properties: Some(properties), ..result });
            }
            Some(How::Polls(polls)) => {
                let mut state = self.state();
                let request_id = format!("request-{}", state.unfinished.len());
                state.unfinished.insert(request_id.clone(), (polls, result));
                return Ok(ProgressResult::in_progress(operation, request_id, None));
            }
            _ => {}
        }
        drop(under_way);
        Ok(result)
    }

    fn once(
        &self,
        context: &CallContext,
        effect: impl FnOnce(&mut State) -> ProgressResult,
    ) -> ProgressResult {
        let mut state = self.state();
        let token = context.token.map(|token| token.to_string());
        if let Some(known) = token.as_ref().and_then(|token| state.tokens.get(token)) {
            return known.clone();
        }
        let result = effect(&mut state);
        if let Some(token) = token {
            state.tokens.insert(token, result.clone());
        }
        result
    }
}

struct UnderWay<'a>(&'a Provider);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.state().under_way -= 1;
    }
}

#[async_trait]
impl ResourcePlugin for Provider {
    fn namespace(&self) -> &'static str {
        "test"
    }

    fn rate_limit(&self) -> RateLimitConfig {
        RateLimitConfig { max_requests_per_second_for_namespace: self.limit, ..RateLimitConfig::default() }
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let properties = request.properties.expose().clone();
        let sent = properties.clone();
        self.write(Operation::Create, context, properties, Json::Null, &request.target_config, |state| {
            state.created += 1;
            let id = NativeId::new(format!("object-{}", state.created));
            state.objects.insert(id.clone(), sent.clone());
            ProgressResult::success(Operation::Create, id, sent)
        })
        .await
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let how = self.receive(Operation::Read, context, Json::Null, Json::Null, &request.target_config);
        let _under_way = UnderWay(self);
        if let Some(How::Lost) = how {
            return Err(PluginError::Lost { namespace: "test".into(), reason: "it died".into() });
        }
        if let Some(How::Hang) = how {
            std::future::pending::<()>().await;
        }
        let found = match how {
            // A read that lags behind shows what was.
            Some(How::Refuse(OperationErrorCode::NotFound, _)) => None,
            Some(How::Answer(properties)) => Some(properties),
            _ => self.state().objects.get(&request.native_id).cloned(),
        };
        Ok(ReadResult {
            resource_type: request.resource_type,
            native_id: request.native_id,
            error_code: found.is_none().then_some(OperationErrorCode::NotFound),
            resource_properties: found,
            secret_digests: Vec::new(),
        })
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let properties = request.desired_properties.expose().clone();
        let (sent, id) = (properties.clone(), request.native_id);
        let patch = request.patch_document.expose().clone();
        self.write(Operation::Update, context, properties, patch, &request.target_config, |state| {
            state.objects.insert(id.clone(), sent.clone());
            ProgressResult::success(Operation::Update, id, sent)
        })
        .await
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        let id = request.native_id;
        self.write(Operation::Delete, context, Json::Null, Json::Null, &request.target_config, |state| {
            state.objects.remove(&id);
            ProgressResult::success(Operation::Delete, id, Json::Null)
        })
        .await
    }

    async fn status(
        &self,
        context: &CallContext,
        request: StatusRequest,
    ) -> Result<ProgressResult, PluginError> {
        self.receive(Operation::CheckStatus, context, Json::Null, Json::Null, &request.target_config);
        let _under_way = UnderWay(self);
        let mut state = self.state();
        let Some((polls, result)) = state.unfinished.get_mut(&request.request_id) else {
            return Ok(ProgressResult::failure(
                Operation::CheckStatus,
                OperationErrorCode::NotFound,
                "no such request",
            ));
        };
        if *polls > 0 {
            *polls -= 1;
            return Ok(ProgressResult::in_progress(Operation::CheckStatus, request.request_id, None));
        }
        Ok(result.clone())
    }

    async fn list(&self, _: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let ids: Vec<NativeId> = self.state().objects.keys().cloned().collect();
        let from: usize = request.page_token.and_then(|token| token.parse().ok()).unwrap_or(0);
        let until = (from + 2).min(ids.len());
        let next_page_token = (until < ids.len()).then(|| until.to_string());
        Ok(ListResult { native_ids: ids[from..until].to_vec(), next_page_token })
    }
}

/// The type of most objects.
pub fn type_name() -> TypeName {
    "T".into()
}
