//! Starting a plugin's process, and the handshake: the process proves that it is the one that was started, versions
//! are compared, and it says what it is.

use crate::error::LaunchError;
use crate::options::HostLimits;
use crate::output::{self, LastWords, Stream};
use crate::process::{Ended, Running, Warden};
use formwork_plugin::wire::pb::plugin_client::PluginClient;
use formwork_plugin::wire::{Announcement, LARGEST_MESSAGE, PROTOCOL, pb, variable};
use formwork_secret::{Secret, hex, random_bytes};
use hyper_util::rt::TokioIo;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::process::Command;
use tonic::transport::{Channel, Endpoint};

/// The longest path of a Unix socket, in bytes.
const LONGEST_SOCKET: usize = 107;
/// How often is looked whether a process listens already: at first, and at the most.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(25);
/// How often is asked whether a process is still there, and how long it may take to say so.
const PING: Duration = Duration::from_secs(10);
const PONG: Duration = Duration::from_secs(20);
/// How much may be on its way to one call before it is read, and to all calls, in bytes.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 8 * 1024 * 1024;

/// How a plugin's process is started.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The plugin's name.
    pub(crate) name: Arc<str>,
    pub(crate) program: PathBuf,
    /// Where it works.
    pub(crate) directory: PathBuf,
    /// What the manifest says that it serves.
    pub(crate) namespace: Arc<str>,
    /// Its whole environment, but for what the handshake needs.
    pub(crate) environment: BTreeMap<String, Secret<String>>,
    /// Where the private directory of its socket is made.
    pub(crate) sockets: PathBuf,
    pub(crate) limits: HostLimits,
}

/// A connection to a process, which is made once.
pub(crate) type Client = PluginClient<Channel>;

impl Launch {
    /// A process that said what it is.
    ///
    /// # Errors
    /// [`LaunchError`]; the process is gone then.
    pub(crate) async fn start(&self) -> Result<Running, LaunchError> {
        let place = self.private_directory()?;
        let socket = place.path().join("s");
        let token = Secret::new(hex(&random_bytes::<32>()));
        let last_words = LastWords::default();
        let warden = self.spawn(&socket, &token, place, &last_words)?;
        let millis = u64::try_from(self.limits.start.as_millis()).unwrap_or(u64::MAX);
        let started = tokio::select! {
            greeted = tokio::time::timeout(self.limits.start, self.greet(&socket, &token)) => greeted
                .unwrap_or_else(|_| Err(Greeting::Failed(LaunchError::Silent { millis, last_words: last_words.quoted() }))),
            how = warden.ended() => Err(Greeting::Ended(how)),
        };
        match started {
            Ok((client, announcement)) => Ok(Running::new(client, announcement, warden, last_words)),
            Err(greeting) => Err(self.failed(greeting, &warden, &last_words).await),
        }
    }

    /// Ends what did not greet as it must.
    async fn failed(&self, greeting: Greeting, warden: &Warden, last_words: &LastWords) -> LaunchError {
        let ended = |how: Ended| LaunchError::Ended { how: how.to_string(), last_words: last_words.quoted() };
        match greeting {
            Greeting::Ended(how) => {
                // What it wrote last may still be on its way.
                tokio::time::sleep(LAST_LOOK).await;
                ended(how)
            }
            // If it just ended, that is why.
            Greeting::Broken(reason) => {
                if let Some(how) = warden.ended_within(LAST_LOOK * 8).await {
                    return ended(how);
                }
                warden.kill();
                warden.ended().await;
                LaunchError::Nonsense { reason }
            }
            Greeting::Failed(error) => {
                warden.kill();
                warden.ended().await;
                error
            }
        }
    }

    /// A directory that only this user may enter.
    fn private_directory(&self) -> Result<TempDir, LaunchError> {
        let made = tempfile::Builder::new().prefix("formwork-plugin-").tempdir_in(&self.sockets);
        let place = made.map_err(|error| LaunchError::Socket { reason: error.to_string() })?;
        let longest = place.path().as_os_str().len() + "/s".len();
        if longest > LONGEST_SOCKET {
            let path = place.path().display();
            let reason =
                format!("`{path}` is too long for the path of a socket: set `TMPDIR` to a shorter one");
            return Err(LaunchError::Socket { reason });
        }
        Ok(place)
    }

