//! CRUD of the platform's types: the same functions that a deploy runs, through the same rules.

use crate::access::{Access, Target, Verb};
use crate::authorise::{Permit, demand_project, forbidden};
use crate::{Control, ControlError, JsonMap, Principal};
use formwork_model::{Json, ProjectId, TypeName, WireCode};
use formwork_platform::{
    ActionMethod, Caller, Companion, Made, Platform, RestAction, RestList, RestParent, RestRoute, UpdateMode,
    shown_properties,
};
use formwork_store::{AuditRecord, DomainError, DomainTx, Page, StoredObject};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often a change is decided again because somebody else was quicker.
const ATTEMPTS: u32 = 4;

impl Control {
    /// Makes a resource. Its project is the body's `project_id`, or the credential's.
    ///
    /// # Errors
    /// Those of the type, `FORBIDDEN`, `API_KEY_PROJECT_SCOPE`.
    pub async fn create_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        body: Json,
    ) -> Result<Made, ControlError> {
        let access = self.access(type_name)?;
        let (named, body) = if Platform::is_global(type_name) { (None, body) } else { split_project(body)? };
        let project = self.home(p, type_name, named.as_ref(), &access).await?;
        let question = access.writing(p, Verb::Create, project.as_ref(), Target::New(&body))?;
        let permit = self.permit(p, &question, "").await?;
        if let Some(project) = &project {
            self.demand_project(project).await?;
        }
        let platform = self.accompanied(permit, Json::Null, None, project.as_ref());
        Ok(platform.rest_create(&caller(p), type_name, project.as_ref(), body, None).await?)
    }

    /// The project that a new resource is to be in; `None` for a type that is in none.
    pub(crate) async fn home(
        &self,
        p: &Principal,
        type_name: &TypeName,
        named: Option<&ProjectId>,
        access: &Access,
    ) -> Result<Option<ProjectId>, ControlError> {
        if Platform::is_global(type_name) {
            return Ok(None);
        }
        let action = access.action(Verb::Create)?;
        self.project_to_write(p, named, &action).await.map(Some)
    }

    /// The project of the resource whose collection a route serves; with an `id`, only if that is
    /// one of its items. What may be done there is decided by the item.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`.
    pub async fn parent_project(
        &self,
        p: &Principal,
        route: &RestRoute,
        parent: &RestParent,
        parent_id: &str,
        id: Option<&str>,
    ) -> Result<Option<ProjectId>, ControlError> {
        let found = self.resource(p, &parent.type_name.into(), parent_id).await?;
        let Some(id) = id else { return Ok(found.project) };
        let item = self.resource(p, &route.type_name.into(), id).await?;
        if shown_properties(&item)[parent.property].as_str() == Some(parent_id) {
            return Ok(found.project);
        }
        let message = format!("{} '{parent_id}' has no {} '{id}'", parent.type_name, route.type_name);
        Err(ControlError::new(WireCode::ResourceNotFound, message))
    }

    /// Carries out one of a route's actions on a resource.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`, and what the type refuses with.
    pub async fn act_on_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
        action: &RestAction,
        body: Json,
    ) -> Result<Json, ControlError> {
        let access = self.access(type_name)?;
        let object = self.resource(p, type_name, id).await?;
        let question = access.doing(p, action.operation, &object);
        let (caller, within) = (caller(p), within(&object));
        if action.method == ActionMethod::Get {
            let body = Json::Null;
            if !Self::may(p, &question) {
                return Err(self.resource_missing(type_name, id).await);
            }
            return Ok(self
                .platform
                .rest_act(&caller, type_name, within.as_deref(), id, action, body)
                .await?);
        }
        let permit = self.permit(p, &question, id).await?;
        let platform = self.accompanied(permit, Json::Null, Some(id), None);
        Ok(platform.rest_act(&caller, type_name, within.as_deref(), id, action, body).await?)
    }

    /// One resource.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it; `FORBIDDEN` for a type that is
    /// for admins only.
    pub async fn get_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
    ) -> Result<Json, ControlError> {
        let access = self.access(type_name)?;
        if access.admin_only() && !p.is_admin() {
            return Err(forbidden());
        }
        let object = self.resource(p, type_name, id).await?;
        if !Self::may(p, &access.getting(p, &object)) {
            return Err(self.resource_missing(type_name, id).await);
        }
        Ok(self.platform.rest_get(type_name, within(&object).as_deref(), id).await?)
    }

    /// A page of a type's resources, oldest first.
    ///
    /// # Errors
    /// `VALIDATION_FAILED` for a filter that the type does not have; `FORBIDDEN` for a type that is
    /// for admins only.
    pub async fn list_resources(
        &self,
        p: &Principal,
        type_name: &TypeName,
        mut filters: BTreeMap<String, String>,
        limit: usize,
        offset: usize,
    ) -> Result<Page<Json>, ControlError> {
        let access = self.access(type_name)?;
        if access.admin_only() && !p.is_admin() {
            return Err(forbidden());
        }
        let named = filters.remove("project_id").map(ProjectId::from);
        let projects = self.reach(p, named.as_ref(), &access.list(), access.srn_type()).await?;
        let filters = filters.into_iter().collect();
        let query = RestList { type_name: type_name.clone(), projects, filters, limit: Some(limit), offset };
        Ok(self.platform.rest_list(query).await?)
    }

    /// Changes a resource.
    ///
    /// # Errors
    /// Those of the type, `FORBIDDEN`, `RESOURCE_NOT_FOUND`.
    pub async fn update_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
        body: Json,
        mode: UpdateMode,
    ) -> Result<Json, ControlError> {
        // What was decided holds for the object as it was then: if somebody else was quicker, it is
        // decided again.
        for _ in 1..ATTEMPTS {
            match self.change_once(p, type_name, id, body.clone(), mode).await {
                Err(error) if error.code == WireCode::VersionConflict => {}
                done => return done,
            }
        }
        self.change_once(p, type_name, id, body, mode).await
    }

    async fn change_once(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
        body: Json,
        mode: UpdateMode,
    ) -> Result<Json, ControlError> {
        let access = self.access(type_name)?;
        let object = self.resource(p, type_name, id).await?;
        let question = access.writing(p, Verb::Update, object.project.as_ref(), Target::Stored(&object))?;
        let permit = self.permit(p, &question, id).await?;
        let platform = self.accompanied(permit, Json::Null, Some(id), None);
        let (caller, projects, seen) = (caller(p), within(&object), Some(object.version));
        let changed = platform.rest_update(&caller, type_name, projects.as_deref(), id, body, mode, seen);
        Ok(changed.await?)
    }

    /// Deletes a resource; `force` takes along what the type documents.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`, and what the type refuses with.
    pub async fn delete_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
        force: bool,
    ) -> Result<(), ControlError> {
        let access = self.access(type_name)?;
        let object = self.resource(p, type_name, id).await?;
        let question = access.writing(p, Verb::Delete, object.project.as_ref(), Target::Stored(&object))?;
        let permit = self.permit(p, &question, id).await?;
        let platform = self.accompanied(permit, serde_json::json!({ "force": force }), Some(id), None);
        platform.rest_delete(&caller(p), type_name, within(&object).as_deref(), id, force).await?;
        Ok(())
    }

    /// The object of a type within the credential's reach.
    pub(crate) async fn resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
    ) -> Result<StoredObject, ControlError> {
        let found = self.reader.object(id).await?;
        let in_reach = found
            .filter(|object| object.type_name == type_name.as_str())
            .filter(|object| object.project.as_ref().is_none_or(|project| Self::sees(p, project)));
        match in_reach {
            Some(object) => Ok(object),
            None => Err(self.resource_missing(type_name, id).await),
        }
    }

    /// What the platform says of an id that is not there: the same for one that may not be seen.
    pub(crate) async fn resource_missing(&self, type_name: &TypeName, id: &str) -> ControlError {
        match self.platform.rest_get(type_name, Some(&[]), id).await {
            Err(error) => error.into(),
            Ok(_) => ControlError::not_found("Resource", id),
        }
    }

    /// The platform for one call whose transaction writes a decision down; `made_in`: and checks
    /// that the project is still there.
    pub(crate) fn accompanied(
        &self,
        permit: Permit,
        detail: Json,
        id: Option<&str>,
        made_in: Option<&ProjectId>,
    ) -> Platform {
        self.platform.accompanied(Arc::new(Decided {
            record: permit.record(id.unwrap_or_default(), detail),
            made_in: made_in.cloned(),
        }))
    }
}

