//! Calls to a plugin beside any formation, to their end.

use formwork_model::{Json, NativeId, OperationErrorCode, Secret, TypeName};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, OperationStatus, ProgressResult, ReadRequest, ReadResult,
    ResourcePlugin, StatusRequest,
};
use formwork_store::{Clock as _, SystemClock};
use std::time::Duration;

/// How long a call may take, all its polls together.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pause between polls.
const POLL: Duration = Duration::from_millis(200);

/// Objects of one type at one target.
pub(crate) struct Calls<'a> {
    pub(crate) plugin: &'a dyn ResourcePlugin,
    pub(crate) type_name: &'a TypeName,
    pub(crate) target_config: Secret<Json>,
}

impl Calls<'_> {
    fn context() -> CallContext {
        let millis = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
        CallContext::observing("bench".into(), "bench".into(), SystemClock.now().plus(millis))
    }

    /// Makes an object; answers its id.
    pub(crate) async fn create(&self, properties: Json) -> Result<NativeId, String> {
        let context = Self::context();
        let request = CreateRequest {
            resource_type: self.type_name.clone(),
            properties: Secret::new(properties),
            target_config: self.target_config.clone(),
            secret_paths: Vec::new(),
        };
        let answer = self.plugin.create(&context, request).await.map_err(|error| error.to_string())?;
        let answer = self.over(&context, answer, None).await?;
        match (answer.error_code, answer.native_id) {
            (None, Some(native_id)) => Ok(native_id),
            (None, None) => Err("its success lacks the native id".to_owned()),
            (Some(code), _) => Err(format!("{code}: {}", answer.status_message.unwrap_or_default())),
        }
    }

    /// Deletes an object, or finds that it is gone.
    pub(crate) async fn delete(&self, native_id: &NativeId) -> Result<(), String> {
        let context = Self::context();
        let request = DeleteRequest {
            resource_type: self.type_name.clone(),
            native_id: native_id.clone(),
            target_config: self.target_config.clone(),
        };
        let answer = self.plugin.delete(&context, request).await.map_err(|error| error.to_string())?;
        let answer = self.over(&context, answer, Some(native_id)).await?;
        match answer.error_code {
            None | Some(OperationErrorCode::NotFound) => Ok(()),
            Some(code) => Err(format!("{code}: {}", answer.status_message.unwrap_or_default())),
        }
    }

    /// Reads an object, secrets left out.
    pub(crate) async fn read(&self, native_id: &NativeId) -> Result<ReadResult, String> {
        let request = ReadRequest {
            resource_type: self.type_name.clone(),
            native_id: native_id.clone(),
            target_config: self.target_config.clone(),
            redact_sensitive: true,
            prior_properties: None,
        };
        self.plugin.read(&Self::context(), request).await.map_err(|error| error.to_string())
    }

    /// Asks how a call goes until it is over.
    async fn over(
        &self,
        context: &CallContext,
        first: ProgressResult,
        native_id: Option<&NativeId>,
    ) -> Result<ProgressResult, String> {
        let mut answer = first;
        while let Some(request_id) = going_on(&answer) {
            if SystemClock.now() >= context.deadline {
                return Err(format!("it does not end within {PATIENCE:?}"));
            }
            tokio::time::sleep(POLL).await;
            let request = StatusRequest {
                resource_type: self.type_name.clone(),
                request_id,
                native_id: native_id.cloned().or_else(|| answer.native_id.clone()),
                target_config: self.target_config.clone(),
            };
            answer = self.plugin.status(context, request).await.map_err(|error| error.to_string())?;
        }
        match answer.operation_status {
            OperationStatus::InProgress | OperationStatus::Pending => {
                Err("it goes on without a request id".to_owned())
            }
            OperationStatus::Success | OperationStatus::Failure => Ok(answer),
        }
    }
}

/// What to ask for the end of a call with, if it goes on.
fn going_on(answer: &ProgressResult) -> Option<String> {
    let goes_on = matches!(answer.operation_status, OperationStatus::InProgress | OperationStatus::Pending);
    answer.request_id.clone().filter(|_| goes_on)
}
