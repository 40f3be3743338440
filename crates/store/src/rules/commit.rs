//! Units of a running operation, and what becomes of its history.

use super::{lease, objects, rows};
use crate::tables::{Lease, Stored, Tables};
use crate::{Finish, LeaseGuard, StoreError, Unit};
use formwork_model::{JournalEntry, OperationId, Timestamp};

/// [`Store::commit`](crate::Store::commit).
pub(crate) fn commit(tables: &mut dyn Tables, guard: &LeaseGuard, unit: Unit) -> Stored<()> {
    let leases = lease::held(tables, guard)?;
    append(tables, &guard.operation, &unit.entries)?;
    for row in unit.rows {
        rows::write(tables, guard, row)?;
    }
    for slot in unit.row_slots {
        tables.put_row_slot(&slot.row, &slot.slot, slot.sealed.as_ref())?;
    }
    for event in &unit.events {
        tables.append_event(event)?;
    }
    objects::write_all(tables, unit.objects)?;
    match unit.finish {
        Some(finish) => close(tables, &guard.operation, leases, finish),
        None => Ok(()),
    }
}

/// Appends entries, which must go on where the journal ends.
pub(super) fn append(
    tables: &mut dyn Tables,
    operation: &OperationId,
    entries: &[JournalEntry],
) -> Stored<()> {
    if entries.is_empty() {
        return Ok(());
    }
    for (expected, entry) in (tables.next_sequence(operation)?..).zip(entries) {
        if entry.operation != *operation {
            return Err(StoreError::LeaseLost { operation: entry.operation.clone() });
        }
        if entry.sequence != expected {
            let (operation, found) = (operation.clone(), entry.sequence);
            return Err(StoreError::OutOfSequence { operation, expected, found });
        }
        tables.append_entry(entry)?;
    }
    Ok(())
}

/// Ends an operation: its record is final, its leases are free, its plaintexts are gone.
fn close(tables: &mut dyn Tables, operation: &OperationId, leases: Vec<Lease>, finish: Finish) -> Stored<()> {
    let Some(mut record) = tables.operation(operation)? else {
        return Err(StoreError::LeaseLost { operation: operation.clone() });
    };
    record.status = finish.status;
    record.failure = finish.failure;
    record.updated_at = finish.at;
    record.finished_at = Some(finish.at);
    tables.close_operation(&record)?;
    tables.wipe_slots(operation)?;
    lease::release(tables, leases)
}

/// [`Store::compact`](crate::Store::compact).
pub(crate) fn compact(tables: &mut dyn Tables, before: Timestamp, most: usize) -> Stored<usize> {
    let operations = tables.compactable(before, most)?;
    for operation in &operations {
        tables.drop_history(operation)?;
    }
    Ok(operations.len())
}
