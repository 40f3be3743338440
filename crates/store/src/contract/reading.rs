//! Events, pages, compaction, and what readers see.

use super::World;
use super::given::{
    LONG, NOON, audit, base, begin, begun, entry, event, id, live, plan, row, sealed, settle, succeeded,
};
use crate::{Begin, SavedPlan, Store, StoreError, Unit};
use formwork_model::{Json, PlanHash, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// A subscription waits for the signal and reads on from its cursor.
pub async fn events_have_a_cursor_and_a_signal(world: &dyn World) {
    let store = world.store();
    let mut signal = store.event_signal();
    let before = *signal.borrow_and_update();
    let guard = begun(&*store, Begin { events: vec![event("op", "0")], ..begin("op", &["a"]) }).await;
    let other = begun(&*store, Begin { events: vec![event("other", "x")], ..begin("other", &["b"]) }).await;
    store
        .commit(&guard, Unit { events: vec![event("op", "1"), event("op", "2")], ..Unit::default() })
        .await
        .unwrap();
    store.commit(&other, Unit { events: vec![event("other", "y")], ..Unit::default() }).await.unwrap();
    tokio::time::timeout(Duration::from_secs(10), signal.changed()).await.unwrap().unwrap();
    assert!(*signal.borrow() > before);

    let reader = store.reader();
    let mut cursor = 0;
    for note in ["0", "1", "2"] {
        let events = reader.events(&id("op"), cursor, 1).await.unwrap();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].note.as_deref(), Some(note));
        assert!(events[0].sequence > cursor);
        cursor = events[0].sequence;
    }
    assert!(reader.events(&id("op"), cursor, 9).await.unwrap().is_empty());
    let told = store.event_signal();
    assert_eq!(*told.borrow(), reader.events(&id("other"), 0, 9).await.unwrap()[1].sequence);
}

/// Oldest first, with their number.
pub async fn operations_come_in_pages(world: &dyn World) {
    let store = world.store();
    for name in ["z", "y", "x"] {
        settle(&*store, name, "a", Vec::new()).await;
    }
    settle(&*store, "elsewhere", "b", Vec::new()).await;
    let page = store.reader().operations(&"a".into(), 2, 1).await.unwrap();
    assert_eq!(page.items.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(), ["y", "x"]);
    assert_eq!(page.total, 3);
}

/// What recovery begins with.
pub async fn open_operations_name_their_holders(world: &dyn World) {
    let store = world.store();
    settle(&*store, "done", "a", Vec::new()).await;
    begun(&*store, begin("second", &["c"])).await;
    begun(&*store, begin("first", &["a", "b"])).await;
    let open = store.reader().open_operations().await.unwrap();
    let names: Vec<_> = open.iter().map(|open| open.id.as_str()).collect();
    assert_eq!(names, ["second", "first"]);
    for open in &open {
        assert_eq!(open.record.as_ref().unwrap().id, open.id);
        assert_eq!(open.holder.as_ref().map(|holder| &holder.operation), Some(&open.id));
    }
}

/// Recovery takes up the others, and can tell which one it can't read.
pub async fn a_damaged_operation_does_not_hide_the_others(world: &dyn World) {
    let store = world.store();
    begun(&*store, begin("damaged", &["a"])).await;
    begun(&*store, begin("whole", &["b"])).await;
    if !world.damage_operation("damaged").await {
        return;
    }
    let open = store.reader().open_operations().await.unwrap();
    let [damaged, whole] = open.as_slice() else { panic!("{open:?}") };
    assert_eq!((damaged.id.as_str(), whole.id.as_str()), ("damaged", "whole"));
    let Err(StoreError::Unreadable { record, .. }) = &damaged.record else { panic!("{damaged:?}") };
    assert_eq!(record, "operation damaged");
    assert_eq!(damaged.holder.as_ref().map(|holder| &holder.operation), Some(&damaged.id));
    assert!(whole.record.is_ok());
}

/// Journals and slots of what ended go, those of what runs stay, and so do plans and events.
pub async fn old_journals_go_in_batches_and_plans_stay(world: &dyn World) {
    let store = world.store();
    for number in 0..5 {
        let name = format!("op{number}");
        let asked = Begin { events: vec![event(&name, "begun")], ..begin(&name, &["a"]) };
        let guard = begun(&*store, asked).await;
        let mut finish = succeeded();
        if let Some(finish) = &mut finish {
            finish.at = Timestamp(100 + number);
        }
        store.commit(&guard, Unit { finish, ..Unit::default() }).await.unwrap();
    }
    begun(&*store, begin("running", &["a"])).await;
    let mut cleaned = Vec::new();
    for _ in 0..3 {
        cleaned.push(store.compact(Timestamp(104), 3).await.unwrap());
    }
    assert_eq!(cleaned, [3, 1, 0]);
    let reader = store.reader();
    assert!(reader.journal(&id("op3")).await.unwrap().is_empty());
    assert_eq!(reader.journal(&id("op4")).await.unwrap().len(), 1, "it ended just then");
    assert_eq!(reader.journal(&id("running")).await.unwrap().len(), 1);
    assert!(reader.plan(&id("op0")).await.unwrap().is_some());
    assert_eq!(reader.events(&id("op0"), 0, 9).await.unwrap().len(), 1);
    assert!(reader.operation(&id("op0")).await.unwrap().is_some());
}

