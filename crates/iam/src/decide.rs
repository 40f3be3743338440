//! Decisions (`formations-behaviour.md` §6.3 and §6.4): a deny wins, and what nothing allows is
//! denied.

use crate::fit::Fit;
use crate::{Context, Effect, PolicyDocument, Srn};
use std::fmt;
use std::sync::Arc;

/// Who asks: layers, each of which must allow. A key's owner is one layer, the key's own policies
/// are another, so that a key can never do more than its owner.
///
/// One without layers may do nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    layers: Vec<Layer>,
}

/// One ceiling of what a subject may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The admin role: everything.
    Admin,
    /// What these policies allow, taken together.
    Policies(Vec<Policy>),
}

/// A policy of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Its id, for people.
    pub id: String,
    /// What it says; `None` if that can't be read. It might deny anything, so it denies everything.
    pub document: Option<Arc<PolicyDocument>>,
}

/// Whether something may be done, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may.
    pub allowed: bool,
    /// What decided.
    pub by: Reason,
}

/// What decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The admin role.
    Admin,
    /// A statement.
    Statement {
        /// Of which policy.
        policy: String,
        /// Which one of it.
        index: usize,
    },
    /// A policy that can't be read.
    Unreadable {
        /// Which one.
        policy: String,
    },
    /// No statement allows it.
    Nothing,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Admin => f.write_str("the admin role"),
            Self::Statement { policy, index } => write!(f, "{policy} statement[{index}]"),
            Self::Unreadable { policy } => write!(f, "{policy}, which can't be read"),
            Self::Nothing => f.write_str("no statement allows it"),
        }
    }
}

impl Subject {
    /// A subject with one layer.
    pub fn new(layer: Layer) -> Self {
        Self { layers: vec![layer] }
    }

    /// The same subject under one more ceiling.
    #[must_use]
    pub fn under(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Whether nothing limits it.
    pub fn is_unlimited(&self) -> bool {
        !self.layers.is_empty() && self.layers.iter().all(|layer| *layer == Layer::Admin)
    }

    /// Whether a decision may depend on a resource's tags.
    pub fn asks_for_tags(&self) -> bool {
        let policies = self.layers.iter().flat_map(|layer| match layer {
            Layer::Admin => &[],
            Layer::Policies(policies) => policies.as_slice(),
        });
        policies.filter_map(|policy| policy.document.as_ref()).any(|document| document.asks_for_tags())
    }
}

/// Decides whether a subject may do an action on a resource.
pub fn decide(subject: &Subject, action: &str, srn: &Srn, context: &Context) -> Decision {
    let mut by = Reason::Nothing;
    for layer in &subject.layers {
        let decision = layer.decide(action, srn, context);
        if !decision.allowed {
            return decision;
        }
        // The narrowest layer that had something to say is the one to name.
        by = decision.by;
    }
    Decision { allowed: !subject.layers.is_empty(), by }
}

impl Layer {
    fn decide(&self, action: &str, srn: &Srn, context: &Context) -> Decision {
        let Self::Policies(policies) = self else { return Decision { allowed: true, by: Reason::Admin } };
        let mut decision = Decision { allowed: false, by: Reason::Nothing };
        for Policy { id, document } in policies {
            let Some(document) = document else {
                return Decision { allowed: false, by: Reason::Unreadable { policy: id.clone() } };
            };
            for (index, statement) in document.statements.iter().enumerate() {
                let by = || Reason::Statement { policy: id.clone(), index };
                match (statement.effect, statement.is_about(action, srn, context)) {
                    (Effect::Deny, Fit::Maybe | Fit::Yes) => return Decision { allowed: false, by: by() },
                    // The first that allows is the one to name.
                    (Effect::Allow, Fit::Yes) if !decision.allowed => {
                        decision = Decision { allowed: true, by: by() };
                    }
                    (Effect::Deny, Fit::No) | (Effect::Allow, _) => {}
                }
            }
        }
        decision
    }
}
