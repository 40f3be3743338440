//! `/formations` (`formations-behaviour.md` §1.2).

use super::{Answer, Id, Reading, detached, json, page};
use crate::endpoint::{Endpoint, PAGING, Parameter};
use crate::failure::ApiFailure;
use crate::guard::Caller;
use crate::openapi::{page_of, reference};
use crate::query::Query;
use crate::router::App;
use crate::views;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::routing::{delete, get, post, put};
use formwork_api::{
    CreateFormation, DeleteResult, GraphFormation, OperationAccepted, PlanFormation, UpdateFormation,
    ValidateFormation,
};
use formwork_control::{Decisions, Deploy, Gate, Principal};
use formwork_model::{OperationStatus, ProjectId, StackId, WireCode};

pub(super) const WAIT: Parameter = Parameter {
    name: "wait",
    kind: "boolean",
    doc: "Whether to answer only once the operation is over; true if not given.",
};
const PROJECT: Parameter =
    Parameter { name: "project_id", kind: "string", doc: "Only those of this project." };

const ADOPT: Parameter = Parameter {
    name: "adopt",
    kind: "string",
    doc: "Creates whose outcome is not known, and the objects they made: `logical_id=physical_id`, separated by commas.",
};
const DISCARD: Parameter = Parameter {
    name: "discard",
    kind: "string",
    doc: "Creates whose outcome is not known and which made nothing: logical ids, separated by commas.",
};

const ITEM: &str = "/formations/{formation_id}";

fn route(
    method: Method,
    path: &str,
    action: &str,
    summary: &str,
    handler: axum::routing::MethodRouter<App>,
) -> Endpoint {
    let mut id = action.to_owned();
    id[..1].make_ascii_lowercase();
    Endpoint::new(method, path, id, summary, handler).tag("formations").refuses(&[401])
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let permitted = |endpoint: Endpoint, action: &str| {
        endpoint.permission(format!("formations:{action}")).refuses(&[403])
    };
    vec![
        route(
            Method::POST,
            "/formations/validate",
            "ValidateFormation",
            "Validate a template",
            post(validate),
        )
        .body(reference("ValidateFormation"))
        .answers(200, reference("Validation"))
        .refuses(&[400, 413, 502])
        // Handlers of custom types may take their time.
        .patient(),
        route(Method::POST, "/formations/graph", "GraphFormation", "Show a template's graph", post(graph))
            .body(reference("GraphFormation"))
            .answers(200, reference("Graph"))
            .refuses(&[400, 413]),
        route(
            Method::GET,
            "/formations/schema.json",
            "GetFormationSchema",
            "Get the JSON Schema of templates",
            get(schema),
        )
        .answers(200, serde_json::json!({ "type": "object" })),
        permitted(
            route(Method::POST, "/formations/plan", "PlanFormation", "Plan a deploy", post(plan)),
            "PlanFormation",
        )
        .body(reference("PlanFormation"))
        .answers(200, reference("PlanResult"))
        .refuses(&[400, 404, 413, 502])
        .patient(),
        permitted(
            route(Method::POST, "/formations", "CreateFormation", "Create a formation", post(create)),
            "CreateFormation",
        )
        .query([WAIT])
        .body(reference("CreateFormation"))
        .answers(201, reference("Formation"))
        .answers(202, reference("OperationAccepted"))
        .refuses(&[400, 409, 413, 502])
        .patient(),
        permitted(
            route(Method::GET, "/formations", "ListFormations", "List formations", get(list)),
            "ListFormations",
        )
        .query([PROJECT])
        .query(PAGING)
        .answers(200, page_of("Formation"))
        .refuses(&[400]),
        permitted(route(Method::GET, ITEM, "GetFormation", "Get a formation", get(show)), "GetFormation")
            .answers(200, reference("Formation"))
            .refuses(&[404]),
        permitted(
            route(Method::PUT, ITEM, "UpdateFormation", "Deploy a formation again", put(update)),
            "UpdateFormation",
        )
        .query([WAIT])
        .body(reference("UpdateFormation"))
        .answers(200, reference("Formation"))
        .answers(202, reference("OperationAccepted"))
        .refuses(&[400, 404, 409, 413, 502])
        .patient(),
        permitted(
            route(Method::DELETE, ITEM, "DeleteFormation", "Tear a formation down", delete(destroy)),
            "DeleteFormation",
        )
        .query([WAIT, ADOPT, DISCARD])
        .answers(200, reference("DeleteResult"))
        .answers(202, reference("OperationAccepted"))
        .refuses(&[404, 409])
        .patient(),
        permitted(
            route(
                Method::GET,
                "/formations/{formation_id}/events",
                "ListFormationEvents",
                "List a formation's operations",
                get(operations),
            ),
            "ListFormationEvents",
        )
        .query(PAGING)
        .answers(200, page_of("FormationOperation"))
        .refuses(&[400, 404]),
    ]
}

async fn validate(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading = Reading::open(app.options.formation_body);
    let body: ValidateFormation = reading.read(&app, &principal, request).await?;
    let validation = app.control.validate(&principal, &views::validate(body)).await?;
    json(StatusCode::OK, &views::validation(&validation))
}

