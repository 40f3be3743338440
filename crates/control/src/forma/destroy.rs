//! Destroying what a forma declares.

use super::apply::is_idle;
use super::ready::{stack_labels, stack_question};
use crate::formation::{Beginning, Ready};
use crate::{AppliedForma, Control, ControlError, Decisions, Principal, ids};
use formwork_forma::{Forma, stack_id};
use formwork_model::{
    Desired, Json, Matching, Mode, OnFailure, OperationId, OperationKind, Ownership, ProjectId, Row, RowId,
    StackDesired, StackId, StackKey, TARGET_STACK, WireCode, target_stack,
};
use formwork_planner::{KnownStacks, PlanRequest, Planning, plan};
use formwork_store::ListQuery;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is to be destroyed.
#[derive(Clone, Debug)]
pub struct DestroyForma {
    /// In which project.
    pub project_id: Option<ProjectId>,
    /// The forma that declares it.
    pub forma: Arc<Forma>,
    /// Whether what depends on it goes along; otherwise that is refused.
    pub cascade: bool,
    /// Whether to only say what would go.
    pub simulate: bool,
}

/// The most stacks of a project that are searched for dependents.
const MOST_STACKS: usize = 10_000;

impl Control {
    /// Destroys what a forma declares. Its targets stay, since others may live there.
    ///
    /// # Errors
    /// `FORBIDDEN`, `VALIDATION_FAILED`, `STILL_REFERENCED`, `OPERATION_IN_PROGRESS`.
    pub async fn destroy_forma(
        &self,
        p: &Principal,
        request: &DestroyForma,
    ) -> Result<AppliedForma, ControlError> {
        const ACTION: &str = "stacks:DestroyStack";
        let project = self.project_to_write(p, request.project_id.as_ref(), ACTION).await?;
        let labels = stack_labels(&request.forma);
        let all = self.stack_rows(&project).await?;
        let doomed = Self::doomed(&project, request, &all)?;
        let named: BTreeSet<String> = all
            .iter()
            .filter(|(_, rows)| rows.iter().any(|row| doomed.contains(&row.id)))
            .map(|(label, _)| label.clone())
            .chain(labels)
            .collect();
        let mut permit = None;
        for label in &named {
            permit = Some(self.permit(p, &stack_question(ACTION, &project, label), label).await?);
        }
        let Some(permit) = permit else {
            return Err(ControlError::validation("The forma declares nothing that could be destroyed."));
        };
        let ready = self.teardown(&project, &all, &doomed).await?;
        let decisions = Decisions::new();
        let subject = named.iter().cloned().collect::<Vec<_>>().join(",");
        let permitted = self.permit_plan(p, permit, &subject, &project, &ready, &decisions).await?;
        let planned = self.shown(p, &project, &ready, Vec::new()).await?;
        if request.simulate || is_idle(&ready.plan) {
            return Ok(AppliedForma { operation: None, planned });
        }
        let operation = OperationId::from(ids::mint("op"));
        let stack = ready.plan.stacks.first().map_or_else(|| "".into(), |stack| stack.id.clone());
        let beginning = Beginning {
            principal: p,
            project: &project,
            stack,
            operation: operation.clone(),
            kind: OperationKind::Delete,
            records: Vec::new(),
            permitted,
            decisions: &decisions,
        };
        self.begin(ready, beginning).await?;
        Ok(AppliedForma { operation: Some(operation), planned })
    }

    /// The rows of all of a project's stacks, by label.
    pub(super) async fn stack_rows(
        &self,
        project: &ProjectId,
    ) -> Result<Vec<(String, Vec<Row>)>, ControlError> {
        let query = ListQuery {
            type_name: super::STACK.to_owned(),
            projects: vec![project.clone()],
            linked: Some(super::stacks::listed()),
            limit: MOST_STACKS,
            offset: 0,
        };
        let mut all = Vec::new();
        for record in self.reader.objects(&query).await?.items {
            let doc = super::stacks::StackDoc::read(&record)?;
            all.push((doc.label, self.reader.rows(&record.id.as_str().into()).await?));
        }
        Ok(all)
    }

