//! What holds for every plan, over random declarations and what applying them leaves.

mod common;

use common::Request;
use common::ledger::{apply, follow_up};
use common::notation::Written;
use formwork_model::{Action, Json, Plan, RowRef, Step};
use formwork_planner::Planning;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// A random resource: its type, its values, and what it refers to (lower numbers only).
#[derive(Clone, Debug)]
struct Random {
    type_name: &'static str,
    name: u8,
    fixed: u8,
    token: u8,
    retain: bool,
    refs: Vec<(usize, u8)>,
}

fn random() -> impl Strategy<Value = Random> {
    let types = proptest::sample::select(vec!["doc", "cut", "stiff", "blind"]);
    let refs = proptest::collection::vec((0_usize..8, 0_u8..5), 0..3);
    (types, 0_u8..3, 0_u8..2, 0_u8..3, proptest::bool::weighted(0.1), refs).prop_map(
        |(type_name, name, fixed, token, retain, refs)| Random {
            type_name,
            name,
            fixed,
            token,
            retain,
            refs,
        },
    )
}

fn resource(at: usize, random: &Random) -> Json {
    let mut properties = json!({
        "name": format!("v{}", random.name),
        "fixed": random.fixed,
        "token": format!("t{}", random.token),
    });
    let mut depends = Vec::new();
    for (to, way) in random.refs.iter().filter(|(to, _)| *to < at) {
        let label = format!("r{to}");
        match way {
            0 => properties["value"] = json!({ "$ref": label }),
            1 => properties["list"] = json!([{ "$ref": label }, 1]),
            2 => properties["whole"] = json!({ "$sub": ["x-", { "$ref": label }] }),
            3 => properties["tags"] = json!([{ "$ref": format!("{label}.name") }]),
            _ => depends.push(label),
        }
    }
    let policy = if random.retain { "retain" } else { "delete" };
    json!({
        "label": format!("r{at}"), "type": random.type_name, "properties": properties,
        "depends_on": depends, "deletion_policy": policy,
    })
}

fn request(resources: &[Json]) -> Request {
    let written: Written =
        serde_json::from_value(json!({"about": "random", "kind": "update", "resources": resources}))
            .expect("the notation of this test is sound");
    written.request()
}

fn resources(random: &[Random]) -> Vec<Json> {
    random.iter().enumerate().map(|(at, random)| resource(at, random)).collect()
}

fn planned(request: &Request) -> Planning {
    match request.plan() {
        Ok(planning) => planning,
        Err(found) => panic!("a sound request has a plan: {found:?}"),
    }
}

/// The plan for `next` on top of what applying `before` leaves.
fn on_top(before: &[Random], next: &[Random]) -> (Request, Planning) {
    let first = request(&resources(before));
    let made = planned(&first);
    let rows = apply(&[], &made.plan, &made.secrets);
    let second = Request { desired: request(&resources(next)).desired, ..follow_up(&first, rows) };
    let planning = planned(&second);
    (second, planning)
}

fn bytes(plan: &Plan) -> Vec<u8> {
    serde_json::to_vec(plan).expect("a plan serialises")
}

