//! What became of each phase.

use super::Scenario;
use crate::conformance::Verdict;
use serde::Serialize;
use std::fmt;

/// A phase of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The template is deployed.
    Create,
    /// What there is has the declared properties.
    Verify,
    /// Deploying the same again would change nothing.
    Again,
    /// Looking at it shows no drift.
    Sync,
    /// It is discovered.
    Discover,
    /// The variant is deployed in place.
    Update,
    /// The variant is deployed by replacing.
    Replace,
    /// What is deleted outside is noticed, and made again.
    Lost,
    /// All is deleted.
    Destroy,
}

impl Phase {
    /// All phases, in their order.
    pub const ALL: [Self; 9] = [
        Self::Create,
        Self::Verify,
        Self::Again,
        Self::Sync,
        Self::Discover,
        Self::Update,
        Self::Replace,
        Self::Lost,
        Self::Destroy,
    ];

    /// What should happen, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Create => "the template is deployed",
            Self::Verify => "what there is has the declared properties",
            Self::Again => "deploying the same again changes nothing",
            Self::Sync => "nothing drifts by itself",
            Self::Discover => "what was made is discovered",
            Self::Update => "a change in place keeps the object",
            Self::Replace => "a change that can't be made in place makes another object",
            Self::Lost => "what is deleted outside is noticed and made again",
            Self::Destroy => "nothing is left",
        }
    }
}

/// What became of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseFinding {
    /// The phase.
    pub phase: Phase,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioReport {
    /// The scenario's name.
    pub name: String,
    /// One finding for each phase, in their order.
    pub findings: Vec<PhaseFinding>,
}

impl ScenarioReport {
    /// A report without findings.
    pub fn new(scenario: &Scenario) -> Self {
        Self { name: scenario.name.clone(), findings: Vec::new() }
    }

    /// Whether no phase is broken.
    pub fn is_conformant(&self) -> bool {
        self.broken().next().is_none()
    }

    /// The phases that are broken.
    pub fn broken(&self) -> impl Iterator<Item = &PhaseFinding> {
        self.findings.iter().filter(|finding| matches!(finding.verdict, Verdict::Broken { .. }))
    }
}

impl fmt::Display for ScenarioReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for PhaseFinding { phase, verdict } in &self.findings {
            let (name, sentence) = (&self.name, phase.sentence());
            match verdict {
                Verdict::Kept => writeln!(f, "kept       {name}: {sentence}")?,
                Verdict::Broken { instead } => {
                    writeln!(f, "broken     {name}: {sentence}; instead {instead}")?;
                }
                Verdict::NotTried { because } => writeln!(f, "not tried  {name}: {sentence}; {because}")?,
            }
        }
        Ok(())
    }
}
