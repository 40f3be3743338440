//! The sweep: a scenario is run without faults, and then once for each point at which something
//! can go wrong, and for each pair of crashes.

use crate::declare::Declaration;
use crate::grow::Grower;
use crate::judge::{Invariant, Violation};
use crate::story::{reach, repeat};
use crate::weather::{CallFault, CommitFault, Fault, Script, Scripted, Weather};
use crate::world::{Deployed, Protections, World, WorldOptions};
use formwork_model::{OperationStatus, Row, RowStatus};
use std::collections::BTreeMap;

/// What happens in a scenario, one after the other.
#[derive(Clone, Debug)]
pub enum Beat {
    /// A stack is deployed.
    Deploy(Declaration),
    /// A stack is deployed, and a person asks to stop this long after.
    DeployAndCancel {
        /// The stack.
        stack: Declaration,
        /// Milliseconds from the deploy to the cancel.
        after: u64,
        /// Whether undos are given up too.
        force: bool,
    },
    /// The object of a label vanishes.
    Vanish(String),
}

/// A small story without chance.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is about.
    pub name: &'static str,
    /// What happens.
    pub beats: Vec<Beat>,
    /// What the provider does to single calls.
    pub troubles: Vec<Scripted>,
    /// Whether a fault may change how an operation ends: true where an outcome may stay unknown, or
    /// can't be repeated.
    pub may_end_otherwise: bool,
}

impl Scenario {
    /// A scenario in which faults change nothing.
    pub fn new(name: &'static str, beats: Vec<Beat>) -> Self {
        Self { name, beats, troubles: Vec::new(), may_end_otherwise: false }
    }

    /// With a trouble.
    #[must_use]
    pub fn trouble(mut self, trouble: Scripted) -> Self {
        self.troubles.push(trouble);
        self
    }

    /// Faults may change how an operation ends.
    #[must_use]
    pub fn may_end_otherwise(mut self) -> Self {
        self.may_end_otherwise = true;
        self
    }

    fn last(&self) -> Option<&Declaration> {
        self.beats.iter().rev().find_map(|beat| match beat {
            Beat::Deploy(stack) | Beat::DeployAndCancel { stack, .. } => Some(stack),
            Beat::Vanish(_) => None,
        })
    }
}

/// How a deploy of a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Its operation is over.
    Over(OperationStatus),
    /// Its operation never ended.
    Open,
    /// There was no operation.
    Refused,
}

/// What a run of a scenario came to.
#[derive(Debug)]
struct Ran {
    world: World,
    endings: Vec<Ending>,
    state: BTreeMap<String, String>,
    commits: u64,
    writes: u64,
}

/// A violation, and the faults that led to it.
#[derive(Debug)]
pub struct Finding {
    /// The scenario.
    pub scenario: &'static str,
    /// The faults.
    pub faults: Vec<Fault>,
    /// What was broken.
    pub violation: Violation,
    /// The trace.
    pub trace: Vec<String>,
}

/// What a sweep came to.
#[derive(Debug, Default)]
pub struct Swept {
    /// How many runs it took.
    pub runs: usize,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Swept {
    /// Whether an invariant was found broken.
    pub fn found(&self, invariant: Invariant) -> bool {
        self.findings.iter().any(|finding| finding.violation.invariant == invariant)
    }
}

const COMMIT_FAULTS: [CommitFault; 5] = [
    CommitFault::CrashBefore,
    CommitFault::CrashAfter,
    CommitFault::FailBefore,
    CommitFault::FailAfter,
    CommitFault::Rival,
];

const CALL_FAULTS: [CallFault; 5] = [
    CallFault::CrashUnsent,
    CallFault::CrashUnheard,
    CallFault::LandsInRecovery,
    CallFault::LandsLast,
    CallFault::Unheard,
];

/// Sweeps a scenario: each fault at each point, and then a second crash at each later commit. Of
/// such pairs at most `most_pairs` are tried, spread evenly over all there are.
pub fn sweep(scenario: &Scenario, protections: Protections, most_pairs: usize) -> Swept {
    let mut swept = Swept::default();
    let calm = run(scenario, &[], protections, false);
    swept.runs += 1;
    swept.note(scenario, &[], &calm, &calm);
    let commits = (0..calm.commits).flat_map(|at| COMMIT_FAULTS.map(|fault| Fault::Commit(at, fault)));
    let calls = (0..calm.writes).flat_map(|at| CALL_FAULTS.map(|fault| Fault::Call(at, fault)));
    let mut pairs = Vec::new();
    for fault in commits.chain(calls) {
        let first = swept.try_out(scenario, &[fault], protections, &calm);
        if crashes(fault) {
            // The faulted run has commits of its own: recovery, and undos that the calm one lacks.
            let second = |at| [fault, Fault::Commit(at, CommitFault::CrashAfter)];
            pairs.extend((first_commit_after(fault)..first.commits).map(second));
        }
    }
    let stride = pairs.len().div_ceil(most_pairs.max(1)).max(1);
    for pair in pairs.into_iter().step_by(stride).take(most_pairs) {
        swept.try_out(scenario, &pair, protections, &calm);
    }
    swept
}

fn crashes(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::Commit(_, CommitFault::CrashAfter)
            | Fault::Call(_, CallFault::CrashUnheard | CallFault::LandsInRecovery)
    )
}

