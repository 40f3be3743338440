//! `/projects/{project_id}/prices`: the price list of a project as a whole
//! (`formations-behaviour.md` §6.2).

use super::{Answer, Id, Reading, detached, json, page};
use crate::endpoint::{Endpoint, PAGING};
use crate::failure::ApiFailure;
use crate::guard::Caller;
use crate::openapi::{page_of, reference};
use crate::query::Query;
use crate::router::App;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::routing::{get, put};
use formwork_control::Gate;
use formwork_model::{Json, ProjectId, TypeName};
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let path = "/projects/{project_id}/prices";
    let body = json!({
        "type": "object",
        "required": ["prices"],
        "additionalProperties": false,
        "properties": { "prices": { "type": "array", "items": reference("ProjectPriceCreate") } },
    });
    let set = json!({
        "type": "object",
        "required": ["data"],
        "properties": { "data": { "type": "array", "items": reference("ProjectPrice") } },
    });
    let route = |method, id: &str, action: &str, summary: &str, handler| {
        Endpoint::new(method, path, id, summary, handler)
            .tag("projects")
            .permission(action)
            .refuses(&[400, 401, 403, 404])
    };
    vec![
        route(
            Method::GET,
            "getProjectPrices",
            "projects:GetProjectPrices",
            "The prices of a project",
            get(list),
        )
        .query(PAGING)
        .answers(200, page_of("ProjectPrice")),
        route(
            Method::PUT,
            "updateProjectPrices",
            "projects:ManageProjectPrices",
            "Set prices of a project",
            put(set_prices),
        )
        .body(body)
        .answers(200, set)
        .refuses(&[409, 413]),
    ]
}

async fn list(State(app): State<App>, Caller(principal): Caller, Id(id): Id, query: Query) -> Answer {
    let slice = query.slice()?;
    app.control.get_project(&principal, &ProjectId::from(id.as_str())).await?;
    let filters = BTreeMap::from([("project_id".to_owned(), id)]);
    let type_name = TypeName::from("project_price");
    let found =
        app.control.list_resources(&principal, &type_name, filters, slice.limit, slice.offset).await?;
    page(found.items, found.total, slice, |item| item)
}

async fn set_prices(
    State(app): State<App>,
    Caller(principal): Caller,
    Id(id): Id,
    request: Request,
) -> Answer {
    let project = ProjectId::from(id);
    let reading = Reading::new(Gate::SetPrices(project.clone()), app.options.body);
    let mut members = reading.read_fields(&app, &principal, request, (&["prices"], &["prices"])).await?;
    let Some(Json::Array(prices)) = members.shift_remove("prices") else {
        return Err(ApiFailure::validation("`prices` must be an array"));
    };
    let control = app.control.clone();
    let set = detached(async move { control.set_project_prices(&principal, &project, prices).await }).await?;
    json(StatusCode::OK, &json!({ "data": set }))
}
