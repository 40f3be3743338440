//! The phases of a scenario, each of which leaves behind what the next one begins with.

use super::declared::{difference, resources};
use super::{Change, Deployed, Deployer, Drift, Phase, PhaseFinding, Scenario, ScenarioReport};
use crate::conformance::Verdict;
use formwork_model::Json;
use std::collections::BTreeMap;

/// What becomes of a phase: kept, or what happened instead, or why it isn't tried.
enum Outcome {
    Kept,
    Broken(String),
    NotTried(&'static str),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Broken, |()| Self::Kept)
    }
}

/// A scenario on its way.
pub(super) struct Course<'a> {
    deployer: &'a dyn Deployer,
    scenario: &'a Scenario,
    report: &'a mut ScenarioReport,
    /// Whether objects show what is declared: if not, that is told once.
    shows: bool,
    /// Whether what stands stays as it is: if not, that is told once.
    rests: bool,
}

impl<'a> Course<'a> {
    pub(super) fn new(
        deployer: &'a dyn Deployer,
        scenario: &'a Scenario,
        report: &'a mut ScenarioReport,
    ) -> Self {
        Self { deployer, scenario, report, shows: true, rests: true }
    }

    pub(super) async fn run(mut self) {
        let create = &self.scenario.create;
        let created = Outcome::from(self.deployer.deploy(create).await);
        let stands = matches!(created, Outcome::Kept);
        self.note(Phase::Create, created);
        if stands {
            let verified = self.verify(create).await;
            self.shows = verified.is_ok();
            self.note(Phase::Verify, verified.into());
            let synced = self.sync().await;
            self.rests = synced.is_ok();
            self.note(Phase::Sync, synced.into());
            let again = self.again().await;
            self.note(Phase::Again, again);
            let discovered = self.discover().await;
            self.note(Phase::Discover, discovered);
            let updated = self.update().await;
            self.note(Phase::Update, updated);
            let replaced = self.replace().await;
            self.note(Phase::Replace, replaced);
            let made_again = self.lost().await.into();
            self.note(Phase::Lost, made_again);
        }
        let destroyed = self.destroy().await.into();
        self.note(Phase::Destroy, destroyed);
        for phase in Phase::ALL {
            if self.report.findings.iter().all(|finding| finding.phase != phase) {
                self.note(phase, Outcome::NotTried("nothing could be created"));
            }
        }
        self.report.findings.sort_by_key(|finding| finding.phase);
    }

    /// That each declared resource has an object with the declared properties.
    async fn verify(&self, template: &Json) -> Result<(), String> {
        let deployed = self.deployer.resources().await?;
        for (label, declaration) in resources(template) {
            let Some(one) = deployed.get(label) else { return Err(format!("`{label}` has no object")) };
            let hidden = |name: &str| self.deployer.is_hidden(&one.type_name, name);
            if let Some(difference) = difference(declaration, &one.properties, &hidden) {
                return Err(format!("of `{label}` {difference}"));
            }
        }
        Ok(())
    }

    async fn again(&mut self) -> Outcome {
        if !self.rests {
            return Outcome::NotTried("it drifts");
        }
        let again = self.nothing_to_do(&self.scenario.create).await;
        self.rests = again.is_ok();
        again.into()
    }

    async fn nothing_to_do(&self, template: &Json) -> Result<(), String> {
        match self.deployer.plan(template).await?.as_slice() {
            [] => Ok(()),
            changes => Err(format!("it would {}", in_words(changes))),
        }
    }

    async fn sync(&self) -> Result<(), String> {
        let drift = self.deployer.drift().await?;
        match drift.iter().next() {
            None => Ok(()),
            Some((label, Drift::Gone)) => Err(format!("`{label}` is gone")),
            Some((label, Drift::Changed)) => Err(format!("`{label}` reads differently than it was answered")),
            Some((label, Drift::Unreadable)) => Err(format!("`{label}` can't be read")),
        }
    }

