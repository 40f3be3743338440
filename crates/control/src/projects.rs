//! Projects: the boundary of names, references and authorisation.

use crate::authorise::Question;
use crate::input::check_name;
use crate::{Control, ControlError, Principal, ids};
use formwork_iam::Srn;
use formwork_model::{Catalog as _, Json, ProjectId, Timestamp, WireCode};
use formwork_store::{
    AuditRecord, DomainError, DomainTx, ListQuery, NewObject, Page, StoredObject, UniqueKey,
};

pub(crate) const TYPE: &str = "project";
/// How many projects are read in one go.
const BATCH: usize = 500;

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
        match self.insert_project(named("default"), None).await {
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

    async fn insert_project(
        &self,
        object: NewObject,
        record: Option<AuditRecord>,
    ) -> Result<Project, ControlError> {
        let id = object.id.clone();
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            tx.insert(object)?;
            record.map_or(Ok(()), |record| tx.audit(record)).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        let made = self.reader.object(&id).await?;
        made.map(Project::from).ok_or_else(|| ControlError::not_found("Project", &id))
    }

    /// Makes a project. Admins only.
    ///
    /// # Errors
    /// `NAME_CONFLICT`, `FORBIDDEN`, `VALIDATION_FAILED`.
    pub async fn create_project(&self, p: &Principal, name: &str) -> Result<Project, ControlError> {
        let question = Question::global("projects:CreateProject", Srn::any_global(TYPE));
        let permit = self.permit(p, &question, "").await?;
        check_name(name)?;
        let object = named(name);
        let record = permit.record(&object.id, serde_json::json!({ "name": name }));
        // The project's own audit begins with how it came to be.
        let record = AuditRecord { project: Some(object.id.as_str().into()), ..record };
        self.insert_project(object, Some(record)).await
    }

    /// The projects that the principal may list and could get one by one, oldest first.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn list_projects(
        &self,
        p: &Principal,
        limit: usize,
        offset: usize,
    ) -> Result<Page<Project>, ControlError> {
        if p.is_unlimited() && p.scope.is_none() {
            let page = self.reader.objects(&all(limit, offset)).await?;
            return Ok(Page {
                items: page.items.into_iter().map(Project::from).collect(),
                total: page.total,
            });
        }
        let candidates = match &p.scope {
            Some(scope) => vec![scope.clone()],
            None => self.project_ids().await?,
        };
        let sees = |id: &ProjectId| {
            ["projects:ListProjects", "projects:GetProject"]
                .iter()
                .all(|action| Self::may(p, &looking(action, id)))
        };
        let seen: Vec<_> = candidates.into_iter().filter(sees).collect();
        let mut items = Vec::new();
        for id in seen.iter().skip(offset).take(limit) {
            items.extend(self.reader.object(id.as_str()).await?.map(Project::from));
        }
        Ok(Page { items, total: seen.len() })
    }

    /// The ids of all projects, oldest first.
    pub(crate) async fn project_ids(&self) -> Result<Vec<ProjectId>, ControlError> {
        let mut ids = Vec::new();
        loop {
            let page = self.reader.objects(&all(BATCH, ids.len())).await?;
            let last = page.items.len() < BATCH;
            ids.extend(page.items.into_iter().map(|object| ProjectId::from(object.id)));
            if last {
                return Ok(ids);
            }
        }
    }

    /// One project.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it.
    pub async fn get_project(&self, p: &Principal, id: &ProjectId) -> Result<Project, ControlError> {
        if Self::may(p, &looking("projects:GetProject", id)) {
            self.project(id).await
        } else {
            Err(missing(id))
        }
    }

    async fn project(&self, id: &ProjectId) -> Result<Project, ControlError> {
        let found = self.reader.object(id.as_str()).await?;
        found.filter(|object| object.type_name == TYPE).map(Project::from).ok_or_else(|| missing(id))
    }

    /// Demands that a project is there, before anything is done for it. Whether it still is when
    /// something is made in it is asked again then.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`.
    pub(crate) async fn demand_project(&self, id: &ProjectId) -> Result<(), ControlError> {
        self.project(id).await.map(drop)
    }

    /// Deletes an empty project, and the tokens that are confined to it. Admins only.
    ///
    /// # Errors
    /// `PROJECT_HAS_DEPENDENTS`, `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn delete_project(&self, p: &Principal, id: &ProjectId) -> Result<(), ControlError> {
        let permit = self.permit(p, &looking("projects:DeleteProject", id).for_admins(), id.as_str()).await?;
        let name = self.project(id).await?.name;
        if self.default_project.get() == Some(id) {
            return Err(ControlError::new(
                WireCode::Forbidden,
                "The default project can't be deleted: requests that name no project are for it.",
            ));
        }
        let project = id.clone();
        let types: Vec<String> = self.catalog.names().iter().map(ToString::to_string).collect();
        let record = permit.record(id.as_str(), serde_json::json!({ "name": name }));
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            // What is made in a project checks that it is there, in its own transaction; so nothing
            // can come in between.
            for type_name in types.iter().map(String::as_str).chain(["formation"]) {
                demand_none(tx, &project, type_name)?;
            }
            crate::tokens::revoke_all_of(tx, &project)?;
            tx.delete(project.as_str())?;
            tx.audit(record).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        Ok(())
    }
}

/// Refuses to delete a project that has something of a type.
fn demand_none(tx: &mut dyn DomainTx, project: &ProjectId, type_name: &str) -> Result<(), DomainError> {
    let query = ListQuery {
        type_name: type_name.to_owned(),
        projects: vec![project.clone()],
        linked: (type_name == "formation").then(crate::formation::live_link),
        limit: 1,
        offset: 0,
    };
    let total = tx.list(&query)?.total;
    if total == 0 {
        return Ok(());
    }
    Err(DomainError::Refused {
        code: WireCode::ProjectHasDependents.as_str().to_owned(),
        message: format!("Project '{project}' still has {total} resource(s) of type '{type_name}'."),
        meta: Some(serde_json::json!({ "resource_type": type_name, "count": total })),
    })
}

fn looking<'a>(action: &'a str, id: &'a ProjectId) -> Question<'a> {
    Question::new(action, id, Srn::new(id, TYPE, id.as_str()))
}

fn missing(id: &ProjectId) -> ControlError {
    ControlError::not_found("Project", id.as_str())
}

fn all(limit: usize, offset: usize) -> ListQuery {
    ListQuery { type_name: TYPE.to_owned(), projects: Vec::new(), linked: None, limit, offset }
}

/// A project to be made.
fn named(name: &str) -> NewObject {
    NewObject {
        id: ids::mint("proj"),
        type_name: TYPE.to_owned(),
        project: None,
        doc: serde_json::json!({ "name": name }),
        keys: vec![UniqueKey { key: "name".to_owned(), value: name.to_owned() }],
        links: Vec::new(),
    }
}
