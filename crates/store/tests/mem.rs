//! The store in memory keeps the contract, and its faults are what they say.
#![expect(clippy::unwrap_used, reason = "tests")]

use async_trait::async_trait;
use formwork_model::{Json, Timestamp};
use formwork_store::contract::{World, given};
use formwork_store::{
    Durability, Fault, LeaseGuard, ManualClock, MemOptions, MemStore, Store, StoreError, Unit,
};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

struct Mem {
    store: MemStore,
    clock: Arc<ManualClock>,
}

#[async_trait]
impl World for Mem {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn reopen(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn pass(&self, millis: u64) {
        self.clock.advance(millis);
    }

    async fn damage_operation(&self, _: &str) -> bool {
        false
    }
}

fn mem(durability: Durability, check_fence: bool) -> Mem {
    let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
    let store = MemStore::new(MemOptions { clock: clock.clone(), durability, check_fence });
    Mem { store, clock }
}

fn world() -> std::future::Ready<Option<Box<dyn World>>> {
    std::future::ready(Some(Box::new(mem(Durability::Sync, true))))
}

formwork_store::contract_suite!(world);

/// Polls once: without a runtime that is all the simulator does.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a store in memory is always ready"),
    }
}

fn begin(store: &MemStore) -> LeaseGuard {
    ready(given::begun(store, given::begin("op", &["a"])))
}

fn commit(store: &MemStore, guard: &LeaseGuard, sequence: u64) -> Result<(), StoreError> {
    ready(store.commit(guard, Unit { entries: vec![given::entry("op", sequence)], ..Unit::default() }))
}

fn journaled(store: &MemStore) -> usize {
    ready(store.reader().journal(&"op".into())).unwrap().len()
}

#[test]
fn what_was_acknowledged_survives_a_crash() {
    let Mem { store, .. } = mem(Durability::Sync, true);
    let guard = begin(&store);
    commit(&store, &guard, 1).unwrap();
    let next = store.crash();
    assert_eq!(journaled(&next), 2);
    assert!(commit(&store, &guard, 2).is_err(), "a dead process writes nothing");
    assert!(ready(store.reader().journal(&"op".into())).is_err());
    commit(&next, &guard, 2).unwrap();
}

#[test]
fn without_fsync_a_crash_loses_what_was_not_flushed() {
    let Mem { store, .. } = mem(Durability::None, true);
    let guard = begin(&store);
    store.flush();
    commit(&store, &guard, 1).unwrap();
    assert_eq!(journaled(&store), 2);
    let next = store.crash();
    assert_eq!(journaled(&next), 1);
    assert_eq!(journaled(&next.crash()), 1);
}

#[test]
fn a_fault_before_stores_nothing() {
    let Mem { store, .. } = mem(Durability::Sync, true);
    let guard = begin(&store);
    store.fail_next(Fault::FailBefore);
    assert!(matches!(commit(&store, &guard, 1), Err(StoreError::Fault { .. })));
    assert_eq!(journaled(&store), 1);
    commit(&store, &guard, 1).unwrap();
}

#[test]
fn a_fault_after_stores_what_it_denies() {
    for durability in [Durability::Sync, Durability::None] {
        let Mem { store, .. } = mem(durability, true);
        let guard = begin(&store);
        store.fail_next(Fault::FailAfter);
        assert!(matches!(commit(&store, &guard, 1), Err(StoreError::Fault { .. })));
        assert_eq!(journaled(&store.crash()), 2);
    }
}

#[test]
fn a_torn_write_is_not_there_after_the_crash_it_belongs_to() {
    let Mem { store, .. } = mem(Durability::Sync, true);
    let guard = begin(&store);
    store.fail_next(Fault::Torn);
    assert!(commit(&store, &guard, 1).is_err());
    assert!(commit(&store, &guard, 1).is_err(), "until the crash nothing works");
    let next = store.crash();
    assert_eq!(journaled(&next), 1);
    commit(&next, &guard, 1).unwrap();
}

#[test]
fn a_stranger_takes_the_lease() {
    for check_fence in [true, false] {
        let Mem { store, .. } = mem(Durability::Sync, check_fence);
        let guard = begin(&store);
        store.fail_next(Fault::LeaseLost);
        let lost = matches!(commit(&store, &guard, 1), Err(StoreError::LeaseLost { .. }));
        assert_eq!(lost, check_fence, "without the check the write goes through");
        let holder = ready(store.reader().lease(&"a".into())).unwrap().unwrap();
        assert_eq!(holder.owner, "stranger".into());
    }
}

#[test]
fn faults_are_scheduled_by_the_number_of_the_write_and_pass_over_a_crash() {
    let Mem { store, .. } = mem(Durability::Sync, true);
    store.fail_at(2, Fault::FailBefore);
    store.fail_next(Fault::FailBefore);
    assert!(ready(store.compact(Timestamp(0), 1)).is_err(), "write 0");
    let guard = begin(&store);
    assert_eq!(store.writes(), 2);
    let store = store.crash();
    assert!(commit(&store, &guard, 1).is_err(), "write 2");
    commit(&store, &guard, 1).unwrap();
}

#[test]
fn a_fork_lives_its_own_life() {
    let Mem { store, .. } = mem(Durability::Sync, true);
    let guard = begin(&store);
    let fork = store.fork();
    commit(&fork, &guard, 1).unwrap();
    assert_eq!((journaled(&store), journaled(&fork)), (1, 2));
    let made = ready(store.domain(None, None, Box::new(|tx| tx.now().map(|now| Json::from(now.0)))));
    assert_eq!(made.unwrap(), Json::from(1_000));
}
