//! A custom type as a plugin: every call is one signed request.

use crate::custom_type::{CustomType, LONGEST_LOOK};
use crate::failure::{HandlerFailure, Reason};
use crate::known::Known;
use crate::protocol::{self, Body, Found, Made, RequestType};
use crate::shape::Asked;
use crate::signature::{IDEMPOTENCY_HEADER, SIGNATURE_HEADER, signature};
use crate::transport::{Post, Transport};
use crate::violation::in_one_line;
use async_trait::async_trait;
use formwork_model::{Json, NativeId, OperationErrorCode, Path, Secret, Timestamp, WireCode};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, Operation, PluginError, ProgressResult, PropertyProblem,
    ReadRequest, ReadResult, ResourcePlugin, UpdateRequest, ValidateRequest,
};
use formwork_secret::{hex, random_bytes};
use serde_json::Map;
use std::sync::Arc;
use std::time::Duration;

/// What time it is, for signatures.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The plugin of one custom type.
pub(crate) struct HandlerPlugin {
    pub(crate) custom: Arc<CustomType>,
    pub(crate) transport: Transport,
    pub(crate) now: Now,
}

/// One request, before it is signed.
struct Call<'a> {
    request: RequestType,
    logical_id: &'a str,
    project: Option<&'a str>,
    id: Option<&'a NativeId>,
    properties: Option<&'a Json>,
    key: String,
    within: Duration,
}

#[async_trait]
impl ResourcePlugin for HandlerPlugin {
    /// Each type has a handler of its own, and so a rate of its own.
    fn namespace(&self) -> &str {
        self.custom.name.as_str()
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let operation = Operation::Create;
        if let Some(refusal) = self.refusal(operation, &request.properties, &[]) {
            return Ok(refusal);
        }
        let call =
            Call { properties: Some(request.properties.expose()), ..self.call(RequestType::Create, context) };
        let answer = self.ask(call).await;
        let made = answer.and_then(|answer| self.reads_as(RequestType::Create, protocol::made(answer)));
        Ok(match made {
            Ok(made) => {
                let sent = Sent { properties: &request.properties, secrets: &request.secret_paths };
                self.made(context, operation, made, sent).await
            }
            Err(failure) => failure.into_result(operation),
        })
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let found = self.look(context, &request.native_id, self.custom.handler.timeout).await?;
        let ReadRequest { resource_type, native_id, .. } = request;
        Ok(match found {
            Found::Present { properties, outputs } => {
                ReadResult::present(resource_type, native_id, self.seen(properties, outputs))
            }
            Found::Nothing => ReadResult::absent(resource_type, native_id),
        })
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let operation = Operation::Update;
        if let Some(refusal) = self.refusal(operation, &request.desired_properties, &request.kept_paths) {
            return Ok(refusal);
        }
        let call = Call {
            id: Some(&request.native_id),
            properties: Some(request.desired_properties.expose()),
            ..self.call(RequestType::Update, context)
        };
        let answer = self.ask(call).await;
        let made = answer.and_then(|answer| self.reads_as(RequestType::Update, protocol::made(answer)));
        Ok(match made {
            // An id that differs is a replacement, which the engine tells by itself.
            Ok(made) => {
                let sent = Sent { properties: &request.desired_properties, secrets: &request.secret_paths };
                self.made(context, operation, made, sent).await
            }
            Err(failure) => failure.into_result(operation),
        })
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        let call = Call { id: Some(&request.native_id), ..self.call(RequestType::Delete, context) };
        Ok(match self.ask(call).await {
            Ok(_) => ProgressResult::deleted(request.native_id),
            Err(failure) => failure.into_result(Operation::Delete),
        })
    }

    async fn validate(&self, request: ValidateRequest) -> Result<Vec<PropertyProblem>, PluginError> {
        if !self.custom.validates() {
            return Ok(Vec::new());
        }
        let call = Call {
            request: RequestType::Validate,
            logical_id: request.label.as_str(),
            project: None,
            id: None,
            properties: Some(request.properties.expose()),
            key: own_key(),
            within: self.custom.handler.timeout,
        };
        let answer = self.ask(call).await?;
        let problems = self.reads_as(RequestType::Validate, protocol::problems(&answer))?;
        let problem = |(path, message)| PropertyProblem { path, message };
        Ok(problems.into_iter().map(problem).collect())
    }
}

/// What a create or an update sent.
struct Sent<'a> {
    properties: &'a Secret<Json>,
    secrets: &'a [Path],
}

