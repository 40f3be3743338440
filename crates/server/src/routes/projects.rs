//! `/projects` (`formations-behaviour.md` §6.2).

use super::{Answer, Id, Reading, json, page};
use crate::endpoint::{Endpoint, PAGING};
use crate::guard::Caller;
use crate::openapi::{page_of, reference};
use crate::query::Query;
use crate::router::App;
use crate::views;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{delete, get, patch, post};
use formwork_api::CreateProject;
use formwork_control::Gate;
use formwork_model::ProjectId;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let route = |method, path: &str, id: &str, action: &str, summary: &str, handler| {
        Endpoint::new(method, path, id, summary, handler)
            .tag("projects")
            .permission(format!("projects:{action}"))
            .refuses(&[401, 403])
    };
    let item = "/projects/{project_id}";
    vec![
        route(Method::POST, "/projects", "createProject", "CreateProject", "Create a project", post(create))
            .body(reference("CreateProject"))
            .answers(201, reference("Project"))
            .refuses(&[400, 409, 413]),
        route(Method::GET, "/projects", "listProjects", "ListProjects", "List projects", get(list))
            .query(PAGING)
            .answers(200, page_of("Project"))
            .refuses(&[400]),
        route(Method::GET, item, "getProject", "GetProject", "Get a project", get(show))
            .answers(200, reference("Project"))
            .refuses(&[404]),
        route(
            Method::PATCH,
            item,
            "updateProject",
            "UpdateProject",
            "Change a project's name and settings",
            patch(update),
        )
        .body(reference("UpdateProject"))
        .answers(200, reference("Project"))
        .refuses(&[400, 404, 409, 413]),
        route(
            Method::DELETE,
            item,
            "deleteProject",
            "DeleteProject",
            "Delete an empty project",
            delete(destroy),
        )
        .answers_nothing()
        .refuses(&[404, 409]),
    ]
}

async fn create(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading =
        Reading::new(Gate::Admin { action: "projects:CreateProject", srn_type: "project" }, app.options.body);
    let body: CreateProject = reading.read(&app, &principal, request).await?;
    json(StatusCode::CREATED, &views::project(app.control.create_project(&principal, &body.name).await?))
}

async fn list(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let slice = query.slice()?;
    let found = app.control.list_projects(&principal, slice.limit, slice.offset).await?;
    page(found.items, found.total, slice, views::project)
}

async fn show(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    json(StatusCode::OK, &views::project(app.control.get_project(&principal, &id.into()).await?))
}

async fn update(State(app): State<App>, Caller(principal): Caller, Id(id): Id, request: Request) -> Answer {
    let id = ProjectId::from(id);
    let reading = Reading::new(Gate::UpdateProject(id.clone()), app.options.body);
    let body = reading.read_any(&app, &principal, request).await?;
    json(StatusCode::OK, &views::project(app.control.update_project(&principal, &id, body).await?))
}

async fn destroy(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    app.control.delete_project(&principal, &id.into()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
