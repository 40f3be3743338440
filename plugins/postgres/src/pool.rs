//! Connections: a bounded number for each target, kept for a while after use.

use crate::failure::{Failure, is_lost};
use crate::session::{Doubt, Session};
use crate::target::{Target, TlsMode};
use crate::tls::Tls;
use formwork_plugin::OperationErrorCode;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config};

/// The most connections to one target, those of all its databases together.
const MOST_CONNECTIONS: usize = 8;

/// The most targets whose connections are kept while nobody uses them.
const MOST_TARGETS: usize = 64;

/// How long a connection is kept that nobody uses. It keeps its database from being dropped by others.
const IDLE: Duration = Duration::from_secs(15);

/// What every connection is told first: how it spells and reads values must not depend on the role or
/// the database. Only `pg_catalog` is searched, so that whatever else is named is named in full.
const SETTINGS: &str = "SET search_path TO pg_catalog; SET standard_conforming_strings TO on; \
    SET check_function_bodies TO on; SET client_min_messages TO warning; SET TimeZone TO 'UTC'; \
    SET DateStyle TO 'ISO, YMD'; SET IntervalStyle TO iso_8601; SET extra_float_digits TO 1; \
    SET quote_all_identifiers TO off; SET synchronous_commit TO on; \
    SET default_transaction_isolation TO 'read committed'; \
    SET idle_in_transaction_session_timeout TO '60s'";

/// The pools of all targets.
#[derive(Default)]
pub(crate) struct Pools(Mutex<HashMap<String, Arc<Pool>>>);

/// The connections to one target.
pub(crate) struct Pool {
    pub(crate) target: Target,
    pub(crate) tls: Tls,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Idle>>,
    /// Whether somebody looks after connections that nobody uses.
    watched: AtomicBool,
}

struct Idle {
    database: String,
    client: Client,
    since: Instant,
}

impl Pools {
    /// The pool of a target, made if there is none.
    pub(crate) fn of(&self, target: Target) -> Result<Arc<Pool>, Failure> {
        let mut pools = locked(&self.0);
        if let Some(pool) = pools.get(&target.key) {
            return Ok(pool.clone());
        }
        if pools.len() >= MOST_TARGETS {
            pools.retain(|_, pool| Arc::strong_count(pool) > 1);
        }
        let tls = Tls::of(&target)?;
        let key = target.key.clone();
        let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let pool =
            Arc::new(Pool { target, tls, permits, idle: Mutex::default(), watched: AtomicBool::new(false) });
        pools.insert(key, pool.clone());
        Ok(pool)
    }
}

impl Pool {
    /// Begins a transaction in a database.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        database: &str,
        deadline: Instant,
        doubt: &Doubt,
    ) -> Result<Session, Failure> {
        let closed = |_| Failure::new(OperationErrorCode::ServiceUnavailable, "the plugin stops");
        let permit = self.permits.clone().acquire_owned().await.map_err(closed)?;
        let kept = self.take(database);
        let begin = |client, permit| {
            let session = Session::new(self.clone(), database, client, permit, deadline, doubt.clone());
            async move { session.begin().await.map(|()| session) }
        };
        let permit = match kept {
            None => permit,
            // It may have been lost while nobody used it; nothing was said on it yet.
            Some(client) => match begin(client, permit).await {
                Err(error) if is_lost(&error) => {
                    self.permits.clone().acquire_owned().await.map_err(closed)?
                }
                outcome => return outcome.map_err(Failure::from),
            },
        };
        let client = self.connect(database).await?;
        begin(client, permit).await.map_err(Failure::from)
    }

    /// Takes back a connection that is outside of any transaction.
    pub(crate) fn give_back(self: &Arc<Self>, database: String, client: Client) {
        if client.is_closed() {
            return;
        }
        locked(&self.idle).push(Idle { database, client, since: Instant::now() });
        if !self.watched.swap(true, Ordering::AcqRel) {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
    }

    /// Closes the connections to a database that nobody uses.
    pub(crate) fn close_idle(&self, database: &str) {
        locked(&self.idle).retain(|idle| idle.database != database);
    }

    fn take(&self, database: &str) -> Option<Client> {
        let mut idle = locked(&self.idle);
        idle.retain(|kept| !kept.client.is_closed() && kept.since.elapsed() < IDLE);
        let found = idle.iter().rposition(|kept| kept.database == database);
        let client = found.map(|at| idle.remove(at).client);
        // Whoever connects anew has a permit already.
        let used = MOST_CONNECTIONS - self.permits.available_permits();
        while client.is_none() && !idle.is_empty() && idle.len() + used > MOST_CONNECTIONS {
            idle.remove(0);
        }
        client
    }

    async fn connect(&self, database: &str) -> Result<Client, Failure> {
        let Target { host, port, user, password, .. } = &self.target;
        let mut config = Config::new();
        config.host(host).port(*port).user(user).dbname(database).application_name("formwork");
        config.connect_timeout(self.target.connect_timeout);
        if let Some(password) = password {
            config.password(password.expose());
        }
        config.ssl_mode(match self.target.tls {
            TlsMode::Disable => SslMode::Disable,
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => SslMode::Require,
        });
        let connecting = async {
            let (client, connection) = config.connect(self.tls.clone()).await?;
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    // Whoever uses the connection is told as well.
                    tracing::debug!(%error, "a connection to PostgreSQL ended");
                }
            });
            client.batch_execute(SETTINGS).await?;
            Ok::<_, tokio_postgres::Error>(client)
        };
        let place =
            || format!("cannot connect to {} as `{user}`, database `{database}`", self.target.place());
        match tokio::time::timeout(self.target.connect_timeout, connecting).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(error)) => Err(match Failure::from(error) {
                Failure::Refused { code, message } => Failure::new(code, format!("{}: {message}", place())),
                doubt @ Failure::InDoubt { .. } => doubt,
            }),
            Err(_) => {
                let seconds = self.target.connect_timeout.as_secs();
                let message = format!("{}: no answer within {seconds} s", place());
                Err(Failure::new(OperationErrorCode::ServiceUnavailable, message))
            }
        }
    }

    fn close_old(&self) -> bool {
        let mut idle = locked(&self.idle);
        idle.retain(|kept| !kept.client.is_closed() && kept.since.elapsed() < IDLE);
        idle.is_empty()
    }
}

/// Closes connections that nobody uses any more, until none is left.
async fn watch(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE / 3).await;
        let Some(pool) = pool.upgrade() else { return };
        if pool.close_old() {
            pool.watched.store(false, Ordering::Release);
            // One that came back just now is watched by nobody.
            if pool.close_old() || pool.watched.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    }
}

/// A lock is never held across anything that can panic with its data half changed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
