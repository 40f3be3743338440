//! `/commands`, `/stacks`, `/targets`, `/resources`: formae (`forma-behaviour.md` §8.4).

use super::{Answer, Reading, detached, json};
use crate::endpoint::{Endpoint, Parameter};
use crate::failure::ApiFailure;
use crate::guard::Caller;
use crate::openapi::{list_of, reference};
use crate::query::Query;
use crate::router::App;
use crate::{routes, views};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::routing::{get, post};
use formwork_api as wire;
use formwork_control as control;
use formwork_control::Gate;
use formwork_forma::Forma;
use formwork_forma::wire::{Places, from_json};
use formwork_model::{Mode, OnFailure, ProjectId};
use std::sync::Arc;

const PROJECT: Parameter = Parameter {
    name: "project_id",
    kind: "string",
    doc: "Those of this project; of the default one if not given.",
};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let inventory = |path, id: &str, summary: &str, schema: &str, handler| {
        Endpoint::new(Method::GET, path, id, summary, handler)
            .tag("formae")
            .permission("stacks:ListStacks")
            .query([PROJECT])
            .answers(200, list_of(schema))
            .refuses(&[401, 403])
    };
    vec![
        Endpoint::new(Method::POST, "/commands", "submitCommand", "Apply or destroy a forma", post(submit))
            .tag("formae")
            .permission("stacks:ApplyStack")
            .body(reference("FormaCommand"))
            .answers(200, reference("FormaAnswer"))
            .answers(202, reference("FormaAnswer"))
            .refuses(&[400, 401, 403, 404, 409, 413])
            .patient(),
        inventory("/stacks", "listStacks", "List stacks", "FormaStack", get(stacks)),
        inventory("/targets", "listTargets", "List targets", "FormaTarget", get(targets)),
        inventory(
            "/resources",
            "listStackResources",
            "List the resources of all stacks",
            "FormaResource",
            get(resources),
        ),
    ]
}

async fn submit(State(app): State<App>, Caller(principal): Caller, request: Request) -> Answer {
    let reading = Reading::in_project(Gate::ApplyForma, app.options.forma_body);
    let body: wire::FormaCommand = reading.read(&app, &principal, request).await?;
    let named = body.project_id.clone().map(ProjectId::from);
    let project = app.control.project_named(&principal, named.as_ref())?;
    let forma = forma(body.forma, body.places, &project)?;
    match body.command {
        wire::FormaCommandKind::Apply => {
            let mode = body
                .mode
                .ok_or_else(|| ApiFailure::validation("`mode` is needed: `reconcile` or `patch`"))?;
            let apply = control::ApplyForma {
                project_id: named,
                forma,
                mode: match mode {
                    wire::FormaMode::Reconcile => Mode::Reconcile,
                    wire::FormaMode::Patch => Mode::Patch,
                },
                force: body.force,
                on_failure: match body.on_failure {
                    Some(wire::OnFailure::Rollback) => OnFailure::RollBack,
                    Some(wire::OnFailure::Keep) | None => OnFailure::Continue,
                },
                plan_hash: views::plan_hash(body.plan_hash)?,
            };
            if body.simulate {
                let planned = app.control.plan_forma(&principal, &apply).await?;
                return answer(None, planned);
            }
            let control = app.control.clone();
            let applied = detached(async move { control.apply_forma(&principal, apply).await }).await?;
            answer(applied.operation.map(|id| id.to_string()), applied.planned)
        }
        wire::FormaCommandKind::Destroy => {
            let destroy = control::DestroyForma {
                project_id: named,
                forma,
                cascade: body.on_dependents == wire::OnDependents::Cascade,
                simulate: body.simulate,
            };
            let control = app.control.clone();
            let applied = detached(async move { control.destroy_forma(&principal, &destroy).await }).await?;
            answer(applied.operation.map(|id| id.to_string()), applied.planned)
        }
    }
}

/// The forma of a body with its places.
fn forma(
    json: formwork_model::Json,
    places: Option<formwork_model::Json>,
    project: &ProjectId,
) -> Result<Arc<Forma>, ApiFailure> {
    let told = |error: &dyn std::error::Error| match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    let mut forma = from_json(json, project).map_err(|error| ApiFailure::validation(told(&error)))?;
    if let Some(places) = places {
        let places: Places =
            serde_json::from_value(places).map_err(|error| ApiFailure::validation(told(&error)))?;
        let map = places.into_map().map_err(|error| ApiFailure::validation(told(&error)))?;
        forma.source_map = Arc::new(map);
    }
    Ok(Arc::new(forma))
}

fn answer(command_id: Option<String>, planned: control::PlannedForma) -> Answer {
    let status = if command_id.is_some() { StatusCode::ACCEPTED } else { StatusCode::OK };
    let answer = wire::FormaAnswer {
        command_id,
        changes_required: planned.changes.iter().any(|change| change.action != "no-op"),
        drift: planned.drift.clone().into_iter().map(routes::drift::resource).collect(),
        plan: views::planned_forma(planned),
    };
    json(status, &answer)
}

async fn stacks(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let project = query.text(PROJECT.name).map(ProjectId::from);
    let found = app.control.forma_stacks(&principal, project.as_ref()).await?;
    let view = |stack: control::InventoryStack| wire::FormaStack {
        id: stack.id,
        label: stack.label,
        description: stack.description,
        policies: stack.policies,
        resources: stack.resources as u64,
        created_at: stack.created_at.into(),
    };
    json(StatusCode::OK, &found.into_iter().map(view).collect::<Vec<_>>())
}

async fn targets(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let project = query.text(PROJECT.name).map(ProjectId::from);
    let found = app.control.forma_targets(&principal, project.as_ref()).await?;
    let view = |target: control::InventoryTarget| wire::FormaTarget {
        label: target.label,
        namespace: target.namespace,
        config: target.config,
    };
    json(StatusCode::OK, &found.into_iter().map(view).collect::<Vec<_>>())
}

async fn resources(State(app): State<App>, Caller(principal): Caller, query: Query) -> Answer {
    let project = query.text(PROJECT.name).map(ProjectId::from);
    let found = app.control.forma_resources(&principal, project.as_ref()).await?;
    let view = |resource: control::InventoryResource| wire::FormaResource {
        id: resource.id.to_string(),
        label: resource.label,
        type_name: resource.type_name.to_string(),
        stack: resource.stack,
        target: resource.target,
        native_id: resource.native_id.map(|id| id.to_string()),
        properties: resource.properties,
    };
    json(StatusCode::OK, &found.into_iter().map(view).collect::<Vec<_>>())
}
