//! Ids that a property holds: found, and resolved within the object's own project only (seed 4,
//! "Ids a Template Names Are Resolved Within Its Own Project").

use crate::{PlatformCatalog, Refusal};
use formwork_model::{Json, ProjectId, WireCode};
use formwork_store::{DomainError, DomainTx, Link, StoredObject};

/// What an id refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefKind {
    Secret,
    AiProvider,
    Tool,
    Memory,
    Document,
    Agent,
    Chat,
    Actor,
    Session,
    Conversation,
    Dataset,
    Trace,
    Generation,
    Guardrail,
    ModelRoute,
    Policy,
    Orchestration,
    ApiKey,
    Eval,
    Trigger,
    Workflow,
    Task,
}

impl RefKind {
    /// The kind for a type that a schema names.
    pub(crate) fn of(type_name: &str) -> Option<Self> {
        [
            Self::Secret,
            Self::AiProvider,
            Self::Tool,
            Self::Memory,
            Self::Document,
            Self::Agent,
            Self::Chat,
            Self::Actor,
            Self::Session,
            Self::Conversation,
            Self::Dataset,
            Self::Trace,
            Self::Generation,
            Self::Guardrail,
            Self::ModelRoute,
            Self::Policy,
            Self::Orchestration,
            Self::ApiKey,
            Self::Eval,
            Self::Trigger,
            Self::Workflow,
            Self::Task,
        ]
        .into_iter()
        .find(|kind| kind.type_name() == type_name)
    }

    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::AiProvider => "ai_provider",
            Self::Tool => "tool",
            Self::Memory => "memory",
            Self::Document => "document",
            Self::Agent => "agent",
            Self::Chat => "chat",
            Self::Actor => "actor",
            Self::Session => "session",
            Self::Conversation => "conversation",
            Self::Dataset => "dataset",
            Self::Trace => "trace",
            Self::Generation => "generation",
            Self::Guardrail => "guardrail",
            Self::ModelRoute => "model_route",
            Self::Policy => "policy",
            Self::Orchestration => "orchestration",
            Self::ApiKey => "api_key",
            Self::Eval => "eval",
            Self::Trigger => "trigger",
            Self::Workflow => "workflow",
            Self::Task => "task",
        }
    }

    /// The refusal of an id that is not in the project. It says the same of an id that does not
    /// exist and of one that is elsewhere.
    fn missing(self, id: &str) -> Refusal {
        let (code, noun) = match self {
            Self::Secret => (WireCode::SecretNotFound, "Secret"),
            Self::AiProvider => (WireCode::AiProviderNotFound, "AI provider"),
            Self::Tool => (WireCode::ToolNotFound, "Tool"),
            Self::Memory => (WireCode::ValidationFailed, "Memory"),
            Self::Document => (WireCode::ValidationFailed, "Document"),
            Self::Agent => (WireCode::AgentNotFound, "Agent"),
            Self::Chat => (WireCode::ChatNotFound, "Chat"),
            Self::Actor => (WireCode::ActorNotFound, "Actor"),
            Self::Session => (WireCode::ValidationFailed, "Session"),
            Self::Conversation => (WireCode::ValidationFailed, "Conversation"),
            Self::Dataset => (WireCode::ValidationFailed, "Dataset"),
            Self::Trace => (WireCode::ValidationFailed, "Trace"),
            Self::Generation => (WireCode::ValidationFailed, "Generation"),
            Self::Guardrail => (WireCode::GuardrailNotFound, "Guardrail"),
            Self::ModelRoute => (WireCode::ModelRouteNotFound, "Model route"),
            Self::Policy => (WireCode::PolicyNotFound, "Policy"),
            Self::Orchestration => (WireCode::ValidationFailed, "Orchestration"),
            Self::ApiKey => (WireCode::ValidationFailed, "API key"),
            Self::Eval => (WireCode::ValidationFailed, "Eval"),
            Self::Trigger => (WireCode::ValidationFailed, "Trigger"),
            Self::Workflow => (WireCode::ValidationFailed, "Workflow"),
            Self::Task => (WireCode::ValidationFailed, "Task"),
        };
        Refusal::new(code, format!("{noun} not found: {id}"))
    }
}

/// An id that stands in an object's properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The property with all names on the way, without indexes (`knowledge_config.memory_ids`).
    pub(crate) field: String,
    pub(crate) kind: RefKind,
    pub(crate) to: String,
}

impl Reference {
    /// The top-level property it stands in.
    pub(crate) fn property(&self) -> &str {
        self.field.split('.').next().unwrap_or_default()
    }

    /// The refusal of this id if it is not in the project.
    pub(crate) fn missing(&self) -> Refusal {
        self.kind.missing(&self.to)
    }

    pub(crate) fn link(&self) -> Link {
        Link { field: self.field.clone(), to: self.to.clone() }
    }
}

/// The ids at `path`, where a list on the way stands for each of its elements.
pub(crate) fn at(properties: &Json, path: &[&str], kind: RefKind, found: &mut Vec<Reference>) {
    let mut here = vec![properties];
    for name in path {
        here = here.into_iter().flat_map(each).filter_map(|value| value.get(name)).collect();
    }
    let field = path.join(".");
    let ids = here.into_iter().flat_map(each).filter_map(Json::as_str);
    found.extend(ids.map(|id| Reference { field: field.clone(), kind, to: id.to_owned() }));
}

fn each(value: &Json) -> std::slice::Iter<'_, Json> {
    match value {
        Json::Array(items) => items.iter(),
        one => std::slice::from_ref(one).iter(),
    }
}

/// The object a reference names, if it is in the project, or global as its type is.
///
/// # Errors
/// A fault of the store.
pub(crate) fn resolve(
    tx: &mut dyn DomainTx,
    project: Option<&ProjectId>,
    reference: &Reference,
) -> Result<Option<StoredObject>, DomainError> {
    let type_name = reference.kind.type_name();
    let is_global = PlatformCatalog::shared().entry(type_name).is_some_and(|entry| entry.is_global());
    let home = project.filter(|_| !is_global);
    let found = tx.get(&reference.to)?;
    Ok(found.filter(|object| object.type_name == type_name && object.project.as_ref() == home))
}
