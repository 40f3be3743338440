//! The platform's types, one set of routes each, made from the platform's own table
//! (`formations-behaviour.md` §6.10). Bodies are checked by the types, by the same rules that
//! templates are checked by.

use super::marks::{Done, marked, marked_empty, owner};
use super::{Answer, Reading, detached, json, page};
use crate::endpoint::{Endpoint, PAGING, Parameter};
use crate::failure::ApiFailure;
use crate::guard::Caller;
use crate::openapi::{page_of, page_of_schema, reference, type_schema};
use crate::query::Query;
use crate::router::App;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::routing::MethodFilter;
use axum::routing::{delete, get, on, post};
use formwork_api::DeleteResult;
use formwork_control::{Gate, Principal, UpdateMode};
use formwork_model::{Json, ProjectId, TypeName, WireCode};
use formwork_platform::{
    ActionBody, ActionField, ActionMethod, DeleteStatus, Listed, RestAction, RestRoute, rest_routes,
    tags_body,
};
use std::collections::BTreeMap;
use std::convert::Infallible;

const FORCE: Parameter =
    Parameter { name: "force", kind: "boolean", doc: "Whether to take along what the type documents." };

pub(crate) fn endpoints() -> Vec<Endpoint> {
    rest_routes().iter().flat_map(of_type).collect()
}

fn of_type(route: &'static RestRoute) -> Vec<Endpoint> {
    let mut all: Vec<Endpoint> = creation(route).into_iter().collect();
    all.extend([listing(route), showing(route)]);
    all.extend(updates(route));
    all.extend(deletion(route));
    all.extend(route.actions.iter().map(|action| acting(route, action)));
    all
}

fn item(route: &RestRoute) -> String {
    format!("{}/{{{}}}", route.path, route.id_param)
}

fn shown(route: &RestRoute) -> Json {
    reference(&type_schema(route.type_name, ""))
}

fn creation(route: &'static RestRoute) -> Option<Endpoint> {
    let handler = post(move |State(app), Caller(principal), ids: Ids, request: Request| {
        create(app, principal, route, ids, request)
    });
    let made = endpoint(route, Method::POST, route.path, route.create?, handler)
        .body(reference(&type_schema(route.type_name, "Create")))
        .answers(route.create_status, shown(route))
        .refuses(&[400, 404, 409, 413]);
    Some(if route.answers_existing { made.answers(200, shown(route)) } else { made })
}

fn listing(route: &'static RestRoute) -> Endpoint {
    let handler = get(move |State(app), Caller(principal), ids: Ids, query: Query| {
        list(app, principal, route, ids, query)
    });
    // What the path says is no filter.
    let filters =
        route.list_filters.iter().filter(|name| route.parent.is_none_or(|parent| parent.property != **name));
    endpoint(route, Method::GET, route.path, route.list, handler)
        .query(filters.map(|name| Parameter { name, kind: filter_kind(name), doc: "A filter." }))
        .query(PAGING)
        .answers(200, page_of(&type_schema(route.type_name, "")))
        .refuses(if route.parent.is_some() { &[400, 404] } else { &[400] })
}

/// A filter is a text to compare with, or says what is shown beside the rest.
fn filter_kind(name: &str) -> &'static str {
    if name.starts_with("include_") { "boolean" } else { "string" }
}

fn showing(route: &'static RestRoute) -> Endpoint {
    let handler = get(move |State(app), Caller(principal), ids: Ids| show(app, principal, route, ids));
    endpoint(route, Method::GET, &item(route), route.get, handler).answers(200, shown(route)).refuses(&[404])
}

