//! `/formations/{formation_id}/revisions`: what its deploys applied.

use super::{Answer, Id, json, page};
use crate::endpoint::{Endpoint, PAGING};
use crate::failure::ApiFailure;
use crate::guard::Caller;
use crate::openapi::{page_of, reference};
use crate::query::Query;
use crate::router::App;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::routing::get;
use formwork_api as wire;
use formwork_control as control;
use formwork_model::WireCode;

const ALL: &str = "/formations/{formation_id}/revisions";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let gets = |path: &str, id: &str, summary: &str, handler| {
        Endpoint::new(Method::GET, path, id, summary, handler)
            .tag("formations")
            .permission("formations:GetFormation")
            .refuses(&[401, 403, 404])
    };
    vec![
        gets(ALL, "listFormationRevisions", "List what a formation's deploys applied", get(list))
            .query(PAGING)
            .answers(200, page_of("FormationRevision"))
            .refuses(&[400]),
        gets(
            &format!("{ALL}/{{revision}}"),
            "getFormationRevision",
            "Get what one of a formation's deploys applied",
            get(show),
        )
        .answers(200, reference("FormationRevision")),
    ]
}

async fn list(State(app): State<App>, Caller(principal): Caller, Id(id): Id, query: Query) -> Answer {
    let slice = query.slice()?;
    let found = app.control.formation_revisions(&principal, &id.into(), slice.limit, slice.offset).await?;
    page(found.items, found.total, slice, view)
}

async fn show(
    State(app): State<App>,
    Caller(principal): Caller,
    ids: Result<Path<(String, String)>, axum::extract::rejection::PathRejection>,
) -> Answer {
    // What is no number, or not even text, names nothing.
    let missing = || ApiFailure::new(WireCode::ResourceNotFound, "There is no such revision.");
    let Path((formation, number)) = ids.map_err(|_| missing())?;
    let number = number.parse().map_err(|_| missing())?;
    json(StatusCode::OK, &view(app.control.formation_revision(&principal, &formation.into(), number).await?))
}

fn view(revision: control::RevisionView) -> wire::FormationRevision {
    wire::FormationRevision {
        formation_id: revision.formation.to_string(),
        revision: revision.number,
        operation_id: revision.operation.to_string(),
        actor: revision.actor.to_string(),
        created_at: revision.at.into(),
        resolved_parameters: revision.resolved_parameters,
        template: revision.template,
    }
}
