//! The two vocabularies of failure, and the one of providers.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// All of them, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it is written.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The code with this spelling.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.as_str() == text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

codes! {
    /// Error codes on the wire, spelled as the seeds and `formations-behaviour.md` §6.9 spell them.
    WireCode {
        /// The request or template does not have the required shape.
        ValidationFailed = "VALIDATION_FAILED",
        /// Required parameters have no value.
        FormationMissingParameters = "FORMATION_MISSING_PARAMETERS",
        /// An expression stands in static metadata.
        FormationInvalidMetadata = "FORMATION_INVALID_METADATA",
        /// No valid credential came with the request.
        Unauthorized = "UNAUTHORIZED",
        /// The credential does not permit the request.
        Forbidden = "FORBIDDEN",
        /// A credential that is confined to one project named another.
        ApiKeyProjectScope = "API_KEY_PROJECT_SCOPE",
        /// There is no such thing.
        ResourceNotFound = "RESOURCE_NOT_FOUND",
        /// There is no such orchestration.
        OrchestrationNotFound = "ORCHESTRATION_NOT_FOUND",
        /// There is no such run of an orchestration.
        OrchestrationRunNotFound = "ORCHESTRATION_RUN_NOT_FOUND",
        /// The run of an orchestration is over.
        OrchestrationRunNotCancellable = "ORCHESTRATION_RUN_NOT_CANCELLABLE",
        /// There is no such workflow.
        WorkflowNotFound = "WORKFLOW_NOT_FOUND",
        /// The name is taken.
        NameConflict = "NAME_CONFLICT",
        /// Another operation holds the stack.
        OperationInProgress = "OPERATION_IN_PROGRESS",
        /// The record changed since it was read.
        VersionConflict = "VERSION_CONFLICT",
        /// The ledger moved on since the plan was made.
        PlanOutdated = "PLAN_OUTDATED",
        /// Reality moved on since the plan was made.
        Drifted = "DRIFTED",
        /// The formation could not be fully deleted.
        FormationDeleteFailed = "FORMATION_DELETE_FAILED",
        /// Replaced resources could not be deleted.
        FormationReplaceCleanupFailed = "FORMATION_REPLACE_CLEANUP_FAILED",
        /// A custom type's handler failed.
        FormationHandlerFailed = "FORMATION_HANDLER_FAILED",
        /// The operation was canceled.
        Canceled = "CANCELED",
        /// Something of another formation still refers to what would be deleted.
        StillReferenced = "STILL_REFERENCED",
        /// Whether an effect happened is not known.
        OutcomeUnknown = "OUTCOME_UNKNOWN",
        /// A plaintext that nobody holds is needed.
        SecretUnavailable = "SECRET_UNAVAILABLE",
        /// A plugin is missing, dead or does not answer.
        PluginUnavailable = "PLUGIN_UNAVAILABLE",
        /// The request could not be read: malformed or too large.
        RequestRejected = "REQUEST_REJECTED",
        /// The request took too long.
        RequestTimeout = "REQUEST_TIMEOUT",
        /// The server stops, and began nothing of what was asked for.
        ShuttingDown = "SHUTTING_DOWN",
        /// The agent that is named does not exist in the project.
        AgentNotFound = "AGENT_NOT_FOUND",
        /// The actor that is named does not exist in the project.
        ActorNotFound = "ACTOR_NOT_FOUND",
        /// The chat that is named does not exist in the project.
        ChatNotFound = "CHAT_NOT_FOUND",
        /// The AI provider that is named does not exist in the project.
        AiProviderNotFound = "AI_PROVIDER_NOT_FOUND",
        /// The tool that is named does not exist in the project.
        ToolNotFound = "TOOL_NOT_FOUND",
        /// The secret that is named does not exist in the project.
        SecretNotFound = "SECRET_NOT_FOUND",
        /// The guardrail that is named does not exist in the project.
        GuardrailNotFound = "GUARDRAIL_NOT_FOUND",
        /// The model route that is named does not exist in the project.
        ModelRouteNotFound = "MODEL_ROUTE_NOT_FOUND",
        /// The policy that is named does not exist.
        PolicyNotFound = "POLICY_NOT_FOUND",
        /// What the trigger would start does not exist in the project.
        TriggerTargetNotFound = "TRIGGER_TARGET_NOT_FOUND",
        /// The type of a trigger cannot be changed.
        TriggerTypeImmutable = "TRIGGER_TYPE_IMMUTABLE",
        /// A trigger names an action for a target that has none.
        TriggerActionNotAllowed = "TRIGGER_ACTION_NOT_ALLOWED",
        /// A trigger that is not active was fired.
        TriggerNotActive = "TRIGGER_NOT_ACTIVE",
        /// A cron expression is not valid.
        InvalidCronExpression = "INVALID_CRON_EXPRESSION",
        /// The graph of an orchestration is not valid.
        OrchestrationValidationFailed = "ORCHESTRATION_VALIDATION_FAILED",
        /// The states and transitions of a workflow are not valid.
        WorkflowValidationFailed = "WORKFLOW_VALIDATION_FAILED",
        /// An ingestion rule is not valid.
        IngestionRuleValidationFailed = "INGESTION_RULE_VALIDATION_FAILED",
        /// A `{{…}}` token is not one that tools know.
        InvalidTemplateToken = "INVALID_TEMPLATE_TOKEN",
        /// A pipeline step is not valid.
        PipelineInvalidStep = "PIPELINE_INVALID_STEP",
        /// An output schema is not a JSON Schema object.
        InvalidOutputSchema = "INVALID_OUTPUT_SCHEMA",
        /// An actor is spoken for by an agent or by a chat, not by both.
        AgentAndChatExclusive = "AGENT_AND_CHAT_EXCLUSIVE",
        /// A message has the role `system` where the agent's own instructions apply.
        SystemMessageNotAllowed = "SYSTEM_MESSAGE_NOT_ALLOWED",
        /// A key of a tool context cannot be the name of a header.
        InvalidToolContextKey = "INVALID_TOOL_CONTEXT_KEY",
        /// The agent allows an actor one open session.
        SingleSessionConflict = "SINGLE_SESSION_CONFLICT",
        /// The session takes no more messages.
        SessionClosed = "SESSION_CLOSED",
        /// The session ended for want of messages.
        SessionExpired = "SESSION_EXPIRED",
        /// The content of the generation was purged.
        GenerationContentUnavailable = "GENERATION_CONTENT_UNAVAILABLE",
        /// Messages of the actor exist.
        ActorHasMessages = "ACTOR_HAS_MESSAGES",
        /// A document still stands on the file.
        FileHasDependents = "FILE_HAS_DEPENDENTS",
        /// Tools or agents still use the guardrail.
        GuardrailHasReferences = "GUARDRAIL_HAS_REFERENCES",
        /// AI providers still use the secret.
        SecretHasDependents = "SECRET_HAS_DEPENDENTS",
        /// Agents, chats or routes still use the AI provider.
        AiProviderHasDependents = "AI_PROVIDER_HAS_DEPENDENTS",
        /// Generations or traces of the agent exist.
        AgentHasDependents = "AGENT_HAS_DEPENDENTS",
        /// Ingestion rules still use the tool.
        ToolHasDependents = "TOOL_HAS_DEPENDENTS",
        /// Agents still use the model route.
        ModelRouteHasDependents = "MODEL_ROUTE_HAS_DEPENDENTS",
        /// Triggers still run within the policy.
        PolicyHasDependents = "POLICY_HAS_DEPENDENTS",
        /// Tasks of the workflow are still open.
        WorkflowHasOpenTasks = "WORKFLOW_HAS_OPEN_TASKS",
        /// A task's payload is not what its workflow takes.
        TaskPayloadInvalid = "TASK_PAYLOAD_INVALID",
        /// The workflow has no such transition.
        TaskTransitionNotFound = "TASK_TRANSITION_NOT_FOUND",
        /// The guard of the transition does not hold.
        TaskGuardRejected = "TASK_GUARD_REJECTED",
        /// There is no such task.
        TaskNotFound = "TASK_NOT_FOUND",
        /// The transition does not lead from the task's state, or takes an approval.
        TaskTransitionConflict = "TASK_TRANSITION_CONFLICT",
        /// There is a quota for the same use already.
        QuotaConflict = "QUOTA_CONFLICT",
        /// There is an ingestion rule for the same content types already.
        IngestionRuleGlobConflict = "INGESTION_RULE_GLOB_CONFLICT",
        /// The project still has resources.
        ProjectHasDependents = "PROJECT_HAS_DEPENDENTS",
        /// Agents or chats inherit the project's default model route.
        ProjectDefaultRouteInherited = "PROJECT_DEFAULT_ROUTE_INHERITED",
        /// There are users already, so the first one can't be made.
        BootstrapAlreadyCompleted = "BOOTSTRAP_ALREADY_COMPLETED",
        /// Too many attempts in too short a time.
        RateLimited = "RATE_LIMITED",
        /// A sealed value cannot be opened with this instance key.
        SecretNotDecryptable = "SECRET_NOT_DECRYPTABLE",
        /// A failure that carried no code of its own.
        Unknown = "UNKNOWN",
        /// A fault of ours.
        InternalError = "INTERNAL_ERROR",
    }
}

