//! A store in one SQLite file.
//!
//! Write-ahead log with `synchronous=FULL`: a commit is one fsync, and readers never wait for the
//! writer. Several processes may use one file; their writers take turns.

use crate::sql::{
    Connection, Control, Dialect, Param, SqlReader, SqlRow, SqlStore, SqlTx, migrate, readers,
    require_known_format,
};
use crate::tables::Stored;
use crate::{Clock, Reader, StoreError, SystemClock};
use formwork_model::Timestamp;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{OpenFlags, ToSql};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A store in one SQLite file.
pub type SqliteStore = SqlStore<Sqlite>;

/// The database of a [`SqliteStore`].
#[derive(Debug)]
pub enum Sqlite {}

/// How a SQLite store behaves.
#[derive(Clone)]
pub struct SqliteOptions {
    /// The clock that leases run by. All processes that use the file must agree on it, which those
    /// of one machine do.
    pub clock: Arc<dyn Clock>,
    /// How many threads read, at least one.
    pub readers: usize,
    /// How long a writer waits for that of another process.
    pub busy_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { clock: Arc::new(SystemClock), readers: 2, busy_timeout: Duration::from_secs(30) }
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions")
            .field("readers", &self.readers)
            .field("busy_timeout", &self.busy_timeout)
            .finish_non_exhaustive()
    }
}

const DIALECT: Dialect = Dialect { text: "TEXT", clustered: " WITHOUT ROWID", serial: "INTEGER PRIMARY KEY" };

/// How many prepared statements a connection keeps: more than there are in this crate.
const STATEMENTS: usize = 128;

impl SqliteStore {
    /// Opens the store in a file, which is made (readable by its owner only) if it is not there,
    /// and brings it to the newest format. The directory must exist.
    ///
    /// # Errors
    /// [`StoreError::Newer`] for the store of a newer version, which is left as it is;
    /// [`StoreError::Fault`].
    pub fn open(path: impl AsRef<Path>, options: &SqliteOptions) -> Result<Self, StoreError> {
        let path = path.as_ref();
        restrict(path).map_err(|error| fault("opened the store", error))?;
        let mut writer = SqliteConnection::open(path, Role::Writer, options)?;
        writer.control(Control::Begin)?;
        migrate(&mut writer, DIALECT)?;
        writer.control(Control::Commit)?;
        let readers = (0..options.readers.max(1))
            .map(|_| SqliteConnection::open(path, Role::Reader, options))
            .collect::<Stored<_>>()?;
        Self::over(writer, readers)
    }

    /// Opens the reading side of a store for a command that only reads: `None` if there is no
    /// store, which is not made then (INV-5).
    ///
    /// # Errors
    /// [`StoreError::Newer`], [`StoreError::Fault`].
    pub fn open_read_only(
        path: impl AsRef<Path>,
        options: &SqliteOptions,
    ) -> Result<Option<Arc<dyn Reader>>, StoreError> {
        let path = path.as_ref();
        if !path.try_exists().map_err(|error| fault("opened the store", error))? {
            return Ok(None);
        }
        let mut connection = SqliteConnection::open(path, Role::Reader, options)?;
        connection.control(Control::Begin)?;
        let is_store = connection.has_tables()? && require_known_format(&mut connection)? > 0;
        connection.control(Control::RollBack)?;
        if !is_store {
            return Ok(None);
        }
        let reader: Arc<SqlReader> = readers(vec![connection])?;
        Ok(Some(reader))
    }
}

/// Makes the file, so that nobody but its owner can ever read it. SQLite gives the log and its
/// index the same permissions.
#[cfg(unix)]
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    const OWNER_ONLY: u32 = 0o600;
    let file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(OWNER_ONLY).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(OWNER_ONLY))
}

#[cfg(not(unix))]
fn restrict(path: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().write(true).create(true).truncate(false).open(path).map(drop)
}

fn fault(doing: &'static str, error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Fault { doing, source: Box::new(error) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Writer,
    Reader,
}

struct SqliteConnection {
    connection: rusqlite::Connection,
    role: Role,
    clock: Arc<dyn Clock>,
    spoiled: bool,
}

/// Why a statement was not run.
#[derive(Debug, thiserror::Error)]
#[error("the transaction was rolled back by an earlier error")]
struct NoTransaction;

