//! What routes do with an item beyond reading and writing it.

use crate::{
    Act, Caller, Platform, PlatformError, RestAction,
    rest::handlers::{is_visible, served},
};
use formwork_model::{Json, ProjectId, TypeName};
use formwork_store::{DomainError, DomainJob};
use std::sync::Arc;

impl Platform {
    /// Carries out one of the actions of a type's route on an object.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_act(
        &self,
        caller: &Caller,
        type_name: &TypeName,
        projects: Option<&[ProjectId]>,
        id: &str,
        action: &RestAction,
    ) -> Result<Json, PlatformError> {
        let entry = served(type_name)?;
        let (key, id, projects) = (self.key.clone(), id.to_owned(), projects.map(<[_]>::to_vec));
        let (actor, operation) = (caller.actor.clone(), action.operation);
        let (job_entry, companion) = (Arc::clone(&entry), self.companion.clone());
        let job: DomainJob = Box::new(move |tx| {
            let found = tx.get(&id)?.filter(|object| is_visible(object, &job_entry, projects.as_deref()));
            let object = found.ok_or(DomainError::NotFound { id })?;
            if let Some(companion) = &companion {
                companion.found(&object)?;
            }
            let act = Act { operation, entry: &job_entry, key: &key, object, actor: &actor };
            job_entry.kind().act(tx, act)
        });
        self.rest_run(&entry, None, job).await
    }
}
