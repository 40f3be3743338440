//! Projects, tokens, operations: one request each.

use super::CommandError;
use super::error::SourceText;
use super::request::{Body, json_flag};
use crate::args::{CancelOperation, CreateProject, CreateToken, OperationId, Page, UpdateProject};
use crate::exit::Exit;
use crate::session::Session;
use crate::ui::{error, json};
use formwork_api::{Client, HttpMethod};
use formwork_formation::clean;
use serde_json::{Value, json};

/// The query of a page.
pub(crate) fn page_query(page: &Page) -> Vec<(String, String)> {
    let limit = page.limit.map(|limit| ("limit".to_owned(), limit.to_string()));
    let offset = page.offset.map(|offset| ("offset".to_owned(), offset.to_string()));
    limit.into_iter().chain(offset).collect()
}

/// Borrows a query for a request.
pub(crate) fn borrowed(query: &[(String, String)]) -> Vec<(&str, &str)> {
    query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Sends a request and prints its answer.
pub(crate) async fn show(
    session: &Session,
    method: HttpMethod,
    path: &str,
    query: &[(&str, &str)],
    body: Option<&Value>,
) -> Result<Exit, CommandError> {
    let answer = session.client().request(method, path, query, body).await?;
    if let Some(warning) = &answer.warning {
        crate::ui::say(format_args!("warning: {}", clean(warning)));
    }
    json::print(&answer.body.unwrap_or_else(|| json!({ "success": true })))?;
    Ok(Exit::Done)
}

/// Prints what a validation found, in the template that it speaks of if there is one.
pub(crate) fn validated(validation: &Value, source: Option<&SourceText>) -> Result<Exit, CommandError> {
    json::print(validation)?;
    error::print_details(&validation["warnings"], "warning", source);
    error::print_details(&validation["errors"], "error", source);
    error::print_left_out(validation);
    Ok(if validation["valid"] == Value::Bool(true) { Exit::Done } else { Exit::Invalid })
}

pub(crate) async fn show_at(session: &Session, path: &str) -> Result<Exit, CommandError> {
    show(session, HttpMethod::Get, path, &[], None).await
}

pub(crate) async fn list(session: &Session, path: &str, page: &Page) -> Result<Exit, CommandError> {
    show(session, HttpMethod::Get, path, &borrowed(&page_query(page)), None).await
}

pub(crate) async fn get(session: &Session, path: &str, id: &str) -> Result<Exit, CommandError> {
    show(session, HttpMethod::Get, &format!("{path}/{}", Client::segment(id)), &[], None).await
}

pub(crate) async fn delete(session: &Session, path: &str, id: &str) -> Result<Exit, CommandError> {
    show(session, HttpMethod::Delete, &format!("{path}/{}", Client::segment(id)), &[], None).await
}

pub(crate) async fn create_project(
    session: &Session,
    arguments: &CreateProject,
) -> Result<Exit, CommandError> {
    let body = json!({ "name": arguments.name });
    show(session, HttpMethod::Post, "/projects", &[], Some(&body)).await
}

pub(crate) async fn update_project(
    session: &Session,
    arguments: &UpdateProject,
) -> Result<Exit, CommandError> {
    let text = |text: &String| if text == "null" { Value::Null } else { Value::from(text.as_str()) };
    let parsed =
        |flag: &str, given: &Option<String>| given.as_ref().map(|text| json_flag(flag, text)).transpose();
    let body = Body::default()
        .with("name", arguments.name.as_deref())
        .with("guardrail_ids", parsed("--guardrail-ids", &arguments.guardrail_ids)?)
        .with("max_concurrent_runs", parsed("--max-concurrent-runs", &arguments.max_concurrent_runs)?)
        .with("default_model_route_id", arguments.default_model_route_id.as_ref().map(text))
        .with("audit_reads_enabled", parsed("--audit-reads-enabled", &arguments.audit_reads_enabled)?)
        .with(
            "trace_content_retention_days",
            parsed("--trace-content-retention-days", &arguments.trace_content_retention_days)?,
        )
        .with("trace_content_mode", arguments.trace_content_mode.as_ref().map(text))
        .build();
    let path = format!("/projects/{}", Client::segment(arguments.project.get()));
    show(session, HttpMethod::Patch, &path, &[], Some(&body)).await
}

pub(crate) async fn create_token(session: &Session, arguments: &CreateToken) -> Result<Exit, CommandError> {
    let body = Body::default()
        .with("name", Some(arguments.name.as_str()))
        .with("project_id", arguments.project_id.as_deref())
        .build();
    show(session, HttpMethod::Post, "/tokens", &[], Some(&body)).await
}

pub(crate) async fn get_operation(session: &Session, operation: &OperationId) -> Result<Exit, CommandError> {
    get(session, "/operations", operation.get()).await
}

pub(crate) async fn cancel_operation(
    session: &Session,
    arguments: &CancelOperation,
) -> Result<Exit, CommandError> {
    let path = format!("/operations/{}/cancel", Client::segment(arguments.operation.get()));
    show(session, HttpMethod::Post, &path, &[], Some(&json!({ "force": arguments.force }))).await
}
