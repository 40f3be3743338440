//! REST CRUD: the functions of the plugin, with compare-and-set on the version.

use crate::{Platform, PlatformError};
use formwork_model::{ActorId, ClientToken, Json, ProjectId, TypeName};
use formwork_store::Page;

/// Who calls. Authorisation has happened by then; this is who the change is by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The user or key.
    pub actor: ActorId,
}

/// What an update does with properties that its body does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpdateMode {
    /// Clears them.
    Put,
    /// Leaves them.
    Patch,
}

/// Which objects to list.
#[derive(Clone, Debug, PartialEq)]
pub struct RestList {
    /// Of which type.
    pub type_name: TypeName,
    /// In which projects; `None` is all of them, an empty list is none.
    pub projects: Option<Vec<ProjectId>>,
    /// The filters of [`RestRoute::list_filters`](crate::RestRoute), as given in the query.
    pub filters: Vec<(String, String)>,
    /// How many to answer: 1 to 100, 50 if not given.
    pub limit: Option<usize>,
    /// How many to pass over.
    pub offset: usize,
}

impl Platform {
    /// Makes an object in a project. A repeated `idempotency` token is answered with the first
    /// outcome.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_create(
        &self,
        _caller: &Caller,
        _type_name: &TypeName,
        _project: &ProjectId,
        _body: Json,
        _idempotency: Option<ClientToken>,
    ) -> Result<Json, PlatformError> {
        unimplemented!()
    }

    /// One object, if it is in one of these projects (`None`: in any).
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_get(
        &self,
        _type_name: &TypeName,
        _projects: Option<&[ProjectId]>,
        _id: &str,
    ) -> Result<Json, PlatformError> {
        unimplemented!()
    }

    /// A page of objects, oldest first.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_list(&self, _query: RestList) -> Result<Page<Json>, PlatformError> {
        unimplemented!()
    }

    /// Changes an object; with `expected_version`, only if it is at that version.
    ///
    /// # Errors
    /// [`PlatformError`].
    #[expect(clippy::too_many_arguments, reason = "the parts of a request, each of its own type")]
    pub async fn rest_update(
        &self,
        _caller: &Caller,
        _type_name: &TypeName,
        _projects: Option<&[ProjectId]>,
        _id: &str,
        _body: Json,
        _mode: UpdateMode,
        _expected_version: Option<u64>,
    ) -> Result<Json, PlatformError> {
        unimplemented!()
    }

    /// Deletes an object. `force` overrides what the type's routes document as overridable.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_delete(
        &self,
        _caller: &Caller,
        _type_name: &TypeName,
        _projects: Option<&[ProjectId]>,
        _id: &str,
        _force: bool,
    ) -> Result<(), PlatformError> {
        unimplemented!()
    }
}
