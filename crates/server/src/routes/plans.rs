//! `/plans`: plans that were kept, by their hash.

use super::formations::{WAIT, deployed};
use super::{Answer, Id, Reading, detached, json};
use crate::endpoint::Endpoint;
use crate::failure::ApiFailure;
use crate::guard::Caller;
use crate::openapi::reference;
use crate::query::Query;
use crate::router::App;
use crate::views;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::routing::{get, post};
use formwork_api::ApplyPlan;
use formwork_control::Gate;
use formwork_model::{PlanHash, WireCode};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/plans/{plan_hash}", "getPlan", "Get a kept plan", get(show))
            .tag("formations")
            .permission("formations:PlanFormation")
            .answers(200, reference("SavedPlan"))
            .refuses(&[401, 404]),
        Endpoint::new(
            Method::POST,
            "/plans/{plan_hash}/apply",
            "applyPlan",
            "Carry a kept plan out",
            post(apply),
        )
        .tag("formations")
        .permission("formations:UpdateFormation")
        .query([WAIT])
        .body(reference("ApplyPlan"))
        .answers(200, reference("Formation"))
        .answers(202, reference("OperationAccepted"))
        .refuses(&[400, 401, 403, 404, 409, 413])
        .patient(),
    ]
}

/// A text that is no hash names no plan.
fn hash(text: &str) -> Result<PlanHash, ApiFailure> {
    text.parse().map_err(|_| ApiFailure::new(WireCode::ResourceNotFound, format!("Plan '{text}' not found.")))
}

async fn show(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    json(StatusCode::OK, &views::saved_plan(&app.control.saved_plan(&principal, hash(&id)?).await?))
}

async fn apply(
    State(app): State<App>,
    Caller(principal): Caller,
    Id(id): Id,
    query: Query,
    request: Request,
) -> Answer {
    let wait = query.flag(WAIT.name, true)?;
    let hash = hash(&id)?;
    let body: ApplyPlan =
        Reading::new(Gate::ApplyPlan(hash), app.options.body).read(&app, &principal, request).await?;
    let (control, asking) = (app.control.clone(), principal.clone());
    let deploy =
        detached(async move { control.apply_plan(&asking, hash, body.name.as_deref()).await }).await?;
    deployed(&app, &principal, deploy, wait, StatusCode::OK).await
}
