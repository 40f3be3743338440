//! Projects: the boundary of names, references and authorisation.

use crate::input::check_name;
use crate::{Control, ControlError, Principal, ids};
use formwork_model::{Catalog as _, Json, ProjectId, Timestamp, WireCode};
use formwork_store::{ListQuery, NewObject, Page, StoredObject, UniqueKey};

const TYPE: &str = "project";
/// A project.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// Its id (`proj_…`).
    pub id: ProjectId,
    /// Its name, unique.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl From<StoredObject> for Project {
    fn from(object: StoredObject) -> Self {
        let name = object.doc["name"].as_str().unwrap_or_default().to_owned();
        Self { id: object.id.into(), name, created_at: object.created_at, updated_at: object.updated_at }
    }
}

impl Control {
    /// The project `default`, made if there is none.
    pub(crate) async fn default_project(&self) -> Result<Project, ControlError> {
        let key = UniqueKey { key: "name".to_owned(), value: "default".to_owned() };
        if let Some(found) = self.reader.find_object(None, TYPE, &key).await? {
            return Ok(found.into());
        }
        match self.insert_project("default").await {
            // Another process made it at the same time.
            Err(error) if error.code == WireCode::NameConflict => self
                .reader
                .find_object(None, TYPE, &key)
                .await?
                .map(Project::from)
                .ok_or_else(|| ControlError::not_found("Project", "default")),
            made => made,
        }
    }

    async fn insert_project(&self, name: &str) -> Result<Project, ControlError> {
        let object = NewObject {
            id: ids::mint("proj"),
            type_name: TYPE.to_owned(),
            project: None,
            doc: serde_json::json!({ "name": name }),
            keys: vec![UniqueKey { key: "name".to_owned(), value: name.to_owned() }],
            links: Vec::new(),
        };
        let id = object.id.clone();
        self.store.domain(None, None, Box::new(move |tx| tx.insert(object).map(|_| Json::Null))).await?;
        let made = self.reader.object(&id).await?;
        made.map(Project::from).ok_or_else(|| ControlError::not_found("Project", &id))
    }

    /// Makes a project. Admins only.
    ///
    /// # Errors
    /// `NAME_CONFLICT`, `FORBIDDEN`, `VALIDATION_FAILED`.
    pub async fn create_project(&self, p: &Principal, name: &str) -> Result<Project, ControlError> {
        Self::demand_admin(p)?;
        check_name(name)?;
        let project = self.insert_project(name).await?;
        self.audit(p, Some(&project.id), "projects:CreateProject", project.id.as_str(), Json::Null).await?;
        Ok(project)
    }

    /// The projects that the principal sees, oldest first.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn list_projects(
        &self,
        p: &Principal,
        limit: usize,
        offset: usize,
    ) -> Result<Page<Project>, ControlError> {
        if let Some(scope) = &p.scope {
            let items: Vec<_> =
                self.reader.object(scope.as_str()).await?.map(Project::from).into_iter().collect();
            let total = items.len();
            return Ok(Page { items: items.into_iter().skip(offset).take(limit).collect(), total });
        }
        let query =
            ListQuery { type_name: TYPE.to_owned(), projects: Vec::new(), linked: None, limit, offset };
        let page = self.reader.objects(&query).await?;
        Ok(Page { items: page.items.into_iter().map(Project::from).collect(), total: page.total })
    }

    /// One project.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it.
    pub async fn get_project(&self, p: &Principal, id: &ProjectId) -> Result<Project, ControlError> {
        let found = if Self::sees(p, id) { self.reader.object(id.as_str()).await? } else { None };
        found
            .filter(|object| object.type_name == TYPE)
            .map(Project::from)
            .ok_or_else(|| ControlError::not_found("Project", id.as_str()))
    }

    /// Deletes an empty project. Admins only.
    ///
    /// # Errors
    /// `PROJECT_HAS_DEPENDENTS`, `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn delete_project(&self, p: &Principal, id: &ProjectId) -> Result<(), ControlError> {
        Self::demand_admin(p)?;
        self.get_project(p, id).await?;
        if self.default_project.get() == Some(id) {
            return Err(ControlError::new(
                WireCode::Forbidden,
                "The default project can't be deleted: requests that name no project are for it.",
            ));
        }
        let project = id.clone();
        let types: Vec<String> = self.catalog.names().iter().map(ToString::to_string).collect();
        self.store
            .domain(
                None,
                None,
                Box::new(move |tx| {
                    for type_name in types.iter().map(String::as_str).chain(["formation"]) {
                        let linked = (type_name == "formation").then(crate::formation::live_link);
                        let query = ListQuery {
                            type_name: type_name.to_owned(),
                            projects: vec![project.clone()],
                            linked,
                            limit: 1,
                            offset: 0,
                        };
                        let total = tx.list(&query)?.total;
                        if total > 0 {
                            return Err(formwork_store::DomainError::Refused {
                                code: WireCode::ProjectHasDependents.as_str().to_owned(),
                                message: format!(
                                    "Project '{project}' still has {total} resource(s) of type '{type_name}'."
                                ),
                                meta: Some(serde_json::json!({ "resource_type": type_name, "count": total })),
                            });
                        }
                    }
                    tx.delete(project.as_str()).map(Json::Bool)
                }),
            )
            .await?;
        self.audit(p, Some(id), "projects:DeleteProject", id.as_str(), Json::Null).await
    }
}
