//! What an operation has under way: calls, reads and lookups as tasks, timers, and the queues in
//! which calls wait for their turn.
//!
//! Nothing here is durable: after a crash all of it is gone, and the operation asks again.

use crate::answer::Unmade;
use crate::calls::{Calls, Poll, Whose, places_of};
use crate::conceal::SecretPlaces;
use crate::find::find;
use crate::held::Held;
use crate::targets::Place;
use formwork_engine_core::{
    Call, CallId, Found, Input, LookupCall, PermitRequest, ReadAnswer, ReadCall, Timer, TimerKey,
};
use formwork_model::{Failure, Fence, NativeId, Row, StepId, Timestamp, TypeName, WireCode};
use formwork_plugin::ResourcePlugin;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::Instant;

/// What an operation has under way.
pub(crate) struct Work {
    calls: Arc<Calls>,
    /// How many calls, reads and lookups may be under way at once.
    concurrency: usize,
    missing_plugin_millis: u64,
    tasks: JoinSet<Done>,
    under_way: HashMap<Id, (Errand, AbortHandle)>,
    /// How many of them only wait.
    idle: usize,
    /// Permits that were given out and whose calls have not begun.
    granted: usize,
    lanes: BTreeMap<String, Lane>,
    /// Types whose plugin was waited for in vain.
    given_up: BTreeSet<TypeName>,
    timers: BTreeSet<(Timestamp, TimerKey)>,
    ready: VecDeque<Input>,
}

/// What a task is for.
#[derive(Clone, Copy)]
enum Errand {
    Call(CallId),
    Read(StepId),
    Find(StepId),
    /// It only waits.
    Wait,
}

/// What a task came back with.
#[expect(clippy::large_enum_variant, reason = "nearly all of them are inputs")]
enum Done {
    Input(Input),
    /// The lane's reserved call is due.
    LaneDue(String),
    /// A plugin came, or was waited for in vain.
    Arrived(Box<Turn>),
}

/// The calls of one namespace, in the order in which they were asked for.
#[derive(Default)]
struct Lane {
    waiting: VecDeque<Turn>,
    pass: Pass,
}

/// Whether a lane's next call may be made.
#[derive(Default, PartialEq, Eq)]
enum Pass {
    /// It has to be asked for.
    #[default]
    None,
    /// It is reserved and not yet due.
    Reserved,
    /// It is there.
    Due,
}

/// Something that counts against a namespace's rate.
enum Turn {
    Permit(PermitRequest),
    Read {
        call: Box<ReadCall>,
        place: Place,
        places: SecretPlaces,
        whose: Option<Box<Whose>>,
        asked_at: Timestamp,
    },
    Poll {
        poll: Poll,
        places: SecretPlaces,
        asked_at: Timestamp,
    },
}

impl Turn {
    fn type_name(&self) -> &TypeName {
        match self {
            Self::Permit(request) => &request.type_name,
            Self::Read { call, .. } => &call.type_name,
            Self::Poll { poll, .. } => &poll.type_name,
        }
    }
}

impl Work {
    /// Nothing under way.
    pub(crate) fn new(calls: Arc<Calls>, concurrency: usize, missing_plugin_millis: u64) -> Self {
        Self {
            calls,
            concurrency: concurrency.max(1),
            missing_plugin_millis,
            tasks: JoinSet::new(),
            under_way: HashMap::new(),
            idle: 0,
            granted: 0,
            lanes: BTreeMap::new(),
            given_up: BTreeSet::new(),
            timers: BTreeSet::new(),
            ready: VecDeque::new(),
        }
    }

    /// Whether a provider has something of this operation to answer.
    pub(crate) fn is_calling(&self) -> bool {
        self.calling() > 0
    }

    /// Starts a call. Its intent is durable and the lease outlives it.
    pub(crate) fn call(
        &mut self,
        call: Call,
        fence: Option<Fence>,
        row: Option<&Row>,
        place: Place,
        held: Held,
    ) {
        let (calls, places, id) = (Arc::clone(&self.calls), places_of(row), call.id);
        self.spawn(Errand::Call(id), async move {
            let answer = match calls.prepare(call, &place, held, fence, places).await {
                Ok(prepared) => calls.make(prepared).await,
                Err(unmade) => unmade.into(),
            };
            Done::Input(Input::Answered { call: id, answer })
        });
    }

