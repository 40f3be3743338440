//! `/formations/purge-secret-outputs`: credentials that old records hold, for admins.

use super::{Answer, detached, json};
use crate::endpoint::{Endpoint, Parameter};
use crate::guard::Caller;
use crate::openapi::reference;
use crate::query::Query;
use crate::router::App;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::routing::post;
use formwork_api as wire;
use formwork_control as control;

const DRY_RUN: Parameter =
    Parameter { name: "dry_run", kind: "boolean", doc: "Only say what would be removed." };

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(
            Method::POST,
            "/formations/purge-secret-outputs",
            "purgeFormationSecretOutputs",
            "Remove credentials from the outputs of old records",
            post(purge),
        )
        .tag("formations")
        .permission("formations:PurgeSecretOutputs")
        .query([DRY_RUN])
        .answers(200, reference("SecretOutputPurge"))
        .refuses(&[400, 401, 403])
        // It reads every formation.
        .patient(),
    ]
}

async fn purge(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let dry_run = query.flag(DRY_RUN.name, false)?;
    let control = app.control.clone();
    let purge = detached(async move { control.purge_secret_outputs(&principal, dry_run).await }).await?;
    json(StatusCode::OK, &view(purge))
}

fn view(purge: control::Purge) -> wire::SecretOutputPurge {
    let dry_run = purge.dry_run;
    let formation = |formation: control::PurgedFormation| wire::PurgedFormation {
        formation_id: formation.id.to_string(),
        name: formation.name,
        outputs: formation.outputs.into_iter().collect(),
        purged: !dry_run && !formation.busy,
        busy: formation.busy,
    };
    wire::SecretOutputPurge { dry_run, formations: purge.formations.into_iter().map(formation).collect() }
}
