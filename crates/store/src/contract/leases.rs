//! Leases and fences.

use super::World;
use super::given::{LONG, begin, begun, entry, id, settle, succeeded};
use crate::{Begin, LeaseGuard, Store, StoreError, TakenOver, Unit};

/// A lease short enough to run out in a test.
const SHORT: u64 = 20;
/// Long enough for [`SHORT`] to be over.
const AFTER_SHORT: u64 = 50;

fn short(operation: &str) -> Begin {
    Begin { ttl_millis: SHORT, ..begin(operation, &["a", "b"]) }
}

async fn taken(store: &dyn Store, operation: &str, dead: Option<&str>) -> Option<LeaseGuard> {
    let dead = dead.map(Into::into);
    match store.take_over(&id(operation), &"heir".into(), dead.as_ref(), LONG).await.unwrap() {
        TakenOver::Taken(guard) => Some(guard),
        TakenOver::Held(holder) => {
            assert_eq!(holder.operation, id(operation));
            None
        }
        TakenOver::Nothing => None,
    }
}

async fn is_lost(store: &dyn Store, guard: &LeaseGuard) -> bool {
    match store
        .commit(guard, Unit { entries: vec![entry(guard.operation.as_str(), 1)], ..Unit::default() })
        .await
    {
        Ok(()) => false,
        Err(StoreError::LeaseLost { operation }) => {
            assert_eq!(operation, guard.operation);
            true
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// INV-8: what the old owner still sends is rejected, in whatever process it is.
pub async fn a_stale_fence_is_rejected_after_a_take_over(world: &dyn World) {
    let (old, new) = (world.store(), world.reopen().await);
    let stale = begun(&*old, begin("op", &["a", "b"])).await;
    let fresh = taken(&*new, "op", Some("owner")).await.unwrap();
    for (before, after) in stale.fences.iter().zip(&fresh.fences) {
        assert_eq!(before.0, after.0);
        assert!(before.1 < after.1);
    }
    assert!(is_lost(&*old, &stale).await);
    assert!(matches!(old.renew(&stale, LONG).await, Err(StoreError::LeaseLost { .. })));
    assert!(!is_lost(&*new, &fresh).await);
    assert_eq!(new.reader().lease(&"a".into()).await.unwrap().unwrap().owner, "heir".into());
}

/// By the store's clock, even if nobody took it over; then it can't be renewed either.
pub async fn a_lease_that_ran_out_is_rejected(world: &dyn World) {
    let store = world.store();
    let guard = begun(&*store, short("op")).await;
    world.pass(AFTER_SHORT).await;
    assert!(is_lost(&*store, &guard).await);
    assert!(matches!(store.renew(&guard, LONG).await, Err(StoreError::LeaseLost { .. })));
    assert_eq!(store.reader().journal(&id("op")).await.unwrap().len(), 1);
    assert!(!is_lost(&*store, &taken(&*store, "op", None).await.unwrap()).await);
}

/// A renewed lease outlives its first term.
pub async fn a_renewed_lease_goes_on(world: &dyn World) {
    let store = world.store();
    let guard = begun(&*store, Begin { ttl_millis: 2_000, ..begin("op", &["a", "b"]) }).await;
    store.renew(&guard, LONG).await.unwrap();
    world.pass(2_100).await;
    assert!(!is_lost(&*store, &guard).await);
    let holder = store.reader().lease(&"b".into()).await.unwrap().unwrap();
    assert!(holder.expires_at > guard.expires_at);
}

/// A running lease protects its owner; one that ran out, or whose owner is known to be dead, does
/// not.
pub async fn a_running_lease_is_taken_only_from_a_dead_owner(world: &dyn World) {
    let store = world.store();
    begun(&*store, begin("op", &["a"])).await;
    assert_eq!(taken(&*store, "op", None).await, None);
    assert_eq!(taken(&*store, "op", Some("somebody else")).await, None);
    assert!(taken(&*store, "op", Some("owner")).await.is_some());
    assert_eq!(taken(&*store, "op", Some("owner")).await, None, "now the heir has it");
    begun(&*store, Begin { ttl_millis: SHORT, ..begin("short", &["b"]) }).await;
    world.pass(AFTER_SHORT).await;
    assert!(taken(&*store, "short", None).await.is_some());
}

/// There is nothing to recover.
pub async fn a_finished_operation_is_not_taken_over(world: &dyn World) {
    let store = world.store();
    settle(&*store, "op", "a", Vec::new()).await;
    for operation in ["op", "never was"] {
        let taken = store.take_over(&id(operation), &"heir".into(), Some(&"owner".into()), LONG).await;
        assert!(matches!(taken.unwrap(), TakenOver::Nothing));
    }
}

/// Its guard is worth nothing, even though its fence is still the newest.
pub async fn a_finished_operation_cannot_write(world: &dyn World) {
    let store = world.store();
    let guard = begun(&*store, begin("op", &["a"])).await;
    store.commit(&guard, Unit { finish: succeeded(), ..Unit::default() }).await.unwrap();
    assert!(is_lost(&*store, &guard).await);
    begun(&*store, begin("next", &["a"])).await;
    assert!(is_lost(&*store, &guard).await);
}

/// A fence outlives its holder, so a late writer of any earlier operation is stale.
pub async fn fences_rise_over_operations(world: &dyn World) {
    let store = world.store();
    let mut last = None;
    for number in 0..3 {
        let guard = begun(&*store, begin(&format!("op{number}"), &["a"])).await;
        let fence = guard.fence(&"a".into());
        assert!(fence > last);
        last = fence;
        store.commit(&guard, Unit { finish: succeeded(), ..Unit::default() }).await.unwrap();
    }
}
