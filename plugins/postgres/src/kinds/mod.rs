//! The types, a file each.

mod acl;
mod common;
mod database;
mod default_privileges;
mod extension;
mod function;
mod grant;
mod publication;
mod role;
mod schema;
mod settings;
mod table;

use crate::failure::Failure;
use crate::id::Id;
use crate::properties::Change;
use crate::session::Session;
use async_trait::async_trait;
use formwork_model::{ImmutableRule, Json, LookupRule, Path, TypeCapabilities};

/// What can be done with the objects of a type. All of one call happens in one transaction.
#[async_trait]
pub(crate) trait Kind: Send + Sync {
    /// The type's name.
    fn name(&self) -> &'static str;

    /// How many parts a native id has.
    fn parts(&self) -> usize;

    /// The properties that never change, as far as they can be read.
    fn fixed(&self) -> &'static [&'static str];

    /// How the engine may treat the type.
    fn capabilities(&self) -> TypeCapabilities;

    /// Makes an object. [`OperationErrorCode::AlreadyExists`](formwork_plugin::OperationErrorCode) if it
    /// is there.
    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure>;

    /// What there is of an object, in PostgreSQL's spelling.
    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure>;

    /// Takes the declared spelling wherever it means what was found.
    async fn respell(
        &self,
        session: &Session,
        id: &Id,
        found: &mut Json,
        declared: &Json,
    ) -> Result<(), Failure> {
        let _ = (session, id, found, declared);
        Ok(())
    }

    /// Brings an object from its current to its desired properties.
    async fn update(
        &self,
        session: &Session,
        id: &Id,
        current: &Json,
        change: &Change<'_>,
    ) -> Result<(), Failure>;

    /// Deletes an object, if it is there.
    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure>;

    /// The objects in a database: the parts of their ids after the database's name, as `parts`, and
    /// what `list_parameters` may select them by besides the database, as `parent`. For a type of
    /// one part, the objects of the server.
    fn list(&self) -> &'static str;

    /// The list parameter that selects by `parent`.
    fn parent_parameter(&self) -> &'static str {
        "schema"
    }
}

/// Why nothing was made, or only half of it.
pub(crate) enum CreateFailure {
    /// Nothing was made.
    Nothing(Failure),
    /// This was left behind.
    Left(Id, Failure),
}

impl From<Failure> for CreateFailure {
    fn from(failure: Failure) -> Self {
        Self::Nothing(failure)
    }
}

/// All types.
pub(crate) static KINDS: [&dyn Kind; 9] = [
    &role::Role,
    &database::Database,
    &schema::Schema,
    &extension::Extension,
    &grant::Grant,
    &default_privileges::DefaultPrivileges,
    &table::Table,
    &function::Function,
    &publication::Publication,
];

/// The type of this name.
pub(crate) fn kind(name: &str) -> Result<&'static dyn Kind, Failure> {
    let found = KINDS.iter().find(|kind| kind.name() == name);
    found.copied().ok_or_else(|| Failure::invalid(format!("there is no type `{name}`")))
}

/// A type whose objects are found by properties that together are unique.
fn found_by(properties: &[&str]) -> TypeCapabilities {
    let lookup = LookupRule::ByUnique(properties.iter().map(|name| Path::of([*name])).collect());
    TypeCapabilities { lookup, ..TypeCapabilities::of_plugin() }
}

/// A type that holds what nobody else has: it is never replaced.
fn precious(capabilities: TypeCapabilities, what: &str) -> TypeCapabilities {
    let message = format!(
        "`{{field}}` of {what} can't change from `{{current}}` to `{{declared}}`: it would have to be made \
         anew, without what is in it."
    );
    TypeCapabilities { on_immutable: ImmutableRule::Refuse { message: message.into() }, ..capabilities }
}
