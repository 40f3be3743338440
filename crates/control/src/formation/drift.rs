//! Drift: what was changed at the provider behind our back. Nothing is changed and nothing stored.

use crate::{Control, ControlError, Principal};
use formwork_model::{
    Catalog as _, Json, NativeId, Object, Observation, Path, Row, StackId, Stored, TypeName, WireCode,
};
use formwork_planner::drift;

/// What the objects of a formation differ in from what the last deploy left.
#[derive(Clone, Debug)]
pub struct FormationDrift {
    /// The formation.
    pub formation: StackId,
    /// How many objects were compared.
    pub checked: usize,
    /// Those that differ or could not be compared, in the order of the template.
    pub resources: Vec<ResourceDrift>,
}

/// One object that is not known to be as it was left.
#[derive(Clone, Debug)]
pub struct ResourceDrift {
    /// The resource's logical id.
    pub logical_id: String,
    /// Its type.
    pub resource_type: TypeName,
    /// The object.
    pub physical_resource_id: NativeId,
    /// What was found.
    pub found: DriftFound,
}

/// What was found of an object.
#[derive(Clone, Debug)]
pub enum DriftFound {
    /// It has other properties.
    Changed(Vec<DriftChange>),
    /// It is gone.
    Gone,
    /// It could not be looked at, for this reason.
    Unreadable(String),
}

/// A declared property that was changed out of band, secrets masked.
#[derive(Clone, Debug)]
pub struct DriftChange {
    /// Which property.
    pub path: Path,
    /// What the last deploy left; `None`: nothing.
    pub was: Option<Json>,
    /// What is there; `None`: nothing.
    pub is: Option<Json>,
}

impl FormationDrift {
    /// Whether anything is known to differ.
    pub fn has_drifted(&self) -> bool {
        self.resources.iter().any(|resource| !matches!(resource.found, DriftFound::Unreadable(_)))
    }
}

impl Control {
    /// Looks at a formation's objects and says what was changed out of band, by the same rule that
    /// plans and heals it. Who may plan may look: both show what is there.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`, and `OPERATION_IN_PROGRESS` where a deploy changes what
    /// is looked at.
    pub async fn formation_drift(&self, p: &Principal, id: &StackId) -> Result<FormationDrift, ControlError> {
        let record = self.formation_record(p, id).await?;
        Self::demand(p, &record.question("formations:PlanFormation"))?;
        self.demand_idle(&record).await?;
        let rows = self.reader.rows(id).await?;
        let observed = self.observe(p, &record.project, &rows, &rows).await?;
        // Our own changes are no drift.
        self.demand_idle(&record).await?;
        if self.reader.rows(id).await? != rows {
            return Err(ControlError::new(
                WireCode::OperationInProgress,
                "The formation was deployed while it was looked at. Look again.",
            ));
        }
        let resources = rows.iter().filter_map(|row| self.row_drift(row, observed.get(&row.id)?));
        Ok(FormationDrift { formation: id.clone(), checked: observed.len(), resources: resources.collect() })
    }

    /// What an object differs in from what was left; `None`: nothing.
    pub(crate) fn row_drift(&self, row: &Row, observation: &Observation) -> Option<ResourceDrift> {
        let object = row.current.as_ref()?;
        let found = match observation {
            Observation::Present { properties, .. } => self.changed(object, properties)?,
            Observation::Gone { .. } => DriftFound::Gone,
            Observation::Failed { message, .. } => DriftFound::Unreadable(message.clone()),
        };
        Some(ResourceDrift {
            logical_id: row.label.to_string(),
            resource_type: object.type_name.clone(),
            physical_resource_id: object.native_id.clone(),
            found,
        })
    }

    fn changed(&self, object: &Object, seen: &Stored) -> Option<DriftFound> {
        let Some(rules) = self.catalog.get(&object.type_name) else {
            return Some(DriftFound::Unreadable(format!("The type '{}' is not known.", object.type_name)));
        };
        let changes = drift(rules.schema(), rules.capabilities(), object, seen, Some(&object.sent));
        let shown = |change: formwork_model::PatchOp| DriftChange {
            path: change.path,
            was: change.before.map(|before| before.masked()),
            is: change.after.map(|after| after.masked()),
        };
        (!changes.is_empty()).then(|| DriftFound::Changed(changes.into_iter().map(shown).collect()))
    }
}
