//! A root in a directory of its own, and calls to the plugin.

use formwork_model::{ClientToken, Json, NativeId, Secret, Timestamp};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, OperationErrorCode, OperationStatus,
    PluginError, ProgressResult, ReadRequest, ReadResult, ResourcePlugin as _, UpdateRequest,
};
use formwork_plugin_local::LocalPlugin;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) const DIRECTORY: &str = "LOCAL::FS::Directory";
pub(crate) const FILE: &str = "LOCAL::FS::File";
pub(crate) const SYMLINK: &str = "LOCAL::FS::Symlink";
pub(crate) const ID: &str = "LOCAL::Random::Id";
pub(crate) const PASSWORD: &str = "LOCAL::Random::Password";
pub(crate) const KEY: &str = "LOCAL::TLS::PrivateKey";
pub(crate) const CERTIFICATE: &str = "LOCAL::TLS::SelfSignedCert";

pub(crate) struct Site {
    pub(crate) plugin: LocalPlugin,
    root: PathBuf,
    _directory: Option<TempDir>,
}

impl Site {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { root: directory.path().to_owned(), _directory: Some(directory), ..Self::at(Path::new("/")) }
    }

    /// A root for another plugin.
    pub(crate) fn of(plugin: LocalPlugin) -> Self {
        Self { plugin, ..Self::new() }
    }

    /// A root that is somebody else's.
    pub(crate) fn at(root: &Path) -> Self {
        Self { plugin: LocalPlugin::new(), root: root.to_owned(), _directory: None }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn config(&self) -> Json {
        json!({ "Type": "LOCAL", "Root": self.root.to_str().unwrap() })
    }

    fn target(&self) -> Secret<Json> {
        Secret::new(self.config())
    }

    pub(crate) async fn create(&self, type_name: &str, properties: Json) -> ProgressResult {
        self.create_under(None, type_name, properties).await
    }

    pub(crate) async fn create_under(
        &self,
        token: Option<u8>,
        type_name: &str,
        properties: Json,
    ) -> ProgressResult {
        let request = CreateRequest {
            resource_type: type_name.into(),
            properties: Secret::new(properties),
            target_config: self.target(),
            secret_paths: Vec::new(),
        };
        self.plugin.create(&context(token), request).await.unwrap()
    }

    /// Creates what must succeed; answers its id and properties.
    pub(crate) async fn made(&self, type_name: &str, properties: Json) -> (NativeId, Json) {
        succeeded(self.create(type_name, properties).await)
    }

    pub(crate) async fn update(&self, type_name: &str, id: &NativeId, desired: Json) -> ProgressResult {
        let request = UpdateRequest {
            resource_type: type_name.into(),
            native_id: id.clone(),
            prior_properties: Json::Null,
            desired_properties: Secret::new(desired),
            patch_document: Secret::new(Json::Null),
            target_config: self.target(),
            secret_paths: Vec::new(),
            kept_paths: Vec::new(),
        };
        self.plugin.update(&context(None), request).await.unwrap()
    }

    pub(crate) async fn delete(&self, type_name: &str, id: &str) -> ProgressResult {
        let request = DeleteRequest {
            resource_type: type_name.into(),
            native_id: id.into(),
            target_config: self.target(),
        };
        self.plugin.delete(&context(None), request).await.unwrap()
    }

    pub(crate) async fn read(&self, type_name: &str, id: &str) -> ReadResult {
        self.read_as(type_name, id, true, None).await
    }

    pub(crate) async fn read_as(
        &self,
        type_name: &str,
        id: &str,
        redact: bool,
        prior: Option<Json>,
    ) -> ReadResult {
        let request = ReadRequest {
            resource_type: type_name.into(),
            native_id: id.into(),
            target_config: self.target(),
            redact_sensitive: redact,
            prior_properties: prior,
        };
        self.plugin.read(&context(None), request).await.unwrap()
    }

    pub(crate) async fn list(
        &self,
        type_name: &str,
        after: Option<&str>,
        page_size: u32,
        parameters: &[(&str, Json)],
    ) -> Result<ListResult, PluginError> {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let request = ListRequest {
            resource_type: type_name.into(),
            target_config: self.target(),
            page_token: after.map(str::to_owned),
            page_size,
            list_parameters: parameters.collect::<BTreeMap<_, _>>(),
        };
        self.plugin.list(&context(None), request).await
    }

    /// All ids of a type.
    pub(crate) async fn ids(&self, type_name: &str, parameters: &[(&str, Json)]) -> Vec<String> {
        let (mut ids, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.list(type_name, after.as_deref(), 2, parameters).await.unwrap();
            ids.extend(page.native_ids.iter().map(ToString::to_string));
            after = page.next_page_token;
            if after.is_none() {
                return ids;
            }
        }
    }
}

pub(crate) fn context(token: Option<u8>) -> CallContext {
    let mut context = CallContext::observing("p".into(), "me".into(), Timestamp(i64::MAX));
    context.token = token.map(|byte| ClientToken([byte; 32]));
    context
}

pub(crate) fn succeeded(result: ProgressResult) -> (NativeId, Json) {
    assert_eq!(result.operation_status, OperationStatus::Success, "{:?}", result.status_message);
    (result.native_id.unwrap(), result.resource_properties.unwrap())
}

/// The message of a call that must fail with a code.
pub(crate) fn refused(result: ProgressResult, code: OperationErrorCode) -> String {
    assert_eq!(result.operation_status, OperationStatus::Failure, "it succeeded: {result:?}");
    let message = result.status_message.unwrap();
    assert_eq!(result.error_code, Some(code), "{message}");
    message
}

pub(crate) fn shown(result: ReadResult) -> Json {
    assert_eq!(result.error_code, None);
    result.resource_properties.unwrap()
}
