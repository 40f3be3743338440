//! The author's side of a resource plugin: the trait, its requests and its results (seed 3).
//!
//! The engine treats a plugin in this process, a plugin process and a signed HTTP handler alike:
//! each is a [`ResourcePlugin`].
//!
//! An author's process needs the feature `serve`: its `main` is one call of `run`. Without features the crate is the
//! trait alone.
//!
//! **Architecture invariant:** nothing here knows of stacks or plans. A plugin is told what to do
//! with one object.

mod configuration;
mod context;
mod error;
mod request;
mod result;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "wire")]
pub mod wire;

pub use configuration::{
    FilterCondition, LabelConfig, MatchFilter, PluginType, RateLimitConfig, RateLimitScope,
};
pub use context::CallContext;
pub use error::PluginError;
pub use formwork_model::OperationErrorCode;
pub use request::{
    CreateRequest, DeleteRequest, ListRequest, ReadRequest, StatusRequest, UpdateRequest, ValidateRequest,
};
pub use result::{
    DeleteBlocker, ListResult, Operation, OperationStatus, ProgressResult, PropertyProblem, ReadResult,
};
#[cfg(feature = "serve")]
pub use serve::{About, ServeError, run, serve, serve_as};

use async_trait::async_trait;
use formwork_model::TypeName;

/// What can provision resources. The names, fields and contracts are those of seed 3; what is
/// marked "ours" is an optional addition.
#[async_trait]
pub trait ResourcePlugin: Send + Sync + 'static {
    /// The prefix of the plugin's types, which share one rate limit.
    fn namespace(&self) -> &str;

    /// Ours: the types that it serves, and how the engine may treat each. What a plugin process
    /// announces; whoever registers a plugin of this process knows it without asking.
    fn types(&self) -> Vec<PluginType> {
        Vec::new()
    }

    /// How many calls per second the provider bears.
    fn rate_limit(&self) -> RateLimitConfig {
        RateLimitConfig::default()
    }

    /// Which found resources discovery passes over.
    fn discovery_filters(&self) -> Vec<MatchFilter> {
        Vec::new()
    }

    /// How found resources get their labels.
    fn label_config(&self) -> LabelConfig {
        LabelConfig::default()
    }

    /// Makes an object.
    ///
    /// # Errors
    /// [`PluginError`] for the unexpected only; a refusal is a [`ProgressResult`] with
    /// [`OperationStatus::Failure`].
    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError>;

    /// Reads an object. "Not found" is an error code in the result.
    ///
    /// # Errors
    /// [`PluginError`] for the unexpected only.
    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError>;

    /// Changes an object in place.
    ///
    /// # Errors
    /// [`PluginError`] for the unexpected only.
    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError>;

    /// Deletes an object; one that is not there counts as deleted.
    ///
    /// # Errors
    /// [`PluginError`] for the unexpected only.
    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError>;

    /// Asks how a call goes that answered [`OperationStatus::InProgress`]. A plugin whose calls are
    /// all over when they answer never gave anybody an id to ask with, and need not write this.
    ///
    /// # Errors
    /// [`PluginError`] for the unexpected only.
    async fn status(
        &self,
        context: &CallContext,
        request: StatusRequest,
    ) -> Result<ProgressResult, PluginError> {
        let _ = context;
        let message = format!("No call goes on under the id `{}`", request.request_id);
        Ok(ProgressResult::failure(Operation::CheckStatus, OperationErrorCode::NotFound, message))
    }

    /// Lists the native ids of a type, a page at a time; nothing, where the capabilities of the types
    /// say that they can't be listed.
    ///
    /// # Errors
    /// [`PluginError`] for the unexpected only.
    async fn list(&self, context: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let _ = (context, request);
        Ok(ListResult::default())
    }

    /// Ours: why deleting these objects would be refused, asked before a teardown begins, if the
    /// capabilities of one of their types say `delete_blockers`. What blocks one of them counts only
    /// if it is not one of them itself. Types of other plugins are passed over.
    ///
    /// # Errors
    /// [`PluginError`] for the unexpected only.
    async fn delete_blockers(
        &self,
        context: &CallContext,
        objects: &[(TypeName, formwork_model::NativeId)],
    ) -> Result<Vec<DeleteBlocker>, PluginError> {
        let _ = (context, objects);
        Ok(Vec::new())
    }

    /// Ours: what is wrong with declared properties that the type's rules cannot say, asked before a
    /// plan is made. Only called for types whose capabilities say `validate`.
    ///
    /// # Errors
    /// [`PluginError`] if the question could not be answered.
    async fn validate(&self, request: ValidateRequest) -> Result<Vec<PropertyProblem>, PluginError> {
        let _ = request;
        Ok(Vec::new())
    }
}