    fn spawn(
        &self,
        socket: &Path,
        token: &Secret<String>,
        place: TempDir,
        last_words: &LastWords,
    ) -> Result<Warden, LaunchError> {
        let mut command = Command::new(&self.program);
        command
            .current_dir(&self.directory)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value.expose())))
            .env(variable::PROTOCOL, PROTOCOL.to_string())
            .env(variable::SOCKET, socket)
            .env(variable::TOKEN, token.expose())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that Ctrl-C in a terminal reaches only the host, which ends it in order.
            .process_group(0)
            .kill_on_drop(true);
        let spawned = command.spawn();
        let failed =
            |source: io::Error| LaunchError::Spawn { path: self.program.clone(), source: Arc::new(source) };
        let mut child = spawned.map_err(failed)?;
        if let Some(stdout) = child.stdout.take() {
            let log = output::log(self.name.clone(), Stream::Output, stdout, last_words.clone());
            tokio::spawn(log);
        }
        if let Some(stderr) = child.stderr.take() {
            let log = output::log(self.name.clone(), Stream::Error, stderr, last_words.clone());
            tokio::spawn(log);
        }
        tracing::debug!(plugin = &*self.name, process = child.id(), "started a plugin");
        Ok(Warden::new(child, place, self.limits.stop))
    }

    /// Connects and asks who answers.
    async fn greet(&self, socket: &Path, token: &Secret<String>) -> Result<(Client, Announcement), Greeting> {
        let stream = connect(socket).await.map_err(|error| Greeting::Broken(error.to_string()))?;
        let mut client = client(stream).await.map_err(|error| Greeting::Broken(chain(&error)))?;
        let host_version = env!("CARGO_PKG_VERSION").to_owned();
        let question = pb::AnnounceRequest { protocol: PROTOCOL, host_version };
        let answer = client.announce(question).await.map_err(|status| Greeting::Broken(chain(&status)))?;
        let announcement = self.judge(answer.into_inner(), token).map_err(Greeting::Failed)?;
        Ok((client, announcement))
    }

    /// Whether what a process says of itself is what it may say.
    fn judge(&self, message: pb::Announcement, token: &Secret<String>) -> Result<Announcement, LaunchError> {
        if message.protocol != PROTOCOL {
            return Err(LaunchError::Protocol { theirs: message.protocol, ours: PROTOCOL });
        }
        let mut message = message;
        if !Secret::new(std::mem::take(&mut message.token)).same_as(token) {
            return Err(LaunchError::Token);
        }
        let announcement = Announcement::try_from(message)
            .map_err(|error| LaunchError::Nonsense { reason: error.to_string() })?;
        if announcement.namespace != *self.namespace {
            let announced = crate::escape::shown(&announcement.namespace, 80);
            return Err(LaunchError::Namespace { announced, declared: self.namespace.to_string() });
        }
        let mut seen = BTreeSet::new();
        for served in &announcement.types {
            let type_name = || crate::escape::shown(served.name.as_str(), 120);
            if !is_of(served.name.as_str(), &self.namespace) {
                let namespace = self.namespace.to_string();
                return Err(LaunchError::ForeignType { type_name: type_name(), namespace });
            }
            if !seen.insert(&served.name) {
                return Err(LaunchError::Twice { type_name: type_name() });
            }
        }
        Ok(announcement)
    }
}

/// Whether a type is one of a namespace.
pub(crate) fn is_of(type_name: &str, namespace: &str) -> bool {
    type_name.strip_prefix(namespace).is_some_and(|rest| rest.starts_with("::"))
}

/// Why there is no announcement.
enum Greeting {
    /// The process ended.
    Ended(Ended),
    /// The conversation broke, which may be because the process ended.
    Broken(String),
    /// The process said something that it may not.
    Failed(LaunchError),
}

/// Waits until somebody listens.
async fn connect(socket: &Path) -> io::Result<UnixStream> {
    let mut pause = FIRST_LOOK;
    loop {
        match UnixStream::connect(socket).await {
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LAST_LOOK);
            }
            connected => return connected,
        }
    }
}

/// A client over one connection. Once that is gone there is no other: what was sent would not be sent again, and who
/// answers then is for the next handshake to find out.
async fn client(stream: UnixStream) -> Result<Client, tonic::transport::Error> {
    let only = Arc::new(Mutex::new(Some(stream)));
    let connector = tower::service_fn(move |_| {
        let stream = only.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gone = || io::Error::new(io::ErrorKind::NotConnected, "the connection to the process is gone");
        std::future::ready(stream.map(TokioIo::new).ok_or_else(gone))
    });
    let channel = Endpoint::from_static("http://plugin.invalid")
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(PING)
        .keep_alive_timeout(PONG)
        .keep_alive_while_idle(true)
        .connect_with_connector(connector)
        .await?;
    Ok(PluginClient::new(channel)
        .max_decoding_message_size(LARGEST_MESSAGE)
        .max_encoding_message_size(LARGEST_MESSAGE))
}

/// An error with its causes, fit to show.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = match error.downcast_ref::<tonic::Status>() {
        Some(status) if status.message().is_empty() => status.code().description().to_owned(),
        Some(status) => status.message().to_owned(),
        None => error.to_string(),
    };
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    for cause in causes.map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    crate::escape::shown(&text, 500)
}