fn first_commit_after(fault: Fault) -> u64 {
    match fault {
        Fault::Commit(at, _) => at + 1,
        // A call is made after a commit of its own, and a commit makes at least one call.
        Fault::Call(at, _) => at,
    }
}

impl Swept {
    fn try_out(
        &mut self,
        scenario: &Scenario,
        faults: &[Fault],
        protections: Protections,
        calm: &Ran,
    ) -> Ran {
        let ran = run(scenario, faults, protections, false);
        self.runs += 1;
        self.note(scenario, faults, &ran, calm);
        ran
    }

    fn note(&mut self, scenario: &Scenario, faults: &[Fault], ran: &Ran, calm: &Ran) {
        let mut violations = ran.world.violations.clone();
        if violations.is_empty() {
            violations.extend(otherwise(scenario, ran, calm));
        }
        if violations.is_empty() {
            return;
        }
        let trace = match self.findings.len() {
            0 => run(scenario, faults, ran.world.protections, true).world.trace.lines().to_vec(),
            _ => Vec::new(),
        };
        for violation in violations {
            let (scenario, faults, trace) = (scenario.name, faults.to_vec(), trace.clone());
            self.findings.push(Finding { scenario, faults, violation, trace });
        }
    }
}

/// What came out otherwise than in the uninterrupted run.
fn otherwise(scenario: &Scenario, ran: &Ran, calm: &Ran) -> Option<Violation> {
    let what = if ran.state != calm.state {
        format!("the end is {:?}, uninterrupted it is {:?}", ran.state, calm.state)
    } else if ran.endings != calm.endings && !scenario.may_end_otherwise {
        format!("the operations ended as {:?}, uninterrupted as {:?}", ran.endings, calm.endings)
    } else {
        return None;
    };
    Some(Violation { invariant: Invariant::NoDeadEnd, at: ran.world.now, what })
}

fn run(scenario: &Scenario, faults: &[Fault], protections: Protections, keep_trace: bool) -> Ran {
    let script = Script { faults: faults.to_vec(), troubles: scenario.troubles.clone() };
    let mut world = World::new(WorldOptions {
        weather: Weather::Scripted(script),
        protections,
        keep_trace,
        // Crashes open what they leave of a journal; the rest is nothing that faults change.
        thorough: faults.is_empty(),
        ..WorldOptions::calm()
    });
    let mut endings = Vec::new();
    for beat in &scenario.beats {
        endings.extend(play(&mut world, beat));
        world.judge();
        if !world.violations.is_empty() {
            break;
        }
    }
    let (commits, writes) = (world.commits, world.writes);
    let mut state = BTreeMap::new();
    if let Some(last) = scenario.last().filter(|_| world.violations.is_empty()) {
        world.turn_weather(Weather::calm());
        reach(&mut world, last);
        state = summary(&world);
        repeat(&mut world, last);
        let mut last = last.clone();
        Grower::unprotect(&mut last);
        reach(&mut world, &last);
        reach(&mut world, &last.emptied());
    }
    Ran { world, endings, state, commits, writes }
}

fn play(world: &mut World, beat: &Beat) -> Option<Ending> {
    let id = match beat {
        Beat::Vanish(label) => {
            let object = world.ledger().into_iter().find(|row| row.label.as_str() == label);
            if let Some(object) = object.and_then(|row| row.current) {
                world.vanish_after(0, object.native_id);
                world.settle();
            }
            return None;
        }
        Beat::Deploy(stack) => world.deploy(stack),
        Beat::DeployAndCancel { stack, after, force } => {
            let deployed = world.deploy(stack);
            if let Deployed::Begun(id) = &deployed {
                world.cancel_after(*after, id, *force);
            }
            deployed
        }
    };
    match id {
        Deployed::Begun(id) => {
            world.settle();
            Some(world.status(&id).map_or(Ending::Open, Ending::Over))
        }
        refused => {
            world.note(format_args!("{refused:?}"));
            Some(Ending::Refused)
        }
    }
}

/// The ledger and the provider by label, without ids, times and counts.
fn summary(world: &World) -> BTreeMap<String, String> {
    let rows = world.ledger();
    let names: BTreeMap<String, String> = rows
        .iter()
        .flat_map(|row| row.current.iter().chain(&row.deposed).map(move |object| (object, row)))
        .map(|(object, row)| (object.native_id.to_string(), format!("<{}>", row.label)))
        .collect();
    let live = rows.iter().filter(|row| row.is_live() || row.status != RowStatus::Deleted);
    live.map(|row| (row.label.to_string(), summary_of(world, row, &names))).collect()
}

fn summary_of(world: &World, row: &Row, names: &BTreeMap<String, String>) -> String {
    let there = row.current.as_ref().and_then(|object| world.provider.object(&object.native_id));
    let mut text = there.map_or_else(String::new, |object| object.properties.to_string());
    for (id, name) in names {
        text = text.replace(&format!("\"{id}\""), &format!("\"{name}\""));
    }
    format!("{} deposed {} intent {} {text}", row.type_name, row.deposed.len(), row.intent.is_some())
}
