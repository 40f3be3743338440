//! Deploys and teardowns: begin, follow, answer.

use super::CommandError;
use super::formation::path;
use super::request::{Body, json_flag, parameter_bag, required_template, template};
use crate::args::{
    self, ApplyPlan, CreateFormation, Decisions, DeleteFormation, OperationId, ParameterArgs, TemplateArgs,
    UpdateFormation,
};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::progress::{Ending, Progress};
use crate::ui::{json, say, text};
use formwork_api::{ApiError, Client, ErrorDetail, HttpMethod, StreamItem};
use formwork_formation::clean;
use formwork_model::OperationStatus;
use serde_json::{Value, json};

const DO_NOT_WAIT: &[(&str, &str)] = &[("wait", "false")];
const CANCELING: &str =
    "canceling: nothing new starts; waiting for what is in flight. Press Ctrl-C again to leave now.";

pub(crate) async fn create(session: &Session, arguments: &CreateFormation) -> Result<Exit, CommandError> {
    let source = required_template(&arguments.template)?;
    let metadata = arguments.metadata.as_deref().map(|text| json_flag("--metadata", text)).transpose()?;
    let body = Body::default()
        .with("project_id", arguments.project_id.as_deref())
        .with("name", Some(arguments.name.as_str()))
        .with("template", Some(source.text.as_str()))
        .with("metadata", metadata)
        .with("parameters", parameter_bag(&arguments.parameters)?)
        .with("plan_hash", arguments.plan_hash.as_deref())
        .with("on_failure", arguments.on_failure.get())
        .build();
    let client = session.client().clone().with_timeout(None);
    let begun = client.request(HttpMethod::Post, "/formations", DO_NOT_WAIT, Some(&body)).await;
    let begun = begun.map_err(|error| CommandError::from(error).in_source(Some(source)))?;
    let given = given_again(&arguments.template, &arguments.parameters);
    deployed(session, "create-formation", begun.body.unwrap_or_default(), arguments.no_wait, &given).await
}

pub(crate) async fn update(session: &Session, arguments: &UpdateFormation) -> Result<Exit, CommandError> {
    let source = template(&arguments.template)?;
    let metadata = arguments.metadata.as_deref().map(|text| json_flag("--metadata", text)).transpose()?;
    let body = Body::default()
        .with("template", source.as_ref().map(|source| source.text.as_str()))
        .with("metadata", metadata)
        .with("parameters", parameter_bag(&arguments.parameters)?)
        .with("plan_hash", arguments.plan_hash.as_deref())
        .with("on_failure", arguments.on_failure.get())
        .with("revision", arguments.revision)
        .with("unknown_outcomes", outcomes(&arguments.decisions)?)
        .build();
    let client = session.client().clone().with_timeout(None);
    let begun = client.request(HttpMethod::Put, &path(&arguments.formation), DO_NOT_WAIT, Some(&body)).await;
    let begun = begun.map_err(|error| CommandError::from(error).in_source(source))?;
    let given = given_again(&arguments.template, &arguments.parameters);
    deployed(session, "update-formation", begun.body.unwrap_or_default(), arguments.no_wait, &given).await
}

pub(crate) async fn apply_plan(session: &Session, arguments: &ApplyPlan) -> Result<Exit, CommandError> {
    let path = format!("/plans/{}/apply", Client::segment(&arguments.plan.plan_hash));
    let body = Body::default().with("name", arguments.name.as_deref()).build();
    let client = session.client().clone().with_timeout(None);
    let begun = client.request(HttpMethod::Post, &path, DO_NOT_WAIT, Some(&body)).await?;
    deployed(session, "apply-plan", begun.body.unwrap_or_default(), arguments.no_wait, "").await
}

