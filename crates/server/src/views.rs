//! From what `control` answers to what the wire shows, and from what the wire asks to what
//! `control` takes. No rule: each function renames and leaves out.

use crate::failure::ApiFailure;
use formwork_api as wire;
use formwork_control as control;
use formwork_engine_core::{Waiting, WaitsFor};
use formwork_model::{
    Cause, Condition, Event, EventAction, EventStatus, Guard, Json, NativeId, OnFailure, Plan, PlanHash, Row,
    Secret, StackId, Step, Timestamp,
};
use formwork_platform::TraceContentMode;
use std::sync::Arc;

/// What messages call a template that came as text.
const TEMPLATE_NAME: &str = "template";

/// A template as a body holds it: text keeps its places.
pub(crate) fn template(value: Json) -> control::TemplateInput {
    match value {
        Json::String(text) => control::TemplateInput::Text { name: TEMPLATE_NAME.to_owned(), text },
        value => control::TemplateInput::Json(value),
    }
}

pub(crate) fn plan_hash(text: Option<String>) -> Result<Option<PlanHash>, ApiFailure> {
    let malformed = |_| ApiFailure::validation("`plan_hash` must be 64 hexadecimal digits");
    text.map(|text| text.parse().map_err(malformed)).transpose()
}

fn on_failure(asked: Option<wire::OnFailure>) -> OnFailure {
    match asked.unwrap_or_default() {
        wire::OnFailure::Rollback => OnFailure::RollBack,
        wire::OnFailure::Keep => OnFailure::Continue,
    }
}

pub(crate) fn validate(body: wire::ValidateFormation) -> control::ValidateFormation {
    control::ValidateFormation {
        template: template(body.template),
        parameters: body.parameters.map(control::Parameters),
    }
}

pub(crate) fn plan(body: wire::PlanFormation) -> control::PlanFormation {
    control::PlanFormation {
        project_id: body.project_id.map(Into::into),
        formation_id: body.formation_id.map(Into::into),
        template: body.template.map(template),
        revision: body.revision,
        parameters: body.parameters.map(control::Parameters),
        observe: match body.observe.unwrap_or_default() {
            wire::Observe::Live => control::ObservePolicy::Live,
            wire::Observe::Off => control::ObservePolicy::Off,
        },
        on_failure: on_failure(body.on_failure),
    }
}

pub(crate) fn create(body: wire::CreateFormation) -> Result<control::CreateFormation, ApiFailure> {
    Ok(control::CreateFormation {
        project_id: body.project_id.map(Into::into),
        name: body.name,
        template: template(body.template),
        metadata: body.metadata,
        parameters: body.parameters.map(control::Parameters),
        plan_hash: plan_hash(body.plan_hash)?,
        on_failure: on_failure(body.on_failure),
    })
}

pub(crate) fn update(body: wire::UpdateFormation) -> Result<control::UpdateFormation, ApiFailure> {
    Ok(control::UpdateFormation {
        template: body.template.map(template),
        revision: body.revision,
        metadata: body.metadata,
        parameters: body.parameters.map(control::Parameters),
        plan_hash: plan_hash(body.plan_hash)?,
        on_failure: on_failure(body.on_failure),
        decisions: decisions(body.unknown_outcomes.unwrap_or_default()),
    })
}

/// What a person decided, by logical id.
pub(crate) fn decisions(named: impl IntoIterator<Item = (String, Option<String>)>) -> control::Decisions {
    named.into_iter().map(|(label, adopt)| (label, adopt.map(NativeId::new))).collect()
}

pub(crate) fn validation(found: &control::Validation) -> wire::Validation {
    wire::Validation {
        valid: found.valid,
        errors: found.found.errors().map(Into::into).collect(),
        warnings: found.found.warnings().map(Into::into).collect(),
        left_out: u64::try_from(found.found.left_out()).ok().filter(|count| *count > 0),
    }
}

pub(crate) fn graph(view: control::GraphView) -> wire::Graph {
    let node = |node: control::GraphNodeView| wire::GraphNode {
        logical_id: node.label,
        resource_type: node.resource_type,
    };
    let edge = |edge: control::GraphEdgeView| wire::GraphEdge { from: edge.from, to: edge.to };
    wire::Graph {
        nodes: view.nodes.into_iter().map(node).collect(),
        edges: view.edges.into_iter().map(edge).collect(),
    }
}

pub(crate) fn planned(planned: control::PlannedFormation) -> wire::PlanResult {
    wire::PlanResult {
        changes: planned.changes.into_iter().map(|change| plan_change(change, None)).collect(),
        unauthorized_actions: planned.unauthorized.into_iter().map(denied).collect(),
        plan_hash: planned.hash.to_string(),
        warnings: planned.warnings.iter().map(Into::into).collect(),
    }
}

