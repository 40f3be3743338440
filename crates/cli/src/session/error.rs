//! Why this process can't serve itself.

use formwork_api::EndpointError;
use formwork_config::ConfigError;
use formwork_control::{ControlError, RegistrationError};
use formwork_secret::{KeyError, KeyId};
use formwork_server::ListenError;
use formwork_store::StoreError;
use std::io;
use std::path::PathBuf;

/// Why a session can't be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error("cannot use the lock `{}`", path.display())]
    Lock { path: PathBuf, source: io::Error },
    #[error(transparent)]
    ResourceTypes(#[from] RegistrationError),
    #[error("another process holds `{}` but does not answer", path.display())]
    Busy { path: PathBuf },
    #[error("operation {operation} is left unfinished: the store cannot be written")]
    GivenUp { operation: String },
    #[error("the instance key cannot be used")]
    Key(#[from] KeyError),
    #[error("the instance key `{}` is gone, and what the store keeps is sealed with it (key {id})", path.display())]
    KeyLost { path: PathBuf, id: KeyId },
    #[error("{place} holds another instance key ({found}) than the one that the store is sealed with ({id})")]
    WrongKey { place: String, id: KeyId, found: KeyId },
    #[error("cannot open the store")]
    Store(#[from] StoreError),
    #[error("cannot start")]
    Control(#[from] ControlError),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl SessionError {
    /// What would help.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Endpoint(error) => Some(error.hint().to_owned()),
            Self::Key(error) => error.hint(),
            Self::KeyLost { .. } => Some(
                "put the file back from your backup, with mode 600, or set `FORMWORK_INSTANCE_KEY` to its text; to \
                 begin anew without what is stored, use another `FORMWORK_DATA_DIR` and an empty database"
                    .to_owned(),
            ),
            Self::WrongKey { .. } => Some(
                "every process of one store needs the same key: copy the file of the process that made the store, \
                 or set `FORMWORK_INSTANCE_KEY` to its text"
                    .to_owned(),
            ),
            Self::GivenUp { .. } => Some(
                "once the store can be written again, the next command that changes something carries it on"
                    .to_owned(),
            ),
            Self::Busy { .. } => {
                Some("`formwork agent status` says who; stop that process, or wait for it".to_owned())
            }
            Self::Store(StoreError::Newer { .. }) => {
                Some("use the newer `formwork` that wrote it, or another `FORMWORK_DATA_DIR`".to_owned())
            }
            Self::Listen(error) => error.hint().map(str::to_owned),
            Self::Config(error) => error.hint(),
            _ => None,
        }
    }
}
