//! The plugin: calls for the clouds that targets name.

use crate::cloud::{Cloud, CloudError, now};
use crate::kinds::{NAMESPACE, kinds};
use crate::line::{Caller, Event, Write};
use crate::script::{Pause, Rule, Script};
use crate::state::State;
use async_trait::async_trait;
use formwork_model::{Json, NativeId, OperationErrorCode, Secret, Timestamp, TypeName};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, Operation, PluginError, PluginType,
    ProgressResult, ReadRequest, ReadResult, ResourcePlugin, StatusRequest, UpdateRequest,
};
use std::collections::BTreeMap;
use std::future::pending;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How the process ends when it is told to crash.
const CRASHED: i32 = 70;

/// A [`ResourcePlugin`] for the clouds of any number of directories.
#[derive(Debug, Default)]
pub struct FakeCloudProcess {
    clouds: Mutex<BTreeMap<String, Arc<Mutex<Cloud>>>>,
}

/// One call.
struct Call<'a> {
    cloud: Arc<Mutex<Cloud>>,
    operation: Option<Operation>,
    type_name: &'a TypeName,
    native_id: Option<NativeId>,
    caller: Caller,
    deadline: Timestamp,
    number: u64,
    rule: Rule,
    script: Script,
}

/// What a call does to what there is, and what it answers.
type Done<T> = (Vec<Event>, T);

impl FakeCloudProcess {
    /// Notes a call, and lets happen to it what happens before its effect; `None` if its target shows no token.
    async fn receive<'a>(
        &self,
        context: &CallContext,
        operation: Option<Operation>,
        type_name: &'a TypeName,
        native_id: Option<NativeId>,
        target: &Secret<Json>,
    ) -> Result<Option<Call<'a>>, PluginError> {
        let config = target.expose();
        let member = |name: &str| config[name].as_str().filter(|text| !text.is_empty());
        let (Some(directory), Some(_)) = (member("Directory"), member("Token")) else { return Ok(None) };
        let mut call = Call {
            cloud: self.cloud(directory).map_err(failed)?,
            operation,
            type_name,
            native_id,
            caller: caller(context),
            deadline: context.deadline,
            number: 0,
            rule: Rule::default(),
            script: Script::default(),
        };
        call.note().map_err(failed)?;
        pause(call.rule.before).await;
        Ok(Some(call))
    }

    fn cloud(&self, directory: &str) -> Result<Arc<Mutex<Cloud>>, CloudError> {
        let mut clouds = self.clouds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cloud) = clouds.get(directory) {
            return Ok(Arc::clone(cloud));
        }
        let cloud = Arc::new(Mutex::new(Cloud::open(Path::new(directory))?));
        clouds.insert(directory.to_owned(), Arc::clone(&cloud));
        Ok(cloud)
    }

    async fn write(
        &self,
        context: &CallContext,
        type_name: &TypeName,
        write: Write,
        target: &Secret<Json>,
    ) -> Result<ProgressResult, PluginError> {
        let operation = write.operation();
        let native_id = write.native_id().cloned();
        let Some(call) = self.receive(context, Some(operation), type_name, native_id, target).await? else {
            return Ok(ProgressResult::failure(
                operation,
                OperationErrorCode::AccessDenied,
                "there is no token",
            ));
        };
        let late = now() > call.deadline;
        let done = |state: &State, at| {
            if late {
                return (vec![Event::Expired], None);
            }
            let (events, answer) =
                state.write(type_name.as_str(), &write, &call.caller, &call.rule.outcome, at);
            (events, Some(answer))
        };
        match call.answer(done, |answer| answer.as_ref().and_then(|answer| answer.error_code)).await? {
            Some(answer) => Ok(answer),
            // Nobody waits for it any more.
            None => pending().await,
        }
    }
}

