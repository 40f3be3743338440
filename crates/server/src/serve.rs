//! Sockets: who may listen where, and how the server stops.

use crate::peer::Peer;
use crate::unread::{Turn, Worded};
use crate::{ServerOptions, Shutdown, router};
use axum::Router;
use formwork_control::Control;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// How long a client may take to send a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// The most connections at once; more of them wait to be accepted.
const MAX_CONNECTIONS: usize = 2048;
/// The most bytes of a request's head.
const MAX_HEAD: usize = 64 << 10;
/// How long a connection that was just made may take to send its first request when the server stops.
const FIRST_REQUEST: Duration = Duration::from_millis(500);
/// How long the server, when it stops, looks for connections that were on their way.
const BACKLOG: Duration = Duration::from_millis(5);
/// The pause after a failed accept: the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Others on the network could come in, and there is nobody yet who could let them
    /// (architecture §7).
    #[error(
        "refusing to listen on `{address}`: it can be reached from other machines, and there are no users"
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// Another server listens there.
    #[error("another server already listens on `{place}`")]
    InUse {
        /// The address or path.
        place: String,
    },
    /// Something else is where the socket should be.
    #[error("`{path}` is not a socket")]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refuses.
    #[error("cannot listen on `{place}`")]
    Io {
        /// The address or path.
        place: String,
        /// What it said.
        source: io::Error,
    },
}

impl ListenError {
    /// What the person who sees the error can do, to print after `hint:`.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotLoopback { .. } => Some(
                "make a user first (`create-user --role admin`), or listen on `127.0.0.1`; either way, put a proxy with TLS in front",
            ),
            Self::InUse { .. } => Some("stop the other server, or listen elsewhere"),
            Self::NotASocket { .. } | Self::Io { .. } => None,
        }
    }
}

/// Who may be able to reach a TCP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// This machine only.
    Loopback,
    /// Anyone: there are users, whose permissions say what each may do.
    Network,
}

/// Where a server listens.
#[derive(Debug, Default)]
pub struct Listeners {
    unix: Vec<(UnixListener, PathBuf)>,
    tcp: Vec<TcpListener>,
}

impl Listeners {
    /// Nowhere yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a Unix socket that only its owner can use. What a dead server left is replaced; the
    /// caller holds the data directory's lock, so nobody else does the same.
    ///
    /// # Errors
    /// [`ListenError::InUse`], [`ListenError::NotASocket`], [`ListenError::Io`].
    pub async fn unix(&mut self, path: &Path) -> Result<(), ListenError> {
        let place = || path.display().to_string();
        let failed = |source| ListenError::Io { place: place(), source };
        match std::fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                return Err(ListenError::NotASocket { path: path.to_owned() });
            }
            Ok(_) if UnixStream::connect(path).await.is_ok() => {
                return Err(ListenError::InUse { place: place() });
            }
            Ok(_) => std::fs::remove_file(path).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        // Between the two calls the directory's mode alone protects the socket.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        self.unix.push((listener, path.to_owned()));
        Ok(())
    }

    /// Adds a TCP address of this machine, and says which one it became (port 0 is any).
    ///
    /// # Errors
    /// [`ListenError::NotLoopback`], [`ListenError::InUse`], [`ListenError::Io`].
    pub async fn tcp(&mut self, address: SocketAddr, exposure: Exposure) -> Result<SocketAddr, ListenError> {
        if exposure == Exposure::Loopback && !address.ip().to_canonical().is_loopback() {
            return Err(ListenError::NotLoopback { address });
        }
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => ListenError::InUse { place: address.to_string() },
            _ => ListenError::Io { place: address.to_string(), source },
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        self.tcp.push(listener);
        Ok(bound)
    }
}

