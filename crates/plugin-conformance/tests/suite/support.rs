//! A fake cloud in a directory of its own, and calls to it.

use formwork_model::{ClientToken, Json, NativeId, Secret, Timestamp};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, PluginError, ProgressResult, ReadRequest, ReadResult,
    ResourcePlugin, StatusRequest, UpdateRequest,
};
use formwork_plugin_conformance::{FakeCloud, FakeCloudPlugin};
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) cloud: FakeCloud,
    pub(crate) plugin: FakeCloudPlugin,
    _directory: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let cloud = FakeCloud::start(directory.path().join("cloud.sock")).expect("a socket");
        let plugin = FakeCloudPlugin::new("Fake", cloud.socket());
        Self { cloud, plugin, _directory: directory }
    }

    pub(crate) async fn create(&self, kind: &str, properties: Json) -> Result<ProgressResult, PluginError> {
        self.create_with(kind, properties, &context(None)).await
    }

    pub(crate) async fn create_with(
        &self,
        kind: &str,
        properties: Json,
        context: &CallContext,
    ) -> Result<ProgressResult, PluginError> {
        let request = CreateRequest {
            resource_type: kind.into(),
            properties: Secret::new(properties),
            target_config: none(),
            secret_paths: Vec::new(),
        };
        self.plugin.create(context, request).await
    }

    pub(crate) async fn read(&self, kind: &str, id: &NativeId) -> ReadResult {
        let request = ReadRequest {
            resource_type: kind.into(),
            native_id: id.clone(),
            target_config: none(),
            redact_sensitive: false,
            prior_properties: None,
        };
        self.plugin.read(&context(None), request).await.expect("a read")
    }

    pub(crate) async fn update(&self, kind: &str, id: &NativeId, desired: Json) -> ProgressResult {
        let request = UpdateRequest {
            resource_type: kind.into(),
            native_id: id.clone(),
            prior_properties: Json::Null,
            desired_properties: Secret::new(desired),
            patch_document: Secret::new(Json::Null),
            target_config: none(),
            secret_paths: Vec::new(),
            kept_paths: Vec::new(),
        };
        self.plugin.update(&context(None), request).await.expect("an update")
    }

    pub(crate) async fn delete(&self, kind: &str, id: &NativeId) -> ProgressResult {
        let request =
            DeleteRequest { resource_type: kind.into(), native_id: id.clone(), target_config: none() };
        self.plugin.delete(&context(None), request).await.expect("a delete")
    }

    pub(crate) async fn status(&self, kind: &str, request_id: &str) -> ProgressResult {
        let request = StatusRequest {
            resource_type: kind.into(),
            request_id: request_id.to_owned(),
            native_id: None,
            target_config: none(),
        };
        self.plugin.status(&context(None), request).await.expect("a status")
    }
}

pub(crate) fn context(token: Option<u8>) -> CallContext {
    let mut context = CallContext::observing("p".into(), "me".into(), Timestamp(i64::MAX));
    context.token = token.map(|byte| ClientToken([byte; 32]));
    context
}

fn none() -> Secret<Json> {
    Secret::new(FakeCloudPlugin::target_config())
}
