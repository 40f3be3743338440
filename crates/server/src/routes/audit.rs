//! `/audit`: the decisions on writes.

use super::{Answer, page};
use crate::endpoint::{Endpoint, PAGING, Parameter};
use crate::guard::Caller;
use crate::openapi::page_of;
use crate::query::Query;
use crate::router::App;
use crate::views;
use axum::extract::State;
use axum::http::Method;
use axum::routing::get;
use formwork_model::ProjectId;

const PROJECT: Parameter =
    Parameter { name: "project_id", kind: "string", doc: "Only those of this project." };

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/audit",
            "listAuditEntries",
            "List decisions on writes, newest first",
            get(list),
        )
        .tag("audit")
        .permission("audit:ListAuditEntries")
        .query([PROJECT])
        .query(PAGING)
        .answers(200, page_of("AuditEntry"))
        .refuses(&[400, 401, 403]),
    ]
}

async fn list(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let slice = query.slice()?;
    let project = query.text(PROJECT.name).map(ProjectId::from);
    let found = app.control.audit_entries(&principal, project.as_ref(), slice.limit, slice.offset).await?;
    page(found.items, found.total, slice, views::audit_entry)
}
