//! Memory and SQLite answer the same to any history, step by step.
#![expect(clippy::unwrap_used, reason = "tests")]

use formwork_model::{Generation, Json, Timestamp};
use formwork_store::contract::given;
use formwork_store::{
    Begin, Begun, DomainError, DomainFailure, DomainTx, LeaseGuard, ManualClock, MemOptions, MemStore,
    ObjectChange, ObjectWrite, RowSlot, SqliteOptions, SqliteStore, Store, StoreError, TakenOver, Unit,
};
use proptest::prelude::*;
use std::fmt::Debug;
use std::sync::Arc;

const STACKS: [&str; 3] = ["a", "b", "c"];
const NAMES: [&str; 4] = ["w", "x", "y", "z"];

/// One step of a history. Small numbers, so that steps meet.
#[derive(Clone, Debug)]
enum Step {
    Begin { stacks: Vec<usize>, ttl: u64, base: Option<(usize, u64)>, object: Option<usize> },
    Commit { guard: usize, skip: bool, rows: Vec<RowStep>, object: Option<ObjectStep>, finish: bool },
    Renew { guard: usize },
    TakeOver { operation: usize, dead: bool },
    Domain { guard: Option<usize>, token: Option<u8>, steps: Vec<ObjectStep>, fails: bool },
    Observe { row: usize, generation: u64 },
    Compact { before: i64, most: usize },
    Pass { millis: u64 },
}

#[derive(Clone, Debug)]
struct RowStep {
    name: usize,
    stack: usize,
    state: u8,
    refers: Vec<usize>,
}

#[derive(Clone, Debug)]
enum ObjectStep {
    Insert { name: usize, key: usize, link: usize },
    Update { name: usize, key: usize, version: Option<u64> },
    Delete { name: usize },
}

fn object_step() -> impl Strategy<Value = ObjectStep> {
    prop_oneof![
        (0..4_usize, 0..4_usize, 0..4_usize).prop_map(|(name, key, link)| ObjectStep::Insert {
            name,
            key,
            link
        }),
        (0..4_usize, 0..4_usize, proptest::option::of(1..3_u64))
            .prop_map(|(name, key, version)| ObjectStep::Update { name, key, version }),
        (0..4_usize).prop_map(|name| ObjectStep::Delete { name }),
    ]
}

fn row_step() -> impl Strategy<Value = RowStep> {
    let refers = proptest::collection::vec(0..4_usize, 0..3);
    (0..4_usize, 0..3_usize, 0..4_u8, refers).prop_map(|(name, stack, state, refers)| RowStep {
        name,
        stack,
        state,
        refers,
    })
}

fn step() -> impl Strategy<Value = Step> {
    use proptest::collection::vec;
    use proptest::option::of;
    prop_oneof![
        3 => (vec(0..3_usize, 1..3), prop_oneof![Just(50), Just(100_000)], of((0..4_usize, 0..3_u64)), of(0..4_usize))
            .prop_map(|(stacks, ttl, base, object)| Step::Begin { stacks, ttl, base, object }),
        6 => (0..6_usize, prop::bool::weighted(0.1), vec(row_step(), 0..3), of(object_step()), prop::bool::weighted(0.3))
            .prop_map(|(guard, skip, rows, object, finish)| Step::Commit { guard, skip, rows, object, finish }),
        1 => (0..6_usize).prop_map(|guard| Step::Renew { guard }),
        2 => (0..6_usize, any::<bool>()).prop_map(|(operation, dead)| Step::TakeOver { operation, dead }),
        3 => (of(0..6_usize), of(0..3_u8), vec(object_step(), 0..3), prop::bool::weighted(0.2))
            .prop_map(|(guard, token, steps, fails)| Step::Domain { guard, token, steps, fails }),
        1 => (0..4_usize, 0..2_u64).prop_map(|(row, generation)| Step::Observe { row, generation }),
        1 => (0..3_i64, 0..3_usize).prop_map(|(before, most)| Step::Compact { before, most }),
        1 => (1..80_u64).prop_map(|millis| Step::Pass { millis }),
    ]
}