fn updates(route: &'static RestRoute) -> Vec<Endpoint> {
    let Some(operation) = route.update else { return Vec::new() };
    let path = format!("{}{}", item(route), route.update_suffix);
    let of_mode = |mode: &'static UpdateMode| {
        let (method, filter, body) = match mode {
            UpdateMode::Put => (Method::PUT, MethodFilter::PUT, "Put"),
            UpdateMode::Patch => (Method::PATCH, MethodFilter::PATCH, "Patch"),
        };
        let handler = on(filter, move |State(app), Caller(principal), ids: Ids, request: Request| {
            update(app, principal, (route, *mode), ids, request)
        });
        let mut endpoint = endpoint(route, method, &path, operation, handler)
            .body(reference(&type_schema(route.type_name, body)))
            .answers(200, shown(route))
            .refuses(&[400, 404, 409, 413]);
        if route.update_modes.len() > 1 && *mode == UpdateMode::Patch {
            // Two methods for one operation: ids must differ.
            endpoint.operation_id = endpoint.operation_id.replacen("update", "patch", 1);
        }
        endpoint
    };
    route.update_modes.iter().map(of_mode).collect()
}

fn deletion(route: &'static RestRoute) -> Option<Endpoint> {
    let handler = delete(move |State(app), Caller(principal), ids: Ids, query: Query| {
        destroy(app, principal, route, ids, query)
    });
    let deletion = endpoint(route, Method::DELETE, &item(route), route.delete?, handler)
        .query(route.force.then_some(FORCE))
        .refuses(&[404, 409]);
    Some(match route.delete_status {
        DeleteStatus::NoContent => deletion.answers_nothing(),
        DeleteStatus::Ok => deletion.answers(200, reference("DeleteResult")),
    })
}

fn acting(route: &'static RestRoute, action: &'static RestAction) -> Endpoint {
    if let Some(listed) = &action.lists {
        return listing_related(route, action, listed);
    }
    let (method, filter) = match action.method {
        ActionMethod::Get | ActionMethod::Reveal => (Method::GET, MethodFilter::GET),
        ActionMethod::Post => (Method::POST, MethodFilter::POST),
        ActionMethod::Put => (Method::PUT, MethodFilter::PUT),
        ActionMethod::Patch => (Method::PATCH, MethodFilter::PATCH),
        ActionMethod::Delete => (Method::DELETE, MethodFilter::DELETE),
    };
    let handler = on(filter, move |State(app), Caller(principal), ids: Ids, request: Request| {
        act(app, principal, (route, action), ids, request)
    });
    let path = format!("{}/{}", item(route), action.path);
    let endpoint = endpoint(route, method, &path, action.operation, handler)
        .answers(action.status, serde_json::json!({ "type": "object" }))
        .refuses(&[404, 409]);
    match body_schema(action) {
        None => endpoint,
        Some((schema, true)) => endpoint.optional_body(schema).refuses(&[400, 413]),
        Some((schema, false)) => endpoint.body(schema).refuses(&[400, 413]),
    }
}

/// The route of a page of what names an item.
fn listing_related(
    route: &'static RestRoute,
    action: &'static RestAction,
    listed: &'static Listed,
) -> Endpoint {
    let handler = get(move |State(app), Caller(principal), ids: Ids, query: Query| {
        list_related(app, principal, route, (action, listed), ids, query)
    });
    let item_schema = type_schema(listed.type_name, "");
    let schema = if listed.as_tree {
        page_of_schema(&serde_json::json!({
            "type": "object",
            "required": ["depth", listed.type_name],
            "properties": {
                "depth": { "type": "integer", "minimum": 0 },
                listed.type_name: reference(&item_schema),
            },
        }))
    } else {
        page_of(&item_schema)
    };
    endpoint(route, Method::GET, &format!("{}/{}", item(route), action.path), action.operation, handler)
        .query(PAGING)
        .answers(action.status, schema)
        .refuses(&[400, 404])
}