/// A decision on its way into the transaction of its effect.
struct Decided {
    record: AuditRecord,
    made_in: Option<ProjectId>,
}

impl Companion for Decided {
    fn before(&self, tx: &mut dyn DomainTx) -> Result<(), DomainError> {
        self.made_in.as_ref().map_or(Ok(()), |project| demand_project(tx, project))
    }

    fn after(&self, tx: &mut dyn DomainTx, answer: &Json) -> Result<(), DomainError> {
        let mut record = self.record.clone();
        if let (true, Some(id)) = (record.subject.is_empty(), answer["shown"]["id"].as_str()) {
            id.clone_into(&mut record.subject);
        }
        tx.audit(record)
    }
}

/// Takes `project_id` out of a body.
fn split_project(body: Json) -> Result<(Option<ProjectId>, Json), ControlError> {
    let Json::Object(mut members) = body else {
        return Err(ControlError::validation("The body must be a JSON object"));
    };
    let named = named_project(&mut members)?;
    Ok((named, Json::Object(members)))
}

fn named_project(members: &mut JsonMap) -> Result<Option<ProjectId>, ControlError> {
    match members.shift_remove("project_id") {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(id)) => Ok(Some(id.into())),
        Some(_) => Err(ControlError::validation("`project_id` must be a string")),
    }
}

/// Where a call may find the object that was decided about: where it was then.
pub(crate) fn within(object: &StoredObject) -> Option<Vec<ProjectId>> {
    object.project.clone().map(|project| vec![project])
}

pub(crate) fn caller(p: &Principal) -> Caller {
    Caller { actor: p.actor.clone() }
}