/// What a plan says, whatever the order and numbering of its steps.
fn shape(plan: &Plan) -> BTreeMap<String, Vec<String>> {
    let name = |step: &Step| format!("{} {}", step.label, step.action.name());
    let mut shape: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in &plan.steps {
        let mut after: Vec<String> =
            step.after_steps.iter().filter_map(|on| plan.step(*on)).map(name).collect();
        after.sort();
        let text = format!("{:?} {:?} after {after:?} {:?}", step.patch, step.guard, step.undo);
        shape.entry(name(step)).or_default().push(text);
    }
    shape
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// INV-10.
    #[test]
    fn the_same_request_gives_the_same_bytes(
        before in proptest::collection::vec(random(), 0..8),
        next in proptest::collection::vec(random(), 0..8),
    ) {
        let (request, planning) = on_top(&before, &next);
        prop_assert_eq!(bytes(&planning.plan), bytes(&planned(&request).plan));
        let back: Plan = serde_json::from_slice(&bytes(&planning.plan)).expect("a plan comes back");
        prop_assert_eq!(back.hash(), planning.plan.hash());
    }

    /// INV-13.
    #[test]
    fn what_was_applied_plans_to_nothing(
        before in proptest::collection::vec(random(), 0..8),
        next in proptest::collection::vec(random(), 0..8),
    ) {
        let (second, planning) = on_top(&before, &next);
        let rows = apply(&second.rows, &planning.plan, &planning.secrets);
        let again = planned(&follow_up(&second, rows));
        let busy: Vec<_> = again.plan.steps.iter().filter(|step| step.action != Action::NoOp).collect();
        prop_assert!(busy.is_empty(), "{}", common::render::outcome(&Ok(again)));
    }

    #[test]
    fn the_order_of_unrelated_resources_changes_only_the_order(
        random in proptest::collection::vec(random(), 1..8),
        turn in 0_usize..8,
    ) {
        let mut declared = resources(&random);
        let plan = planned(&request(&declared)).plan;
        declared.rotate_left(turn % random.len());
        let turned = planned(&request(&declared)).plan;
        prop_assert_eq!(shape(&plan), shape(&turned));
    }

    /// INV-6, INV-7.
    #[test]
    fn order_and_policies_hold(
        before in proptest::collection::vec(random(), 0..8),
        next in proptest::collection::vec(random(), 0..8),
    ) {
        let (second, planning) = on_top(&before, &next);
        let plan = &planning.plan;
        for step in &plan.steps {
            let is_delete = matches!(step.action, Action::Delete { replacing: false });
            if let (true, RowRef::Existing(id)) = (is_delete, &step.row) {
                let row = second.rows.iter().find(|row| row.id == *id).expect("a deleted row exists");
                let object = row.current.as_ref().expect("what is deleted is there");
                prop_assert_eq!(object.deletion_policy, formwork_model::DeletionPolicy::Delete);
                for to in &row.references {
                    let target = plan.steps.iter().find(|other| {
                        other.row == RowRef::Existing(to.clone())
                            && matches!(other.action, Action::Delete { replacing: false })
                    });
                    prop_assert!(target.is_none_or(|target| target.after_steps.contains(&step.id)));
                }
            }
        }
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_is_planned() {
    let chain: Vec<Json> = (0..100_000)
        .map(|at| {
            let to = if at == 0 { json!("end") } else { json!({ "$ref": format!("r{}", at - 1) }) };
            json!({"label": format!("r{at}"), "properties": {"value": to}})
        })
        .collect();
    let planning = planned(&request(&chain));
    assert_eq!(planning.plan.steps.len(), 100_000);
    assert_eq!(planning.plan.steps[99_999].after_steps, [formwork_model::StepId(99_998)]);
}

#[test]
fn causes_stay_short_along_a_chain() {
    let chain: Vec<Json> = (0..50)
        .map(|at| {
            let to = if at == 0 { json!("end") } else { json!({ "$ref": format!("r{}", at - 1) }) };
            json!({"label": format!("r{at}"), "type": "custom", "properties": {"value": to}})
        })
        .collect();
    let first = request(&chain);
    let made = planned(&first);
    let mut changed = chain;
    changed[0]["properties"]["value"] = json!("other end");
    let rows = apply(&[], &made.plan, &made.secrets);
    let second = Request { desired: request(&changed).desired, ..follow_up(&first, rows) };
    let plan = planned(&second).plan;
    let last = plan.steps.iter().find(|step| step.label.as_str() == "r49").expect("it follows");
    let texts: Vec<&str> = last.cause.0.iter().map(|link| link.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "`r49.value` follows `r48`",
            "`r48.value` follows `r47`",
            "`r47.value` follows `r46`",
            "`r46.value` follows `r45`",
            "`r0.value` changed",
        ]
    );
}

/// INV-9: plaintexts are in the slots and nowhere else.
#[test]
fn no_secret_is_in_a_plan_or_a_warning() {
    let canary = "canary-7f3a";
    let declared = [
        json!({"label": "a", "properties": {"token": canary, "name": "n"}}),
        json!({"label": "b", "properties": {"value": {"deep": [{"$secret": canary}]}}}),
        json!({"label": "c", "properties": {"value": {"$sub": ["x", {"$secret": canary}, {"$ref": "a"}]}}}),
        json!({"label": "d", "type": "stiff", "properties": {"fixed": {"$secret": canary}}}),
        json!({"label": "e", "properties": {"token": {"nested": [{"$ref": "a"}, canary]}}}),
    ];
    let rows =
        json!([{"label": "d", "type": "stiff", "native_id": "d-1", "sent": {"fixed": {"$digest": "old"}}}]);
    let written: Written = serde_json::from_value(
        json!({"about": "", "kind": "update", "resources": declared, "rows": rows, "outputs": {"o": {"$secret": canary}}}),
    )
    .expect("the notation of this test is sound");
    let planning = planned(&written.request());
    let text = String::from_utf8(bytes(&planning.plan)).expect("JSON is text");
    assert!(!text.contains("canary"), "{text}");
    assert!(!format!("{:?} {:?}", planning.warnings, planning.plan).contains("canary"));
    assert!(planning.secrets.values().any(|secret| *secret.expose() == json!(canary)));
}