impl SqliteConnection {
    fn open(path: &Path, role: Role, options: &SqliteOptions) -> Stored<Self> {
        let access = match role {
            Role::Writer => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Role::Reader => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let connect = || {
            let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = rusqlite::Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(options.busy_timeout)?;
            connection.set_prepared_statement_cache_capacity(STATEMENTS);
            // Without this guarantee, statements whose plan might gain by knowing the parameters are
            // prepared again each time they are run.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            match role {
                Role::Writer => {
                    connection.pragma_update(None, "journal_mode", "wal")?;
                    connection.pragma_update(None, "synchronous", "full")?;
                    connection.pragma_update(None, "foreign_keys", true)?;
                }
                Role::Reader => connection.pragma_update(None, "query_only", true)?,
            }
            Ok(connection)
        };
        let connection = connect().map_err(|error: rusqlite::Error| fault("opened the store", error))?;
        Ok(Self { connection, role, clock: options.clock.clone(), spoiled: false })
    }

    /// Whether this is more than an empty file.
    fn has_tables(&mut self) -> Stored<bool> {
        let mut found = false;
        self.query("SELECT 1 FROM sqlite_schema WHERE name = 'meta'", &[], &mut |_| {
            found = true;
            Ok(())
        })?;
        Ok(found)
    }

    fn run<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        run: impl FnOnce(&mut rusqlite::Statement<'_>) -> Stored<T>,
    ) -> Stored<T> {
        // Some errors roll the whole transaction back; what follows must not stand alone.
        if self.connection.is_autocommit() {
            self.spoiled = true;
            return Err(fault("ran a statement", NoTransaction));
        }
        let ran = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                for (index, param) in params.iter().enumerate() {
                    statement.raw_bind_parameter(index + 1, param)?;
                }
                Ok(statement)
            })
            .map_err(|error| fault("prepared a statement", error))
            .and_then(|mut statement| run(&mut statement));
        self.spoiled |= matches!(ran, Err(StoreError::Fault { .. }));
        ran
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Param::Text(text) => ValueRef::Text(text.as_bytes()),
            Param::Int(number) => ValueRef::Integer(*number),
            Param::Null => ValueRef::Null,
        }))
    }
}

impl SqlRow for rusqlite::Row<'_> {
    fn maybe_text(&self, column: usize) -> Stored<Option<&str>> {
        let value = self.get_ref(column).map_err(|error| fault("read a record", error))?;
        value.as_str_or_null().map_err(|error| damaged(column, &error))
    }

    fn maybe_int(&self, column: usize) -> Stored<Option<i64>> {
        let value = self.get_ref(column).map_err(|error| fault("read a record", error))?;
        value.as_i64_or_null().map_err(|error| damaged(column, &error))
    }
}

/// A column that holds something else than what is always written there.
fn damaged(column: usize, error: &rusqlite::types::FromSqlError) -> StoreError {
    StoreError::Unreadable { record: format!("column {column}"), reason: error.to_string() }
}

impl SqlTx for SqliteConnection {
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Stored<u64> {
        self.run(sql, params, |statement| {
            let changed = statement.raw_execute().map_err(|error| fault("wrote a record", error))?;
            Ok(changed as u64)
        })
    }

    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn SqlRow) -> Stored<()>,
    ) -> Stored<()> {
        self.run(sql, params, |statement| {
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next().map_err(|error| fault("read a record", error))? {
                each(row)?;
            }
            Ok(())
        })
    }

    fn now(&mut self) -> Stored<Timestamp> {
        Ok(self.clock.now())
    }
}

impl Connection for SqliteConnection {
    fn control(&mut self, control: Control) -> Stored<()> {
        let (statement, doing) = match (control, self.role) {
            (Control::Begin, Role::Writer) => ("BEGIN IMMEDIATE", "began a transaction"),
            (Control::Begin, Role::Reader) => ("BEGIN", "began a transaction"),
            (Control::Commit, _) => ("COMMIT", "committed"),
            (Control::RollBack, _) => ("ROLLBACK", "rolled back"),
            (Control::Savepoint, _) => ("SAVEPOINT unit", "began a unit"),
            (Control::Release, _) => ("RELEASE unit", "ended a unit"),
            (Control::RollBackTo, _) => ("ROLLBACK TO unit", "rolled a unit back"),
        };
        self.spoiled = false;
        self.connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.raw_execute())
            .map_err(|error| fault(doing, error))?;
        Ok(())
    }

    fn revive(&mut self) -> Stored<()> {
        Ok(())
    }

    fn is_spoiled(&self) -> bool {
        self.spoiled
    }
}
