//! What kinds of references mean for the order of a plan (seed 1, "EdgeKind"; INV-6).

mod common;

use common::Request;
use common::notation::Written;
use formwork_model::{Json, Plan, StepId};
use serde_json::json;

fn request(written: Json) -> Request {
    let written: Written = serde_json::from_value(written).expect("the notation of this test is sound");
    written.request()
}

fn plan(written: Json) -> Plan {
    match request(written).plan() {
        Ok(planning) => planning.plan,
        Err(found) => panic!("a sound request has a plan: {found:?}"),
    }
}

fn summary(plan: &Plan) -> Vec<String> {
    plan.steps.iter().map(|step| format!("{} {}", step.action.name(), step.label)).collect()
}

/// The step that does this to that resource.
fn find(plan: &Plan, what: &str) -> StepId {
    let at = summary(plan).iter().position(|step| step == what);
    StepId(
        u32::try_from(at.unwrap_or_else(|| panic!("`{what}` is planned: {:?}", summary(plan))))
            .expect("small"),
    )
}

/// Whether one step must have succeeded before another, through any number of others or by its wave.
fn waits(plan: &Plan, step: StepId, on: StepId) -> bool {
    let (later, earlier) = (&plan.steps[step.index()], &plan.steps[on.index()]);
    let by_wave = later.stack == earlier.stack && earlier.wave < later.wave;
    by_wave || later.after_steps.iter().any(|next| *next == on || waits(plan, *next, on))
}

#[track_caller]
fn assert_order(plan: &Plan, first: &str, then: &str) {
    let (first, then) = (find(plan, first), find(plan, then));
    assert!(waits(plan, then, first) && !waits(plan, first, then), "{:?}", plan.steps);
}

/// `user` refers to `doc` by one of its properties; both go.
fn both_go(properties: &Json) -> Plan {
    plan(json!({"about": "", "kind": "update", "ownership": "full", "rows": [
        {"label": "doc", "native_id": "doc-1", "sent": {"name": "d"}},
        {"label": "user", "type": "user", "native_id": "user-1", "sent": properties, "references": ["doc"]},
    ]}))
}

#[test]
fn what_refers_to_another_is_deleted_first() {
    assert_order(&both_go(&json!({"on": {"$resolved": ["doc", "doc-1"]}})), "delete user", "delete doc");
}

#[test]
fn what_is_reached_through_another_is_deleted_after_it() {
    for properties in [
        json!({"through": {"$resolved": ["doc", "doc-1"]}}),
        json!({"through": [{"deep": {"$resolved": ["doc", "doc-1"]}}]}),
        json!({"through": {"$resolved": ["its_old_name", "doc-1"]}}),
        json!({"spec": [{"through": {"at": {"$resolved": ["doc.name", "d"]}}}]}),
    ] {
        assert_order(&both_go(&properties), "delete doc", "delete user");
    }
}

#[test]
fn a_plain_reference_beside_it_counts_more() {
    let both = json!({"through": {"$resolved": ["doc", "doc-1"]}, "on": {"$resolved": ["doc", "doc-1"]}});
    assert_order(&both_go(&both), "delete user", "delete doc");
}

#[test]
fn what_is_reached_through_another_is_created_after_it() {
    let found = plan(json!({"about": "", "kind": "update", "resources": [
        {"label": "user", "type": "user", "properties": {"through": {"$ref": "doc"}}},
        {"label": "doc", "properties": {"name": "d"}},
    ]}));
    assert_order(&found, "create doc", "create user");
}

/// A user that runs with a document, and parts of that one and of another.
fn running(kind: &str, of: &Json) -> Plan {
    plan(json!({"about": "", "kind": kind, "resources": [
        {"label": "user", "type": "user", "properties": {"with": {"$ref": "doc"}}},
        {"label": "doc", "properties": {"name": "d"}},
        {"label": "other", "properties": {"name": "o"}},
        {"label": "mine", "type": "part", "properties": {"of": of}},
        {"label": "theirs", "type": "part", "properties": {"of": {"$ref": "other.name"}}},
    ]}))
}

