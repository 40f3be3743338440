//! Where a command's requests go: to a server elsewhere, to the agent of the data directory, or to
//! this process, which becomes that agent for as long as it is needed (architecture, "Edges").

mod error;
mod host;
mod interrupt;
mod lock;
pub(crate) mod log;
pub(crate) mod plugins;
mod site;
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
use site::{Requests, Site};
use std::cell::Cell;
use std::sync::Arc;

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
    /// A server that somebody else runs.
    Elsewhere,
    /// The data directory: its agent, another command's process, or this one.
    Here(Arc<Site>),
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
                return Ok(Self::new(Client::new(&endpoint).with_bearer(token), Place::Elsewhere, global));
            }
            Connection::Local { token } => token,
        };
        let settings = Settings::from_environment(&environment)?;
        let site = Arc::new(Site::new(settings, need));
        site.enter().await?;
        let client = Client::located(Arc::new(Requests(site.clone()))).with_bearer(site.token(token)?);
        Ok(Self::new(client, Place::Here(site), global))
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
        self.host().is_some_and(Host::keeps_nothing)
    }

    /// Whether this process carries out what it asks for.
    pub(crate) fn is_embedded(&self) -> bool {
        self.host().is_some()
    }

    /// What this process serves, if it does.
    fn host(&self) -> Option<&Host> {
        match &self.place {
            Place::Elsewhere => None,
            Place::Here(site) => site.host(),
        }
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
        match (self.host(), self.interrupts.get()) {
            (Some(_), 1) => {
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
            Place::Elsewhere => std::future::pending().await,
            Place::Here(site) => site.hosting().await.given_up(operation).await,
        }
        SessionError::GivenUp { operation: operation.to_owned() }
    }

    /// Ends the session. A process that serves itself stays until its operations, and those of
    /// clients it served meanwhile, are done; one that was left by a second Ctrl-C goes now.
    pub(crate) async fn leave(self) {
        let hurry = self.interrupts.get() > 1;
        let Some(host) = self.host().filter(|_| !hurry) else { return };
        let mut interrupts = Interrupts::new();
        tokio::select! {
            () = host.leave() => return,
            () = interrupts.next() => {}
        }
        // Who does not want to wait leaves the rest to whoever follows it, or to be recovered: at a step's
        // end, so that nothing is in doubt, or now.
        tokio::select! {
            () = host.stop() => {}
            () = interrupts.next() => {}
        }
    }
}
