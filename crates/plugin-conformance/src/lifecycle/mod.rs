//! A plugin's types through a whole deployment: made, looked at, changed, replaced, lost, found, taken
//! down, by whatever deploys formations.
//!
//! A [`Scenario`] is a template and two variants of it. What is deployed is compared with what the
//! template says, and each [`Phase`] is reported as kept, broken or not tried.

mod declared;
mod phases;
mod report;

pub use report::{Phase, PhaseFinding, ScenarioReport};

use async_trait::async_trait;
use formwork_model::{Json, NativeId, TypeName};
use std::collections::BTreeMap;

/// A template, and what it becomes.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What reports call it.
    pub name: String,
    /// The template that everything begins with.
    pub create: Json,
    /// The same resources with other properties, all of which can change in place.
    pub update: Option<Json>,
    /// The same resources with other properties, of which at least one can't change in place.
    pub replace: Option<Json>,
}

/// A resource as it is deployed.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployed {
    /// The type.
    pub type_name: TypeName,
    /// The object.
    pub native_id: NativeId,
    /// Its properties as they were last answered or read; secrets left out.
    pub properties: Json,
}

/// A change that a plan shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The resource.
    pub label: String,
    /// What would be done: `create`, `update`, `replace`, `delete`.
    pub action: String,
    /// Why, and what changes.
    pub detail: String,
}

/// What became of a resource without a deploy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drift {
    /// Its object is gone.
    Gone,
    /// Its object is not as it was.
    Changed,
    /// It could not be read.
    Unreadable,
}

/// What deploys the one formation of a scenario. Failures are told in words.
#[async_trait]
pub trait Deployer: Send + Sync {
    /// Makes the formation what the template says.
    async fn deploy(&self, template: &Json) -> Result<(), String>;

    /// What a deploy of the template would change.
    async fn plan(&self, template: &Json) -> Result<Vec<Change>, String>;

    /// The resources that have an object, targets left out, by label.
    async fn resources(&self) -> Result<BTreeMap<String, Deployed>, String>;

    /// The resources that are not as they were, looked at just now.
    async fn drift(&self) -> Result<BTreeMap<String, Drift>, String>;

    /// All objects at the formation's targets, whoever made them, of the types that are discovered
    /// among those that the formation has.
    async fn discover(&self) -> Result<Vec<(TypeName, NativeId)>, String>;

    /// Whether no answer shows a property.
    fn is_hidden(&self, type_name: &TypeName, property: &str) -> bool;

    /// Whether a type is discovered.
    fn is_discovered(&self, type_name: &TypeName) -> bool;

    /// Deletes the object of a resource behind the formation's back.
    async fn delete_outside(&self, label: &str) -> Result<(), String>;

    /// Whether the object is there, asked of its plugin.
    async fn exists(&self, label: &str, deployed: &Deployed) -> Result<bool, String>;

    /// Deletes the formation with all that it made.
    async fn destroy(&self) -> Result<(), String>;
}

/// Takes a scenario through all phases, and deletes what it made.
pub async fn run(deployer: &dyn Deployer, scenario: &Scenario) -> ScenarioReport {
    let mut report = ScenarioReport::new(scenario);
    run_into(deployer, scenario, &mut report).await;
    report
}

/// The same, with each phase in the report as soon as it is over, so that it is there also if nobody waits for the end.
pub async fn run_into(deployer: &dyn Deployer, scenario: &Scenario, report: &mut ScenarioReport) {
    phases::Course::new(deployer, scenario, report).run().await;
}
