//! How a `plugin` command fails.

use formwork_plugin_host::{StageError, VerifyError};
use formwork_plugin_scaffold::NameError;
use formwork_plugin_test::{BenchError, ScenarioError};
use std::path::PathBuf;

/// How a `plugin` command fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PluginError {
    /// No such plugin.
    #[error("no plugin `{name}` is installed")]
    Unknown { name: String, near: Option<String> },
    /// A new plugin can't be called so.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A new plugin's directory would be written over.
    #[error("`{}` is there already, and not empty", .0.display())]
    Occupied(PathBuf),
    /// What is said to be a checkout is none.
    #[error("`{}` is no checkout of Formwork", .0.display())]
    NoCheckout(PathBuf),
    /// There is nothing to verify.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A plugin can't be put up to be tried.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// There is nothing to try it with.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A plugin comes without scenarios.
    #[error("there are no scenarios to try the plugin with: `{}` is not there", .0.display())]
    NoScenarios(PathBuf),
    /// A variable that a plugin should get is not set, or is one of Formwork's own.
    #[error("the variable `{name}` can't be given to the plugin: {why}")]
    Variable { name: String, why: &'static str },
    /// A plugin that is tried can't be used at all.
    #[error("the plugin `{name}` cannot be used: {}", faults.join("; "))]
    Faulty { name: String, faults: Vec<String> },
    /// A plugin that is tried takes too long before anything can be tried.
    #[error("the plugin does not say what it serves within {seconds} s")]
    Overdue { seconds: u64 },
    /// There is nothing to deploy scenarios with.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

impl PluginError {
    /// What would help.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unknown { near: Some(near), .. } => return Some(format!("did you mean `{near}`?")),
            Self::Unknown { near: None, .. } => "`formwork plugin list` lists those that are",
            Self::Occupied(_) => "`--output-dir` names another directory",
            Self::Stage(StageError::NoProgram { .. }) => {
                "`cargo build` makes it; `--program` names it if it is elsewhere"
            }
            Self::Stage(StageError::NoManifest { above: true, .. }) => {
                "name the directory of the plugin, and its program with `--program`"
            }
            Self::NoScenarios(_) => {
                "a scenario is a formation template, `NAME.yaml`, with `NAME-update.yaml` and `NAME-replace.yaml` beside it; \
                 `--scenarios` names another directory"
            }
            Self::Faulty { .. } => "`formwork plugin verify-schema` tells all that is wrong with its files",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
