//! The plan checker refuses what a plan must not be: each test breaks one promise of a sound plan.

mod common;

use common::notation::Written;
use formwork_model::{
    Action, Cause, Condition, DeletionPolicy, Guard, Label, Plan, RowRef, StackId, StepId, Undo,
};
use formwork_planner::{PlanFault, check};
use serde_json::json;

/// A plan with a creation, a reference to it, a replacement either way round, a deletion and the
/// cleanup.
fn sound() -> Plan {
    let written: Written = serde_json::from_value(json!({
        "about": "", "kind": "update",
        "resources": [
            {"label": "new", "type": "doc", "properties": {"name": "n"}},
            {"label": "user", "type": "doc", "properties": {"value": {"$ref": "new"}}},
            {"label": "anew", "type": "doc", "properties": {"fixed": 2}},
            {"label": "cut", "type": "cut", "properties": {"fixed": 2}},
        ],
        "rows": [
            {"label": "user", "native_id": "user-1", "sent": {"value": "x"}},
            {"label": "anew", "native_id": "anew-1", "sent": {"fixed": 1}},
            {"label": "cut", "type": "cut", "native_id": "cut-1", "sent": {"fixed": 1}},
            {"label": "old", "native_id": "old-1"},
        ],
    }))
    .expect("the notation of this test is sound");
    match written.request().plan() {
        Ok(planning) => planning.plan,
        Err(found) => panic!("{found:?}"),
    }
}

fn index(plan: &Plan, label: &str, action: &str) -> usize {
    let found =
        plan.steps.iter().position(|step| step.label.as_str() == label && step.action.name() == action);
    found.expect("the plan has this step")
}

/// The faults of the sound plan after a change.
fn faults(change: impl FnOnce(&mut Plan)) -> Vec<PlanFault> {
    let mut plan = sound();
    change(&mut plan);
    check(&plan).err().unwrap_or_default()
}

#[test]
fn a_sound_plan_has_no_faults() {
    assert_eq!(faults(|_| {}), []);
}

#[test]
fn ids_are_indices() {
    let found = faults(|plan| plan.steps[1].id = StepId(7));
    assert!(found.contains(&PlanFault::Id { index: 1, found: StepId(7) }), "{found:?}");
}

#[test]
fn a_step_waits_for_earlier_ones_only() {
    let found = faults(|plan| plan.steps[0].after_steps = vec![StepId(0)]);
    assert_eq!(found, [PlanFault::Order { step: StepId(0), on: StepId(0) }]);
    let found = faults(|plan| plan.steps[0].after_steps = vec![StepId(99)]);
    assert_eq!(found, [PlanFault::Order { step: StepId(0), on: StepId(99) }]);
}

#[test]
fn a_step_does_not_wait_for_a_later_wave() {
    let found = faults(|plan| plan.steps[0].wave = 9);
    assert!(found.iter().all(|fault| matches!(fault, PlanFault::Wave { on: StepId(0), .. })), "{found:?}");
    assert!(!found.is_empty());
}

#[test]
fn a_condition_names_what_can_meet_it() {
    for when in
        [Condition::RefChanged(Vec::new()), Condition::Replaced(StepId(0)), Condition::Replaced(StepId(99))]
    {
        let found = faults(|plan| {
            let at = index(plan, "user", "update");
            plan.steps[at].when = when;
        });
        assert!(matches!(found[..], [PlanFault::Condition { .. }]), "{found:?}");
    }
}

#[test]
fn every_stack_and_type_is_listed() {
    let found = faults(|plan| plan.steps[0].stack = StackId::new("other"));
    assert!(found.iter().any(|fault| matches!(fault, PlanFault::Stack { step: StepId(0), .. })), "{found:?}");
    let found = faults(|plan| plan.types.clear());
    assert!(found.iter().any(|fault| matches!(fault, PlanFault::Type { step: StepId(0), .. })), "{found:?}");
}

