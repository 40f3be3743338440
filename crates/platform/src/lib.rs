//! The agent platform's resource types as one in-process plugin over the store's objects.
//!
//! A type is one file in `types/`: schema, static check, references, unique keys, what deleting it
//! means and what REST shows of it. Adding a type is adding a file and one line to the list there.
//!
//! **Architecture invariant:** the platform opens no connection and contains no SQL. Each call is
//! one closure for [`Store::domain`]: one transaction that checks the fence, answers a repeated
//! token with the stored outcome, changes objects and stores the outcome. Nothing here knows of
//! templates, stacks or plans.

mod bag;
mod catalog;
mod credentials;
mod cron;
mod definition;
mod deletion;
mod document;
mod draft;
mod failure;
mod findings;
mod ids;
mod json_logic;
mod node;
#[cfg(test)]
mod permissions;
mod plugin;
mod policy_document;
mod project;
mod redaction;
mod references;
mod rest;
mod retention;
mod rewrite;
mod scene;
mod signing;
mod tags;
mod types;
mod versions;
mod view;

pub use catalog::PlatformCatalog;
pub use credentials::{policy_document, shown_properties};
pub use project::{ProjectChange, ProjectSettings, TraceContentMode};
pub use rest::{
    ActionBody, ActionField, ActionMethod, Caller, Companion, DeleteStatus, FileBytes, Listed,
    MOST_FILE_BYTES, Made, MaySee, PlatformError, RestAction, RestList, RestParent, RestRoute, TypeSchemas,
    UpdateMode, openapi_schemas, page_where, rest_routes, rest_schema,
};
pub use tags::tags_body;
pub use types::ApiKeyRecord;

pub(crate) use bag::{Completeness, check_bag};
pub(crate) use definition::{
    Act, Definition, DependentRule, Dependents, Extra, PlatformType, Scope, TypeEntry,
};
pub(crate) use findings::{Findings, Refusal};
pub(crate) use node::Node;
pub(crate) use references::{RefKind, Reference};

use formwork_model::{Diagnostics, InstanceKey, Json, TypeName};
use formwork_store::Store;
use std::sync::Arc;

/// The platform's types over a store.
pub struct Platform {
    store: Arc<dyn Store>,
    key: InstanceKey,
    companion: Option<Arc<dyn Companion>>,
}

impl Platform {
    /// The platform over this store; secrets are sealed and compared under this key.
    pub fn new(store: Arc<dyn Store>, key: InstanceKey) -> Arc<Self> {
        Arc::new(Self { store, key, companion: None })
    }

    /// The same platform for one call over REST, whose transaction has this companion.
    #[must_use]
    pub fn accompanied(&self, companion: Arc<dyn Companion>) -> Self {
        Self { store: self.store.clone(), key: self.key.clone(), companion: Some(companion) }
    }

    /// The platform's types. It needs no store.
    pub fn catalog() -> Arc<PlatformCatalog> {
        Arc::clone(PlatformCatalog::shared())
    }

    /// The type as resource names spell it, for a type that has routes.
    pub fn srn_type(name: &TypeName) -> Option<&'static str> {
        PlatformCatalog::shared().entry(name.as_str()).map(|entry| entry.definition().srn_type)
    }

    /// For a type whose objects go by the name of what they are part of: the property that holds
    /// its id.
    pub fn srn_parent(name: &TypeName) -> Option<&'static str> {
        PlatformCatalog::shared().entry(name.as_str()).and_then(|entry| entry.srn_parent())
    }

    /// The properties of a type that say where its model comes from; if an object names none of them, it
    /// takes its project's default route. None for types without a model.
    pub fn model_bindings(name: &TypeName) -> &'static [&'static str] {
        PlatformCatalog::shared().entry(name.as_str()).map_or(&[], |entry| entry.kind().model_bindings())
    }

    /// Whether a type's objects belong to no project, so that only the admin role reaches them.
    pub fn is_global(name: &TypeName) -> bool {
        PlatformCatalog::shared().entry(name.as_str()).is_some_and(|entry| entry.is_global())
    }

    /// What is wrong with properties that a type could have, as far as they say it themselves: what
    /// they refer to is not looked up. What is missing counts too, but for the names in `optional`.
    pub fn check(type_name: &TypeName, properties: &Json, optional: &[&str]) -> Diagnostics {
        let mut found = Diagnostics::default();
        let Some(entry) = PlatformCatalog::shared().entry(type_name.as_str()) else { return found };
        let mut findings = Findings::default();
        let node = Node::Plain(properties);
        check_bag(entry, node, Completeness::Partial, &mut findings);
        for name in bag::missing(entry, node).into_iter().filter(|name| !optional.contains(name)) {
            findings.missing(name);
        }
        entry.kind().check(node, &mut findings);
        found.extend(findings.into_diagnostics());
        found
    }

    pub(crate) fn declarable(name: &TypeName) -> Option<Arc<TypeEntry>> {
        PlatformCatalog::shared().declarable(name.as_str()).cloned()
    }
}
