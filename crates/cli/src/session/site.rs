//! Who serves the data directory: found anew for each request, since a command's process leaves when its
//! command is done, and any process may be killed. If nobody does, this process takes the place.

use super::lock::current;
use super::{Host, Need, SessionError};
use formwork_api::{Client, Endpoint, Locate, Located, TransportError};
use formwork_config::Settings;
use formwork_model::Secret;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::SetOnce;

/// How often the lock of a data directory is tried, while another process starts or leaves.
const TRIES: u32 = 500;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(10);
/// How long the process that holds it may take to accept a connection.
const ANSWER: Duration = Duration::from_secs(2);
/// For how many of them a process that only reads is waited for, before it is used as it is.
const TRIES_TO_RECOVER: u32 = 300;

/// A data directory, and what a command needs of it.
pub(super) struct Site {
    settings: Settings,
    need: Need,
    /// This process, once it has become the server.
    host: SetOnce<Host>,
    /// Whether it has been found once: what is found later takes the place of a process that died.
    entered: AtomicBool,
}

impl Site {
    pub(super) fn new(settings: Settings, need: Need) -> Self {
        Self { settings, need, host: SetOnce::new(), entered: AtomicBool::new(false) }
    }

    pub(super) fn host(&self) -> Option<&Host> {
        self.host.get()
    }

    /// This process as the server, once it is; for ever if it never has to be.
    pub(super) async fn hosting(&self) -> &Host {
        self.host.wait().await
    }

    /// What requests are sent with: the given token, or the administrator's of the data directory.
    pub(super) fn token(
        &self,
        given: Option<Secret<String>>,
    ) -> Result<Option<Secret<String>>, SessionError> {
        match (given, self.host()) {
            (Some(token), _) => Ok(Some(token)),
            (None, Some(host)) => Ok(Some(host.token())),
            (None, None) => self.settings.data_dir.existing_admin_token().map_err(SessionError::Config),
        }
    }

    /// Finds who serves the directory, which may be this process from now on. As the first to change
    /// something, it finishes what dead processes left before anything else.
    ///
    /// # Errors
    /// This process can't serve it, or another one holds it without answering.
    pub(super) async fn enter(&self) -> Result<(), SessionError> {
        self.client().await?;
        self.entered.store(true, Ordering::Relaxed);
        let Some(host) = self.host().filter(|_| self.need == Need::Write) else { return Ok(()) };
        host.recover(true).await?;
        host.purge().await;
        Ok(())
    }

    async fn client(&self) -> Result<Client, SessionError> {
        for tries in 0..TRIES {
            if let Some(host) = self.host() {
                return Ok(host.client().clone());
            }
            let demanding = self.need.recovers() && tries < TRIES_TO_RECOVER;
            if let Some(client) = self.neighbour(demanding).await? {
                return Ok(client);
            }
            match Host::open(&self.settings, self.need).await? {
                Some(host) => self.settle(host).await?,
                // Another process is just starting or leaving.
                None => tokio::time::sleep(PAUSE).await,
            }
        }
        Err(SessionError::Busy { path: self.settings.data_dir.path().to_owned() })
    }

    /// Becomes the server. What it is to follow goes on at once, and is not waited for: it is followed.
    async fn settle(&self, host: Host) -> Result<(), SessionError> {
        let replaces = self.entered.load(Ordering::Relaxed);
        let goes_on = self.need == Need::Follow || self.need.recovers() && replaces;
        let recovered = if goes_on { host.recover(false).await } else { Ok(()) };
        if let Err(error) = recovered {
            host.stop().await;
            return Err(error);
        }
        // Another request of this command can't have been first: the lock is ours alone.
        let _ = self.host.set(host);
        Ok(())
    }

    /// A client of the other process that serves the data directory, if one does; `demanding`: and if it
    /// has taken over what dead processes left.
    async fn neighbour(&self, demanding: bool) -> Result<Option<Client>, SessionError> {
        let path = self.settings.data_dir.agent_lock();
        let holder = current(&path).map_err(|source| SessionError::Lock { path, source })?;
        let socket = self.settings.data_dir.agent_socket();
        if holder.is_none_or(|holder| demanding && !holder.recovers) || !socket.exists() {
            return Ok(None);
        }
        // Between the lock and the socket the agent may still be starting: only what answers counts.
        let answers = tokio::time::timeout(ANSWER, UnixStream::connect(&socket)).await;
        if !answers.is_ok_and(|connected| connected.is_ok()) {
            return Ok(None);
        }
        Ok(Some(Client::new(&Endpoint::unix(socket))))
    }
}

/// The site of a command's requests.
pub(super) struct Requests(pub(super) Arc<Site>);

impl Locate for Requests {
    fn locate(&self) -> Located<'_> {
        let site = self.0.clone();
        // A request may be given up while this process takes the place; that it finishes all the same.
        let found = tokio::spawn(async move { site.client().await });
        Box::pin(async {
            let found = found.await.map_err(|panic| TransportError::Locate { source: panic.into() })?;
            found.map_err(|error| TransportError::Locate { source: error.into() })
        })
    }
}
