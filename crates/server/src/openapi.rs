//! The OpenAPI document, from the table of routes and the schemas of what they take and answer.

use crate::endpoint::{Endpoint, Parameter, table};
use formwork_api as wire;
use formwork_model::Json;
use formwork_platform::{RestRoute, UpdateMode, openapi_schemas, rest_routes};
use serde_json::{Map, json};
use utoipa::{PartialSchema, ToSchema};

/// The whole document (OpenAPI 3.1).
pub fn openapi_document() -> Json {
    let mut paths = Map::new();
    for endpoint in table() {
        let path = paths.entry(endpoint.full_path()).or_insert_with(|| json!({}));
        path[endpoint.method.as_str().to_ascii_lowercase()] = operation(&endpoint);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Formwork",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Declarative provisioning of agent platforms.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas(),
        },
    })
}

fn operation(endpoint: &Endpoint) -> Json {
    let mut operation = json!({
        "operationId": endpoint.operation_id,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
        "responses": responses(endpoint),
    });
    let parameters: Vec<Json> = path_parameters(&endpoint.path).chain(query_parameters(endpoint)).collect();
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if let Some(schema) = &endpoint.body {
        let required = !endpoint.body_optional;
        operation["requestBody"] = json!({ "required": required, "content": content(schema) });
    }
    if let Some(action) = &endpoint.permission {
        operation["x-permission"] = json!(action);
    }
    if endpoint.open {
        operation["security"] = json!([]);
    }
    operation
}

fn path_parameters(path: &str) -> impl Iterator<Item = Json> {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
}

fn query_parameters(endpoint: &Endpoint) -> impl Iterator<Item = Json> {
    endpoint.query.iter().map(|parameter| {
        json!({
            "name": parameter.name,
            "in": "query",
            "description": parameter.doc,
            "schema": parameter_schema(parameter),
        })
    })
}

/// A number in a query counts something; a page has its bounds.
fn parameter_schema(parameter: &Parameter) -> Json {
    match (parameter.kind, parameter.name) {
        ("integer", "limit") => {
            json!({ "type": "integer", "minimum": 1, "maximum": wire::Page::<()>::MAX_LIMIT })
        }
        ("integer", _) => json!({ "type": "integer", "minimum": 0 }),
        (kind, _) => json!({ "type": kind }),
    }
}

fn responses(endpoint: &Endpoint) -> Json {
    let mut responses = Map::new();
    for (status, schema) in &endpoint.success {
        let mut response = json!({ "description": reason(*status) });
        if let Some(schema) = schema {
            response["content"] = content(schema);
        }
        if endpoint.operation_id == "listOperationEvents" {
            response["content"]["text/event-stream"] = json!({ "schema": { "type": "string" } });
        }
        if endpoint.operation_id == "downloadFile" {
            // Whatever the file says it is.
            response["content"] = json!({ "*/*": { "schema": schema } });
        }
        responses.insert(status.to_string(), response);
    }
    let mut errors = endpoint.errors.clone();
    errors.sort_unstable();
    for status in errors {
        let response = json!({ "description": reason(status), "content": content(&reference("ErrorBody")) });
        responses.insert(status.to_string(), response);
    }
    let default = json!({ "description": "Any other error", "content": content(&reference("ErrorBody")) });
    responses.insert("default".to_owned(), default);
    Json::Object(responses)
}

fn content(schema: &Json) -> Json {
    json!({ "application/json": { "schema": schema } })
}

fn reason(status: u16) -> &'static str {
    let status = axum::http::StatusCode::from_u16(status).ok();
    status.and_then(|status| status.canonical_reason()).unwrap_or("Other")
}

/// A reference to a schema by name.
pub(crate) fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schema of a page of a list.
pub(crate) fn list_of(item: &str) -> Json {
    json!({ "type": "array", "items": reference(item) })
}

/// A page of items.
pub(crate) fn page_of(item: &str) -> Json {
    page_of_schema(&reference(item))
}

/// The same, of items with this schema.
pub(crate) fn page_of_schema(item: &Json) -> Json {
    let count = || json!({ "type": "integer", "minimum": 0 });
    json!({
        "type": "object",
        "required": ["data", "total", "limit", "offset"],
        "properties": {
            "data": { "type": "array", "items": item },
            "total": count(),
            "limit": count(),
            "offset": count(),
        },
    })
}

