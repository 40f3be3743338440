//! A plugin's process as a plugin: every call is one message to it and one back.
//!
//! Whatever the process does, a call ends within its deadline, in one of four ways besides an answer: *unavailable*,
//! if nothing was sent; *lost*, if the process died; *deadline*, if it did not answer; *nonsense*, if what it sent is
//! no answer. What follows from that is the engine's business.

use crate::launch::{Client, chain};
use crate::process::{Offence, Running};
use crate::supervise::Supervisor;
use async_trait::async_trait;
use formwork_model::{Json, NativeId, OperationErrorCode, Timestamp, TypeName, WireCode};
use formwork_plugin::wire::{Announcement, LARGEST_MESSAGE, TRACEPARENT, pb};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteBlocker, DeleteRequest, LabelConfig, ListRequest, ListResult,
    MatchFilter, Operation, PluginError, PluginType, ProgressResult, PropertyProblem, RateLimitConfig,
    ReadRequest, ReadResult, ResourcePlugin, StatusRequest, UpdateRequest, ValidateRequest,
};
use prost::Message;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tonic::{Code, Request, Response, Status};

/// How long a connection that broke waits for the end of its process, which would be why.
const LAST_BREATH: Duration = Duration::from_millis(500);

/// A plugin whose calls another process answers.
pub(crate) struct Hosted {
    namespace: String,
    supervisor: Arc<Supervisor>,
    /// What its process said of itself, if it ever did.
    announcement: Option<Announcement>,
    /// What the operator says of its rate.
    rate_limit: Option<u32>,
}

impl Hosted {
    pub(crate) fn new(
        namespace: String,
        supervisor: Arc<Supervisor>,
        announcement: Option<Announcement>,
        rate_limit: Option<u32>,
    ) -> Self {
        Self { namespace, supervisor, announcement, rate_limit }
    }

    fn announced<T>(&self, read: impl FnOnce(&Announcement) -> T) -> Option<T> {
        self.announcement.as_ref().map(read)
    }

    /// Makes a call that must be over at its context's deadline.
    async fn call<M, R>(
        &self,
        context: &CallContext,
        message: M,
        send: impl AsyncFnOnce(Client, Request<M>) -> Result<Response<R>, Status>,
    ) -> Result<(R, u64), Unanswered>
    where
        M: Message,
    {
        let within = Duration::from_millis(context.deadline.since(now()));
        self.call_within(within, context.trace.as_deref(), message, send).await
    }

    async fn call_within<M, R>(
        &self,
        within: Duration,
        trace: Option<&str>,
        message: M,
        send: impl AsyncFnOnce(Client, Request<M>) -> Result<Response<R>, Status>,
    ) -> Result<(R, u64), Unanswered>
    where
        M: Message,
    {
        let size = message.encoded_len();
        if size > LARGEST_MESSAGE {
            return Err(Unanswered::TooLarge { size });
        }
        let began = tokio::time::Instant::now();
        let running = match tokio::time::timeout(within, self.supervisor.running()).await {
            Ok(Ok(running)) => running,
            Ok(Err(error)) => return Err(self.unavailable(chain(&error))),
            Err(_) => return Err(self.unavailable("its process did not start in time".to_owned())),
        };
        let left = within.saturating_sub(began.elapsed());
        let mut request = Request::new(message);
        request.set_timeout(left);
        if let Some(trace) = trace.and_then(|trace| trace.parse().ok()) {
            request.metadata_mut().insert(TRACEPARENT, trace);
        }
        let millis = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        match tokio::time::timeout(left, send(running.client(), request)).await {
            Ok(Ok(response)) => Ok((response.into_inner(), millis)),
            Ok(Err(status)) => Err(self.unanswered(&running, &status, millis).await.into()),
            Err(_) => Err(self.deadline(millis).into()),
        }
    }

    /// What a status other than OK means.
    async fn unanswered(&self, running: &Running, status: &Status, millis: u64) -> PluginError {
        if causes(status).any(<dyn std::error::Error>::is::<tonic::TimeoutExpired>) {
            return self.deadline(millis);
        }
        // A status that the process sent has no cause here; one of a connection that broke has.
        if std::error::Error::source(status).is_some() {
            return self.broken(running, status).await;
        }
        match status.code() {
            Code::DeadlineExceeded => self.deadline(millis),
            // What the SDK says when a deadline has passed there before it has here.
            Code::Cancelled if status.message().contains("Timeout") => self.deadline(millis),
            Code::OutOfRange => self.nonsense(format!("the answer has more than {LARGEST_MESSAGE} bytes")),
            Code::Unimplemented => self.nonsense("its process does not know the call".to_owned()),
            code => self.nonsense(format!("the gRPC status {code:?}: {}", chain(status))),
        }
    }

    /// What it means that the connection broke: that the process ended, or that it must.
    async fn broken(&self, running: &Running, status: &Status) -> PluginError {
        if running.condemned().is_none() {
            if let Some(how) = running.warden.ended_within(LAST_BREATH).await {
                return self.lost(running.obituary(how));
            }
            // A process that lives without its connection is of no use to anybody.
            let silent = causes(status)
                .filter_map(|cause| cause.downcast_ref::<hyper::Error>())
                .any(hyper::Error::is_timeout);
            let fault = if silent { Offence::Silence } else { Offence::Garbage(chain(status)) };
            running.condemn(fault).await;
        }
        match running.condemned() {
            Some(Offence::Garbage(how)) => {
                self.nonsense(format!("the connection to its process broke: {how}"))
            }
            _ => self.lost("its process no longer answers".to_owned()),
        }
    }

