//! Leases, operations and rows in memory.

use super::MemTables;
use super::state::Numbered;
use crate::tables::{
    Holder, Lease, LeaseTables, OperationTables, RowHead, RowTables, Standing, Stored, is_going,
};
use crate::{OwnedObject, Page, Referrer, SavedPlan, StoreError};
use formwork_model::{
    JournalEntry, OperationId, OperationRecord, Plan, PlanHash, Row, RowId, Sealed, SlotId, StackId,
    Timestamp,
};
use std::sync::Arc;

/// What SQL databases refuse by their primary keys.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` exists already")]
pub(super) struct Exists(pub(super) String);

impl Exists {
    pub(super) fn error(id: &(impl ToString + ?Sized)) -> StoreError {
        StoreError::Fault { doing: "stored a record", source: Box::new(Self(id.to_string())) }
    }
}

/// One page of something.
pub(super) fn page<T>(all: impl Iterator<Item = T>, limit: usize, offset: usize) -> Page<T> {
    let (mut items, mut total) = (Vec::new(), 0);
    for item in all {
        if total >= offset && items.len() < limit {
            items.push(item);
        }
        total += 1;
    }
    Page { items, total }
}

impl LeaseTables for MemTables<'_> {
    fn now(&mut self) -> Stored<Timestamp> {
        Ok(self.now)
    }

    fn enforces_fences(&self) -> bool {
        self.check_fence
    }

    fn lease(&mut self, stack: &StackId) -> Stored<Option<Lease>> {
        Ok(self.state.leases.get(stack).cloned())
    }

    fn leases_of(&mut self, operation: &OperationId) -> Stored<Vec<Lease>> {
        let stacks = self.state.leased.under(operation, StackId::new(""));
        Ok(stacks.filter_map(|(stack, ())| self.state.leases.get(stack).cloned()).collect())
    }

    fn put_lease(&mut self, lease: &Lease) -> Stored<()> {
        let state = &mut *self.state;
        if let Some(Lease { holder: Some(Holder { operation, .. }), .. }) = state.leases.get(&lease.stack) {
            state.leased.remove(&(operation.clone(), lease.stack.clone()));
        }
        if let Some(holder) = &lease.holder {
            state.leased.insert((holder.operation.clone(), lease.stack.clone()), ());
        }
        state.leases.insert(lease.stack.clone(), lease.clone());
        Ok(())
    }
}

