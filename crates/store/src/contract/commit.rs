//! Units of running operations.

use super::World;
use super::given::{NOON, begin, begun, entry, event, id, live, object, row, sealed, settle, succeeded};
use crate::{Begin, DomainError, Finish, ObjectChange, ObjectWrite, RowSlot, StoreError, Unit};
use formwork_model::{Failure, OperationStatus, RowStatus, Timestamp, WireCode};
use std::sync::Arc;

/// Entries, rows, slots, events and objects of one unit.
pub async fn a_unit_is_stored_as_a_whole(world: &dyn World) {
    let store = world.store();
    let guard = begun(&*store, Begin { new_rows: vec![row("r1", "a")], ..begin("op", &["a"]) }).await;
    let unit = Unit {
        entries: vec![entry("op", 1), entry("op", 2)],
        rows: vec![live("r1", "a", &[]), live("r2", "a", &["r1"])],
        events: vec![event("op", "one"), event("op", "two")],
        row_slots: vec![RowSlot { row: "r1".into(), slot: "s".into(), sealed: Some(sealed("x")) }],
        objects: vec![ObjectWrite::Insert(object("o", None, None))],
        finish: None,
    };
    store.commit(&guard, unit).await.unwrap();
    let reader = store.reader();
    assert_eq!(reader.journal(&id("op")).await.unwrap(), [entry("op", 0), entry("op", 1), entry("op", 2)]);
    let rows = reader.rows(&"a".into()).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.revision).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(rows[0].status, RowStatus::Created);
    let notes: Vec<_> =
        reader.events(&id("op"), 0, 9).await.unwrap().into_iter().filter_map(|event| event.note).collect();
    assert_eq!(notes, ["one", "two"]);
    assert_eq!(reader.row_slots(&"r1".into()).await.unwrap().len(), 1);
    assert!(reader.object("o").await.unwrap().is_some());
}

/// INV-8, "one transaction": nothing of the unit is there.
pub async fn a_unit_with_a_conflicting_object_leaves_nothing(world: &dyn World) {
    let store = world.store();
    let made = ObjectWrite::Insert(object("o", None, None));
    let guard = begun(&*store, Begin { objects: vec![made], ..begin("op", &["a"]) }).await;
    let before = store.reader().logical_digest().await.unwrap();
    let conflicting = ObjectWrite::Update(ObjectChange {
        id: "o".to_owned(),
        expected_version: Some(7),
        doc: 1.into(),
        keys: Vec::new(),
        links: Vec::new(),
    });
    let unit = Unit {
        entries: vec![entry("op", 1)],
        rows: vec![live("r1", "a", &["r2"])],
        events: vec![event("op", "never")],
        row_slots: vec![RowSlot { row: "r1".into(), slot: "s".into(), sealed: Some(sealed("x")) }],
        objects: vec![ObjectWrite::Insert(object("p", None, Some("p"))), conflicting],
        finish: succeeded(),
    };
    let refused = store.commit(&guard, unit).await;
    assert!(
        matches!(&refused, Err(StoreError::Object(DomainError::VersionConflict { found: 1, .. }))),
        "{refused:?}"
    );
    assert_eq!(store.reader().logical_digest().await.unwrap(), before);
    store.commit(&guard, Unit { entries: vec![entry("op", 1)], ..Unit::default() }).await.unwrap();
}

/// A journal has no gaps, neither between units nor inside one.
pub async fn a_gap_in_the_sequence_is_refused(world: &dyn World) {
    let store = world.store();
    let guard = begun(&*store, begin("op", &["a"])).await;
    for (entries, due, came) in [(vec![entry("op", 2)], 1, 2), (vec![entry("op", 1), entry("op", 3)], 2, 3)] {
        let refused = store.commit(&guard, Unit { entries, ..Unit::default() }).await;
        assert!(
            matches!(&refused, Err(StoreError::OutOfSequence { expected, found, .. })
                if (*expected, *found) == (due, came)),
            "{refused:?}"
        );
    }
    assert_eq!(store.reader().journal(&id("op")).await.unwrap().len(), 1);
}

/// A unit whose outcome was unknown can't be stored twice by sending it again.
pub async fn a_repeated_unit_is_refused(world: &dyn World) {
    let store = world.store();
    let guard = begun(&*store, begin("op", &["a"])).await;
    let unit = Unit { entries: vec![entry("op", 1)], events: vec![event("op", "once")], ..Unit::default() };
    store.commit(&guard, unit.clone()).await.unwrap();
    let refused = store.commit(&guard, unit).await;
    assert!(matches!(refused, Err(StoreError::OutOfSequence { expected: 2, found: 1, .. })), "{refused:?}");
    assert_eq!(store.reader().events(&id("op"), 0, 9).await.unwrap().len(), 1);
}