/// Follows a deploy and answers with the formation. A failed one is an answer too, on stdout, and
/// then a reason on stderr and exit 1 (seed 4, "A Failed Deploy Still Answers 2xx"). `given` ends the
/// command that tries again.
async fn deployed(
    session: &Session,
    command: &str,
    begun: Value,
    no_wait: bool,
    given: &str,
) -> Result<Exit, CommandError> {
    if no_wait {
        json::print(&begun)?;
        return Ok(Exit::Done);
    }
    let formation = begun["formation_id"].as_str().unwrap_or_default().to_owned();
    let operation = begun["operation_id"].as_str().unwrap_or_default().to_owned();
    let next = format!("{} update-formation --formation-id {formation}{given}", args::program());
    if let Some(exit) = follow(session, &operation, Some(&next)).await? {
        return Ok(exit);
    }
    let path = format!("/formations/{}", Client::segment(&formation));
    let payload = session.client().request(HttpMethod::Get, &path, &[], None).await?.body.unwrap_or_default();
    json::print(&payload)?;
    if payload["status"] != "failed" {
        return Ok(Exit::Done);
    }
    let error = &payload["error"];
    let place = match error["meta"]["logical_id"].as_str() {
        Some(label) => format!(" at resource '{label}'"),
        None => String::new(),
    };
    let code = error["code"].as_str().unwrap_or("UNKNOWN");
    let message = error["message"].as_str().unwrap_or("no reason was recorded");
    say(format_args!(
        "{command}: the deploy failed{} — the formation is 'failed'. {}: {}",
        clean(&place),
        clean(code),
        text::lines(message)
    ));
    Ok(match code {
        "DRIFTED" => Exit::Drifted,
        "CANCELED" if session.was_interrupted() => Exit::Interrupted,
        _ => Exit::Failed,
    })
}

/// The flags that trying again takes. A failed update leaves the stored template as it was, and the
/// values of parameters are never stored, so both have to be given once more.
fn given_again(template: &TemplateArgs, parameters: &ParameterArgs) -> String {
    let mut flags = match template.file() {
        Some(file) if file.as_os_str() != "-" => {
            format!(" --template-file {}", clean(&shell_word(&file.display().to_string())))
        }
        None if template.template.is_none() => String::new(),
        _ => " --template-file …".to_owned(),
    };
    if !parameters.parameter.is_empty() {
        flags.push_str(" --parameter …");
    } else if parameters.parameters.is_some() {
        flags.push_str(" --parameters …");
    }
    flags
}

/// A text as one word of a shell's command line.
fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "._/-+@:,=".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What `--adopt` and `--discard` say, by logical id; `None` if they say nothing.
fn outcomes(decisions: &Decisions) -> Result<Option<Value>, CommandError> {
    let mut outcomes = serde_json::Map::new();
    for pair in &decisions.adopt {
        let parts = pair.split_once('=').filter(|(label, id)| !label.is_empty() && !id.is_empty());
        let (label, id) = parts.ok_or_else(|| {
            CommandError::Argument(format!("--adopt takes LOGICAL_ID=PHYSICAL_ID, not `{pair}`"))
        })?;
        outcomes.insert(label.to_owned(), Value::from(id));
    }
    for label in &decisions.discard {
        if outcomes.insert(label.clone(), Value::Null).is_some() {
            return Err(CommandError::Argument(format!("`{label}` is both adopted and discarded")));
        }
    }
    Ok((!outcomes.is_empty()).then_some(Value::Object(outcomes)))
}

