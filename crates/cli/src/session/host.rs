//! A process that serves its data directory: for one command, or as the agent.

use super::interrupt::StopRequest;
use super::lock::{DataLock, Holder};
use super::{Need, SessionError, log, plugins, stores};
use crate::ui::say;
use formwork_api::Client;
use formwork_config::{Database, Environment, Settings};
use formwork_control::{Control, ControlOptions, CustomTypes, OutsideTypes, Surroundings};
use formwork_engine::{EngineOptions, SystemClock};
use formwork_model::{Catalog as _, InstanceKey, OperationId, OwnerId, Secret, WireCode};
use formwork_platform::Platform;
use formwork_plugin_host::Plugins;
use formwork_server::{Exposure, Listeners, ServerOptions, Shutdown};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long what is in flight may take when the process is told to stop.
const GRACE: Duration = Duration::from_secs(20);
/// How often an agent looks for operations that nobody carries on.
const RECOVER: Duration = Duration::from_secs(5);
/// How often content that is kept no longer is looked for.
const PURGE: Duration = Duration::from_secs(60 * 60);
/// How often a process that is about to leave looks whether it may.
const LOOK: Duration = Duration::from_millis(20);

/// How long a process that is about to leave may stay without saying why.
const UNEXPLAINED: Duration = Duration::from_secs(1);

/// A process that serves its data directory, or nothing but itself.
pub(crate) struct Host {
    control: Arc<Control>,
    client: Client,
    /// The administrator's.
    token: Secret<String>,
    server: Mutex<Option<Serving>>,
    plugins: Arc<Plugins>,
    /// Given up last.
    lock: Option<DataLock>,
}

/// The sockets of a host.
struct Serving {
    shutdown: Shutdown,
    task: tokio::task::JoinHandle<()>,
}

impl Host {
    /// Becomes the server of the data directory for a command. `None`: another process just became
    /// it.
    ///
    /// # Errors
    /// Anything that stands in the way.
    pub(crate) async fn open(settings: &Settings, need: Need) -> Result<Option<Self>, SessionError> {
        let nothing_stored = !settings.data_dir.exists() && matches!(settings.database, Database::Sqlite(_));
        if need == Need::Nothing || (need != Need::Write && nothing_stored) {
            return Self::nowhere(settings).await.map(Some);
        }
        Self::serve(settings, Holder::command(now_millis(), need.recovers()), None).await
    }

    /// Becomes the agent of the data directory. `None`: another process is.
    ///
    /// # Errors
    /// Anything that stands in the way.
    pub(crate) async fn resident(
        settings: &Settings,
        listen: Option<SocketAddr>,
    ) -> Result<Option<Self>, SessionError> {
        let Some(host) = Self::serve(settings, Holder::resident(now_millis()), listen).await? else {
            return Ok(None);
        };
        host.recover(false).await?;
        Ok(Some(host))
    }

    /// Serves nobody but this command, and keeps nothing.
    async fn nowhere(settings: &Settings) -> Result<Self, SessionError> {
        let (plugins, types) = outside_types(custom_types(settings)?, settings).await?;
        let owner = OwnerId::from(format!("{}@nowhere", std::process::id()));
        let (store, key) = (stores::nowhere(), InstanceKey::generate());
        let control = Control::open_with(store, key, Arc::new(SystemClock), options(owner), types).await?;
        let token = Secret::new(formwork_secret::hex(&formwork_secret::random_bytes::<32>()));
        control.admin_token(&token, "nowhere").await?;
        let client = in_process(&control, token.clone());
        Ok(Self { control, client, token, server: Mutex::new(None), plugins, lock: None })
    }