/// The name of a schema of a platform type: `AiProviderCreate`.
pub(crate) fn type_schema(type_name: &str, suffix: &str) -> String {
    let mut name = String::new();
    for word in type_name.split('_') {
        let mut characters = word.chars();
        name.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(characters.as_str());
    }
    name.push_str(suffix);
    name
}

fn schemas() -> Map<String, Json> {
    let mut all = Map::new();
    add::<wire::ErrorBody>(&mut all);
    add::<wire::ValidateFormation>(&mut all);
    add::<wire::Validation>(&mut all);
    add::<wire::GraphFormation>(&mut all);
    add::<wire::Graph>(&mut all);
    add::<wire::PlanFormation>(&mut all);
    add::<wire::PlanResult>(&mut all);
    add::<wire::SavedPlan>(&mut all);
    add::<wire::ApplyPlan>(&mut all);
    add::<wire::CreateFormation>(&mut all);
    add::<wire::UpdateFormation>(&mut all);
    add::<wire::Formation>(&mut all);
    add::<wire::FormationDrift>(&mut all);
    add::<wire::FormaCommand>(&mut all);
    add::<wire::FormaAnswer>(&mut all);
    add::<wire::FormaResource>(&mut all);
    add::<wire::FormaStack>(&mut all);
    add::<wire::FormaTarget>(&mut all);
    add::<wire::FormationRevision>(&mut all);
    add::<wire::SecretOutputPurge>(&mut all);
    add::<wire::DeleteResult>(&mut all);
    add::<wire::OperationAccepted>(&mut all);
    add::<wire::FormationOperation>(&mut all);
    add::<wire::Operation>(&mut all);
    add::<wire::CancelOperation>(&mut all);
    add::<wire::EventPage>(&mut all);
    add::<wire::WaitingFor>(&mut all);
    add::<wire::OperationEnd>(&mut all);
    add::<wire::CreateProject>(&mut all);
    add::<wire::UpdateProject>(&mut all);
    add::<wire::Project>(&mut all);
    add::<wire::CreateToken>(&mut all);
    add::<wire::Token>(&mut all);
    add::<wire::NewToken>(&mut all);
    add::<wire::User>(&mut all);
    add::<wire::Credentials>(&mut all);
    add::<wire::Login>(&mut all);
    add::<wire::CreateUser>(&mut all);
    add::<wire::AttachPolicies>(&mut all);
    add::<wire::AuditEntry>(&mut all);
    let mut types = openapi_schemas();
    for route in rest_routes() {
        let Some(schemas) = types.shift_remove(route.type_name) else { continue };
        let of = |suffix| type_schema(route.type_name, suffix);
        all.insert(of(""), schemas.representation);
        if route.create.is_some() {
            all.insert(of("Create"), within_parent(schemas.create, route));
        }
        if route.update_modes.contains(&UpdateMode::Patch) {
            all.insert(of("Patch"), schemas.patch);
        }
        if route.update_modes.contains(&UpdateMode::Put) {
            all.insert(of("Put"), schemas.put);
        }
    }
    close_bodies(&mut all);
    all.sort_keys();
    all
}

/// The body of a create without the duty to repeat what its path says.
fn within_parent(mut create: Json, route: &RestRoute) -> Json {
    if let (Some(parent), Some(required)) = (&route.parent, create["required"].as_array_mut()) {
        required.retain(|name| name != parent.property);
    }
    create
}

/// A body has no fields but its own: the routes refuse others.
fn close_bodies(all: &mut Map<String, Json>) {
    for body in table().into_iter().filter_map(|endpoint| endpoint.body) {
        let name = body["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        let schema = name.and_then(|name| all.get_mut(name)).and_then(Json::as_object_mut);
        if let Some(schema) = schema.filter(|schema| schema.contains_key("properties")) {
            schema.entry("additionalProperties").or_insert(Json::Bool(false));
        }
    }
}

/// Adds a type's schema and those that it refers to.
fn add<T: ToSchema + PartialSchema>(all: &mut Map<String, Json>) {
    let mut referred = Vec::new();
    T::schemas(&mut referred);
    referred.push((T::name().into_owned(), T::schema()));
    for (name, schema) in referred {
        // A schema has string keys only and always serialises.
        all.insert(name, serde_json::to_value(schema).unwrap_or_default());
    }
}
