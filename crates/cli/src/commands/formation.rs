//! The formation commands that deploy nothing.

use super::CommandError;
use super::basics::{borrowed, page_query, show, validated};
use super::request::{Body, parameter_bag, required_template, template};
use crate::args::{FormationEvents, FormationId, ListFormations, PlanFormation, ValidateFormation};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::{error, json, plan};
use formwork_api::{Client, HttpMethod};
use serde_json::Value;

/// Validates; an invalid template is an answer, not a failure of the command, but for its exit code.
pub(crate) async fn validate(session: &Session, arguments: &ValidateFormation) -> Result<Exit, CommandError> {
    let source = required_template(&arguments.template)?;
    let parameters = parameter_bag(&arguments.parameters)?;
    let body =
        Body::default().with("template", Some(source.text.as_str())).with("parameters", parameters).build();
    let answer = session.client().request(HttpMethod::Post, "/formations/validate", &[], Some(&body)).await;
    let answer = answer.map_err(|error| CommandError::from(error).in_source(Some(source.clone())))?;
    validated(&answer.body.unwrap_or_default(), Some(&source))
}

pub(crate) async fn plan(session: &Session, arguments: &PlanFormation) -> Result<Exit, CommandError> {
    let source = template(&arguments.template)?;
    if source.is_none() && arguments.formation_id.is_none() {
        required_template(&arguments.template)?;
    }
    let body = Body::default()
        .with("project_id", arguments.project_id.as_deref())
        .with("formation_id", arguments.formation_id.as_deref())
        .with("template", source.as_ref().map(|source| source.text.as_str()))
        .with("parameters", parameter_bag(&arguments.parameters)?)
        .with("revision", arguments.revision)
        .with("observe", arguments.no_refresh.then_some("off"))
        .with("on_failure", arguments.on_failure.get())
        .with("save", arguments.save.then_some(true))
        .build();
    let client = session.client().clone().with_timeout(None);
    let answer = client.request(HttpMethod::Post, "/formations/plan", &[], Some(&body)).await;
    let mut planned =
        answer.map_err(|error| CommandError::from(error).in_source(source.clone()))?.body.unwrap_or_default();
    if session.keeps_nothing() {
        // A hash is of one instance: there is none yet, and this one's would approve nothing.
        planned["plan_hash"] = Value::Null;
    }
    json::print(&planned)?;
    error::print_details(&planned["warnings"], "warning", source.as_ref());
    let changed = plan::print(&planned, source.as_ref());
    Ok(if arguments.detailed_exitcode && changed { Exit::Changes } else { Exit::Done })
}

/// The JSON Schema of templates.
pub(crate) async fn schema(session: &Session) -> Result<Exit, CommandError> {
    show(session, HttpMethod::Get, "/formations/schema.json", &[], None).await
}

pub(crate) async fn list(session: &Session, arguments: &ListFormations) -> Result<Exit, CommandError> {
    let mut query = page_query(&arguments.page);
    query.extend(arguments.project_id.iter().map(|project| ("project_id".to_owned(), project.clone())));
    show(session, HttpMethod::Get, "/formations", &borrowed(&query), None).await
}

pub(crate) async fn get(session: &Session, formation: &FormationId) -> Result<Exit, CommandError> {
    show(session, HttpMethod::Get, &path(formation), &[], None).await
}

pub(crate) async fn events(session: &Session, arguments: &FormationEvents) -> Result<Exit, CommandError> {
    let path = format!("{}/events", path(&arguments.formation));
    show(session, HttpMethod::Get, &path, &borrowed(&page_query(&arguments.page)), None).await
}

/// A formation's path.
pub(crate) fn path(formation: &FormationId) -> String {
    format!("/formations/{}", Client::segment(formation.get()))
}