/// Serves the use cases until the signal in the options is given; then stops accepting, lets what
/// is in flight finish within `grace`, and stops the use cases.
pub async fn run(control: Arc<Control>, listeners: Listeners, options: ServerOptions, grace: Duration) {
    let shutdown = options.shutdown.clone();
    let router = router(control.clone(), options);
    let stopping = async {
        shutdown.triggered().await;
        // Together with the connections: they wait for operations, which this brings to rest.
        control.shutdown(grace).await;
    };
    tokio::join!(serve(listeners, router, shutdown.clone(), grace), stopping);
}

/// Serves a router until the signal is given. Then no connection is accepted any more, those that
/// are idle close, and those in flight may finish within `grace`.
pub async fn serve(listeners: Listeners, router: Router, shutdown: Shutdown, grace: Duration) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let serving = Serving { router, shutdown, grace, places };
    let mut accepting = JoinSet::new();
    for (listener, path) in listeners.unix {
        let serving = serving.clone();
        accepting.spawn(async move {
            let accept = || async { listener.accept().await.map(|(stream, _)| (stream, Peer::Owner)) };
            // First of all nobody finds it any more: a client shall not wait for an answer.
            let close = || drop(std::fs::remove_file(path));
            serving.accept(accept, close).await;
        });
    }
    for listener in listeners.tcp {
        let serving = serving.clone();
        accepting.spawn(async move {
            let accept = || async {
                let (stream, address) = listener.accept().await?;
                // Events are small and each must leave at once.
                stream.set_nodelay(true)?;
                Ok((stream, Peer::Address(address.ip())))
            };
            serving.accept(accept, || {}).await;
        });
    }
    while accepting.join_next().await.is_some() {}
}

#[derive(Clone)]
struct Serving {
    router: Router,
    shutdown: Shutdown,
    grace: Duration,
    places: Arc<Semaphore>,
}

impl Serving {
    /// Accepts connections until the signal is given. Those that were on their way by then are
    /// served too.
    async fn accept<S, F>(self, accept: impl Fn() -> F, close: impl FnOnce())
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        F: Future<Output = io::Result<(S, Peer)>>,
    {
        let mut connections = JoinSet::new();
        loop {
            let next = async {
                let place = self.places.clone().acquire_owned().await;
                (accept().await, place)
            };
            tokio::select! {
                () = self.shutdown.triggered() => break,
                Some(_) = connections.join_next() => {}
                (stream, place) = next => match (stream, place) {
                    (Ok((stream, peer)), Ok(place)) => {
                        connections.spawn(self.clone().connection(stream, peer, place));
                    }
                    (Err(error), _) => {
                        tracing::warn!(error = &error as &dyn std::error::Error, "cannot accept");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                    (_, Err(_)) => break,
                },
            }
        }
        close();
        while let Ok(Ok((stream, peer))) = tokio::time::timeout(BACKLOG, accept()).await {
            let Ok(place) = self.places.clone().try_acquire_owned() else { break };
            connections.spawn(self.clone().connection(stream, peer, place));
        }
        let finished = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.grace, finished).await.is_err() {
            tracing::warn!("connections were cut off when the server stopped");
        }
    }

    async fn connection<S>(self, stream: S, peer: Peer, place: OwnedSemaphorePermit)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let _place = place;
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_HEAD);
        let asked = AtomicBool::new(false);
        let turn = Turn::default();
        let router = TowerToHyperService::new(self.router);
        let service = service_fn(|mut request: hyper::Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(peer);
            asked.store(true, Ordering::Relaxed);
            turn.begin();
            let (answer, turn) = (router.call(request), turn.clone());
            async move { answer.await.map(|response| turn.ending_with(response)) }
        });
        let stream = Worded::new(stream, turn.clone());
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.shutdown.triggered() => {
                // The first request of a connection may be on its way, and it shall be answered.
                let first = if asked.load(Ordering::Relaxed) { Duration::ZERO } else { FIRST_REQUEST };
                if let Ok(ended) = tokio::time::timeout(first, connection.as_mut()).await {
                    ended
                } else {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            }
        };
        if let Err(error) = ended {
            // Clients come and go; nothing is wrong with the server.
            tracing::debug!(error = &error as &dyn std::error::Error, "a connection broke");
        }
    }
}