    fn unavailable(&self, reason: String) -> Unanswered {
        PluginError::Unavailable { namespace: self.named(), reason }.into()
    }

    fn lost(&self, reason: String) -> PluginError {
        PluginError::Lost { namespace: self.named(), reason }
    }

    fn nonsense(&self, reason: String) -> PluginError {
        PluginError::Nonsense { namespace: self.named(), reason }
    }

    fn deadline(&self, millis: u64) -> PluginError {
        PluginError::Deadline { namespace: self.named(), millis }
    }

    /// The plugin as failures name it: several may share a namespace.
    fn named(&self) -> String {
        self.supervisor.name().to_owned()
    }
}

/// Why there is no answer.
enum Unanswered {
    /// The call is larger than a message may be; nothing was sent.
    TooLarge { size: usize },
    /// As it is.
    Failed(PluginError),
}

impl From<PluginError> for Unanswered {
    fn from(error: PluginError) -> Self {
        Self::Failed(error)
    }
}

impl Unanswered {
    fn too_large(size: usize) -> String {
        format!("the call takes {size} bytes, and a message has at most {LARGEST_MESSAGE}")
    }

    /// For a call with an effect: one that was never made is refused, and nobody wonders about it.
    fn into_progress(self, operation: Operation) -> Result<ProgressResult, PluginError> {
        match self {
            Self::Failed(error) => Err(error),
            Self::TooLarge { size } => {
                let code = OperationErrorCode::InvalidRequest;
                Ok(ProgressResult::failure(operation, code, Self::too_large(size)))
            }
        }
    }

    fn into_error(self) -> PluginError {
        match self {
            Self::Failed(error) => error,
            Self::TooLarge { size } => PluginError::Failed {
                code: WireCode::RequestRejected,
                message: Self::too_large(size),
                meta: Json::Null,
            },
        }
    }
}

/// What is behind a status.
fn causes(status: &Status) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(status), |cause| cause.source())
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[async_trait]
impl ResourcePlugin for Hosted {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn types(&self) -> Vec<PluginType> {
        self.announced(|said| said.types.clone()).unwrap_or_default()
    }

    fn rate_limit(&self) -> RateLimitConfig {
        let mut said = self.announced(|said| said.rate_limit.clone()).unwrap_or_default();
        if let Some(limit) = self.rate_limit {
            said.max_requests_per_second_for_namespace = limit;
        }
        said
    }

    fn discovery_filters(&self) -> Vec<MatchFilter> {
        self.announced(|said| said.discovery_filters.clone()).unwrap_or_default()
    }

    fn label_config(&self) -> LabelConfig {
        self.announced(|said| said.label_config.clone()).unwrap_or_default()
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let message = pb::CreateRequest::from((context, request));
        match self.call(context, message, async |mut client, it| client.create(it).await).await {
            Ok((answer, millis)) => answer.into_outcome(&self.named(), millis),
            Err(unanswered) => unanswered.into_progress(Operation::Create),
        }
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let message = pb::ReadRequest::from((context, request));
        let answered = self.call(context, message, async |mut client, it| client.read(it).await).await;
        let (answer, millis) = answered.map_err(Unanswered::into_error)?;
        answer.into_outcome(&self.named(), millis)
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let message = pb::UpdateRequest::from((context, request));
        match self.call(context, message, async |mut client, it| client.update(it).await).await {
            Ok((answer, millis)) => answer.into_outcome(&self.named(), millis),
            Err(unanswered) => unanswered.into_progress(Operation::Update),
        }
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        let message = pb::DeleteRequest::from((context, request));
        match self.call(context, message, async |mut client, it| client.delete(it).await).await {
            Ok((answer, millis)) => answer.into_outcome(&self.named(), millis),
            Err(unanswered) => unanswered.into_progress(Operation::Delete),
        }
    }

    async fn status(
        &self,
        context: &CallContext,
        request: StatusRequest,
    ) -> Result<ProgressResult, PluginError> {
        let message = pb::StatusRequest::from((context, request));
        let answered = self.call(context, message, async |mut client, it| client.status(it).await).await;
        let (answer, millis) = answered.map_err(Unanswered::into_error)?;
        answer.into_outcome(&self.named(), millis)
    }

    async fn list(&self, context: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let message = pb::ListRequest::from((context, request));
        let answered = self.call(context, message, async |mut client, it| client.list(it).await).await;
        let (answer, millis) = answered.map_err(Unanswered::into_error)?;
        answer.into_outcome(&self.named(), millis)
    }

    async fn delete_blockers(
        &self,
        context: &CallContext,
        objects: &[(TypeName, NativeId)],
    ) -> Result<Vec<DeleteBlocker>, PluginError> {
        let message = pb::DeleteBlockersRequest::from((context, objects));
        let answered =
            self.call(context, message, async |mut client, it| client.delete_blockers(it).await).await;
        let (answer, millis) = answered.map_err(Unanswered::into_error)?;
        answer.into_outcome(&self.named(), millis)
    }

    async fn validate(&self, request: ValidateRequest) -> Result<Vec<PropertyProblem>, PluginError> {
        let message = pb::ValidateRequest::from(request);
        let within = self.supervisor.limits().validate;
        let send = async |mut client: Client, it| client.validate(it).await;
        let (answer, millis) =
            self.call_within(within, None, message, send).await.map_err(Unanswered::into_error)?;
        answer.into_outcome(&self.named(), millis)
    }
}
