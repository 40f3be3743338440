//! Threads that own connections: one that writes, in group commits, and some that read.

use super::{SqlTables, SqlTx};
use crate::StoreError;
use crate::tables::Stored;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, watch};

/// How many units share one fsync at most.
const GROUP: usize = 256;

/// How long a group waits for those who were answered with the last one and may be about to hand
/// over their next unit. A fraction of an fsync; a lone caller never waits.
const GATHERING: Duration = Duration::from_millis(1);

/// How often a group that waits looks for more.
const GLANCE: Duration = Duration::from_micros(20);

/// How many jobs may wait for the writer; beyond that, callers wait to hand theirs over.
const WAITING: usize = 1024;

/// A statement that steers the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Begins the transaction: of a writer, so that no other writer can have one at the same time.
    Begin,
    /// Makes everything durable.
    Commit,
    /// Gives everything up.
    RollBack,
    /// Begins a unit within the transaction.
    Savepoint,
    /// Keeps the unit.
    Release,
    /// Gives the unit up.
    RollBackTo,
}

/// A connection to a database, owned by one thread.
pub(crate) trait Connection: SqlTx + Send + 'static {
    fn control(&mut self, control: Control) -> Stored<()>;

    /// Connects again if the connection was lost; there is no transaction then.
    fn revive(&mut self) -> Stored<()>;

    /// Whether a statement failed since the last savepoint: such a unit must not be kept, even if
    /// its job thinks it went well.
    fn is_spoiled(&self) -> bool;
}

/// Why a job was not run, or its outcome is not known.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Lost {
    #[error("the store is closed")]
    Closed,
    #[error("the transaction it belonged to failed")]
    Group(#[source] Arc<StoreError>),
    #[error("a statement of it failed")]
    Spoiled,
}

impl Lost {
    pub(super) fn while_(self, doing: &'static str) -> StoreError {
        StoreError::Fault { doing, source: Box::new(self) }
    }
}

/// What a job says when it ran: whether to keep what it did, and how to tell its caller, once it is
/// known whether that is durable.
pub(super) struct Ran {
    pub(super) keep: bool,
    pub(super) tell: Box<dyn FnOnce(Result<(), Lost>) + Send>,
}

/// A job of the writer. It is told beforehand if it can't run.
pub(super) type WriteJob = Box<dyn FnOnce(Result<&mut SqlTables<'_>, Lost>) -> Ran + Send>;

/// A job of a reader.
pub(super) type ReadJob = Box<dyn FnOnce(Result<&mut SqlTables<'_>, Lost>) + Send>;

/// The thread that writes. Ends when it is dropped, after what it was given is done.
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<WriteJob>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: impl Connection, signal: watch::Sender<u64>) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel(WAITING);
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || write_groups(connection, queue, &signal))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    pub(super) async fn send(&self, job: WriteJob) -> Result<(), Lost> {
        let jobs = self.jobs.as_ref().ok_or(Lost::Closed)?;
        jobs.send(job).await.map_err(|_| Lost::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        join(self.thread.take());
    }
}

/// Waits for a thread, unless it is the one that waits: a job may hold the last handle of a store.
fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread
        && thread.thread().id() != thread::current().id()
    {
        // A panic in it has been reported where it happened.
        drop(thread.join());
    }
}

fn write_groups(
    mut connection: impl Connection,
    mut queue: mpsc::Receiver<WriteJob>,
    signal: &watch::Sender<u64>,
) {
    let mut expected = 1;
    while let Some(first) = queue.blocking_recv() {
        expected = write_group(&mut connection, first, &mut queue, expected, signal);
    }
}

/// Runs a job and those that wait, each under its own savepoint, and makes them durable together.
/// Answers how many it ran. The signal rises before anybody is told: who waited for a write sees the
/// number of its events.
fn write_group(
    connection: &mut impl Connection,
    first: WriteJob,
    queue: &mut mpsc::Receiver<WriteJob>,
    expected: usize,
    signal: &watch::Sender<u64>,
) -> usize {
    if let Err(error) = connection.revive().and_then(|()| connection.control(Control::Begin)) {
        // What may be half begun is given up, so that the next group starts afresh.
        drop(connection.control(Control::RollBack));
        let lost = Lost::Group(Arc::new(error));
        (first(Err(lost.clone())).tell)(Err(lost));
        return 1;
    }
    let (mut told, mut last_event, mut next) = (Vec::new(), None, Some(first));
    let (mut size, mut patience) = (0, GATHERING);
    let outcome = loop {
        let Some(job) = next else { break connection.control(Control::Commit) };
        // Most groups are one unit, which stands or falls with the transaction: it needs no
        // savepoint, and the pages it changes need not be kept as they were.
        let ran = match size {
            0 => run_first(connection, job, &mut told),
            _ => run_unit(connection, job, &mut told),
        };
        match ran {
            Ok(event) => last_event = event.or(last_event),
            Err(error) => break Err(error),
        }
        size += 1;
        next = match size {
            GROUP.. => None,
            _ if size >= expected => queue.try_recv().ok(),
            _ => receive_within(queue, &mut patience),
        };
    };
    let outcome = outcome.map_err(|error| {
        drop(connection.control(Control::RollBack));
        Lost::Group(Arc::new(error))
    });
    if let (Ok(()), Some(last)) = (&outcome, last_event) {
        raise(signal, last);
    }
    for tell in told {
        tell(outcome.clone());
    }
    size
}

