//! The log's lines.

use formwork_model::{Json, NativeId, OperationErrorCode, Timestamp};
use formwork_plugin::{Operation, ProgressResult};
use serde::{Deserialize, Serialize};
use serde_json::Map;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When, by the cloud's clock.
    pub at: Timestamp,
    /// The process that wrote it.
    pub pid: u32,
    /// Which call, counted from 1; 0 for what nobody called for.
    pub call: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// On whose behalf a call was made, as the caller says; nothing, out of band.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Caller {
    /// The ledger's row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// The label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The client token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The attempt, from 1.
    #[serde(default)]
    pub attempt: u32,
}

/// A call that changes something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "write", rename_all = "snake_case")]
pub enum Write {
    /// A create.
    Create {
        /// What was sent.
        sent: Map<String, Json>,
    },
    /// An update.
    Update {
        /// Of which object.
        native_id: NativeId,
        /// What was sent.
        sent: Map<String, Json>,
    },
    /// A delete.
    Delete {
        /// Of which object.
        native_id: NativeId,
    },
}

impl Write {
    /// Which operation it is.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Create { .. } => Operation::Create,
            Self::Update { .. } => Operation::Update,
            Self::Delete { .. } => Operation::Delete,
        }
    }

    /// The object that it is about, unless it makes one.
    pub fn native_id(&self) -> Option<&NativeId> {
        match self {
            Self::Create { .. } => None,
            Self::Update { native_id, .. } | Self::Delete { native_id } => Some(native_id),
        }
    }

    /// What was sent.
    pub fn sent(&self) -> Option<&Map<String, Json>> {
        match self {
            Self::Create { sent } | Self::Update { sent, .. } => Some(sent),
            Self::Delete { .. } => None,
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A call arrived.
    Received {
        /// Which operation; nothing for a list.
        operation: Option<Operation>,
        /// The type.
        type_name: String,
        /// The object that it is about.
        native_id: Option<NativeId>,
        /// On whose behalf.
        caller: Caller,
        /// The rule of the script that counted it.
        rule: Option<String>,
    },
    /// It came past its deadline and was left undone.
    Expired,
    /// There is an object that was not.
    Created {
        /// Its type.
        type_name: String,
        /// Which.
        native_id: NativeId,
        /// Its properties, write-only ones included.
        properties: Map<String, Json>,
        /// On whose behalf.
        caller: Caller,
    },
    /// An object is another than it was.
    Updated {
        /// Its type.
        type_name: String,
        /// Which.
        native_id: NativeId,
        /// Its properties, write-only ones included.
        properties: Map<String, Json>,
        /// On whose behalf.
        caller: Caller,
    },
    /// An object is gone.
    Deleted {
        /// Its type.
        type_name: String,
        /// Which.
        native_id: NativeId,
        /// On whose behalf.
        caller: Caller,
    },
    /// The token of the call is known: its first outcome was answered again.
    Repeated,
    /// The call will be carried out later.
    Accepted {
        /// What to ask for it with.
        request_id: String,
        /// When.
        due: Timestamp,
        /// The type.
        type_name: String,
        /// What will be done.
        write: Write,
        /// On whose behalf.
        caller: Caller,
    },
    /// A call that changes something is over, whoever hears of it.
    Settled {
        /// What was asked for it with, if it took its time.
        request_id: Option<String>,
        /// The client token, where the type knows it.
        token: Option<String>,
        /// How.
        result: Box<ProgressResult>,
    },
    /// The call was answered.
    Answered {
        /// The code of a failure.
        code: Option<OperationErrorCode>,
    },
}

impl Event {
    /// The operation that it belongs to, as the caller says.
    pub fn operation(&self) -> Option<&str> {
        let caller = match self {
            Self::Received { caller, .. } | Self::Accepted { caller, .. } => Some(caller),
            _ => self.effect_for(),
        };
        caller.and_then(|caller| caller.operation.as_deref())
    }

    /// On whose behalf an object came, changed or went; `None` for everything else.
    pub fn effect_for(&self) -> Option<&Caller> {
        match self {
            Self::Created { caller, .. } | Self::Updated { caller, .. } | Self::Deleted { caller, .. } => {
                Some(caller)
            }
            _ => None,
        }
    }
}