    async fn serve(
        settings: &Settings,
        holder: Holder,
        listen: Option<SocketAddr>,
    ) -> Result<Option<Self>, SessionError> {
        log::install(settings.log);
        let custom = custom_types(settings)?;
        settings.data_dir.prepare().map_err(SessionError::Config)?;
        let path = settings.data_dir.agent_lock();
        let taken = DataLock::take(&path, holder).map_err(|source| SessionError::Lock { path, source })?;
        let Ok(lock) = taken else { return Ok(None) };
        let (plugins, types) = outside_types(custom, settings).await?;
        let store = stores::open(settings).await?;
        let key = stores::instance_key(settings, &*store).await?;
        let owner = lock.holder.owner();
        let control = Control::open_with(store, key, Arc::new(SystemClock), options(owner), types).await?;
        let token = settings.data_dir.admin_token().map_err(SessionError::Config)?;
        control.admin_token(&token, &home(settings)).await?;
        prepare_users(&control, settings, lock.holder.resident).await?;
        let socket = settings.data_dir.agent_socket();
        let mut listeners = Listeners::new();
        listeners.unix(&socket).await?;
        if let Some(address) = listen {
            let exposure = if control.has_users().await? { Exposure::Network } else { Exposure::Loopback };
            listeners.tcp(address, exposure).await?;
        }
        let server = Serving::start(&control, listeners, settings);
        let client = in_process(&control, token.clone());
        Ok(Some(Self { control, client, token, server: Mutex::new(Some(server)), plugins, lock: Some(lock) }))
    }

    /// Takes over what a dead process left unfinished, and says so. `wait`: until it is finished, as the
    /// first command that changes something does.
    ///
    /// # Errors
    /// The store can't be read or written.
    pub(crate) async fn recover(&self, wait: bool) -> Result<(), SessionError> {
        let recovered = recover(&self.control, self.holder()).await?;
        for operation in recovered {
            say(format_args!("recovering operation {operation}, which was interrupted"));
            if wait {
                tokio::select! {
                    waited = self.control.wait(&operation) => waited?,
                    () = self.control.given_up(&operation) => {
                        return Err(SessionError::GivenUp { operation: operation.to_string() });
                    }
                }
                say(format_args!("recovered operation {operation}"));
            }
        }
        Ok(())
    }

    /// Whether it serves a store that is gone with it.
    pub(crate) fn keeps_nothing(&self) -> bool {
        self.lock.is_none()
    }

    /// Waits until it gives an operation up unfinished; for ever if that ends.
    pub(crate) async fn given_up(&self, operation: &str) {
        self.control.given_up(&operation.into()).await;
    }

    fn holder(&self) -> Option<&Holder> {
        self.lock.as_ref().map(|lock| &lock.holder)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// What the administrator's requests to it are sent with.
    pub(crate) fn token(&self) -> Secret<String> {
        self.token.clone()
    }

    /// Waits until its operations, and those of clients it served meanwhile, are done; then stops.
    pub(crate) async fn leave(&self) {
        let began = Instant::now();
        let mut said = false;
        while !self.control.running().is_empty() {
            if !said && began.elapsed() > UNEXPLAINED {
                said = true;
                say(format_args!("this process still carries out an operation; it leaves when that is done"));
            }
            tokio::time::sleep(LOOK).await;
        }
        self.stop().await;
    }

    /// Serves until told to stop; what is in flight may end within a bound. Meanwhile it takes over
    /// what others leave: another machine's process that died, or an operation of its own that had to
    /// be given up while the store was away.
    pub(crate) async fn serve_until(self, stop: &mut StopRequest) {
        let mut purged: Option<Instant> = None;
        loop {
            if purged.is_none_or(|purged| purged.elapsed() > PURGE) {
                purged = Some(Instant::now());
                self.purge().await;
            }
            tokio::select! {
                () = stop.wait() => break,
                () = tokio::time::sleep(RECOVER) => {}
            }
            if let Err(error) = self.recover(false).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot look for interrupted operations"
                );
            }
        }
        self.stop().await;
    }

    /// Purges what its project keeps no longer.
    pub(crate) async fn purge(&self) {
        match self.control.purge_expired_content().await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "purged the content of old generations and traces"),
            Err(error) => tracing::warn!(
                error = &error as &dyn std::error::Error,
                "cannot purge the content of old generations and traces"
            ),
        }
    }

    /// Brings what runs to rest, within a bound.
    pub(crate) async fn stop(&self) {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        match server {
            Some(server) => server.stop().await,
            None => self.control.shutdown(GRACE).await,
        }
        self.plugins.stop().await;
    }
}

