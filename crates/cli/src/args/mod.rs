//! What can be typed: clap types only, and the spelling of flags.

mod family;
mod files;
mod forma;
mod formation;
mod pkl;
mod plugin;
mod resource;
mod spelling;
mod subjects;
mod suggestions;
mod user;

use family::{Family, NOT_SOAT, family};

pub(crate) use family::called_as_soat;
pub(crate) use files::{DownloadFile, ProjectPrices, UpdateProjectPrices, UploadFile, ValidateOrchestration};
pub(crate) use forma::{
    Consumer, FormaApply, FormaDestroy, FormaEval, FormaFile, FormaOutput, Inventory, Machine, Parameter,
};
pub(crate) use formation::{
    ApplyPlan, CreateFormation, Decisions, DeleteFormation, DiffFormationRevisions, Drift, FormationId,
    FormationRevision, ListFormations, ParameterArgs, PlanFormation, PlanHash, TemplateArgs, UpdateFormation,
    ValidateFormation,
};
pub(crate) use pkl::{
    Assignment, ExternalReader, Pkl, PklAnalyze, PklDownload, PklEval, PklFormat, PklHost, PklImports,
    PklPackage, PklProject, PklProjects, PklReports, PklResolve, PklTest, TraceMode,
};
pub(crate) use plugin::{Plugin, PluginInfo, PluginInit, PluginList, PluginTest, PluginVerify};
pub(crate) use resource::{ResourceAction, ResourceCall};
pub(crate) use spelling::kebab;
pub(crate) use user::{AttachUserPolicies, CreateUser, Credentials, ListAuditEntries, Role, UserId};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use formwork_secret::Secret;
use std::ffi::OsString;

/// A parsed command line.
#[derive(Debug)]
pub(crate) struct Invocation {
    pub(crate) global: Global,
    pub(crate) command: Command,
}

/// Declarative provisioning: a description becomes reality, and stays so.
#[derive(Debug, Parser)]
#[command(name = "formwork", version, max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Static,
}

/// Flags of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// Profile of the configuration file to connect with
    #[arg(long, global = true, value_name = "NAME", help_heading = "Global options")]
    pub(crate) profile: Option<String>,
    /// How progress is shown
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "HOW",
        help_heading = "Global options"
    )]
    pub(crate) progress: Progress,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        help_heading = "Global options"
    )]
    pub(crate) color: When,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// Live on a terminal, one line per event elsewhere
    #[default]
    Auto,
    /// One line per event
    Plain,
    /// One JSON document per event, on stderr
    Json,
    /// Not at all
    None,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Every command, those of the resource types among them.
#[derive(Debug)]
pub(crate) enum Command {
    Static(Static),
    Resource(ResourceCall),
}

