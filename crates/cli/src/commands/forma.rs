//! The commands on formae: apply, destroy, eval, inventory.

use super::CommandError;
use super::deploy::follow;
use super::pkl::forma::FormaHost;
use crate::args::{
    self, Consumer, FormaApply, FormaDestroy, FormaEval, FormaFile, FormaOutput, Inventory, Machine,
    Parameter,
};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::{error, inventory as shown, json, plan, say};
use formwork_api::{ApiError, ClientError, FormaCommand, FormaCommandKind, HttpMethod, OnDependents};
use formwork_forma::wire::{self, Places};
use formwork_forma::{Forma, FormaError};
use formwork_model::{OperationStatus, ProjectId, SourceMap};
use serde_json::Value;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;

/// A forma, evaluated, with its files as they may be drawn.
struct Evaluated {
    forma: Forma,
    drawn: Arc<SourceMap>,
}

fn evaluated(file: &FormaFile, command: &str, mode: &str) -> Result<Evaluated, CommandError> {
    let host = FormaHost::new(&file.file, &file.property, command, mode)?;
    // Who may see which project is the server's to say: references are within the one it takes.
    match host.evaluate(&ProjectId::from("")) {
        Ok((forma, warnings)) => {
            let drawn = Arc::new(forma.drawable());
            error::print_diagnostics(&warnings, &drawn);
            Ok(Evaluated { forma, drawn })
        }
        Err(FormaError::Evaluate(error)) => Err(host.linked(*error).into()),
        Err(FormaError::Invalid(invalid)) => {
            Err(CommandError::Forma { diagnostics: invalid.found, map: Box::new(invalid.source_map) })
        }
        Err(error) => Err(CommandError::Argument(with_cause(&error))),
    }
}

/// The properties that a forma may be given as flags; none if it can't be looked into, which the command itself will
/// say why.
pub(crate) fn parameters(file: &Path) -> Vec<Parameter> {
    let Ok(host) = FormaHost::new(file, &[], "eval", "properties") else { return Vec::new() };
    let properties = host.properties().unwrap_or_default();
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let parameter = |(name, property): (Arc<str>, Value)| Parameter {
        flag: text(&property["Flag"]).unwrap_or_else(|| name.to_string()),
        type_name: text(&property["Type"]).unwrap_or_else(|| "VALUE".to_owned()),
        doc: text(&property["Description"]),
        default: text(&property["Default"]),
    };
    properties.into_iter().map(parameter).collect()
}

fn with_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

pub(crate) fn eval(arguments: &FormaEval) -> Result<Exit, CommandError> {
    let Evaluated { forma, .. } = evaluated(&arguments.forma, "eval", "none")?;
    let document = wire::masked(&forma);
    let schema = match arguments.output.output_consumer {
        Consumer::Machine => arguments.output.output_schema,
        // What a person reads best of what is nested.
        Consumer::Human => Machine::Yaml,
    };
    print(&document, schema)?;
    Ok(Exit::Done)
}

pub(crate) async fn apply(session: &Session, arguments: &FormaApply) -> Result<Exit, CommandError> {
    let mode = match arguments.mode() {
        formwork_api::FormaMode::Reconcile => "reconcile",
        formwork_api::FormaMode::Patch => "patch",
    };
    let Evaluated { forma, drawn } = evaluated(&arguments.forma, "apply", mode)?;
    let request = FormaCommand {
        command: FormaCommandKind::Apply,
        project_id: arguments.project_id.clone(),
        forma: wire::write(&forma),
        places: Some(Places::of(&forma.source_map).to_json()),
        mode: Some(arguments.mode()),
        simulate: true,
        force: arguments.force,
        on_dependents: OnDependents::Abort,
        on_failure: Some(arguments.on_failure()),
        plan_hash: None,
    };
    let work = Work {
        verb: "apply",
        question: "Apply this plan?",
        simulate: arguments.simulate,
        yes: arguments.yes,
        output: &arguments.output,
        confirm: forma.description.as_ref(),
        file: &arguments.forma,
    };
    let exit = work.run(session, request, drawn).await?;
    Ok(if exit == Exit::Changes && !arguments.detailed_exitcode { Exit::Done } else { exit })
}

pub(crate) async fn destroy(session: &Session, arguments: &FormaDestroy) -> Result<Exit, CommandError> {
    let Evaluated { forma, drawn } = evaluated(&arguments.forma, "destroy", "none")?;
    let request = FormaCommand {
        command: FormaCommandKind::Destroy,
        project_id: arguments.project_id.clone(),
        forma: wire::write(&forma),
        places: Some(Places::of(&forma.source_map).to_json()),
        mode: None,
        simulate: true,
        force: false,
        on_dependents: arguments.on_dependents(),
        on_failure: None,
        plan_hash: None,
    };
    let work = Work {
        verb: "destroy",
        question: "Destroy all of this?",
        simulate: arguments.simulate,
        yes: arguments.yes,
        output: &arguments.output,
        confirm: None,
        file: &arguments.forma,
    };
    let exit = work.run(session, request, drawn).await?;
    Ok(if exit == Exit::Changes { Exit::Done } else { exit })
}

