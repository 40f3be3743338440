//! Writing ledger rows: revisions, references, and what observers may add.

use crate::tables::{RowHead, Standing, Stored, Tables, is_going};
use crate::{Claim, LeaseGuard, ObservationWrite, OwnedObject, StoreError};
use formwork_model::{Row, RowId};

/// How many rows a refusal names.
const MOST_REFERRERS: usize = 10;

/// Stores a row that must not exist yet, with revision 1.
pub(super) fn insert(tables: &mut dyn Tables, guard: &LeaseGuard, row: Row) -> Stored<()> {
    put(tables, guard, row, None)
}

/// Stores a row as the facts leave it, one revision on.
pub(super) fn write(tables: &mut dyn Tables, guard: &LeaseGuard, row: Row) -> Stored<()> {
    let before = tables.row_head(&row.id)?;
    put(tables, guard, row, before)
}

fn put(tables: &mut dyn Tables, guard: &LeaseGuard, mut row: Row, before: Option<RowHead>) -> Stored<()> {
    let stacks = std::iter::once(&row.stack).chain(before.as_ref().map(|head| &head.stack));
    if tables.enforces_fences() && stacks.into_iter().any(|stack| guard.fence(stack).is_none()) {
        // An operation changes the stacks it holds and no others (INV-14).
        return Err(StoreError::LeaseLost { operation: guard.operation.clone() });
    }
    if is_going(&row) && !before.as_ref().is_some_and(|head| head.going) {
        refuse_if_referenced(tables, &row)?;
    }
    row.revision = before.as_ref().map_or(1, |head| head.revision + 1);
    match &before {
        None => tables.insert_row(&row)?,
        Some(head) => tables.update_row(&row, head.standing(&row))?,
    }
    let is_new = before.is_none();
    if before.is_some_and(|head| head.refers) || !row.references.is_empty() {
        let to = sorted(&row.references);
        if tables.references(&row.id)? != to {
            tables.set_references(&row.id, &to)?;
        }
    }
    let objects = objects_of(&row);
    // A row that is new is found by nothing yet.
    if (!is_new || !objects.is_empty()) && tables.objects_of(&row.id)? != objects {
        tables.set_objects(&row.id, &objects)?;
    }
    Ok(())
}

/// The objects that a row is found by, sorted.
pub(crate) fn objects_of(row: &Row) -> Vec<OwnedObject> {
    let owned = row.objects().map(|(type_name, native_id)| OwnedObject {
        native_id: native_id.clone(),
        type_name: type_name.clone(),
    });
    let mut objects: Vec<_> = owned.collect();
    objects.sort_unstable();
    objects.dedup();
    objects
}

/// Whether a row that is found by an object has it, or is about to take it over. A claim of an
/// operation that ended without taking the object counts no more.
fn has_or_takes(tables: &mut dyn Tables, row: &RowId, object: &OwnedObject) -> Stored<bool> {
    let row = match tables.row(row) {
        Ok(Some(row)) => row,
        Ok(None) => return Ok(false),
        // Nobody can say what a damaged row has.
        Err(StoreError::Unreadable { .. }) => return Ok(true),
        Err(error) => return Err(error),
    };
    let taken = objects_of(&row).contains(object);
    Ok(taken || tables.lease(&row.stack)?.is_some_and(|lease| lease.holder.is_some()))
}

/// Lets a row be found by an object that it is about to take over, until the row is written again.
pub(super) fn claim(tables: &mut dyn Tables, claim: Claim) -> Stored<()> {
    let Claim { row, object } = claim;
    for owner in tables.owners(&object)?.into_iter().filter(|owner| *owner != row) {
        if has_or_takes(tables, &owner, &object)? {
            return Err(StoreError::Owned { row, native_id: object.native_id });
        }
    }
    let mut objects = tables.objects_of(&row)?;
    if let Err(place) = objects.binary_search(&object) {
        objects.insert(place, object);
        tables.set_objects(&row, &objects)?;
    }
    Ok(())
}

/// A delete begins with its intent, so that is where references are checked again; once the effect
/// may have happened, its outcome must always be storable. Writers take turns, so no reference can
/// be added in between.
fn refuse_if_referenced(tables: &mut dyn Tables, row: &Row) -> Stored<()> {
    let by = tables.foreign_referrers(&row.id, &row.stack, MOST_REFERRERS)?;
    if by.is_empty() { Ok(()) } else { Err(StoreError::Referenced { row: row.id.clone(), by }) }
}

fn sorted(references: &[RowId]) -> Vec<RowId> {
    let mut to = references.to_vec();
    to.sort_unstable();
    to.dedup();
    to
}

/// [`Store::observe`](crate::Store::observe). It does not raise the revision: what was seen is no
/// change of the ledger, and must not make a plan outdated.
pub(crate) fn observe(tables: &mut dyn Tables, observations: Vec<ObservationWrite>) -> Stored<usize> {
    let now = tables.now()?;
    let mut written = 0;
    for seen in observations {
        let mut row = match tables.row(&seen.row) {
            Ok(Some(row)) => row,
            // What can't be read is left for whoever reads it; the other rows are not affected.
            Ok(None) | Err(StoreError::Unreadable { .. }) => continue,
            Err(error) => return Err(error),
        };
        let leased = tables.lease(&row.stack)?.is_some_and(|lease| lease.is_running(now));
        let Some(object) = row.current.as_mut().filter(|object| object.native_id == seen.native_id) else {
            continue;
        };
        if leased || row.generation != seen.generation {
            continue;
        }
        object.observed = Some((seen.properties, seen.at));
        tables.update_row(&row, Standing::Kept)?;
        written += 1;
    }
    Ok(written)
}
