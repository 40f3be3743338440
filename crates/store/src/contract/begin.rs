//! Beginning operations.

use super::World;
use super::given::{
    base, begin, begun, deleted, event, id, live, object, owned, plan, row, sealed, settle, succeeded,
};
use crate::{Begin, Begun, Claim, DomainError, ObjectWrite, StoreError, Unit};
use formwork_model::{OperationStatus, StepId, Timestamp};
use std::sync::Arc;

/// Operation, plan, slots, rows, first entry, events and objects are there, and the leases held.
pub async fn an_operation_begins_with_all_that_belongs_to_it(world: &dyn World) {
    let store = world.store();
    let slot = ("slot".into(), sealed("secret"));
    let asked = Begin {
        slots: vec![slot.clone()],
        new_rows: vec![row("r1", "b")],
        events: vec![event("op", "begun")],
        objects: vec![ObjectWrite::Insert(object("form_1", Some("proj"), None))],
        plan: plan(vec![base(0, "b", "r1", None)]),
        ..begin("op", &["b", "a"])
    };
    let guard = begun(&*store, asked.clone()).await;
    let stacks: Vec<_> = guard.fences.iter().map(|(stack, _)| stack.as_str()).collect();
    assert_eq!(stacks, ["a", "b"], "in id order");

    let reader = store.reader();
    assert_eq!(reader.operation(&id("op")).await.unwrap().unwrap(), asked.operation);
    assert_eq!(reader.plan(&id("op")).await.unwrap().unwrap(), asked.plan);
    assert_eq!(reader.slots(&id("op")).await.unwrap(), [slot]);
    assert_eq!(reader.row(&"r1".into()).await.unwrap().unwrap().revision, 1);
    assert_eq!(reader.journal(&id("op")).await.unwrap(), [asked.started]);
    assert_eq!(reader.events(&id("op"), 0, 10).await.unwrap().len(), 1);
    assert!(reader.object("form_1").await.unwrap().is_some());
    let holder = reader.lease(&"a".into()).await.unwrap().unwrap();
    assert_eq!((holder.operation, holder.owner), (id("op"), "owner".into()));
    assert!(holder.since < holder.expires_at);
    assert_eq!(guard.expires_at, holder.expires_at);
}

/// The second operation on a stack learns who holds it.
pub async fn a_stack_that_is_held_is_refused(world: &dyn World) {
    let store = world.store();
    begun(&*store, begin("first", &["a", "b"])).await;
    let Begun::Held(holder) = store.begin(begin("second", &["b", "c"])).await.unwrap() else {
        panic!("expected it to be held");
    };
    assert_eq!((holder.stack, holder.operation), ("b".into(), id("first")));
    assert_eq!(store.reader().lease(&"c".into()).await.unwrap(), None);
}

/// A lease that ran out does not let a second unfinished operation in (INV-8): the first must be
/// recovered.
pub async fn a_stack_is_held_until_its_operation_is_recovered(world: &dyn World) {
    let store = world.store();
    begun(&*store, Begin { ttl_millis: 20, ..begin("first", &["a"]) }).await;
    world.pass(50).await;
    assert!(matches!(store.begin(begin("second", &["a"])).await.unwrap(), Begun::Held(_)));
}

/// The lowest step whose base is gone, changed, or in the way is named.
pub async fn a_plan_whose_rows_moved_is_refused_by_its_first_step(world: &dyn World) {
    let store = world.store();
    settle(&*store, "before", "a", vec![row("r1", "a"), row("r2", "a")]).await;
    let cases = [
        (vec![base(0, "a", "r1", Some(("r1", 1))), base(1, "a", "r9", None)], None),
        (vec![base(3, "a", "r1", Some(("r1", 2)))], Some(3)),
        (vec![base(0, "a", "r1", Some(("r1", 1))), base(1, "a", "r9", Some(("r9", 1)))], Some(1)),
        (vec![base(5, "a", "r1", None), base(2, "a", "r2", None)], Some(2)),
        (vec![base(0, "b", "r1", Some(("r1", 1)))], Some(0)),
    ];
    for (number, (bases, moved)) in cases.into_iter().enumerate().rev() {
        let name = format!("op{number}");
        let asked = Begin { plan: plan(bases), ..begin(&name, &["a", "b"]) };
        let found = match store.begin(asked).await.unwrap() {
            Begun::Running(_) => None,
            Begun::Moved(StepId(step)) => Some(step),
            Begun::Held(holder) => panic!("held by {holder:?}"),
        };
        assert_eq!(found, moved, "case {number}");
    }
}

/// A plan that saw no row of a label is refused where only a tombstone is.
pub async fn a_tombstone_counts_as_a_row_of_its_label(world: &dyn World) {
    let store = world.store();
    settle(&*store, "before", "a", vec![deleted(row("r1", "a"))]).await;
    let asked = Begin { plan: plan(vec![base(0, "a", "r1", None)]), ..begin("op", &["a"]) };
    assert!(matches!(store.begin(asked).await.unwrap(), Begun::Moved(StepId(0))));
}

