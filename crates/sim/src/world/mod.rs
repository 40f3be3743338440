//! The world: one clock, one queue of what is to happen, one store, one provider, and processes
//! that come and go.

mod acts;
mod deploy;
mod events;
mod process;
mod recover;
mod translate;

pub use deploy::{Deployed, Planned};
pub use process::{Process, Purpose};

use crate::catalog::{Backend, SimCatalog};
use crate::chance::Chance;
use crate::declare::Declaration;
use crate::judge::{Invariant, Violation};
use crate::provider::Provider;
use crate::trace::Trace;
use crate::weather::Weather;
use events::{Happening, Scheduled};
use formwork_engine_core::Limits;
use formwork_model::{
    InstanceKey, NativeId, OperationId, OperationStatus, Plan, Row, RowId, StackId, StepId, Timestamp,
};
use formwork_store::{Durability, ManualClock, MemOptions, MemStore};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;
use std::sync::Arc;

/// When every world begins.
pub const DAWN: Timestamp = Timestamp(1_000_000);

/// How long a lease is taken for. Longer than any call may take, so that a call can always be
/// started after a renewal.
pub const LEASE_MILLIS: u64 = 30_000;

/// Protections that a mutation check switches off, to see that the judges notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent protections, each on or off")]
pub struct Protections {
    /// Acknowledged writes are durable.
    pub durable: bool,
    /// Client tokens depend on the row's generation.
    pub generation_in_token: bool,
    /// Stale fences are rejected.
    pub fence: bool,
    /// Calls carry the moment after which they may have no effect.
    pub not_after: bool,
}

impl Default for Protections {
    fn default() -> Self {
        Self { durable: true, generation_in_token: true, fence: true, not_after: true }
    }
}

/// How a world is made.
#[derive(Clone, Debug)]
pub struct WorldOptions {
    /// Where all rolls come from.
    pub seed: u64,
    /// The weather.
    pub weather: Weather,
    /// The bounds of operations.
    pub limits: Limits,
    /// What protects.
    pub protections: Protections,
    /// Whether the trace keeps its lines.
    pub keep_trace: bool,
    /// Whether what takes most of a run's time is judged too: every prefix of every journal is
    /// opened (INV-11), every plan is made twice (INV-10), and nothing may change by it (INV-5).
    pub thorough: bool,
}

impl WorldOptions {
    /// Calm weather.
    pub fn calm() -> Self {
        Self {
            seed: 0,
            weather: Weather::calm(),
            limits: limits(),
            protections: Protections::default(),
            keep_trace: false,
            thorough: true,
        }
    }
}

/// Bounds under which bad weather is survived in most runs and not in all.
pub fn limits() -> Limits {
    Limits { concurrency: 8, ..Limits::default() }
}

/// An operation as the world remembers it, for the judges.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its plan.
    pub plan: Arc<Plan>,
    /// Its stack.
    pub stack: StackId,
    /// Its new rows' ids.
    pub minted: Vec<RowId>,
    /// The rows of its stack just before it began.
    pub rows_before: Vec<Row>,
    /// Which process carries it on.
    pub newest: Option<usize>,
    /// How it ended.
    pub ended: Option<(OperationStatus, Timestamp)>,
    /// When a cancel reached it, and whether it was forced.
    pub canceled: Option<(Timestamp, bool)>,
    /// How many of its lives it has had.
    pub lives: u32,
    /// Whether its process stood still, or died on its last word: its times prove nothing.
    pub disturbed: bool,
}

/// A simulated world.
pub struct World {
    /// The time.
    pub now: Timestamp,
    /// The store, as the newest process has it.
    pub store: MemStore,
    /// What really is there.
    pub provider: Provider,
    /// The weather.
    pub weather: Weather,
    /// What happened.
    pub trace: Trace,
    /// What the judges found.
    pub violations: Vec<Violation>,
    /// All operations that began.
    pub runs: BTreeMap<OperationId, Run>,
    /// Commits so far that had something to store.
    pub commits: u64,
    /// Calls so far that may change something.
    pub writes: u64,
    pub(crate) key: InstanceKey,
    pub(crate) catalog: SimCatalog,
    pub(crate) limits: Limits,
    pub(crate) protections: Protections,
    pub(crate) thorough: bool,
    pub(crate) processes: Vec<Process>,
    /// Secrets that may be nowhere but at the provider.
    pub(crate) canaries: BTreeSet<String>,
    /// Objects that were deleted or changed out of band, and nobody could know.
    pub(crate) lost: BTreeSet<NativeId>,
    /// Objects that an operation let go of on purpose.
    pub(crate) released: BTreeSet<NativeId>,
    /// Updates that may have replaced their object without anybody hearing of it.
    pub(crate) uncertain: BTreeSet<(OperationId, StepId)>,
    /// Operations whose end was judged already.
    pub(crate) judged: BTreeSet<OperationId>,
    clock: Arc<ManualClock>,
    queue: BinaryHeap<Scheduled>,
    scheduled: u64,
    messages: u64,
    operations: u64,
    rows: u64,
    chance: Chance,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World at {} with {} runs", self.now.0, self.runs.len())
    }
}