async fn graph(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading = Reading::open(app.options.formation_body);
    let body: GraphFormation = reading.read(&app, &principal, request).await?;
    json(StatusCode::OK, &views::graph(app.control.graph(&views::template(body.template)).await?))
}

async fn schema(State(app): State<App>, Caller(_): Caller) -> Answer {
    json(StatusCode::OK, &app.control.template_schema())
}

async fn plan(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading = Reading::in_project(Gate::PlanFormation, app.options.formation_body);
    let body: PlanFormation = reading.read(&app, &principal, request).await?;
    let save = body.save.unwrap_or(false);
    let plan = views::plan(body);
    let planned = if save {
        let control = app.control.clone();
        detached(async move { control.save_formation_plan(&principal, plan).await }).await?
    } else {
        app.control.plan_formation(&principal, plan).await?
    };
    json(StatusCode::OK, &views::planned(planned))
}

async fn create(State(app): State<App>, Caller(principal): Caller, query: Query, request: Request) -> Answer {
    let wait = query.flag(WAIT.name, true)?;
    let reading = Reading::in_project(Gate::CreateFormation, app.options.formation_body);
    let body: CreateFormation = reading.read(&app, &principal, request).await?;
    let create = views::create(body)?;
    let (control, asking) = (app.control.clone(), principal.clone());
    let deploy = detached(async move { control.create_formation(&asking, create).await }).await?;
    deployed(&app, &principal, deploy, wait, StatusCode::CREATED).await
}

async fn update(
    State(app): State<App>,
    Caller(principal): Caller,
    Id(id): Id,
    query: Query,
    request: Request,
) -> Answer {
    let wait = query.flag(WAIT.name, true)?;
    let id = StackId::from(id);
    let reading = Reading::new(Gate::UpdateFormation(id.clone()), app.options.formation_body);
    let body: UpdateFormation = reading.read(&app, &principal, request).await?;
    let update = views::update(body)?;
    let (control, asking) = (app.control.clone(), principal.clone());
    let deploy = detached(async move { control.update_formation(&asking, &id, update).await }).await?;
    deployed(&app, &principal, deploy, wait, StatusCode::OK).await
}

/// The answer to a deploy. That it failed is no error of the request: the operation ran, and the
/// formation says why (seed 4, "A Failed Deploy Still Answers 2xx").
pub(super) async fn deployed(
    app: &App,
    principal: &Principal,
    deploy: Deploy,
    wait: bool,
    status: StatusCode,
) -> Answer {
    if !wait {
        return accepted(&deploy);
    }
    app.control.wait(&deploy.operation).await?;
    json(status, &views::formation(app.control.deployed(principal, &deploy).await?))
}

fn accepted(deploy: &Deploy) -> Answer {
    let accepted = OperationAccepted::new(deploy.operation.to_string(), deploy.formation.to_string());
    json(StatusCode::ACCEPTED, &accepted)
}

async fn destroy(State(app): State<App>, Caller(principal): Caller, Id(id): Id, query: Query) -> Answer {
    let wait = query.flag(WAIT.name, true)?;
    let decisions = decisions(&query)?;
    let (control, asking) = (app.control.clone(), principal.clone());
    let deploy =
        detached(async move { control.delete_formation(&asking, &id.into(), &decisions).await }).await?;
    if !wait {
        return accepted(&deploy);
    }
    app.control.wait(&deploy.operation).await?;
    let record = app.control.operation_record(&principal, &deploy.operation).await?;
    match (record.status, record.failure) {
        (OperationStatus::Succeeded, _) => json(StatusCode::OK, &DeleteResult { success: true }),
        (_, Some(failure)) => Err(failure.into()),
        (_, None) => Err(ApiFailure::new(WireCode::FormationDeleteFailed, "The teardown did not finish.")),
    }
}

/// The decisions in a query: `adopt=Logical=physical,…` and `discard=Logical,…`.
fn decisions(query: &Query) -> Result<Decisions, ApiFailure> {
    let listed = |name| query.text(name).into_iter().flat_map(|text: &str| text.split(','));
    let adopted = listed(ADOPT.name).map(|pair| {
        let (label, id) = pair
            .split_once('=')
            .filter(|(label, id)| !label.is_empty() && !id.is_empty())
            .ok_or_else(|| {
                ApiFailure::validation(format!("`{}` must list pairs `logical_id=physical_id`", ADOPT.name))
            })?;
        Ok((label.to_owned(), Some(id.to_owned())))
    });
    let discarded = listed(DISCARD.name).map(|label| Ok((label.to_owned(), None)));
    Ok(views::decisions(adopted.chain(discarded).collect::<Result<Vec<_>, ApiFailure>>()?))
}

async fn list(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let slice = query.slice()?;
    let project = query.text(PROJECT.name).map(ProjectId::from);
    let found = app.control.list_formations(&principal, project.as_ref(), slice.limit, slice.offset).await?;
    page(found.items, found.total, slice, views::formation)
}

async fn show(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    json(StatusCode::OK, &views::formation(app.control.get_formation(&principal, &id.into()).await?))
}

async fn operations(State(app): State<App>, Caller(principal): Caller, Id(id): Id, query: Query) -> Answer {
    let slice = query.slice()?;
    let found = app.control.formation_operations(&principal, &id.into(), slice.limit, slice.offset).await?;
    page(found.items, found.total, slice, |view| views::formation_operation(&view))
}