impl HandlerPlugin {
    /// A request of an operation on a resource, without what only some requests have.
    fn call<'a>(&self, request: RequestType, context: &'a CallContext) -> Call<'a> {
        Call {
            request,
            logical_id: context.label.as_ref().map_or("", |label| label.as_str()),
            project: Some(context.project.as_str()),
            id: None,
            properties: None,
            key: context.token.map_or_else(own_key, |token| token.to_string()),
            within: self.custom.handler.timeout,
        }
    }

    /// Makes a request and takes the object out of its answer.
    async fn ask(&self, call: Call<'_>) -> Result<Map<String, Json>, HandlerFailure> {
        let custom = &self.custom;
        let body = Body {
            request_type: call.request,
            resource_type: custom.name.as_str(),
            logical_id: call.logical_id,
            project_id: call.project,
            physical_resource_id: call.id.map(NativeId::as_str),
            properties: call.properties,
        };
        let body = body.bytes();
        let signed = signature(&custom.handler.secret, (self.now)().0.div_euclid(1000), &body);
        let post = Post {
            endpoint: &custom.handler.endpoint,
            headers: vec![(SIGNATURE_HEADER, signed), (IDEMPOTENCY_HEADER, call.key)],
            body,
            timeout: call.within,
        };
        let reply = self.transport.post(post).await;
        let reply = reply.map_err(|failure| Reason::no_reply(failure, call.within));
        self.reads_as(call.request, reply.and_then(|reply| protocol::accepted(&reply)))
    }

    fn reads_as<T>(&self, request: RequestType, read: Result<T, Reason>) -> Result<T, HandlerFailure> {
        let type_name = self.custom.name.clone();
        read.map_err(|reason| HandlerFailure { type_name, request, reason })
    }

    /// The refusal of properties that are not as the schema says, now that all are known. Nothing
    /// is sent then.
    fn refusal(
        &self,
        operation: Operation,
        properties: &Secret<Json>,
        kept: &[Path],
    ) -> Option<ProgressResult> {
        let known = Known::but_for(properties, kept);
        let violations = self.custom.shape.violations(&known, Asked::Everything);
        if violations.is_empty() {
            return None;
        }
        let code = OperationErrorCode::InvalidRequest;
        Some(ProgressResult {
            failure_code: Some(WireCode::ValidationFailed.as_str().to_owned()),
            ..ProgressResult::failure(operation, code, in_one_line(&violations))
        })
    }

    async fn look(
        &self,
        context: &CallContext,
        id: &NativeId,
        within: Duration,
    ) -> Result<Found, HandlerFailure> {
        let call = Call {
            id: Some(id),
            // A look is never the look before: an answer that was remembered would hide drift.
            key: own_key(),
            within,
            ..self.call(RequestType::Read, context)
        };
        let answer = self.ask(call).await?;
        self.reads_as(RequestType::Read, protocol::found(answer, id))
    }

    /// The result of a create or an update that succeeded. Where the type can be read, what is
    /// there now counts: its spelling is not drift, and its outputs are those that references use.
    async fn made(
        &self,
        context: &CallContext,
        operation: Operation,
        made: Made,
        sent: Sent<'_>,
    ) -> ProgressResult {
        let Made { id, outputs } = made;
        let found = if self.custom.reads() {
            let within = LONGEST_LOOK.min(self.custom.handler.timeout);
            let found = self.look(context, &id, within).await;
            // Its words could repeat a secret that it was just sent, so they are not logged.
            let log = || tracing::info!(resource_type = %self.custom.name, "what was made could not be read");
            found.inspect_err(|_| log()).ok()
        } else {
            None
        };
        let properties = match found {
            Some(Found::Present { properties, outputs }) => Some(self.seen(properties, outputs)),
            _ if outputs.is_empty() => None,
            _ => Some(self.seen(sent.in_the_clear(), outputs)),
        };
        ProgressResult {
            resource_properties: properties,
            ..ProgressResult::success(operation, id, Json::Null)
        }
    }

    /// Properties as the engine keeps them: without those that are never read back, which a
    /// handler should not answer with, and with the outputs beside them. A property keeps its name
    /// where an output has it too.
    fn seen(&self, mut properties: Map<String, Json>, outputs: Map<String, Json>) -> Json {
        for name in self.custom.write_only() {
            properties.shift_remove(name);
        }
        for (name, output) in outputs {
            let is_property = self.custom.shape.schema().property(&name).is_some();
            if !is_property {
                properties.insert(name, output);
            }
        }
        Json::Object(properties)
    }
}

impl Sent<'_> {
    /// The members that hold no secret.
    fn in_the_clear(&self) -> Map<String, Json> {
        let members = self.properties.expose().as_object().into_iter().flatten();
        let holds_secret =
            |name: &str| self.secrets.iter().any(|path| path.is_root() || Path::of([name]).contains(path));
        let clear = members.filter(|(name, _)| !holds_secret(name));
        clear.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// The key of a request that is repeated by nobody.
fn own_key() -> String {
    hex(&random_bytes::<32>())
}
