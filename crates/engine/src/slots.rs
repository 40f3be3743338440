//! The plaintexts of an operation, and which rows keep which of them.
//!
//! A slot of an operation is sealed under `operation:<id>:<slot>` and wiped when the operation
//! ends; a row that will need a plaintext again keeps it under `row:<row>:<slot>` (architecture §6).

use formwork_model::{
    InstanceKey, Json, OperationId, Row, RowId, Sealed, Secret, SecretSlots, SlotId, Stored, StoredLeaf,
};
use formwork_secret::OpenError;
use formwork_store::RowSlot;
use std::collections::{BTreeMap, BTreeSet};

/// A sealed slot that can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SlotError {
    /// It is sealed under another key, or damaged.
    #[error("the slot `{slot}` can't be opened")]
    Sealed {
        /// The slot.
        slot: SlotId,
        /// Why.
        #[source]
        source: OpenError,
    },
    /// What is in it is not a value.
    #[error("the slot `{slot}` does not hold a JSON value")]
    NotJson {
        /// The slot.
        slot: SlotId,
    },
}

/// The slots of an operation, sealed.
pub(crate) fn seal_all(
    key: &InstanceKey,
    operation: &OperationId,
    slots: &SecretSlots,
) -> Vec<(SlotId, Sealed)> {
    let seal = |(slot, value): (&SlotId, _)| (slot.clone(), seal(key, &of_operation(operation, slot), value));
    slots.iter().map(seal).collect()
}

/// The slots of an operation, opened.
pub(crate) fn open_all(
    key: &InstanceKey,
    operation: &OperationId,
    sealed: &[(SlotId, Sealed)],
) -> Result<SecretSlots, SlotError> {
    let open = |(slot, sealed): &(SlotId, Sealed)| {
        Ok((slot.clone(), open(key, &of_operation(operation, slot), slot, sealed)?))
    };
    sealed.iter().map(open).collect()
}

/// A slot of a row, opened.
pub(crate) fn open_row_slot(
    key: &InstanceKey,
    row: &RowId,
    slot: &SlotId,
    sealed: &Sealed,
) -> Result<Secret<Json>, SlotError> {
    open(key, &of_row(row, slot), slot, sealed)
}

fn of_operation(operation: &OperationId, slot: &SlotId) -> String {
    format!("operation:{operation}:{slot}")
}

fn of_row(row: &RowId, slot: &SlotId) -> String {
    format!("row:{row}:{slot}")
}

fn seal(key: &InstanceKey, place: &str, value: &Secret<Json>) -> Sealed {
    let plaintext = Secret::new(value.expose().to_string());
    key.seal(place.as_bytes(), plaintext.expose().as_bytes())
}

fn open(key: &InstanceKey, place: &str, slot: &SlotId, sealed: &Sealed) -> Result<Secret<Json>, SlotError> {
    let plaintext = key
        .open(place.as_bytes(), sealed)
        .map_err(|source| SlotError::Sealed { slot: slot.clone(), source })?;
    // The parser's message could quote the plaintext, so it is not kept.
    serde_json::from_slice(plaintext.expose())
        .map(Secret::new)
        .map_err(|_| SlotError::NotJson { slot: slot.clone() })
}

/// Which rows keep which slots in the store.
#[derive(Debug, Default)]
pub(crate) struct Keeping(BTreeMap<RowId, BTreeSet<SlotId>>);

