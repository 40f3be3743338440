//! CRUD of the platform's types: the same functions that a deploy runs, through the same rules.

use crate::access::{Access, Target, Verb};
use crate::authorise::{Permit, forbidden};
use crate::decided::{About, Decided};
use crate::{Control, ControlError, JsonMap, Principal};
use formwork_model::{Json, NativeId, ProjectId, TypeName, WireCode};
use formwork_platform::{
    ActionMethod, Caller, Listed, Made, MaySee, Platform, PlatformError, RestAction, RestList, RestParent,
    RestRoute, UpdateMode, shown_properties,
};
use formwork_store::{AuditRecord, Page, StoredObject};
use rand::RngExt as _;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// For how long a change is decided again because somebody else was quicker.
const PATIENCE: Duration = Duration::from_secs(8);
/// The longest pause before it is, in milliseconds.
const LONGEST_PAUSE: u64 = 100;

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
        let record = permit.record("", Json::Null);
        let decided = Decided { record, made_in: project.clone(), about: None };
        let platform = self.platform.accompanied(Arc::new(decided));
        let made = platform.rest_create(&caller(p), type_name, project.as_ref(), body, None).await?;
        if made.existed {
            // Making one does not show what is there already to whoever may not read it.
            let id = made.shown["id"].as_str().unwrap_or_default();
            let object = self.resource(p, type_name, id).await?;
            Self::demand(p, &access.getting(p, &object))?;
        }
        Ok(made)
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
        // In the words for one that is nowhere, which this one must not be told from.
        Err(self.resource_missing(&route.type_name.into(), id).await)
    }

    /// Demands that a principal may read the resource whose collection showed it nothing: an empty list
    /// would say that the resource is there.
    ///
    /// # Errors
    /// What is said of a resource that is not there.
    pub async fn demand_parent_seen(
        &self,
        p: &Principal,
        parent: &RestParent,
        parent_id: &str,
    ) -> Result<(), ControlError> {
        let type_name: TypeName = parent.type_name.into();
        let found = self.resource(p, &type_name, parent_id).await?;
        if Self::may(p, &self.access(&type_name)?.getting(p, &found)) {
            return Ok(());
        }
        Err(self.resource_missing(&type_name, parent_id).await)
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
        let mut attempts = Attempts::new();
        loop {
            match self.act_once(p, type_name, id, action, body.clone()).await {
                Err(error) if attempts.again(&error).await => {}
                Err(error) => return Err(Attempts::outcome(error, id)),
                done => return done,
            }
        }
    }

    async fn act_once(
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
        if action.reads && !Self::may(p, &access.getting(p, &object)) {
            return Err(self.resource_missing(type_name, id).await);
        }
        let (caller, within) = (caller(p), within(&object));
        if action.method == ActionMethod::Get {
            self.audit_read(p, &question, id).await?;
            if !Self::may(p, &question) {
                return Err(self.resource_missing(type_name, id).await);
            }
            return Ok(self
                .platform
                .rest_act(&caller, type_name, within.as_deref(), id, action, body)
                .await?);
        }
        let permit = self.permit(p, &question, id).await?;
        let accompanied = self.deciding(permit, Json::Null, p, &object);
        let acted =
            accompanied.platform.rest_act(&caller, type_name, within.as_deref(), id, action, body).await;
        self.audited(acted, accompanied.record).await
    }

    /// A page of the resources that one of a route's actions lists: those that the principal could get
    /// one by one.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see the resource itself.
    pub async fn list_related(
        &self,
        p: &Principal,
        type_name: &TypeName,
        id: &str,
        (action, listed): (&RestAction, &Listed),
        slice: (usize, usize),
    ) -> Result<Page<Json>, ControlError> {
        let access = self.access(type_name)?;
        let object = self.resource(p, type_name, id).await?;
        let question = access.doing(p, action.operation, &object);
        self.audit_read(p, &question, id).await?;
        if !Self::may(p, &question) {
            return Err(self.resource_missing(type_name, id).await);
        }
        let items = self.access(&listed.type_name.into())?;
        let reads_all =
            object.project.as_ref().is_some_and(|project| Self::may(p, &items.getting_any(project)));
        let may_see = |item: &StoredObject| Self::may(p, &items.getting(p, item));
        let may_see: Option<MaySee<'_>> = if reads_all { None } else { Some(&may_see) };
        Ok(self.platform.rest_related(listed, &object, slice, may_see).await?)
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
        let question = access.getting(p, &object);
        self.audit_read(p, &question, id).await?;
        if !Self::may(p, &question) {
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
        if !Platform::is_global(type_name) {
            self.audit_list(p, projects.as_deref(), &access.list(), access.srn_type()).await?;
        }
        // Who may read whatever is there need not be asked for each.
        let reads_all = |projects: &Vec<ProjectId>| {
            projects.iter().all(|project| Self::may(p, &access.getting_any(project)))
        };
        let reads_all = match &projects {
            None => true,
            Some(_) if Platform::is_global(type_name) => false,
            Some(projects) => reads_all(projects),
        };
        let filters = filters.into_iter().collect();
        let query = RestList { type_name: type_name.clone(), projects, filters, limit: Some(limit), offset };
        if reads_all {
            return Ok(self.platform.rest_list(query).await?);
        }
        let may_see = |object: &StoredObject| Self::may(p, &access.getting(p, object));
        Ok(self.platform.rest_list_where(query, Some(&may_see)).await?)
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
        let mut attempts = Attempts::new();
        loop {
            match self.change_once(p, type_name, id, body.clone(), mode).await {
                Err(error) if attempts.again(&error).await => {}
                Err(error) => return Err(Attempts::outcome(error, id)),
                done => return done,
            }
        }
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
        let accompanied = self.deciding(permit, Json::Null, p, &object);
        let (caller, projects, seen) = (caller(p), within(&object), Some(object.version));
        let platform = accompanied.platform;
        let changed = platform.rest_update(&caller, type_name, projects.as_deref(), id, body, mode, seen);
        self.audited(changed.await, accompanied.record).await
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
        let mut attempts = Attempts::new();
        loop {
            match self.delete_once(p, type_name, id, force).await {
                Err(error) if attempts.again(&error).await => {}
                Err(error) => return Err(Attempts::outcome(error, id)),
                done => return done,
            }
        }
    }

    async fn delete_once(
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
        let accompanied = self.deciding(permit, serde_json::json!({ "force": force }), p, &object);
        let (caller, within) = (caller(p), within(&object));
        let deleted =
            accompanied.platform.rest_delete(&caller, type_name, within.as_deref(), id, force).await;
        self.audited(deleted, accompanied.record).await
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

    /// The object of a type that a formation of a project can have: one of the project's, or one that
    /// is in none.
    pub(crate) async fn object_of(
        &self,
        project: &ProjectId,
        type_name: &TypeName,
        native_id: &NativeId,
    ) -> Result<Option<StoredObject>, ControlError> {
        let found = self.reader.object(native_id.as_str()).await?;
        let home = (!Platform::is_global(type_name)).then_some(project);
        Ok(found.filter(|object| object.type_name == type_name.as_str() && object.project.as_ref() == home))
    }

    /// What the platform says of an id that is not there: the same for one that may not be seen.
    pub(crate) async fn resource_missing(&self, type_name: &TypeName, id: &str) -> ControlError {
        match self.platform.rest_get(type_name, Some(&[]), id).await {
            Err(error) => error.into(),
            Ok(_) => ControlError::not_found("Resource", id),
        }
    }

    /// The platform for one call whose transaction writes down that something may be made, and checks
    /// that its project is still there.
    pub(crate) fn making(
        &self,
        permit: Permit,
        subject: &str,
        detail: Json,
        project: &ProjectId,
    ) -> Platform {
        let record = permit.record(subject, detail);
        self.platform.accompanied(Arc::new(Decided { record, made_in: Some(project.clone()), about: None }))
    }

    /// The platform for one call whose transaction writes the decision on an object down, and holds
    /// it against the object as it is then.
    fn deciding(&self, permit: Permit, detail: Json, p: &Principal, object: &StoredObject) -> Deciding {
        let record = permit.record(&object.id, detail);
        let about =
            About { principal: p.clone(), object: object.clone(), catalog: Arc::clone(&self.catalog) };
        let decided = Decided { record: record.clone(), made_in: None, about: Some(about) };
        Deciding { platform: self.platform.accompanied(Arc::new(decided)), record }
    }

    /// What came of a call. A decision that turned in its transaction is in the audit as a refusal.
    async fn audited<T>(
        &self,
        outcome: Result<T, PlatformError>,
        record: AuditRecord,
    ) -> Result<T, ControlError> {
        let error = match outcome {
            Ok(done) => return Ok(done),
            Err(error) => ControlError::from(error),
        };
        if error.code == WireCode::Forbidden {
            self.store.audit(AuditRecord { allowed: false, ..record }).await?;
        }
        Err(error)
    }
}

/// The platform for one call, and what the audit has of it.
struct Deciding {
    platform: Platform,
    record: AuditRecord,
}

/// How often something was decided. What was decided holds for the object as it was then: if somebody
/// else was quicker, it is decided again, after a pause that differs from theirs.
struct Attempts {
    began: Instant,
    count: u32,
}

impl Attempts {
    fn new() -> Self {
        Self { began: Instant::now(), count: 0 }
    }

    /// Whether to try again; if so, the time to do it has come.
    async fn again(&mut self, error: &ControlError) -> bool {
        if error.code != WireCode::VersionConflict || self.began.elapsed() >= PATIENCE {
            return false;
        }
        let longest = LONGEST_PAUSE.min(1 << self.count.min(16));
        self.count += 1;
        let pause = Duration::from_millis(rand::rng().random_range(0..=longest));
        tokio::time::sleep(pause).await;
        true
    }

    /// What the caller is told. No caller named a version, so none is told of one.
    fn outcome(error: ControlError, id: &str) -> ControlError {
        if error.code != WireCode::VersionConflict {
            return error;
        }
        let message =
            format!("Nothing was changed: others kept changing '{id}' at the same time. Try again later.");
        ControlError::new(WireCode::RequestTimeout, message)
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

/// Takes the project that a body names out of its members.
///
/// # Errors
/// `VALIDATION_FAILED` for anything but an id.
pub(crate) fn named_project(members: &mut JsonMap) -> Result<Option<ProjectId>, ControlError> {
    match members.shift_remove("project_id") {
        None => Ok(None),
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
