//! An operation from what the store has of it.

use crate::driver::{Beginning, Driver, Parts};
use crate::shared::Shared;
use crate::slots::{Keeping, SlotError, open_all};
use formwork_engine_core::{Operation, OperationSpec, ReplayError};
use formwork_model::{InputLeaf, InputPart, Inputs, OperationId, Plan, Row, RowId, RowRef, Timestamp};
use formwork_store::{LeaseGuard, Reader, StoreError};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why an operation can't be recovered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The store failed; it can be tried again.
    #[error(transparent)]
    Store(StoreError),
    /// What is stored makes no sense to this program.
    #[error("operation `{operation}` can't be read")]
    Unreadable {
        /// Which operation.
        operation: OperationId,
        /// Why.
        #[source]
        source: Unreadable,
    },
}

/// What of an operation can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    /// A record.
    #[error(transparent)]
    Record(StoreError),
    /// It has no record.
    #[error("its record is missing")]
    NoRecord,
    /// It has no plan.
    #[error("its plan is missing")]
    NoPlan,
    /// A secret of it.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// Its journal.
    #[error(transparent)]
    Journal(#[from] ReplayError),
}

/// An operation that was taken over, ready to go on.
pub(crate) async fn load(
    shared: &Arc<Shared>,
    id: &OperationId,
    guard: LeaseGuard,
    asked_at: Timestamp,
) -> Result<(Driver, Arc<Plan>), LoadError> {
    let unreadable = |source| LoadError::Unreadable { operation: id.clone(), source };
    let stored = |error| match error {
        StoreError::Unreadable { .. } | StoreError::Newer { .. } => unreadable(Unreadable::Record(error)),
        other => LoadError::Store(other),
    };
    let reader = shared.store.reader();
    let record =
        reader.operation(id).await.map_err(stored)?.ok_or_else(|| unreadable(Unreadable::NoRecord))?;
    let plan = reader.plan(id).await.map_err(stored)?.ok_or_else(|| unreadable(Unreadable::NoPlan))?;
    let sealed = reader.slots(id).await.map_err(stored)?;
    let slots = open_all(&shared.key, id, &sealed).map_err(|error| unreadable(error.into()))?;
    let journal = reader.journal(id).await.map_err(stored)?;
    let rows = rows_of(&*reader, &plan).await.map_err(stored)?;
    let keeping = Keeping::of(&rows);
    let spec = OperationSpec {
        id: id.clone(),
        plan: Arc::clone(&plan),
        rows,
        actor: record.actor.clone(),
        // Both are taken from the journal.
        seed: 0,
        minted: Vec::new(),
        key: shared.key.clone(),
        limits: shared.options.limits.clone(),
    };
    let operation = Operation::replay(spec, &journal).map_err(|error| unreadable(error.into()))?;
    let parts = Parts {
        id: id.clone(),
        project: record.project,
        actor: record.actor,
        plan: Arc::clone(&plan),
        operation,
        slots,
        keeping,
        guard,
        asked_at,
        beginning: Beginning::Resume,
    };
    Ok((Driver::new(shared, parts), plan))
}

/// All rows of the plan's stacks, and the rows of other stacks that its steps refer to.
async fn rows_of(reader: &dyn Reader, plan: &Plan) -> Result<Vec<Row>, StoreError> {
    let mut rows = Vec::new();
    for stack in &plan.stacks {
        rows.extend(reader.rows(&stack.id).await?);
    }
    let mut missing = referred(plan);
    for row in &rows {
        missing.remove(&row.id);
    }
    for id in missing {
        rows.extend(reader.row(&id).await?);
    }
    Ok(rows)
}

/// The existing rows that a plan names anywhere.
fn referred(plan: &Plan) -> BTreeSet<RowId> {
    let mut rows = BTreeSet::new();
    let mut add = |row: &RowRef| {
        if let RowRef::Existing(id) = row {
            rows.insert(id.clone());
        }
    };
    for step in &plan.steps {
        add(&step.row);
        step.references.iter().for_each(&mut add);
    }
    let outputs = plan.stacks.iter().flat_map(|stack| stack.outputs.values().chain(&stack.metadata));
    let inputs = plan.steps.iter().filter_map(|step| step.inputs.as_ref());
    for tree in outputs.chain(inputs) {
        add_bound(tree, &mut add);
    }
    rows
}

fn add_bound(tree: &Inputs, add: &mut impl FnMut(&RowRef)) {
    tree.for_each_leaf(&mut |_, leaf| match leaf {
        InputLeaf::Ref(bound) => add(&bound.row),
        InputLeaf::Template(parts) => parts.iter().for_each(|part| {
            if let InputPart::Ref(bound) = part {
                add(&bound.row);
            }
        }),
        InputLeaf::Secret { .. } | InputLeaf::Kept(_) => {}
    });
}
