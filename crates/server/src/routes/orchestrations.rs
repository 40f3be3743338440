//! `/orchestrations/validate`: checking a graph without making an orchestration.

use super::{Answer, Reading, json};
use crate::endpoint::Endpoint;
use crate::guard::Caller;
use crate::openapi::reference;
use crate::router::App;
use crate::views;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::routing::post;
use formwork_control::{Control, Gate};
use formwork_model::Json;
use formwork_platform::openapi_schemas;

/// What a check takes: what an orchestration has, without the label of a version.
const FIELDS: [&str; 7] =
    ["project_id", "name", "description", "nodes", "edges", "state_schema", "input_schema"];
/// What must be there to be checked.
const REQUIRED: [&str; 2] = ["nodes", "edges"];

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::POST,
            "/orchestrations/validate",
            "validateOrchestration",
            "Check the graph of an orchestration",
            post(validate),
        )
        .tag("orchestrations")
        .permission("orchestrations:ValidateOrchestration")
        .body(body())
        .answers(200, reference("Validation"))
        .refuses(&[400, 401, 403, 413]),
    ]
}

/// An orchestration of which only the graph must be there. Any value will do: what is wrong with one is
/// what the answer tells, not a reason to refuse the question. Only the project decides who may ask.
fn body() -> Json {
    let mut body = openapi_schemas().shift_remove("orchestration").map(|all| all.create).unwrap_or_default();
    if let Some(properties) = body["properties"].as_object_mut() {
        properties.retain(|name, _| FIELDS.contains(&name.as_str()));
        let checked = properties.iter_mut().filter(|(name, _)| *name != "project_id");
        for (_, schema) in checked {
            if let Some(schema) = schema.as_object_mut() {
                schema.retain(|keyword, _| keyword == "description");
            }
        }
    }
    body["required"] = serde_json::json!(REQUIRED);
    body
}

async fn validate(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading = Reading::in_project(Gate::ValidateOrchestration, app.options.body);
    let members = reading.read_fields(&app, &principal, request, (&FIELDS, &REQUIRED)).await?;
    let found = Control::validate_orchestration(&principal, members)?;
    json(StatusCode::OK, &views::validation(&found))
}