pub(crate) async fn delete(session: &Session, arguments: &DeleteFormation) -> Result<Exit, CommandError> {
    let client = session.client().clone().with_timeout(None);
    outcomes(&arguments.decisions)?;
    let (adopt, discard) = (arguments.decisions.adopt.join(","), arguments.decisions.discard.join(","));
    let mut query = DO_NOT_WAIT.to_vec();
    query.extend(
        [("adopt", adopt.as_str()), ("discard", discard.as_str())]
            .into_iter()
            .filter(|(_, list)| !list.is_empty()),
    );
    let begun = client.request(HttpMethod::Delete, &path(&arguments.formation), &query, None).await?;
    let begun = begun.body.unwrap_or_default();
    if arguments.no_wait {
        json::print(&begun)?;
        return Ok(Exit::Done);
    }
    let operation = begun["operation_id"].as_str().unwrap_or_default().to_owned();
    let next = format!("{} delete-formation --formation-id {}", args::program(), arguments.formation.get());
    if let Some(exit) = follow(session, &operation, Some(&next)).await? {
        return Ok(exit);
    }
    let operation = session.client().get_operation(&operation).await?.operation;
    if operation.status == OperationStatus::Succeeded {
        json::print(&json!({ "success": true }))?;
        return Ok(Exit::Done);
    }
    let unknown = || ErrorDetail {
        code: "UNKNOWN".to_owned(),
        message: "no reason was recorded".to_owned(),
        meta: None,
    };
    // As the route that waits answers a teardown that could not finish.
    let body = operation.error.unwrap_or_else(unknown);
    let canceled = body.code == "CANCELED" && session.was_interrupted();
    let refused = CommandError::Api { error: Box::new(ApiError { status: 409, body }), source_text: None };
    if canceled {
        crate::ui::error::print(&refused);
        return Ok(Exit::Interrupted);
    }
    Err(refused)
}

/// Follows an operation that was begun elsewhere.
pub(crate) async fn watch(session: &Session, operation: &OperationId) -> Result<Exit, CommandError> {
    if let Some(exit) = follow(session, operation.get(), None).await? {
        return Ok(exit);
    }
    let path = format!("/operations/{}", Client::segment(operation.get()));
    let payload = session.client().request(HttpMethod::Get, &path, &[], None).await?.body.unwrap_or_default();
    json::print(&payload)?;
    Ok(if payload["status"] == "failed" { Exit::Failed } else { Exit::Done })
}

/// Shows an operation's events until it ends. An exit code: the person left before that.
pub(super) async fn follow(
    session: &Session,
    operation: &str,
    next: Option<&str>,
) -> Result<Option<Exit>, CommandError> {
    let mut progress = Progress::new(session.progress());
    let mut stream = session.client().follow_operation(operation, 0);
    let mut interrupts = session.interrupts();
    // Asked once, as long as the operation is there to be asked about.
    let mut given_up = std::pin::pin!(session.given_up(operation));
    loop {
        let item = tokio::select! {
            item = stream.next() => item?,
            error = &mut given_up => return Err(error.into()),
            () = interrupts.next() => {
                let Some(exit) = session.interrupted(operation).await else {
                    progress.note(CANCELING);
                    continue;
                };
                progress.end(&if session.is_embedded() {
                    Ending::Interrupted { operation }
                } else {
                    Ending::Detached { operation, program: args::program() }
                });
                return Ok(Some(exit));
            }
            () = progress.tick() => continue,
        };
        match item {
            Some(StreamItem::Event(event)) => progress.event(&event),
            Some(StreamItem::Waiting(waiting)) => progress.waiting(&waiting),
            Some(StreamItem::End(end)) => progress.end(&Ending::Over { end: &end, next }),
            None => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_secret::Secret;
    use std::path::PathBuf;

    fn flags(file: &str, parameters: &ParameterArgs) -> String {
        let template = TemplateArgs { template_file: Some(PathBuf::from(file)), ..TemplateArgs::default() };
        given_again(&template, parameters)
    }

    #[test]
    fn trying_again_takes_the_same_file_and_the_parameters_but_shows_no_value() {
        let none = ParameterArgs::default();
        assert_eq!(given_again(&TemplateArgs::default(), &none), "");
        assert_eq!(flags("stacks/bot.yaml", &none), " --template-file stacks/bot.yaml");
        assert_eq!(flags("-", &none), " --template-file …");
        let some = ParameterArgs { parameter: vec![Secret::new("ApiKey=canary".to_owned())], ..none };
        assert_eq!(flags("bot.yaml", &some), " --template-file bot.yaml --parameter …");
    }

    #[test]
    fn a_file_name_is_one_word_of_the_command() {
        assert_eq!(shell_word("my bot.yaml"), "'my bot.yaml'");
        assert_eq!(shell_word("it's.yaml"), r"'it'\''s.yaml'");
        assert_eq!(shell_word("$(x).yaml"), "'$(x).yaml'");
    }
}
