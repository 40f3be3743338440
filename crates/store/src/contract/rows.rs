//! The ledger's rows: references and observations.

use super::World;
use super::given::{NOON, begin, begun, deleted, deleting, live, owned, row, seen, settle, undoing};
use crate::{LeaseGuard, OwnedObject, Referrer, Store, StoreError, Unit};
use formwork_model::{Json, Row, RowStatus};

async fn write(store: &dyn Store, guard: &LeaseGuard, row: Row) -> Result<(), StoreError> {
    store.commit(guard, Unit { rows: vec![row], ..Unit::default() }).await
}

/// The delete intent is refused with the stack that refers, and so is forgetting the row at once;
/// once nothing refers to it any more, it goes.
pub async fn references_from_another_stack_block_a_delete(world: &dyn World) {
    let store = world.store();
    settle(&*store, "make", "a", vec![live("r", "a", &[])]).await;
    settle(&*store, "refer", "b", vec![live("s", "b", &["r", "r"])]).await;
    assert_eq!(store.reader().inbound(&"a".into()).await.unwrap(), [("s".into(), "r".into())]);
    let guard = begun(&*store, begin("op", &["a"])).await;
    let by_s = [Referrer { stack: "b".into(), label: live("s", "b", &[]).label, row: "s".into() }];
    let undoing = undoing(live("r", "a", &[]), "op");
    for going in [deleting(live("r", "a", &[]), "op"), undoing, deleted(live("r", "a", &[]))] {
        let refused = write(&*store, &guard, going).await;
        assert!(
            matches!(&refused, Err(StoreError::Referenced { row, by }) if *row == "r".into() && *by == by_s),
            "{refused:?}"
        );
    }
    assert_eq!(store.reader().row(&"r".into()).await.unwrap().unwrap().revision, 1);
    settle(&*store, "unrefer", "b", vec![live("s", "b", &[])]).await;
    write(&*store, &guard, deleting(live("r", "a", &[]), "op")).await.unwrap();
}

/// Within a stack the plan's order decides; and a tombstone elsewhere refers to nothing.
pub async fn references_from_the_own_stack_do_not_block_a_delete(world: &dyn World) {
    let store = world.store();
    settle(&*store, "make", "a", vec![live("r", "a", &[]), live("own", "a", &["r"])]).await;
    settle(&*store, "refer", "b", vec![deleted(live("gone", "b", &["r"]))]).await;
    assert!(store.reader().inbound(&"a".into()).await.unwrap().is_empty());
    let guard = begun(&*store, begin("op", &["a"])).await;
    write(&*store, &guard, deleting(live("r", "a", &[]), "op")).await.unwrap();
}

/// The effect may have happened: its outcome must be storable, whoever refers by now.
pub async fn a_delete_that_began_can_always_be_recorded(world: &dyn World) {
    let store = world.store();
    settle(&*store, "make", "a", vec![live("r", "a", &[])]).await;
    let guard = begun(&*store, begin("op", &["a"])).await;
    write(&*store, &guard, deleting(live("r", "a", &[]), "op")).await.unwrap();
    settle(&*store, "refer", "b", vec![live("s", "b", &["r"])]).await;
    write(&*store, &guard, deleted(live("r", "a", &[]))).await.unwrap();
    assert_eq!(store.reader().row(&"r".into()).await.unwrap().unwrap().status, RowStatus::Deleted);
}

/// They are replaced, not added to.
pub async fn references_are_those_of_the_last_write(world: &dyn World) {
    let store = world.store();
    settle(&*store, "make", "a", vec![live("r1", "a", &[]), live("r2", "a", &[])]).await;
    let cases: [(&[&str], &[&str]); 4] =
        [(&["r2", "r1"], &["r1", "r2"]), (&["r1"], &["r1"]), (&["r2"], &["r2"]), (&[], &[])];
    for (number, (references, referred)) in cases.into_iter().enumerate() {
        let name = format!("refer{number}");
        settle(&*store, &name, "b", vec![live("s", "b", references)]).await;
        let inbound = store.reader().inbound(&"a".into()).await.unwrap();
        assert_eq!(inbound.iter().map(|(_, to)| to.as_str()).collect::<Vec<_>>(), referred);
    }
}

