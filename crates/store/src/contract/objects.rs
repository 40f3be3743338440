//! Jobs over objects.

use super::World;
use super::given::{LONG, agents, audit, begin, begun, id, link, named, object, token};
use crate::{
    DomainError, DomainFailure, DomainTx, ListQuery, NewObject, ObjectChange, Store, StoredObject, TakenOver,
};
use formwork_model::{ClientToken, Fence, Json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

async fn run(
    store: &dyn Store,
    job: impl FnOnce(&mut dyn DomainTx) -> Result<Json, DomainError> + Send + 'static,
) -> Result<Json, DomainFailure> {
    store.domain(None, None, Box::new(job)).await
}

async fn insert(store: &dyn Store, object: NewObject) -> Result<Json, DomainFailure> {
    run(store, |tx| tx.insert(object).map(|stored| stored.version.into())).await
}

fn change(stored: &StoredObject, expected_version: Option<u64>, keys: &[&str]) -> ObjectChange {
    let keys = keys.iter().copied().map(named).collect();
    ObjectChange { id: stored.id.clone(), expected_version, doc: "new".into(), keys, links: Vec::new() }
}

async fn get(store: &dyn Store, id: &str) -> StoredObject {
    store.reader().object(id).await.unwrap().unwrap()
}

/// Architecture §4, "Platform": the same token runs once, whatever the second job would do, also
/// after a reopening.
pub async fn a_replayed_token_answers_with_the_first_outcome(world: &dyn World) {
    let runs = Arc::new(AtomicU32::new(0));
    for store in [world.store(), world.store(), world.reopen().await] {
        let runs = runs.clone();
        let job = move |tx: &mut dyn DomainTx| {
            let run = runs.fetch_add(1, Ordering::SeqCst);
            tx.insert(object(&format!("o{run}"), None, None))?;
            Ok(run.into())
        };
        assert_eq!(store.domain(None, Some(token(1)), Box::new(job)).await.unwrap(), Json::from(0));
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(world.store().reader().objects(&agents(9, 0)).await.unwrap().total, 1);
}

async fn fails_without_trace(
    store: &dyn Store,
    token: Option<ClientToken>,
    fail: impl FnOnce() -> DomainError + Send + 'static,
) -> DomainFailure {
    let before = store.reader().logical_digest().await.unwrap();
    let job = move |tx: &mut dyn DomainTx| {
        tx.insert(object("o", None, Some("name")))?;
        Err(fail())
    };
    let failed = store.domain(None, token, Box::new(job)).await.unwrap_err();
    assert_eq!(store.reader().logical_digest().await.unwrap(), before);
    failed
}

/// Its token included: the call may be made again.
pub async fn a_failed_job_leaves_nothing(world: &dyn World) {
    let store = world.store();
    let refusal =
        || DomainError::Refused { code: "NO".to_owned(), message: "no".to_owned(), meta: Some(1.into()) };
    let failed = fails_without_trace(&*store, Some(token(1)), refusal).await;
    assert!(
        matches!(&failed, DomainFailure::Job(DomainError::Refused { code, meta: Some(_), .. }) if code == "NO")
    );
    let again = move |tx: &mut dyn DomainTx| tx.insert(object("o", None, None)).map(|_| "made".into());
    assert_eq!(store.domain(None, Some(token(1)), Box::new(again)).await.unwrap(), Json::from("made"));
}

/// INV-18: nor does the store go down with it.
pub async fn a_panicking_job_leaves_nothing(world: &dyn World) {
    let store = world.store();
    fails_without_trace(&*store, None, || panic!("on purpose")).await;
    insert(&*store, object("o", None, None)).await.unwrap();
}

/// INV-8: not the newest, or nobody's.
pub async fn a_stale_fence_stops_a_job(world: &dyn World) {
    let store = world.store();
    let guard = begun(&*store, begin("op", &["a"])).await;
    let stale = guard.fence(&"a".into()).unwrap();
    let call = |fence: Fence| {
        let job = |tx: &mut dyn DomainTx| tx.list(&agents(9, 0)).map(|page| page.total.into());
        store.domain(Some(("a".into(), fence)), Some(token(1)), Box::new(job))
    };
    assert_eq!(call(stale).await.unwrap(), Json::from(0));
    let taken = store.take_over(&id("op"), &"heir".into(), Some(&"owner".into()), LONG).await.unwrap();
    let TakenOver::Taken(fresh) = taken else { panic!("{taken:?}") };
    assert!(matches!(call(stale).await, Err(DomainFailure::Fenced { stack }) if stack == "a".into()));
    assert_eq!(call(fresh.fence(&"a".into()).unwrap()).await.unwrap(), Json::from(0), "a replay");
}

/// Not across projects, not across types; what is global has a space of its own.
pub async fn keys_are_unique_per_project_and_type(world: &dyn World) {
    let store = world.store();
    insert(&*store, object("a", Some("p1"), Some("bot"))).await.unwrap();
    insert(&*store, object("b", Some("p2"), Some("bot"))).await.unwrap();
    insert(&*store, object("c", None, Some("bot"))).await.unwrap();
    let other_type = NewObject { type_name: "tool".to_owned(), ..object("d", Some("p1"), Some("bot")) };
    insert(&*store, other_type).await.unwrap();
    for (project, owner) in [(Some("p1"), "a"), (Some("p2"), "b"), (None, "c")] {
        let taken = insert(&*store, object("x", project, Some("bot"))).await.unwrap_err();
        assert!(
            matches!(&taken, DomainFailure::Job(DomainError::KeyTaken { key, value, by })
                if (key.as_str(), value.as_str(), by.as_str()) == ("name", "bot", owner)),
            "{taken:?}"
        );
        let project = project.map(Into::into);
        let found = store.reader().find_object(project.as_ref(), "agent", &named("bot")).await.unwrap();
        assert_eq!(found.unwrap().id, owner);
    }
    let again = insert(&*store, object("a", Some("p9"), None)).await.unwrap_err();
    assert!(matches!(again, DomainFailure::Job(DomainError::KeyTaken { key, .. }) if key == "id"));
}

/// A renamed object gives its name back and keeps one that it has.
pub async fn a_changed_key_is_free_again(world: &dyn World) {
    let store = world.store();
    insert(&*store, object("a", Some("p"), Some("old"))).await.unwrap();
    let stored = get(&*store, "a").await;
    for keys in [["new"], ["new"]] {
        let change = change(&stored, None, &keys);
        run(&*store, move |tx| tx.update(change).map(|_| Json::Null)).await.unwrap();
    }
    insert(&*store, object("b", Some("p"), Some("old"))).await.unwrap();
    let taking = change(&get(&*store, "b").await, None, &["new"]);
    let taken = run(&*store, move |tx| tx.update(taking).map(|_| Json::Null)).await;
    assert!(matches!(taken, Err(DomainFailure::Job(DomainError::KeyTaken { by, .. })) if by == "a"));
}

/// By id, with type and property; a changed object has its new links only.
pub async fn links_are_found_from_their_other_end(world: &dyn World) {
    let store = world.store();
    let linked = |id: &str, links| NewObject { links, ..object(id, Some("p"), None) };
    insert(&*store, linked("b", vec![link("x", "target"), link("y", "target")])).await.unwrap();
    insert(&*store, linked("a", vec![link("x", "target"), link("x", "elsewhere")])).await.unwrap();
    let at = |id: &str, field: &str| (id.to_owned(), "agent".to_owned(), field.to_owned());
    let found = store.reader().links_to("target", 9).await.unwrap();
    assert_eq!(found, [at("a", "x"), at("b", "x"), at("b", "y")]);
    assert_eq!(store.reader().links_to("target", 2).await.unwrap().len(), 2);
    let unlinked = change(&get(&*store, "b").await, None, &[]);
    run(&*store, move |tx| {
        tx.update(unlinked)?;
        assert_eq!(tx.links_to("target", 9)?.len(), 1);
        Ok(Json::Null)
    })
    .await
    .unwrap();
    let query = ListQuery { linked: Some(link("x", "elsewhere")), ..agents(9, 0) };
    let listed = store.reader().objects(&query).await.unwrap();
    assert_eq!(listed.items.iter().map(|object| object.id.as_str()).collect::<Vec<_>>(), ["a"]);
}

/// Versions rise from 1; the writer of an old one is refused, and so is that of what is not there.
pub async fn an_old_version_is_a_conflict(world: &dyn World) {
    let store = world.store();
    insert(&*store, object("a", None, None)).await.unwrap();
    let first = get(&*store, "a").await;
    assert_eq!((first.version, first.created_at), (1, first.updated_at));
    for (expected, outcome) in [(Some(1), Ok(2)), (None, Ok(3)), (Some(2), Err(3))] {
        let change = change(&first, expected, &[]);
        let updated = run(&*store, move |tx| tx.update(change).map(|stored| stored.version.into())).await;
        match outcome {
            Ok(version) => assert_eq!(updated.unwrap(), Json::from(version)),
            Err(at) => {
                let Err(DomainFailure::Job(DomainError::VersionConflict { found, .. })) = updated else {
                    panic!("{updated:?}");
                };
                assert_eq!(found, at);
            }
        }
    }
    assert_eq!(get(&*store, "a").await.doc, Json::from("new"));
    let missing = ObjectChange { id: "nothing".to_owned(), ..change(&first, None, &[]) };
    let updated = run(&*store, move |tx| tx.update(missing).map(|_| Json::Null)).await;
    assert!(matches!(updated, Err(DomainFailure::Job(DomainError::NotFound { .. }))));
}

/// Oldest first, also within one millisecond, whatever the ids.
pub async fn lists_are_in_order_of_creation_with_totals(world: &dyn World) {
    type Case = (&'static [&'static str], usize, usize, &'static [&'static str], usize);
    const CASES: [Case; 6] = [
        (&[], 9, 0, &["z", "a", "m", "b"], 4),
        (&[], 2, 1, &["a", "m"], 4),
        (&["p1"], 9, 0, &["z", "m", "b"], 3),
        (&["p1", "p2"], 1, 3, &["b"], 4),
        (&["p3"], 9, 0, &[], 0),
        (&["p1"], 0, 0, &[], 3),
    ];
    let store = world.store();
    let made = [("z", "p1"), ("a", "p2"), ("m", "p1"), ("b", "p1")];
    run(&*store, move |tx| {
        for (id, project) in made {
            tx.insert(object(id, Some(project), None))?;
        }
        Ok(Json::Null)
    })
    .await
    .unwrap();
    for (projects, limit, offset, ids, total) in CASES {
        let projects = projects.iter().copied().map(Into::into).collect();
        let page = store.reader().objects(&ListQuery { projects, ..agents(limit, offset) }).await.unwrap();
        let listed: Vec<_> = page.items.iter().map(|object| object.id.as_str()).collect();
        assert_eq!((listed.as_slice(), page.total), (ids, total));
    }
}