fn raise(signal: &watch::Sender<u64>, last: u64) {
    signal.send_if_modified(|told| {
        let newer = last > *told;
        *told = last.max(*told);
        newer
    });
}

/// The next job, if it comes while there is patience left.
fn receive_within(queue: &mut mpsc::Receiver<WriteJob>, patience: &mut Duration) -> Option<WriteJob> {
    let started = Instant::now();
    let job = loop {
        match queue.try_recv() {
            Ok(job) => break Some(job),
            Err(TryRecvError::Empty) if started.elapsed() < *patience => thread::sleep(GLANCE),
            Err(_) => break None,
        }
    };
    *patience = patience.saturating_sub(started.elapsed());
    job
}

type Tell = Box<dyn FnOnce(Result<(), Lost>) + Send>;

/// Runs the first job of a transaction, which begins afresh if the job is not to be kept. An error
/// here is one of the whole transaction.
fn run_first(connection: &mut impl Connection, job: WriteJob, told: &mut Vec<Tell>) -> Stored<Option<u64>> {
    let (ran, last_event) = run(connection, job);
    if let Some(tell) = kept(connection, ran) {
        told.push(tell);
        return Ok(last_event);
    }
    connection.control(Control::RollBack)?;
    connection.control(Control::Begin)?;
    Ok(None)
}

/// Runs one job under a savepoint. An error here is one of the whole transaction.
fn run_unit(connection: &mut impl Connection, job: WriteJob, told: &mut Vec<Tell>) -> Stored<Option<u64>> {
    if let Err(error) = connection.control(Control::Savepoint) {
        let ran = job(Err(Lost::Closed));
        told.push(ran.tell);
        return Err(error);
    }
    let (ran, last_event) = run(connection, job);
    if let Some(tell) = kept(connection, ran) {
        told.push(tell);
        connection.control(Control::Release)?;
        return Ok(last_event);
    }
    connection.control(Control::RollBackTo)?;
    connection.control(Control::Release)?;
    Ok(None)
}

/// Runs a job; answers the last event it stored, too.
fn run(connection: &mut impl Connection, job: WriteJob) -> (Ran, Option<u64>) {
    let mut tables = SqlTables::new(connection);
    let ran = job(Ok(&mut tables));
    (ran, tables.last_event())
}

/// How to tell the caller of a job that is to be kept; that of any other is told at once.
fn kept(connection: &impl Connection, ran: Ran) -> Option<Tell> {
    let Ran { keep, tell } = ran;
    if keep && !connection.is_spoiled() {
        return Some(tell);
    }
    if keep {
        tell(Err(Lost::Spoiled));
    } else {
        // Its own error stands, whatever becomes of the others.
        tell(Ok(()));
    }
    None
}

/// Threads that read. End when dropped.
pub(super) struct Readers {
    jobs: Option<mpsc::Sender<ReadJob>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start<C: Connection>(connections: Vec<C>) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel(WAITING);
        let queue = Arc::new(Mutex::new(queue));
        let start = |connection| {
            let queue = queue.clone();
            let thread = thread::Builder::new().name("store-reader".to_owned());
            thread.spawn(move || read_all(connection, &queue))
        };
        let threads = connections.into_iter().map(start).collect::<std::io::Result<_>>()?;
        Ok(Self { jobs: Some(jobs), threads })
    }

    pub(super) async fn send(&self, job: ReadJob) -> Result<(), Lost> {
        let jobs = self.jobs.as_ref().ok_or(Lost::Closed)?;
        jobs.send(job).await.map_err(|_| Lost::Closed)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.jobs = None;
        self.threads.drain(..).for_each(|thread| join(Some(thread)));
    }
}

fn read_all(mut connection: impl Connection, queue: &Mutex<mpsc::Receiver<ReadJob>>) {
    loop {
        // One thread waits at the queue, the others for their turn to wait.
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(job) = next else { return };
        match connection.revive().and_then(|()| connection.control(Control::Begin)) {
            Ok(()) => job(Ok(&mut SqlTables::new(&mut connection))),
            Err(error) => job(Err(Lost::Group(Arc::new(error)))),
        }
        // Nothing was changed, so there is nothing that could be lost.
        drop(connection.control(Control::RollBack));
    }
}
