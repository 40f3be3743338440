//! Teardown: everything the ledger stands for goes; the template is not needed.

use super::deploy::{Beginning, Decisions, Deploy};
use super::plan::Ready;
use super::record::{FormationDoc, FormationRecord, FormationStatus, Pending};
use crate::operations::name_failures;
use crate::{Control, ControlError, Principal, ids};
use formwork_model::{
    Catalog as _, DeletionPolicy, Desired, Diagnostics, Json, Matching, Mode, NativeId, OnFailure,
    OperationId, OperationKind, Ownership, Path, Row, StackDesired, StackId, StackKey, TypeName, WireCode,
};
use formwork_planner::{PlanRequest, Planning, plan};
use formwork_plugin::{CallContext, ResourcePlugin as _};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long the pre-flight may take.
const PREFLIGHT_MILLIS: u64 = 30_000;

impl Control {
    /// Begins a formation's teardown. A blocker that can be foreseen is refused before anything is
    /// deleted (seed 4, "Rollback on a Failed Deploy").
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`, `OPERATION_IN_PROGRESS`, `FORMATION_DELETE_FAILED`.
    pub async fn delete_formation(
        &self,
        p: &Principal,
        id: &StackId,
        decisions: &Decisions,
    ) -> Result<Deploy, ControlError> {
        let existing = self.formation_record(p, id).await?;
        let permit = self.permit(p, &existing.question("formations:DeleteFormation"), id.as_str()).await?;
        self.demand_idle(&existing).await?;
        let rows = self.reader.rows(id).await?;
        let desired = nothing_desired(&existing);
        let planning = plan(&PlanRequest {
            kind: OperationKind::Delete,
            desired: &desired,
            rows: &rows,
            known: &BTreeMap::new(),
            observations: &BTreeMap::new(),
            imports: &BTreeMap::new(),
            catalog: &*self.catalog,
            key: &self.key,
            incomplete: false,
        });
        let Planning { plan, secrets, warnings } =
            planning.map_err(|found| refused(&existing, &rows, &found))?;
        let hash = plan.hash();
        let warnings = warnings.iter().cloned().collect();
        let ready = Ready { plan, hash, secrets, rows, observed: BTreeMap::new(), warnings };
        // What may not be done at all comes before what can't be done just now.
        let permitted =
            self.permit_plan(p, permit, id.as_str(), &existing.project, &ready, decisions).await?;
        self.preflight(p, &existing, &ready.rows).await?;
        let operation = OperationId::from(ids::mint("form_op"));
        let doc = FormationDoc {
            status: FormationStatus::Deleting,
            pending: Some(Pending {
                operation: operation.clone(),
                kind: OperationKind::Delete,
                template: None,
                resolved_parameters: None,
            }),
            ..existing.doc.clone()
        };
        let beginning = Beginning {
            principal: p,
            project: &existing.project,
            stack: id.clone(),
            operation,
            kind: OperationKind::Delete,
            records: vec![doc.update(id, Some(existing.version))],
            permitted,
            decisions,
        };
        self.begin(ready, beginning).await
    }

    async fn preflight(
        &self,
        p: &Principal,
        record: &FormationRecord,
        rows: &[Row],
    ) -> Result<(), ControlError> {
        // All that goes is named, since what goes along blocks nobody.
        let doomed: Vec<(TypeName, NativeId)> = rows
            .iter()
            .filter_map(|row| row.current.as_ref())
            .filter(|object| object.deletion_policy != DeletionPolicy::Retain)
            .map(|object| (object.type_name.clone(), object.native_id.clone()))
            .collect();
        let can_be_blocked = |type_name: &TypeName| {
            self.catalog.get(type_name).is_some_and(|rules| rules.capabilities().delete_blockers)
        };
        if !doomed.iter().any(|(type_name, _)| can_be_blocked(type_name)) {
            return Ok(());
        }
        let deadline = self.clock.now().plus(PREFLIGHT_MILLIS);
        let context = CallContext::observing(record.project.clone(), p.actor.clone(), deadline);
        let blockers = self
            .platform
            .delete_blockers(&context, &doomed)
            .await
            .map_err(|error| ControlError::new(WireCode::PluginUnavailable, error.to_string()))?;
        if blockers.is_empty() {
            return Ok(());
        }
        let failures: Vec<Json> = blockers
            .iter()
            .map(|blocker| {
                let row = rows.iter().find(|row| {
                    row.current.as_ref().is_some_and(|object| object.native_id == blocker.native_id)
                });
                serde_json::json!({
                    "logical_id": row.map(|row| row.label.as_str()),
                    "resource_type": blocker.resource_type,
                    "error": blocker.reason,
                })
            })
            .collect();
        Err(not_deleted(record, &failures))
    }
}

/// A teardown whose plan was refused: each resource that may not be deleted is named as a blocker is.
fn refused(record: &FormationRecord, rows: &[Row], found: &Diagnostics) -> ControlError {
    let failures: Vec<Json> = found
        .errors()
        .map(|error| {
            let row = rows.iter().find(|row| error.path == Path::of(["resources", row.label.as_str()]));
            let type_name = row.and_then(|row| match (&row.current, &row.intent) {
                (Some(object), _) => Some(&object.type_name),
                (None, intent) => intent.as_ref().map(|intent| &intent.type_name),
            });
            serde_json::json!({
                "logical_id": row.map(|row| row.label.as_str()),
                "resource_type": type_name,
                "error": error.message,
            })
        })
        .collect();
    not_deleted(record, &failures).with_diagnostics(found.errors().cloned())
}

/// A teardown that is refused before anything was deleted.
fn not_deleted(record: &FormationRecord, failures: &[Json]) -> ControlError {
    let message = format!(
        "Formation '{}' could not be fully deleted; {}. No resource was deleted — the formation is unchanged and still '{}'. Resolve these and delete it again.",
        record.id,
        name_failures(failures),
        record.doc.status.as_str(),
    );
    ControlError::new(WireCode::FormationDeleteFailed, message)
        .with_meta(serde_json::json!({ "failures": failures }))
}

fn nothing_desired(record: &FormationRecord) -> Desired {
    Desired {
        project: record.project.clone(),
        stacks: vec![StackDesired {
            id: record.id.clone(),
            key: StackKey::new(record.project.clone(), record.doc.name.as_str()),
            mode: Mode::Reconcile,
            ownership: Ownership::DeclaredOnly,
            matching: Matching::Label,
            on_failure: OnFailure::Continue,
            resources: Vec::new(),
            outputs: indexmap::IndexMap::new(),
            metadata: None,
        }],
        source_map: Arc::default(),
    }
}