/// A forma's way from its plan to its end.
struct Work<'a> {
    verb: &'static str,
    question: &'static str,
    simulate: bool,
    yes: bool,
    output: &'a FormaOutput,
    confirm: Option<&'a formwork_forma::Description>,
    file: &'a FormaFile,
}

impl Work<'_> {
    async fn run(
        &self,
        session: &Session,
        mut request: FormaCommand,
        drawn: Arc<SourceMap>,
    ) -> Result<Exit, CommandError> {
        let machine = self.output.output_consumer == Consumer::Machine;
        let planned = submit(session, &request, &drawn).await?;
        error::print_details_in(&planned["plan"]["warnings"], "warning", &drawn);
        let changed = if machine {
            planned["changes_required"] == true
        } else {
            if let Some(description) = self.confirm.filter(|description| !description.text.is_empty()) {
                say(format_args!("{}\n", crate::ui::text::lines(&description.text)));
            }
            let changed = plan::print(&planned["plan"], None);
            shown::print_drift(&planned["drift"]);
            changed
        };
        if self.simulate {
            if machine {
                print(&planned, self.output.output_schema)?;
            }
            return Ok(if changed { Exit::Changes } else { Exit::Done });
        }
        if !changed && machine {
            print(&planned, self.output.output_schema)?;
        }
        if changed && !self.agreed()? {
            say(format_args!("{}: nothing was done", self.verb));
            return Ok(Exit::Failed);
        }
        // The plan that was shown, or none.
        request.simulate = false;
        if request.command == FormaCommandKind::Apply {
            request.plan_hash = planned["plan"]["plan_hash"].as_str().map(str::to_owned);
        }
        let begun = submit(session, &request, &drawn).await?;
        let Some(operation) = begun["command_id"].as_str() else {
            return Ok(Exit::Done);
        };
        let next = format!("{} {} {}", args::program(), self.verb, self.file.file.display());
        if let Some(exit) = follow(session, operation, Some(&next)).await? {
            return Ok(exit);
        }
        let operation = session.client().get_operation(operation).await?.operation;
        if machine {
            print(&serde_json::to_value(&operation).unwrap_or_default(), self.output.output_schema)?;
        }
        let failure = operation.error.as_ref().map(|error| error.code.as_str());
        Ok(match (operation.status == OperationStatus::Succeeded, failure) {
            (true, _) => Exit::Done,
            (false, Some("DRIFTED")) => Exit::Drifted,
            (false, Some("CANCELED")) if session.was_interrupted() => Exit::Interrupted,
            (false, _) => Exit::Failed,
        })
    }

    /// Whether the person agrees.
    fn agreed(&self) -> Result<bool, CommandError> {
        let asks = self.confirm.is_some_and(|description| description.confirm);
        if self.yes {
            return Ok(true);
        }
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Err(CommandError::Argument(format!(
                "`{}` asks before it does anything, and here is nobody to ask: `--yes` agrees beforehand, `--simulate` only shows the plan",
                self.verb
            )));
        }
        let question = if asks { "Read the description above. " } else { "" };
        let mut stderr = std::io::stderr();
        write!(stderr, "\n{question}{} [y/N] ", self.question)?;
        stderr.flush()?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

/// Sends a forma. What is wrong with it is drawn in its files.
async fn submit(
    session: &Session,
    request: &FormaCommand,
    drawn: &Arc<SourceMap>,
) -> Result<Value, CommandError> {
    let client = session.client().clone().with_timeout(None);
    let body = serde_json::to_value(request).unwrap_or_default();
    let answer = client.request(HttpMethod::Post, "/commands", &[], Some(&body)).await;
    let refused = |error: Box<ApiError>| CommandError::Refused { error, map: Arc::clone(drawn) };
    match answer {
        Ok(answer) => Ok(answer.body.unwrap_or_default()),
        Err(ClientError::Api(error)) => Err(refused(error)),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn inventory(session: &Session, command: &Inventory) -> Result<Exit, CommandError> {
    let (path, arguments) = match command {
        Inventory::Resources(arguments) => ("/resources", arguments),
        Inventory::Stacks(arguments) => ("/stacks", arguments),
        Inventory::Targets(arguments) => ("/targets", arguments),
    };
    let project: Vec<(&str, &str)> =
        arguments.project_id.iter().map(|project| ("project_id", project.as_str())).collect();
    let found = session.client().request(HttpMethod::Get, path, &project, None).await?;
    let found = found.body.unwrap_or_default();
    match arguments.output.output_consumer {
        Consumer::Machine => print(&found, arguments.output.output_schema)?,
        Consumer::Human => shown::print(command, &found)?,
    }
    Ok(Exit::Done)
}

/// One document on stdout.
fn print(document: &Value, schema: Machine) -> Result<(), CommandError> {
    match schema {
        Machine::Json => Ok(json::print(document)?),
        Machine::Yaml => Ok(crate::ui::yaml::print(document)?),
    }
}
