//! From what a plugin answers to what an operation understands. Every text passes the censor.

use crate::censor::Censor;
use crate::conceal::{Secrecy, conceal};
use formwork_engine_core::{Answer, ReadAnswer};
use formwork_model::{Failure, INPUT_DEPTH, Json, WireCode, depth};
use formwork_plugin::{OperationErrorCode, OperationStatus, PluginError, ProgressResult, ReadResult};
use serde_json::json;

/// The longest code that a provider may bring of its own, in bytes.
const LONGEST_CODE: usize = 128;

/// What came back from a plugin, if anything came in time.
#[derive(Debug)]
pub(crate) enum Raw<T> {
    /// An answer.
    Answer(Result<T, PluginError>),
    /// Nothing.
    Deadline,
}

/// Why a call was not made.
#[derive(Debug)]
pub(crate) enum Unmade {
    /// It would not be made if it were repeated.
    Refused(Failure),
    /// It may be made later.
    Unsent(Failure),
    /// It was to ask about another call, which may go on.
    Unasked(Failure),
}

impl From<Unmade> for Answer {
    fn from(unmade: Unmade) -> Self {
        match unmade {
            Unmade::Refused(failure) => {
                Self::Failure { code: OperationErrorCode::InvalidRequest, failure, native_id: None }
            }
            Unmade::Unsent(failure) => Self::Lost { failure, unsent: true },
            Unmade::Unasked(failure) => Self::Lost { failure, unsent: false },
        }
    }
}

/// How a call, or a poll, ended.
pub(crate) fn progress(raw: Raw<ProgressResult>, creates: bool, secrecy: &Secrecy<'_>) -> Answer {
    let result = match raw {
        Raw::Deadline | Raw::Answer(Err(PluginError::Deadline { .. })) => return Answer::Deadline,
        Raw::Answer(Err(error)) => return lost(&error, secrecy.censor),
        Raw::Answer(Ok(result)) => result,
    };
    if too_deep(result.resource_properties.as_ref()) {
        return nonsense(&deeper());
    }
    match result.operation_status {
        OperationStatus::Success if creates && result.native_id.is_none() => {
            nonsense("the provider says that it made an object, but not which")
        }
        OperationStatus::Success => Answer::Success {
            native_id: result.native_id,
            properties: result
                .resource_properties
                .map(|properties| conceal(properties, &result.secret_digests, *secrecy)),
        },
        OperationStatus::InProgress | OperationStatus::Pending => match result.request_id {
            Some(request_id) => Answer::InProgress { request_id, native_id: result.native_id },
            None => nonsense("the provider says that it goes on, but not what to ask for"),
        },
        OperationStatus::Failure => refusal(result, secrecy.censor),
    }
}

/// What a read found.
pub(crate) fn read(raw: Raw<ReadResult>, secrecy: &Secrecy<'_>) -> ReadAnswer {
    let result = match raw {
        Raw::Deadline => return read_failed(None, deadline_failure()),
        Raw::Answer(Err(error)) => return read_failed(None, plugin_failure(&error, secrecy.censor)),
        Raw::Answer(Ok(result)) => result,
    };
    match result.error_code {
        Some(OperationErrorCode::NotFound) => ReadAnswer::Gone,
        Some(code) => read_failed(Some(code), code_failure(code)),
        None if too_deep(result.resource_properties.as_ref()) => {
            read_failed(None, nonsense_failure(&deeper()))
        }
        None => match result.resource_properties {
            Some(properties) => {
                ReadAnswer::Present { properties: conceal(properties, &result.secret_digests, *secrecy) }
            }
            None => read_failed(None, nonsense_failure("the provider read an object without properties")),
        },
    }
}

/// Whether properties are nested deeper than what is kept may be.
fn too_deep(properties: Option<&Json>) -> bool {
    properties.is_some_and(|properties| depth(properties) > INPUT_DEPTH)
}

fn deeper() -> String {
    format!("the provider's answer is nested deeper than {INPUT_DEPTH} levels")
}

fn refusal(result: ProgressResult, censor: &Censor) -> Answer {
    let code = result.error_code.unwrap_or(OperationErrorCode::InternalFailure);
    let own_code = result.failure_code.filter(|own| !own.is_empty() && own.len() <= LONGEST_CODE);
    let failure = Failure {
        code: own_code.map_or_else(|| code.as_str().to_owned(), |own| censor.text(&own)),
        message: match result.status_message.filter(|message| !message.trim().is_empty()) {
            Some(message) => censor.text(&message),
            None => code_failure(code).message,
        },
        meta: result.failure_meta.and_then(|meta| censor.facts(&meta)),
    };
    Answer::Failure { code, failure, native_id: result.native_id }
}

fn lost(error: &PluginError, censor: &Censor) -> Answer {
    // A plugin that finds the fence stale did nothing; the next commit finds it stale too.
    let unsent = matches!(error, PluginError::Fenced | PluginError::Unavailable { .. });
    Answer::Lost { failure: plugin_failure(error, censor), unsent }
}

fn nonsense(reason: &str) -> Answer {
    Answer::Lost { failure: nonsense_failure(reason), unsent: false }
}

fn nonsense_failure(reason: &str) -> Failure {
    Failure::new(WireCode::PluginUnavailable, reason)
}

/// A plugin's failure in words.
pub(crate) fn plugin_failure(error: &PluginError, censor: &Censor) -> Failure {
    let failure = Failure::new(WireCode::PluginUnavailable, censor.text(&error.to_string()));
    match error {
        PluginError::Failed { code, meta, .. } => {
            Failure { code: code.as_str().to_owned(), meta: censor.facts(meta), ..failure }
        }
        PluginError::Unavailable { namespace, .. }
        | PluginError::Lost { namespace, .. }
        | PluginError::Deadline { namespace, .. }
        | PluginError::Nonsense { namespace, .. } => {
            failure.meta(json!({ "plugin": censor.text(namespace) }))
        }
        PluginError::Fenced => failure,
    }
}

/// A failure for which the provider has a code and no words.
pub(crate) fn code_failure(code: OperationErrorCode) -> Failure {
    Failure { code: code.as_str().to_owned(), message: format!("the provider answered `{code}`"), meta: None }
}

/// A read that did not come back.
pub(crate) fn deadline_failure() -> Failure {
    Failure::new(WireCode::RequestTimeout, "the provider did not answer in time")
}

fn read_failed(code: Option<OperationErrorCode>, failure: Failure) -> ReadAnswer {
    ReadAnswer::Failed { code, failure }
}
