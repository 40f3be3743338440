//! What an operation's end makes of its formation's record: written in the same unit.

use crate::forma;
use crate::formation::{Deployed, FormationDoc, FormationStatus, Pending, forget_revisions, keep_revision};
use async_trait::async_trait;
use formwork_engine::{Ending, Hooks};
use formwork_engine_core::resolve_outputs;
use formwork_model::{Json, OperationKind, OperationStatus, ProjectId, StackId};
use formwork_store::{ObjectWrite, Reader, StoreError};
use std::sync::Arc;

/// Closes formation records. Also runs on recovery, so it depends on nothing but the store.
pub(crate) struct Finisher {
    pub(crate) reader: Arc<dyn Reader>,
}

#[async_trait]
impl Hooks for Finisher {
    async fn finishing(&self, ending: &Ending<'_>) -> Result<Vec<ObjectWrite>, StoreError> {
        let mut writes = Vec::new();
        for stack in &ending.plan.stacks {
            let Some(object) = self.reader.object(stack.id.as_str()).await? else { continue };
            if object.type_name == forma::STACK {
                writes.extend(forma::emptied(&*self.reader, &stack.id, ending).await?);
                continue;
            }
            let Ok(mut doc) = serde_json::from_value::<FormationDoc>(object.doc) else {
                return Err(StoreError::Unreadable {
                    record: object.id,
                    reason: "the formation's record is not of a known shape".to_owned(),
                });
            };
            // Another operation's business: ours was recorded already.
            let Some(pending) = doc.pending.take().filter(|pending| pending.operation == *ending.operation)
            else {
                continue;
            };
            close(&mut doc, &stack.id, pending, ending);
            writes.extend(self.history(&mut doc, &stack.id, object.project.as_ref(), ending).await?);
            writes.push(doc.update(&stack.id, None));
        }
        Ok(writes)
    }
}

impl Finisher {
    /// What becomes of a formation's revisions: a deploy that succeeded adds one, a teardown that
    /// did forgets them all.
    async fn history(
        &self,
        doc: &mut FormationDoc,
        id: &StackId,
        project: Option<&ProjectId>,
        ending: &Ending<'_>,
    ) -> Result<Vec<ObjectWrite>, StoreError> {
        match doc.status {
            FormationStatus::Deleted => Ok(forget_revisions(doc, id)),
            FormationStatus::Active => {
                let operation = self.reader.operation(ending.operation).await?;
                let actor = operation.map_or_else(|| "".into(), |operation| operation.actor);
                let deployed = Deployed { operation: ending.operation, actor, at: ending.at };
                Ok(keep_revision(doc, id, project, deployed))
            }
            _ => Ok(Vec::new()),
        }
    }
}

fn close(doc: &mut FormationDoc, id: &StackId, pending: Pending, ending: &Ending<'_>) {
    doc.error = ending.failure.cloned();
    match (pending.kind, ending.status) {
        (OperationKind::Delete, OperationStatus::Succeeded) => {
            doc.status = FormationStatus::Deleted;
            doc.name = format!("{}__deleted__{id}", doc.name);
        }
        (OperationKind::Delete, _) => doc.status = FormationStatus::DeleteFailed,
        (_, OperationStatus::Succeeded) => {
            doc.status = FormationStatus::Active;
            doc.resolved_parameters = pending.resolved_parameters;
            doc.template = pending.template.or_else(|| doc.template.take());
            resolve(doc, id, ending);
        }
        _ => doc.status = FormationStatus::Failed,
    }
}

/// Outputs and metadata, recomputed on each successful deploy.
fn resolve(doc: &mut FormationDoc, id: &StackId, ending: &Ending<'_>) {
    let Some(stack) = ending.plan.stacks.iter().find(|stack| stack.id == *id) else { return };
    let (outputs, metadata) = resolve_outputs(stack, ending.rows);
    let outputs = outputs.into_iter().map(|(name, value)| (name.to_string(), value));
    doc.outputs = Some(Json::Object(outputs.collect()));
    doc.resolved_metadata = metadata;
}
