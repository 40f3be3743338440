//! A plugin tried out as a whole: the contracts of each type that its scenarios declare, and then the scenarios
//! themselves.

use crate::bench::{Bench, BenchError};
use crate::contracts::{Attempt, attempts};
use crate::scenarios::ScenarioError;
use crate::served::Served;
use formwork_model::{Catalog, TypeName};
use formwork_plugin::ResourcePlugin;
use formwork_plugin_conformance::conformance::Report;
use formwork_plugin_conformance::lifecycle::{Scenario, ScenarioReport, run_into};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long one call of the contracts may take, if the whole trial has time for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A plugin to try out, and what with.
pub struct Trial {
    catalog: Arc<dyn Catalog>,
    served: Served,
    scenarios: Vec<Scenario>,
    attempts: Vec<Attempt>,
}

/// What came of a trial.
#[derive(Clone, Debug, Default)]
pub struct TrialReport {
    /// The contracts.
    pub contracts: Report,
    /// The scenarios, in their order.
    pub scenarios: Vec<ScenarioReport>,
    /// The types that no scenario declares.
    pub untried: Vec<TypeName>,
    /// The time that was given, if it was not enough. What the plugin made by then may still be there.
    pub overdue: Option<Duration>,
}

impl Trial {
    /// A trial of the types of a catalog, and of what serves them.
    ///
    /// # Errors
    /// [`ScenarioError`] if a scenario says how to try something in words that nobody knows.
    pub fn new(
        catalog: Arc<dyn Catalog>,
        served: Vec<(Arc<dyn ResourcePlugin>, Vec<TypeName>)>,
        scenarios: Vec<Scenario>,
    ) -> Result<Self, ScenarioError> {
        let attempts = attempts(&scenarios)?;
        Ok(Self { catalog, served: Served(served), scenarios, attempts })
    }

    /// Runs it, for at most so long, whatever the plugin does.
    ///
    /// # Errors
    /// [`BenchError`] if there is nothing to deploy scenarios with.
    pub async fn run(&self, limit: Duration) -> Result<TrialReport, BenchError> {
        let mut report = TrialReport { untried: self.untried(), ..TrialReport::default() };
        match tokio::time::timeout(limit, self.run_into(limit, &mut report)).await {
            Ok(run) => run?,
            Err(_) => report.overdue = Some(limit),
        }
        Ok(report)
    }

    async fn run_into(&self, limit: Duration, report: &mut TrialReport) -> Result<(), BenchError> {
        let patience = PATIENCE.min(limit / 2);
        for attempt in &self.attempts {
            attempt.run(&self.served, &*self.catalog, patience, &mut report.contracts).await;
        }
        for scenario in &self.scenarios {
            report.scenarios.push(ScenarioReport::new(scenario));
            let Some(into) = report.scenarios.last_mut() else { continue };
            let bench = Bench::open(Arc::clone(&self.catalog), self.served.0.clone()).await?;
            run_into(&bench, scenario, into).await;
        }
        Ok(())
    }

    fn untried(&self) -> Vec<TypeName> {
        let tried: BTreeSet<&str> = self.attempts.iter().map(Attempt::type_name).collect();
        let served = self.served.0.iter().flat_map(|(_, types)| types);
        served.filter(|name| !tried.contains(name.as_str())).cloned().collect()
    }
}

impl TrialReport {
    /// Whether the plugin does what it must, and in time.
    pub fn is_passed(&self) -> bool {
        self.overdue.is_none()
            && self.contracts.is_conformant()
            && self.scenarios.iter().all(ScenarioReport::is_conformant)
    }

    /// How many contracts and phases are broken.
    pub fn broken(&self) -> usize {
        let phases = self.scenarios.iter().map(|scenario| scenario.broken().count());
        self.contracts.broken().count() + phases.sum::<usize>()
    }
}

impl fmt::Display for TrialReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.contracts)?;
        for scenario in &self.scenarios {
            write!(f, "{scenario}")?;
        }
        for type_name in &self.untried {
            writeln!(f, "not tried  {type_name}: no scenario declares one")?;
        }
        Ok(())
    }
}
