//! REST CRUD: the functions of the plugin, with compare-and-set on the version.

use crate::{
    Completeness, Platform, PlatformCatalog, PlatformError, Refusal, TypeEntry, deletion,
    draft::{self, Given},
    failure::Failed,
    ids::new_id,
    rest::{body, companion::accompanied},
    scene::Revealed,
    view::representation,
};
use formwork_model::{ActorId, ClientToken, Json, NativeId, ProjectId, TypeName, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainJob, StoredObject};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// Who calls. Authorisation has happened by then; this is who the change is by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The user or key.
    pub actor: ActorId,
}

/// The answer to a create.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The object as the routes show it.
    pub shown: Json,
    /// Whether it was there before: some types answer a create with the object it means.
    pub existed: bool,
}

/// Without what is shown, which holds what is told only once.
impl std::fmt::Debug for Made {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Made");
        shown.field("id", &self.shown["id"]).field("existed", &self.existed).finish_non_exhaustive()
    }
}

/// What an update does with properties that its body does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpdateMode {
    /// Clears them, but for those that cannot change.
    Put,
    /// Leaves them.
    Patch,
}

impl Platform {
    /// Makes an object in a project, or in none if its type is global, and answers it, saying
    /// whether it was there already. A repeated `idempotency` token is answered with the first
    /// outcome, but for what is told only once.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_create(
        &self,
        caller: &Caller,
        type_name: &TypeName,
        project: Option<&ProjectId>,
        body: Json,
        idempotency: Option<ClientToken>,
    ) -> Result<Made, PlatformError> {
        let entry = served(type_name)?;
        let home = home(&entry, project)?;
        let properties = body::of_create(&entry, home.as_ref(), body)?;
        let given = Given {
            properties: Secret::new(properties),
            secret_paths: Vec::new(),
            kept_paths: Vec::new(),
            completeness: Completeness::Whole,
            actor: caller.actor.clone(),
        };
        let token = idempotency.map(|token| self.rest_token(token, &entry, home.as_ref()));
        let (key, job_entry) = (self.key.clone(), Arc::clone(&entry));
        // What is told once goes past the job's outcome, which is stored under the token.
        let told = Arc::new(OnceLock::<Revealed>::new());
        let tell = Arc::clone(&told);
        let job: DomainJob = Box::new(move |tx| {
            let existing = match &home {
                Some(project) => job_entry.kind().existing(tx, project, given.properties.expose())?,
                None => None,
            };
            if let Some(object) = existing {
                return Ok(json!(Made { shown: representation(&job_entry, &object)?, existed: true }));
            }
            let id = new_id(job_entry.definition().id_prefix);
            let made = draft::create(tx, &job_entry, &key, &id, home.as_ref(), &given)?;
            tell.get_or_init(|| made.revealed);
            Ok(json!(Made { shown: representation(&job_entry, &made.object)?, existed: false }))
        });
        let answer = self.rest_run(&entry, token, job).await?;
        // Ours, or the stored outcome of a call that this token, and so this function, made.
        let mut made = Made::deserialize(answer)
            .map_err(|error| PlatformError::from(DomainError::Fault(Box::new(error))))?;
        for (name, secret) in told.get().into_iter().flatten() {
            made.shown[*name] = json!(secret.expose());
        }
        Ok(made)
    }

    /// One object, if it is in one of these projects (`None`: in any).
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_get(
        &self,
        type_name: &TypeName,
        projects: Option<&[ProjectId]>,
        id: &str,
    ) -> Result<Json, PlatformError> {
        let entry = served(type_name)?;
        let found = self.store.reader().object(id).await?;
        let object =
            found.filter(|object| is_visible(object, &entry, projects)).ok_or_else(|| entry.not_found(id))?;
        Ok(representation(&entry, &object)?)
    }

    /// Changes an object; with `expected_version`, only if it is at that version.
    ///
    /// # Errors
    /// [`PlatformError`].
    #[expect(clippy::too_many_arguments, reason = "the parts of a request, each of its own type")]
    pub async fn rest_update(
        &self,
        caller: &Caller,
        type_name: &TypeName,
        projects: Option<&[ProjectId]>,
        id: &str,
        body: Json,
        mode: UpdateMode,
        expected_version: Option<u64>,
    ) -> Result<Json, PlatformError> {
        let entry = served(type_name)?;
        let properties = body::of_update(&entry, mode, body)?;
        let given = Given {
            properties: Secret::new(properties),
            secret_paths: Vec::new(),
            kept_paths: Vec::new(),
            completeness: match mode {
                UpdateMode::Put => Completeness::Whole,
                UpdateMode::Patch => Completeness::Partial,
            },
            actor: caller.actor.clone(),
        };
        let (key, id, projects) = (self.key.clone(), id.to_owned(), projects.map(<[_]>::to_vec));
        let (job_entry, companion) = (Arc::clone(&entry), self.companion.clone());
        let job: DomainJob = Box::new(move |tx| {
            let found = tx.get(&id)?.filter(|object| is_visible(object, &job_entry, projects.as_deref()));
            let object = found.ok_or_else(|| DomainError::NotFound { id: id.clone() })?;
            if let Some(companion) = &companion {
                companion.found(&object)?;
            }
            if let Some(expected) = expected_version.filter(|expected| *expected != object.version) {
                return Err(DomainError::VersionConflict { id, expected, found: object.version });
            }
            let object = draft::update(tx, &job_entry, &key, object, &given)?;
            if let Some(companion) = &companion {
                companion.changed(&object)?;
            }
            representation(&job_entry, &object)
        });
        self.rest_run(&entry, None, job).await
    }

    /// Deletes an object. `force` overrides what the type's routes document as overridable.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_delete(
        &self,
        _caller: &Caller,
        type_name: &TypeName,
        projects: Option<&[ProjectId]>,
        id: &str,
        force: bool,
    ) -> Result<(), PlatformError> {
        let entry = served(type_name)?;
        let (key, id, projects) = (self.key.clone(), id.to_owned(), projects.map(<[_]>::to_vec));
        let (job_entry, companion) = (Arc::clone(&entry), self.companion.clone());
        let job: DomainJob = Box::new(move |tx| {
            let found = tx.get(&id)?.filter(|object| is_visible(object, &job_entry, projects.as_deref()));
            let object = found.ok_or(DomainError::NotFound { id })?;
            if let Some(companion) = &companion {
                companion.found(&object)?;
                companion.along(&deletion::along(tx, &object, force)?)?;
            }
            deletion::delete(tx, &key, &object, force)?;
            Ok(Json::Null)
        });
        self.rest_run(&entry, None, job).await.map(drop)
    }

    /// What would go along if these objects of a project were deleted without force, each with the
    /// place of the one it goes with; those that are named themselves are left out.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn along(
        &self,
        project: &ProjectId,
        objects: &[(TypeName, NativeId)],
    ) -> Result<Vec<(usize, StoredObject)>, PlatformError> {
        let (asked, project) = (objects.to_vec(), project.clone());
        // Objects are no JSON, so they go past the job's outcome.
        let told = Arc::new(OnceLock::new());
        let tell = Arc::clone(&told);
        let job: DomainJob = Box::new(move |tx| {
            let mut found = Vec::new();
            for (place, (type_name, id)) in asked.iter().enumerate() {
                let Some(entry) = Self::declarable(type_name) else { continue };
                let Some(object) = tx.get(id.as_str())?.filter(|object| entry.owns(object, &project)) else {
                    continue;
                };
                let along = deletion::along(tx, &object, false)?;
                found.extend(along.into_iter().map(|object| (place, object)));
            }
            let named: BTreeSet<&str> = asked.iter().map(|(_, id)| id.as_str()).collect();
            found.retain(|(_, object)| !named.contains(object.id.as_str()));
            tell.get_or_init(|| found);
            Ok(Json::Null)
        });
        self.store.domain(None, None, job).await.map_err(|failure| Failed::of(failure, None))?;
        Ok(Arc::into_inner(told).and_then(OnceLock::into_inner).unwrap_or_default())
    }

    pub(super) async fn rest_run(
        &self,
        entry: &TypeEntry,
        token: Option<ClientToken>,
        job: DomainJob,
    ) -> Result<Json, PlatformError> {
        let job = accompanied(job, self.companion.clone());
        let answer = self.store.domain(None, token, job).await;
        answer.map_err(|failure| Failed::of(failure, Some(entry)).into())
    }

    /// A caller's token as one that no other route, project or formation step shares.
    fn rest_token(&self, token: ClientToken, entry: &TypeEntry, project: Option<&ProjectId>) -> ClientToken {
        let project = project.map_or("", ProjectId::as_str);
        let parts = [b"platform-rest", &token.0[..], entry.name().as_bytes(), project.as_bytes()];
        ClientToken(self.key.token(&parts))
    }
}

/// The type that a route serves.
pub(super) fn served(type_name: &TypeName) -> Result<Arc<TypeEntry>, Refusal> {
    let missing = || Refusal::new(WireCode::ResourceNotFound, format!("No such type: {type_name}"));
    PlatformCatalog::shared().entry(type_name.as_str()).cloned().ok_or_else(missing)
}

/// Where a new object is to live.
fn home(entry: &TypeEntry, project: Option<&ProjectId>) -> Result<Option<ProjectId>, Refusal> {
    if entry.is_global() {
        return Ok(None);
    }
    let message = "Missing required field(s): project_id";
    let missing =
        || Refusal::new(WireCode::ValidationFailed, message).meta(json!({ "missingFields": ["project_id"] }));
    Ok(Some(project.ok_or_else(missing)?.clone()))
}

/// Whether the object is of this type and in reach of the caller. That only the admin role reaches
/// what is global is decided before.
pub(super) fn is_visible(object: &StoredObject, entry: &TypeEntry, projects: Option<&[ProjectId]>) -> bool {
    let in_reach = |projects: &[ProjectId]| object.project.as_ref().is_some_and(|own| projects.contains(own));
    object.type_name == entry.name() && (entry.is_global() || projects.is_none_or(in_reach))
}