/// The commands that have types of their own.
#[derive(Debug, Subcommand)]
pub(crate) enum Static {
    /// Make reality what a forma declares
    Apply(FormaApply),
    /// Destroy what a forma declares
    Destroy(FormaDestroy),
    /// Show what a forma declares, changing nothing
    Eval(FormaEval),
    /// Show the stacks, targets and resources that formae made
    #[command(subcommand)]
    Inventory(Inventory),
    /// Check a template without deploying it
    ValidateFormation(ValidateFormation),
    /// Show what a deploy would do, changing nothing
    PlanFormation(PlanFormation),
    /// Deploy a new formation
    CreateFormation(CreateFormation),
    /// Deploy a formation again: a new template, new parameters, or a retry
    UpdateFormation(UpdateFormation),
    /// List formations
    ListFormations(ListFormations),
    /// Show a formation with its resources
    GetFormation(FormationId),
    /// Tear a formation down
    DeleteFormation(DeleteFormation),
    /// List a formation's operations with their events
    ListFormationEvents(FormationEvents),
    /// Show what was changed out of band since the last deploy
    Drift(Drift),
    /// List what a formation's deploys applied, newest first
    ListFormationRevisions(FormationEvents),
    /// Show what one of a formation's deploys applied
    GetFormationRevision(FormationRevision),
    /// Show what changed in the template from one deploy to another, as a unified diff
    DiffFormationRevisions(DiffFormationRevisions),
    /// Show a plan that was kept
    GetPlan(PlanHash),
    /// Carry a plan that was kept out, exactly as it is
    ApplyPlan(ApplyPlan),
    /// Show an operation with its events and plan
    GetOperation(OperationId),
    /// Follow an operation until it ends
    WatchOperation(OperationId),
    /// Stop an operation
    CancelOperation(CancelOperation),
    /// List projects
    ListProjects(Page),
    /// Make a project
    CreateProject(CreateProject),
    /// Show a project
    GetProject(ProjectId),
    /// Change a project's name and settings; `null` sets the default again
    UpdateProject(UpdateProject),
    /// Delete an empty project
    DeleteProject(ProjectId),
    /// Show a project's price list
    GetProjectPrices(ProjectPrices),
    /// Set prices of a project
    UpdateProjectPrices(UpdateProjectPrices),
    /// Upload a file with its bytes
    UploadFile(UploadFile),
    /// Download the bytes of a file
    DownloadFile(DownloadFile),
    /// Check the graph of an orchestration without making one
    ValidateOrchestration(ValidateOrchestration),
    /// List tokens
    ListTokens(Page),
    /// Make a token; it is shown this once
    CreateToken(CreateToken),
    /// Revoke a token
    DeleteToken(TokenId),
    /// Log in; the token is shown this once
    #[command(visible_alias = "login-user")]
    Login(Credentials),
    /// Make the first user, an admin
    BootstrapUser(Credentials),
    /// Show the user of the credential
    GetCurrentUser,
    /// List users
    ListUsers(Page),
    /// Make a user
    CreateUser(CreateUser),
    /// Show a user
    GetUser(UserId),
    /// Delete a user; their logins and keys stop working at once
    DeleteUser(UserId),
    /// Say which policies a user has
    AttachUserPolicies(AttachUserPolicies),
    /// List decisions on writes, newest first
    ListAuditEntries(ListAuditEntries),
    /// Look after what is stored
    #[command(subcommand)]
    Admin(Admin),
    /// Run, stop or look at the process that serves the data directory
    #[command(subcommand)]
    Agent(Agent),
    /// Look at the plugins of this machine; write one, and try it out
    #[command(subcommand)]
    Plugin(Plugin),
    /// Explain an error code
    Explain(Explain),
    /// Print the JSON Schema of templates, for editors
    FormationSchema,
    /// Draw a template's dependency graph
    Graph(Graph),
    /// Evaluate, test, analyse and format Pkl modules, and work on Pkl projects
    #[command(subcommand)]
    Pkl(Pkl),
    /// Save a server and a token under a profile's name
    Configure(Configure),
    /// Print a completion script
    Completions(Completions),
    /// List every command, one a line
    ListCommands,
}

/// Which page of a list.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Page {
    /// How many to show, at most 100
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// How many to pass over
    #[arg(long, value_name = "N")]
    pub(crate) offset: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct FormationEvents {
    #[command(flatten)]
    pub(crate) formation: FormationId,
    #[command(flatten)]
    pub(crate) page: Page,
}

/// Names an operation.
#[derive(Debug, Args)]
pub(crate) struct OperationId {
    /// The operation's id (`form_op_…`)
    #[arg(value_name = "OPERATION_ID", required_unless_present = "operation_id")]
    id: Option<String>,
    /// The operation's id (`form_op_…`)
    #[arg(long, visible_alias = "id", value_name = "ID", conflicts_with = "id")]
    operation_id: Option<String>,
}