/// Compare-and-set: what was read of another object, or before another effect, is dropped.
pub async fn an_observation_needs_the_same_generation_and_object(world: &dyn World) {
    let store = world.store();
    settle(&*store, "make", "a", vec![live("r", "a", &[]), row("bare", "a")]).await;
    let stale = vec![
        seen("r", 1, "native-r"),
        seen("r", 0, "native-x"),
        seen("bare", 0, "native-bare"),
        seen("nothing", 0, "native-nothing"),
    ];
    assert_eq!(store.observe(stale).await.unwrap(), 0);
    assert_eq!(store.reader().row(&"r".into()).await.unwrap().unwrap().current.unwrap().observed, None);
    assert_eq!(store.observe(vec![seen("r", 0, "native-r")]).await.unwrap(), 1);
}

/// A plan made before it is not outdated by it.
pub async fn an_observation_does_not_raise_the_revision(world: &dyn World) {
    let store = world.store();
    settle(&*store, "make", "a", vec![live("r", "a", &["x"])]).await;
    assert_eq!(store.observe(vec![seen("r", 0, "native-r")]).await.unwrap(), 1);
    let row = store.reader().row(&"r".into()).await.unwrap().unwrap();
    assert_eq!(row.revision, 1);
    assert_eq!(row.current.unwrap().observed, Some((Json::from("seen").into(), NOON)));
}

/// Whoever runs knows better; a lease that ran out no longer counts.
pub async fn an_observation_passes_over_leased_rows(world: &dyn World) {
    let store = world.store();
    settle(&*store, "make", "a", vec![live("r", "a", &[])]).await;
    settle(&*store, "make too", "b", vec![live("s", "b", &[])]).await;
    begun(&*store, crate::Begin { ttl_millis: 2_000, ..begin("op", &["a"]) }).await;
    let both = || vec![seen("r", 0, "native-r"), seen("s", 0, "native-s")];
    assert_eq!(store.observe(both()).await.unwrap(), 1);
    world.pass(2_100).await;
    assert_eq!(store.observe(both()).await.unwrap(), 2);
}

/// Tombstones included.
pub async fn rows_come_by_position_and_id(world: &dyn World) {
    let store = world.store();
    let at = |id: &str, position| Row { position, ..row(id, "a") };
    let rows = vec![at("z", 1), deleted(at("b", 2)), at("a", 2), at("B", 2), at("ä", 2)];
    settle(&*store, "make", "a", rows).await;
    let rows = store.reader().rows(&"a".into()).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["z", "B", "a", "b", "ä"]);
}

/// Deposed objects and those under way count; a tombstone has nothing.
pub async fn a_row_is_found_by_what_it_has_had_and_makes(world: &dyn World) {
    let store = world.store();
    let reader = store.reader();
    let made = live("r", "a", &[]);
    settle(&*store, "make", "a", vec![made.clone(), live("s", "a", &[])]).await;
    let owners = async |id: &str| reader.owners(&owned(id)).await.unwrap();
    assert_eq!(owners("native-r").await, ["r".into()]);
    let other = OwnedObject { type_name: "other".into(), ..owned("native-r") };
    assert!(reader.owners(&other).await.unwrap().is_empty(), "an id says nothing without its type");
    let mut replaced = made.clone();
    replaced.deposed.extend(replaced.current.take());
    let mut making = deleting(replaced, "op");
    if let Some(intent) = &mut making.intent {
        intent.native_id = Some("native-new".into());
    }
    settle(&*store, "replace", "a", vec![making]).await;
    for found in ["native-r", "native-new"] {
        assert_eq!(owners(found).await, ["r".into()], "{found}");
    }
    settle(&*store, "delete", "a", vec![deleted(Row { deposed: Vec::new(), ..made })]).await;
    for gone in ["native-r", "native-new"] {
        assert!(owners(gone).await.is_empty(), "{gone}");
    }
    assert_eq!(owners("native-s").await, ["s".into()]);
    let other = world.reopen().await;
    assert_eq!(other.reader().owners(&owned("native-s")).await.unwrap(), ["s".into()]);
}