impl World {
    /// A world before anything happened.
    pub fn new(options: WorldOptions) -> Self {
        let clock = Arc::new(ManualClock::new(DAWN));
        let store = MemStore::new(MemOptions {
            clock: clock.clone(),
            durability: if options.protections.durable { Durability::Sync } else { Durability::None },
            check_fence: options.protections.fence,
        });
        Self {
            now: DAWN,
            store,
            provider: Provider::default(),
            weather: options.weather,
            trace: Trace::new(options.keep_trace),
            violations: Vec::new(),
            runs: BTreeMap::new(),
            commits: 0,
            writes: 0,
            key: InstanceKey::from_bytes([7; 32]),
            catalog: SimCatalog::default(),
            limits: options.limits,
            protections: options.protections,
            thorough: options.thorough,
            processes: Vec::new(),
            canaries: BTreeSet::new(),
            lost: BTreeSet::new(),
            released: BTreeSet::new(),
            judged: BTreeSet::new(),
            uncertain: BTreeSet::new(),
            clock,
            queue: BinaryHeap::new(),
            scheduled: 0,
            messages: 0,
            operations: 0,
            rows: 0,
            chance: Chance::new(options.seed),
        }
    }

    /// Replaces the weather, say with a calm one.
    pub fn turn_weather(&mut self, weather: Weather) {
        self.weather = weather;
    }

    pub(crate) fn note(&mut self, text: fmt::Arguments<'_>) {
        self.trace.line(self.now, text);
    }

    /// Notes that an invariant was broken.
    pub fn violated(&mut self, invariant: Invariant, what: String) {
        let violation = Violation { invariant, at: self.now, what };
        self.note(format_args!("!!! {violation}"));
        if !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    pub(crate) fn at(&mut self, at: Timestamp, what: Happening) {
        self.scheduled += 1;
        self.queue.push(Scheduled { at: at.max(self.now), number: self.scheduled, what });
    }

    /// Lets time pass until nothing more is to happen: every operation is over, every message has
    /// arrived or is lost. Answers whether that came about within reason (INV-15).
    pub fn settle(&mut self) -> bool {
        const MOST_HAPPENINGS: u64 = 20_000;
        let begin = self.now;
        for _ in 0..MOST_HAPPENINGS {
            let Some(next) = self.queue.pop() else { return self.all_ended() };
            self.move_to(next.at);
            self.happen(next.what);
        }
        let what =
            format!("after {MOST_HAPPENINGS} happenings, {} ms, things still happen", self.now.since(begin));
        self.violated(Invariant::Settles, what);
        false
    }

    fn move_to(&mut self, at: Timestamp) {
        self.now = self.now.max(at);
        self.clock.set(self.now);
    }

    /// Lets time pass without anything happening in it.
    pub fn wait(&mut self, millis: u64) {
        self.move_to(self.now.plus(millis));
    }

    /// Waits until no call of the stack's open intents can take effect: then a person can decide
    /// what came of them.
    pub fn wait_for_calls(&mut self, stack: &Declaration) {
        let rows = self.ledger();
        let own = rows.iter().filter(|row| row.stack == stack.stack_id());
        if let Some(until) = own.filter_map(|row| self.lands_until(row)).max() {
            self.move_to(until);
        }
    }

    fn all_ended(&mut self) -> bool {
        let open: Vec<_> =
            self.runs.iter().filter(|(_, run)| run.ended.is_none()).map(|(id, _)| id.clone()).collect();
        for id in &open {
            let waiting = self.runs[id]
                .newest
                .map(|at| self.processes[at].operation.waiting(self.now))
                .unwrap_or_default();
            self.violated(
                Invariant::Settles,
                format!("nothing is to happen any more and {id} is not over; it waits for {waiting:?}"),
            );
        }
        open.is_empty()
    }

    /// Whether inputs for the process are due right now, next in line.
    fn due_for(&self, process: usize) -> bool {
        self.queue.peek().is_some_and(|next| next.at <= self.now && next.what.input_for() == Some(process))
    }

    /// A backend's objects.
    pub fn count(&self, backend: Backend) -> usize {
        self.provider.objects().values().filter(|object| object.backend == backend).count()
    }
}
