//! Modules that are read and parsed on a second thread before an evaluation asks for them.
//!
//! Only those of a pattern whose modules are taken one after the other, only from readers that have them at hand, and
//! only so many at a time. What the evaluation sees is the same: a module that can't be read ahead is read when it is
//! asked for, and fails there.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::reader::Readers;
use crate::store::{Prepared, Store};

/// How many modules are read ahead at most.
const WINDOW: usize = 16;
/// After how many modules in a row the rest is worth reading.
const IN_A_ROW: usize = 2;
/// How many patterns are watched.
const PATTERNS: usize = 8;

/// Reads modules ahead for one evaluation.
pub(crate) struct Ahead<'ir> {
    shared: Arc<Shared>,
    /// Starts the second thread; taken when that is done.
    start: Option<Starter<'ir>>,
    patterns: VecDeque<Pattern>,
}

/// Starts a thread that works for [`Ahead`] until the evaluation ends.
type Starter<'ir> = Box<dyn FnOnce(Worker) + 'ir>;

/// The modules of a pattern, and how far the evaluation is.
struct Pattern {
    uris: Vec<Arc<str>>,
    next: usize,
    requested: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Arc<str>>,
    /// What the second thread is working on.
    busy: Option<Arc<str>>,
    ready: FxHashMap<Arc<str>, Prepared>,
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'ir> Ahead<'ir> {
    /// Reads nothing ahead before `start` gave a thread to it.
    pub(crate) fn new(start: impl FnOnce(Worker) + 'ir) -> Self {
        Self { shared: Arc::default(), start: Some(Box::new(start)), patterns: VecDeque::new() }
    }

    /// Watches the modules of a pattern.
    pub(crate) fn watch<'a>(&mut self, uris: impl Iterator<Item = &'a str>) {
        if self.patterns.len() == PATTERNS {
            self.patterns.pop_front();
        }
        self.patterns.push_back(Pattern { uris: uris.map(Arc::from).collect(), next: 0, requested: 0 });
    }

    /// Notes that the evaluation takes a module of a pattern now.
    pub(crate) fn note(&mut self, uri: &str) {
        let taken =
            |pattern: &&mut Pattern| pattern.uris.get(pattern.next).is_some_and(|next| **next == *uri);
        let Some(pattern) = self.patterns.iter_mut().find(taken) else { return };
        pattern.next += 1;
        let first = pattern.requested.max(pattern.next);
        let last = pattern.uris.len().min(pattern.next + WINDOW);
        if pattern.next < IN_A_ROW || first >= last {
            return;
        }
        pattern.requested = last;
        let requested = pattern.uris[first..last].to_vec();
        self.shared.lock().waiting.extend(requested);
        match self.start.take() {
            Some(start) => start(Worker { shared: Arc::clone(&self.shared) }),
            None => self.shared.changed.notify_all(),
        }
    }

    /// A module that was read ahead. One that is being read is waited for; one that isn't yet is left to the caller.
    pub(crate) fn take(&mut self, uri: &str) -> Option<Prepared> {
        if self.start.is_some() {
            return None;
        }
        let mut state = self.shared.lock();
        while state.busy.as_deref() == Some(uri) {
            state = self.shared.wait(state);
        }
        if let Some(position) = state.waiting.iter().position(|waiting| **waiting == *uri) {
            state.waiting.remove(position);
        }
        state.ready.remove(uri)
    }
}

impl Drop for Ahead<'_> {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
    }
}

/// What the second thread does.
pub(crate) struct Worker {
    shared: Arc<Shared>,
}

impl Worker {
    /// Reads and parses what is asked for until the evaluation ends.
    pub(crate) fn run(self, store: &Store, readers: &Readers) {
        while let Some(uri) = self.next() {
            let prepared = readers.read_ahead(&uri).map(|source| store.prepare(&uri, source.into()));
            let mut state = self.shared.lock();
            state.busy = None;
            state.ready.extend(prepared.map(|prepared| (uri, prepared)));
            drop(state);
            self.shared.changed.notify_all();
        }
    }

    fn next(&self) -> Option<Arc<str>> {
        let mut state = self.shared.lock();
        while state.waiting.is_empty() && !state.ended {
            state = self.shared.wait(state);
        }
        if state.ended {
            return None;
        }
        state.busy = state.waiting.pop_front();
        state.busy.clone()
    }
}

impl Drop for Worker {
    /// A thread that panics leaves nobody waiting.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.busy = None;
        state.waiting.clear();
        drop(state);
        self.shared.changed.notify_all();
    }
}
