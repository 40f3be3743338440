//! A formation's record, as the store keeps it. Its template is sealed as a whole: literal
//! credentials may stand anywhere in it.

use crate::ControlError;
use crate::authorise::Question;
use formwork_iam::Srn;
use formwork_model::{
    Failure, InstanceKey, Json, OperationId, OperationKind, ProjectId, Sealed, StackId, WireCode,
};
use formwork_store::{Link, NewObject, ObjectChange, ObjectWrite, StoredObject, UniqueKey};
use serde::{Deserialize, Serialize};

/// The object type of formation records.
pub(crate) const TYPE: &str = "formation";

/// How far a formation is (seed 4, "The formation stack itself has these statuses").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormationStatus {
    /// First deploy in progress.
    Creating,
    /// All resources provisioned.
    Active,
    /// A deploy is in progress.
    Updating,
    /// The last deploy failed.
    Failed,
    /// Teardown in progress.
    Deleting,
    /// All resources removed.
    Deleted,
    /// The teardown failed.
    DeleteFailed,
}

impl FormationStatus {
    /// The status as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Active => "active",
            Self::Updating => "updating",
            Self::Failed => "failed",
            Self::Deleting => "deleting",
            Self::Deleted => "deleted",
            Self::DeleteFailed => "delete_failed",
        }
    }
}

/// The document of a formation's record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FormationDoc {
    pub(crate) name: String,
    pub(crate) status: FormationStatus,
    /// The last applied template; on a create that has not succeeded yet, the one to be applied.
    #[serde(default)]
    pub(crate) template: Option<Sealed>,
    #[serde(default)]
    pub(crate) outputs: Option<Json>,
    #[serde(default)]
    pub(crate) metadata: Option<Json>,
    #[serde(default)]
    pub(crate) resolved_metadata: Option<Json>,
    #[serde(default)]
    pub(crate) resolved_parameters: Option<Json>,
    #[serde(default)]
    pub(crate) error: Option<Failure>,
    /// The revision of the last successful deploy.
    #[serde(default)]
    pub(crate) revision: u64,
    /// What the running operation will make of it.
    #[serde(default)]
    pub(crate) pending: Option<Pending>,
}

/// What a running operation will make of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) operation: OperationId,
    pub(crate) kind: OperationKind,
    #[serde(default)]
    pub(crate) template: Option<Sealed>,
    #[serde(default)]
    pub(crate) resolved_parameters: Option<Json>,
}

/// A record with its identity.
#[derive(Clone, Debug)]
pub(crate) struct FormationRecord {
    pub(crate) id: StackId,
    pub(crate) project: ProjectId,
    pub(crate) version: u64,
    pub(crate) doc: FormationDoc,
    pub(crate) created_at: formwork_model::Timestamp,
    pub(crate) updated_at: formwork_model::Timestamp,
}

impl FormationRecord {
    /// Reads a stored record.
    pub(crate) fn from_object(object: StoredObject) -> Result<Self, ControlError> {
        let unreadable = |_| {
            ControlError::new(
                WireCode::InternalError,
                format!("The record of formation '{}' can't be read.", object.id),
            )
        };
        let doc = serde_json::from_value(object.doc.clone()).map_err(unreadable)?;
        Ok(Self {
            id: object.id.as_str().into(),
            project: object.project.unwrap_or_else(|| "".into()),
            version: object.version,
            doc,
            created_at: object.created_at,
            updated_at: object.updated_at,
        })
    }

    /// Whether an action may be done on it.
    pub(crate) fn question<'a>(&'a self, action: &'a str) -> Question<'a> {
        Question::new(action, &self.project, Srn::new(&self.project, super::SRN_TYPE, self.id.as_str()))
    }

    /// The last applied template.
    pub(crate) fn template(&self, key: &InstanceKey) -> Result<Json, ControlError> {
        match &self.doc.template {
            Some(sealed) => open_template(key, &self.id, sealed),
            None => Ok(Json::Null),
        }
    }
}

impl FormationDoc {
    /// The record of a formation whose first deploy begins. Its template is kept at once, so that a
    /// deploy that fails can be retried without sending it again.
    pub(crate) fn creating(name: &str, metadata: Option<Json>, pending: Pending) -> Self {
        Self {
            name: name.to_owned(),
            status: FormationStatus::Creating,
            template: pending.template.clone(),
            outputs: None,
            metadata,
            resolved_metadata: None,
            resolved_parameters: None,
            error: None,
            revision: 0,
            pending: Some(pending),
        }
    }

    /// The write that makes the record.
    pub(crate) fn insert(&self, id: &StackId, project: &ProjectId) -> ObjectWrite {
        ObjectWrite::Insert(NewObject {
            id: id.to_string(),
            type_name: TYPE.to_owned(),
            project: Some(project.clone()),
            doc: serde_json::to_value(self).unwrap_or_default(),
            keys: self.keys(),
            links: self.links(),
        })
    }

    /// The write that changes the record.
    pub(crate) fn update(&self, id: &StackId, expected_version: Option<u64>) -> ObjectWrite {
        ObjectWrite::Update(self.change(id, expected_version))
    }

    /// The change of the record, as part of another transaction.
    pub(crate) fn change(&self, id: &StackId, expected_version: Option<u64>) -> ObjectChange {
        ObjectChange {
            id: id.to_string(),
            expected_version,
            doc: serde_json::to_value(self).unwrap_or_default(),
            keys: self.keys(),
            links: self.links(),
        }
    }

    /// A name is taken as long as its formation is not deleted.
    fn keys(&self) -> Vec<UniqueKey> {
        let taken = self.status != FormationStatus::Deleted;
        taken.then(|| UniqueKey { key: "name".to_owned(), value: self.name.clone() }).into_iter().collect()
    }

    fn links(&self) -> Vec<Link> {
        (self.status != FormationStatus::Deleted).then(live_link).into_iter().collect()
    }
}

/// By which the formations that are not deleted are listed.
pub(crate) fn live_link() -> Link {
    Link { field: "live".to_owned(), to: "formations".to_owned() }
}

fn template_aad(id: &StackId) -> Vec<u8> {
    format!("formation:{id}:template").into_bytes()
}

/// Seals a template for its formation.
pub(crate) fn seal_template(key: &InstanceKey, id: &StackId, template: &Json) -> Sealed {
    key.seal(&template_aad(id), template.to_string().as_bytes())
}

/// Opens a formation's template.
pub(crate) fn open_template(key: &InstanceKey, id: &StackId, sealed: &Sealed) -> Result<Json, ControlError> {
    let refused = || {
        ControlError::new(
            WireCode::SecretNotDecryptable,
            format!("The template of formation '{id}' can't be opened with this instance key."),
        )
    };
    let opened = key.open(&template_aad(id), sealed).map_err(|_| refused())?;
    serde_json::from_slice(opened.expose()).map_err(|_| refused())
}
