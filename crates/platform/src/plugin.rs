//! The platform as a plugin.

use crate::Platform;
use async_trait::async_trait;
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, PluginError, ProgressResult,
    ReadRequest, ReadResult, ResourcePlugin, StatusRequest, UpdateRequest,
};

#[async_trait]
impl ResourcePlugin for Platform {
    fn namespace(&self) -> &'static str {
        "platform"
    }

    async fn create(&self, _: &CallContext, _: CreateRequest) -> Result<ProgressResult, PluginError> {
        unimplemented!()
    }

    async fn read(&self, _: &CallContext, _: ReadRequest) -> Result<ReadResult, PluginError> {
        unimplemented!()
    }

    async fn update(&self, _: &CallContext, _: UpdateRequest) -> Result<ProgressResult, PluginError> {
        unimplemented!()
    }

    async fn delete(&self, _: &CallContext, _: DeleteRequest) -> Result<ProgressResult, PluginError> {
        unimplemented!()
    }

    async fn status(&self, _: &CallContext, _: StatusRequest) -> Result<ProgressResult, PluginError> {
        unimplemented!()
    }

    async fn list(&self, _: &CallContext, _: ListRequest) -> Result<ListResult, PluginError> {
        unimplemented!()
    }
}
