//! All that a store in memory holds.

use super::table::Table;
use crate::tables::Lease;
use crate::{AuditRecord, Link, OwnedObject, SavedPlan, StoredObject, UniqueKey};
use formwork_model::{
    ClientToken, Event, JournalEntry, Json, OperationId, OperationRecord, Plan, PlanHash, Row, RowId, Sealed,
    SlotId, StackId, Timestamp,
};
use std::sync::Arc;

/// An operation with its place in the order of operations.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    pub(super) number: u64,
    pub(super) record: OperationRecord,
}

/// An object with its place in lists, its keys and its links.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) number: u64,
    pub(super) object: StoredObject,
    pub(super) keys: Vec<UniqueKey>,
    pub(super) links: Vec<Link>,
}

/// Who has a unique key: project (empty for what is global), type, key.
pub(super) type KeyPlace = (String, String, UniqueKey);

macro_rules! state {
    ($($(#[$doc:meta])* $name:ident: $table:ty,)+) => {
        /// The tables. Values are shared, so that a copy costs its number of entries only.
        #[derive(Clone, Debug, Default)]
        pub(super) struct State {
            $($(#[$doc])* pub(super) $name: $table,)+
        }

        impl State {
            /// Keeps what the transaction did.
            pub(super) fn keep(&mut self) {
                $(self.$name.keep();)+
            }

            /// Undoes what the transaction did.
            pub(super) fn undo(&mut self) {
                $(self.$name.undo();)+
            }
        }
    };
}

state! {
    leases: Table<StackId, Lease>,
    /// Which stacks an unfinished operation has.
    leased: Table<(OperationId, StackId), ()>,
    operations: Table<OperationId, Arc<Numbered>>,
    /// Numbers of all operations.
    numbers: Table<u64, OperationId>,
    /// Those that are not finished.
    open: Table<u64, OperationId>,
    /// Those that are finished and still have their journal.
    ended: Table<(Timestamp, OperationId), ()>,
    stack_operations: Table<(StackId, u64), OperationId>,
    plans: Table<OperationId, Arc<Plan>>,
    saved_plans: Table<PlanHash, Arc<SavedPlan>>,
    journal: Table<(OperationId, u64), Arc<JournalEntry>>,
    slots: Table<(OperationId, SlotId), Sealed>,
    rows: Table<RowId, Arc<Row>>,
    stack_rows: Table<(StackId, RowId), ()>,
    /// From referrer to referred.
    references: Table<(RowId, RowId), ()>,
    /// From referred to referrer.
    referrers: Table<(RowId, RowId), ()>,
    row_objects: Table<(RowId, OwnedObject), ()>,
    owners: Table<(OwnedObject, RowId), ()>,
    row_slots: Table<(RowId, SlotId), Sealed>,
    events: Table<u64, Arc<Event>>,
    operation_events: Table<(OperationId, u64), ()>,
    objects: Table<String, Arc<Kept>>,
    /// A type's objects in the order of lists.
    typed: Table<(String, u64), String>,
    object_numbers: Table<u64, ()>,
    keys: Table<KeyPlace, String>,
    /// From the id that is linked to, to who links and through which field.
    linkers: Table<(String, (String, String)), ()>,
    effects: Table<ClientToken, Arc<Json>>,
    audit: Table<u64, Arc<AuditRecord>>,
}

impl<V> Table<u64, V> {
    /// The number after the last.
    pub(super) fn next_number(&self) -> u64 {
        self.last_key().map_or(1, |last| last + 1)
    }
}
