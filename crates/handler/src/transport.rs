//! One POST over HTTP/1.1: a connection of its own, no repetition, no redirect, bounded in time
//! and size.
//!
//! A pooled connection that turns out to be dead would have to be replaced by another and the
//! request sent again; here nothing is ever sent twice, and whether anything was sent is known.

use crate::endpoint::{Endpoint, Scheme};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

/// The largest answer that is read, in bytes.
pub const LARGEST_ANSWER: usize = 1024 * 1024;

/// A request.
#[derive(Debug)]
pub(crate) struct Post<'a> {
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
    pub(crate) timeout: Duration,
}

/// An answer, whatever it says.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct NoReply {
    pub(crate) cause: Cause,
    /// Whether the request may have been received.
    pub(crate) sent: bool,
}

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Cause {
    /// Too little time.
    TimedOut,
    /// The answer is larger than [`LARGEST_ANSWER`].
    TooLarge,
    /// The connection, in words.
    Failed(String),
}

/// Makes requests.
#[derive(Clone)]
pub(crate) struct Transport {
    tls: TlsConnector,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

/// Something to speak HTTP over.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A task that ends when nobody needs it any more.
struct Companion(JoinHandle<()>);

impl Drop for Companion {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Transport {
    /// A transport that trusts the certificate authorities of this system.
    pub(crate) fn new() -> Self {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "some certificate authorities of the system can't be read");
        }
        Self::trusting(found.certs)
    }

    /// A transport that trusts these certificate authorities.
    pub(crate) fn trusting(authorities: impl IntoIterator<Item = CertificateDer<'static>>) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(authorities);
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has cipher suites for the default protocol versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self { tls: TlsConnector::from(Arc::new(config)) }
    }

    /// Makes a request, once.
    pub(crate) async fn post(&self, post: Post<'_>) -> Result<Reply, NoReply> {
        let Post { endpoint, headers, body, timeout } = post;
        let deadline = Instant::now() + timeout;
        let unsent = |cause| NoReply { cause, sent: false };
        let request =
            request(endpoint, headers, body).map_err(|error| unsent(Cause::Failed(in_words(&error))))?;
        let (sender, companion) = within(deadline, self.open(endpoint)).await.map_err(unsent)?;
        let reply = within(deadline, exchange(sender, request)).await;
        drop(companion);
        reply.map_err(|cause| NoReply { cause, sent: true })
    }

    async fn open(&self, endpoint: &Endpoint) -> Result<(SendRequest<Full<Bytes>>, Companion), Cause> {
        let stream = self.connect(endpoint).await.map_err(|error| Cause::Failed(in_words(&error)))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        let companion = tokio::spawn(async move {
            // What goes wrong here goes wrong for the exchange too, which tells of it.
            let _ = connection.await;
        });
        Ok((sender, Companion(companion)))
    }

    async fn connect(&self, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
        let stream = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await?;
        stream.set_nodelay(true)?;
        match endpoint.scheme {
            Scheme::Http => Ok(Box::new(stream)),
            Scheme::Https => {
                let name = ServerName::try_from(endpoint.host.clone())
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
                Ok(Box::new(self.tls.connect(name, stream).await?))
            }
        }
    }
}

async fn within<T>(deadline: Instant, work: impl Future<Output = Result<T, Cause>>) -> Result<T, Cause> {
    timeout_at(deadline, work).await.unwrap_or(Err(Cause::TimedOut))
}

fn request(
    endpoint: &Endpoint,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(&endpoint.path_and_query)
        .header(HOST, &endpoint.authority)
        .header(USER_AGENT, concat!("formwork/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .header(CONNECTION, HeaderValue::from_static("close"));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(Full::new(body))
}

async fn exchange(
    mut sender: SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> Result<Reply, Cause> {
    let answer = sender.send_request(request).await.map_err(failed)?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), LARGEST_ANSWER).collect().await;
    let body = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => Cause::TooLarge,
        None => Cause::Failed(in_words(&*error)),
    })?;
    Ok(Reply { status, body: body.to_bytes() })
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn failed(error: hyper::Error) -> Cause {
    Cause::Failed(in_words(&error))
}

/// An error with its causes, as far as each says something new.
fn in_words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !words.contains(&text) {
            words = format!("{words}: {text}");
        }
        source = cause.source();
    }
    words
}
