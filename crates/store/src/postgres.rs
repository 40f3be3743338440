//! A store in PostgreSQL, in the schema `formwork` of a database.
//!
//! Writers of all processes take turns under one advisory lock, which a whole group commit holds.
//! That keeps every rule as simple as with one process: no deadlocks, references can't appear
//! behind a check, and events become visible in the order of their numbers.

use crate::StoreError;
use crate::sql::{Connection, Control, Dialect, Param, SqlRow, SqlStore, SqlTx, migrate};
use crate::tables::Stored;
use ::postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use ::postgres::{Client, Config, NoTls, Statement};
use bytes::BytesMut;
use formwork_model::Timestamp;
use std::collections::HashMap;
use std::error::Error;
use std::thread;
use tokio::sync::oneshot;

/// A store in PostgreSQL.
pub type PostgresStore = SqlStore<Postgres>;

/// The database of a [`PostgresStore`].
#[derive(Debug)]
pub enum Postgres {}

/// How a PostgreSQL store behaves.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// How many connections read, at least one.
    pub readers: usize,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { readers: 2 }
    }
}

const DIALECT: Dialect = Dialect { text: "TEXT COLLATE \"C\"", clustered: "", serial: "BIGINT PRIMARY KEY" };

/// How many prepared statements a connection keeps. Lists over several projects have a text for
/// each number of them, so the texts are not limited.
const STATEMENTS: usize = 256;

/// What every connection is told first. A commit is durable when it is acknowledged, whatever the
/// server's default is; a process that stops in the middle of a transaction loses it, so that the
/// others can go on.
const SESSION: &str = "SET search_path TO formwork; SET synchronous_commit TO on; \
    SET idle_in_transaction_session_timeout TO '30s'; SET lock_timeout TO '60s'; \
    SET client_min_messages TO warning";

impl PostgresStore {
    /// Opens the store in a database (`postgres://user:password@host/database`, or `host=… …`),
    /// makes its schema if it is not there, and brings it to the newest format.
    ///
    /// There is no TLS: `sslmode=prefer`, the default, connects without; `sslmode=require` fails.
    /// Leases run by the server's clock. [`event_signal`](crate::Store::event_signal) rises with the
    /// events of this process; those of others are seen by whoever reads again after a while.
    ///
    /// # Errors
    /// [`StoreError::Newer`] for the store of a newer version, which is left as it is;
    /// [`StoreError::Fault`].
    pub async fn open(url: &str, options: &PostgresOptions) -> Result<Self, StoreError> {
        let config: Config = url.parse().map_err(|error| fault("read the database's address", error))?;
        let readers = options.readers.max(1);
        let (answer, answered) = oneshot::channel();
        // The client blocks, and must neither be made nor dropped where an async runtime runs.
        thread::Builder::new()
            .name("store-open".to_owned())
            .spawn(move || drop(answer.send(connect(&config, readers))))
            .map_err(|error| fault("started a thread", error))?;
        answered.await.map_err(|error| fault("opened the store", error))?
    }
}

fn connect(config: &Config, readers: usize) -> Stored<PostgresStore> {
    let mut writer = PostgresConnection::open(config, Role::Writer)?;
    writer.control(Control::Begin)?;
    writer.execute("CREATE SCHEMA IF NOT EXISTS formwork", &[])?;
    migrate(&mut writer, DIALECT)?;
    writer.control(Control::Commit)?;
    let reading =
        (0..readers).map(|_| PostgresConnection::open(config, Role::Reader)).collect::<Stored<_>>()?;
    PostgresStore::over(writer, reading)
}