/// The schema of an action's body, if it has one, and whether the body may be left out.
fn body_schema(action: &RestAction) -> Option<(Json, bool)> {
    let fields = match action.takes {
        ActionBody::Nothing => return None,
        ActionBody::Texts => return Some((tags_body(), false)),
        ActionBody::Fields(fields) => fields,
    };
    let schema = |field: &ActionField| {
        let kind = field
            .kind
            .name()
            .map(|kind| if field.required { kind.into() } else { serde_json::json!([kind, "null"]) });
        let mut schema = serde_json::json!({ "description": field.doc });
        if let Some(kind) = kind {
            schema["type"] = kind;
        }
        (field.name.to_owned(), schema)
    };
    let properties: serde_json::Map<_, _> = fields.iter().map(schema).collect();
    let required: Vec<_> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let schema = serde_json::json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
    });
    Some((schema, required.is_empty()))
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
        .permission(route.permission(operation))
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

async fn create(app: App, principal: Principal, route: &RestRoute, ids: Ids, request: Request) -> Answer {
    let parent = ids.parent(&app, &principal, route, None).await?;
    let type_name = TypeName::from(route.type_name);
    let making = type_name.clone();
    let of_parent = parent.as_ref().and_then(|parent| parent.project.clone());
    let gate = move |named| Gate::CreateResource(making.clone(), of_parent.clone().or(named));
    let mut body = Reading::in_project(gate, app.options.body).read_any(&app, &principal, request).await?;
    if let Some(parent) = parent {
        parent.complete(&mut body)?;
    }
    let control = app.control.clone();
    let made = detached(async move { control.create_resource(&principal, &type_name, body).await }).await?;
    let status = if made.existed { 200 } else { route.create_status };
    json(StatusCode::from_u16(status).unwrap_or(StatusCode::CREATED), &made.shown)
}

async fn list(app: App, principal: Principal, route: &RestRoute, ids: Ids, query: Query) -> Answer {
    let slice = query.slice()?;
    let mut filters = query.filters();
    let parent = ids.parent(&app, &principal, route, None).await?;
    if let Some(parent) = &parent {
        filters.insert(parent.property.to_owned(), parent.id.clone());
    }
    let type_name = TypeName::from(route.type_name);
    let found =
        app.control.list_resources(&principal, &type_name, filters, slice.limit, slice.offset).await?;
    if let (0, Some(of), Some(parent)) = (found.total, &route.parent, &parent) {
        app.control.demand_parent_seen(&principal, of, &parent.id).await?;
    }
    page(found.items, found.total, slice, |item| item)
}

async fn list_related(
    app: App,
    principal: Principal,
    route: &RestRoute,
    (action, listed): (&RestAction, &Listed),
    ids: Ids,
    query: Query,
) -> Answer {
    let slice = query.slice()?;
    let id = ids.item(&app, &principal, route).await?;
    let type_name = TypeName::from(route.type_name);
    let of = (slice.limit, slice.offset);
    let found = app.control.list_related(&principal, &type_name, id, (action, listed), of).await?;
    page(found.items, found.total, slice, |item| item)
}

async fn show(app: App, principal: Principal, route: &RestRoute, ids: Ids) -> Answer {
    let id = ids.item(&app, &principal, route).await?;
    let type_name = TypeName::from(route.type_name);
    let shown = app.control.get_resource(&principal, &type_name, id).await?;
    marked(Done::Shown, id, owner(&app, &type_name, id).await?.as_ref(), StatusCode::OK, shown)
}

async fn update(
    app: App,
    principal: Principal,
    (route, mode): (&RestRoute, UpdateMode),
    ids: Ids,
    request: Request,
) -> Answer {
    let type_name = TypeName::from(route.type_name);
    let id = ids.item(&app, &principal, route).await?.to_owned();
    let gate = Gate::UpdateResource(type_name.clone(), id.clone());
    let body = Reading::new(gate, app.options.body).read_any(&app, &principal, request).await?;
    let (owner, of) = (owner(&app, &type_name, &id).await?, id.clone());
    let control = app.control.clone();
    let changed =
        detached(async move { control.update_resource(&principal, &type_name, &id, body, mode).await })
            .await?;
    marked(Done::Changed, &of, owner.as_ref(), StatusCode::OK, changed)
}