/// With its keys and its own links; deleting what is not there is no error.
pub async fn a_deleted_object_frees_its_keys(world: &dyn World) {
    let store = world.store();
    let linked = NewObject { links: vec![link("x", "target")], ..object("a", Some("p"), Some("bot")) };
    insert(&*store, linked).await.unwrap();
    for there in [true, false] {
        let deleted = run(&*store, |tx| tx.delete("a").map(Json::from)).await;
        assert_eq!(deleted.unwrap(), Json::from(there));
    }
    assert_eq!(store.reader().object("a").await.unwrap(), None);
    assert!(store.reader().links_to("target", 9).await.unwrap().is_empty());
    insert(&*store, object("b", Some("p"), Some("bot"))).await.unwrap();
}

/// In the same transaction: neither can be there without the other.
pub async fn a_decision_is_audited_with_its_effect_or_not_at_all(world: &dyn World) {
    let store = world.store();
    let made = run(&*store, |tx| {
        tx.audit(audit("made", Some("p")))?;
        tx.insert(object("o", Some("p"), None)).map(|_| Json::Null)
    });
    made.await.unwrap();
    let refused = run(&*store, |tx| {
        tx.audit(audit("refused", Some("p")))?;
        tx.insert(object("o", Some("p"), None)).map(|_| Json::Null)
    });
    refused.await.unwrap_err();
    let begin_with = |operation: &str, project: &str| crate::Begin {
        requires: vec![project.to_owned()],
        audit: vec![audit(operation, Some("p"))],
        ..begin(operation, &[operation])
    };
    begun(&*store, begin_with("began", "o")).await;
    let failed = store.begin(begin_with("missing", "nowhere")).await.unwrap_err();
    assert!(matches!(failed, crate::StoreError::Object(DomainError::NotFound { id }) if id == "nowhere"));
    assert!(store.reader().operation(&"missing".into()).await.unwrap().is_none());
    let kept = store.reader().audit_log(Some(&"p".into()), 9, 0).await.unwrap();
    let subjects: Vec<_> = kept.items.iter().map(|record| record.subject.as_str()).collect();
    assert_eq!(subjects, ["began", "made"]);
}