#[test]
fn a_runtime_dependency_waits_for_the_parts_of_what_it_uses() {
    for of in [json!({"$ref": "doc.name"}), json!("d")] {
        let found = running("update", &of);
        assert_order(&found, "create doc", "create user");
        assert_order(&found, "create mine", "create user");
        assert!(!waits(&found, find(&found, "create user"), find(&found, "create theirs")));
    }
    let found = running("update", &json!("else"));
    assert!(!waits(&found, find(&found, "create user"), find(&found, "create mine")));
}

#[test]
fn parts_of_the_same_third_one_are_siblings() {
    let found = plan(json!({"about": "", "kind": "update", "resources": [
        {"label": "user", "type": "user", "properties": {"with": {"$ref": "doc"}}},
        {"label": "doc", "properties": {"name": {"$ref": "third.name"}}},
        {"label": "third", "type": "cut", "properties": {"name": "t"}},
        {"label": "mine", "type": "part", "properties": {"of": {"$ref": "third.name"}}},
    ]}));
    assert_order(&found, "create mine", "create user");
}

#[test]
fn a_runtime_dependency_goes_before_what_it_uses_and_its_parts() {
    let created = running("update", &json!({"$ref": "doc.name"}));
    let user = &created.steps[find(&created, "create user").index()];
    assert_eq!(user.references.len(), 2, "the ledger keeps what it waits for: {:?}", user.references);
    let found = plan(json!({"about": "", "kind": "delete", "rows": [
        {"label": "doc", "native_id": "doc-1", "sent": {"name": "d"}},
        {"label": "user", "type": "user", "native_id": "user-1",
            "sent": {"with": {"$resolved": ["doc", "doc-1"]}}, "references": ["doc", "mine"]},
        {"label": "mine", "type": "part", "native_id": "mine-1",
            "sent": {"of": {"$resolved": ["doc.name", "d"]}}, "references": ["doc"]},
    ]}));
    assert_order(&found, "delete user", "delete mine");
    assert_order(&found, "delete mine", "delete doc");
}

/// Defect 12 of the reference: an update that drops a reference is not ordered before the deletion of what it
/// referred to.
#[test]
fn defect_12_an_update_that_lets_go_comes_before_the_deletion() {
    let found = plan(json!({"about": "", "kind": "update", "ownership": "full",
        "resources": [{"label": "user", "type": "user", "properties": {"name": "u"}}],
        "rows": [
            {"label": "user", "type": "user", "native_id": "user-1",
                "sent": {"name": "u", "on": {"$resolved": ["doc", "doc-1"]}}, "references": ["doc"]},
            {"label": "doc", "native_id": "doc-1", "sent": {"name": "d"}},
        ],
    }));
    assert_order(&found, "update user", "delete doc");
}

/// Defect 12 of the reference: only direct dependents of a replaced resource follow it.
#[test]
fn defect_12_dependents_of_a_replaced_resource_follow_transitively() {
    let found = plan(json!({"about": "", "kind": "update", "ownership": "full",
        "resources": [
            {"label": "a", "properties": {"fixed": 2, "must": 1}},
            {"label": "b", "properties": {"fixed": {"$ref": "a"}, "must": 1}},
            {"label": "c", "properties": {"value": {"$ref": "b"}, "must": 1}},
        ],
        "rows": [
            {"label": "a", "native_id": "a-1", "sent": {"fixed": 1, "must": 1}},
            {"label": "b", "native_id": "b-1", "sent": {"fixed": {"$resolved": ["a", "a-1"]}, "must": 1},
                "references": ["a"]},
            {"label": "c", "native_id": "c-1", "sent": {"value": {"$resolved": ["b", "b-1"]}, "must": 1},
                "references": ["b"]},
        ],
    }));
    assert_order(&found, "replace a", "replace b");
    assert_order(&found, "replace b", "update c");
    assert_order(&found, "update c", "cleanup b");
    assert_order(&found, "cleanup b", "cleanup a");
}