#[test]
fn every_row_has_a_base_and_every_base_a_row() {
    let found = faults(|plan| {
        let removed = plan.bases.remove(0);
        assert_eq!(removed.step, StepId(0));
    });
    assert!(found.contains(&PlanFault::Base { step: StepId(0) }), "{found:?}");
    let found = faults(|plan| plan.bases[0].label = Label::new("other"));
    assert!(found.contains(&PlanFault::StrayBase { index: 0, step: StepId(0) }), "{found:?}");
}

#[test]
fn every_effect_is_guarded() {
    for (label, action) in [("new", "create"), ("user", "update"), ("anew", "replace"), ("old", "delete")] {
        let found = faults(|plan| {
            let at = index(plan, label, action);
            plan.steps[at].guard = Guard::None;
        });
        assert!(matches!(found[..], [PlanFault::Guard { .. }]), "{label}: {found:?}");
    }
}

#[test]
fn what_sends_has_inputs_and_nothing_else_has() {
    let found = faults(|plan| plan.steps[0].inputs = None);
    assert_eq!(found, [PlanFault::Inputs { step: StepId(0), action: "create" }]);
    let found = faults(|plan| {
        let at = index(plan, "old", "delete");
        plan.steps[at].inputs = plan.steps[0].inputs.clone();
    });
    assert!(matches!(found[..], [PlanFault::Inputs { action: "delete", .. }]), "{found:?}");
}

#[test]
fn inputs_refer_to_what_is_there_by_then() {
    let found = faults(|plan| {
        let at = index(plan, "user", "update");
        plan.steps[0].inputs = plan.steps[at].inputs.clone();
        // Nothing is about the new row before step 0 itself.
        plan.steps[0].row = RowRef::New(0);
    });
    assert_eq!(found, [PlanFault::Unbound { step: StepId(0) }]);
}

#[test]
fn an_undo_is_of_a_creation_and_fits_its_policy() {
    for undo in [Undo::Nothing, Undo::KeepRetained] {
        let found = faults(|plan| plan.steps[0].undo = undo);
        assert_eq!(found, [PlanFault::Undo { step: StepId(0), action: "create" }]);
    }
    let found = faults(|plan| {
        let at = index(plan, "anew", "replace");
        plan.steps[at].undo = Undo::DeleteCreated;
    });
    assert!(matches!(found[..], [PlanFault::Undo { action: "replace", .. }]), "{found:?}");
}

/// INV-7.
#[test]
fn nothing_protected_is_deleted_or_replaced() {
    for (label, action) in [("old", "delete"), ("anew", "replace"), ("anew", "cleanup")] {
        let found = faults(|plan| {
            let at = index(plan, label, action);
            plan.steps[at].deletion_policy = DeletionPolicy::Protect;
        });
        assert!(matches!(found[..], [PlanFault::Protected { .. }]), "{label} {action}: {found:?}");
    }
}

#[test]
fn a_replaced_object_is_disposed_of_exactly_once() {
    let found = faults(|plan| {
        let at = index(plan, "anew", "cleanup");
        plan.steps[at].when = Condition::Always;
    });
    assert!(matches!(found[..], [PlanFault::NoCleanup { .. }]), "{found:?}");
    let found = faults(|plan| {
        let at = index(plan, "cut", "replace");
        plan.steps[at].after_steps.clear();
    });
    assert!(matches!(found[..], [PlanFault::NoReplacement { .. }]), "{found:?}");
    let found = faults(|plan| {
        let at = index(plan, "cut", "delete");
        plan.steps[at].action = Action::Delete { replacing: false };
    });
    assert!(found.iter().any(|fault| matches!(fault, PlanFault::NoCleanup { .. })), "{found:?}");
}

#[test]
fn every_step_that_does_something_says_why() {
    let found = faults(|plan| plan.steps[0].cause = Cause::default());
    assert_eq!(found, [PlanFault::Cause { step: StepId(0) }]);
}
