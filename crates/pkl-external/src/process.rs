//! A reader's process: started when it is first needed, asked one thing at a time, ended with its owner.

use crate::message::{self, Kind, MessageError, Request, Response, Spec};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a process may take to end by itself once it was told to.
const FAREWELL: Duration = Duration::from_secs(2);

/// How many messages may wait in each direction. There is one request at a time, so that more answers are
/// answers to nothing.
const MOST_MESSAGES: usize = 4;

/// How a reader's process is started.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Command {
    /// The program, by its path or by a name on the search path.
    pub executable: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl std::fmt::Display for Command {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.executable)?;
        self.arguments.iter().try_for_each(|argument| write!(formatter, " {argument}"))
    }
}

/// Why a process can't answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProcessError {
    /// It can't be started.
    #[error("The external reader `{command}` cannot be started: {source}.")]
    Start {
        /// How.
        command: Command,
        /// Why.
        source: Arc<std::io::Error>,
    },
    /// It has ended.
    #[error("The external reader `{command}` ended without an answer{}.", status.as_ref().map(|status| format!(" ({status})")).unwrap_or_default())]
    Ended {
        /// Which.
        command: Command,
        /// How, if that is known.
        status: Option<ExitStatus>,
    },
    /// It doesn't answer in time.
    #[error("The external reader `{command}` did not answer within {} s.", timeout.as_secs_f64())]
    Timeout {
        /// Which.
        command: Command,
        /// How long was waited.
        timeout: Duration,
    },
    /// It says something that is no answer.
    #[error("The external reader `{command}` does not keep to the protocol: {source}.")]
    Protocol {
        /// Which.
        command: Command,
        /// Why.
        source: Arc<MessageError>,
    },
}

/// A process that reads modules and resources.
///
/// After it has once failed it is not started again: each read fails for the same reason.
pub struct Process {
    command: Command,
    environment: BTreeMap<OsString, OsString>,
    timeout: Duration,
    state: Mutex<State>,
}

enum State {
    NotStarted,
    Running(Box<Running>),
    Failed(ProcessError),
}

struct Running {
    child: Child,
    requests: SyncSender<Vec<u8>>,
    answers: Receiver<Answer>,
    next_id: i64,
    specs: Vec<(Kind, String, Option<Spec>)>,
}

/// What the process said: nothing more at its end.
type Answer = Result<Option<(i64, Response)>, MessageError>;

impl Process {
    /// A process that gets this environment and nothing else of ours, and that must answer each request
    /// within `timeout`.
    pub fn new(
        command: Command,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        timeout: Duration,
    ) -> Self {
        let environment = environment.into_iter().collect();
        Self { command, environment, timeout, state: Mutex::new(State::NotStarted) }
    }

    /// What the reader of a scheme can do; `None` if it doesn't know the scheme.
    pub(crate) fn spec(&self, kind: Kind, scheme: &str) -> Result<Option<Spec>, ProcessError> {
        self.with(|running| {
            let known = running.specs.iter().find(|(known, name, _)| *known == kind && name == scheme);
            if let Some((_, _, spec)) = known {
                return Ok(spec.clone());
            }
            let request = Request::Describe { kind, scheme: scheme.to_owned() };
            match running.ask(&request, self.timeout)? {
                Response::Described { kind: answered, spec } if answered == kind => {
                    // One for each scheme that the host names: no more than it has flags.
                    running.specs.push((kind, scheme.to_owned(), spec.clone()));
                    Ok(spec)
                }
                _ => Err(Broken::other()),
            }
        })
    }

