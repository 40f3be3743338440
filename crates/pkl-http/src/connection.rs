//! One GET request over HTTP/1.1: directly, through a proxy, with TLS or without.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, LOCATION, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

use crate::proxy::Proxy;
use crate::url::Url;

const AGENT: &str = concat!("pkl-http/", env!("CARGO_PKG_VERSION"));

/// What a server answered.
pub(crate) enum Answer {
    Body(Vec<u8>),
    Redirect(String),
    Status(u16),
    TooLong,
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

/// Makes connections.
pub(crate) struct Connector {
    tls: TlsConnector,
    proxy: Option<Proxy>,
}

impl Connector {
    /// Trusts these certificate authorities.
    pub(crate) fn new(authorities: Vec<CertificateDer<'static>>, proxy: Option<Proxy>) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(authorities);
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has cipher suites for the default protocol versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self { tls: TlsConnector::from(Arc::new(config)), proxy }
    }

    /// Asks once. What goes wrong is told in words.
    pub(crate) async fn get(&self, url: &Url, limit: u64) -> Result<Answer, String> {
        let proxy = self.proxy.as_ref().filter(|proxy| proxy.serves(url));
        let stream = self.open(url, proxy).await?;
        // A proxy that isn't only a tunnel is told the whole URL.
        let target = match proxy {
            Some(_) if !url.is_secure() => url.to_string(),
            _ => url.path_and_query.clone(),
        };
        let request = request(Method::GET, &target, &url.authority)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| in_words(&error))?;
        let companion = Companion(tokio::spawn(async move {
            // What goes wrong here goes wrong for the exchange too, which tells of it.
            let _ = connection.await;
        }));
        let response = sender.send_request(request).await.map_err(|error| in_words(&error))?;
        let answer = answer(response, limit).await;
        drop(companion);
        answer
    }

    async fn open(&self, url: &Url, proxy: Option<&Proxy>) -> Result<Box<dyn Stream>, String> {
        let (host, port) = proxy.map_or((&url.host, url.port), |proxy| (&proxy.host, proxy.port));
        let no_connection =
            |error: &io::Error| format!("Error connecting to host `{host}`.\n{}", in_words(error));
        let stream =
            TcpStream::connect((host.as_str(), port)).await.map_err(|error| no_connection(&error))?;
        stream.set_nodelay(true).map_err(|error| no_connection(&error))?;
        let mut stream: Box<dyn Stream> = Box::new(stream);
        if !url.is_secure() {
            return Ok(stream);
        }
        if proxy.is_some() {
            stream = tunnel(stream, url).await?;
        }
        let name = ServerName::try_from(url.host.clone()).map_err(|error| in_words(&error))?;
        let stream = self.tls.connect(name, stream).await;
        Ok(Box::new(stream.map_err(|error| no_connection(&error))?))
    }
}

/// Asks a proxy for a connection to a server.
async fn tunnel(stream: Box<dyn Stream>, url: &Url) -> Result<Box<dyn Stream>, String> {
    let target = format!("{}:{}", url.host, url.port);
    let request = request(Method::CONNECT, &target, &target)?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| in_words(&error))?;
    let companion = tokio::spawn(async move {
        // As above.
        let _ = connection.with_upgrades().await;
    });
    let response = sender.send_request(request).await.map_err(|error| in_words(&error))?;
    if !response.status().is_success() {
        companion.abort();
        return Err(format!("The proxy answered with status code `{}`.", response.status().as_u16()));
    }
    let upgraded = hyper::upgrade::on(response).await.map_err(|error| in_words(&error))?;
    Ok(Box::new(TokioIo::new(upgraded)))
}

fn request(method: Method, target: &str, host: &str) -> Result<Request<Empty<Bytes>>, String> {
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header(HOST, host)
        .header(USER_AGENT, AGENT)
        .header(CONNECTION, "close");
    request.body(Empty::new()).map_err(|error| in_words(&error))
}

async fn answer(response: Response<hyper::body::Incoming>, limit: u64) -> Result<Answer, String> {
    let status = response.status();
    if status.is_redirection()
        && let Some(place) = response.headers().get(LOCATION).and_then(|place| place.to_str().ok())
    {
        return Ok(Answer::Redirect(place.to_owned()));
    }
    if status.as_u16() != 200 {
        return Ok(Answer::Status(status.as_u16()));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match Limited::new(response.into_body(), limit).collect().await {
        Ok(body) => Ok(Answer::Body(body.to_bytes().to_vec())),
        Err(error) if error.is::<LengthLimitError>() => Ok(Answer::TooLong),
        Err(error) => Err(in_words(&*error)),
    }
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