impl RowStep {
    fn row(&self) -> formwork_model::Row {
        let refers: Vec<_> = self.refers.iter().map(|name| NAMES[*name]).collect();
        let live = given::live(NAMES[self.name], STACKS[self.stack], &refers);
        match self.state {
            0 => given::row(NAMES[self.name], STACKS[self.stack]),
            1 => given::deleting(live, "op"),
            2 => given::deleted(live),
            _ => live,
        }
    }
}

impl ObjectStep {
    fn write(&self) -> ObjectWrite {
        match *self {
            Self::Insert { name, key, link } => {
                let mut object = given::object(NAMES[name], Some("p"), Some(NAMES[key]));
                object.links.push(given::link("to", NAMES[link]));
                ObjectWrite::Insert(object)
            }
            Self::Update { name, key, version } => ObjectWrite::Update(ObjectChange {
                id: NAMES[name].to_owned(),
                expected_version: version,
                doc: Json::from(key),
                keys: vec![given::named(NAMES[key])],
                links: Vec::new(),
            }),
            Self::Delete { name } => ObjectWrite::Delete { id: NAMES[name].to_owned() },
        }
    }

    fn run(self, tx: &mut dyn DomainTx) -> Result<Json, DomainError> {
        Ok(match self.write() {
            ObjectWrite::Insert(object) => tx.insert(object)?.version.into(),
            ObjectWrite::Update(change) => tx.update(change)?.version.into(),
            ObjectWrite::Delete { id } => {
                let referred = tx.links_to(&id, 9)?.len();
                let deleted = tx.delete(&id)?;
                serde_json::json!([referred, deleted])
            }
        })
    }
}

/// An answer as far as it must be the same: faults have sources of their own.
fn answer<T: Debug>(answer: &Result<T, StoreError>) -> String {
    match answer {
        Err(StoreError::Fault { .. }) => "fault".to_owned(),
        other => format!("{other:?}"),
    }
}

/// What a history has led to so far, beside what is stored.
#[derive(Default)]
struct Course {
    begun: usize,
    guards: Vec<LeaseGuard>,
}

impl Course {
    fn guard(&self, number: usize) -> Option<&LeaseGuard> {
        self.guards.get(number % self.guards.len().max(1))
    }
}

async fn apply(store: &dyn Store, course: &mut Course, step: Step) -> String {
    match step {
        Step::Begin { stacks, ttl, base, object } => {
            let stacks: Vec<_> = stacks.into_iter().map(|stack| STACKS[stack]).collect();
            course.begun += 1;
            let id = format!("op{}", course.begun);
            let bases = base.map(|(name, revision)| {
                let row = (revision > 0).then_some((NAMES[name], revision));
                given::base(0, stacks[0], NAMES[name], row)
            });
            let object = object.map(|name| ObjectStep::Insert { name, key: name, link: name }.write());
            let begin = Begin {
                ttl_millis: ttl,
                plan: given::plan(bases.into_iter().collect()),
                events: vec![given::event(&id, "begun")],
                slots: vec![("slot".into(), fixed_seal())],
                objects: object.into_iter().collect(),
                ..given::begin(&id, &stacks)
            };
            let begun = store.begin(begin).await;
            let text = answer(&begun);
            if let Ok(Begun::Running(guard)) = begun {
                course.guards.push(guard);
            }
            text
        }
        Step::Commit { guard, skip, rows, object, finish } => {
            let Some(guard) = course.guard(guard) else { return String::new() };
            let due = store.reader().journal(&guard.operation).await.unwrap().len() as u64;
            let unit = Unit {
                entries: vec![given::entry(guard.operation.as_str(), due + u64::from(skip))],
                rows: rows.iter().map(RowStep::row).collect(),
                events: vec![given::event(guard.operation.as_str(), "went on")],
                row_slots: rows.iter().map(slot).collect(),
                objects: object.iter().map(ObjectStep::write).collect(),
                finish: if finish { given::succeeded() } else { None },
            };
            answer(&store.commit(guard, unit).await)
        }
        Step::Renew { guard } => match course.guard(guard) {
            Some(guard) => answer(&store.renew(guard, 80).await),
            None => String::new(),
        },
        Step::TakeOver { operation, dead } => {
            let id = given::id(&format!("op{operation}"));
            let dead = dead.then(|| "owner".into());
            let taken = store.take_over(&id, &"heir".into(), dead.as_ref(), 100).await;
            let text = answer(&taken);
            if let Ok(TakenOver::Taken(guard)) = taken {
                course.guards.push(guard);
            }
            text
        }
        Step::Domain { guard, token, steps, fails } => {
            let fence = guard.and_then(|guard| course.guard(guard)?.fences.first().cloned());
            let job = move |tx: &mut dyn DomainTx| {
                let done: Vec<_> = steps.into_iter().map(|step| step.run(tx)).collect::<Result<_, _>>()?;
                if fails {
                    return Err(DomainError::NotFound { id: "on purpose".to_owned() });
                }
                Ok(Json::from(done))
            };
            match store.domain(fence, token.map(given::token), Box::new(job)).await {
                Err(DomainFailure::Store(_)) => "fault".to_owned(),
                other => format!("{other:?}"),
            }
        }
        Step::Observe { row, generation } => {
            let mut seen = given::seen(NAMES[row], 0, &format!("native-{}", NAMES[row]));
            seen.generation = Generation(generation);
            answer(&store.observe(vec![seen]).await)
        }
        Step::Compact { before, most } => {
            answer(&store.compact(Timestamp(given::NOON.0 + before), most).await)
        }
        Step::Pass { .. } => String::new(),
    }
}

