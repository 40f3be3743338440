//! How a use case fails.

use formwork_model::{Diagnostic, Diagnostics, Json, StepId, WireCode};
use formwork_platform::PlatformError;
use formwork_store::{DomainError, DomainFailure, LeaseHolder, StoreError};

/// A refusal or a fault, in the terms of the wire.
#[derive(Debug)]
pub struct ControlError {
    /// The code.
    pub code: WireCode,
    /// What to tell a person.
    pub message: String,
    /// Facts.
    pub meta: Option<Json>,
    /// What is wrong with the input, place by place.
    pub diagnostics: Vec<Diagnostic>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ControlError {
    /// An error without facts.
    pub fn new(code: WireCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), meta: None, diagnostics: Vec::new(), source: None }
    }

    /// A request that is not of the required shape.
    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(WireCode::ValidationFailed, message)
    }

    /// Something that does not exist, or not for this caller.
    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::new(WireCode::ResourceNotFound, format!("{what} '{id}' not found."))
    }

    /// A template that can't be deployed.
    pub(crate) fn invalid_template(found: &Diagnostics) -> Self {
        let left_out = found.left_out();
        let error = Self::new(WireCode::ValidationFailed, "Invalid template")
            .with_diagnostics(found.errors().cloned());
        if left_out == 0 { error } else { error.with_meta(serde_json::json!({ "left_out": left_out })) }
    }

    #[must_use]
    pub(crate) fn with_meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }

    #[must_use]
    pub(crate) fn with_diagnostics(mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) -> Self {
        self.diagnostics = diagnostics.into_iter().collect();
        self
    }

    /// Another operation holds the stack.
    pub(crate) fn held(holder: &LeaseHolder) -> Self {
        Self::new(
            WireCode::OperationInProgress,
            format!(
                "Operation '{}' is in progress on this formation. Wait for it or cancel it.",
                holder.operation
            ),
        )
        .with_meta(serde_json::json!({
            "operation_id": holder.operation,
            "formation_id": holder.stack,
            "owner": holder.owner,
            "since_ms": holder.since,
            "lease_expires_ms": holder.expires_at,
        }))
    }

    /// The ledger moved on since the plan was made.
    pub(crate) fn moved(step: StepId, plan: &formwork_model::Plan) -> Self {
        let (label, action) =
            plan.step(step).map_or(("?", "?"), |step| (step.label.as_str(), step.action.name()));
        Self::new(
            WireCode::PlanOutdated,
            format!("The formation changed since the plan was made; the first step that differs is {action} `{label}`. Plan again."),
        )
        .with_meta(serde_json::json!({ "step": step.0, "logical_id": label, "action": action }))
    }

    pub(crate) fn may_land(step: StepId, plan: &formwork_model::Plan, millis: u64) -> Self {
        let label = plan.step(step).map_or("?", |step| step.label.as_str());
        Self::validation(format!(
            "It is too early to decide about '{label}': the call that may have created it can still take effect. Look again, and decide, in {} s.",
            millis.div_ceil(1000),
        ))
    }

    pub(crate) fn not_adoptable(
        step: StepId,
        plan: &formwork_model::Plan,
        failure: Option<&formwork_model::Failure>,
    ) -> Self {
        let label = plan.step(step).map_or("?", |step| step.label.as_str());
        let why = failure.map_or("there is no such object", |failure| failure.message.as_str());
        Self::validation(format!("'{label}' can't adopt the object: {why}."))
    }

    fn internal(message: &str, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Box::new(source)), ..Self::new(WireCode::InternalError, message) }
    }
}

impl std::fmt::Display for ControlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ControlError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl From<StoreError> for ControlError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Object(error) => error.into(),
            error => Self::internal("the store failed", error),
        }
    }
}

impl From<DomainError> for ControlError {
    fn from(error: DomainError) -> Self {
        match error {
            DomainError::NotFound { id } => Self::not_found("Record", &id),
            DomainError::VersionConflict { ref id, expected, found } => Self::new(
                WireCode::VersionConflict,
                format!("'{id}' changed since it was read (version {found}, expected {expected})."),
            ),
            // By what is not said: not everybody who may write may see it.
            DomainError::KeyTaken { ref value, .. } => {
                Self::new(WireCode::NameConflict, format!("The name '{value}' already exists."))
            }
            DomainError::Refused { code, message, meta } => Self {
                meta,
                ..Self::new(WireCode::parse(&code).unwrap_or(WireCode::ValidationFailed), message)
            },
            error @ DomainError::Fault(_) => Self::internal("the store failed", error),
        }
    }
}

impl From<DomainFailure> for ControlError {
    fn from(error: DomainFailure) -> Self {
        match error {
            DomainFailure::Job(error) => error.into(),
            DomainFailure::Store(error) => error.into(),
            error @ DomainFailure::Fenced { .. } => {
                Self::internal("a write without a lease was fenced", error)
            }
        }
    }
}

impl From<PlatformError> for ControlError {
    fn from(error: PlatformError) -> Self {
        match error {
            PlatformError::Wire { code, message, meta } => Self { meta, ..Self::new(code, message) },
            PlatformError::Store(error) => error.into(),
        }
    }
}