/// Held or moved: the ledger is as it was.
pub async fn a_refused_begin_stores_nothing(world: &dyn World) {
    let store = world.store();
    begun(&*store, begin("first", &["a"])).await;
    let before = store.reader().logical_digest().await.unwrap();
    let asked = Begin { new_rows: vec![row("r1", "b")], ..begin("second", &["b", "a"]) };
    assert!(matches!(store.begin(asked.clone()).await.unwrap(), Begun::Held(_)));
    let moved = Begin { plan: plan(vec![base(0, "b", "x", Some(("x", 1)))]), ..begin("third", &["b"]) };
    assert!(matches!(store.begin(moved).await.unwrap(), Begun::Moved(_)));
    assert_eq!(store.reader().logical_digest().await.unwrap(), before);
    assert_eq!(store.reader().operation(&id("second")).await.unwrap(), None);
}

/// The objects of a begin belong to its transaction.
pub async fn a_taken_key_undoes_the_whole_begin(world: &dyn World) {
    let store = world.store();
    let with = |id: &str, object_id: &str, stack: &str| Begin {
        objects: vec![ObjectWrite::Insert(object(object_id, Some("proj"), Some("site")))],
        new_rows: vec![row(id, stack)],
        ..begin(id, &[stack])
    };
    begun(&*store, with("first", "form_1", "a")).await;
    let refused = store.begin(with("second", "form_2", "b")).await;
    assert!(
        matches!(&refused, Err(StoreError::Object(DomainError::KeyTaken { by, .. })) if by == "form_1"),
        "{refused:?}"
    );
    assert_eq!(store.reader().row(&"second".into()).await.unwrap(), None);
    assert_eq!(store.reader().lease(&"b".into()).await.unwrap(), None);
}

/// INV-8, with many tasks of two processes.
pub async fn of_many_that_begin_at_once_exactly_one_runs(world: &dyn World) {
    let stores = [world.store(), world.reopen().await];
    let tasks = (0..24).map(|number: usize| {
        let store = Arc::clone(&stores[number % 2]);
        tokio::spawn(async move { store.begin(begin(&format!("op{number}"), &["a", "b"])).await.unwrap() })
    });
    let mut running = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        match task.await.unwrap() {
            Begun::Running(guard) => running.push(guard),
            Begun::Held(_) => {}
            Begun::Moved(step) => panic!("moved: {step:?}"),
        }
    }
    assert_eq!(running.len(), 1);
    let open = stores[0].reader().open_operations().await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].record.as_ref().unwrap().status, OperationStatus::Running);
    assert!(running[0].expires_at > Timestamp(0));
    stores[1].commit(&running[0], Unit::default()).await.unwrap();
}

fn claiming(operation: &str, stack: &str, row: &str, native_id: &str) -> Begin {
    let claim = Claim { row: row.into(), object: owned(native_id) };
    Begin { claims: vec![claim], ..begin(operation, &[stack]) }
}

/// Whichever stack the other row is of; the row's own object is no obstacle.
pub async fn what_another_row_has_cannot_be_claimed(world: &dyn World) {
    let store = world.store();
    settle(&*store, "make", "a", vec![live("r", "a", &[])]).await;
    settle(&*store, "wait", "b", vec![row("s", "b")]).await;
    let refused = store.begin(claiming("take", "b", "s", "native-r")).await;
    assert!(
        matches!(&refused, Err(StoreError::Owned { row, native_id })
            if *row == "s".into() && *native_id == "native-r".into()),
        "{refused:?}"
    );
    assert_eq!(store.reader().operation(&id("take")).await.unwrap(), None);
    assert_eq!(store.reader().lease(&"b".into()).await.unwrap(), None);
    begun(&*store, claiming("again", "a", "r", "native-r")).await;
    begun(&*store, claiming("free", "b", "s", "native-x")).await;
}

/// Two that claim an object at once can't both have it.
pub async fn a_claim_holds_until_the_row_is_written(world: &dyn World) {
    let store = world.store();
    settle(&*store, "wait", "a", vec![row("r", "a")]).await;
    settle(&*store, "wait too", "b", vec![row("s", "b")]).await;
    let guard = begun(&*store, claiming("first", "a", "r", "native-x")).await;
    assert_eq!(store.reader().owners(&owned("native-x")).await.unwrap(), ["r".into()]);
    assert!(store.begin(claiming("second", "b", "s", "native-x")).await.is_err());
    // It came to nothing.
    let unit = Unit { rows: vec![row("r", "a")], ..Unit::default() };
    store.commit(&guard, unit).await.unwrap();
    begun(&*store, claiming("third", "b", "s", "native-x")).await;
}

/// An operation can end without having come to the row at all.
pub async fn a_claim_ends_with_its_operation(world: &dyn World) {
    let store = world.store();
    settle(&*store, "wait", "a", vec![row("r", "a")]).await;
    settle(&*store, "wait too", "b", vec![row("s", "b")]).await;
    let guard = begun(&*store, claiming("first", "a", "r", "native-x")).await;
    store.commit(&guard, Unit { finish: succeeded(), ..Unit::default() }).await.unwrap();
    begun(&*store, claiming("second", "b", "s", "native-x")).await;
}
