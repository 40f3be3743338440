//! The agent platform's resource types as one in-process plugin over the store's objects.
//!
//! A type is one file in `types/`: schema, static check, references, unique keys, what deleting it
//! means and what REST shows of it. Adding a type is adding a file and one line to the list there.
//!
//! **Architecture invariant:** the platform opens no connection and contains no SQL. Each call is
//! one closure for [`Store::domain`]: one transaction that checks the fence, answers a repeated
//! token with the stored outcome, changes objects and stores the outcome. Nothing here knows of
//! templates, stacks or plans.

mod catalog;
mod plugin;
mod rest;

pub use catalog::PlatformCatalog;
pub use rest::{
    Caller, DeleteStatus, PlatformError, RestList, RestRoute, TypeSchemas, UpdateMode, openapi_schemas,
    rest_routes,
};

use formwork_model::InstanceKey;
use formwork_store::Store;
use std::sync::Arc;

/// The platform's types over a store.
pub struct Platform {
    #[allow(dead_code)]
    store: Arc<dyn Store>,
    #[allow(dead_code)]
    key: InstanceKey,
}

impl Platform {
    /// The platform over this store; secrets are sealed and compared under this key.
    pub fn new(store: Arc<dyn Store>, key: InstanceKey) -> Arc<Self> {
        Arc::new(Self { store, key })
    }

    /// The platform's types. It needs no store.
    pub fn catalog() -> Arc<PlatformCatalog> {
        unimplemented!()
    }
}
