//! `/operations`: following and stopping what runs.

use super::{Answer, Id, Reading, json};
use crate::endpoint::{Endpoint, PAGING, Parameter};
use crate::failure::ApiFailure;
use crate::guard::Caller;
use crate::openapi::reference;
use crate::query::Query;
use crate::router::App;
use crate::{stream, views};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::routing::{get, post};
use formwork_api::{CancelOperation, EventPage};
use formwork_model::{EventAction, EventStatus, OperationId};

const AFTER: Parameter = Parameter {
    name: "after",
    kind: "integer",
    doc: "The sequence number after which to begin; 0 if not given. A `Last-Event-ID` header wins.",
};
/// How a client says where its stream broke off.
const LAST_EVENT_ID: &str = "last-event-id";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let route = |method, path: &str, id: &str, summary: &str, handler| {
        Endpoint::new(method, path, id, summary, handler).tag("operations").refuses(&[401, 404])
    };
    vec![
        route(Method::GET, "/operations/{operation_id}", "getOperation", "Get an operation", get(show))
            .answers(200, reference("Operation")),
        route(
            Method::POST,
            "/operations/{operation_id}/cancel",
            "cancelOperation",
            "Ask an operation to stop",
            post(cancel),
        )
        .optional_body(reference("CancelOperation"))
        .answers(202, reference("Operation"))
        .refuses(&[400, 409, 413]),
        route(
            Method::GET,
            "/operations/{operation_id}/events",
            "listOperationEvents",
            "List an operation's events; with `Accept: text/event-stream`, follow them",
            get(events),
        )
        .query([AFTER, PAGING[0]])
        .answers(200, reference("EventPage"))
        .refuses(&[400, 503]),
    ]
}

async fn show(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    json(StatusCode::OK, &views::operation(&app.control.operation(&principal, &id.into()).await?))
}

async fn cancel(State(app): State<App>, Caller(principal): Caller, Id(id): Id, request: Request) -> Answer {
    let reading = Reading { optional: true, ..Reading::open(app.options.body) };
    let body: CancelOperation = reading.read(&app, &principal, request).await?;
    let id = OperationId::from(id);
    app.control.cancel(&principal, &id, body.force).await?;
    json(StatusCode::ACCEPTED, &views::operation(&app.control.operation(&principal, &id).await?))
}

async fn events(
    State(app): State<App>,
    Caller(principal): Caller,
    Id(id): Id,
    headers: HeaderMap,
    query: Query,
) -> Answer {
    let id = OperationId::from(id);
    let after = cursor(&headers, &query)?;
    if wants_stream(&headers) {
        return stream::follow(app, principal, id, after).await;
    }
    let limit = query.slice()?.limit;
    let mut events = app.control.operation_events(&principal, &id, after, limit + 1).await?;
    let is_last = events.len() <= limit;
    events.truncate(limit);
    // A page that does not end the list needs no look at the operation itself.
    let complete = is_last && app.control.operation_record(&principal, &id).await?.status.is_final() && {
        // What was written between the two reads would be passed over.
        let next = events.last().map_or(after, |event| event.sequence);
        app.control.operation_events(&principal, &id, next, 1).await?.is_empty()
    };
    let next_after = events.last().map_or(after, |event| event.sequence);
    let data = events.into_iter().map(views::operation_event).collect();
    json(StatusCode::OK, &EventPage { data, next_after, complete })
}

fn cursor(headers: &HeaderMap, query: &Query) -> Result<u64, ApiFailure> {
    match headers.get(LAST_EVENT_ID) {
        Some(value) => {
            let number = value.to_str().ok().and_then(|text| text.trim().parse().ok());
            number.ok_or_else(|| ApiFailure::validation("`Last-Event-ID` must be a sequence number"))
        }
        None => Ok(query.number(AFTER.name)?.unwrap_or(0)),
    }
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .filter_map(|kind| kind.split(';').next())
        .any(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Whether an event says that its operation is over.
pub(crate) fn is_end(action: EventAction, status: EventStatus) -> bool {
    action == EventAction::Operation && matches!(status, EventStatus::Succeeded | EventStatus::Failed)
}
