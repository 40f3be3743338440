//! `/orchestrations/validate`: checking a graph without making an orchestration.

use super::{Answer, Reading, json};
use crate::endpoint::Endpoint;
use crate::failure::ApiFailure;
use crate::guard::Caller;
use crate::openapi::reference;
use crate::router::App;
use crate::views;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::routing::post;
use formwork_control::{Control, Gate};
use formwork_model::{Json, ProjectId};

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
        .body(reference("OrchestrationPatch"))
        .answers(200, reference("Validation"))
        .refuses(&[400, 401, 403, 413]),
    ]
}

async fn validate(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading = Reading::in_project(Gate::ValidateOrchestration, app.options.body);
    let body = reading.read_any(&app, &principal, request).await?;
    let Json::Object(mut members) = body else {
        return Err(ApiFailure::validation("The request body must be a JSON object"));
    };
    let project = match members.shift_remove("project_id") {
        None | Some(Json::Null) => None,
        Some(Json::String(id)) => Some(ProjectId::from(id)),
        Some(_) => return Err(ApiFailure::validation("`project_id` must be a string")),
    };
    let found = Control::validate_orchestration(&principal, project.as_ref(), &Json::Object(members))?;
    json(StatusCode::OK, &views::validation(&found))
}
