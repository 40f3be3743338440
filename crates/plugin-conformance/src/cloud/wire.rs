//! The protocol between the fake cloud and its plugin: one JSON document per line, one call per
//! connection.

use formwork_model::{ClientToken, Json, NativeId, Timestamp, TypeName};
use formwork_plugin::{ListResult, Operation, ProgressResult, ReadResult};
use serde::{Deserialize, Serialize};

/// A call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) type_name: TypeName,
    pub(crate) token: Option<ClientToken>,
    pub(crate) attempt: u32,
    pub(crate) deadline: Timestamp,
    pub(crate) row: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) what: What,
}

/// What is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    Create { properties: Json },
    Read { native_id: NativeId },
    Update { native_id: NativeId, desired: Json, kept: Vec<String> },
    Delete { native_id: NativeId },
    Status { request_id: String },
    List { page_token: Option<String>, page_size: u32 },
}

/// An answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Progress(ProgressResult),
    Read(ReadResult),
    List(ListResult),
}

impl What {
    pub(crate) fn operation(&self) -> Option<Operation> {
        match self {
            Self::Create { .. } => Some(Operation::Create),
            Self::Read { .. } => Some(Operation::Read),
            Self::Update { .. } => Some(Operation::Update),
            Self::Delete { .. } => Some(Operation::Delete),
            Self::Status { .. } => Some(Operation::CheckStatus),
            Self::List { .. } => None,
        }
    }
}
