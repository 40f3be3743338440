//! The script: which calls go how.

use formwork_model::OperationErrorCode;
use formwork_plugin::Operation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is in `script.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The rules. The first that fits a call, and has not had all its calls, counts it.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// By how many milliseconds reads lag behind, by type.
    #[serde(default)]
    pub lag: BTreeMap<String, u64>,
}

/// Which calls go differently, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What its calls are counted under.
    pub id: String,
    /// Only calls of this operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// Only calls for this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Only calls for the resource of this label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How many calls go as usual first.
    #[serde(default)]
    pub skip: u32,
    /// How many then don't.
    pub times: u32,
    /// What happens before the effect.
    #[serde(default)]
    pub before: Pause,
    /// What comes of the call.
    #[serde(default)]
    pub outcome: Outcome,
    /// What happens between the effect and the answer.
    #[serde(default)]
    pub after: Pause,
}

/// What happens while nothing seems to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// Nothing.
    #[default]
    None,
    /// So many milliseconds pass.
    For(u64),
    /// The call goes no further.
    Hang,
    /// The process ends.
    Crash,
}

/// What comes of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// What its type says.
    #[default]
    Usual,
    /// Nothing, and it says so.
    Refuse(Told),
    /// A create fails half-way: the object is there, and its id in the answer. Any other call fails after its effect.
    Half(Told),
    /// It takes effect, and says that it failed, without an id.
    Deny(Told),
    /// It answers `IN_PROGRESS`, and takes effect later.
    Later {
        /// When, in milliseconds from its arrival.
        millis: u64,
    },
    /// It takes effect, and the answer is of that size.
    Huge {
        /// In megabytes.
        megabytes: usize,
    },
}

/// What a failure says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The code.
    pub code: OperationErrorCode,
    /// The message; `{password}` in it becomes the password that was sent.
    pub message: String,
}

impl Rule {
    /// Whether it is for a call.
    fn fits(&self, operation: Option<Operation>, type_name: &str, label: Option<&str>) -> bool {
        self.operation.is_none_or(|wanted| Some(wanted) == operation)
            && self.type_name.as_deref().is_none_or(|wanted| wanted == type_name)
            && self.label.as_deref().is_none_or(|wanted| Some(wanted) == label)
    }
}

impl Script {
    /// The rule that counts a call, given how many each had, and whether the call goes as it says.
    pub(crate) fn rule(
        &self,
        operation: Option<Operation>,
        type_name: &str,
        label: Option<&str>,
        used: &BTreeMap<String, u32>,
    ) -> Option<(&Rule, bool)> {
        let had = |rule: &Rule| used.get(&rule.id).copied().unwrap_or(0);
        let fits = |rule: &&Rule| {
            rule.fits(operation, type_name, label) && had(rule) < rule.skip.saturating_add(rule.times)
        };
        self.rules.iter().find(fits).map(|rule| (rule, had(rule) >= rule.skip))
    }
}
