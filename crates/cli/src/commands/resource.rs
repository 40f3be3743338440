//! CRUD of the resource types.

use super::CommandError;
use super::basics::show;
use crate::args::{ResourceAction, ResourceCall};
use crate::exit::Exit;
use crate::session::Session;
use formwork_api::{Client, HttpMethod};
use formwork_platform::ActionMethod;
use serde_json::Value;

pub(crate) async fn run(session: &Session, call: ResourceCall) -> Result<Exit, CommandError> {
    let path = &call.collection();
    let item = |id: &str| format!("{path}/{}", Client::segment(id));
    let suffix = call.route.update_suffix;
    let update = if call.update_method() == "PATCH" { HttpMethod::Patch } else { HttpMethod::Put };
    match call.action {
        ResourceAction::Create { body } => {
            let body = Value::Object(body.map_err(CommandError::Argument)?);
            show(session, HttpMethod::Post, path, &[], Some(&body)).await
        }
        ResourceAction::List { query } => {
            let query: Vec<_> = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            show(session, HttpMethod::Get, path, &query, None).await
        }
        ResourceAction::Related { id, path, query } => {
            let query: Vec<_> = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            show(session, HttpMethod::Get, &format!("{}/{path}", item(&id)), &query, None).await
        }
        ResourceAction::Get { id } => show(session, HttpMethod::Get, &item(&id), &[], None).await,
        ResourceAction::Update { id, body } => {
            let body = Value::Object(body.map_err(CommandError::Argument)?);
            show(session, update, &format!("{}{suffix}", item(&id)), &[], Some(&body)).await
        }
        ResourceAction::Act { id, action, body } => {
            let method = match action.method {
                ActionMethod::Get | ActionMethod::Reveal => HttpMethod::Get,
                ActionMethod::Post => HttpMethod::Post,
                ActionMethod::Put => HttpMethod::Put,
                ActionMethod::Patch => HttpMethod::Patch,
                ActionMethod::Delete => HttpMethod::Delete,
            };
            let body = body.map_err(CommandError::Argument)?.map(Value::Object);
            show(session, method, &format!("{}/{}", item(&id), action.path), &[], body.as_ref()).await
        }
        ResourceAction::Delete { id, force } => {
            let query: &[_] = if force { &[("force", "true")] } else { &[] };
            show(session, HttpMethod::Delete, &item(&id), query, None).await
        }
    }
}
