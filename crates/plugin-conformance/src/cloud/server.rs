//! The server: a thread per connection around one [`Record`].

use super::log::{LogLine, Moment};
use super::record::{CloudObject, Record, Snapshot, code_of};
use super::script::{Answering, Pause, Rule};
use super::types::CloudType;
use super::wire::{Ask, Reply};
use formwork_model::{Json, NativeId, Timestamp};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A scriptable provider behind a Unix socket. It lives as long as this handle, whatever happens to
/// the processes that call it.
#[derive(Debug)]
pub struct FakeCloud {
    shared: Arc<Shared>,
    socket: PathBuf,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    record: Record,
    /// Rises with every release; a call that waits for one goes on once it did.
    released: u64,
    stopping: bool,
}

impl FakeCloud {
    /// Starts it on a socket at this path, which must not exist yet.
    ///
    /// # Errors
    /// When the socket can't be made.
    pub fn start(socket: impl Into<PathBuf>) -> io::Result<Self> {
        let socket = socket.into();
        let listener = UnixListener::bind(&socket)?;
        let shared = Arc::new(Shared::default());
        let serving = Arc::clone(&shared);
        let acceptor = std::thread::Builder::new()
            .name("fake-cloud".to_owned())
            .spawn(move || accept(&listener, &serving))?;
        Ok(Self { shared, socket, acceptor: Some(acceptor) })
    }

    /// Where it listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Tells it of a type.
    pub fn define(&self, kind: CloudType) {
        self.shared.lock().record.define(kind);
    }

    /// Refuses types that it wasn't told of; until then it serves any.
    pub fn serve_only_defined(&self) {
        self.shared.lock().record.only_defined = true;
    }

    /// Adds a rule behind those that are in force.
    pub fn script(&self, rule: Rule) {
        self.shared.lock().record.rules.push(rule);
    }

    /// Drops all rules.
    pub fn unscript(&self) {
        self.shared.lock().record.rules.clear();
    }

    /// Lets every call go on that waits in a [`Pause::UntilReleased`].
    pub fn release(&self) {
        self.shared.lock().released += 1;
        self.shared.changed.notify_all();
    }

    /// What there is, and all that happened.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.shared.lock();
        Snapshot { objects: state.record.objects.clone(), log: state.record.log.clone() }
    }

    /// Waits until the log satisfies a condition; answers whether it did in time.
    pub fn wait_for(&self, patience: Duration, mut condition: impl FnMut(&[LogLine]) -> bool) -> bool {
        let until = Instant::now() + patience;
        let mut state = self.shared.lock();
        loop {
            if condition(&state.record.log) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Puts an object there, without a call.
    pub fn insert(&self, type_name: &str, properties: Json) -> NativeId {
        let mut state = self.shared.lock();
        let native_id = state.record.mint_for(type_name);
        let object =
            CloudObject { type_name: type_name.to_owned(), properties: properties.clone(), row: None };
        state.record.objects.insert(native_id.clone(), object);
        let moment = Moment::Created { native_id: native_id.clone(), properties };
        state.record.note_out_of_band(now(), type_name, moment);
        self.shared.changed.notify_all();
        native_id
    }

    /// Changes an object, without a call. Answers whether it was there.
    pub fn edit(&self, native_id: &NativeId, change: impl FnOnce(&mut Json)) -> bool {
        let mut state = self.shared.lock();
        let Some(object) = state.record.objects.get_mut(native_id) else { return false };
        change(&mut object.properties);
        let (type_name, properties) = (object.type_name.clone(), object.properties.clone());
        let moment = Moment::Updated { native_id: native_id.clone(), properties };
        state.record.note_out_of_band(now(), &type_name, moment);
        self.shared.changed.notify_all();
        true
    }

    /// Deletes an object, without a call. Answers whether it was there.
    pub fn remove(&self, native_id: &NativeId) -> bool {
        let mut state = self.shared.lock();
        let Some(object) = state.record.objects.shift_remove(native_id) else { return false };
        let moment = Moment::Deleted { native_id: native_id.clone() };
        state.record.note_out_of_band(now(), &object.type_name, moment);
        self.shared.changed.notify_all();
        true
    }
}

impl Drop for FakeCloud {
    fn drop(&mut self) {
        self.shared.lock().stopping = true;
        self.shared.changed.notify_all();
        // The acceptor sits in `accept`; a connection wakes it, and it sees that it is to stop.
        let woken = UnixStream::connect(&self.socket).is_ok();
        if let (true, Some(acceptor)) = (woken, self.acceptor.take()) {
            // A panic of the acceptor has been printed; there is nobody left to tell.
            let _ = acceptor.join();
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

impl Shared {
    /// The state. A thread that panicked in a test may not hide what the cloud recorded.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a pause out; answers whether the cloud is still there afterwards.
    fn pause(&self, pause: Pause) -> bool {
        let mut state = self.lock();
        let until = match pause {
            Pause::None => return !state.stopping,
            Pause::For(duration) => Instant::now().checked_add(duration),
            Pause::UntilReleased => None,
        };
        let before = state.released;
        loop {
            let due = until.is_some_and(|until| Instant::now() >= until);
            let released = pause == Pause::UntilReleased && state.released > before;
            if state.stopping || due || released {
                return !state.stopping;
            }
            let left =
                until.map_or(Duration::from_secs(60), |at| at.saturating_duration_since(Instant::now()));
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    for connection in listener.incoming() {
        if shared.lock().stopping {
            return;
        }
        let Ok(connection) = connection else { continue };
        let shared = Arc::clone(shared);
        std::thread::spawn(move || serve(&connection, &shared));
    }
}

/// Serves one call. A line that is no call ends the connection.
fn serve(connection: &UnixStream, shared: &Shared) {
    let mut line = String::new();
    if BufReader::new(connection).read_line(&mut line).is_err() {
        return;
    }
    let Ok(ask) = serde_json::from_str::<Ask>(&line) else { return };
    let (call, behaviour) = shared.lock().record.receive(&ask, now());
    shared.changed.notify_all();
    if !shared.pause(behaviour.before) {
        return;
    }
    let reply = shared.lock().record.carry_out(call, &ask, &behaviour, now());
    shared.changed.notify_all();
    if !shared.pause(behaviour.after) {
        return;
    }
    let answer = reply.filter(|_| behaviour.answering == Answering::Answer);
    let moment = match answer {
        Some(reply) if send(connection, &reply).is_ok() => Moment::Answered { code: code_of(&reply) },
        _ => Moment::Unanswered,
    };
    shared.lock().record.note(now(), call, &ask, moment);
    shared.changed.notify_all();
}

fn send(mut connection: &UnixStream, reply: &Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(reply)?;
    line.push(b'\n');
    connection.write_all(&line)
}

/// The cloud's own clock: it is no part of the engine, so it may read one.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