/// A plan over several stacks.
pub(crate) fn planned_forma(planned: control::PlannedForma) -> wire::PlanResult {
    let stack_of = |id: &StackId| {
        let stack = planned.plan.stacks.iter().find(|stack| stack.id == *id);
        stack.map(|stack| stack.key.name.to_string())
    };
    let changes = planned.changes.into_iter().map(|change| {
        let stack = stack_of(&change.stack);
        plan_change(change, stack)
    });
    wire::PlanResult {
        changes: changes.collect(),
        unauthorized_actions: planned.unauthorized.into_iter().map(denied).collect(),
        plan_hash: planned.hash.to_string(),
        warnings: planned.warnings.iter().map(Into::into).collect(),
    }
}

fn plan_change(change: control::PlanChange, stack: Option<String>) -> wire::PlanChange {
    wire::PlanChange {
        stack,
        logical_id: change.logical_id,
        resource_type: change.resource_type.to_string(),
        action: change.action.to_owned(),
        physical_resource_id: change.physical_resource_id.map(|id| id.to_string()),
        diff: change.diff.map(|diff| wire::PlanDiff { desired: diff.desired, current: diff.current }),
        cause: change.cause.as_ref().map(cause).unwrap_or_default(),
        place: change.place.as_ref().map(Into::into),
    }
}

fn cause(cause: &Cause) -> Vec<wire::CauseLink> {
    let link = |link: &formwork_model::CauseLink| wire::CauseLink {
        text: link.text.clone(),
        place: link.place.as_ref().map(Into::into),
    };
    cause.0.iter().map(link).collect()
}

fn denied(denied: control::DeniedAction) -> wire::UnauthorizedAction {
    wire::UnauthorizedAction {
        logical_id: denied.logical_id,
        resource_type: denied.resource_type.to_string(),
        action: denied.action,
    }
}

pub(crate) fn formation(view: control::FormationView) -> wire::Formation {
    wire::Formation {
        id: view.id.to_string(),
        project_id: view.project_id.to_string(),
        name: view.name,
        template: Arc::unwrap_or_clone(view.template),
        outputs: view.outputs,
        status: formation_status(view.status),
        metadata: view.metadata,
        resolved_metadata: view.resolved_metadata,
        resolved_parameters: view.resolved_parameters,
        error: view.error.map(Into::into),
        resources: view.resources.map(|rows| rows.iter().map(resource).collect()),
        operation_id: view.operation.map(|id| id.to_string()),
        created_at: view.created_at.into(),
        updated_at: view.updated_at.into(),
    }
}

fn formation_status(status: control::FormationStatus) -> wire::FormationStatus {
    match status {
        control::FormationStatus::Creating => wire::FormationStatus::Creating,
        control::FormationStatus::Active => wire::FormationStatus::Active,
        control::FormationStatus::Updating => wire::FormationStatus::Updating,
        control::FormationStatus::Failed => wire::FormationStatus::Failed,
        control::FormationStatus::Deleting => wire::FormationStatus::Deleting,
        control::FormationStatus::Deleted => wire::FormationStatus::Deleted,
        control::FormationStatus::DeleteFailed => wire::FormationStatus::DeleteFailed,
    }
}

fn resource(row: &Row) -> wire::FormationResource {
    wire::FormationResource {
        id: row.id.to_string(),
        logical_id: row.label.to_string(),
        resource_type: row.type_name.to_string(),
        physical_resource_id: row.current.as_ref().map(|object| object.native_id.to_string()),
        status: row.status.into(),
        metadata: row.metadata.clone(),
    }
}

pub(crate) fn formation_operation(view: &control::OperationView) -> wire::FormationOperation {
    let record = &view.record;
    wire::FormationOperation {
        id: record.id.to_string(),
        operation_type: record.kind,
        status: record.status,
        plan: view.plan.as_ref().map(|plan| operation_plan(plan, record.plan_hash)),
        events: Some(view.events.iter().filter_map(formation_event).collect()),
        error: record.failure.clone().map(Into::into),
        created_at: record.started_at.into(),
        updated_at: record.updated_at.into(),
    }
}

pub(crate) fn operation(view: &control::OperationView) -> wire::Operation {
    wire::Operation {
        operation: formation_operation(view),
        formation_id: view.formation.to_string(),
        project_id: view.record.project.to_string(),
        actor: view.record.actor.to_string(),
        finished_at: view.record.finished_at.map(Into::into),
    }
}

pub(crate) fn saved_plan(view: &control::SavedPlanView) -> wire::SavedPlan {
    wire::SavedPlan {
        plan: operation_plan(&view.plan, view.hash),
        formation_id: view.formation.as_ref().map(ToString::to_string),
        created_at: view.created_at.into(),
    }
}

fn operation_plan(plan: &Plan, hash: PlanHash) -> wire::OperationPlan {
    wire::OperationPlan { hash: hash.to_string(), steps: plan.steps.iter().map(planned_step).collect() }
}

fn planned_step(step: &Step) -> wire::PlannedStep {
    wire::PlannedStep {
        id: step.id.0,
        logical_id: step.label.to_string(),
        resource_type: step.type_name.to_string(),
        action: step.action.name().to_owned(),
        physical_resource_id: match &step.guard {
            Guard::Unchanged { native_id, .. } => Some(native_id.to_string()),
            Guard::None | Guard::Absent { .. } => None,
        },
        conditional: step.when != Condition::Always,
        after_steps: step.after_steps.iter().map(|id| id.0).collect(),
        cause: cause(&step.cause),
        place: step.place.as_ref().map(Into::into),
    }
}