async fn destroy(app: App, principal: Principal, route: &RestRoute, ids: Ids, query: Query) -> Answer {
    let force = query.flag(FORCE.name, false)?;
    let type_name = TypeName::from(route.type_name);
    let id = ids.item(&app, &principal, route).await?.to_owned();
    let owner = owner(&app, &type_name, &id).await?;
    let control = app.control.clone();
    detached(async move { control.delete_resource(&principal, &type_name, &id, force).await }).await?;
    match route.delete_status {
        DeleteStatus::NoContent => Ok(marked_empty(Done::Deleted, owner.as_ref())),
        DeleteStatus::Ok => {
            let done = serde_json::json!(DeleteResult { success: true });
            marked(Done::Deleted, "", owner.as_ref(), StatusCode::OK, done)
        }
    }
}

async fn act(
    app: App,
    principal: Principal,
    (route, action): (&RestRoute, &'static RestAction),
    ids: Ids,
    request: Request,
) -> Answer {
    let type_name = TypeName::from(route.type_name);
    let id = ids.item(&app, &principal, route).await?.to_owned();
    let body = match body_schema(action) {
        None => Json::Null,
        Some((_, optional)) => {
            let gate = Gate::ActOnResource(type_name.clone(), id.clone(), action);
            let reading = Reading { optional, ..Reading::new(gate, app.options.body) };
            reading.read_any(&app, &principal, request).await?
        }
    };
    // What only shows something changes nothing that a formation could undo.
    let owner = if action.only_shows() { None } else { owner(&app, &type_name, &id).await? };
    let of = id.clone();
    let control = app.control.clone();
    let answer =
        detached(async move { control.act_on_resource(&principal, &type_name, &id, action, body).await })
            .await?;
    let status = StatusCode::from_u16(action.status).unwrap_or(StatusCode::OK);
    marked(Done::Changed, &of, owner.as_ref(), status, answer)
}

/// The ids in a path, by parameter. Those that are not even text are not among them.
struct Ids(BTreeMap<String, String>);

/// The item whose collection the path goes through.
struct Parent {
    property: &'static str,
    id: String,
    project: Option<ProjectId>,
}

impl<S: Send + Sync> FromRequestParts<S> for Ids {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let read = Path::<BTreeMap<String, String>>::from_request_parts(parts, state).await;
        Ok(Self(read.map(|Path(ids)| ids).unwrap_or_default()))
    }
}

impl Ids {
    fn get(&self, parameter: &str) -> Result<&str, ApiFailure> {
        let missing = || ApiFailure::new(WireCode::ResourceNotFound, "There is no such thing.");
        self.0.get(parameter).map(String::as_str).ok_or_else(missing)
    }

    /// The item's id, once it is sure to be in the collection that the path names.
    async fn item(&self, app: &App, principal: &Principal, route: &RestRoute) -> Result<&str, ApiFailure> {
        let id = self.get(route.id_param)?;
        self.parent(app, principal, route, Some(id)).await?;
        Ok(id)
    }

    async fn parent(
        &self,
        app: &App,
        principal: &Principal,
        route: &RestRoute,
        item: Option<&str>,
    ) -> Result<Option<Parent>, ApiFailure> {
        let Some(parent) = &route.parent else { return Ok(None) };
        let id = self.get(parent.property)?;
        let project = app.control.parent_project(principal, route, parent, id, item).await?;
        Ok(Some(Parent { property: parent.property, id: id.to_owned(), project }))
    }
}

impl Parent {
    /// Adds to a body what the path says.
    fn complete(self, body: &mut Json) -> Result<(), ApiFailure> {
        let Some(members) = body.as_object_mut() else { return Ok(()) };
        let named = members.entry(self.property).or_insert_with(|| self.id.clone().into());
        if named.as_str() != Some(&*self.id) {
            let message = format!("`{}` must be the id in the path", self.property);
            return Err(ApiFailure::validation(message));
        }
        members.entry("project_id").or_insert(serde_json::json!(self.project));
        Ok(())
    }
}