codes! {
    /// Codes of diagnostics: what is wrong with a template, a plan or a request, each with a page
    /// under `formwork explain`.
    DiagnosticCode {
        /// The text is not JSON or YAML.
        SyntaxError = "syntax-error",
        /// The text is too large, too deep or expands to too much.
        InputTooLarge = "input-too-large",
        /// The bytes are not UTF-8, or hold a NUL.
        InvalidEncoding = "invalid-encoding",
        /// One key twice in one object.
        DuplicateKey = "duplicate-key",
        /// A YAML feature that templates do not have.
        UnsupportedYaml = "unsupported-yaml",
        /// A module, or a part of it, that can't be evaluated.
        EvaluationFailed = "evaluation-failed",
        /// The template is not an object, or lacks `resources`.
        InvalidTemplate = "invalid-template",
        /// A key that this place does not have.
        UnknownKey = "unknown-key",
        /// A property that the type does not have.
        UnknownProperty = "unknown-property",
        /// A property that the type requires.
        MissingProperty = "missing-property",
        /// A value of the wrong JSON type.
        WrongType = "wrong-type",
        /// A value that is not one of those allowed.
        InvalidValue = "invalid-value",
        /// A resource type that does not exist.
        UnknownType = "unknown-type",
        /// A resource type that can't be used now, since what serves it is broken.
        TypeUnavailable = "type-unavailable",
        /// A reference to nothing.
        UnknownReference = "unknown-reference",
        /// A resource that refers to itself.
        SelfReference = "self-reference",
        /// Resources that wait for each other.
        DependencyCycle = "dependency-cycle",
        /// An expression that cannot stand here.
        MisplacedExpression = "misplaced-expression",
        /// An expression that is not well formed.
        InvalidExpression = "invalid-expression",
        /// A parameter without a value.
        MissingParameter = "missing-parameter",
        /// A supplied parameter that the template does not declare.
        UnknownParameter = "unknown-parameter",
        /// A parameter that must be given at deploy time.
        ParameterWithoutDefault = "parameter-without-default",
        /// A name that is both a parameter and a logical id.
        AmbiguousName = "ambiguous-name",
        /// A declared parameter that nothing uses.
        UnusedParameter = "unused-parameter",
        /// Two properties that exclude each other.
        ConflictingProperties = "conflicting-properties",
        /// A property that cannot be changed.
        ImmutableProperty = "immutable-property",
        /// A value that is another one each time.
        UnstableValue = "unstable-value",
        /// A credential where it would be readable.
        ExposedCredential = "exposed-credential",
        /// A plaintext is needed that nobody holds.
        SecretUnavailable = "secret-unavailable",
        /// The ledger moved on since the plan was made.
        PlanOutdated = "plan-outdated",
        /// The resource is protected.
        ProtectedResource = "protected-resource",
        /// The resource changed outside.
        Drifted = "drifted",
        /// Whether an effect happened is not known.
        OutcomeUnknown = "outcome-unknown",
        /// The resource could not be read.
        UnreadableResource = "unreadable-resource",
        /// What an `import` names cannot be adopted.
        ImportRefused = "import-refused",
        /// A handler was not asked whether a declaration is right.
        HandlerNotAsked = "handler-not-asked",
    }
}

codes! {
    /// What a provider says went wrong (seed 3, "OperationErrorCode").
    OperationErrorCode {
        /// The resource does not exist.
        NotFound = "NOT_FOUND",
        /// The resource already exists (create).
        AlreadyExists = "ALREADY_EXISTS",
        /// The parameters are invalid.
        InvalidRequest = "INVALID_REQUEST",
        /// Permission denied.
        AccessDenied = "ACCESS_DENIED",
        /// Rate limited by the provider.
        Throttling = "THROTTLING",
        /// Temporary provider outage.
        ServiceUnavailable = "SERVICE_UNAVAILABLE",
        /// Unexpected error.
        InternalFailure = "INTERNAL_FAILURE",
        /// The resource is not yet ready.
        NotStabilized = "NOT_STABILIZED",
    }
}
