//! CRUD of the platform's types: the same functions that a deploy runs, through the same rules.

use crate::{Control, ControlError, JsonMap, Principal};
use formwork_model::{Json, ProjectId, TypeName, WireCode};
use formwork_platform::{
    ActionMethod, Caller, Made, Platform, RestAction, RestList, RestParent, RestRoute, UpdateMode,
};
use formwork_store::Page;
use std::collections::BTreeMap;

impl Control {
    /// Makes a resource. Its project is the body's `project_id`, or the credential's.
    ///
    /// # Errors
    /// Those of the type, `API_KEY_PROJECT_SCOPE`.
    pub async fn create_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        body: Json,
    ) -> Result<Made, ControlError> {
        Self::demand_reach(p, type_name)?;
        let (project, body) = if Platform::is_global(type_name) {
            (None, body)
        } else {
            let (project, body) = self.split_project(p, body).await?;
            (Some(project), body)
        };
        let made = self.platform.rest_make(&caller(p), type_name, project.as_ref(), body, None).await?;
        if !made.existed {
            let id = made.shown["id"].as_str().unwrap_or_default().to_owned();
            self.audit(p, project.as_ref(), &format!("{type_name}:Create"), &id, Json::Null).await?;
        }
        Ok(made)
    }

    /// The resource whose collection a route serves; with an `id`, only if that is one of its
    /// items.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`.
    pub async fn get_parent_resource(
        &self,
        p: &Principal,
        route: &RestRoute,
        parent: &RestParent,
        parent_id: &str,
        id: Option<&str>,
    ) -> Result<Json, ControlError> {
        let shown = self.get_resource(p, &parent.type_name.into(), parent_id).await?;
        let Some(id) = id else { return Ok(shown) };
        let item = self.get_resource(p, &route.type_name.into(), id).await?;
        if item[parent.property].as_str() == Some(parent_id) {
            return Ok(shown);
        }
        let message = format!("{} '{parent_id}' has no {} '{id}'", parent.type_name, route.type_name);
        Err(ControlError::new(WireCode::ResourceNotFound, message))
    }

    /// Carries out one of a route's actions on a resource.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, and what the type refuses with.
    pub async fn act_on_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
        action: &RestAction,
    ) -> Result<Json, ControlError> {
        Self::demand_reach(p, type_name)?;
        let projects = Self::visible(p, None)?;
        let answer = self.platform.rest_act(&caller(p), type_name, projects.as_deref(), id, action).await?;
        if action.method != ActionMethod::Get {
            self.audit(p, None, &format!("{type_name}:{}", action.operation), id, Json::Null).await?;
        }
        Ok(answer)
    }

    /// What belongs to no project takes the admin role.
    fn demand_reach(p: &Principal, type_name: &TypeName) -> Result<(), ControlError> {
        if Platform::is_global(type_name) { Self::demand_admin(p) } else { Ok(()) }
    }

    /// Takes `project_id` out of a body.
    async fn split_project(&self, p: &Principal, body: Json) -> Result<(ProjectId, Json), ControlError> {
        let Json::Object(mut members) = body else {
            return Err(ControlError::validation("The body must be a JSON object"));
        };
        let named = named_project(&mut members)?;
        let project = Self::project_of(p, named.as_ref())?;
        self.get_project(p, &project).await?;
        Ok((project, Json::Object(members)))
    }

    /// One resource.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it.
    pub async fn get_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
    ) -> Result<Json, ControlError> {
        Self::demand_reach(p, type_name)?;
        let projects = Self::visible(p, None)?;
        Ok(self.platform.rest_get(type_name, projects.as_deref(), id).await?)
    }

    /// A page of a type's resources, oldest first.
    ///
    /// # Errors
    /// `VALIDATION_FAILED` for a filter that the type does not have.
    pub async fn list_resources(
        &self,
        p: &Principal,
        type_name: &TypeName,
        mut filters: BTreeMap<String, String>,
        limit: usize,
        offset: usize,
    ) -> Result<Page<Json>, ControlError> {
        Self::demand_reach(p, type_name)?;
        let named = filters.remove("project_id").map(ProjectId::from);
        let projects = Self::visible(p, named.as_ref())?;
        let filters = filters.into_iter().collect();
        let query = RestList { type_name: type_name.clone(), projects, filters, limit: Some(limit), offset };
        Ok(self.platform.rest_list(query).await?)
    }

    /// Changes a resource.
    ///
    /// # Errors
    /// Those of the type, `RESOURCE_NOT_FOUND`.
    pub async fn update_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
        body: Json,
        mode: UpdateMode,
    ) -> Result<Json, ControlError> {
        Self::demand_reach(p, type_name)?;
        let projects = Self::visible(p, None)?;
        let changed = self
            .platform
            .rest_update(&caller(p), type_name, projects.as_deref(), id, body, mode, None)
            .await?;
        self.audit(p, None, &format!("{type_name}:Update"), id, Json::Null).await?;
        Ok(changed)
    }

    /// Deletes a resource; `force` takes along what the type documents.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, and what the type refuses with.
    pub async fn delete_resource(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
        force: bool,
    ) -> Result<(), ControlError> {
        Self::demand_reach(p, type_name)?;
        let projects = Self::visible(p, None)?;
        self.platform.rest_delete(&caller(p), type_name, projects.as_deref(), id, force).await?;
        self.audit(p, None, &format!("{type_name}:Delete"), id, serde_json::json!({ "force": force })).await
    }
}

fn named_project(members: &mut JsonMap) -> Result<Option<ProjectId>, ControlError> {
    match members.shift_remove("project_id") {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(id)) => Ok(Some(id.into())),
        Some(_) => Err(ControlError::validation("`project_id` must be a string")),
    }
}

fn caller(p: &Principal) -> Caller {
    Caller { actor: p.actor.clone() }
}
