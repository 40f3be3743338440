//! The calls of the protocol, answered by a plugin of this process.

use super::About;
use crate::wire::{Announcement, PROTOCOL, TRACEPARENT, WireError, pb};
use crate::{CallContext, PluginError, ResourcePlugin};
use formwork_model::Secret;
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use tonic::{Request, Response, Status};

/// A plugin as a service.
pub(super) struct Service {
    plugin: Arc<dyn ResourcePlugin>,
    about: About,
    /// Given away once.
    token: Mutex<Option<Secret<String>>>,
}

impl Service {
    pub(super) fn new(plugin: Arc<dyn ResourcePlugin>, about: About, token: Secret<String>) -> Self {
        Self { plugin, about, token: Mutex::new(Some(token)) }
    }

    /// The outcome of a call. A panic in it is its own failure, and nobody else's.
    async fn outcome<T>(&self, call: impl Future<Output = Result<T, PluginError>>) -> Result<T, PluginError> {
        let lost = |_| {
            // Its message went to standard error; it isn't looked at, since it may hold what was sent.
            let reason = "it panicked during the call".to_owned();
            Err(PluginError::Lost { namespace: self.plugin.namespace().to_owned(), reason })
        };
        AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(lost)
    }
}

#[tonic::async_trait]
impl pb::plugin_server::Plugin for Service {
    async fn announce(
        &self,
        request: Request<pb::AnnounceRequest>,
    ) -> Result<Response<pb::Announcement>, Status> {
        let asked = request.into_inner();
        tracing::debug!(host = asked.host_version, theirs = asked.protocol, ours = PROTOCOL, "announcing");
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner).take();
        let token = token.ok_or_else(|| Status::failed_precondition("it was announced already"))?;
        let About { name, version } = self.about;
        let announcement = Announcement::of(&*self.plugin, name, version);
        Ok(Response::new(announcement.into_message(token.into_exposed())))
    }

    async fn create(
        &self,
        request: Request<pb::CreateRequest>,
    ) -> Result<Response<pb::ProgressResponse>, Status> {
        let (context, request) = read(request)?;
        Ok(Response::new(self.outcome(self.plugin.create(&context, request)).await.into()))
    }

    async fn read(&self, request: Request<pb::ReadRequest>) -> Result<Response<pb::ReadResponse>, Status> {
        let (context, request) = read(request)?;
        Ok(Response::new(self.outcome(self.plugin.read(&context, request)).await.into()))
    }

    async fn update(
        &self,
        request: Request<pb::UpdateRequest>,
    ) -> Result<Response<pb::ProgressResponse>, Status> {
        let (context, request) = read(request)?;
        Ok(Response::new(self.outcome(self.plugin.update(&context, request)).await.into()))
    }

    async fn delete(
        &self,
        request: Request<pb::DeleteRequest>,
    ) -> Result<Response<pb::ProgressResponse>, Status> {
        let (context, request) = read(request)?;
        Ok(Response::new(self.outcome(self.plugin.delete(&context, request)).await.into()))
    }

    async fn status(
        &self,
        request: Request<pb::StatusRequest>,
    ) -> Result<Response<pb::ProgressResponse>, Status> {
        let (context, request) = read(request)?;
        Ok(Response::new(self.outcome(self.plugin.status(&context, request)).await.into()))
    }

    async fn list(&self, request: Request<pb::ListRequest>) -> Result<Response<pb::ListResponse>, Status> {
        let (context, request) = read(request)?;
        Ok(Response::new(self.outcome(self.plugin.list(&context, request)).await.into()))
    }

    async fn delete_blockers(
        &self,
        request: Request<pb::DeleteBlockersRequest>,
    ) -> Result<Response<pb::DeleteBlockersResponse>, Status> {
        let (context, objects): (_, Vec<_>) = read(request)?;
        Ok(Response::new(self.outcome(self.plugin.delete_blockers(&context, &objects)).await.into()))
    }

    async fn validate(
        &self,
        request: Request<pb::ValidateRequest>,
    ) -> Result<Response<pb::ValidateResponse>, Status> {
        let request = request.into_inner().try_into().map_err(unreadable)?;
        Ok(Response::new(self.outcome(self.plugin.validate(request)).await.into()))
    }
}

/// A request with who calls; the trace context is in the metadata.
fn read<M, T>(request: Request<M>) -> Result<(CallContext, T), Status>
where
    (CallContext, T): TryFrom<M, Error = WireError>,
{
    let trace = request.metadata().get(TRACEPARENT).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (context, read) = request.into_inner().try_into().map_err(unreadable)?;
    Ok((CallContext { trace, ..context }, read))
}

#[expect(clippy::needless_pass_by_value, reason = "it is how errors are mapped")]
fn unreadable(error: WireError) -> Status {
    Status::invalid_argument(format!("the request makes no sense: {error}"))
}
