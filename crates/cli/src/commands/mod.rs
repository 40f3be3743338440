//! One module per command or family of commands. A command is a few requests and what is printed.

mod admin;
mod agent;
mod basics;
mod completions;
mod configure;
mod deploy;
mod drift;
pub(crate) mod error;
pub(crate) mod explain;
mod files;
pub(crate) mod forma;
mod formation;
mod graph;
pub(crate) mod pkl;
mod plugin;
mod request;
mod resource;
mod revisions;
mod users;

pub(crate) use error::CommandError;

use crate::args::{Command, Invocation, Static};
use crate::exit::Exit;
use crate::session::{Need, Session};
use crate::ui::style;

/// Runs a command.
///
/// # Errors
/// What the command fails with; it is printed by the caller.
pub(crate) fn run(invocation: Invocation) -> Result<Exit, CommandError> {
    style::choose(invocation.global.color);
    let Invocation { global, command } = invocation;
    let command = match command {
        Command::Static(Static::Completions(arguments)) => return completions::run(&arguments),
        Command::Static(Static::Configure(arguments)) => return configure::run(&global, &arguments),
        Command::Static(Static::Explain(arguments)) => return explain::run(&arguments),
        Command::Static(Static::ListCommands) => return completions::list(),
        Command::Static(Static::Pkl(command)) => return pkl::run(&command),
        Command::Static(Static::Eval(arguments)) => return forma::eval(&arguments),
        command => command,
    };
    let runtime = runtime(&command)?;
    let outcome = runtime.block_on(async {
        match command {
            Command::Static(Static::Agent(command)) => agent::run(&global, command).await,
            Command::Static(Static::Plugin(command)) => plugin::run(command).await,
            command => {
                let session = Session::connect(&global, need(&command)).await?;
                let outcome = dispatch(&session, command).await;
                session.leave().await;
                outcome
            }
        }
    });
    // Blocking work that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    outcome
}

