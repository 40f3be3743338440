//! The platform's types, one set of routes each, made from the platform's own table
//! (`formations-behaviour.md` §6.10). Bodies are checked by the types, by the same rules that
//! templates are checked by.

use super::{Answer, Id, Reading, detached, json, page};
use crate::endpoint::{Endpoint, PAGING, Parameter};
use crate::guard::Caller;
use crate::openapi::{page_of, reference, type_schema};
use crate::query::Query;
use crate::router::App;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use axum::routing::MethodFilter;
use axum::routing::{delete, get, on, post};
use formwork_api::DeleteResult;
use formwork_control::{Gate, Principal, UpdateMode};
use formwork_model::TypeName;
use formwork_platform::{DeleteStatus, RestRoute, rest_routes};

const FORCE: Parameter =
    Parameter { name: "force", kind: "boolean", doc: "Whether to take along what the type documents." };

pub(crate) fn endpoints() -> Vec<Endpoint> {
    rest_routes().iter().flat_map(of_type).collect()
}

fn of_type(route: &'static RestRoute) -> Vec<Endpoint> {
    let name = route.type_name;
    let item = format!("{}/{{{}}}", route.path, route.id_param);
    let shown = || reference(&type_schema(name, ""));
    let mut all = vec![
        endpoint(
            route,
            Method::POST,
            route.path,
            route.create,
            post(move |State(app), Caller(principal), request: Request| {
                create(app, principal, route, request)
            }),
        )
        .body(reference(&type_schema(name, "Create")))
        .answers(route.create_status, shown())
        .refuses(&[400, 404, 409, 413]),
        endpoint(
            route,
            Method::GET,
            route.path,
            route.list,
            get(move |State(app), Caller(principal), query: Query| list(app, principal, route, query)),
        )
        .query(route.list_filters.iter().map(|name| Parameter { name, kind: "string", doc: "A filter." }))
        .query(PAGING)
        .answers(200, page_of(&type_schema(name, "")))
        .refuses(&[400]),
        endpoint(
            route,
            Method::GET,
            &item,
            route.get,
            get(move |State(app), Caller(principal), id: Id| show(app, principal, route, id)),
        )
        .answers(200, shown())
        .refuses(&[404]),
    ];
    for mode in route.update_modes {
        let (method, filter, body) = match mode {
            UpdateMode::Put => (Method::PUT, MethodFilter::PUT, "Put"),
            UpdateMode::Patch => (Method::PATCH, MethodFilter::PATCH, "Patch"),
        };
        let mode = *mode;
        let handler = on(filter, move |State(app), Caller(principal), id: Id, request: Request| {
            update(app, principal, (route, mode), id, request)
        });
        let mut endpoint = endpoint(route, method, &item, route.update, handler)
            .body(reference(&type_schema(name, body)))
            .answers(200, shown())
            .refuses(&[400, 404, 409, 413]);
        if route.update_modes.len() > 1 && mode == UpdateMode::Patch {
            // Two methods for one operation: ids must differ.
            endpoint.operation_id = endpoint.operation_id.replacen("update", "patch", 1);
        }
        all.push(endpoint);
    }
    let handler = delete(move |State(app), Caller(principal), id: Id, query: Query| {
        destroy(app, principal, route, id, query)
    });
    let deletion = endpoint(route, Method::DELETE, &item, route.delete, handler)
        .query(route.force.then_some(FORCE))
        .refuses(&[404, 409]);
    all.push(match route.delete_status {
        DeleteStatus::NoContent => deletion.answers_nothing(),
        DeleteStatus::Ok => deletion.answers(200, reference("DeleteResult")),
    });
    all
}

fn endpoint(
    route: &'static RestRoute,
    method: Method,
    path: &str,
    operation: &str,
    handler: axum::routing::MethodRouter<App>,
) -> Endpoint {
    let mut id = operation.to_owned();
    id[..1].make_ascii_lowercase();
    Endpoint::new(method, path, id, words(operation), handler)
        .tag(route.module)
        .permission(format!("{}:{operation}", route.module))
        .refuses(&[401, 403])
}

/// `CreateAiProvider` as "Create ai provider".
fn words(operation: &str) -> String {
    let mut text = String::new();
    for (index, character) in operation.char_indices() {
        if index > 0 && character.is_ascii_uppercase() {
            text.push(' ');
            text.push(character.to_ascii_lowercase());
        } else {
            text.push(character);
        }
    }
    text
}

async fn create(app: App, principal: Principal, route: &RestRoute, request: Request) -> Answer {
    let type_name = TypeName::from(route.type_name);
    let making = type_name.clone();
    let reading =
        Reading::in_project(move |named| Gate::CreateResource(making.clone(), named), app.options.body);
    let body = reading.read_any(&app, &principal, request).await?;
    let control = app.control.clone();
    let made = detached(async move { control.create_resource(&principal, &type_name, body).await }).await?;
    json(StatusCode::from_u16(route.create_status).unwrap_or(StatusCode::CREATED), &made)
}

async fn list(app: App, principal: Principal, route: &RestRoute, query: Query) -> Answer {
    let slice = query.slice()?;
    let type_name = TypeName::from(route.type_name);
    let found = app
        .control
        .list_resources(&principal, &type_name, query.filters(), slice.limit, slice.offset)
        .await?;
    page(found.items, found.total, slice, |item| item)
}

async fn show(app: App, principal: Principal, route: &RestRoute, Id(id): Id) -> Answer {
    json(StatusCode::OK, &app.control.get_resource(&principal, &route.type_name.into(), &id).await?)
}

async fn update(
    app: App,
    principal: Principal,
    (route, mode): (&RestRoute, UpdateMode),
    Id(id): Id,
    request: Request,
) -> Answer {
    let type_name = TypeName::from(route.type_name);
    let gate = Gate::UpdateResource(type_name.clone(), id.clone());
    let body = Reading::new(gate, app.options.body).read_any(&app, &principal, request).await?;
    let control = app.control.clone();
    let changed =
        detached(async move { control.update_resource(&principal, &type_name, &id, body, mode).await })
            .await?;
    json(StatusCode::OK, &changed)
}

async fn destroy(app: App, principal: Principal, route: &RestRoute, Id(id): Id, query: Query) -> Answer {
    let force = query.flag(FORCE.name, false)?;
    let type_name = TypeName::from(route.type_name);
    let control = app.control.clone();
    detached(async move { control.delete_resource(&principal, &type_name, &id, force).await }).await?;
    match route.delete_status {
        DeleteStatus::NoContent => Ok(StatusCode::NO_CONTENT.into_response()),
        DeleteStatus::Ok => json(StatusCode::OK, &DeleteResult { success: true }),
    }
}
