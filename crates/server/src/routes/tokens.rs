//! `/tokens`: bearer tokens. Creating one is the only answer with its plaintext (INV-9).

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
use axum::routing::{delete, get, post};
use formwork_api::CreateToken;
use formwork_control::{Gate, NewToken};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let route = |method, path: &str, id: &str, action: &str, summary: &str, handler| {
        Endpoint::new(method, path, id, summary, handler)
            .tag("tokens")
            .permission(format!("tokens:{action}"))
            .refuses(&[401])
    };
    vec![
        route(Method::POST, "/tokens", "createToken", "CreateToken", "Create a token", post(create))
            .body(reference("CreateToken"))
            .answers(201, reference("NewToken"))
            .refuses(&[400, 403, 404, 413]),
        route(Method::GET, "/tokens", "listTokens", "ListTokens", "List tokens", get(list))
            .query(PAGING)
            .answers(200, page_of("Token"))
            .refuses(&[400]),
        route(
            Method::DELETE,
            "/tokens/{token_id}",
            "deleteToken",
            "DeleteToken",
            "Revoke a token",
            delete(destroy),
        )
        .answers_nothing()
        .refuses(&[403, 404]),
    ]
}

async fn create(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading = Reading::in_project(Gate::CreateToken, app.options.body);
    let body: CreateToken = reading.read(&app, &principal, request).await?;
    let new = NewToken { name: body.name, project_id: body.project_id.map(Into::into) };
    let (record, token) = app.control.create_token(&principal, new).await?;
    json(StatusCode::CREATED, &views::new_token(record, &token))
}

async fn list(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let slice = query.slice()?;
    let found = app.control.list_tokens(&principal, slice.limit, slice.offset).await?;
    page(found.items, found.total, slice, views::token)
}

async fn destroy(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    app.control.delete_token(&principal, &id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
