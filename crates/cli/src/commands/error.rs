//! How a command fails, as data; `ui::error` words it.

use crate::env_file::EnvFileError;
use crate::exit::Exit;
use crate::parameters::ParameterError;
use formwork_api::{ApiError, ClientError, TransportError};
use formwork_model::{Diagnostics, SourceMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// How a command fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The server refused. Its template, where there was one, to draw the places in.
    #[error("{error}")]
    Api { error: Box<ApiError>, source_text: Option<SourceText> },
    /// The server refused a forma, whose files its places are in.
    #[error("{error}")]
    Refused { error: Box<ApiError>, map: Arc<SourceMap> },
    /// What a forma declares is wrong.
    #[error("the forma can't be used")]
    Forma { diagnostics: Diagnostics, map: Box<SourceMap> },
    /// There is no answer.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The configuration can't be used.
    #[error(transparent)]
    Config(#[from] formwork_config::ConfigError),
    /// A local process can't be set up.
    #[error(transparent)]
    Session(#[from] crate::session::SessionError),
    /// A file can't be read.
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A file can't be written.
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// What is to be read to its end is no regular file.
    #[error("`{}` is no regular file", path.display())]
    NoFile { path: PathBuf },
    /// A file would be overwritten.
    #[error("`{}` is there already", path.display())]
    Exists { path: PathBuf },
    /// A file that must not be empty is.
    #[error("`{}` is empty", path.display())]
    Empty { path: PathBuf },
    /// A file is larger than any of its kind may be.
    #[error("`{}` is larger than {limit} bytes, the most it may have", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    /// A template is in another encoding than UTF-8, which a request can't carry.
    #[error("the template is not UTF-8")]
    Encoding { diagnostics: Diagnostics, map: Box<SourceMap> },
    /// A flag's value can't be used.
    #[error("{0}")]
    Argument(String),
    /// A parameter can't be used.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The env file can't be used.
    #[error("`{}`, {reason}", path.display())]
    EnvFile { path: PathBuf, reason: EnvFileError },
    /// No page for a code.
    #[error("there is no code `{code}`")]
    UnknownCode { code: String, near: Option<String> },
    /// A `plugin` command fails.
    #[error(transparent)]
    Plugin(#[from] super::plugin::PluginError),
    /// Stdout can't be written.
    #[error("cannot write the answer")]
    Output(#[from] io::Error),
    /// The runtime can't be started.
    #[error("cannot start")]
    Runtime(#[source] io::Error),
    /// A `pkl` command fails.
    #[error(transparent)]
    Pkl(#[from] super::pkl::PklError),
    /// The agent is not there, or can't be started or stopped.
    #[error("{0}")]
    Agent(String),
}

/// A template's text under the name that messages give it.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl From<ClientError> for CommandError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Api(error) => Self::Api { error, source_text: None },
            ClientError::Transport(error) => Self::Transport(error),
        }
    }
}

impl CommandError {
    /// With the template that the server's places are in.
    pub(crate) fn in_source(self, source: Option<SourceText>) -> Self {
        match self {
            Self::Api { error, .. } => Self::Api { error, source_text: source },
            other => other,
        }
    }

    /// The exit code it ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Api { error, .. } | Self::Refused { error, .. } => Exit::for_code(&error.body.code),
            Self::Argument(_) | Self::Parameter(_) | Self::UnknownCode { .. } => Exit::Usage,
            _ => Exit::Failed,
        }
    }

    /// What would help.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Api { error, .. } | Self::Refused { error, .. } => answer_hint(error),
            Self::Config(error) => error.hint(),
            Self::Session(error) => error.hint(),
            Self::Pkl(error) => error.hint().map(str::to_owned),
            Self::Plugin(error) => error.hint(),
            Self::UnknownCode { near: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            Self::UnknownCode { near: None, .. } => Some("`formwork explain` lists all codes".to_owned()),
            Self::NoFile { .. } => Some("`--path -` reads standard input to its end".to_owned()),
            Self::Exists { .. } => Some("`--force` overwrites it".to_owned()),
            Self::Transport(TransportError::Connect { .. }) => Some(
                "is the server running, and is the URL right? Without one, Formwork serves itself".to_owned(),
            ),
            _ => None,
        }
    }
}

/// The next command after an answer that leaves only one.
fn answer_hint(error: &ApiError) -> Option<String> {
    let program = crate::args::program();
    let meta = error.body.meta.as_ref().unwrap_or(&serde_json::Value::Null);
    let operation = meta["operation_id"].as_str();
    let lacks = |field: &str| {
        meta["missingFields"].as_array().is_some_and(|all| all.iter().any(|lacking| lacking == field))
    };
    match (error.body.code.as_str(), operation) {
        ("OPERATION_IN_PROGRESS", Some(operation)) => {
            Some(format!("`{program} watch-operation {operation}` follows it"))
        }
        ("UNAUTHORIZED", _) => Some(format!(
            "`{program} login` gives a token: put it in `FORMWORK_TOKEN`, or `{program} configure` keeps it"
        )),
        ("VALIDATION_FAILED", _) if lacks("project_id") => {
            Some(format!("`--project-id` names one: `{program} list-projects` shows those that you may see"))
        }
        ("PLAN_OUTDATED", _) => Some(format!("`{program} plan-formation` shows what would be done now")),
        _ => None,
    }
}
