//! Revisions: what each successful deploy of a formation applied. The last ones are kept, each
//! written in the unit in which its deploy ends, so that there is none without its deploy and no
//! deploy without its own.

use super::record::{FormationDoc, FormationRecord, open_template};
use crate::{Control, ControlError, Principal, TemplateInput};
use formwork_model::{ActorId, Json, OperationId, ProjectId, Sealed, StackId, Timestamp, WireCode};
use formwork_store::{NewObject, ObjectWrite, Page, StoredObject};
use serde::{Deserialize, Serialize};

/// How many revisions of a formation are kept.
const MOST: u64 = 100;

/// The object type of revisions.
const TYPE: &str = "formation_revision";

/// What a deploy applied, safe to show.
#[derive(Clone, Debug)]
pub struct RevisionView {
    /// The formation.
    pub formation: StackId,
    /// Counts the formation's successful deploys, from 1.
    pub number: u64,
    /// The operation that applied it.
    pub operation: OperationId,
    /// Who began that.
    pub actor: ActorId,
    /// When it ended.
    pub at: Timestamp,
    /// The parameters it was applied with, `no_echo` ones as `***`.
    pub resolved_parameters: Option<Json>,
    /// The template, credentials masked; `None` in lists.
    pub template: Option<Json>,
}

/// The document of a revision.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RevisionDoc {
    number: u64,
    /// Sealed as the formation's own is.
    template: Sealed,
    #[serde(default)]
    resolved_parameters: Option<Json>,
    operation: OperationId,
    actor: ActorId,
    at: Timestamp,
}

/// The deploy that makes a revision.
pub(crate) struct Deployed<'a> {
    pub(crate) operation: &'a OperationId,
    pub(crate) actor: ActorId,
    pub(crate) at: Timestamp,
}

/// Counts a successful deploy and answers the writes that keep what it applied.
pub(crate) fn keep_revision(
    doc: &mut FormationDoc,
    id: &StackId,
    project: Option<&ProjectId>,
    deployed: Deployed<'_>,
) -> Vec<ObjectWrite> {
    let Some(template) = doc.template.clone() else { return Vec::new() };
    doc.revision += 1;
    let kept = RevisionDoc {
        number: doc.revision,
        template,
        resolved_parameters: doc.resolved_parameters.clone(),
        operation: deployed.operation.clone(),
        actor: deployed.actor,
        at: deployed.at,
    };
    let insert = ObjectWrite::Insert(NewObject {
        id: object_id(id, doc.revision),
        type_name: TYPE.to_owned(),
        project: project.cloned(),
        doc: serde_json::to_value(kept).unwrap_or_default(),
        keys: Vec::new(),
        links: Vec::new(),
    });
    let outlived = doc.revision.checked_sub(MOST).filter(|number| *number > 0);
    let forget = outlived.map(|number| ObjectWrite::Delete { id: object_id(id, number) });
    std::iter::once(insert).chain(forget).collect()
}

/// The writes that forget every revision of a formation, which go with it.
pub(crate) fn forget_revisions(doc: &FormationDoc, id: &StackId) -> Vec<ObjectWrite> {
    kept(doc).map(|number| ObjectWrite::Delete { id: object_id(id, number) }).collect()
}

/// The numbers of the revisions that are kept.
fn kept(doc: &FormationDoc) -> std::ops::RangeInclusive<u64> {
    doc.revision.saturating_sub(MOST) + 1..=doc.revision
}

/// No other object's id has a slash.
fn object_id(id: &StackId, number: u64) -> String {
    format!("{id}/revisions/{number}")
}

impl Control {
    /// A page of a formation's revisions, newest first, without their templates.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn formation_revisions(
        &self,
        p: &Principal,
        id: &StackId,
        limit: usize,
        offset: usize,
    ) -> Result<Page<RevisionView>, ControlError> {
        let record = self.formation_record(p, id).await?;
        Self::demand(p, &record.question("formations:GetFormation"))?;
        let numbers = kept(&record.doc);
        let total = numbers.clone().count();
        let mut items = Vec::new();
        for number in numbers.rev().skip(offset).take(limit) {
            // One that a deploy outlived since the record was read is no longer there.
            if let Some(object) = self.reader.object(&object_id(id, number)).await? {
                items.push(view(id, read(&object)?));
            }
        }
        Ok(Page { items, total })
    }

    /// One revision of a formation, with its template.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn formation_revision(
        &self,
        p: &Principal,
        id: &StackId,
        number: u64,
    ) -> Result<RevisionView, ControlError> {
        let record = self.formation_record(p, id).await?;
        Self::demand(p, &record.question("formations:GetFormation"))?;
        let doc = self.revision(&record, number).await?;
        let template = self.masked(open_template(&self.key, id, &doc.template)?);
        Ok(RevisionView { template: Some(template), ..view(id, doc) })
    }

    /// The template to deploy: the request's, that of a revision, or the stored one.
    pub(crate) async fn template_of(
        &self,
        input: Option<TemplateInput>,
        revision: Option<u64>,
        existing: Option<&FormationRecord>,
    ) -> Result<TemplateInput, ControlError> {
        let Some(number) = revision else { return self.template_or_stored(input, existing) };
        if input.is_some() {
            return Err(ControlError::validation("`template` and `revision` exclude each other"));
        }
        let Some(record) = existing else {
            return Err(ControlError::validation("`revision` needs a `formation_id`"));
        };
        let doc = self.revision(record, number).await?;
        Ok(TemplateInput::Json(open_template(&self.key, &record.id, &doc.template)?))
    }

    async fn revision(&self, record: &FormationRecord, number: u64) -> Result<RevisionDoc, ControlError> {
        let object = self.reader.object(&object_id(&record.id, number)).await?;
        let missing = || {
            let message = format!("Formation '{}' has no revision {number}.", record.id);
            ControlError::new(WireCode::ResourceNotFound, message)
        };
        read(&object.ok_or_else(missing)?)
    }
}

fn read(object: &StoredObject) -> Result<RevisionDoc, ControlError> {
    RevisionDoc::deserialize(&object.doc).map_err(|_| {
        ControlError::new(WireCode::InternalError, format!("The revision '{}' can't be read.", object.id))
    })
}

fn view(id: &StackId, doc: RevisionDoc) -> RevisionView {
    RevisionView {
        formation: id.clone(),
        number: doc.number,
        operation: doc.operation,
        actor: doc.actor,
        at: doc.at,
        resolved_parameters: doc.resolved_parameters,
        template: None,
    }
}
