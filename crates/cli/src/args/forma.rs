//! Arguments of the commands on formae.

use super::Assignment;
use super::pkl::assignment;
use clap::{Args, Subcommand, ValueEnum};
use formwork_api::{FormaMode, OnDependents, OnFailure};
use std::path::PathBuf;

/// A forma, and what its properties are.
#[derive(Debug, Args)]
pub(crate) struct FormaFile {
    /// The module that declares what should exist
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A property of the forma (repeatable)
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    pub(crate) property: Vec<Assignment>,
}

/// For whom the answer is.
#[derive(Debug, Args)]
pub(crate) struct FormaOutput {
    /// For whom the answer is: a person, or a program that reads one document
    #[arg(long, value_enum, default_value_t, value_name = "WHO")]
    pub(crate) output_consumer: Consumer,
    /// What the document is written in
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) output_schema: Machine,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Consumer {
    /// Text
    #[default]
    Human,
    /// One document on stdout
    Machine,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Machine {
    /// JSON
    #[default]
    Json,
    /// YAML
    Yaml,
}

#[derive(Debug, Args)]
pub(crate) struct FormaApply {
    #[command(flatten)]
    pub(crate) forma: FormaFile,
    /// Whether the forma is all that its stacks have, or a part of it
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Mode,
    /// Show what would be done and do nothing
    #[arg(long)]
    pub(crate) simulate: bool,
    /// Overwrite what was changed out of band
    #[arg(long)]
    pub(crate) force: bool,
    /// Don't ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// What a failed step means for the rest
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    on_failure: AfterFailure,
    /// The project
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    /// With `--simulate`: exit with 10 if there is anything to do
    #[arg(long, requires = "simulate")]
    pub(crate) detailed_exitcode: bool,
    #[command(flatten)]
    pub(crate) output: FormaOutput,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// What is not declared is deleted
    Reconcile,
    /// What is not declared stays
    Patch,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum AfterFailure {
    /// What doesn't depend on it goes on
    #[default]
    Continue,
    /// What was made is undone
    Rollback,
}

impl FormaApply {
    pub(crate) fn mode(&self) -> FormaMode {
        match self.mode {
            Mode::Reconcile => FormaMode::Reconcile,
            Mode::Patch => FormaMode::Patch,
        }
    }

    pub(crate) fn on_failure(&self) -> OnFailure {
        match self.on_failure {
            AfterFailure::Continue => OnFailure::Keep,
            AfterFailure::Rollback => OnFailure::Rollback,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct FormaDestroy {
    #[command(flatten)]
    pub(crate) forma: FormaFile,
    /// Show what would be destroyed and do nothing
    #[arg(long)]
    pub(crate) simulate: bool,
    /// Don't ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// What becomes of resources elsewhere that depend on what goes
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    on_dependents: Dependents,
    /// The project
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    #[command(flatten)]
    pub(crate) output: FormaOutput,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Dependents {
    /// Nothing is destroyed
    #[default]
    Abort,
    /// They go along
    Cascade,
}

impl FormaDestroy {
    pub(crate) fn on_dependents(&self) -> OnDependents {
        match self.on_dependents {
            Dependents::Abort => OnDependents::Abort,
            Dependents::Cascade => OnDependents::Cascade,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct FormaEval {
    #[command(flatten)]
    pub(crate) forma: FormaFile,
    #[command(flatten)]
    pub(crate) output: FormaOutput,
}

/// What can be asked about what formae made.
#[derive(Debug, Subcommand)]
pub(crate) enum Inventory {
    /// List the resources of all stacks
    Resources(InventoryOf),
    /// List stacks
    Stacks(InventoryOf),
    /// List targets
    Targets(InventoryOf),
}

#[derive(Debug, Args)]
pub(crate) struct InventoryOf {
    /// The project
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    #[command(flatten)]
    pub(crate) output: FormaOutput,
}
