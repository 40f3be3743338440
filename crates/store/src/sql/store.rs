//! A store over a SQL database: hands jobs to the threads that own its connections.

use super::worker::{Connection, Lost, Ran, Readers, Writer};
use super::{Control, SqlTables};
use crate::StoreError;
use crate::backend::{Backend, Write};
use crate::snapshots::Snapshots;
use crate::tables::{Stored, Tables};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

/// A store in a SQL database: [`SqliteStore`](crate::SqliteStore) or
/// [`PostgresStore`](crate::PostgresStore).
///
/// Dropping it waits until what was handed to it is done.
pub struct SqlStore<Database> {
    writer: Writer,
    reader: Arc<SqlReader>,
    signal: watch::Sender<u64>,
    database: PhantomData<fn() -> Database>,
}

impl<Database> fmt::Debug for SqlStore<Database> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlStore").finish_non_exhaustive()
    }
}

/// The reading side of a store in a SQL database.
pub(crate) struct SqlReader {
    readers: Readers,
}

impl<Database> SqlStore<Database> {
    /// A store over connections that are ready: its tables are in the newest format.
    pub(crate) fn over<C: Connection>(mut writer: C, reading: Vec<C>) -> Stored<Self> {
        writer.control(Control::Begin)?;
        let newest = SqlTables::new(&mut writer).newest_event()?;
        writer.control(Control::Commit)?;
        let signal = watch::Sender::new(newest);
        let writer = Writer::start(writer, signal.clone()).map_err(no_thread)?;
        Ok(Self { writer, reader: readers(reading)?, signal, database: PhantomData })
    }
}

/// A reading side over connections that are ready.
pub(crate) fn readers<C: Connection>(connections: Vec<C>) -> Stored<Arc<SqlReader>> {
    Ok(Arc::new(SqlReader { readers: Readers::start(connections).map_err(no_thread)? }))
}

fn no_thread(error: std::io::Error) -> StoreError {
    StoreError::Fault { doing: "started a thread", source: Box::new(error) }
}

impl<Database: 'static> Backend for SqlStore<Database> {
    type Snapshots = SqlReader;

    fn snapshots(&self) -> Arc<SqlReader> {
        self.reader.clone()
    }

    fn signal(&self) -> watch::Receiver<u64> {
        self.signal.subscribe()
    }

    async fn write<T, E>(
        &self,
        write: Write,
        job: impl FnOnce(&mut dyn Tables) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let Write { doing, .. } = write;
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move |tables: Result<&mut SqlTables<'_>, Lost>| {
            let done = match tables {
                Ok(tables) => job(tables),
                Err(lost) => Err(lost.while_(doing).into()),
            };
            let keep = done.is_ok();
            let tell = Box::new(move |durable: Result<(), Lost>| {
                let told = match (done, durable) {
                    (Ok(value), Ok(())) => Ok(value),
                    (Err(error), _) => Err(error),
                    (Ok(_), Err(lost)) => Err(lost.while_(doing).into()),
                };
                // Nobody may be waiting any more; what was stored stays stored.
                drop(answer.send(told));
            });
            Ran { keep, tell }
        });
        self.writer.send(job).await.map_err(|lost| lost.while_(doing))?;
        answered.await.map_err(|_| Lost::Closed.while_(doing))?
    }
}

impl Snapshots for SqlReader {
    async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut dyn Tables) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        const DOING: &str = "read";
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move |tables: Result<&mut SqlTables<'_>, Lost>| {
            let read = match tables {
                Ok(tables) => job(tables),
                Err(lost) => Err(lost.while_(DOING)),
            };
            drop(answer.send(read));
        });
        self.readers.send(job).await.map_err(|lost| lost.while_(DOING))?;
        answered.await.map_err(|_| Lost::Closed.while_(DOING))?
    }
}
