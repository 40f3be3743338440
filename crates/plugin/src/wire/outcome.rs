//! How calls go: results, and the unexpected.

use super::value::{WireError, may_say, optional, present, said, text};
use super::{pb, request};
use crate::{
    DeleteBlocker, ListResult, Operation, OperationStatus, PluginError, ProgressResult, PropertyProblem,
    ReadResult,
};
use formwork_model::{Json, OperationErrorCode, WireCode};

/// Both directions of an enum of the protocol.
macro_rules! same_enum {
    ($ours:ident = $theirs:ident of $field:literal { $($variant:ident)* }) => {
        impl From<$ours> for pb::$theirs {
            fn from(ours: $ours) -> Self {
                match ours { $($ours::$variant => Self::$variant,)* }
            }
        }

        impl pb::$theirs {
            fn read(value: i32) -> Result<$ours, WireError> {
                match Self::try_from(value) {
                    $(Ok(Self::$variant) => Ok($ours::$variant),)*
                    Ok(Self::Unspecified) => Err(WireError::Missing { field: $field }),
                    Err(_) => Err(WireError::Unknown { field: $field, value }),
                }
            }
        }
    };
}

same_enum! { Operation = Operation of "operation" { Create Read Update Delete CheckStatus } }
same_enum! { OperationStatus = OperationStatus of "operation_status" { Success Failure InProgress Pending } }
same_enum! {
    OperationErrorCode = OperationErrorCode of "error_code" {
        NotFound AlreadyExists InvalidRequest AccessDenied Throttling ServiceUnavailable InternalFailure
        NotStabilized
    }
}

impl From<ProgressResult> for pb::ProgressResult {
    fn from(result: ProgressResult) -> Self {
        // Digests are made where the instance key is: never in another process.
        Self {
            operation: pb::Operation::from(result.operation).into(),
            operation_status: pb::OperationStatus::from(result.operation_status).into(),
            request_id: result.request_id,
            native_id: result.native_id.map(|id| id.to_string()),
            resource_properties: result.resource_properties.as_ref().map(text),
            error_code: result.error_code.map(|code| pb::OperationErrorCode::from(code).into()),
            status_message: result.status_message,
            failure_code: result.failure_code,
            failure_meta: result.failure_meta.as_ref().map(text),
        }
    }
}

impl TryFrom<pb::ProgressResult> for ProgressResult {
    type Error = WireError;

    fn try_from(message: pb::ProgressResult) -> Result<Self, WireError> {
        Ok(Self {
            operation: pb::Operation::read(message.operation)?,
            operation_status: pb::OperationStatus::read(message.operation_status)?,
            request_id: may_say(message.request_id),
            native_id: may_say(message.native_id),
            resource_properties: optional("resource_properties", message.resource_properties.as_deref())?,
            error_code: message.error_code.map(pb::OperationErrorCode::read).transpose()?,
            status_message: may_say(message.status_message),
            failure_code: may_say(message.failure_code),
            failure_meta: optional("failure_meta", message.failure_meta.as_deref())?,
            secret_digests: Vec::new(),
        })
    }
}

impl From<ReadResult> for pb::ReadResult {
    fn from(result: ReadResult) -> Self {
        Self {
            resource_type: result.resource_type.to_string(),
            native_id: result.native_id.to_string(),
            resource_properties: result.resource_properties.as_ref().map(text),
            error_code: result.error_code.map(|code| pb::OperationErrorCode::from(code).into()),
        }
    }
}

impl TryFrom<pb::ReadResult> for ReadResult {
    type Error = WireError;

    fn try_from(message: pb::ReadResult) -> Result<Self, WireError> {
        Ok(Self {
            resource_type: said("resource_type", message.resource_type)?,
            native_id: said("native_id", message.native_id)?,
            resource_properties: optional("resource_properties", message.resource_properties.as_deref())?,
            error_code: message.error_code.map(pb::OperationErrorCode::read).transpose()?,
            secret_digests: Vec::new(),
        })
    }
}

impl From<ListResult> for pb::ListResult {
    fn from(result: ListResult) -> Self {
        Self {
            native_ids: result.native_ids.iter().map(ToString::to_string).collect(),
            next_page_token: result.next_page_token,
        }
    }
}

impl TryFrom<pb::ListResult> for ListResult {
    type Error = WireError;

    fn try_from(message: pb::ListResult) -> Result<Self, WireError> {
        let ids = message.native_ids.into_iter().map(|id| said("native_ids", id));
        Ok(Self {
            native_ids: ids.collect::<Result<_, _>>()?,
            next_page_token: may_say(message.next_page_token),
        })
    }
}

impl From<Vec<DeleteBlocker>> for pb::DeleteBlockerList {
    fn from(blockers: Vec<DeleteBlocker>) -> Self {
        let blocker = |blocker: DeleteBlocker| pb::DeleteBlocker {
            object: Some(pb::ObjectRef {
                resource_type: blocker.resource_type.to_string(),
                native_id: blocker.native_id.to_string(),
            }),
            reason: blocker.reason,
        };
        Self { blockers: blockers.into_iter().map(blocker).collect() }
    }
}

