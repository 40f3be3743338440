//! How a request fails, as data.

use crate::{ErrorDetail, json::JsonError};
use std::time::Duration;

/// Why a request has no good answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server answered with an error.
    #[error(transparent)]
    Api(Box<ApiError>),
    /// There is no answer, or none that can be understood.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

/// An error that the server answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {}", body.code, body.message)]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// What went wrong.
    pub body: ErrorDetail,
}

/// Why there is no answer, or none that can be understood.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The server cannot be reached.
    #[error("cannot connect to `{endpoint}`")]
    Connect {
        /// Where it should be.
        endpoint: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// It is not known who would answer.
    #[error("there is no server to ask")]
    Locate {
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection broke. Whether the request had an effect is not known.
    #[error("the connection to `{endpoint}` broke")]
    Broken {
        /// Where the server is.
        endpoint: String,
        /// How.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server did not answer in time. Whether the request had an effect is not known.
    #[error("the server did not answer within {} s", after.as_secs())]
    Timeout {
        /// How long it was waited for.
        after: Duration,
    },
    /// The answer is larger than the client takes.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// How large it may be.
        limit: usize,
    },
    /// The answer is not JSON.
    #[error("the answer (HTTP {status}) is not JSON: is this a Formwork server?")]
    NotJson {
        /// The HTTP status.
        status: u16,
        /// What is wrong with it.
        source: JsonError,
    },
    /// The answer is JSON, but not what this route answers.
    #[error("the answer (HTTP {status}) does not have the expected shape")]
    Unexpected {
        /// The HTTP status.
        status: u16,
        /// What is wrong with it, where anything is but the status.
        source: Option<serde_json::Error>,
    },
    /// The request cannot be sent: a path or token with characters that HTTP does not have.
    #[error("the request cannot be written as HTTP")]
    Unsendable {
        /// Why.
        source: hyper::http::Error,
    },
    /// The stream of events is not one.
    #[error("the server's event stream is malformed")]
    Stream,
}

impl From<ApiError> for ClientError {
    fn from(error: ApiError) -> Self {
        Self::Api(Box::new(error))
    }
}

impl ClientError {
    /// The server's error, if it answered one.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            Self::Transport(_) => None,
        }
    }
}
