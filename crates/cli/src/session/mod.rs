//! Where a command's requests go: to a server elsewhere, to the agent of the data directory, or to
//! this process, which becomes that agent for as long as it is needed (architecture, "Edges").

mod error;
mod host;
mod interrupt;
mod lock;
mod log;
mod stores;

pub(crate) use error::SessionError;
pub(crate) use host::Host;
pub(crate) use interrupt::StopRequest;
pub(crate) use lock::{Holder, current};

use crate::args::{self, Global};
use crate::exit::Exit;
use formwork_api::{Client, Endpoint};
use formwork_config::{Connection, ConnectionRequest, Environment, Profiles, Settings};
use interrupt::Interrupts;
use lock::Guest;
use std::cell::Cell;
use std::time::Duration;

/// How often the lock of a data directory is tried, while another process starts or leaves.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(10);
/// For how many of them a process that only reads is waited for, before it is used as it is.
const TRIES_TO_RECOVER: u32 = 300;

/// What a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// No store at all: it only checks.
    Nothing,
    /// What is stored, unchanged: on no store it creates none.
    Read,
    /// What is stored, and that operations go on whose process is dead.
    Follow,
    /// To change something.
    Write,
}

impl Need {
    /// Whether a process that serves itself for this takes over what a dead one left unfinished.
    fn recovers(self) -> bool {
        matches!(self, Self::Follow | Self::Write)
    }
}

/// A connection for one command.
pub(crate) struct Session {
    client: Client,
    place: Place,
    progress: args::Progress,
    interrupts: Cell<u32>,
}

enum Place {
    /// A server that somebody else runs: one that stays, or another command's, whose guest this is.
    Elsewhere(#[expect(dead_code, reason = "held until the command ends")] Option<Guest>),
    /// This process.
    Here(Box<Host>),
}

impl Session {
    /// Connects as the configuration says.
    ///
    /// # Errors
    /// The configuration can't be used, or this process can't serve itself.
    pub(crate) async fn connect(global: &Global, need: Need) -> Result<Self, crate::commands::CommandError> {
        let environment = Environment::from_process();
        let profiles = Profiles::read(&environment)?;
        let request = ConnectionRequest { profile: global.profile.as_deref() };
        let token = match Connection::resolve(request, &environment, &profiles)? {
            Connection::Remote { base_url, token } => {
                let endpoint: Endpoint = base_url.parse().map_err(SessionError::Endpoint)?;
                return Ok(Self::new(
                    Client::new(&endpoint).with_bearer(token),
                    Place::Elsewhere(None),
                    global,
                ));
            }
            Connection::Local { token } => token,
        };
        let settings = Settings::from_environment(&environment)?;
        for tries in 0..TRIES {
            let demanding = need.recovers() && tries < TRIES_TO_RECOVER;
            if let Some((client, guest)) = agent_client(&settings, token.as_ref(), demanding)? {
                return Ok(Self::new(client, Place::Elsewhere(guest), global));
            }
            match Host::open(&settings, need).await? {
                Some(host) => {
                    let client = match &token {
                        Some(token) => host.client().clone().with_bearer(Some(token.clone())),
                        None => host.client().clone(),
                    };
                    return Ok(Self::new(client, Place::Here(Box::new(host)), global));
                }
                // Another process is just starting or leaving.
                None => tokio::time::sleep(PAUSE).await,
            }
        }
        Err(SessionError::Busy { path: settings.data_dir.path().to_owned() }.into())
    }

    fn new(client: Client, place: Place, global: &Global) -> Self {
        Self { client, place, progress: global.progress, interrupts: Cell::new(0) }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn progress(&self) -> args::Progress {
        self.progress
    }

    /// Whether there is no store: what was planned in it can't be carried out elsewhere.
    pub(crate) fn keeps_nothing(&self) -> bool {
        matches!(&self.place, Place::Here(host) if host.keeps_nothing())
    }

    /// Whether this process carries out what it asks for.
    pub(crate) fn is_embedded(&self) -> bool {
        matches!(self.place, Place::Here(_))
    }

    /// Ctrl-C, as it is pressed.
    #[expect(clippy::unused_self, reason = "interrupts belong to the command that follows something")]
    pub(crate) fn interrupts(&self) -> Interrupts {
        Interrupts::new()
    }

    pub(crate) fn was_interrupted(&self) -> bool {
        self.interrupts.get() > 0
    }

    /// Ctrl-C while an operation is followed. Elsewhere, it detaches. Here, the first asks the
    /// operation to stop (`None`: go on following), the second leaves at once and leaves the
    /// operation to be recovered.
    pub(crate) async fn interrupted(&self, operation: &str) -> Option<Exit> {
        self.interrupts.set(self.interrupts.get() + 1);
        match (&self.place, self.interrupts.get()) {
            (Place::Here(_), 1) => {
                // It may be over already; then its end is on the way.
                let _ = self.client.cancel_operation(operation, false).await;
                None
            }
            _ => Some(Exit::Interrupted),
        }
    }

    /// Waits until this process gives an operation up that it carries out; for ever if it ends, or
    /// is carried out elsewhere.
    pub(crate) async fn given_up(&self, operation: &str) -> SessionError {
        match &self.place {
            Place::Here(host) => host.given_up(operation).await,
            Place::Elsewhere(_) => std::future::pending().await,
        }
        SessionError::GivenUp { operation: operation.to_owned() }
    }

    /// Ends the session. A process that serves itself stays until its operations, and those of
    /// clients it served meanwhile, are done; one that was left by a second Ctrl-C goes now.
    pub(crate) async fn leave(self) {
        let hurry = self.interrupts.get() > 1;
        if let Place::Here(host) = self.place {
            if hurry {
                return host.abandon();
            }
            let mut interrupts = Interrupts::new();
            tokio::select! {
                () = host.leave() => {}
                // Who does not want to wait leaves the rest to be recovered.
                () = interrupts.next() => {}
            }
        }
    }
}

/// A client of the process that serves the data directory, if one does; `demanding`: and if it has
/// taken over what dead processes left.
fn agent_client(
    settings: &Settings,
    token: Option<&formwork_model::Secret<String>>,
    demanding: bool,
) -> Result<Option<(Client, Option<Guest>)>, crate::commands::CommandError> {
    let path = settings.data_dir.agent_lock();
    let holder = current(&path).map_err(|source| SessionError::Lock { path, source })?;
    let socket = settings.data_dir.agent_socket();
    let Some(holder) = holder.filter(|holder| holder.recovers || !demanding) else { return Ok(None) };
    if !socket.exists() {
        return Ok(None);
    }
    let guest = if holder.resident { None } else { enter(settings)? };
    if guest.is_none() && !holder.resident {
        return Ok(None);
    }
    let token = match token {
        Some(token) => Some(token.clone()),
        None => settings.data_dir.existing_admin_token()?,
    };
    // Between the lock and the socket the agent may still be starting: only what answers counts.
    if std::os::unix::net::UnixStream::connect(&socket).is_err() {
        return Ok(None);
    }
    Ok(Some((Client::new(&Endpoint::unix(socket)).with_bearer(token), guest)))
}

/// Becomes the guest of a process that leaves with its own command; `None` if it leaves just now, or
/// has not opened its door yet.
fn enter(settings: &Settings) -> Result<Option<Guest>, SessionError> {
    let path = settings.data_dir.agent_guests();
    match Guest::enter(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        entered => entered.map_err(|source| SessionError::Lock { path, source }),
    }
}