impl TryFrom<pb::DeleteBlockerList> for Vec<DeleteBlocker> {
    type Error = WireError;

    fn try_from(message: pb::DeleteBlockerList) -> Result<Self, WireError> {
        let blocker = |blocker: pb::DeleteBlocker| {
            let (resource_type, native_id) = request::named(present("blockers.object", blocker.object)?)?;
            Ok(DeleteBlocker { resource_type, native_id, reason: blocker.reason })
        };
        message.blockers.into_iter().map(blocker).collect()
    }
}

impl From<Vec<PropertyProblem>> for pb::PropertyProblemList {
    fn from(problems: Vec<PropertyProblem>) -> Self {
        let problem = |problem: PropertyProblem| pb::PropertyProblem {
            path: Some((&problem.path).into()),
            message: problem.message,
        };
        Self { problems: problems.into_iter().map(problem).collect() }
    }
}

impl TryFrom<pb::PropertyProblemList> for Vec<PropertyProblem> {
    type Error = WireError;

    fn try_from(message: pb::PropertyProblemList) -> Result<Self, WireError> {
        let problem = |problem: pb::PropertyProblem| {
            let path = problem.path.unwrap_or_default().try_into()?;
            Ok(PropertyProblem { path, message: problem.message })
        };
        message.problems.into_iter().map(problem).collect()
    }
}

impl From<PluginError> for pb::CallFailure {
    fn from(error: PluginError) -> Self {
        use pb::CallFailureKind as Kind;
        let of = |kind: Kind, message: String| Self {
            kind: kind.into(),
            message,
            code: String::new(),
            meta: None,
        };
        match error {
            PluginError::Failed { code, message, meta } => {
                Self { code: code.as_str().to_owned(), meta: Some(text(&meta)), ..of(Kind::Failed, message) }
            }
            PluginError::Unavailable { reason, .. } => of(Kind::Unavailable, reason),
            PluginError::Lost { reason, .. } => of(Kind::Lost, reason),
            PluginError::Nonsense { reason, .. } => of(Kind::Nonsense, reason),
            error @ PluginError::Deadline { .. } => of(Kind::Deadline, error.to_string()),
            // No lease travels to another process, so that it has none to find lost.
            error @ PluginError::Fenced => of(Kind::Lost, error.to_string()),
        }
    }
}

impl pb::CallFailure {
    /// The failure of a call that had `millis` to a plugin of this namespace.
    fn read(self, namespace: &str, millis: u64) -> Result<PluginError, WireError> {
        use pb::CallFailureKind as Kind;
        let (namespace, reason) = (namespace.to_owned(), self.message);
        let kind = Kind::try_from(self.kind)
            .map_err(|_| WireError::Unknown { field: "failure.kind", value: self.kind })?;
        Ok(match kind {
            Kind::Unspecified => return Err(WireError::Missing { field: "failure.kind" }),
            Kind::Failed => PluginError::Failed {
                // A code that this version doesn't know is still a failure of the plugin.
                code: WireCode::parse(&self.code).unwrap_or(WireCode::PluginUnavailable),
                message: reason,
                meta: optional("failure.meta", self.meta.as_deref())?.unwrap_or(Json::Null),
            },
            Kind::Unavailable => PluginError::Unavailable { namespace, reason },
            Kind::Lost => PluginError::Lost { namespace, reason },
            Kind::Nonsense => PluginError::Nonsense { namespace, reason },
            Kind::Deadline => PluginError::Deadline { namespace, millis },
        })
    }
}

/// A response of the protocol, in both directions.
macro_rules! response {
    ($response:ident, $module:ident, $result:ty) => {
        impl From<Result<$result, PluginError>> for pb::$response {
            fn from(outcome: Result<$result, PluginError>) -> Self {
                let outcome = match outcome {
                    Ok(result) => pb::$module::Outcome::Result(result.into()),
                    Err(error) => pb::$module::Outcome::Failure(error.into()),
                };
                Self { outcome: Some(outcome) }
            }
        }

        impl pb::$response {
            /// The outcome of a call that had `millis` to a plugin of this namespace.
            ///
            /// # Errors
            /// What the plugin says went wrong; [`PluginError::Nonsense`] if it says nothing that makes sense.
            pub fn into_outcome(self, namespace: &str, millis: u64) -> Result<$result, PluginError> {
                let read = present("outcome", self.outcome).and_then(|outcome| match outcome {
                    pb::$module::Outcome::Result(result) => result.try_into().map(Ok),
                    pb::$module::Outcome::Failure(failure) => failure.read(namespace, millis).map(Err),
                });
                read.unwrap_or_else(|error| {
                    Err(PluginError::Nonsense { namespace: namespace.to_owned(), reason: error.to_string() })
                })
            }
        }
    };
}

response!(ProgressResponse, progress_response, ProgressResult);
response!(ReadResponse, read_response, ReadResult);
response!(ListResponse, list_response, ListResult);
response!(DeleteBlockersResponse, delete_blockers_response, Vec<DeleteBlocker>);
response!(ValidateResponse, validate_response, Vec<PropertyProblem>);