/// Sealing is random, and both stores must get the same.
fn fixed_seal() -> formwork_model::Sealed {
    static SEALED: std::sync::OnceLock<formwork_model::Sealed> = std::sync::OnceLock::new();
    SEALED.get_or_init(|| given::sealed("x")).clone()
}

fn slot(step: &RowStep) -> RowSlot {
    let sealed = (step.state > 0).then(fixed_seal);
    RowSlot { row: NAMES[step.name].into(), slot: "slot".into(), sealed }
}

/// What readers see, beyond the digest of what is stored.
async fn views(store: &dyn Store) -> Vec<String> {
    fn show(answer: impl Debug) -> String {
        format!("{answer:?}")
    }
    let reader = store.reader();
    let mut seen = vec![reader.logical_digest().await.unwrap()];
    for stack in STACKS.map(Into::into) {
        seen.push(show(reader.rows(&stack).await.unwrap()));
        seen.push(show(reader.inbound(&stack).await.unwrap()));
        seen.push(show(reader.lease(&stack).await.unwrap()));
        seen.push(show(reader.operations(&stack, 2, 1).await.unwrap()));
    }
    for name in NAMES {
        let named = given::named(name);
        seen.push(show(reader.links_to(name, 2).await.unwrap()));
        seen.push(show(reader.find_object(Some(&"p".into()), "agent", &named).await.unwrap()));
        seen.push(show(reader.row_slots(&name.into()).await.unwrap()));
    }
    seen.push(show(reader.open_operations().await.unwrap()));
    seen.push(show(reader.objects(&given::agents(3, 1)).await.unwrap()));
    seen.push(show(*store.event_signal().borrow()));
    seen
}

async fn compare(steps: Vec<Step>) {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
    let mem = MemStore::new(MemOptions { clock: clock.clone(), ..MemOptions::default() });
    let options = SqliteOptions { clock: clock.clone(), ..SqliteOptions::default() };
    let sqlite = SqliteStore::open(directory.path().join("store.db"), &options).unwrap();
    let (mut of_mem, mut of_sqlite) = (Course::default(), Course::default());
    for step in steps {
        if let Step::Pass { millis } = step {
            clock.advance(millis);
        }
        let mem_says = apply(&mem, &mut of_mem, step.clone()).await;
        let sqlite_says = apply(&sqlite, &mut of_sqlite, step.clone()).await;
        assert_eq!(mem_says, sqlite_says, "{step:?}");
        assert_eq!(views(&mem).await, views(&sqlite).await, "after {step:?}: {mem_says}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_sqlite_agree_on_every_history(steps in proptest::collection::vec(step(), 1..40)) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(compare(steps));
    }
}