fn fault(doing: &'static str, error: impl Error + Send + Sync + 'static) -> StoreError {
    StoreError::Fault { doing, source: Box::new(error) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Writer,
    Reader,
}

struct PostgresConnection {
    client: Client,
    config: Config,
    role: Role,
    statements: HashMap<String, Statement>,
    spoiled: bool,
}

impl PostgresConnection {
    fn open(config: &Config, role: Role) -> Stored<Self> {
        let (config, client) = (config.clone(), new_client(config)?);
        Ok(Self { client, config, role, statements: HashMap::new(), spoiled: false })
    }

    fn statement(&mut self, sql: &str) -> Result<Statement, ::postgres::Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql)?;
        if self.statements.len() >= STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn spoil(&mut self, doing: &'static str) -> impl FnOnce(::postgres::Error) -> StoreError {
        self.spoiled = true;
        move |error| fault(doing, error)
    }
}

fn new_client(config: &Config) -> Stored<Client> {
    let connect = || {
        let mut client = config.connect(NoTls)?;
        client.batch_execute(SESSION)?;
        Ok(client)
    };
    connect().map_err(|error: ::postgres::Error| fault("connected to the database", error))
}

impl ToSql for Param<'_> {
    fn to_sql(&self, type_: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Param::Text(text) => text.to_sql(type_, out),
            Param::Int(number) => number.to_sql(type_, out),
            Param::Null => Ok(IsNull::Yes),
        }
    }

    /// All columns and parameters are of the two types that a parameter can have.
    fn accepts(type_: &Type) -> bool {
        <&str as ToSql>::accepts(type_) || <i64 as ToSql>::accepts(type_)
    }

    to_sql_checked!();
}

/// The parameters as the client takes them.
fn dynamic<'a>(params: &'a [Param<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|param| param as _).collect()
}

impl SqlRow for ::postgres::Row {
    fn maybe_text(&self, column: usize) -> Stored<Option<&str>> {
        self.try_get(column).map_err(|error| fault("read a record", error))
    }

    fn maybe_int(&self, column: usize) -> Stored<Option<i64>> {
        self.try_get(column).map_err(|error| fault("read a record", error))
    }
}

impl SqlTx for PostgresConnection {
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Stored<u64> {
        self.statement(sql)
            .and_then(|statement| self.client.execute(&statement, &dynamic(params)))
            .map_err(|error| self.spoil("wrote a record")(error))
    }

    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn SqlRow) -> Stored<()>,
    ) -> Stored<()> {
        let rows = self
            .statement(sql)
            .and_then(|statement| self.client.query(&statement, &dynamic(params)))
            .map_err(|error| self.spoil("read a record")(error))?;
        rows.iter().try_for_each(|row| each(row))
    }

    fn now(&mut self) -> Stored<Timestamp> {
        let mut now = Timestamp::default();
        let sql = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
        self.query(sql, &[], &mut |row| {
            now = Timestamp(row.maybe_int(0)?.unwrap_or_default());
            Ok(())
        })?;
        Ok(now)
    }
}

impl Connection for PostgresConnection {
    fn control(&mut self, control: Control) -> Stored<()> {
        let (statement, doing) = match (control, self.role) {
            // The key of the lock is this program's name in ASCII.
            (Control::Begin, Role::Writer) => (
                "BEGIN ISOLATION LEVEL READ COMMITTED; \
                 SELECT pg_catalog.pg_advisory_xact_lock(x'666f726d776f726b'::bigint)",
                "began a transaction",
            ),
            (Control::Begin, Role::Reader) => {
                ("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", "began a transaction")
            }
            (Control::Commit, _) => ("COMMIT", "committed"),
            (Control::RollBack, _) => ("ROLLBACK", "rolled back"),
            (Control::Savepoint, _) => ("SAVEPOINT unit", "began a unit"),
            (Control::Release, _) => ("RELEASE SAVEPOINT unit", "ended a unit"),
            (Control::RollBackTo, _) => ("ROLLBACK TO SAVEPOINT unit", "rolled a unit back"),
        };
        self.spoiled = false;
        self.client.batch_execute(statement).map_err(|error| fault(doing, error))
    }

    fn revive(&mut self) -> Stored<()> {
        if self.client.is_closed() {
            self.client = new_client(&self.config)?;
            self.statements.clear();
        }
        Ok(())
    }

    fn is_spoiled(&self) -> bool {
        self.spoiled
    }
}