/// Whatever revision the writer had in mind.
pub async fn every_write_raises_the_revision(world: &dyn World) {
    let store = world.store();
    let guard = begun(&*store, Begin { new_rows: vec![row("r1", "a")], ..begin("op", &["a"]) }).await;
    for expected in 2..5 {
        let mut written = live("r1", "a", &[]);
        written.revision = 77;
        store.commit(&guard, Unit { rows: vec![written], ..Unit::default() }).await.unwrap();
        assert_eq!(store.reader().row(&"r1".into()).await.unwrap().unwrap().revision, expected);
    }
}

/// Seed 4, "FormationOperation": the record is final, the stack is free, the plaintexts are gone.
pub async fn finishing_closes_the_record_and_wipes_the_slots(world: &dyn World) {
    let store = world.store();
    let slots = vec![("s1".into(), sealed("x")), ("s2".into(), sealed("y"))];
    let guard = begun(&*store, Begin { slots, ..begin("op", &["a"]) }).await;
    let failure = Failure::new(WireCode::Canceled, "it was canceled");
    let at = Timestamp(NOON.0 + 5);
    let finish = Finish { status: OperationStatus::Failed, failure: Some(failure.clone()), at };
    store.commit(&guard, Unit { finish: Some(finish), ..Unit::default() }).await.unwrap();
    let reader = store.reader();
    let record = reader.operation(&id("op")).await.unwrap().unwrap();
    assert_eq!(record.status, OperationStatus::Failed);
    assert_eq!((record.finished_at, record.updated_at, record.failure), (Some(at), at, Some(failure)));
    assert!(reader.slots(&id("op")).await.unwrap().is_empty());
    assert_eq!(reader.lease(&"a".into()).await.unwrap(), None);
    assert!(reader.open_operations().await.unwrap().is_empty());
    begun(&*store, begin("next", &["a"])).await;
}

/// The slots of a row outlive the operation that stored them.
pub async fn slots_of_rows_live_on_until_they_are_wiped(world: &dyn World) {
    let store = world.store();
    let kept = sealed("kept");
    let slot = |sealed| RowSlot { row: "r1".into(), slot: "s".into(), sealed };
    let guard = begun(&*store, Begin { new_rows: vec![row("r1", "a")], ..begin("op", &["a"]) }).await;
    let row_slots = vec![slot(Some(sealed("first"))), slot(Some(kept.clone()))];
    store.commit(&guard, Unit { row_slots, finish: succeeded(), ..Unit::default() }).await.unwrap();
    assert_eq!(store.reader().row_slots(&"r1".into()).await.unwrap(), [("s".into(), kept)]);
    let guard = begun(&*store, begin("next", &["a"])).await;
    store.commit(&guard, Unit { row_slots: vec![slot(None)], ..Unit::default() }).await.unwrap();
    assert!(store.reader().row_slots(&"r1".into()).await.unwrap().is_empty());
}

/// INV-14: an operation changes only the stacks it holds.
pub async fn a_unit_cannot_write_rows_of_other_stacks(world: &dyn World) {
    let store = world.store();
    settle(&*store, "before", "b", vec![row("other", "b")]).await;
    let guard = begun(&*store, begin("op", &["a"])).await;
    for foreign in [row("new", "b"), row("other", "a")] {
        let refused = store.commit(&guard, Unit { rows: vec![foreign], ..Unit::default() }).await;
        assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    }
    let other = store.reader().row(&"other".into()).await.unwrap().unwrap();
    assert_eq!((other.stack, other.revision), ("b".into(), 1));
}

/// Units share a commit, and yet one that is refused takes nothing from its neighbours.
pub async fn units_of_many_operations_do_not_disturb_each_other(world: &dyn World) {
    const OPERATIONS: usize = 8;
    const UNITS: u64 = 20;
    let store = world.store();
    let tasks = (0..OPERATIONS).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let (name, stack) = (format!("op{number}"), format!("stack{number}"));
            let guard = begun(&*store, begin(&name, &[&stack])).await;
            for sequence in 1..=UNITS {
                let rows = vec![live(&format!("{name}-{sequence}"), &stack, &[])];
                let entries = vec![entry(&name, sequence)];
                let gap =
                    Unit { entries: vec![entry(&name, sequence + 1)], rows: rows.clone(), ..Unit::default() };
                assert!(store.commit(&guard, gap).await.is_err());
                store.commit(&guard, Unit { entries, rows, ..Unit::default() }).await.unwrap();
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    for number in 0..OPERATIONS {
        let journal = store.reader().journal(&format!("op{number}").into()).await.unwrap();
        assert_eq!(journal.len() as u64, UNITS + 1);
        let rows = store.reader().rows(&format!("stack{number}").into()).await.unwrap();
        assert_eq!(rows.len() as u64, UNITS);
        assert!(rows.iter().all(|row| row.revision == 1));
    }
}