    /// Stops waiting for a call.
    pub(crate) fn cancel(&mut self, call: CallId) {
        let is_it = |(errand, _): &&(Errand, AbortHandle)| matches!(errand, Errand::Call(id) if *id == call);
        // The task's end is noticed like any other; it just has no answer.
        if let Some((_, abort)) = self.under_way.values().find(is_it) {
            abort.abort();
        }
    }

    /// Starts a search. It keeps the pace of its namespace by itself.
    pub(crate) fn find(
        &mut self,
        call: LookupCall,
        row: Option<&Row>,
        place: Place,
        owned: BTreeSet<NativeId>,
    ) {
        let (calls, places, step) = (Arc::clone(&self.calls), places_of(row), call.step);
        self.spawn(Errand::Find(step), async move {
            let found = find(&calls, call, &place, places, owned).await;
            Done::Input(Input::LookupDone { step, found })
        });
    }

    /// Asks for a permit.
    pub(crate) fn request_permit(&mut self, request: PermitRequest) {
        self.enqueue(Turn::Permit(request));
    }

    /// The permits that can be given out at once.
    pub(crate) fn take_permits(&mut self) -> Vec<Input> {
        self.pump();
        self.ready.drain(..).collect()
    }

    /// Reads an object once it is its turn.
    pub(crate) fn read(&mut self, call: ReadCall, row: Option<&Row>, place: Place) {
        let asked_at = self.calls.clock.now();
        let whose = row.map(Whose::of).map(Box::new);
        self.enqueue(Turn::Read { call: Box::new(call), place, places: places_of(row), whose, asked_at });
    }

    /// Polls once it is its turn.
    pub(crate) fn poll(&mut self, poll: Poll, row: Option<&Row>) {
        let asked_at = self.calls.clock.now();
        self.enqueue(Turn::Poll { poll, places: places_of(row), asked_at });
    }

    /// Tells when a moment has come.
    pub(crate) fn set_timer(&mut self, timer: &Timer) {
        self.timers.insert((timer.at, timer.key));
    }

    /// What has happened, without waiting. `open`: calls may begin.
    pub(crate) fn take_ready(&mut self, open: bool) -> Vec<Input> {
        while let Some(done) = self.tasks.try_join_next_with_id() {
            self.finished(done);
        }
        let now = self.calls.clock.now();
        while let Some((at, key)) = self.timers.first().copied() {
            if at > now {
                break;
            }
            self.timers.pop_first();
            self.ready.push_back(Input::TimerDue(key));
        }
        if open {
            self.pump();
        }
        self.ready.drain(..).collect()
    }

