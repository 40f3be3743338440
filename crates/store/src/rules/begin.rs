//! Beginning an operation: leases, bases, and everything it starts with.

use super::{commit, lease, objects, rows};
use crate::tables::{Stored, Tables};
use crate::{Begin, Begun, DomainError};
use formwork_model::{BaseRow, Label, RowId, StackId, StepId};
use std::collections::{BTreeMap, BTreeSet};

/// [`Store::begin`](crate::Store::begin).
pub(crate) fn begin(tables: &mut dyn Tables, begin: Begin) -> Stored<Begun> {
    let leases = match lease::free_leases(tables, &begin.operation.stacks)? {
        Ok(leases) => leases,
        Err(holder) => return Ok(Begun::Held(holder)),
    };
    if let Some(step) = first_moved(tables, &begin.plan.bases)? {
        return Ok(Begun::Moved(step));
    }
    for id in begin.requires {
        if tables.object(&id)?.is_none() {
            return Err(DomainError::NotFound { id }.into());
        }
    }
    let operation = &begin.operation.id;
    let guard = lease::grant(tables, leases, operation, &begin.owner, begin.ttl_millis)?;
    tables.insert_operation(&begin.operation, &begin.plan)?;
    for (slot, sealed) in &begin.slots {
        tables.insert_slot(operation, slot, sealed)?;
    }
    for row in begin.new_rows {
        rows::insert(tables, &guard, row)?;
    }
    for claim in begin.claims {
        rows::claim(tables, claim)?;
    }
    commit::append(tables, operation, &[begin.started])?;
    for event in &begin.events {
        tables.append_event(event)?;
    }
    objects::write_all(tables, begin.objects)?;
    for record in &begin.audit {
        tables.append_audit(record)?;
    }
    Ok(Begun::Running(guard))
}

/// What a stack's rows look like to bases.
#[derive(Default)]
struct Heads {
    revisions: BTreeMap<RowId, u64>,
    labels: BTreeSet<Label>,
}

/// The lowest step whose base no longer holds. Tombstones count as rows: a plan that did not see
/// one would mint a second row for the label.
fn first_moved(tables: &mut dyn Tables, bases: &[BaseRow]) -> Stored<Option<StepId>> {
    let mut stacks: BTreeMap<&StackId, Heads> = BTreeMap::new();
    let mut first = None;
    for base in bases {
        let heads = match stacks.entry(&base.stack) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(unknown) => {
                let mut heads = Heads::default();
                for head in tables.row_heads(&base.stack)? {
                    heads.revisions.insert(head.id, head.revision);
                    heads.labels.insert(head.label);
                }
                unknown.insert(heads)
            }
        };
        let holds = match &base.row {
            Some((row, revision)) => heads.revisions.get(row) == Some(revision),
            None => !heads.labels.contains(&base.label),
        };
        if !holds {
            first = Some(first.map_or(base.step, |step: StepId| step.min(base.step)));
        }
    }
    Ok(first)
}