impl Call<'_> {
    fn note(&mut self) -> Result<(), CloudError> {
        let (cloud, caller) = (Arc::clone(&self.cloud), &self.caller);
        let mut cloud = cloud.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, rule, script) = cloud.alone(|state, script, events| {
            let (label, type_name) = (caller.label.as_deref(), self.type_name.as_str());
            let counted = script.rule(self.operation, type_name, label, &state.used);
            let number = state.calls + 1;
            let received = Event::Received {
                operation: self.operation,
                type_name: type_name.to_owned(),
                native_id: self.native_id.clone(),
                caller: caller.clone(),
                rule: counted.map(|(rule, _)| rule.id.clone()),
            };
            events.push((number, received));
            let rule = counted.filter(|(_, goes_so)| *goes_so).map(|(rule, _)| rule.clone());
            Ok((number, rule.unwrap_or_default(), script.clone()))
        })?;
        (self.number, self.rule, self.script) = (number, rule, script);
        Ok(())
    }

    /// The moment of which reads see what there was.
    fn seen(&self, at: Timestamp) -> Timestamp {
        let lag = self.script.lag.get(self.type_name.as_str()).copied().unwrap_or(0);
        Timestamp(at.0.saturating_sub(i64::try_from(lag).unwrap_or(i64::MAX)))
    }

    /// Lets the effect happen, then what happens after it, then answers.
    async fn answer<T>(
        &self,
        work: impl FnOnce(&State, Timestamp) -> Done<T>,
        code: impl FnOnce(&T) -> Option<OperationErrorCode>,
    ) -> Result<T, PluginError> {
        let number = self.number;
        let answer = self.with(|state, events| {
            let (happened, answer) = work(state, now());
            events.extend(happened.into_iter().map(|event| (number, event)));
            answer
        });
        let answer = answer.map_err(failed)?;
        pause(self.rule.after).await;
        let answered = Event::Answered { code: code(&answer) };
        self.with(|_, events| events.push((number, answered))).map_err(failed)?;
        Ok(answer)
    }

    fn with<T>(&self, work: impl FnOnce(&State, &mut Vec<(u64, Event)>) -> T) -> Result<T, CloudError> {
        let mut cloud = self.cloud.lock().unwrap_or_else(PoisonError::into_inner);
        cloud.alone(|state, _, events| Ok(work(state, events)))
    }
}

async fn pause(pause: Pause) {
    match pause {
        Pause::None => {}
        Pause::For(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
        Pause::Hang => pending().await,
        Pause::Crash => std::process::exit(CRASHED),
    }
}

fn caller(context: &CallContext) -> Caller {
    Caller {
        row: context.row.as_ref().map(ToString::to_string),
        label: context.label.as_ref().map(ToString::to_string),
        token: context.token.map(|token| token.to_string()),
        operation: context.operation.as_ref().map(ToString::to_string),
        attempt: context.attempt,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is how errors are mapped")]
fn failed(error: CloudError) -> PluginError {
    PluginError::Lost { namespace: NAMESPACE.to_owned(), reason: error.to_string() }
}

fn members(properties: Json) -> serde_json::Map<String, Json> {
    match properties {
        Json::Object(members) => members,
        _ => serde_json::Map::new(),
    }
}

#[async_trait]
impl ResourcePlugin for FakeCloudProcess {
    fn namespace(&self) -> &str {
        NAMESPACE
    }

    fn types(&self) -> Vec<PluginType> {
        let types = kinds().into_iter();
        types.map(|kind| PluginType { name: kind.name.into(), capabilities: kind.capabilities() }).collect()
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let write = Write::Create { sent: members(request.properties.into_exposed()) };
        self.write(context, &request.resource_type, write, &request.target_config).await
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let ReadRequest { resource_type, native_id, target_config, .. } = request;
        let operation = Some(Operation::Read);
        let received =
            self.receive(context, operation, &resource_type, Some(native_id.clone()), &target_config).await?;
        let Some(call) = received else {
            let error_code = Some(OperationErrorCode::AccessDenied);
            return Ok(ReadResult { error_code, ..ReadResult::absent(resource_type.clone(), native_id) });
        };
        let found = |state: &State, at| {
            (Vec::new(), state.read(&resource_type, &native_id, call.seen(at), &call.rule.outcome))
        };
        call.answer(found, |answer| answer.error_code).await
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let sent = members(request.desired_properties.into_exposed());
        let write = Write::Update { native_id: request.native_id, sent };
        self.write(context, &request.resource_type, write, &request.target_config).await
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        let write = Write::Delete { native_id: request.native_id };
        self.write(context, &request.resource_type, write, &request.target_config).await
    }

    async fn status(
        &self,
        context: &CallContext,
        request: StatusRequest,
    ) -> Result<ProgressResult, PluginError> {
        let StatusRequest { resource_type, request_id, native_id, target_config } = request;
        let operation = Operation::CheckStatus;
        let received =
            self.receive(context, Some(operation), &resource_type, native_id, &target_config).await?;
        let Some(call) = received else {
            return Ok(ProgressResult::failure(
                operation,
                OperationErrorCode::AccessDenied,
                "there is no token",
            ));
        };
        let found = |state: &State, _| (Vec::new(), state.status(&request_id, &call.rule.outcome));
        call.answer(found, |answer| answer.error_code).await
    }

    async fn list(&self, context: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let ListRequest { resource_type, target_config, page_token, page_size, .. } = request;
        let Some(call) = self.receive(context, None, &resource_type, None, &target_config).await? else {
            return Ok(ListResult::default());
        };
        let found = |state: &State, at| {
            let seen = call.seen(at);
            (Vec::new(), state.list(resource_type.as_str(), seen, page_token.as_deref(), page_size))
        };
        call.answer(found, |_| None).await
    }
}
