//! What formae have made, as people read it.

use super::ready::stack_question;
use super::stacks::{StackDoc, listed};
use crate::{Control, ControlError, Principal};
use formwork_model::{Json, NativeId, Path, ProjectId, RowId, RowStatus, Timestamp, TypeName, target_stack};
use formwork_store::ListQuery;

/// A resource, secrets masked.
#[derive(Clone, Debug)]
pub struct InventoryResource {
    /// Its row.
    pub id: RowId,
    /// Its stack.
    pub stack: String,
    /// Its label.
    pub label: String,
    /// Its type.
    pub type_name: TypeName,
    /// Its target.
    pub target: String,
    /// The provider's id.
    pub native_id: Option<NativeId>,
    /// How far it is.
    pub status: RowStatus,
    /// What was last applied.
    pub properties: Json,
}

/// A stack.
#[derive(Clone, Debug)]
pub struct InventoryStack {
    /// Its id.
    pub id: String,
    /// Its label.
    pub label: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its policies.
    pub policies: Vec<Json>,
    /// How many resources it has.
    pub resources: usize,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A target, secrets masked.
#[derive(Clone, Debug)]
pub struct InventoryTarget {
    /// Its label.
    pub label: String,
    /// The namespace of the types that live there.
    pub namespace: String,
    /// Its configuration.
    pub config: Json,
}

/// The most stacks that are listed.
const MOST_STACKS: usize = 10_000;

impl Control {
    /// The stacks of a project that the principal may see, by label.
    ///
    /// # Errors
    /// `API_KEY_PROJECT_SCOPE`.
    pub async fn forma_stacks(
        &self,
        p: &Principal,
        project: Option<&ProjectId>,
    ) -> Result<Vec<InventoryStack>, ControlError> {
        let project = Self::project_of(p, project)?;
        let query = ListQuery {
            type_name: super::STACK.to_owned(),
            projects: vec![project.clone()],
            linked: Some(listed()),
            limit: MOST_STACKS,
            offset: 0,
        };
        let mut stacks = Vec::new();
        for record in self.reader.objects(&query).await?.items {
            let doc = StackDoc::read(&record)?;
            if !Self::may(p, &stack_question("stacks:ListStacks", &project, &doc.label)) {
                continue;
            }
            let rows = self.reader.rows(&record.id.as_str().into()).await?;
            stacks.push(InventoryStack {
                id: record.id,
                label: doc.label,
                description: doc.description,
                policies: doc.policies,
                resources: rows.iter().filter(|row| row.is_live()).count(),
                created_at: record.created_at,
            });
        }
        stacks.sort_by(|left, right| left.label.cmp(&right.label));
        Ok(stacks)
    }

    /// The resources of a project's stacks that the principal may see, by stack and position.
    ///
    /// # Errors
    /// `API_KEY_PROJECT_SCOPE`.
    pub async fn forma_resources(
        &self,
        p: &Principal,
        project: Option<&ProjectId>,
    ) -> Result<Vec<InventoryResource>, ControlError> {
        let stacks = self.forma_stacks(p, project).await?;
        let mut resources = Vec::new();
        for stack in stacks {
            for row in self.reader.rows(&stack.id.as_str().into()).await? {
                if !row.is_live() {
                    continue;
                }
                let object = row.current.as_ref();
                resources.push(InventoryResource {
                    id: row.id.clone(),
                    stack: stack.label.clone(),
                    label: row.label.to_string(),
                    type_name: row.type_name.clone(),
                    target: object.map(|object| object.target.name.to_string()).unwrap_or_default(),
                    native_id: object.map(|object| object.native_id.clone()),
                    status: row.status,
                    properties: object.map(|object| object.sent.masked()).unwrap_or_default(),
                });
            }
        }
        Ok(resources)
    }

    /// The targets of a project, by label. Who may list its stacks may see them.
    ///
    /// # Errors
    /// `FORBIDDEN`, `API_KEY_PROJECT_SCOPE`.
    pub async fn forma_targets(
        &self,
        p: &Principal,
        project: Option<&ProjectId>,
    ) -> Result<Vec<InventoryTarget>, ControlError> {
        let project = Self::project_of(p, project)?;
        Self::demand(p, &stack_question("stacks:ListStacks", &project, "*"))?;
        let mut targets = Vec::new();
        for row in self.reader.rows(&target_stack(&project)).await? {
            let Some(object) = &row.current else { continue };
            let at = |key| object.sent.at(&Path::of([key])).map(|value| value.masked()).unwrap_or_default();
            targets.push(InventoryTarget {
                label: row.label.to_string(),
                namespace: at("namespace").as_str().unwrap_or_default().to_owned(),
                config: at("config"),
            });
        }
        targets.sort_by(|left, right| left.label.cmp(&right.label));
        Ok(targets)
    }
}
