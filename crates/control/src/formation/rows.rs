//! Ledger rows of a formation: loading, observing, the secrets they keep.

use crate::{Control, ControlError, Principal};
use formwork_engine::ObserveRequest;
use formwork_model::{
    InputLeaf, InputPart, Json, Observation, Plan, ProjectId, Row, RowId, Secret, SecretSlots, SlotId,
    TARGET_TYPE, WireCode,
};
use std::collections::{BTreeMap, BTreeSet};

impl Control {
    /// What is there now, for every row that can be read, `all` being the rows of its stack; where that takes handlers, when it is the
    /// principal's turn.
    ///
    /// # Errors
    /// `RATE_LIMITED`.
    pub(crate) async fn observe(
        &self,
        p: &Principal,
        project: &ProjectId,
        rows: &[Row],
        all: &[Row],
    ) -> Result<BTreeMap<RowId, Observation>, ControlError> {
        let live: Vec<_> = rows.iter().filter(|row| row.current.is_some()).cloned().collect();
        if live.is_empty() {
            return Ok(BTreeMap::new());
        }
        let is_outside =
            |row: &Row| row.current.as_ref().is_some_and(|object| self.catalog.is_outside(&object.type_name));
        let goes_outside = live.iter().any(is_outside);
        let request = ObserveRequest {
            project: project.clone(),
            actor: p.actor.clone(),
            rows: live,
            targets: all.iter().filter(|row| row.type_name.as_str() == TARGET_TYPE).cloned().collect(),
            types: self.catalog.clone(),
        };
        if goes_outside {
            let visit = self.turns.enter(&p.owner)?;
            return Ok(visit.look(self.engine.observe(request)).await);
        }
        Ok(self.engine.observe(request).await)
    }

    /// Adds the plaintexts that rows keep sealed and that the plan sends again.
    pub(crate) async fn add_row_secrets(
        &self,
        plan: &Plan,
        rows: &[Row],
        secrets: &mut SecretSlots,
    ) -> Result<(), ControlError> {
        let mut wanted = wanted_slots(plan);
        wanted.retain(|slot| !secrets.contains_key(slot));
        if wanted.is_empty() {
            return Ok(());
        }
        for row in rows {
            for (slot, sealed) in self.reader.row_slots(&row.id).await? {
                if wanted.remove(&slot) {
                    let aad = format!("row:{}:{slot}", row.id);
                    secrets.insert(slot, open_json(&self.key, aad.as_bytes(), &sealed)?);
                }
            }
        }
        Ok(())
    }
}

fn open_json(
    key: &formwork_model::InstanceKey,
    aad: &[u8],
    sealed: &formwork_model::Sealed,
) -> Result<Secret<Json>, ControlError> {
    let refused = || {
        ControlError::new(
            WireCode::SecretNotDecryptable,
            "A kept secret can't be opened with this instance key.",
        )
    };
    let opened = key.open(aad, sealed).map_err(|_| refused())?;
    serde_json::from_slice(opened.expose()).map(Secret::new).map_err(|_| refused())
}

/// The slots that a plan's inputs name.
fn wanted_slots(plan: &Plan) -> BTreeSet<SlotId> {
    let mut wanted = BTreeSet::new();
    for inputs in plan.steps.iter().filter_map(|step| step.inputs.as_ref()) {
        inputs.for_each_leaf(&mut |_, leaf| match leaf {
            InputLeaf::Secret { slot, .. } => {
                wanted.insert(slot.clone());
            }
            InputLeaf::Template(parts) => wanted.extend(parts.iter().filter_map(|part| match part {
                InputPart::Secret { slot, .. } => Some(slot.clone()),
                _ => None,
            })),
            InputLeaf::Ref(_) | InputLeaf::Kept(_) => {}
        });
    }
    wanted
}
