//! The bounds of the edge.

use crate::Shutdown;
use ipnet::IpNet;
use std::time::Duration;

/// How the server behaves. Every bound exists so that no client can take the server from the
/// others.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The most bytes of a body on formation routes: a template may be large.
    pub formation_body: usize,
    /// The most bytes of a forma, its places and its sources included.
    pub forma_body: usize,
    /// The most bytes of any other body (`formations-behaviour.md` §1.1).
    pub body: usize,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
    /// How long a request may take that does not wait for an operation.
    pub request_timeout: Duration,
    /// How many such requests run at once; more of them wait, within their time.
    pub max_requests: usize,
    /// How many requests that strangers may write to are handled at once; more are turned away.
    pub max_strangers: usize,
    /// How long such a request may take, its body included.
    pub stranger_timeout: Duration,
    /// How many requests may wait for operations at once; more are turned away.
    pub max_waiting: usize,
    /// How many event streams may be open at once; more are turned away.
    pub max_streams: usize,
    /// How often an event stream without events says that it is alive.
    pub heartbeat: Duration,
    /// How often an event stream looks for events of another process.
    pub poll: Duration,
    /// How long an event stream may live; a client opens it again where it ended.
    pub stream_lifetime: Duration,
    /// The proxies that are believed who their clients are; from any other address, what it says of
    /// others counts for nothing.
    pub trusted_proxies: Vec<IpNet>,
    /// Ends event streams when the server stops.
    pub shutdown: Shutdown,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            formation_body: 16 << 20,
            forma_body: 64 << 20,
            body: 1 << 20,
            body_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            max_requests: 128,
            max_strangers: 32,
            stranger_timeout: Duration::from_secs(10),
            max_waiting: 1024,
            max_streams: 256,
            heartbeat: Duration::from_secs(10),
            poll: Duration::from_secs(1),
            stream_lifetime: Duration::from_secs(3600),
            trusted_proxies: Vec::new(),
            shutdown: Shutdown::new(),
        }
    }
}