impl Keeping {
    /// What rows that are in the store keep there: exactly the slots they mention.
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut keeping = Self::default();
        for row in rows {
            keeping.set(&row.id, mentioned(row));
        }
        keeping
    }

    /// What has to be stored along with rows so that each keeps exactly the slots it mentions.
    pub(crate) fn follow(&mut self, rows: &[Row], slots: &SecretSlots, key: &InstanceKey) -> Vec<RowSlot> {
        let mut changes = Vec::new();
        for row in rows {
            let now = mentioned(row);
            let before = self.0.get(&row.id).cloned().unwrap_or_default();
            if now == before {
                continue;
            }
            for slot in now.difference(&before) {
                let Some(value) = slots.get(slot) else {
                    tracing::error!(row = %row.id, slot = %slot, "a row mentions a slot that nobody has");
                    continue;
                };
                let sealed = Some(seal(key, &of_row(&row.id, slot), value));
                changes.push(RowSlot { row: row.id.clone(), slot: slot.clone(), sealed });
            }
            let wiped = before.difference(&now);
            changes.extend(wiped.map(|slot| RowSlot {
                row: row.id.clone(),
                slot: slot.clone(),
                sealed: None,
            }));
            self.set(&row.id, now);
        }
        changes
    }

    fn set(&mut self, row: &RowId, slots: BTreeSet<SlotId>) {
        if slots.is_empty() {
            self.0.remove(row);
        } else {
            self.0.insert(row.clone(), slots);
        }
    }
}

/// The slots that a row's objects and its open intent mention.
fn mentioned(row: &Row) -> BTreeSet<SlotId> {
    let mut slots = BTreeSet::new();
    let objects = row.current.iter().chain(&row.deposed).map(|object| &object.sent);
    for sent in objects.chain(row.intent.iter().map(|intent| &intent.sent)) {
        add_slots(sent, &mut slots);
    }
    slots
}

fn add_slots(stored: &Stored, slots: &mut BTreeSet<SlotId>) {
    stored.for_each_leaf(&mut |_, leaf| {
        if let StoredLeaf::Sealed { slot, .. } = leaf {
            slots.insert(slot.clone());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::{Certainty, DeletionPolicy, Object, TargetRev, digest_of};
    use serde_json::json;

    fn key() -> InstanceKey {
        InstanceKey::from_bytes([7; 32])
    }

    fn slots() -> SecretSlots {
        [("s1".into(), Secret::new(json!("hunter2"))), ("s2".into(), Secret::new(json!([1])))]
            .into_iter()
            .collect()
    }

    fn row_with(sent: &[&str]) -> Row {
        let mut row = Row::new("row".into(), "stack".into(), "Label".into(), "T".into(), 0);
        let leaves = sent.iter().map(|slot| {
            let digest = digest_of(&key(), &json!("x"));
            ((*slot).into(), Stored::Leaf(StoredLeaf::Sealed { slot: (*slot).into(), digest }))
        });
        row.current = Some(Object {
            native_id: "n".into(),
            type_name: "T".into(),
            target: TargetRev::default(),
            deletion_policy: DeletionPolicy::Delete,
            sent: Stored::object(leaves.collect()),
            echo: Stored::default(),
            observed: None,
            certainty: Certainty::Certain,
        });
        row
    }

    #[test]
    fn an_operations_slots_open_again_and_only_for_that_operation() {
        let sealed = seal_all(&key(), &"op".into(), &slots());
        let opened = open_all(&key(), &"op".into(), &sealed).expect("the same operation opens them");
        assert_eq!(opened[&SlotId::from("s2")].expose(), &json!([1]));
        assert!(open_all(&key(), &"other".into(), &sealed).is_err());
    }

    #[test]
    fn a_row_keeps_the_slots_it_mentions_and_wipes_the_others() {
        let mut keeping = Keeping::of([&row_with(&[])]);
        let kept = keeping.follow(&[row_with(&["s1"])], &slots(), &key());
        let [RowSlot { slot, sealed: Some(sealed), .. }] = kept.as_slice() else { panic!("{kept:?}") };
        let opened = open_row_slot(&key(), &"row".into(), slot, sealed).expect("it opens for the row");
        assert_eq!(opened.expose(), &json!("hunter2"));
        assert!(keeping.follow(&[row_with(&["s1"])], &slots(), &key()).is_empty());
        let changed = keeping.follow(&[row_with(&["s2"])], &slots(), &key());
        let seen: Vec<_> =
            changed.iter().map(|change| (change.slot.as_str(), change.sealed.is_some())).collect();
        assert_eq!(seen, [("s2", true), ("s1", false)]);
    }
}
