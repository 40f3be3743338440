//! A whole story from one seed: stacks are deployed, changed and torn down in rough weather; then
//! the weather turns calm, and everything must still come right.

use crate::chance::Chance;
use crate::declare::Declaration;
use crate::grow::Grower;
use crate::judge::{Invariant, Violation};
use crate::weather::{Rates, Rough, Weather};
use crate::world::{Deployed, Protections, World, WorldOptions, limits};
use formwork_model::{DiagnosticCode, NativeId, OperationId, OperationStatus};
use std::fmt;

/// How many deploys in calm weather may be needed until a stack is as declared: one to settle what
/// is unknown, one to repair, and the last to show that it is done.
const MOST_REPAIRS: usize = 5;

/// How a story is told.
#[derive(Clone, Debug)]
pub struct StoryOptions {
    /// The seed of all of it.
    pub seed: u64,
    /// The most resources of a stack at its beginning.
    pub most_resources: usize,
    /// What protects.
    pub protections: Protections,
    /// Whether the trace keeps its lines.
    pub keep_trace: bool,
}

impl StoryOptions {
    /// The most resources of a small stack.
    pub const SMALL: usize = 12;

    /// A story of small stacks.
    pub fn new(seed: u64) -> Self {
        Self { seed, most_resources: Self::SMALL, protections: Protections::default(), keep_trace: false }
    }
}

/// What came of a story.
#[derive(Debug)]
pub struct Told {
    /// Its seed.
    pub seed: u64,
    /// The most resources of a stack at its beginning.
    pub most_resources: usize,
    /// What the judges found.
    pub violations: Vec<Violation>,
    /// The hash of its trace.
    pub hash: String,
    /// Its trace, if it was kept.
    pub trace: Vec<String>,
    /// How many operations it had.
    pub operations: usize,
    /// How many lives they had in all.
    pub lives: u32,
    /// How many effects the provider saw.
    pub effects: usize,
}

impl Told {
    /// The one line that tells this story again.
    pub fn reproduce(&self) -> String {
        format!(
            "FORMWORK_SIM_SEED={} FORMWORK_SIM_RESOURCES={} cargo test -p formwork-sim --test random one_seed -- \
             --nocapture",
            self.seed, self.most_resources
        )
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for violation in &self.violations {
            writeln!(f, "{violation}")?;
        }
        writeln!(f, "{}", self.reproduce())
    }
}

/// Tells the story of a seed.
pub fn tell(options: &StoryOptions) -> Told {
    let mut chance = Chance::new(options.seed);
    let rates = Rates::roll(&mut chance);
    let weather = Weather::Rough(Box::new(Rough { chance: chance.split(), rates }));
    let world = World::new(WorldOptions {
        seed: chance.any(),
        weather,
        limits: limits(),
        protections: options.protections,
        keep_trace: options.keep_trace,
        thorough: options.seed.is_multiple_of(8),
    });
    let mut story = Story { world, grower: Grower::new(chance.split()), chance, stacks: Vec::new() };
    story.rough(options.most_resources);
    if story.world.violations.is_empty() {
        story.calm();
    }
    let world = story.world;
    Told {
        seed: options.seed,
        most_resources: options.most_resources,
        hash: world.trace.hash(),
        trace: world.trace.lines().to_vec(),
        operations: world.runs.len(),
        lives: world.runs.values().map(|run| run.lives).sum(),
        effects: world.provider.log().len(),
        violations: world.violations,
    }
}

struct Story {
    world: World,
    grower: Grower,
    chance: Chance,
    stacks: Vec<Declaration>,
}

impl Story {
    /// Two to four rounds of deploys in which anything may go wrong.
    fn rough(&mut self, most_resources: usize) {
        let stacks = 1 + self.chance.below(5) / 4;
        for number in 0..=stacks.min(1) {
            if number == stacks {
                break;
            }
            let size = 1 + self.chance.index(most_resources);
            self.stacks.push(self.grower.declaration(&format!("app{number}"), size));
        }
        let rounds = 2 + self.chance.below(3);
        for round in 0..rounds {
            if round > 0 {
                for stack in &mut self.stacks {
                    self.grower.change(stack);
                }
            }
            let tears_down = round > 0 && self.chance.happens(80);
            for at in 0..self.stacks.len() {
                let stack = self.stacks[at].clone();
                let stack = if tears_down && is_free(&stack) { stack.emptied() } else { stack };
                if let Deployed::Begun(id) = self.world.deploy(&stack) {
                    self.interfere(&id);
                }
            }
            if !self.world.settle() {
                return;
            }
            self.world.judge();
            if !self.world.violations.is_empty() {
                return;
            }
        }
    }

