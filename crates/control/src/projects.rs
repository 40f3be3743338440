//! Projects: the boundary of names, references and authorisation.

use crate::authorise::Question;
use crate::input::check_name;
use crate::{Control, ControlError, Principal, ids};
use formwork_iam::Srn;
use formwork_model::{Catalog as _, Json, ProjectId, Timestamp, WireCode};
use formwork_platform::{ProjectChange, ProjectSettings};
use formwork_store::{
    AuditRecord, DomainError, DomainTx, ListQuery, NewObject, Page, StoredObject, UniqueKey,
};
use std::collections::BTreeSet;

pub(crate) const TYPE: &str = "project";
/// The name of the project that requests mean which name none.
const DEFAULT: &str = "default";
/// How many projects are read in one go.
const BATCH: usize = 500;

/// A project.
#[derive(Clone, Debug, PartialEq)]
pub struct Project {
    /// Its id (`proj_…`).
    pub id: ProjectId,
    /// Its name, unique.
    pub name: String,
    /// What is set of it.
    pub settings: ProjectSettings,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Project {
    fn of(object: StoredObject) -> Result<Self, ControlError> {
        let settings = ProjectSettings::of(&object)?;
        let name = object.doc["name"].as_str().unwrap_or_default().to_owned();
        let (created_at, updated_at) = (object.created_at, object.updated_at);
        Ok(Self { id: object.id.into(), name, settings, created_at, updated_at })
    }
}

impl Control {
    /// The project `default`, made if there is none.
    pub(crate) async fn default_project(&self) -> Result<Project, ControlError> {
        let key = UniqueKey { key: "name".to_owned(), value: DEFAULT.to_owned() };
        if let Some(found) = self.reader.find_object(None, TYPE, &key).await? {
            return Project::of(found);
        }
        match self.insert_project(named(DEFAULT), None).await {
            // Another process made it at the same time.
            Err(error) if error.code == WireCode::NameConflict => self
                .reader
                .find_object(None, TYPE, &key)
                .await?
                .map_or_else(|| Err(ControlError::not_found("Project", DEFAULT)), Project::of),
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
        made.map_or_else(|| Err(ControlError::not_found("Project", &id)), Project::of)
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
            let items = page.items.into_iter().map(Project::of).collect::<Result<_, _>>()?;
            return Ok(Page { items, total: page.total });
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
            items.extend(self.reader.object(id.as_str()).await?.map(Project::of).transpose()?);
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
        let question = looking("projects:GetProject", id);
        self.audit_read(p, &question, id.as_str()).await?;
        if Self::may(p, &question) { self.project(id).await } else { Err(missing(id)) }
    }

    /// Changes a project's name and settings: those that the body does not name stay.
    ///
    /// # Errors
    /// `FORBIDDEN`, `RESOURCE_NOT_FOUND`, `VALIDATION_FAILED`, `NAME_CONFLICT`, and what the settings
    /// refuse with.
    pub async fn update_project(
        &self,
        p: &Principal,
        id: &ProjectId,
        body: Json,
    ) -> Result<Project, ControlError> {
        let permit = self.permit(p, &Self::updating(id), id.as_str()).await?;
        self.demand_project(id).await?;
        let change = ProjectChange::parse(body)?;
        if let Some(name) = change.name() {
            check_name(name)?;
            if self.default_project.get() == Some(id) && name != DEFAULT {
                return Err(ControlError::validation(
                    "The default project keeps its name: requests that name no project are for it.",
                ));
            }
        }
        let set: Vec<&str> = change.names().collect();
        let record = permit.record(id.as_str(), serde_json::json!({ "set": set }));
        let project = id.clone();
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            change.apply(tx, &project)?;
            tx.audit(record).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        self.project(id).await
    }

    /// Whether a project may be changed.
    pub(crate) fn updating(id: &ProjectId) -> Question<'_> {
        looking("projects:UpdateProject", id)
    }

    /// Purges the content of generations and traces that are older than their project keeps it. Answers
    /// of how many.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn purge_expired_content(&self) -> Result<usize, ControlError> {
        Ok(self.platform.purge_expired_content(self.clock.now()).await?)
    }

    /// Writes down a read, in a project whose audit has them.
    ///
    /// # Errors
    /// Faults of the store: what must be in the audit is not answered without.
    pub(crate) async fn audit_read(
        &self,
        p: &Principal,
        question: &Question<'_>,
        subject: &str,
    ) -> Result<(), ControlError> {
        let Some(project) = question.project else { return Ok(()) };
        if self.project_settings(project).await?.audit_reads_enabled {
            self.store.audit(self.judged(p, question, subject)).await?;
        }
        Ok(())
    }

    /// What is set of a project; of one that is not there, nothing.
    pub(crate) async fn project_settings(&self, id: &ProjectId) -> Result<ProjectSettings, ControlError> {
        let found = self.reader.object(id.as_str()).await?.filter(|object| object.type_name == TYPE);
        Ok(found.map(|object| ProjectSettings::of(&object)).transpose()?.unwrap_or_default())
    }

    /// Writes down a read of a list, in each project that it was of and whose audit has reads.
    ///
    /// # Errors
    /// As [`audit_read`](Self::audit_read).
    pub(crate) async fn audit_list(
        &self,
        p: &Principal,
        projects: Option<&[ProjectId]>,
        action: &str,
        srn_type: &str,
    ) -> Result<(), ControlError> {
        for project in &self.reads_audited(projects).await? {
            let question = Question::new(action, project, Srn::any(project, srn_type));
            self.store.audit(self.judged(p, &question, "")).await?;
        }
        Ok(())
    }

    /// Of these projects, or of all, those whose audit has reads.
    async fn reads_audited(&self, among: Option<&[ProjectId]>) -> Result<Vec<ProjectId>, ControlError> {
        match among {
            Some([]) => return Ok(Vec::new()),
            Some([one]) => {
                let audited = self.project_settings(one).await?.audit_reads_enabled;
                return Ok(if audited { vec![one.clone()] } else { Vec::new() });
            }
            _ => {}
        }
        let among: Option<BTreeSet<&str>> = among.map(|ids| ids.iter().map(ProjectId::as_str).collect());
        let is_asked = |id: &str| among.as_ref().is_none_or(|ids| ids.contains(id));
        let mut audited = Vec::new();
        let mut offset = 0;
        loop {
            let page = self.reader.objects(&all(BATCH, offset)).await?;
            offset += page.items.len();
            let last = page.items.len() < BATCH;
            for object in page.items.into_iter().filter(|object| is_asked(&object.id)) {
                if ProjectSettings::of(&object)?.audit_reads_enabled {
                    audited.push(ProjectId::from(object.id));
                }
            }
            if last {
                return Ok(audited);
            }
        }
    }

    async fn project(&self, id: &ProjectId) -> Result<Project, ControlError> {
        let found = self.reader.object(id.as_str()).await?;
        found.filter(|object| object.type_name == TYPE).map_or_else(|| Err(missing(id)), Project::of)
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
