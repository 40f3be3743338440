//! Arguments of the commands on formae.

use super::pkl::assignment;
use super::{Assignment, Static, kebab};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Subcommand, ValueEnum};
use formwork_api::{FormaMode, OnDependents, OnFailure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
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

/// A typed property of a forma, which is a flag of the commands on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The flag, without its dashes.
    pub(crate) flag: String,
    /// The type of its values.
    pub(crate) type_name: String,
    /// What its doc comment says.
    pub(crate) doc: Option<String>,
    /// The value if none is given.
    pub(crate) default: Option<String>,
}

/// The commands that take a forma.
const ON_FORMAE: [&str; 3] = ["apply", "destroy", "eval"];

/// The forma that a command line names, if it is one on formae.
pub(super) fn file_of(line: &[OsString]) -> Option<PathBuf> {
    let at = line.iter().position(|word| ON_FORMAE.iter().any(|name| word == *name))?;
    let is_module = |word: &&OsString| {
        let path = Path::new(word);
        path.extension().is_some_and(|extension| extension == "pkl") && path.is_file()
    };
    line[at + 1..].iter().find(is_module).map(PathBuf::from)
}

/// The commands with a forma's properties as flags. A flag that they have already keeps its meaning: such a property
/// is given by `-p`.
pub(super) fn with_parameters(tree: Command, parameters: &[Parameter]) -> Command {
    ON_FORMAE.iter().fold(tree, |tree, name| {
        tree.mut_subcommand(name, |command| {
            parameters.iter().fold(command, |command, parameter| {
                let long = kebab(&parameter.flag);
                let is_taken = |known: &Arg| known.get_long() == Some(long.as_str());
                if command.get_arguments().any(is_taken)
                    || ["help", "profile", "progress", "color"].contains(&&*long)
                {
                    return command;
                }
                command.arg(flag(parameter, long))
            })
        })
    })
}

fn flag(parameter: &Parameter, long: String) -> Arg {
    let mut help = parameter.doc.clone().unwrap_or_else(|| format!("The property `{}`", parameter.flag));
    if let Some(default) = &parameter.default {
        help = format!("{} [default: {default}]", help.trim_end());
    }
    Arg::new(id(&parameter.flag))
        .long(long)
        .value_name(parameter.type_name.to_uppercase())
        .help(help)
        .help_heading("Properties of the forma")
        .action(ArgAction::Set)
        .allow_hyphen_values(true)
}

fn id(flag: &str) -> String {
    format!("property:{flag}")
}

/// Adds what the flags of a forma's properties say to those that `-p` gives.
pub(super) fn take_parameters(command: &mut Static, matches: &ArgMatches, parameters: &[Parameter]) {
    let (forma, name) = match command {
        Static::Apply(arguments) => (&mut arguments.forma, "apply"),
        Static::Destroy(arguments) => (&mut arguments.forma, "destroy"),
        Static::Eval(arguments) => (&mut arguments.forma, "eval"),
        _ => return,
    };
    let Some(matches) = matches.subcommand_matches(name) else { return };
    for parameter in parameters {
        if let Ok(Some(value)) = matches.try_get_one::<String>(&id(&parameter.flag)) {
            forma.property.push(Assignment { name: parameter.flag.clone(), value: Some(value.clone()) });
        }
    }
}