    /// People and others who do not wait.
    fn interfere(&mut self, id: &OperationId) {
        if self.chance.happens(120) {
            let (after, force) = (self.chance.below(400), self.chance.happens(300));
            self.world.cancel_after(after, id, force);
            if !force && self.chance.happens(200) {
                self.world.cancel_after(after + self.chance.below(2000), id, true);
            }
        }
        if self.chance.happens(100) {
            let readable: Vec<NativeId> = self
                .world
                .provider
                .objects()
                .iter()
                .filter(|(_, object)| object.backend.reads())
                .map(|(id, _)| id.clone())
                .collect();
            if let Some(id) = self.chance.pick(&readable) {
                self.world.vanish_after(self.chance.below(600), id.clone());
            }
        }
    }

    /// INV-12 and INV-13: with faults off, each stack becomes what is declared, a second apply does
    /// nothing, and a teardown leaves nothing.
    fn calm(&mut self) {
        self.world.turn_weather(Weather::calm());
        for mut stack in std::mem::take(&mut self.stacks) {
            if is_barred(&mut self.world, &stack) {
                // A protected object that must be replaced: the declaration has to let it go first.
                Grower::unprotect(&mut stack);
            }
            reach(&mut self.world, &stack);
            repeat(&mut self.world, &stack);
            Grower::unprotect(&mut stack);
            reach(&mut self.world, &stack);
            reach(&mut self.world, &stack.emptied());
            if !self.world.violations.is_empty() {
                return;
            }
        }
    }
}

/// Whether protection stands in the way of the stack as declared.
fn is_barred(world: &mut World, stack: &Declaration) -> bool {
    world
        .plan(stack)
        .is_err_and(|refusal| refusal.errors().all(|error| error.code == DiagnosticCode::ProtectedResource))
}

fn is_free(stack: &Declaration) -> bool {
    stack.resources.iter().all(|resource| resource.policy != formwork_model::DeletionPolicy::Protect)
}

/// Deploys until the stack is as declared (INV-12). Answers how many deploys it took.
pub fn reach(world: &mut World, stack: &Declaration) -> usize {
    let mut last = String::new();
    for round in 1..=MOST_REPAIRS {
        world.wait_for_calls(stack);
        last = match world.deploy(stack) {
            Deployed::Begun(id) => {
                if !world.settle() {
                    return round;
                }
                world.judge();
                match (world.status(&id), world.difference(stack)) {
                    (Some(OperationStatus::Succeeded), None) => return round,
                    (Some(OperationStatus::Succeeded), Some(difference)) => {
                        world.violated(Invariant::NoDeadEnd, format!("{id} succeeded, and yet {difference}"));
                        return round;
                    }
                    (status, difference) => format!("{id} ended as {status:?}; {difference:?}"),
                }
            }
            other => format!("{other:?}"),
        };
        if !world.violations.is_empty() {
            return round;
        }
    }
    let what = format!("`{}` is not as declared after {MOST_REPAIRS} deploys: {last}", stack.stack);
    world.violated(Invariant::NoDeadEnd, what);
    MOST_REPAIRS
}

/// Applies a stack once more, which must do nothing (INV-13).
pub fn repeat(world: &mut World, stack: &Declaration) {
    if !world.violations.is_empty() {
        return;
    }
    let planned = match world.plan(stack) {
        Ok(planned) => planned,
        Err(refusal) => {
            return world.violated(Invariant::OneRule, format!("a second plan is refused: {refusal:?}"));
        }
    };
    if !planned.plan.is_no_op() {
        let steps = planned.plan.steps.iter().filter(|step| step.action != formwork_model::Action::NoOp);
        let steps: Vec<String> = steps
            .map(|step| format!("{} `{}` because {:?}", step.action.name(), step.label, step.cause))
            .collect();
        world.violated(Invariant::OneRule, format!("a second plan of `{}` has {steps:?}", stack.stack));
    }
    let before = world.provider.fingerprint();
    if let Deployed::Begun(id) = world.apply(planned) {
        world.settle();
        if world.provider.fingerprint() != before {
            world.violated(
                Invariant::OneRule,
                format!("{id} did something, though its plan had nothing to do"),
            );
        }
        if world.status(&id) != Some(OperationStatus::Succeeded) {
            world.violated(Invariant::OneRule, format!("{id} had nothing to do and failed"));
        }
        world.judge();
    }
}
