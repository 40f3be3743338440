//! Objects of in-process types and of `control`: generic, versioned, with unique keys and links.

use crate::{AuditRecord, DomainError, ListQuery, Page};
use formwork_model::{Json, ProjectId, Timestamp};

/// A job over the objects, run in one transaction.
pub type DomainJob = Box<dyn FnOnce(&mut dyn DomainTx) -> Result<Json, DomainError> + Send>;

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredObject {
    /// Its public id (`agent_…`), unique over all types.
    pub id: String,
    /// Its type.
    pub type_name: String,
    /// Its project; `None` for what is global.
    pub project: Option<ProjectId>,
    /// Its document. Secrets in it are sealed by whoever writes it.
    pub doc: Json,
    /// Rises with every change, from 1.
    pub version: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// An object to be made.
#[derive(Clone, Debug)]
pub struct NewObject {
    /// Its public id.
    pub id: String,
    /// Its type.
    pub type_name: String,
    /// Its project.
    pub project: Option<ProjectId>,
    /// Its document.
    pub doc: Json,
    /// The keys under which it must be unique.
    pub keys: Vec<UniqueKey>,
    /// What it refers to.
    pub links: Vec<Link>,
}

/// A key that must be unique per project and type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UniqueKey {
    /// The key (`name`).
    pub key: String,
    /// The value.
    pub value: String,
}

/// That an object refers to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Which property (`ai_provider_id`).
    pub field: String,
    /// The id it holds.
    pub to: String,
}

/// A change of an object: document, keys and links as they are from now on.
#[derive(Clone, Debug)]
pub struct ObjectChange {
    /// Which object.
    pub id: String,
    /// The version it must have; `None` is any.
    pub expected_version: Option<u64>,
    /// Its document.
    pub doc: Json,
    /// Its unique keys.
    pub keys: Vec<UniqueKey>,
    /// Its links.
    pub links: Vec<Link>,
}

/// A write of an object as part of another transaction.
#[derive(Clone, Debug)]
pub enum ObjectWrite {
    /// Makes one.
    Insert(NewObject),
    /// Changes one.
    Update(ObjectChange),
    /// Deletes one; one that is not there is no error.
    Delete {
        /// Its id.
        id: String,
    },
}

/// One transaction over the objects.
pub trait DomainTx {
    /// The store's clock.
    fn now(&mut self) -> Result<Timestamp, DomainError>;

    /// The object with this id.
    fn get(&mut self, id: &str) -> Result<Option<StoredObject>, DomainError>;

    /// Makes an object.
    ///
    /// # Errors
    /// [`DomainError::KeyTaken`] names the key and who has it.
    fn insert(&mut self, object: NewObject) -> Result<StoredObject, DomainError>;

    /// Changes an object.
    ///
    /// # Errors
    /// [`DomainError::NotFound`], [`DomainError::VersionConflict`], [`DomainError::KeyTaken`].
    fn update(&mut self, change: ObjectChange) -> Result<StoredObject, DomainError>;

    /// Deletes an object with its keys and its own links. Answers whether it was there.
    fn delete(&mut self, id: &str) -> Result<bool, DomainError>;

    /// The object that has this unique key.
    fn find(
        &mut self,
        project: Option<&ProjectId>,
        type_name: &str,
        key: &UniqueKey,
    ) -> Result<Option<StoredObject>, DomainError>;

    /// The objects that refer to this id: their ids, types and the property, at most `most`, by id.
    fn links_to(&mut self, id: &str, most: usize) -> Result<Vec<(String, String, String)>, DomainError>;

    /// Appends to the audit, if the transaction succeeds.
    fn audit(&mut self, record: AuditRecord) -> Result<(), DomainError>;

    /// A page of a type's objects, oldest first.
    fn list(&mut self, query: &ListQuery) -> Result<Page<StoredObject>, DomainError>;
}