/// A checking command needs no threads; one that may run deploys does.
fn runtime(command: &Command) -> Result<tokio::runtime::Runtime, CommandError> {
    let mut builder = match need(command) {
        Need::Nothing => tokio::runtime::Builder::new_current_thread(),
        Need::Read | Need::Follow | Need::Write => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.enable_all().build().map_err(CommandError::Runtime)
}

/// What a command needs of its session.
fn need(command: &Command) -> Need {
    use crate::args::ResourceAction as Resource;
    match command {
        Command::Static(
            Static::ValidateFormation(_)
            | Static::ValidateOrchestration(_)
            | Static::Graph(_)
            | Static::FormationSchema,
        ) => Need::Nothing,
        Command::Static(Static::PlanFormation(arguments)) if arguments.save => Need::Write,
        Command::Static(
            Static::Inventory(_)
            | Static::PlanFormation(_)
            | Static::ListFormations(_)
            | Static::GetFormation(_)
            | Static::ListFormationEvents(_)
            | Static::Drift(_)
            | Static::ListFormationRevisions(_)
            | Static::GetFormationRevision(_)
            | Static::DiffFormationRevisions(_)
            | Static::GetOperation(_)
            | Static::GetPlan(_)
            | Static::ListProjects(_)
            | Static::GetProject(_)
            | Static::GetProjectPrices(_)
            | Static::DownloadFile(_)
            | Static::ListTokens(_)
            | Static::Login(_)
            | Static::GetCurrentUser
            | Static::ListUsers(_)
            | Static::GetUser(_)
            | Static::ListAuditEntries(_),
        ) => Need::Read,
        Command::Static(Static::Apply(arguments)) if arguments.simulate => Need::Read,
        Command::Static(Static::Destroy(arguments)) if arguments.simulate => Need::Read,
        Command::Static(Static::WatchOperation(_)) => Need::Follow,
        Command::Resource(call)
            if matches!(
                call.action,
                Resource::List { .. } | Resource::Get { .. } | Resource::Related { .. }
            ) =>
        {
            Need::Read
        }
        _ => Need::Write,
    }
}

async fn dispatch(session: &Session, command: Command) -> Result<Exit, CommandError> {
    let command = match command {
        Command::Resource(call) => return resource::run(session, call).await,
        Command::Static(command) => command,
    };
    match command {
        Static::Apply(arguments) => forma::apply(session, &arguments).await,
        Static::Destroy(arguments) => forma::destroy(session, &arguments).await,
        Static::Inventory(command) => forma::inventory(session, &command).await,
        Static::ValidateFormation(arguments) => formation::validate(session, &arguments).await,
        Static::FormationSchema => formation::schema(session).await,
        Static::PlanFormation(arguments) => formation::plan(session, &arguments).await,
        Static::CreateFormation(arguments) => deploy::create(session, &arguments).await,
        Static::UpdateFormation(arguments) => deploy::update(session, &arguments).await,
        Static::DeleteFormation(arguments) => deploy::delete(session, &arguments).await,
        Static::ListFormations(arguments) => formation::list(session, &arguments).await,
        Static::GetFormation(arguments) => formation::get(session, &arguments).await,
        Static::ListFormationEvents(arguments) => formation::events(session, &arguments).await,
        Static::Drift(arguments) => drift::run(session, &arguments).await,
        Static::ListFormationRevisions(arguments) => revisions::list(session, &arguments).await,
        Static::GetFormationRevision(arguments) => revisions::get(session, &arguments).await,
        Static::DiffFormationRevisions(arguments) => revisions::diff(session, &arguments).await,
        Static::Admin(command) => admin::run(session, &command).await,
        Static::GetPlan(plan) => basics::get(session, "/plans", &plan.plan_hash).await,
        Static::ApplyPlan(arguments) => deploy::apply_plan(session, &arguments).await,
        Static::GetOperation(operation) => basics::get_operation(session, &operation).await,
        Static::WatchOperation(operation) => deploy::watch(session, &operation).await,
        Static::CancelOperation(arguments) => basics::cancel_operation(session, &arguments).await,
        Static::ListProjects(page) => basics::list(session, "/projects", &page).await,
        Static::CreateProject(arguments) => basics::create_project(session, &arguments).await,
        Static::GetProject(project) => basics::get(session, "/projects", project.get()).await,
        Static::UpdateProject(arguments) => basics::update_project(session, &arguments).await,
        Static::DeleteProject(project) => basics::delete(session, "/projects", project.get()).await,
        Static::GetProjectPrices(arguments) => files::prices(session, &arguments).await,
        Static::UpdateProjectPrices(arguments) => files::set_prices(session, &arguments).await,
        Static::UploadFile(arguments) => files::upload(session, &arguments).await,
        Static::DownloadFile(arguments) => files::download(session, &arguments).await,
        Static::ValidateOrchestration(arguments) => files::validate_orchestration(session, &arguments).await,
        Static::ListTokens(page) => basics::list(session, "/tokens", &page).await,
        Static::CreateToken(arguments) => basics::create_token(session, &arguments).await,
        Static::DeleteToken(token) => basics::delete(session, "/tokens", token.get()).await,
        Static::Login(arguments) => users::login(session, &arguments).await,
        Static::BootstrapUser(arguments) => users::bootstrap(session, &arguments).await,
        Static::GetCurrentUser => basics::show_at(session, "/users/me").await,
        Static::ListUsers(page) => basics::list(session, "/users", &page).await,
        Static::CreateUser(arguments) => users::create(session, &arguments).await,
        Static::GetUser(user) => basics::get(session, "/users", user.get()).await,
        Static::DeleteUser(user) => basics::delete(session, "/users", user.get()).await,
        Static::AttachUserPolicies(arguments) => users::attach(session, &arguments).await,
        Static::ListAuditEntries(arguments) => users::audit(session, &arguments).await,
        Static::Graph(arguments) => graph::run(session, &arguments).await,
        Static::Agent(_)
        | Static::Plugin(_)
        | Static::Configure(_)
        | Static::Explain(_)
        | Static::Completions(_)
        | Static::ListCommands
        | Static::Eval(_)
        | Static::Pkl(_) => unreachable!("`run` answers these before it connects"),
    }
}
