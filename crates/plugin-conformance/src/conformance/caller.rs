//! Calls as the engine makes them: with a context, a deadline, and polls until they are over.

use super::Case;
use formwork_model::{ClientToken, Json, NativeId, Secret, Timestamp, TypeName};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, OperationStatus, PluginError,
    ProgressResult, ReadRequest, ReadResult, ResourcePlugin, StatusRequest, UpdateRequest,
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How a call ended.
pub(super) struct Ended {
    /// Its last answer.
    pub(super) result: ProgressResult,
    /// What was wrong with its progress; `None` if it had none or all was well.
    pub(super) progress: Option<Result<(), String>>,
}

pub(super) struct Caller<'a> {
    plugin: &'a dyn ResourcePlugin,
    case: &'a Case,
}

impl<'a> Caller<'a> {
    pub(super) fn new(plugin: &'a dyn ResourcePlugin, case: &'a Case) -> Self {
        Self { plugin, case }
    }

    fn context(&self, token: Option<ClientToken>) -> CallContext {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let deadline = now.saturating_add(self.case.patience);
        let deadline = Timestamp(i64::try_from(deadline.as_millis()).unwrap_or(i64::MAX));
        let mut context = CallContext::observing("conformance".into(), "conformance".into(), deadline);
        context.token = token;
        context
    }

    fn target(&self) -> Secret<Json> {
        Secret::new(self.case.target_config.clone())
    }

    pub(super) async fn create(
        &self,
        properties: &Json,
        token: Option<ClientToken>,
    ) -> Result<Ended, String> {
        self.create_at(&self.case.type_name, properties, &self.case.target_config, token).await
    }

    pub(super) async fn create_at(
        &self,
        type_name: &TypeName,
        properties: &Json,
        target_config: &Json,
        token: Option<ClientToken>,
    ) -> Result<Ended, String> {
        let request = CreateRequest {
            resource_type: type_name.clone(),
            properties: Secret::new(properties.clone()),
            target_config: Secret::new(target_config.clone()),
            secret_paths: Vec::new(),
        };
        let context = self.context(token);
        let first = self.in_time(self.plugin.create(&context, request)).await?;
        self.to_the_end(first).await
    }

    pub(super) async fn update(
        &self,
        native_id: &NativeId,
        prior: &Json,
        desired: &Json,
    ) -> Result<Ended, String> {
        let request = UpdateRequest {
            resource_type: self.case.type_name.clone(),
            native_id: native_id.clone(),
            prior_properties: prior.clone(),
            desired_properties: Secret::new(desired.clone()),
            patch_document: Secret::new(patch(prior, desired)),
            target_config: self.target(),
            secret_paths: Vec::new(),
            kept_paths: Vec::new(),
        };
        let context = self.context(None);
        let first = self.in_time(self.plugin.update(&context, request)).await?;
        self.to_the_end(first).await
    }

    pub(super) async fn delete(&self, native_id: &NativeId) -> Result<Ended, String> {
        let request = DeleteRequest {
            resource_type: self.case.type_name.clone(),
            native_id: native_id.clone(),
            target_config: self.target(),
        };
        let context = self.context(None);
        let first = self.in_time(self.plugin.delete(&context, request)).await?;
        self.to_the_end(first).await
    }

    pub(super) async fn read(&self, native_id: &NativeId) -> Result<ReadResult, String> {
        self.read_as(&self.case.type_name, native_id).await
    }

    pub(super) async fn read_as(
        &self,
        type_name: &TypeName,
        native_id: &NativeId,
    ) -> Result<ReadResult, String> {
        let request = ReadRequest {
            resource_type: type_name.clone(),
            native_id: native_id.clone(),
            target_config: self.target(),
            redact_sensitive: false,
            prior_properties: None,
        };
        self.in_time(self.plugin.read(&self.context(None), request)).await
    }

    pub(super) async fn list(
        &self,
        page_token: Option<String>,
        page_size: u32,
    ) -> Result<ListResult, String> {
        let request = ListRequest {
            resource_type: self.case.type_name.clone(),
            target_config: self.target(),
            page_token,
            page_size,
            list_parameters: self.case.list_parameters.clone(),
        };
        self.in_time(self.plugin.list(&self.context(None), request)).await
    }

    /// Begins an update and gives it up at once.
    pub(super) async fn give_up_an_update(&self, native_id: &NativeId, prior: &Json, desired: &Json) {
        let update = self.update(native_id, prior, desired);
        let _ = tokio::time::timeout(Duration::from_micros(200), update).await;
    }

    async fn in_time<T>(&self, call: impl Future<Output = Result<T, PluginError>>) -> Result<T, String> {
        match tokio::time::timeout(self.case.patience, call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(format!("it failed outside the protocol: {error}")),
            Err(_) => Err(format!("it did not answer within {:?}", self.case.patience)),
        }
    }

    /// Polls a call until it is over.
    async fn to_the_end(&self, first: ProgressResult) -> Result<Ended, String> {
        let mut result = first;
        let mut progress = None;
        let mut waited = Duration::ZERO;
        while matches!(result.operation_status, OperationStatus::InProgress | OperationStatus::Pending) {
            let Some(request_id) = result.request_id.clone().filter(|id| !id.is_empty()) else {
                progress = Some(Err("it goes on without a request id".to_owned()));
                break;
            };
            if waited >= self.case.patience {
                progress = Some(Err(format!("it still goes on after {waited:?}")));
                break;
            }
            tokio::time::sleep(self.case.poll_every).await;
            waited = waited.saturating_add(self.case.poll_every.max(Duration::from_millis(1)));
            let request = StatusRequest {
                resource_type: self.case.type_name.clone(),
                request_id,
                native_id: result.native_id.clone(),
                target_config: self.target(),
            };
            result = self.in_time(self.plugin.status(&self.context(None), request)).await?;
            progress = Some(Ok(()));
        }
        Ok(Ended { result, progress })
    }
}

/// The change between two flat objects, as RFC 6902.
fn patch(prior: &Json, desired: &Json) -> Json {
    let (Some(before), Some(after)) = (prior.as_object(), desired.as_object()) else {
        return Json::Array(Vec::new());
    };
    let pointer = |name: &str| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    let removed = before
        .keys()
        .filter(|name| !after.contains_key(*name))
        .map(|name| serde_json::json!({ "op": "remove", "path": pointer(name) }));
    let set = after.iter().filter(|(name, value)| before.get(*name) != Some(*value)).map(|(name, value)| {
        let op = if before.contains_key(name) { "replace" } else { "add" };
        serde_json::json!({ "op": op, "path": pointer(name), "value": value })
    });
    removed.chain(set).collect()
}
