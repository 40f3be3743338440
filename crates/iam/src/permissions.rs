//! The actions that a policy may name (`formations-behaviour.md` §6.5), as data.

/// Each permission module with its operations.
const CATALOGUE: &[(&str, &str)] = &[
    ("activity", "ListActivity"),
    ("actors", "ListActors CreateActor GetActor UpdateActor DeleteActor"),
    (
        "agents",
        "CreateAgent ListAgents GetAgent UpdateAgent DeleteAgent CreateAgentGeneration ListAgentVersions \
         GetAgentVersion RestoreAgentVersion SetAgentRelease CreateSession ListSessions GetSession \
         UpdateSession DeleteSession SendSessionMessage SubmitSessionToolOutputs",
    ),
    (
        "ai-providers",
        "ListAiProviders CreateAiProvider GetAiProvider UpdateAiProvider DeleteAiProvider \
         ListAiProviderModels GetAiProviderPrices ManageAiProviderPrices",
    ),
    ("api-keys", "ListApiKeys CreateApiKey GetApiKey UpdateApiKey DeleteApiKey"),
    ("approvals", "ListApprovals GetApproval ListApprovalRecurrences ResolveApproval"),
    ("audit", "ListAuditEntries GetAuditEntry ExportAuditEntries"),
    ("chats", "CreateChat ListChats GetChat DeleteChat CreateChatCompletion"),
    (
        "conversations",
        "ListConversations CreateConversation GetConversation UpdateConversation DeleteConversation \
         GenerateConversationMessage",
    ),
    ("documents", "ListDocuments CreateDocument GetDocument UpdateDocument DeleteDocument IngestDocument"),
    ("embeddings", "CreateEmbeddings"),
    (
        "evaluations",
        "ListDatasets CreateDataset GetDataset DeleteDataset ListEvals CreateEval GetEval DeleteEval RunEval",
    ),
    ("exceptions", "ListExceptions GetException AcknowledgeException ResolveException"),
    ("files", "GetFile CreateFile UploadFile DownloadFile UpdateFileMetadata DeleteFile"),
    (
        "formations",
        "ValidateFormation PlanFormation CreateFormation ListFormations GetFormation UpdateFormation \
         DeleteFormation ListFormationEvents",
    ),
    ("generations", "ListGenerations GetGeneration UpdateGeneration PurgeGenerationContent"),
    (
        "guardrails",
        "CreateGuardrail ListGuardrails GetGuardrail UpdateGuardrail DeleteGuardrail ListGuardrailVersions \
         GetGuardrailVersion RestoreGuardrailVersion EvaluateGuardrail DetachGuardrail",
    ),
    (
        "ingestion-rules",
        "ListIngestionRules CreateIngestionRule GetIngestionRule UpdateIngestionRule DeleteIngestionRule",
    ),
    ("knowledge", "SearchKnowledge"),
    (
        "memories",
        "ListMemories CreateMemory GetMemory UpdateMemory DeleteMemory ListMemoryEntries CreateMemoryEntry \
         GetMemoryEntry UpdateMemoryEntry DeleteMemoryEntry",
    ),
    ("model-routes", "ListModelRoutes CreateModelRoute GetModelRoute UpdateModelRoute DeleteModelRoute"),
    (
        "orchestrations",
        "CreateOrchestration ValidateOrchestration ListOrchestrations GetOrchestration UpdateOrchestration \
         DeleteOrchestration ListOrchestrationVersions GetOrchestrationVersion RestoreOrchestrationVersion \
         StartRun ListRuns GetRun CancelRun SubmitHumanInput ResumeRun GetQueueStats",
    ),
    ("policies", "ListPolicies CreatePolicy GetPolicy UpdatePolicy DeletePolicy"),
    (
        "projects",
        "ListProjects CreateProject GetProject UpdateProject DeleteProject GetProjectPrices ManageProjectPrices",
    ),
    ("quotas", "ListQuotas CreateQuota GetQuota UpdateQuota DeleteQuota"),
    ("secrets", "ListSecrets CreateSecret GetSecret UpdateSecret DeleteSecret"),
    ("stacks", "PlanStack ApplyStack DestroyStack ListStacks"),
    ("tasks", "CreateTask ListTasks GetTask UpdateTask TransitionTask DeleteTask"),
    ("tools", "CreateTool ListTools GetTool UpdateTool DeleteTool CallTool"),
    ("traces", "ListTraces GetTrace GetTraceTree PurgeTraceContent"),
    (
        "triggers",
        "ListTriggers CreateTrigger GetTrigger UpdateTrigger DeleteTrigger FireTrigger GetTriggerSecret \
         RotateTriggerSecret ListTriggerFirings GetTriggerFiring",
    ),
    (
        "usage",
        "ListUsageMeters GetReceipt GetUsage ListThresholds ManageThresholds GetPriceBook ManagePriceBook",
    ),
    ("users", "ListUsers CreateUser GetUser DeleteUser AttachUserPolicies"),
    (
        "webhooks",
        "ListWebhooks CreateWebhook GetWebhook UpdateWebhook DeleteWebhook RotateWebhookSecret \
         GetWebhookSecret ListWebhookDeliveries GetWebhookDelivery RedeliverWebhookDelivery",
    ),
    (
        "workflows",
        "CreateWorkflow ListWorkflows GetWorkflow UpdateWorkflow DeleteWorkflow ListWorkflowVersions \
         GetWorkflowVersion RestoreWorkflowVersion",
    ),
];

/// Every action, `module:Operation`, in the order of the catalogue.
pub fn actions() -> impl Iterator<Item = String> {
    let of_module = |(module, operations): &(&str, &str)| -> Vec<String> {
        operations.split(' ').map(|operation| format!("{module}:{operation}")).collect()
    };
    CATALOGUE.iter().flat_map(of_module)
}

/// Whether a policy may name this action: `*`, `module:*` or `module:Operation`.
pub fn is_known_action(action: &str) -> bool {
    if action == "*" {
        return true;
    }
    let Some((module, operation)) = action.split_once(':') else { return false };
    let Some((_, operations)) = CATALOGUE.iter().find(|(name, _)| *name == module) else { return false };
    operation == "*" || operations.split(' ').any(|known| known == operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_known_in_its_own_module_only() {
        for known in
            ["*", "agents:*", "agents:CreateAgent", "agents:CreateSession", "ai-providers:GetAiProvider"]
        {
            assert!(is_known_action(known), "{known}");
        }
        for unknown in
            ["agents", "agents:", "agents:createAgent", "tools:CreateAgent", "bogus:*", "", ":", "a:b:c"]
        {
            assert!(!is_known_action(unknown), "{unknown}");
        }
    }

    #[test]
    fn every_action_is_known_and_listed_once() {
        let all: Vec<_> = actions().collect();
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), distinct.len());
        assert!(all.iter().all(|action| is_known_action(action)));
    }
}