    /// Asks for something.
    pub(crate) fn ask(&self, request: &Request) -> Result<Response, ProcessError> {
        self.with(|running| running.ask(request, self.timeout))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Running) -> Result<T, Broken>) -> Result<T, ProcessError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::NotStarted) {
            *state = match self.start() {
                Ok(running) => State::Running(Box::new(running)),
                Err(error) => State::Failed(error),
            };
        }
        let error = match &mut *state {
            State::Failed(error) => return Err(error.clone()),
            State::NotStarted => unreachable!("it was started just now"),
            State::Running(running) => match work(running) {
                Ok(answer) => return Ok(answer),
                Err(broken) => self.error(broken, running.kill()),
            },
        };
        *state = State::Failed(error.clone());
        Err(error)
    }

    fn error(&self, broken: Broken, status: Option<ExitStatus>) -> ProcessError {
        let command = self.command.clone();
        match broken {
            Broken::Ended => ProcessError::Ended { command, status },
            Broken::Timeout => ProcessError::Timeout { command, timeout: self.timeout },
            Broken::Protocol(source) => ProcessError::Protocol { command, source: Arc::new(source) },
        }
    }

    fn start(&self) -> Result<Running, ProcessError> {
        let failed = |source| {
            let command = self.command.clone();
            ProcessError::Start { command, source: Arc::new(source) }
        };
        let mut child = std::process::Command::new(&self.command.executable)
            .args(&self.command.arguments)
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are pipes");
        };
        let (sender, answers) = sync_channel(MOST_MESSAGES);
        let (requests, pending) = sync_channel(MOST_MESSAGES);
        let thread = |name: &str| thread::Builder::new().name(name.to_owned());
        let started = thread("reader-answers")
            .spawn(move || listen(output, &sender))
            .and_then(|_| thread("reader-requests").spawn(move || speak(input, &pending)));
        if let Err(source) = started {
            end(&mut child);
            return Err(failed(source));
        }
        Ok(Running { child, requests, answers, next_id: 1, specs: Vec::new() })
    }
}

/// Why a conversation can't go on.
enum Broken {
    Ended,
    Timeout,
    Protocol(MessageError),
}

impl Broken {
    fn other() -> Self {
        Self::Protocol(MessageError::NoMessage("it answers another request"))
    }
}

impl Running {
    fn ask(&mut self, request: &Request, timeout: Duration) -> Result<Response, Broken> {
        let id = self.next_id;
        self.next_id += 1;
        let mut message = Vec::new();
        request.write(id, &mut message).expect("memory takes everything");
        // Written by a thread: a process that doesn't read must not make us wait for longer than any other.
        if self.requests.try_send(message).is_err() {
            return Err(Broken::Ended);
        }
        match self.answers.recv_timeout(timeout) {
            Ok(Ok(Some((answered, response)))) if answered == id => Ok(response),
            Ok(Ok(Some(_))) => Err(Broken::other()),
            Ok(Err(MessageError::Io(_)) | Ok(None)) | Err(RecvTimeoutError::Disconnected) => {
                Err(Broken::Ended)
            }
            Ok(Err(error)) => Err(Broken::Protocol(error)),
            Err(RecvTimeoutError::Timeout) => Err(Broken::Timeout),
        }
    }

    /// Ends the process at once. How it ended, if it did so by itself.
    fn kill(&mut self) -> Option<ExitStatus> {
        // Its output ends a moment before it can be waited for.
        let own = waited(&mut self.child, Duration::from_millis(100));
        if own.is_none() {
            end(&mut self.child);
        }
        own
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let State::Running(running) = std::mem::replace(state, State::NotStarted) {
            let Running { mut child, requests, .. } = *running;
            let mut message = Vec::new();
            message::write_close(&mut message).expect("memory takes everything");
            // Who has ended already needs no farewell. Without requests its input ends.
            let _ = requests.try_send(message);
            drop(requests);
            if waited(&mut child, FAREWELL).is_none() {
                end(&mut child);
            }
        }
    }
}

/// How a process ended, if it does within a time.
fn waited(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
            Ok(status) => return status,
            Err(_) => return None,
        }
    }
}

fn end(child: &mut Child) {
    // It fails only for a process that has ended.
    let _ = child.kill();
    let _ = child.wait();
}

/// Writes messages to a process until there are no more, or it takes no more.
fn speak(mut input: ChildStdin, pending: &Receiver<Vec<u8>>) {
    for message in pending {
        if input.write_all(&message).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Passes on what a process says, until it ends, says what is none, or says more than it is asked.
fn listen(output: ChildStdout, answers: &SyncSender<Answer>) {
    let mut output = BufReader::new(output);
    loop {
        let answer = message::read_response(&mut output);
        let is_last = !matches!(answer, Ok(Some(_)));
        match answers.try_send(answer) {
            Ok(()) if !is_last => {}
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => return,
        }
    }
}
