//! The records of stacks.

use crate::{Control, ControlError};
use formwork_engine::Ending;
use formwork_forma::{Forma, Stack, stack_id};
use formwork_model::{Desired, Json, ProjectId, RowRef, StackId, is_target_stack};
use formwork_store::{
    Link, NewObject, ObjectChange, ObjectWrite, Reader, StoreError, StoredObject, UniqueKey,
};
use serde::{Deserialize, Serialize};

/// The object type of the records.
pub(crate) const STACK: &str = "forma_stack";

/// By which a project's stacks are listed.
pub(super) fn listed() -> Link {
    Link { field: "live".to_owned(), to: "forma_stacks".to_owned() }
}

/// What is kept of a stack beside its rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StackDoc {
    pub(super) label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
    /// Its own policies, and references to those that it shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) policies: Vec<Json>,
}

impl StackDoc {
    /// What a forma makes of a record. What it does not say stays as it was.
    fn declared(label: &str, declared: Option<&Stack>, before: Option<&Self>) -> Self {
        let before = before.cloned().unwrap_or_default();
        let said = |stack: &Stack| stack.description.clone();
        Self {
            label: label.to_owned(),
            description: declared.and_then(said).or(before.description),
            policies: declared.and_then(|stack| stack.policies.clone()).unwrap_or(before.policies),
        }
    }

    pub(super) fn read(object: &StoredObject) -> Result<Self, ControlError> {
        serde_json::from_value(object.doc.clone()).map_err(|_| {
            let message = format!("The record of stack '{}' can't be read.", object.id);
            ControlError::new(formwork_model::WireCode::InternalError, message)
        })
    }
}

/// A stack that a forma names.
pub(super) struct Known {
    pub(super) label: String,
    pub(super) id: StackId,
    pub(super) record: Option<StoredObject>,
}

impl Control {
    /// The records of the stacks that should exist.
    pub(super) async fn known_stacks(&self, desired: &Desired) -> Result<Vec<Known>, ControlError> {
        let mut known = Vec::new();
        for stack in desired.stacks.iter().filter(|stack| !is_target_stack(&stack.id)) {
            known.push(self.known_stack(&desired.project, &stack.key.name).await?);
        }
        Ok(known)
    }

    pub(super) async fn known_stack(&self, project: &ProjectId, label: &str) -> Result<Known, ControlError> {
        let id = stack_id(project, label);
        let record = self.reader.object(id.as_str()).await?;
        Ok(Known { label: label.to_owned(), id, record })
    }

    /// The writes by which the records become what a forma says of its stacks.
    ///
    /// # Errors
    /// A record that can't be read.
    pub(super) fn record_writes(
        project: &ProjectId,
        forma: &Forma,
        known: &[Known],
    ) -> Result<Vec<ObjectWrite>, ControlError> {
        let mut writes = Vec::new();
        for Known { label, id, record } in known {
            let declared = forma.stacks.iter().find(|stack| *stack.label == **label);
            let before = record.as_ref().map(StackDoc::read).transpose()?;
            let after = StackDoc::declared(label, declared, before.as_ref());
            if before.as_ref() == Some(&after) {
                continue;
            }
            let doc = serde_json::to_value(&after).unwrap_or_default();
            let keys = vec![UniqueKey { key: "label".to_owned(), value: label.clone() }];
            writes.push(match record {
                None => ObjectWrite::Insert(NewObject {
                    id: id.to_string(),
                    type_name: STACK.to_owned(),
                    project: Some(project.clone()),
                    doc,
                    keys,
                    links: vec![listed()],
                }),
                Some(record) => ObjectWrite::Update(ObjectChange {
                    id: id.to_string(),
                    expected_version: Some(record.version),
                    doc,
                    keys,
                    links: vec![listed()],
                }),
            });
        }
        Ok(writes)
    }
}

/// The writes for a stack that an operation leaves: one that nothing is left in goes.
pub(crate) async fn emptied(
    reader: &dyn Reader,
    stack: &StackId,
    ending: &Ending<'_>,
) -> Result<Option<ObjectWrite>, StoreError> {
    for row in reader.rows(stack).await? {
        let as_left = (ending.rows)(&RowRef::Existing(row.id.clone()));
        if as_left.unwrap_or(&row).is_live() {
            return Ok(None);
        }
    }
    Ok(Some(ObjectWrite::Delete { id: stack.to_string() }))
}
