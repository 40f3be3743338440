//! Formations, as people read them: credentials masked.

use super::Deploy;
use super::masked::Readable;
use super::purge::{credential_outputs, without};
use super::record::{FormationRecord, FormationStatus, TYPE, live_link};
use crate::authorise::Question;
use crate::operations::OperationView;
use crate::{Control, ControlError, Principal, TemplateInput};
use formwork_iam::Srn;
use formwork_model::{
    Diagnostics, Failure, Json, OperationId, ProjectId, Row, RowStatus, StackId, Timestamp,
};
use formwork_platform::page_where;
use formwork_store::{ListQuery, Page, StoredObject};
use std::sync::Arc;

/// A formation, safe to show.
#[derive(Clone, Debug)]
pub struct FormationView {
    /// Its id.
    pub id: StackId,
    /// Its project.
    pub project_id: ProjectId,
    /// Its name.
    pub name: String,
    /// Its template, expressions as written, credentials masked.
    pub template: Arc<Json>,
    /// Its outputs.
    pub outputs: Option<Json>,
    /// How far it is.
    pub status: FormationStatus,
    /// Static annotations.
    pub metadata: Option<Json>,
    /// The template's metadata, resolved.
    pub resolved_metadata: Option<Json>,
    /// The parameters of the last deploy, `no_echo` ones as `***`.
    pub resolved_parameters: Option<Json>,
    /// Why it failed, or what was left over.
    pub error: Option<Failure>,
    /// Its resources, tombstones included; `None` in lists.
    pub resources: Option<Vec<Row>>,
    /// The operation that runs on it now.
    pub operation: Option<OperationId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The rows that tell something. One that never stood for anything tells why a deploy failed, or what
/// it did not come to; once a deploy has worked, it is about nothing any more.
fn worth_showing(mut rows: Vec<Row>, status: FormationStatus) -> Vec<Row> {
    if matches!(status, FormationStatus::Creating | FormationStatus::Updating | FormationStatus::Failed) {
        return rows;
    }
    let never_was = |row: &Row| {
        matches!(row.status, RowStatus::Pending | RowStatus::Failed)
            && row.current.is_none()
            && row.deposed.is_empty()
            && row.intent.is_none()
    };
    rows.retain(|row| !never_was(row));
    rows
}

impl Control {
    /// The record of a formation that is not deleted.
    pub(crate) async fn formation_record(
        &self,
        p: &Principal,
        id: &StackId,
    ) -> Result<FormationRecord, ControlError> {
        let missing = || ControlError::not_found("Formation", id.as_str());
        let object = self.reader.object(id.as_str()).await?.filter(|object| object.type_name == TYPE);
        let record = FormationRecord::from_object(object.ok_or_else(missing)?)?;
        if record.doc.status == FormationStatus::Deleted || !Self::sees(p, &record.project) {
            return Err(missing());
        }
        Ok(record)
    }

    /// One formation with its resources.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn get_formation(&self, p: &Principal, id: &StackId) -> Result<FormationView, ControlError> {
        let record = self.formation_record(p, id).await?;
        let question = record.question("formations:GetFormation");
        self.audit_read(p, &question, id.as_str()).await?;
        Self::demand(p, &question)?;
        let rows = self.reader.rows(id).await?;
        self.view(record, Some(rows))
    }

    /// The formation that the principal has just deployed: who may deploy it is told what came of
    /// it.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`.
    pub async fn deployed(&self, p: &Principal, deploy: &Deploy) -> Result<FormationView, ControlError> {
        let record = self.formation_record(p, &deploy.formation).await?;
        let rows = self.reader.rows(&deploy.formation).await?;
        self.view(record, Some(rows))
    }

