//! `/formations/{formation_id}/drift`: what was changed out of band.

use super::{Answer, Id, json};
use crate::endpoint::Endpoint;
use crate::guard::Caller;
use crate::openapi::reference;
use crate::router::App;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::routing::get;
use formwork_api as wire;
use formwork_control as control;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::GET,
            "/formations/{formation_id}/drift",
            "getFormationDrift",
            "Show what was changed out of band",
            get(show),
        )
        .tag("formations")
        .permission("formations:PlanFormation")
        .answers(200, reference("FormationDrift"))
        .refuses(&[401, 403, 404, 409])
        // Objects are looked at while the caller waits.
        .patient(),
    ]
}

async fn show(State(app): State<App>, Caller(principal): Caller, Id(id): Id) -> Answer {
    let drift = app.control.formation_drift(&principal, &id.into()).await?;
    json(StatusCode::OK, &view(drift))
}

fn view(drift: control::FormationDrift) -> wire::FormationDrift {
    wire::FormationDrift {
        formation_id: drift.formation.to_string(),
        drifted: drift.has_drifted(),
        checked: drift.checked as u64,
        resources: drift.resources.into_iter().map(resource).collect(),
    }
}

pub(super) fn resource(resource: control::ResourceDrift) -> wire::ResourceDrift {
    let (status, changes, reason) = match resource.found {
        control::DriftFound::Changed(changes) => (wire::DriftStatus::Changed, changes, None),
        control::DriftFound::Gone => (wire::DriftStatus::Gone, Vec::new(), None),
        control::DriftFound::Unreadable(reason) => (wire::DriftStatus::Unreadable, Vec::new(), Some(reason)),
    };
    wire::ResourceDrift {
        logical_id: resource.logical_id,
        resource_type: resource.resource_type.to_string(),
        physical_resource_id: resource.physical_resource_id.to_string(),
        status,
        changes: changes.into_iter().map(change).collect(),
        reason,
    }
}

fn change(change: control::DriftChange) -> wire::DriftChange {
    wire::DriftChange { path: change.path.pointer(), was: change.was, is: change.is }
}
