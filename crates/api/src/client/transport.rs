//! How a request gets to the server.

use super::{AnswerBody, BoxError, Endpoint, Transport, TransportError};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt, service_fn};

/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// One connection per request: opening one on this machine costs microseconds, and no request can
/// meet a connection that the server has just closed.
pub(super) fn socket(endpoint: &Endpoint) -> Transport {
    let endpoint = endpoint.clone();
    BoxCloneSyncService::new(service_fn(move |request: Request<Full<Bytes>>| {
        let endpoint = endpoint.clone();
        async move {
            match &endpoint {
                Endpoint::Tcp { host, port, .. } => {
                    let stream = connect(&endpoint, TcpStream::connect((host.as_str(), *port))).await?;
                    // Requests are small and each is awaited: nothing is gained by gathering bytes.
                    let _ = stream.set_nodelay(true);
                    exchange(&endpoint, stream, request).await
                }
                Endpoint::Unix { path } => {
                    let stream = connect(&endpoint, UnixStream::connect(path)).await?;
                    exchange(&endpoint, stream, request).await
                }
            }
        }
    }))
}

async fn connect<T>(
    endpoint: &Endpoint,
    opening: impl Future<Output = io::Result<T>>,
) -> Result<T, TransportError> {
    let opened = tokio::time::timeout(CONNECT_TIMEOUT, opening).await;
    opened
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .map_err(|source| TransportError::Connect { endpoint: endpoint.to_string(), source })
}

async fn exchange(
    endpoint: &Endpoint,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Response<AnswerBody>, TransportError> {
    let broken = |source: hyper::Error| TransportError::Broken {
        endpoint: endpoint.to_string(),
        source: Box::new(source),
    };
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // It ends when the answer was read, or when its body is dropped.
    tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(broken)?;
    Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()))
}

pub(super) fn in_process<S, B>(service: S) -> Transport
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let service = service
        .map_response(|response: Response<B>| response.map(|body| body.map_err(Into::into).boxed_unsync()))
        .map_err(|error: S::Error| TransportError::Broken {
            endpoint: "this process".to_owned(),
            source: error.into(),
        });
    BoxCloneSyncService::new(service)
}