    /// A page of the formations that the principal could get one by one, oldest first, without their
    /// resources.
    ///
    /// # Errors
    /// `API_KEY_PROJECT_SCOPE`.
    pub async fn list_formations(
        &self,
        p: &Principal,
        project: Option<&ProjectId>,
        limit: usize,
        offset: usize,
    ) -> Result<Page<FormationView>, ControlError> {
        let projects = self.reach(p, project, "formations:ListFormations", super::SRN_TYPE).await?;
        self.audit_list(p, projects.as_deref(), "formations:ListFormations", super::SRN_TYPE).await?;
        if projects.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Page { items: Vec::new(), total: 0 });
        }
        let query = ListQuery {
            type_name: TYPE.to_owned(),
            projects: projects.unwrap_or_default(),
            linked: Some(live_link()),
            limit,
            offset,
        };
        let may_get = |object: &StoredObject| {
            object.project.as_ref().is_some_and(|project| {
                let srn = Srn::new(project, super::SRN_TYPE, &object.id);
                Self::may(p, &Question::new("formations:GetFormation", project, srn))
            })
        };
        let page = if p.is_unlimited() {
            self.reader.objects(&query).await?
        } else {
            page_where(&*self.reader, query, |object| Ok(may_get(object))).await?
        };
        let items =
            page.items.into_iter().map(|object| self.view(FormationRecord::from_object(object)?, None));
        Ok(Page { items: items.collect::<Result<_, _>>()?, total: page.total })
    }

    /// A page of a formation's operations, oldest first, with their events.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn formation_operations(
        &self,
        p: &Principal,
        id: &StackId,
        limit: usize,
        offset: usize,
    ) -> Result<Page<OperationView>, ControlError> {
        let record = self.formation_record(p, id).await?;
        Self::demand(p, &record.question("formations:ListFormationEvents"))?;
        let page = self.reader.operations(id, limit, offset).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for record in page.items {
            items.push(self.operation_view(record).await?);
        }
        Ok(Page { items, total: page.total })
    }

    fn view(&self, record: FormationRecord, rows: Option<Vec<Row>>) -> Result<FormationView, ControlError> {
        let readable = self.readable_of(&record)?;
        let FormationRecord { id, project, doc, created_at, updated_at, .. } = record;
        let rows = rows.map(|rows| worth_showing(rows, doc.status));
        Ok(FormationView {
            id,
            project_id: project,
            name: doc.name,
            template: Arc::clone(&readable.template),
            outputs: doc.outputs.map(|outputs| without(outputs, &readable.credentials)),
            status: doc.status,
            metadata: doc.metadata,
            resolved_metadata: doc.resolved_metadata,
            resolved_parameters: doc.resolved_parameters,
            error: doc.error,
            resources: rows,
            operation: doc.pending.map(|pending| pending.operation),
            created_at,
            updated_at,
        })
    }

    fn readable_of(&self, record: &FormationRecord) -> Result<Arc<Readable>, ControlError> {
        if let Some(readable) = self.masked_templates.get(&record.id, record.version) {
            return Ok(readable);
        }
        let (template, found) = self.readable(record.template(&self.key)?);
        let outputs = record.doc.outputs.as_ref();
        let credentials = outputs.map(|outputs| credential_outputs(&found, outputs)).unwrap_or_default();
        let readable = Arc::new(Readable { template: Arc::new(template), credentials });
        let bytes = record.doc.template.as_ref().map_or(0, |sealed| sealed.as_str().len());
        self.masked_templates.put(&record.id, record.version, &readable, bytes);
        Ok(readable)
    }

    /// A stored template with its declared credentials masked. One that no longer parses, since
    /// rules may have become stricter, is not shown at all rather than shown unmasked.
    pub(crate) fn masked(&self, template: Json) -> Json {
        self.readable(template).0
    }

    /// A stored template with its declared credentials masked, and what is found in it.
    fn readable(&self, template: Json) -> (Json, Diagnostics) {
        let (template, found) = self.check_template(&TemplateInput::Json(template));
        let masked = template.map_or(Json::Null, |template| template.credentials_masked(&*self.catalog));
        (masked, found)
    }
}