impl OperationTables for MemTables<'_> {
    fn operation(&mut self, id: &OperationId) -> Stored<Option<OperationRecord>> {
        Ok(self.state.operations.get(id).map(|known| known.record.clone()))
    }

    fn insert_operation(&mut self, record: &OperationRecord, plan: &Arc<Plan>) -> Stored<()> {
        let state = &mut *self.state;
        if state.operations.get(&record.id).is_some() {
            return Err(Exists::error(&record.id));
        }
        let number = state.numbers.next_number();
        state.numbers.insert(number, record.id.clone());
        state.open.insert(number, record.id.clone());
        for stack in &record.stacks {
            state.stack_operations.insert((stack.clone(), number), record.id.clone());
        }
        state.plans.insert(record.id.clone(), plan.clone());
        state.operations.insert(record.id.clone(), Arc::new(Numbered { number, record: record.clone() }));
        Ok(())
    }

    fn close_operation(&mut self, record: &OperationRecord) -> Stored<()> {
        let state = &mut *self.state;
        let Some(number) = state.operations.get(&record.id).map(|known| known.number) else {
            return Ok(());
        };
        state.open.remove(&number);
        if let Some(at) = record.finished_at {
            state.ended.insert((at, record.id.clone()), ());
        }
        state.operations.insert(record.id.clone(), Arc::new(Numbered { number, record: record.clone() }));
        Ok(())
    }

    fn operations(&mut self, stack: &StackId, limit: usize, offset: usize) -> Stored<Page<OperationRecord>> {
        let ids = self.state.stack_operations.under(stack, 0).map(|(_, id)| id);
        let Page { items, total } = page(ids, limit, offset);
        let records = items.into_iter().filter_map(|id| self.state.operations.get(id));
        Ok(Page { items: records.map(|known| known.record.clone()).collect(), total })
    }

    fn open_operations(&mut self) -> Stored<Vec<(OperationId, Stored<OperationRecord>)>> {
        let open = self.state.open.iter().filter_map(|(_, id)| self.state.operations.get(id));
        Ok(open.map(|known| (known.record.id.clone(), Ok(known.record.clone()))).collect())
    }

    fn compactable(&mut self, before: Timestamp, most: usize) -> Stored<Vec<OperationId>> {
        let ended = self.state.ended.range(..(before, OperationId::new("")));
        Ok(ended.take(most).map(|((_, id), ())| id.clone()).collect())
    }

    fn drop_history(&mut self, operation: &OperationId) -> Stored<()> {
        let entries: Vec<_> = self.state.journal.under(operation, 0).map(|(number, _)| *number).collect();
        let keys: Vec<_> = entries.into_iter().map(|number| (operation.clone(), number)).collect();
        self.state.journal.remove_all(&keys);
        self.wipe_slots(operation)?;
        let known = self.state.operations.get(operation);
        if let Some(at) = known.and_then(|known| known.record.finished_at) {
            self.state.ended.remove(&(at, operation.clone()));
        }
        Ok(())
    }

    fn plan(&mut self, operation: &OperationId) -> Stored<Option<Arc<Plan>>> {
        Ok(self.state.plans.get(operation).cloned())
    }

    fn saved_plan(&mut self, hash: &PlanHash) -> Stored<Option<SavedPlan>> {
        Ok(self.state.saved_plans.get(hash).map(|plan| SavedPlan::clone(plan)))
    }

    fn save_plan(&mut self, plan: &SavedPlan) -> Stored<()> {
        self.state.saved_plans.insert(plan.hash, Arc::new(plan.clone()));
        Ok(())
    }

    fn forget_plans(&mut self, before: Timestamp, keep: usize, most: usize) -> Stored<()> {
        let plans = self.state.saved_plans.iter();
        let mut ages: Vec<_> = plans.map(|(hash, plan)| (plan.created_at, *hash)).collect();
        ages.sort_unstable();
        let beyond = ages.len().saturating_sub(keep);
        let old = ages.iter().take_while(|(at, _)| *at < before).count();
        let hashes: Vec<_> = ages.into_iter().take(beyond.max(old).min(most)).map(|(_, hash)| hash).collect();
        self.state.saved_plans.remove_all(&hashes);
        Ok(())
    }

    fn next_sequence(&mut self, operation: &OperationId) -> Stored<u64> {
        let of_it = (operation.clone(), 0)..=(operation.clone(), u64::MAX);
        Ok(self.state.journal.range(of_it).next_back().map_or(0, |((_, last), _)| last + 1))
    }

    fn append_entry(&mut self, entry: &JournalEntry) -> Stored<()> {
        self.state.journal.insert((entry.operation.clone(), entry.sequence), Arc::new(entry.clone()));
        Ok(())
    }

    fn journal(&mut self, operation: &OperationId) -> Stored<Vec<JournalEntry>> {
        let entries = self.state.journal.under(operation, 0);
        Ok(entries.map(|(_, entry)| JournalEntry::clone(entry)).collect())
    }

    fn slots(&mut self, operation: &OperationId) -> Stored<Vec<(SlotId, Sealed)>> {
        let slots = self.state.slots.under(operation, SlotId::new(""));
        Ok(slots.map(|(slot, sealed)| (slot.clone(), sealed.clone())).collect())
    }

    fn insert_slot(&mut self, operation: &OperationId, slot: &SlotId, sealed: &Sealed) -> Stored<()> {
        let key = (operation.clone(), slot.clone());
        if self.state.slots.get(&key).is_some() {
            return Err(Exists::error(slot));
        }
        self.state.slots.insert(key, sealed.clone());
        Ok(())
    }

    fn wipe_slots(&mut self, operation: &OperationId) -> Stored<()> {
        let slots = self.state.slots.under(operation, SlotId::new(""));
        let keys: Vec<_> = slots.map(|(slot, _)| (operation.clone(), slot.clone())).collect();
        self.state.slots.remove_all(&keys);
        Ok(())
    }
}

impl MemTables<'_> {
    fn row_ids(&self, stack: &StackId) -> impl Iterator<Item = &RowId> {
        self.state.stack_rows.under(stack, RowId::new("")).map(|(row, ())| row)
    }

    fn head(&self, row: &Row) -> RowHead {
        RowHead {
            id: row.id.clone(),
            stack: row.stack.clone(),
            label: row.label.clone(),
            position: row.position,
            revision: row.revision,
            going: is_going(row),
            refers: self.state.references.under(&row.id, RowId::new("")).next().is_some(),
        }
    }

    /// The live rows that refer to a row from another stack than `stack`.
    fn foreign<'a>(&'a self, to: &'a RowId, stack: &'a StackId) -> impl Iterator<Item = &'a Arc<Row>> {
        let from = self.state.referrers.under(to, RowId::new(""));
        from.filter_map(|(from, ())| self.state.rows.get(from))
            .filter(move |row| row.stack != *stack && row.is_live())
    }
}

