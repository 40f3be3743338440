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
        if found.certs.is_empty() {
            tracing::warn!(
                "this system names no certificate authorities, so no handler is reached over https"
            );
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
        let unreached = |error| Cause::Failed(format!("cannot reach {endpoint}: {}", in_words(&error)));
        let stream = self.connect(endpoint).await.map_err(unreached)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;
    use tokio_rustls::rustls::ServerConfig;
    use tokio_rustls::rustls::pki_types::PrivateKeyDer;
    use tokio_rustls::rustls::pki_types::pem::PemObject as _;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

    fn authority() -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(include_bytes!("../tests/tls/ca.pem")).expect("a certificate")
    }

    fn acceptor() -> TlsAcceptor {
        let certificate =
            CertificateDer::from_pem_slice(include_bytes!("../tests/tls/server.pem")).expect("a certificate");
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("../tests/tls/server.key")).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .expect("the key is the certificate's");
        TlsAcceptor::from(Arc::new(config))
    }

    /// Answers whatever it is asked, `answer`; then closes.
    async fn answering(answer: &'static [u8], tls: Option<TlsAcceptor>) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream: Box<dyn Stream> = match &tls {
                    None => Box::new(stream),
                    Some(tls) => match tls.accept(stream).await {
                        Ok(stream) => Box::new(stream),
                        Err(_) => continue,
                    },
                };
                let mut asked = [0; 4096];
                let _ = stream.read(&mut asked).await;
                if answer.is_empty() {
                    std::future::pending::<()>().await;
                }
                let _ = stream.write_all(answer).await;
                let _ = stream.shutdown().await;
            }
        });
        port
    }

    async fn post(url: &str, timeout_millis: u64) -> Result<Reply, NoReply> {
        let endpoint = Endpoint::parse(url).expect("a URL");
        let post = Post {
            endpoint: &endpoint,
            headers: vec![("x-soat-signature", "t=1,v1=00".to_owned())],
            body: Bytes::from_static(b"{}"),
            timeout: Duration::from_millis(timeout_millis),
        };
        Transport::trusting([authority()]).post(post).await
    }

    fn words(failure: &NoReply) -> (String, bool) {
        let cause = match &failure.cause {
            Cause::Failed(words) => words.clone(),
            other => format!("{other:?}"),
        };
        (cause, failure.sent)
    }

    #[tokio::test]
    async fn an_answer_comes_over_tls_from_whom_the_authority_vouches_for() {
        let port = answering(ANSWER, Some(acceptor())).await;
        let reply = post(&format!("https://localhost:{port}/x"), 20_000).await.expect("an answer");
        assert_eq!((reply.status, &*reply.body), (StatusCode::OK, &b"{}"[..]));
        let failure = post(&format!("https://127.0.0.1:{port}/"), 20_000).await.expect_err("another name");
        let (cause, sent) = words(&failure);
        assert!(cause.contains("certificate") && !sent, "{cause}");
    }

    #[tokio::test]
    async fn nobody_listening_means_nothing_was_sent() {
        let failure = post("http://127.0.0.1:1/", 20_000).await.expect_err("nobody is there");
        let (cause, sent) = words(&failure);
        assert!(cause.starts_with("cannot reach http://127.0.0.1:1/: "), "{cause}");
        assert!(cause.to_lowercase().contains("refused") && !sent, "{cause}");
    }

    #[tokio::test]
    async fn an_answer_that_does_not_come_is_waited_for_until_the_timeout() {
        let port = answering(b"", None).await;
        let failure = post(&format!("http://127.0.0.1:{port}/"), 200).await.expect_err("no answer");
        assert!(matches!(failure, NoReply { cause: Cause::TimedOut, sent: true }), "{failure:?}");
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_or_makes_no_sense_is_none() {
        for answer in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"[..],
            b"what?\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        ] {
            let port = answering(answer, None).await;
            let failure = post(&format!("http://127.0.0.1:{port}/"), 20_000).await.expect_err("no answer");
            assert!(matches!(failure, NoReply { cause: Cause::Failed(_), sent: true }), "{failure:?}");
        }
    }

    #[tokio::test]
    async fn more_than_the_bound_is_not_read() {
        let port = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n", None).await;
        let failure = post(&format!("http://127.0.0.1:{port}/"), 20_000).await.expect_err("too much");
        assert!(matches!(failure, NoReply { cause: Cause::TooLarge | Cause::Failed(_), sent: true }));
    }
}
