//! The one table of HTTP statuses (`formations-behaviour.md` §6.9).

use axum::http::StatusCode;
use formwork_model::WireCode;

/// The HTTP status that an error of this code has.
pub fn status_of(code: WireCode) -> StatusCode {
    use WireCode as W;
    match code {
        W::ValidationFailed
        | W::FormationMissingParameters
        | W::FormationInvalidMetadata
        | W::RequestRejected
        | W::SecretUnavailable
        | W::AgentNotFound
        | W::ActorNotFound
        | W::ChatNotFound
        | W::AgentAndChatExclusive
        | W::SystemMessageNotAllowed
        | W::InvalidToolContextKey
        | W::AiProviderNotFound
        | W::ToolNotFound
        | W::SecretNotFound
        | W::GuardrailNotFound
        | W::ModelRouteNotFound
        | W::PolicyNotFound
        | W::TriggerTargetNotFound
        | W::TriggerTypeImmutable
        | W::TriggerActionNotAllowed
        | W::InvalidCronExpression
        | W::OrchestrationValidationFailed
        | W::WorkflowValidationFailed
        | W::IngestionRuleValidationFailed
        | W::InvalidTemplateToken
        | W::PipelineInvalidStep
        | W::TaskPayloadInvalid
        | W::TaskTransitionNotFound
        | W::TaskGuardRejected
        | W::InvalidOutputSchema => StatusCode::BAD_REQUEST,
        W::Unauthorized => StatusCode::UNAUTHORIZED,
        W::Forbidden | W::ApiKeyProjectScope => StatusCode::FORBIDDEN,
        W::ResourceNotFound
        | W::OrchestrationNotFound
        | W::OrchestrationRunNotFound
        | W::TaskNotFound
        | W::WorkflowNotFound => StatusCode::NOT_FOUND,
        W::NameConflict
        | W::OperationInProgress
        | W::VersionConflict
        | W::PlanOutdated
        | W::Drifted
        | W::FormationDeleteFailed
        | W::FormationReplaceCleanupFailed
        | W::Canceled
        | W::StillReferenced
        | W::OutcomeUnknown
        | W::TriggerNotActive
        | W::OrchestrationRunNotCancellable
        | W::SingleSessionConflict
        | W::SessionClosed
        | W::GenerationContentUnavailable
        | W::ActorHasMessages
        | W::FileHasDependents
        | W::GuardrailHasReferences
        | W::SecretHasDependents
        | W::AiProviderHasDependents
        | W::AgentHasDependents
        | W::ToolHasDependents
        | W::ModelRouteHasDependents
        | W::PolicyHasDependents
        | W::WorkflowHasOpenTasks
        | W::TaskTransitionConflict
        | W::QuotaConflict
        | W::IngestionRuleGlobConflict
        | W::ProjectHasDependents
        | W::ProjectDefaultRouteInherited
        | W::BootstrapAlreadyCompleted => StatusCode::CONFLICT,
        W::SessionExpired => StatusCode::GONE,
        W::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        W::SecretNotDecryptable | W::Unknown | W::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        W::FormationHandlerFailed => StatusCode::BAD_GATEWAY,
        W::PluginUnavailable | W::RequestTimeout | W::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_status() {
        let lines: Vec<_> =
            WireCode::ALL.iter().map(|code| format!("{} {code}", status_of(*code).as_u16())).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