impl RowTables for MemTables<'_> {
    fn row(&mut self, id: &RowId) -> Stored<Option<Row>> {
        Ok(self.state.rows.get(id).map(|row| Row::clone(row)))
    }

    fn rows(&mut self, stack: &StackId) -> Stored<Vec<Row>> {
        let rows = self.row_ids(stack).filter_map(|id| self.state.rows.get(id));
        let mut rows: Vec<_> = rows.map(|row| Row::clone(row)).collect();
        rows.sort_by_key(|row| row.position);
        Ok(rows)
    }

    fn row_head(&mut self, id: &RowId) -> Stored<Option<RowHead>> {
        Ok(self.state.rows.get(id).map(|row| self.head(row)))
    }

    fn row_heads(&mut self, stack: &StackId) -> Stored<Vec<RowHead>> {
        let rows = self.row_ids(stack).filter_map(|id| self.state.rows.get(id));
        Ok(rows.map(|row| self.head(row)).collect())
    }

    fn insert_row(&mut self, row: &Row) -> Stored<()> {
        if self.state.rows.get(&row.id).is_some() {
            return Err(Exists::error(&row.id));
        }
        self.state.stack_rows.insert((row.stack.clone(), row.id.clone()), ());
        self.state.rows.insert(row.id.clone(), Arc::new(row.clone()));
        Ok(())
    }

    fn update_row(&mut self, row: &Row, _: Standing) -> Stored<()> {
        if let Some(before) = self.state.rows.get(&row.id).filter(|before| before.stack != row.stack) {
            let place = (before.stack.clone(), row.id.clone());
            self.state.stack_rows.remove(&place);
            self.state.stack_rows.insert((row.stack.clone(), row.id.clone()), ());
        }
        self.state.rows.insert(row.id.clone(), Arc::new(row.clone()));
        Ok(())
    }

    fn set_references(&mut self, from: &RowId, to: &[RowId]) -> Stored<()> {
        for old in self.references(from)? {
            self.state.references.remove(&(from.clone(), old.clone()));
            self.state.referrers.remove(&(old, from.clone()));
        }
        for new in to {
            self.state.references.insert((from.clone(), new.clone()), ());
            self.state.referrers.insert((new.clone(), from.clone()), ());
        }
        Ok(())
    }

    fn references(&mut self, from: &RowId) -> Stored<Vec<RowId>> {
        Ok(self.state.references.under(from, RowId::new("")).map(|(to, ())| to.clone()).collect())
    }

    fn inbound(&mut self, stack: &StackId) -> Stored<Vec<(RowId, RowId)>> {
        let mut found = Vec::new();
        for to in self.row_ids(stack) {
            found.extend(self.foreign(to, stack).map(|from| (from.id.clone(), to.clone())));
        }
        found.sort_unstable();
        Ok(found)
    }

    fn foreign_referrers(&mut self, row: &RowId, stack: &StackId, most: usize) -> Stored<Vec<Referrer>> {
        let referrer = |from: &Arc<Row>| Referrer {
            stack: from.stack.clone(),
            label: from.label.clone(),
            row: from.id.clone(),
        };
        let mut found: Vec<_> = self.foreign(row, stack).map(referrer).collect();
        found.sort_unstable();
        found.truncate(most);
        Ok(found)
    }

    fn objects_of(&mut self, row: &RowId) -> Stored<Vec<OwnedObject>> {
        let least = OwnedObject { native_id: "".into(), type_name: "".into() };
        Ok(self.state.row_objects.under(row, least).map(|(object, ())| object.clone()).collect())
    }

    fn set_objects(&mut self, row: &RowId, objects: &[OwnedObject]) -> Stored<()> {
        for old in self.objects_of(row)? {
            self.state.row_objects.remove(&(row.clone(), old.clone()));
            self.state.owners.remove(&(old, row.clone()));
        }
        for new in objects {
            self.state.row_objects.insert((row.clone(), new.clone()), ());
            self.state.owners.insert((new.clone(), row.clone()), ());
        }
        Ok(())
    }

    fn owners(&mut self, object: &OwnedObject) -> Stored<Vec<RowId>> {
        Ok(self.state.owners.under(object, RowId::new("")).map(|(row, ())| row.clone()).collect())
    }

    fn row_slots(&mut self, row: &RowId) -> Stored<Vec<(SlotId, Sealed)>> {
        let slots = self.state.row_slots.under(row, SlotId::new(""));
        Ok(slots.map(|(slot, sealed)| (slot.clone(), sealed.clone())).collect())
    }

    fn put_row_slot(&mut self, row: &RowId, slot: &SlotId, sealed: Option<&Sealed>) -> Stored<()> {
        let key = (row.clone(), slot.clone());
        match sealed {
            Some(sealed) => self.state.row_slots.insert(key, sealed.clone()),
            None => _ = self.state.row_slots.remove(&key),
        }
        Ok(())
    }
}
