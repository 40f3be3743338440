//! Requests of more than one stack, and ledgers that are not as they should be.

mod common;

use common::Request;
use common::notation::Written;
use formwork_model::{
    Diagnostics, Expr, ExprLeaf, Json, Label, Matching, Plan, Ref, RefTarget, Row, StackKey, Step,
};
use serde_json::json;

fn request(written: Json) -> Request {
    let written: Written = serde_json::from_value(written).expect("the notation of this test is sound");
    written.request()
}

fn plan(request: &Request) -> Plan {
    match request.plan() {
        Ok(planning) => planning.plan,
        Err(found) => panic!("a sound request has a plan: {found:?}"),
    }
}

fn summary(plan: &Plan) -> Vec<String> {
    plan.steps
        .iter()
        .map(|step: &Step| format!("{} {} {}", step.stack, step.action.name(), step.label))
        .collect()
}

/// Two stacks: `app` in the first refers to `net` in the second, under the same label twice.
fn two_stacks(refer: bool, net: bool) -> Request {
    let mut request = request(json!({"about": "", "kind": "update", "resources": [
        {"label": "app", "properties": {"name": "a"}}, {"label": "net", "properties": {"name": "other"}},
    ]}));
    let mut second = request.desired.stacks[0].clone();
    second.id = "stack-2".into();
    second.key = StackKey::new("proj".into(), "base");
    second.resources.remove(0);
    if !net {
        second.resources.clear();
    }
    if refer {
        let to = RefTarget::Resource {
            stack: Some(second.key.clone()),
            type_name: None,
            label: Label::new("net"),
        };
        let reference = Ref { to, ..Ref::native_id("net") };
        let members = [("value".into(), Expr::Leaf(ExprLeaf::Ref(reference)))];
        request.desired.stacks[0].resources[0].properties = Expr::object(members.into_iter().collect());
    }
    request.desired.stacks.push(second);
    request
}

#[test]
fn one_graph_spans_all_stacks() {
    let found = plan(&two_stacks(true, true));
    assert_eq!(summary(&found), ["stack-1 create net", "stack-2 create net", "stack-1 create app"]);
    assert_eq!(found.steps[2].after_steps, [formwork_model::StepId(1)]);
}

#[test]
fn a_reference_into_a_stack_that_is_not_part_of_the_request_is_refused() {
    let mut request = two_stacks(true, true);
    request.desired.stacks.pop();
    let found: Diagnostics = request.plan().expect_err("the stack is not there");
    assert!(found.iter().any(|error| error.message.contains("base/net")), "{found:?}");
}

#[test]
fn a_row_goes_after_the_other_stack_has_let_go_of_it() {
    let mut request = two_stacks(false, false);
    let rows = super_rows(&["net", "app"]);
    request.rows = rows;
    request.rows[0].stack = "stack-2".into();
    request.rows[1].references = vec![request.rows[0].id.clone()];
    let found = plan(&request);
    let delete = found.steps.iter().find(|step| step.action.name() == "delete").expect("`net` goes");
    let app = found.steps.iter().find(|step| step.label.as_str() == "app").expect("`app` stays");
    assert_eq!(delete.after_steps, [app.id]);
}

fn super_rows(labels: &[&str]) -> Vec<Row> {
    let rows: Vec<Json> = labels
        .iter()
        .map(|label| json!({"label": label, "native_id": format!("{label}-1"), "sent": {"name": "a"}}))
        .collect();
    request(json!({"about": "", "kind": "update", "rows": rows})).rows
}

#[test]
fn rows_of_other_stacks_are_left_alone() {
    let mut request = request(json!({"about": "", "kind": "update"}));
    request.rows = super_rows(&["theirs"]);
    request.rows[0].stack = "stack-9".into();
    assert_eq!(plan(&request).steps, []);
}

/// INV-18: only a damaged ledger holds a circle; it can still be torn down.
#[test]
fn rows_that_refer_to_each_other_in_a_circle_can_be_deleted() {
    let mut request = request(json!({"about": "", "kind": "delete"}));
    request.rows = super_rows(&["a", "b", "c"]);
    let ids: Vec<_> = request.rows.iter().map(|row| row.id.clone()).collect();
    for at in 0..3 {
        request.rows[at].references = vec![ids[(at + 1) % 3].clone(), ids[at].clone(), "nowhere".into()];
    }
    let mut labels: Vec<_> = plan(&request).steps.iter().map(|step| step.label.to_string()).collect();
    labels.sort();
    assert_eq!(labels, ["a", "b", "c"]);
}

#[test]
fn a_live_row_is_matched_rather_than_a_tombstone() {
    let mut request = request(json!({"about": "", "kind": "update", "resources": [
        {"label": "a", "properties": {"name": "a"}},
    ]}));
    request.rows = super_rows(&["a", "a"]);
    request.rows[0].id = "row-dead".into();
    request.rows[0].current = None;
    request.rows[0].status = formwork_model::RowStatus::Deleted;
    request.rows[1].position = 0;
    assert_eq!(summary(&plan(&request)), ["stack-1 no-op a"]);
}

#[test]
fn under_type_and_label_another_type_is_another_resource() {
    let mut request = request(json!({"about": "", "kind": "update", "resources": [
        {"label": "a", "type": "cut", "properties": {"name": "a"}},
    ]}));
    request.rows = super_rows(&["a"]);
    request.desired.stacks[0].matching = Matching::TypeLabel;
    assert_eq!(summary(&plan(&request)), ["stack-1 create a", "stack-1 delete a"]);
}

#[test]
fn an_observation_of_another_object_does_not_count() {
    let mut request = request(json!({"about": "", "kind": "update",
        "resources": [{"label": "a", "properties": {"name": "a"}}],
        "rows": [{"label": "a", "native_id": "a-1", "sent": {"name": "a"}}],
        "observed": {"a": "gone"},
    }));
    request.rows[0].current.as_mut().expect("it has an object").native_id = "a-2".into();
    assert_eq!(summary(&plan(&request)), ["stack-1 no-op a"]);
}
