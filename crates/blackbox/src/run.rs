//! A sequence from its first step to its judgement, and what is left of one that was judged.

use crate::judge::judge;
use crate::play::Play;
use crate::sequence::Sequence;
use crate::stage::Stage;
use crate::violation::Violation;
use crate::world::World;
use std::fmt;

/// What came of a sequence.
#[derive(Clone, Debug)]
pub struct Report {
    /// The sequence.
    pub sequence: Sequence,
    /// What must not have happened, and did.
    pub violations: Vec<Violation>,
    /// What was done, for people.
    pub trace: Vec<String>,
    /// The provider's log, a document a line.
    pub log: String,
    /// What the agent wrote.
    pub agent_log: String,
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sequence { seed, agent, steps } = &self.sequence;
        let server = if *agent { "an agent" } else { "each command by itself" };
        writeln!(formatter, "seed {seed}, {} steps, {server}", steps.len())?;
        for line in &self.trace {
            writeln!(formatter, "{line}")?;
        }
        writeln!(formatter, "the provider's log:\n{}", self.log)?;
        writeln!(formatter, "the agent's log:\n{}", self.agent_log)?;
        for violation in &self.violations {
            writeln!(formatter, "VIOLATED {violation}")?;
        }
        Ok(())
    }
}

/// Plays a sequence and judges it.
pub fn run(stage: &Stage, sequence: &Sequence) -> Report {
    let (mut trace, mut log, mut agent_log) = (Vec::new(), String::new(), String::new());
    let mut violations = Vec::new();
    match World::new(stage, sequence.seed, sequence.agent) {
        Ok(mut world) => {
            if let Err(violation) = played(&mut world, sequence, &mut violations) {
                violations.push(violation);
            }
            match world.look() {
                Ok((_, lines)) => {
                    violations.extend(judge(lines));
                    let lines = lines.iter().filter_map(|line| serde_json::to_string(line).ok());
                    log = lines.collect::<Vec<_>>().join("\n");
                }
                Err(violation) => violations.push(violation),
            }
            let secrets = world.files_with_secrets();
            violations.extend(
                secrets.iter().map(|file| Violation::new("INV-9", format!("a secret is in `{file}`"))),
            );
            trace = std::mem::take(&mut world.trace);
            agent_log = world.agent_log();
        }
        Err(violation) => violations.push(violation),
    }
    Report { sequence: sequence.clone(), violations, trace, log, agent_log }
}

fn played(world: &mut World<'_>, sequence: &Sequence, found: &mut Vec<Violation>) -> Result<(), Violation> {
    let mut play = Play::new(world);
    play.all(sequence)?;
    play.calm()?;
    found.extend(play.quiet()?);
    play.settle()
}

/// Leaves steps out of a sequence for as long as what is left still breaks the same invariant. What depends on chance
/// beyond the seed may need several tries to come again, so each is given `tries`.
pub fn shrink(stage: &Stage, report: &Report, tries: u32) -> Report {
    let Some(invariant) = report.violations.first().map(|violation| violation.invariant) else {
        return report.clone();
    };
    let mut smallest = report.clone();
    let mut at = 0;
    while at < smallest.sequence.steps.len() {
        let mut fewer = smallest.sequence.clone();
        fewer.steps.remove(at);
        let again = (0..tries).map(|_| run(stage, &fewer));
        let broken =
            |report: &Report| report.violations.iter().any(|violation| violation.invariant == invariant);
        match again.into_iter().find(broken) {
            Some(smaller) => smallest = smaller,
            None => at += 1,
        }
    }
    smallest
}
