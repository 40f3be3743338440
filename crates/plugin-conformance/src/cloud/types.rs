//! What a type of the fake cloud can do.

use formwork_model::Json;
use serde_json::Map;

/// A type of the fake cloud. A type it was not told of behaves like [`CloudType::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct CloudType {
    /// Its name.
    pub name: String,
    /// Whether a repeated client token is answered with the first outcome.
    pub tokens: bool,
    /// Whether a call that arrives, or waits, past its deadline is left undone.
    pub honours_deadline: bool,
    /// The property that is the object's native id; `None`: the cloud chooses one.
    pub named_by: Option<String>,
    /// Properties whose values, taken together, no two objects may share; empty is none.
    pub unique: Vec<String>,
    /// Properties that an update may not change.
    pub create_only: Vec<String>,
    /// Properties whose change makes the update answer with another object's id.
    pub replaces: Vec<String>,
    /// Properties that are never read back.
    pub write_only: Vec<String>,
    /// What is filled in where nothing was sent.
    pub defaults: Map<String, Json>,
    /// How many times a call answers that it is still going on.
    pub polls: u32,
}

impl CloudType {
    /// A type without any special ability, that leaves calls undone past their deadline.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            tokens: false,
            honours_deadline: true,
            named_by: None,
            unique: Vec::new(),
            create_only: Vec::new(),
            replaces: Vec::new(),
            write_only: Vec::new(),
            defaults: Map::new(),
            polls: 0,
        }
    }

    /// Knows client tokens.
    #[must_use]
    pub fn tokens(mut self) -> Self {
        self.tokens = true;
        self
    }

    /// Carries calls out however late they come.
    #[must_use]
    pub fn ignores_deadline(mut self) -> Self {
        self.honours_deadline = false;
        self
    }

    /// The value of this property is the native id.
    #[must_use]
    pub fn named_by(mut self, property: &str) -> Self {
        self.named_by = Some(property.to_owned());
        self
    }

    /// No two objects share the values of these properties.
    #[must_use]
    pub fn unique(mut self, properties: &[&str]) -> Self {
        self.unique = owned(properties);
        self
    }

    /// An update may not change these properties.
    #[must_use]
    pub fn create_only(mut self, properties: &[&str]) -> Self {
        self.create_only = owned(properties);
        self
    }

    /// An update that changes one of these makes a new object and answers with its id (seed 4,
    /// "Replacement").
    #[must_use]
    pub fn replaces(mut self, properties: &[&str]) -> Self {
        self.replaces = owned(properties);
        self
    }

    /// These properties are never read back.
    #[must_use]
    pub fn write_only(mut self, properties: &[&str]) -> Self {
        self.write_only = owned(properties);
        self
    }

    /// Fills in a value where nothing was sent.
    #[must_use]
    pub fn defaults_to(mut self, property: &str, value: impl Into<Json>) -> Self {
        self.defaults.insert(property.to_owned(), value.into());
        self
    }

    /// Answers `IN_PROGRESS` this many times before it is done.
    #[must_use]
    pub fn polls(mut self, polls: u32) -> Self {
        self.polls = polls;
        self
    }
}

fn owned(properties: &[&str]) -> Vec<String> {
    properties.iter().map(|name| (*name).to_owned()).collect()
}