impl Serving {
    fn start(control: &Arc<Control>, listeners: Listeners, settings: &Settings) -> Self {
        let shutdown = Shutdown::new();
        let options = ServerOptions {
            shutdown: shutdown.clone(),
            trusted_proxies: settings.trusted_proxies.clone(),
            ..ServerOptions::default()
        };
        let task = tokio::spawn(formwork_server::run(control.clone(), listeners, options, GRACE));
        Self { shutdown, task }
    }

    /// Stops accepting, lets what is in flight finish within the grace period, stops the use cases.
    async fn stop(self) {
        self.shutdown.trigger();
        // A panic in it has been reported already; there is nothing left to stop then.
        let _ = self.task.await;
    }
}

/// What tells the data directory from others that share its store: on other machines, or on this one.
fn home(settings: &Settings) -> String {
    if matches!(settings.database, Database::Sqlite(_)) {
        return "alone".to_owned();
    }
    let path = settings.data_dir.path();
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    format!("{} {}", rustix::system::uname().nodename().to_string_lossy(), path.display())
}

/// Makes users possible as the settings say: what logins are signed with, and who is the first.
async fn prepare_users(control: &Control, settings: &Settings, resident: bool) -> Result<(), SessionError> {
    if let Some(secret) = &settings.jwt_secret {
        control.sign_logins_with(Secret::new(secret.expose().as_bytes().to_vec()));
    }
    // A command that serves itself for a moment makes nothing that it was not asked for.
    let Some((username, password)) = settings.first_admin.as_ref().filter(|_| resident) else {
        return Ok(());
    };
    match control.bootstrap_user(username, password.clone()).await {
        Err(error) if error.code != WireCode::BootstrapAlreadyCompleted => Err(error.into()),
        _ => Ok(()),
    }
}

/// Takes over the operations whose owners are gone.
async fn recover(control: &Control, holder: Option<&Holder>) -> Result<Vec<OperationId>, SessionError> {
    let is_dead = |owner: &OwnerId| holder.is_some_and(|holder| holder.succeeds(owner));
    Ok(control.recover(&is_dead).await?)
}

/// What is served outside of this process: the types that the operator registered, and those of plugins.
async fn outside_types(
    custom: CustomTypes,
    settings: &Settings,
) -> Result<(Arc<Plugins>, OutsideTypes), SessionError> {
    let plugins = plugins::load(&settings.data_dir).await?;
    let types = OutsideTypes { custom, plugins: plugins::types(&plugins) };
    Ok((plugins, types))
}

/// The types that the operator registered.
fn custom_types(settings: &Settings) -> Result<CustomTypes, SessionError> {
    let Some(file) = &settings.resource_types else { return Ok(CustomTypes::default()) };
    let environment = Environment::from_process();
    let surroundings =
        Surroundings { built_in: &Platform::catalog().names(), variable: &|name| environment.secret(name) };
    Ok(CustomTypes::load(file, &surroundings)?)
}

fn in_process(control: &Arc<Control>, token: Secret<String>) -> Client {
    Client::in_process(formwork_server::local_router(control.clone(), ServerOptions::default()))
        .with_bearer(Some(token))
}

fn options(owner: OwnerId) -> ControlOptions {
    ControlOptions { limits: formwork_formation::Limits::default(), engine: EngineOptions::new(owner) }
}

fn now_millis() -> i64 {
    use formwork_engine::Clock as _;
    SystemClock.now().0
}