fn numbered(number: u16, at: i64) -> SavedPlan {
    let mut hash = [0; 32];
    hash[..2].copy_from_slice(&number.to_be_bytes());
    SavedPlan {
        hash: PlanHash(hash),
        project: "proj".into(),
        plan: plan(Vec::new()),
        slots: Vec::new(),
        request: Json::Null,
        created_at: Timestamp(NOON.0 + at),
    }
}

async fn is_kept(store: &dyn Store, number: u16) -> bool {
    store.reader().saved_plan(&numbered(number, 0).hash).await.unwrap().is_some()
}

/// Nobody applies a plan that is more than 30 days old.
pub async fn plans_of_more_than_a_month_ago_are_forgotten(world: &dyn World) {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let store = world.store();
    for (number, at) in [(0, 0), (1, 1), (2, 30 * DAY)] {
        store.save_plan(numbered(number, at)).await.unwrap();
    }
    assert!(is_kept(&*store, 0).await, "it is 30 days old");
    store.save_plan(numbered(1, 30 * DAY)).await.unwrap();
    store.save_plan(numbered(3, 30 * DAY + 2)).await.unwrap();
    assert!(!is_kept(&*store, 0).await);
    assert!(is_kept(&*store, 1).await, "saved again, it is as new");
}

/// The newest thousand are kept, in whatever order they are saved.
pub async fn of_many_saved_plans_the_newest_thousand_are_kept(world: &dyn World) {
    let store = world.store();
    let saves = (0..1_003).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.save_plan(numbered(number, number.into())).await })
    });
    for save in saves.collect::<Vec<_>>() {
        save.await.unwrap().unwrap();
    }
    for number in 0..5 {
        assert_eq!(is_kept(&*store, number).await, number >= 3, "{number}");
    }
    assert!(is_kept(&*store, 1_002).await);
}

/// With its sealed inputs; saving it again is no error.
pub async fn a_saved_plan_comes_back_by_its_hash(world: &dyn World) {
    let store = world.store();
    let slots = vec![("s".into(), sealed("x"))];
    let (plan, request) = (plan(vec![base(0, "a", "r", Some(("r", 3)))]), serde_json::json!({"stack": "a"}));
    let hash = plan.hash();
    let saved =
        SavedPlan { hash, project: "proj".into(), plan, slots: slots.clone(), request, created_at: NOON };
    for _ in 0..2 {
        store.save_plan(saved.clone()).await.unwrap();
    }
    let found = store.reader().saved_plan(&saved.hash).await.unwrap().unwrap();
    assert_eq!((found.plan, found.request, found.slots), (saved.plan, saved.request, slots));
    assert_eq!((found.hash, found.project, found.created_at), (saved.hash, saved.project, NOON));
    assert!(store.reader().saved_plan(&PlanHash([9; 32])).await.unwrap().is_none());
}

/// Of all projects or of one.
pub async fn the_audit_comes_newest_first(world: &dyn World) {
    let store = world.store();
    let records = [audit("1", Some("p")), audit("2", None), audit("3", Some("p"))];
    for record in &records {
        store.audit(record.clone()).await.unwrap();
    }
    let reader = store.reader();
    let all = reader.audit_log(None, 2, 0).await.unwrap();
    assert_eq!((all.items, all.total), (vec![records[2].clone(), records[1].clone()], 3));
    let of_project = reader.audit_log(Some(&"p".into()), 9, 1).await.unwrap();
    assert_eq!((of_project.items, of_project.total), (vec![records[0].clone()], 2));
}

/// INV-5: reading, the audit, saved plans and renewals leave it; anything else does not.
pub async fn the_digest_changes_with_contents_only(world: &dyn World) {
    let (store, other) = (world.store(), world.reopen().await);
    let guard = begun(&*store, begin("op", &["a"])).await;
    let before = store.reader().logical_digest().await.unwrap();
    store.renew(&guard, LONG * 2).await.unwrap();
    let plan = plan(Vec::new());
    let saved = SavedPlan {
        hash: plan.hash(),
        project: "proj".into(),
        plan,
        slots: Vec::new(),
        request: 1.into(),
        created_at: NOON,
    };
    store.save_plan(saved).await.unwrap();
    store.reader().rows(&"a".into()).await.unwrap();
    assert_eq!(other.reader().logical_digest().await.unwrap(), before);
    let mut digests = vec![before];
    let units = [
        Unit { entries: vec![entry("op", 1)], ..Unit::default() },
        Unit { rows: vec![row("r", "a")], ..Unit::default() },
        Unit { events: vec![event("op", "x")], ..Unit::default() },
    ];
    for unit in units {
        store.commit(&guard, unit).await.unwrap();
        let digest = store.reader().logical_digest().await.unwrap();
        assert!(!digests.contains(&digest));
        digests.push(digest);
    }
}

/// A second process sees what the first was told is durable.
pub async fn what_was_stored_is_there_for_another_process(world: &dyn World) {
    let store = world.store();
    settle(&*store, "op", "a", vec![live("r", "a", &["x"])]).await;
    let other = world.reopen().await;
    let rows = other.reader().rows(&"a".into()).await.unwrap();
    assert_eq!(rows, store.reader().rows(&"a".into()).await.unwrap());
    assert_eq!(rows.len(), 1);
    settle(&*other, "next", "a", vec![live("r", "a", &[])]).await;
    assert_eq!(store.reader().row(&"r".into()).await.unwrap().unwrap().revision, 2);
}