    async fn discover(&self) -> Outcome {
        let deployed = match self.deployer.resources().await {
            Ok(deployed) => deployed,
            Err(instead) => return Outcome::Broken(instead),
        };
        let wanted: Vec<(&String, &Deployed)> =
            deployed.iter().filter(|(_, one)| self.deployer.is_discovered(&one.type_name)).collect();
        if wanted.is_empty() {
            return Outcome::NotTried("no type of it is discovered");
        }
        let found = match self.deployer.discover().await {
            Ok(found) => found,
            Err(instead) => return Outcome::Broken(instead),
        };
        let is_found = |one: &Deployed| found.contains(&(one.type_name.clone(), one.native_id.clone()));
        match wanted.into_iter().find(|(_, one)| !is_found(one)) {
            None => Outcome::Kept,
            Some((label, one)) => Outcome::Broken(format!("`{}` of `{label}` is not found", one.native_id)),
        }
    }

    async fn update(&self) -> Outcome {
        let Some(template) = &self.scenario.update else {
            return Outcome::NotTried("the scenario has no update");
        };
        self.change(template, false).await.into()
    }

    async fn replace(&self) -> Outcome {
        let Some(template) = &self.scenario.replace else {
            return Outcome::NotTried("the scenario has no replacement");
        };
        self.change(template, true).await.into()
    }

    /// Deploys a variant: all in place, or at least one of the objects by replacing it. A replaced object
    /// may have the id of the old one, where the declaration chooses it.
    async fn change(&self, template: &Json, replaces: bool) -> Result<(), String> {
        let before = self.deployer.resources().await?;
        let plan = self.deployer.plan(template).await?;
        if plan.is_empty() {
            return Err("the plan shows no change".to_owned());
        }
        let in_place = plan.iter().all(|change| change.action == "update");
        if replaces != plan.iter().any(|change| change.action == "replace") || in_place == replaces {
            return Err(format!("the plan is to {}", in_words(&plan)));
        }
        self.deployer.deploy(template).await?;
        if !replaces && let Some(label) = changed(&before, &self.deployer.resources().await?) {
            return Err(format!("`{label}` is another object now"));
        }
        self.stands(template).await
    }

    /// That what was deployed shows what is declared and stays as it is, as far as that was so before.
    async fn stands(&self, template: &Json) -> Result<(), String> {
        if self.shows {
            self.verify(template).await?;
        }
        if self.rests {
            self.nothing_to_do(template).await?;
        }
        Ok(())
    }

    /// Deletes the last declared resource outside, which must be noticed; then deploys again.
    async fn lost(&self) -> Result<(), String> {
        let template = &self.scenario.create;
        self.deployer.deploy(template).await?;
        let labels: Vec<&str> = resources(template).map(|(label, _)| label).collect();
        let Some(last) = labels.last() else { return Ok(()) };
        self.deployer.delete_outside(last).await?;
        match self.deployer.drift().await?.get(*last) {
            Some(Drift::Gone) => {}
            Some(_) => return Err(format!("`{last}` counts as changed, not as gone")),
            None => return Err(format!("nobody notices that `{last}` is gone")),
        }
        self.deployer.deploy(template).await?;
        self.stands(template).await
    }

    async fn destroy(&self) -> Result<(), String> {
        let deployed = self.deployer.resources().await.unwrap_or_default();
        self.deployer.destroy().await?;
        for (label, one) in &deployed {
            if self.deployer.exists(label, one).await? {
                return Err(format!("`{}` of `{label}` is still there", one.native_id));
            }
        }
        Ok(())
    }

    fn note(&mut self, phase: Phase, outcome: Outcome) {
        let verdict = match outcome {
            Outcome::Kept => Verdict::Kept,
            Outcome::Broken(instead) => Verdict::Broken { instead },
            Outcome::NotTried(because) => Verdict::NotTried { because },
        };
        self.report.findings.push(PhaseFinding { phase, verdict });
    }
}

/// A resource that stands for another object than before.
fn changed<'d>(
    before: &'d BTreeMap<String, Deployed>,
    after: &BTreeMap<String, Deployed>,
) -> Option<&'d String> {
    let another = |(label, one): &(&String, &Deployed)| {
        after.get(*label).is_some_and(|now| now.native_id != one.native_id)
    };
    before.iter().find(another).map(|(label, _)| label)
}

fn in_words(changes: &[Change]) -> String {
    let change = |change: &Change| format!("{} `{}` ({})", change.action, change.label, change.detail);
    changes.iter().map(change).collect::<Vec<_>>().join(", ")
}