    /// The rows that go: those that the forma declares and, if they may go along, those that depend on them.
    fn doomed(
        project: &ProjectId,
        request: &DestroyForma,
        all: &[(String, Vec<Row>)],
    ) -> Result<BTreeSet<RowId>, ControlError> {
        let declared: BTreeSet<(StackId, &str, &str)> = request
            .forma
            .resources
            .iter()
            .map(|it| (stack_id(project, &it.stack), it.type_name.as_str(), it.label.as_str()))
            .collect();
        let rows = || all.iter().flat_map(|(label, rows)| rows.iter().map(move |row| (label, row)));
        let is_declared = |row: &Row| {
            row.is_live()
                && declared.contains(&(row.stack.clone(), row.type_name.as_str(), row.label.as_str()))
        };
        let mut doomed: BTreeSet<RowId> =
            rows().filter(|(_, row)| is_declared(row)).map(|(_, row)| row.id.clone()).collect();
        let mut referrers: BTreeMap<&RowId, Vec<(&String, &Row)>> = BTreeMap::new();
        for (label, row) in rows().filter(|(_, row)| row.is_live()) {
            for reference in &row.references {
                referrers.entry(reference).or_default().push((label, row));
            }
        }
        let mut dependents: Vec<Json> = Vec::new();
        let mut waiting: Vec<RowId> = doomed.iter().cloned().collect();
        while let Some(row) = waiting.pop() {
            for (label, dependent) in referrers.get(&row).into_iter().flatten() {
                if doomed.insert(dependent.id.clone()) {
                    dependents.push(serde_json::json!({
                        "stack": label,
                        "type": dependent.type_name,
                        "label": dependent.label,
                    }));
                    waiting.push(dependent.id.clone());
                }
            }
        }
        if dependents.is_empty() || request.cascade || request.simulate {
            return Ok(doomed);
        }
        dependents.sort_by_key(ToString::to_string);
        let message = format!(
            "{} resource(s) that the forma does not declare depend on what it does; nothing was destroyed. Destroy them too with --on-dependents cascade.",
            dependents.len()
        );
        Err(ControlError::new(WireCode::StillReferenced, message)
            .with_meta(serde_json::json!({ "dependents": dependents })))
    }

    /// The plan by which rows go.
    async fn teardown(
        &self,
        project: &ProjectId,
        all: &[(String, Vec<Row>)],
        doomed: &BTreeSet<RowId>,
    ) -> Result<Ready, ControlError> {
        let mut stacks = Vec::new();
        let mut rows = Vec::new();
        for (label, of_stack) in all {
            let going: Vec<Row> = of_stack.iter().filter(|row| doomed.contains(&row.id)).cloned().collect();
            if !going.is_empty() {
                stacks.push(nothing(project, label));
                rows.extend(going);
            }
        }
        let targets = target_stack(project);
        let key = StackKey::new(project.clone(), TARGET_STACK);
        rows.extend(self.reader.rows(&targets).await?);
        let desired = Desired { project: project.clone(), stacks, source_map: Arc::default() };
        let planning = plan(&PlanRequest {
            kind: OperationKind::Delete,
            desired: &desired,
            rows: &rows,
            known: &KnownStacks::from([(key, targets)]),
            observations: &BTreeMap::new(),
            imports: &BTreeMap::new(),
            catalog: &*self.catalog,
            key: &self.key,
            incomplete: false,
        });
        let Planning { plan, secrets, warnings } =
            planning.map_err(|found| ControlError::invalid_template(&found))?;
        let hash = plan.hash();
        let warnings = warnings.iter().cloned().collect();
        Ok(Ready { plan, hash, secrets, rows, observed: BTreeMap::new(), warnings })
    }
}

fn nothing(project: &ProjectId, label: &str) -> StackDesired {
    StackDesired {
        id: stack_id(project, label),
        key: StackKey::new(project.clone(), label),
        mode: Mode::Reconcile,
        ownership: Ownership::Full,
        matching: Matching::TypeLabelTarget,
        on_failure: OnFailure::Continue,
        resources: Vec::new(),
        outputs: indexmap::IndexMap::new(),
        metadata: None,
    }
}
