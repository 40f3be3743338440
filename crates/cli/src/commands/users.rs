//! Users, logins, the audit: one request each.

use super::CommandError;
use super::basics::{borrowed, page_query, show};
use crate::args::{AttachUserPolicies, CreateUser, Credentials, ListAuditEntries, Role};
use crate::exit::Exit;
use crate::session::Session;
use formwork_api::{Client, HttpMethod};
use serde_json::{Value, json};
use std::io::{self, Read as _};

/// The most bytes of a password on standard input.
const MAX_PASSWORD: u64 = 64 << 10;

pub(crate) async fn bootstrap(session: &Session, arguments: &Credentials) -> Result<Exit, CommandError> {
    show(session, HttpMethod::Post, "/users/bootstrap", &[], Some(&body(arguments)?)).await
}

pub(crate) async fn login(session: &Session, arguments: &Credentials) -> Result<Exit, CommandError> {
    show(session, HttpMethod::Post, "/users/login", &[], Some(&body(arguments)?)).await
}

pub(crate) async fn create(session: &Session, arguments: &CreateUser) -> Result<Exit, CommandError> {
    let mut body = body(&arguments.credentials)?;
    body["role"] = match arguments.role {
        Role::Admin => "admin",
        Role::User => "user",
    }
    .into();
    show(session, HttpMethod::Post, "/users", &[], Some(&body)).await
}

pub(crate) async fn attach(session: &Session, arguments: &AttachUserPolicies) -> Result<Exit, CommandError> {
    let path = format!("/users/{}/policies", Client::segment(arguments.user.get()));
    let body = json!({ "policy_ids": arguments.policy_ids });
    show(session, HttpMethod::Put, &path, &[], Some(&body)).await
}

pub(crate) async fn audit(session: &Session, arguments: &ListAuditEntries) -> Result<Exit, CommandError> {
    let mut query = page_query(&arguments.page);
    query.extend(arguments.project_id.iter().map(|project| ("project_id".to_owned(), project.clone())));
    show(session, HttpMethod::Get, "/audit", &borrowed(&query), None).await
}

fn body(arguments: &Credentials) -> Result<Value, CommandError> {
    let password = match arguments.password.as_ref().map(|given| given.expose().as_str()) {
        Some(password) if password != "-" => password.to_owned(),
        _ => from_stdin()?,
    };
    Ok(json!({ "username": arguments.username, "password": password }))
}

/// The password of standard input, without the line break at its end.
fn from_stdin() -> Result<String, CommandError> {
    let mut text = String::new();
    io::stdin().lock().take(MAX_PASSWORD).read_to_string(&mut text).map_err(|error| {
        CommandError::Argument(format!("cannot read the password from standard input: {}", error.kind()))
    })?;
    let password = text.strip_suffix('\n').unwrap_or(&text);
    let password = password.strip_suffix('\r').unwrap_or(password);
    if password.is_empty() {
        return Err(CommandError::Argument("there is no password on standard input".to_owned()));
    }
    Ok(password.to_owned())
}
