//! `/users` (`formations-behaviour.md` §6.1). Logging in is the only answer with its token (INV-9).

use super::{Answer, Id, Reading, json, page};
use crate::endpoint::{Endpoint, PAGING};
use crate::guard::Caller;
use crate::openapi::{page_of, reference};
use crate::peer::{Peer, Source};
use crate::query::Query;
use crate::router::App;
use crate::{guard, views};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{delete, get, post, put};
use formwork_api::{AttachPolicies, CreateUser, Credentials};
use formwork_control::{Gate, NewUser, Role};
use formwork_secret::Secret;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut all = public();
    all.push(
        Endpoint::new(Method::GET, "/users/me", "getCurrentUser", "Get the user of the credential", get(me))
            .tag("users")
            .answers(200, reference("User"))
            .refuses(&[401, 404]),
    );
    all.extend(administration());
    all
}

/// What whoever can't log in yet may do.
fn public() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::POST,
            "/users/bootstrap",
            "bootstrapUser",
            "Create the first user, an admin",
            post(bootstrap),
        )
        .tag("users")
        .body(reference("Credentials"))
        .answers(201, reference("User"))
        .refuses(&[400, 401, 403, 409, 413])
        .open(),
        Endpoint::new(Method::POST, "/users/login", "loginUser", "Log in", post(login))
            .tag("users")
            .body(reference("Credentials"))
            .answers(200, reference("Login"))
            .refuses(&[400, 401, 413, 429])
            .open(),
    ]
}

fn administration() -> Vec<Endpoint> {
    let route = |method, path: &str, id: &str, action: &str, summary: &str, handler| {
        Endpoint::new(method, path, id, summary, handler)
            .tag("users")
            .permission(format!("users:{action}"))
            .refuses(&[401, 403])
    };
    let item = "/users/{user_id}";
    vec![
        route(Method::POST, "/users", "createUser", "CreateUser", "Create a user", post(create))
            .body(reference("CreateUser"))
            .answers(201, reference("User"))
            .refuses(&[400, 409, 413]),
        route(Method::GET, "/users", "listUsers", "ListUsers", "List users", get(list))
            .query(PAGING)
            .answers(200, page_of("User"))
            .refuses(&[400]),
        route(Method::GET, item, "getUser", "GetUser", "Get a user", get(show))
            .answers(200, reference("User"))
            .refuses(&[404]),
        route(Method::DELETE, item, "deleteUser", "DeleteUser", "Delete a user", delete(destroy))
            .answers_nothing()
            .refuses(&[404]),
        route(
            Method::PUT,
            "/users/{user_id}/policies",
            "attachUserPolicies",
            "AttachUserPolicies",
            "Attach policies to a user, in place of those attached",
            put(attach),
        )
        .body(reference("AttachPolicies"))
        .answers_nothing()
        .refuses(&[400, 404, 413]),
    ]
}

/// The most bytes of a body with a name and a password.
const CREDENTIALS_BODY: usize = 8 << 10;

/// Anybody who can reach the server may log in; only who has the data directory may say who the
/// first user is. They come over its socket, or bring its token.
async fn bootstrap(State(app): State<App>, peer: Peer, request: Request) -> Answer {
    let caller = guard::caller(&app, request.headers()).await;
    if !peer.is_owner() || request.headers().contains_key(axum::http::header::AUTHORIZATION) {
        let gate = Gate::Admin { action: "users:CreateUser", srn_type: "user" };
        app.control.gate(&caller?.0, &gate).await?;
    }
    let body: Credentials = Reading::open(CREDENTIALS_BODY).read_open(&app, request).await?;
    let user = app.control.bootstrap_user(&body.username, Secret::new(body.password)).await?;
    json(StatusCode::CREATED, &views::user(user))
}

async fn login(State(app): State<App>, Source(source): Source, request: Request) -> Answer {
    let body: Credentials = Reading::open(CREDENTIALS_BODY).read_open(&app, request).await?;
    let login = app.control.login(&body.username, Secret::new(body.password), &source).await?;
    json(StatusCode::OK, &views::login(login))
}

async fn me(State(app): State<App>, Caller(principal): Caller) -> Answer {
    json(StatusCode::OK, &views::user(app.control.current_user(&principal).await?))
}

async fn create(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let gate = Gate::Admin { action: "users:CreateUser", srn_type: "user" };
    let body: CreateUser = Reading::new(gate, app.options.body).read(&app, &principal, request).await?;
    let new = NewUser {
        username: body.username,
        password: Secret::new(body.password),
        role: body.role.map_or(Role::User, views::role_of),
    };
    json(StatusCode::CREATED, &views::user(app.control.create_user(&principal, new).await?))
}

async fn list(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let slice = query.slice()?;
    let found = app.control.list_users(&principal, slice.limit, slice.offset).await?;
    page(found.items, found.total, slice, views::user)
}

async fn show(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    json(StatusCode::OK, &views::user(app.control.get_user(&principal, &id).await?))
}

async fn destroy(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    app.control.delete_user(&principal, &id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn attach(State(app): State<App>, Caller(principal): Caller, Id(id): Id, request: Request) -> Answer {
    let reading = Reading::new(Gate::AttachPolicies(id.clone()), app.options.body);
    let body: AttachPolicies = reading.read(&app, &principal, request).await?;
    app.control.attach_user_policies(&principal, &id, body.policy_ids).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