impl OperationId {
    pub(crate) fn get(&self) -> &str {
        self.id.as_deref().or(self.operation_id.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct CancelOperation {
    #[command(flatten)]
    pub(crate) operation: OperationId,
    /// Give up what would be undone too; says what may still be running
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CreateProject {
    /// The project's name, unique
    #[arg(long)]
    pub(crate) name: String,
}

/// Names a project.
#[derive(Debug, Args)]
pub(crate) struct ProjectId {
    /// The project's id (`proj_…`)
    #[arg(value_name = "PROJECT_ID", required_unless_present = "project_id")]
    id: Option<String>,
    /// The project's id (`proj_…`)
    #[arg(long, visible_alias = "id", value_name = "ID", conflicts_with = "id")]
    project_id: Option<String>,
}

impl ProjectId {
    pub(crate) fn get(&self) -> &str {
        self.id.as_deref().or(self.project_id.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct CreateToken {
    /// What the token is for
    #[arg(long)]
    pub(crate) name: String,
    /// The one project it is confined to
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
}

/// What is to change of a project; `null` is the default.
#[derive(Debug, Args)]
pub(crate) struct UpdateProject {
    #[command(flatten)]
    pub(crate) project: ProjectId,
    /// Its name, unique
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The guardrails on all calls of its agents, as an array of ids
    #[arg(long, value_name = "JSON")]
    pub(crate) guardrail_ids: Option<String>,
    /// How many runs a runtime may carry out at once
    #[arg(long, value_name = "N")]
    pub(crate) max_concurrent_runs: Option<String>,
    /// The model route of agents and chats that name neither a provider nor a route
    #[arg(long, value_name = "ID")]
    pub(crate) default_model_route_id: Option<String>,
    /// Whether reads are in the audit too
    #[arg(long, value_name = "BOOL")]
    pub(crate) audit_reads_enabled: Option<String>,
    /// After how many days the content of generations and traces is purged
    #[arg(long, value_name = "N")]
    pub(crate) trace_content_retention_days: Option<String>,
    /// Whether the content of generations and traces is kept: `full` or `none`
    #[arg(long, value_name = "MODE")]
    pub(crate) trace_content_mode: Option<String>,
}

/// Names a token.
#[derive(Debug, Args)]
pub(crate) struct TokenId {
    /// The token's id (`token_…`)
    #[arg(value_name = "TOKEN_ID", required_unless_present = "token_id")]
    id: Option<String>,
    /// The token's id (`token_…`)
    #[arg(long, visible_alias = "id", value_name = "ID", conflicts_with = "id")]
    token_id: Option<String>,
}

impl TokenId {
    pub(crate) fn get(&self) -> &str {
        self.id.as_deref().or(self.token_id.as_deref()).unwrap_or_default()
    }
}

/// Commands of an operator.
#[derive(Debug, Subcommand)]
pub(crate) enum Admin {
    /// Remove credentials from the outputs that old formations keep
    PurgeSecretOutputs {
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
    },
}

/// Commands of the agent.
#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    /// Serve the data directory until stopped
    Start {
        /// Also listen on this address; beyond loopback it is refused without users and TLS
        #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:5047")]
        listen: Option<String>,
    },
    /// Say who serves the data directory, and what runs
    Status,
    /// Stop the agent; what runs is finished first, within a bound
    Stop,
}

#[derive(Debug, Args)]
pub(crate) struct Configure {
    /// Where the server is: `http://…`, `https://…` or `unix:…`
    #[arg(long, value_name = "URL", required_unless_present = "token")]
    pub(crate) base_url: Option<String>,
    /// The token to send it; `-` takes it from `FORMWORK_TOKEN`, else from standard input
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true, value_parser = secret)]
    pub(crate) token: Option<Secret<String>>,
}

/// A credential of the command line.
#[expect(clippy::unnecessary_wraps, reason = "the form of a parser of arguments")]
fn secret(text: &str) -> Result<Secret<String>, std::convert::Infallible> {
    Ok(Secret::new(text.to_owned()))
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The code, as an error shows it (`unknown-property`, `NAME_CONFLICT`); none lists all
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Graph {
    #[command(flatten)]
    pub(crate) template: TemplateArgs,
    /// The form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: GraphFormat,
}

/// The form of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Mermaid, as Markdown shows it
    #[default]
    Mermaid,
    /// Graphviz
    Dot,
    /// Nodes and edges
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// The whole command tree.
pub(crate) fn command_tree() -> clap::Command {
    resource::add_commands(Cli::command())
}

/// The name that a person calls this binary by, for commands to copy.
pub(crate) fn program() -> &'static str {
    if called_as_soat() { "soat" } else { "formwork" }
}

/// Whether a command line is one of the `pkl` commands, which end as the official ones do.
pub(crate) fn calls_pkl(arguments: impl IntoIterator<Item = OsString>) -> bool {
    let mut value_follows = false;
    for argument in arguments.into_iter().skip(1) {
        let flag = argument.to_str().is_some_and(|text| text.starts_with('-'));
        if !flag && !std::mem::take(&mut value_follows) {
            return argument == "pkl";
        }
        value_follows = flag && ["--profile", "--progress", "--color"].iter().any(|name| argument == *name);
    }
    false
}

/// The commands that are there for a command line.
fn tree_for(family: Family, is_pkl: bool) -> clap::Command {
    let mut tree = if is_pkl { Cli::command() } else { command_tree() };
    if family == Family::Soat {
        tree = tree.name("soat").mut_subcommands(|command| {
            let hidden = NOT_SOAT.contains(&command.get_name());
            command.hide(hidden)
        });
    }
    if is_pkl { tree } else { subjects::by_subject(tree) }
}

/// Parses a command line.
///
/// # Errors
/// What clap has to say, a help text included.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    parameters_of: impl FnOnce(&std::path::Path) -> Vec<Parameter>,
) -> Result<Invocation, clap::Error> {
    let arguments = spelling::asking_for_help(arguments.into_iter().collect());
    // Evaluating a small module takes less time than making the commands of all resource types.
    let is_pkl = calls_pkl(arguments.iter().cloned());
    let mut arguments = arguments.into_iter();
    let program = arguments.next().unwrap_or_else(|| "formwork".into());
    let family = family(&program);
    let line: Vec<OsString> = std::iter::once(program).chain(spelling::normalised(arguments)).collect();
    let mut tree = tree_for(family, is_pkl);
    let mut parameters = Vec::new();
    let matches = match tree.try_get_matches_from_mut(&line) {
        // The forma is looked into only where its flags may be meant.
        Err(error) if matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::DisplayHelp) => {
            if let Some(file) = forma::file_of(&line) {
                parameters = parameters_of(&file);
            }
            if parameters.is_empty() {
                return Err(suggestions::fewer(error));
            }
            tree = forma::with_parameters(tree_for(family, is_pkl), &parameters);
            tree.try_get_matches_from_mut(&line)
        }
        matches => matches,
    };
    let matches = matches.map_err(suggestions::fewer)?;
    if let Some((name, sub)) = matches.subcommand()
        && let Some(call) = resource::call(name, sub)
    {
        let global = Global::from_arg_matches(sub)?;
        return Ok(Invocation { global, command: Command::Resource(call) });
    }
    let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut tree))?;
    forma::take_parameters(&mut cli.command, &matches, &parameters);
    Ok(Invocation { global: cli.global, command: Command::Static(cli.command) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Invocation, clap::Error> {
        parse(line.split(' ').map(OsString::from), |_| Vec::new())
    }

    #[test]
    fn the_tree_is_sound() {
        command_tree().debug_assert();
    }

    #[test]
    fn an_id_is_given_by_place_or_by_either_flag() {
        for line in
            ["f get-formation form_1", "f get-formation --id form_1", "f get-formation --formationId form_1"]
        {
            match parsed(line).expect(line).command {
                Command::Static(Static::GetFormation(formation)) => assert_eq!(formation.get(), "form_1"),
                other => panic!("{line}: {other:?}"),
            }
        }
        assert!(parsed("f get-formation").is_err());
    }

    #[test]
    fn the_pkl_commands_are_told_from_others() {
        for (line, expected) in [
            ("f pkl", true),
            ("f pkl eval --nonsense", true),
            ("f --color never pkl eval", true),
            ("f --color=never pkl eval", true),
            ("f --profile pkl graph", false),
            ("f graph pkl", false),
            ("f", false),
        ] {
            assert_eq!(calls_pkl(line.split(' ').map(OsString::from)), expected, "{line}");
        }
    }

    #[test]
    fn help_is_a_command_too() {
        for line in ["f help", "f help get-formation", "f help agent start", "f help pkl eval"] {
            let error = parsed(line).expect_err(line);
            assert_eq!(error.kind(), ErrorKind::DisplayHelp, "{line}");
        }
        let of = |line: &str| parsed(line).expect_err("help").to_string();
        assert_eq!(of("f help get-formation"), of("f get-formation --help"));
    }

    #[test]
    fn two_templates_are_refused() {
        let line = "f validate-formation --template {} --template-file a.yaml";
        let error = parsed(line).expect_err("two templates").to_string();
        assert!(error.contains("cannot be used with"), "{error}");
    }
}