/// An event as a formation's history lists it: what was done or failed to be done to a resource
/// (`formations-behaviour.md` §1.3, "FormationEvent").
fn formation_event(event: &Event) -> Option<wire::FormationEvent> {
    let subject = event.subject.as_ref()?;
    // An object that a rollback had to leave is left, and the history says why.
    let kept = event.action == EventAction::RollbackSkipped;
    let status = if kept { EventStatus::Succeeded } else { event.status };
    matches!(status, EventStatus::Succeeded | EventStatus::Failed).then(|| wire::FormationEvent {
        timestamp: event.at.into(),
        logical_id: subject.label.to_string(),
        resource_type: subject.type_name.to_string(),
        action: event.action,
        status,
        physical_resource_id: event.native_id.as_ref().map(ToString::to_string),
        error: event.failure.as_ref().map(|failure| failure.message.clone()),
        note: event.note.clone().filter(|_| kept || event.action == EventAction::Decide),
    })
}

pub(crate) fn operation_event(event: Event) -> wire::OperationEvent {
    let subject = event.subject;
    wire::OperationEvent {
        sequence: event.sequence,
        timestamp: event.at.into(),
        operation_id: event.operation.to_string(),
        formation_id: event.stack.to_string(),
        logical_id: subject.as_ref().map(|subject| subject.label.to_string()),
        resource_type: subject.as_ref().map(|subject| subject.type_name.to_string()),
        action: event.action,
        status: event.status,
        physical_resource_id: event.native_id.map(|id| id.to_string()),
        error: event.failure.map(Into::into),
        attempt: event.attempt,
        note: event.note,
    }
}

pub(crate) fn waiting(waiting: &Waiting) -> wire::WaitingFor {
    let (on, until): (&str, Option<Timestamp>) = match waiting.on {
        WaitsFor::Permit => ("permit", None),
        WaitsFor::Read => ("read", None),
        WaitsFor::Answer(until) => ("answer", Some(until)),
        WaitsFor::Provider(until) => ("provider", Some(until)),
        WaitsFor::Retry(until) => ("retry", Some(until)),
        WaitsFor::Resolution(until) => ("resolution", Some(until)),
    };
    wire::WaitingFor {
        logical_id: waiting.label.to_string(),
        resource_type: waiting.type_name.to_string(),
        action: waiting.action.name().to_owned(),
        undo: waiting.undo,
        attempt: waiting.attempt,
        since: waiting.since.into(),
        on: on.to_owned(),
        until: until.map(Into::into),
    }
}

pub(crate) fn project(project: control::Project) -> wire::Project {
    let settings = project.settings;
    wire::Project {
        id: project.id.to_string(),
        name: project.name,
        guardrail_ids: settings.guardrail_ids,
        max_concurrent_runs: settings.max_concurrent_runs,
        default_model_route_id: settings.default_model_route_id,
        audit_reads_enabled: settings.audit_reads_enabled,
        trace_content_retention_days: settings.trace_content_retention_days,
        trace_content_mode: match settings.trace_content_mode {
            TraceContentMode::Full => wire::TraceContentMode::Full,
            TraceContentMode::None => wire::TraceContentMode::None,
        },
        created_at: project.created_at.into(),
        updated_at: project.updated_at.into(),
    }
}

pub(crate) fn user(view: control::UserView) -> wire::User {
    wire::User {
        id: view.id.to_string(),
        username: view.username,
        role: role(view.role),
        created_at: view.created_at.into(),
        updated_at: view.updated_at.into(),
        policy_ids: view.policy_ids,
    }
}

pub(crate) fn login(login: control::Login) -> wire::Login {
    wire::Login {
        id: login.user.id.to_string(),
        username: login.user.username,
        role: role(login.user.role),
        token: login.token.into_exposed(),
    }
}

fn role(role: control::Role) -> wire::UserRole {
    match role {
        control::Role::Admin => wire::UserRole::Admin,
        control::Role::User => wire::UserRole::User,
    }
}

pub(crate) fn role_of(role: wire::UserRole) -> control::Role {
    match role {
        wire::UserRole::Admin => control::Role::Admin,
        wire::UserRole::User => control::Role::User,
    }
}

pub(crate) fn audit_entry(entry: control::AuditEntry) -> wire::AuditEntry {
    wire::AuditEntry {
        at: entry.at.into(),
        actor: entry.actor,
        project_id: entry.project_id.map(|id| id.to_string()),
        action: entry.action,
        subject: entry.subject,
        allowed: entry.allowed,
        detail: entry.detail,
    }
}

pub(crate) fn token(record: control::TokenRecord) -> wire::Token {
    wire::Token {
        id: record.id,
        name: record.name,
        project_id: record.project_id.map(|id| id.to_string()),
        created_at: record.created_at.into(),
    }
}

pub(crate) fn new_token(record: control::TokenRecord, plaintext: &Secret<String>) -> wire::NewToken {
    wire::NewToken { record: token(record), token: plaintext.expose().clone() }
}
