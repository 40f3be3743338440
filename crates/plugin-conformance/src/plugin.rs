//! The fake cloud's plugin: a client of its socket.

use crate::cloud::wire::{Ask, Reply, What};
use async_trait::async_trait;
use formwork_model::{Json, TypeName};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, PluginError, PluginType,
    ProgressResult, ReadRequest, ReadResult, ResourcePlugin, StatusRequest, UpdateRequest,
};
use std::path::PathBuf;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

/// A [`ResourcePlugin`] in front of a [`FakeCloud`](crate::FakeCloud), in this process or another.
#[derive(Clone, Debug)]
pub struct FakeCloudPlugin {
    namespace: String,
    socket: PathBuf,
    types: Vec<PluginType>,
}

impl FakeCloudPlugin {
    /// A plugin for the cloud behind this socket, whose types begin with `namespace`.
    pub fn new(namespace: impl Into<String>, socket: impl Into<PathBuf>) -> Self {
        Self { namespace: namespace.into(), socket: socket.into(), types: Vec::new() }
    }

    /// Says that it serves these types, as most are.
    #[must_use]
    pub fn serving(mut self, types: &[&str]) -> Self {
        self.types.extend(types.iter().map(|name| PluginType::new(*name)));
        self
    }

    /// Says how long a call to it may take, in milliseconds.
    #[must_use]
    pub fn within(mut self, millis: u64) -> Self {
        for served in &mut self.types {
            served.capabilities.timeout_millis = millis;
        }
        self
    }

    async fn ask(
        &self,
        context: &CallContext,
        type_name: TypeName,
        what: What,
    ) -> Result<Reply, PluginError> {
        let ask = Ask {
            type_name,
            token: context.token,
            attempt: context.attempt,
            deadline: context.deadline,
            row: context.row.as_ref().map(ToString::to_string),
            label: context.label.as_ref().map(ToString::to_string),
            what,
        };
        let line = self.exchange(&ask).await.map_err(|error| self.lost(error.to_string()))?;
        if line.is_empty() {
            return Err(self.lost("the connection ended without an answer".to_owned()));
        }
        serde_json::from_str(&line).map_err(|error| self.nonsense(error.to_string()))
    }

    async fn exchange(&self, ask: &Ask) -> std::io::Result<String> {
        let mut connection = UnixStream::connect(&self.socket).await?;
        let mut line = serde_json::to_vec(ask)?;
        line.push(b'\n');
        connection.write_all(&line).await?;
        let mut answer = String::new();
        BufReader::new(connection).read_line(&mut answer).await?;
        Ok(answer)
    }

    async fn progress(
        &self,
        context: &CallContext,
        type_name: TypeName,
        what: What,
    ) -> Result<ProgressResult, PluginError> {
        match self.ask(context, type_name, what).await? {
            Reply::Progress(result) => Ok(result),
            other => Err(self.unexpected(&other)),
        }
    }

    fn lost(&self, reason: String) -> PluginError {
        PluginError::Lost { namespace: self.namespace.clone(), reason }
    }

    fn nonsense(&self, reason: String) -> PluginError {
        PluginError::Nonsense { namespace: self.namespace.clone(), reason }
    }

    fn unexpected(&self, reply: &Reply) -> PluginError {
        let kind = match reply {
            Reply::Progress(_) => "progress",
            Reply::Read(_) => "a read",
            Reply::List(_) => "a list",
        };
        self.nonsense(format!("the answer is of the wrong kind: {kind}"))
    }
}

#[async_trait]
impl ResourcePlugin for FakeCloudPlugin {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn types(&self) -> Vec<PluginType> {
        self.types.clone()
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let what = What::Create { properties: request.properties.into_exposed() };
        self.progress(context, request.resource_type, what).await
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let what = What::Read { native_id: request.native_id };
        match self.ask(context, request.resource_type, what).await? {
            Reply::Read(result) => Ok(result),
            other => Err(self.unexpected(&other)),
        }
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let what = What::Update {
            native_id: request.native_id,
            desired: request.desired_properties.into_exposed(),
            kept: request.kept_paths.iter().map(ToString::to_string).collect(),
        };
        self.progress(context, request.resource_type, what).await
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        let what = What::Delete { native_id: request.native_id };
        self.progress(context, request.resource_type, what).await
    }

    async fn status(
        &self,
        context: &CallContext,
        request: StatusRequest,
    ) -> Result<ProgressResult, PluginError> {
        let what = What::Status { request_id: request.request_id };
        self.progress(context, request.resource_type, what).await
    }

    async fn list(&self, context: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let what = What::List { page_token: request.page_token, page_size: request.page_size };
        match self.ask(context, request.resource_type, what).await? {
            Reply::List(result) => Ok(result),
            other => Err(self.unexpected(&other)),
        }
    }
}

/// An empty target configuration: the fake cloud needs none.
impl FakeCloudPlugin {
    /// What to pass as target configuration.
    pub fn target_config() -> Json {
        Json::Object(serde_json::Map::new())
    }
}