    /// Waits until there may be something to take.
    pub(crate) async fn changed(&mut self) {
        let timer = self.timers.first().map(|(at, _)| at.since(self.calls.clock.now()).max(1));
        let due = async {
            match timer {
                Some(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            done = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => {
                if let Some(done) = done {
                    self.finished(done);
                }
            }
            () = due => {}
        }
    }

    /// The acts that follow from the permits have been started.
    pub(crate) fn permits_used(&mut self) {
        self.granted = 0;
    }

    fn enqueue(&mut self, turn: Turn) {
        let type_name = turn.type_name();
        match self.calls.registry.plugin(type_name) {
            Some(plugin) => self.lane(&*plugin).waiting.push_back(turn),
            // The call will say by itself that nobody is there to take it.
            None if self.given_up.contains(type_name) => self.begin(turn),
            None => {
                let (calls, type_name) = (Arc::clone(&self.calls), type_name.clone());
                let within = Duration::from_millis(self.missing_plugin_millis);
                self.spawn(Errand::Wait, async move {
                    calls.registry.arrival(&type_name, within).await;
                    Done::Arrived(Box::new(turn))
                });
            }
        }
    }

    fn lane(&mut self, plugin: &dyn ResourcePlugin) -> &mut Lane {
        self.lanes.entry(plugin.namespace().to_owned()).or_default()
    }

    /// Begins what may begin: within the concurrency, at the pace of each namespace.
    fn pump(&mut self) {
        let namespaces: Vec<String> = self
            .lanes
            .iter()
            .filter(|(_, lane)| !lane.waiting.is_empty())
            .map(|(name, _)| name.clone())
            .collect();
        for namespace in namespaces {
            while self.has_room() {
                let Some(turn) = self.next_turn(&namespace) else { break };
                self.begin(turn);
            }
        }
    }

    fn has_room(&self) -> bool {
        self.calling() + self.granted < self.concurrency
    }

    fn calling(&self) -> usize {
        self.under_way.len() - self.idle
    }

    /// The next of a lane, if it may begin now.
    fn next_turn(&mut self, namespace: &str) -> Option<Turn> {
        let lane = self.lanes.get_mut(namespace)?;
        let first = lane.waiting.front()?;
        match lane.pass {
            Pass::Due => {}
            Pass::Reserved => return None,
            Pass::None => {
                // A plugin does not unregister, so the lane's plugin is still there.
                let plugin = self.calls.registry.plugin(first.type_name())?;
                if let Some(due) = self.calls.rates.of(&*plugin).reserve(Instant::now()) {
                    lane.pass = Pass::Reserved;
                    let namespace = namespace.to_owned();
                    self.spawn(Errand::Wait, async move {
                        tokio::time::sleep_until(due).await;
                        Done::LaneDue(namespace)
                    });
                    return None;
                }
            }
        }
        lane.pass = Pass::None;
        lane.waiting.pop_front()
    }

    fn begin(&mut self, turn: Turn) {
        match turn {
            Turn::Permit(PermitRequest { step, kind, .. }) => {
                self.granted += 1;
                self.ready.push_back(Input::PermitGranted { step, kind });
            }
            Turn::Read { mut call, place, places, whose, asked_at } => {
                call.deadline = self.postponed(call.deadline, asked_at);
                let (calls, step) = (Arc::clone(&self.calls), call.step);
                self.spawn(Errand::Read(step), async move {
                    let answer = calls.read(*call, &place, places, whose).await;
                    Done::Input(Input::ReadDone { step, answer })
                });
            }
            Turn::Poll { mut poll, places, asked_at } => {
                poll.deadline = self.postponed(poll.deadline, asked_at);
                let (calls, call) = (Arc::clone(&self.calls), poll.call);
                self.spawn(Errand::Call(call), async move {
                    let answer = match calls.prepare_poll(poll, places).await {
                        Ok(prepared) => calls.make(prepared).await,
                        Err(unmade) => unmade.into(),
                    };
                    Done::Input(Input::Answered { call, answer })
                });
            }
        }
    }

    /// A deadline, later by the time that was spent waiting for a turn.
    fn postponed(&self, deadline: Timestamp, asked_at: Timestamp) -> Timestamp {
        deadline.plus(self.calls.clock.now().since(asked_at))
    }

    fn spawn(&mut self, errand: Errand, task: impl Future<Output = Done> + Send + 'static) {
        let abort = self.tasks.spawn(task);
        self.idle += usize::from(matches!(errand, Errand::Wait));
        self.under_way.insert(abort.id(), (errand, abort));
    }

    fn finished(&mut self, done: Result<(Id, Done), JoinError>) {
        let id = match &done {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let errand = self.under_way.remove(&id).map(|(errand, _)| errand);
        self.idle -= usize::from(matches!(errand, Some(Errand::Wait)));
        match done {
            Ok((_, Done::Input(input))) => self.ready.push_back(input),
            Ok((_, Done::LaneDue(namespace))) => {
                if let Some(lane) = self.lanes.get_mut(&namespace) {
                    lane.pass = Pass::Due;
                }
            }
            Ok((_, Done::Arrived(turn))) => {
                if self.calls.registry.plugin(turn.type_name()).is_none() {
                    self.given_up.insert(turn.type_name().clone());
                }
                self.enqueue(*turn);
            }
            Err(error) if error.is_cancelled() => {}
            // A panic in a plugin is caught at the call, so this one is ours: the operation must
            // not wait for ever for an answer that does not come.
            Err(_) => self.ready.extend(errand.and_then(broken)),
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // Calls that are out may finish; nobody listens. What is not out stays in.
        self.calls.closed.store(true, Ordering::SeqCst);
        self.tasks.detach_all();
    }
}

/// What an operation is told of an errand that broke.
fn broken(errand: Errand) -> Option<Input> {
    let failure = Failure::new(WireCode::InternalError, "the call could not be carried out");
    match errand {
        Errand::Call(call) => Some(Input::Answered { call, answer: Unmade::Unasked(failure).into() }),
        Errand::Read(step) => {
            Some(Input::ReadDone { step, answer: ReadAnswer::Failed { code: None, failure } })
        }
        Errand::Find(step) => Some(Input::LookupDone { step, found: Found::Failed { failure } }),
        Errand::Wait => None,
    }
}
