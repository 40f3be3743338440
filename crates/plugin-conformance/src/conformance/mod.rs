//! The suite for any plugin: what seed 3 says each method must keep, tried out on real objects.
//!
//! [`run`] takes each [`Case`] through a whole life (create, read, update, read, list, delete, read)
//! and reports every contract as kept, broken or not applicable. It deletes what it makes, also
//! after a broken contract.

mod caller;
mod checks;
mod report;
mod robust;

pub use report::{Contract, Finding, Report, Verdict};

use checks::Life;
use formwork_model::{Json, TypeName};
use formwork_plugin::ResourcePlugin;
use std::collections::BTreeMap;
use std::time::Duration;

/// A type to try out, and what with.
#[derive(Clone, Debug)]
pub struct Case {
    /// The type.
    pub type_name: TypeName,
    /// Credentials and endpoint.
    pub target_config: Json,
    /// Properties to create an object with.
    pub create: Json,
    /// Properties to update it to; `None` for a type without update.
    pub update: Option<Json>,
    /// Properties of further objects, so that lists have more than one page; empty for a type
    /// that can't be listed.
    pub siblings: Vec<Json>,
    /// Properties that are never read back.
    pub write_only: Vec<String>,
    /// Properties whose elements have no order.
    pub unordered: Vec<String>,
    /// A property that takes any text, to try long and strange ones with.
    pub text: Option<String>,
    /// What a list is told of the parent of the objects.
    pub list_parameters: BTreeMap<String, Json>,
    /// Whether the type claims to know client tokens.
    pub tokens: bool,
    /// How long one call may take, all its polls together.
    pub patience: Duration,
    /// The pause between polls.
    pub poll_every: Duration,
}

impl Case {
    /// A case that creates, reads and deletes one object.
    pub fn new(type_name: impl Into<TypeName>, create: Json) -> Self {
        Self {
            type_name: type_name.into(),
            target_config: Json::Object(serde_json::Map::new()),
            create,
            update: None,
            siblings: Vec::new(),
            write_only: Vec::new(),
            unordered: Vec::new(),
            text: None,
            list_parameters: BTreeMap::new(),
            tokens: false,
            patience: Duration::from_secs(60),
            poll_every: Duration::from_millis(200),
        }
    }

    /// Also updates it.
    #[must_use]
    pub fn update(mut self, properties: Json) -> Self {
        self.update = Some(properties);
        self
    }

    /// Also lists, with these objects beside it.
    #[must_use]
    pub fn siblings(mut self, siblings: Vec<Json>) -> Self {
        self.siblings = siblings;
        self
    }

    /// Does not expect these properties back.
    #[must_use]
    pub fn write_only(mut self, properties: &[&str]) -> Self {
        self.write_only = properties.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Takes the elements of these properties in any order.
    #[must_use]
    pub fn unordered(mut self, properties: &[&str]) -> Self {
        self.unordered = properties.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Also tries long and strange texts with this property.
    #[must_use]
    pub fn text(mut self, property: &str) -> Self {
        self.text = Some(property.to_owned());
        self
    }

    /// Lists below this parent.
    #[must_use]
    pub fn below(mut self, parameter: &str, value: Json) -> Self {
        self.list_parameters.insert(parameter.to_owned(), value);
        self
    }

    /// Where the objects live.
    #[must_use]
    pub fn at(mut self, target_config: Json) -> Self {
        self.target_config = target_config;
        self
    }

    /// Also repeats calls under one token.
    #[must_use]
    pub fn tokens(mut self) -> Self {
        self.tokens = true;
        self
    }

    /// Waits this long for a call, and this long between polls.
    #[must_use]
    pub fn patience(mut self, patience: Duration, poll_every: Duration) -> Self {
        self.patience = patience;
        self.poll_every = poll_every;
        self
    }
}

/// Tries a plugin out.
pub async fn run(plugin: &dyn ResourcePlugin, cases: &[Case]) -> Report {
    let mut report = Report::default();
    for case in cases {
        run_one(plugin, case, &mut report).await;
    }
    report
}

/// Tries one type out. What is found stands in the report as soon as it is found, so that it is there also if nobody
/// waits for the end.
pub async fn run_one(plugin: &dyn ResourcePlugin, case: &Case, report: &mut Report) {
    let number = report.begun;
    report.begun += 1;
    Life::new(plugin, case, number, report).live().await;
}
