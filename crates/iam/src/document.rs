//! Policy documents (`formations-behaviour.md` §6.4), as they are evaluated.

use crate::context::{Found, asks_for_tag};
use crate::fit::{Fit, all, any};
use crate::{Context, Srn, SrnPattern, glob};

/// A policy: statements, each of which allows or denies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDocument {
    pub(crate) statements: Vec<Statement>,
}

/// What a statement does to what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It allows it.
    Allow,
    /// It denies it, whatever allows it.
    Deny,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) effect: Effect,
    pub(crate) actions: Vec<ActionPattern>,
    pub(crate) resources: Vec<SrnPattern>,
    /// All of them must hold.
    pub(crate) conditions: Vec<Test>,
}

/// `*`, `module:*` or `module:Operation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ActionPattern {
    All,
    Module(String),
    One(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) operator: Operator,
    pub(crate) key: String,
    pub(crate) value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equals,
    NotEquals,
    Like,
}

impl PolicyDocument {
    /// Whether a decision may depend on a resource's tags, so that they need to be known.
    pub fn asks_for_tags(&self) -> bool {
        self.statements.iter().flat_map(|statement| &statement.conditions).any(|test| asks_for_tag(&test.key))
    }
}

impl Statement {
    pub(crate) fn is_about(&self, action: &str, srn: &Srn, context: &Context) -> Fit {
        if !self.actions.iter().any(|pattern| pattern.matches(action)) {
            return Fit::No;
        }
        let resource = any(self.resources.iter().map(|pattern| pattern.fits(srn)));
        resource.min(all(self.conditions.iter().map(|test| test.holds(srn, context))))
    }
}

impl ActionPattern {
    fn matches(&self, action: &str) -> bool {
        match self {
            Self::All => true,
            Self::Module(module) => action.split_once(':').is_some_and(|(found, _)| found == module),
            Self::One(one) => action == one,
        }
    }
}

impl Operator {
    pub(crate) const NAMED: [(&'static str, Self); 3] =
        [("StringEquals", Self::Equals), ("StringNotEquals", Self::NotEquals), ("StringLike", Self::Like)];
}

impl Test {
    /// What a resource does not have equals nothing, and so differs from everything.
    fn holds(&self, srn: &Srn, context: &Context) -> Fit {
        let found = match context.value(&self.key, srn) {
            Found::Unknown => return Fit::Maybe,
            Found::Nothing => None,
            Found::Is(found) => Some(found),
        };
        let holds = match self.operator {
            Operator::Equals => found == Some(self.value.as_str()),
            Operator::NotEquals => found != Some(self.value.as_str()),
            Operator::Like => found.is_some_and(|found| glob::matches(&self.value, found)),
        };
        holds.into()
    }
}
