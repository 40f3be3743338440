//! The typed client: one method per operation, over TCP, a Unix socket, or a service in this
//! process. Plain HTTP/1.1; whoever needs TLS puts a proxy in front.

mod call;
mod encode;
mod endpoint;
mod error;
mod located;
mod operations;
mod stream;
mod transport;

pub use call::{Answer, HttpMethod};
pub use endpoint::{Endpoint, EndpointError};
pub use error::{ApiError, ClientError, TransportError};
pub use located::{Locate, Located};
pub use stream::{OperationStream, StreamItem};

use bytes::Bytes;
use formwork_secret::Secret;
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Body;
use hyper::{Request, Response};
use std::fmt;
use std::time::Duration;
use tower::Service;
use tower::util::BoxCloneSyncService;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;
type Transport = BoxCloneSyncService<Request<Full<Bytes>>, Response<AnswerBody>, TransportError>;

/// How long a request may take, where it does not wait for a deploy.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The most bytes of an answer.
const MAX_ANSWER: usize = 256 << 20;

/// A client of the server's API.
///
/// It sends each request once, but for a read whose connection breaks: whether any other repetition
/// is safe is the caller's to know. It follows no redirect, so that a bearer token goes only where it was meant to.
#[derive(Clone)]
pub struct Client {
    transport: Transport,
    /// What stands in the `Host` header, and for people.
    authority: String,
    /// What comes before `/api/v1` in paths.
    prefix: String,
    bearer: Option<Secret<String>>,
    timeout: Option<Duration>,
    max_answer: usize,
}

impl Client {
    /// A client of a server at an endpoint.
    pub fn new(endpoint: &Endpoint) -> Self {
        Self::over(transport::socket(endpoint), endpoint.authority(), endpoint.prefix())
    }

    /// A client of a service in this process, such as the server's own router: the same requests
    /// and the same answers, without a socket between.
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::over(transport::in_process(service), "localhost".to_owned(), String::new())
    }

    fn over(transport: Transport, authority: String, prefix: String) -> Self {
        Self { transport, authority, prefix, bearer: None, timeout: Some(TIMEOUT), max_answer: MAX_ANSWER }
    }

    /// The same client with a bearer token.
    #[must_use]
    pub fn with_bearer(mut self, token: Option<Secret<String>>) -> Self {
        self.bearer = token;
        self
    }

    /// The same client with another bound on how long a request may take; `None` waits for ever,
    /// as deploys that are waited for do by themselves.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same client with another bound on the bytes of an answer.
    #[must_use]
    pub fn with_max_answer(mut self, bytes: usize) -> Self {
        self.max_answer = bytes;
        self
    }
}

/// Where it talks to; no token.
impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("authority", &self.authority).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
