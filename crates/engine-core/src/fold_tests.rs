//! What each fact makes of a row.

use crate::fold;
use formwork_model::{
    Action, Attempt, Cause, Certainty, ClientToken, Condition, DeletionPolicy, Entry, Failure, Generation,
    Guard, IntentKind, JOURNAL_VERSION, JournalEntry, Lookup, Object, OpenIntent, OperationKind, Outcome,
    PLAN_FORMAT, Patch, Plan, Row, RowId, RowRef, RowStatus, Step, StepId, Stored, TargetRev, Timestamp,
    Undo, WireCode,
};
use std::collections::BTreeMap;

fn plan(action: Action) -> Plan {
    let step = Step {
        id: StepId(0),
        row: RowRef::Existing("row_1".into()),
        stack: "form_1".into(),
        label: "Now".into(),
        type_name: "agent".into(),
        action,
        when: Condition::Always,
        guard: Guard::None,
        inputs: None,
        before: None,
        after: None,
        patch: Patch::None,
        undo: Undo::Nothing,
        target: TargetRev::default(),
        deletion_policy: DeletionPolicy::Retain,
        after_steps: Vec::new(),
        wave: 0,
        references: vec![RowRef::New(0), RowRef::Existing("row_9".into())],
        metadata: Some(serde_json::json!({"note": 1})),
        position: 7,
        cause: Cause::default(),
        place: None,
    };
    Plan {
        format: PLAN_FORMAT,
        kind: OperationKind::Update,
        project: "proj_1".into(),
        stacks: Vec::new(),
        steps: vec![step],
        bases: Vec::new(),
        types: BTreeMap::new(),
    }
}

fn object(native_id: &str) -> Object {
    Object {
        native_id: native_id.into(),
        type_name: "agent".into(),
        target: TargetRev::default(),
        deletion_policy: DeletionPolicy::Delete,
        sent: Stored::empty_object(),
        echo: Stored::empty_object(),
        observed: None,
        certainty: Certainty::Certain,
    }
}

fn row(current: Option<&str>) -> Row {
    let mut row = Row::new("row_1".into(), "form_1".into(), "Before".into(), "tool".into(), 1);
    row.current = current.map(object);
    row.status = if current.is_some() { RowStatus::Created } else { RowStatus::Pending };
    row.generation = Generation(3);
    row
}

fn intent(operation: &str, kind: IntentKind) -> OpenIntent {
    OpenIntent {
        operation: operation.into(),
        step: StepId(0),
        kind,
        attempt: 1,
        generation: Generation(3),
        token: ClientToken([1; 32]),
        not_after: Timestamp(9),
        lookup: Lookup::None,
        type_name: "agent".into(),
        target: TargetRev::default(),
        deletion_policy: DeletionPolicy::Delete,
        sent: Stored::empty_object(),
        native_id: None,
        request_id: None,
    }
}

fn why() -> Failure {
    Failure::new(WireCode::Unknown, "why")
}

fn entry(entry: Entry) -> JournalEntry {
    let operation = "form_op_1".into();
    JournalEntry { version: JOURNAL_VERSION, operation, sequence: 1, at: Timestamp(5), entry }
}

/// Folds the end of the plan's only step, with its own intent open.
fn settled(mut row: Row, action: Action, kind: Option<IntentKind>, outcome: Outcome) -> (Row, bool) {
    row.intent = kind.map(|kind| intent("form_op_1", kind));
    let fact = Entry::Settled { step: StepId(0), kind, row: row.id.clone(), outcome };
    let changed = fold(&mut row, &entry(fact), &plan(action), &["minted_0".into()]);
    (row, changed)
}

fn present(native_id: &str, deposes: bool) -> Outcome {
    Outcome::Present { object: Box::new(object(native_id)), deposes }
}

fn names(objects: &[Object]) -> Vec<&str> {
    objects.iter().map(|object| object.native_id.as_str()).collect()
}

fn current(row: &Row) -> Option<&str> {
    row.current.as_ref().map(|object| object.native_id.as_str())
}

#[test]
fn a_create_gives_the_row_its_object_and_what_is_declared() {
    let (row, changed) = settled(row(None), Action::Create, Some(IntentKind::Create), present("a", false));
    assert!(changed);
    assert_eq!(current(&row), Some("a"));
    assert_eq!((row.status, row.generation), (RowStatus::Created, Generation(4)));
    assert_eq!(row.intent, None);
    assert_eq!((row.label.as_str(), row.type_name.as_str(), row.position), ("Now", "agent", 7));
    assert_eq!(row.references, [RowId::from("minted_0"), RowId::from("row_9")]);
    assert_eq!(row.metadata, Some(serde_json::json!({"note": 1})));
}

#[test]
fn an_update_clears_the_failure_and_a_replacement_deposes() {
    let mut before = row(Some("a"));
    before.status = RowStatus::Failed;
    before.failure = Some(why());
    let (same, _) = settled(before.clone(), Action::Update, Some(IntentKind::Update), present("a", false));
    assert_eq!((same.status, same.failure, same.deposed.len()), (RowStatus::Updated, None, 0));
    let (other, _) = settled(before, Action::Update, Some(IntentKind::Update), present("b", true));
    assert_eq!((current(&other), names(&other.deposed)), (Some("b"), vec!["a"]));
}

#[test]
fn a_step_that_finds_nothing_to_do_takes_an_earlier_failure_back() {
    let mut failed = row(Some("a"));
    failed.status = RowStatus::Failed;
    failed.failure = Some(why());
    for action in [Action::NoOp, Action::Update, Action::Replace] {
        let (row, changed) = settled(failed.clone(), action, None, Outcome::NoOp);
        assert!(changed);
        assert_eq!((row.status, row.failure, row.generation), (RowStatus::Updated, None, Generation(3)));
    }
    let (fine, changed) = settled(row(Some("a")), Action::NoOp, None, Outcome::NoOp);
    assert!(!changed);
    assert_eq!(fine.status, RowStatus::Created);
    // Nothing is known of what it stands for.
    let mut unsure = failed.clone();
    unsure.current.as_mut().expect("an object").certainty = Certainty::Uncertain;
    let nothing = Row { current: None, ..failed.clone() };
    let mut open = failed;
    open.intent = Some(intent("form_op_0", IntentKind::Update));
    for before in [unsure, nothing] {
        let (row, changed) = settled(before, Action::NoOp, None, Outcome::NoOp);
        assert_eq!((changed, row.status, row.failure), (false, RowStatus::Failed, Some(why())));
    }
    let fact = Entry::Settled { step: StepId(0), kind: None, row: open.id.clone(), outcome: Outcome::NoOp };
    assert!(!fold(&mut open, &entry(fact), &plan(Action::NoOp), &[]));
    assert_eq!(open.status, RowStatus::Failed);
}

#[test]
fn deletes_leave_a_tombstone_unless_a_replacement_follows() {
    let gone = || Outcome::Absent { native_id: "a".into() };
    let kind = Some(IntentKind::Delete);
    let (deleted, _) = settled(row(Some("a")), Action::Delete { replacing: false }, kind, gone());
    assert_eq!((deleted.current, deleted.status), (None, RowStatus::Deleted));
    assert_eq!(deleted.generation, Generation(4));
    let (first, _) = settled(row(Some("a")), Action::Delete { replacing: true }, kind, gone());
    assert_eq!((first.current, first.status), (None, RowStatus::Pending));
}

#[test]
fn a_cleanup_touches_only_the_deposed_object() {
    let mut before = row(Some("b"));
    before.deposed = vec![object("a"), object("x")];
    let action = || Action::Cleanup { native_id: None };
    let kind = Some(IntentKind::Cleanup);
    let (done, _) = settled(before.clone(), action(), kind, Outcome::Absent { native_id: "a".into() });
    assert_eq!((current(&done), names(&done.deposed), done.generation.0), (Some("b"), vec!["x"], 4));
    let (kept, _) = settled(before.clone(), action(), None, Outcome::Kept { native_id: "a".into() });
    assert_eq!((names(&kept.deposed), kept.generation.0), (vec!["x"], 3));
    let (failed, _) = settled(before, action(), kind, Outcome::Failed { failure: why() });
    assert_eq!((failed.status, failed.failure, failed.deposed.len()), (RowStatus::Created, None, 2));
}

#[test]
fn an_undo_makes_a_tombstone_but_keeps_why_a_step_failed() {
    let gone = || Outcome::Absent { native_id: "a".into() };
    let (undone, _) = settled(row(Some("a")), Action::Create, Some(IntentKind::Undo), gone());
    assert_eq!((undone.status, undone.generation.0, undone.current), (RowStatus::Deleted, 4, None));
    let mut half = row(Some("a"));
    half.status = RowStatus::Failed;
    half.failure = Some(why());
    let (undone, _) = settled(half, Action::Create, Some(IntentKind::Undo), gone());
    assert_eq!((undone.status, undone.failure), (RowStatus::Failed, Some(why())));
    let kept = Outcome::Kept { native_id: "a".into() };
    let (kept, _) = settled(row(Some("a")), Action::Create, Some(IntentKind::Undo), kept);
    assert_eq!((current(&kept), kept.status), (Some("a"), RowStatus::Created));
    let refused = Outcome::Failed { failure: why() };
    let (stays, _) = settled(row(Some("a")), Action::Create, Some(IntentKind::Undo), refused);
    assert_eq!((current(&stays), stays.status), (Some("a"), RowStatus::Created));
}

#[test]
fn failures_close_the_intent_and_only_what_was_half_made_counts() {
    let half = |native_id: &str| {
        let mut object = object(native_id);
        object.certainty = Certainty::Tainted;
        Outcome::Partial { object: Box::new(object), failure: why() }
    };
    let create = Some(IntentKind::Create);
    let (failed, _) = settled(row(None), Action::Create, create, Outcome::Failed { failure: why() });
    assert_eq!((failed.status, failed.intent, failed.generation.0), (RowStatus::Failed, None, 3));
    let (partial, _) = settled(row(None), Action::Create, create, half("h"));
    assert_eq!((current(&partial), partial.generation.0), (Some("h"), 4));
    let (replace, _) = settled(row(Some("a")), Action::Replace, create, half("h"));
    assert_eq!((current(&replace), names(&replace.deposed)), (Some("a"), vec!["h"]));
    let uncertain = Outcome::Uncertain { failure: why() };
    let (doubt, _) = settled(row(Some("a")), Action::Update, Some(IntentKind::Update), uncertain);
    assert_eq!(doubt.current.map(|object| object.certainty), Some(Certainty::Uncertain));
    assert_eq!(doubt.intent, None);
}

/// INV-3: no object is on a row twice. Its caller names it, so the half-made one has the id of the one
/// that was seen to be gone.
#[test]
fn a_half_made_object_takes_the_place_of_one_that_is_gone() {
    let half = |native_id| Outcome::Partial { object: Box::new(object(native_id)), failure: why() };
    let create = Some(IntentKind::Create);
    let (back, _) = settled(row(Some("named")), Action::Create, create, half("named"));
    assert_eq!((current(&back), names(&back.deposed)), (Some("named"), vec![]));
    let (other, _) = settled(row(Some("a")), Action::Create, create, half("b"));
    assert_eq!((current(&other), names(&other.deposed)), (Some("b"), vec![]));
    let (settled_again, _) = settled(row(Some("named")), Action::Resolve, create, half("named"));
    assert_eq!((current(&settled_again), names(&settled_again.deposed)), (Some("named"), vec![]));
}

/// A token never serves twice: after an update and a deletion that may both have happened, the same
/// update is another call. Made again at once it is the same call, and asks what came of the first.
#[test]
fn a_second_effect_in_doubt_raises_the_generation() {
    let uncertain = || Outcome::Uncertain { failure: why() };
    let (first, _) = settled(row(Some("a")), Action::Update, Some(IntentKind::Update), uncertain());
    assert_eq!(first.generation, Generation(3));
    let kind = Some(IntentKind::Delete);
    let (second, _) = settled(first, Action::Delete { replacing: false }, kind, uncertain());
    assert_eq!(second.generation, Generation(4));
}

#[test]
fn a_cleanup_in_doubt_doubts_the_object_it_was_about() {
    let mut before = row(Some("a"));
    before.deposed = vec![object("old"), object("older")];
    let about = OpenIntent { native_id: Some("old".into()), ..intent("form_op_1", IntentKind::Cleanup) };
    before.intent = Some(about);
    let (step, kind) = (StepId(0), Some(IntentKind::Cleanup));
    let outcome = Outcome::Uncertain { failure: why() };
    let fact = Entry::Settled { step, kind, row: before.id.clone(), outcome };
    let cleanup = plan(Action::Cleanup { native_id: Some("old".into()) });
    let mut after = before;
    fold(&mut after, &entry(fact), &cleanup, &[]);
    let certainty: Vec<_> = after.deposed.iter().map(|object| object.certainty).collect();
    assert_eq!(certainty, [Certainty::Uncertain, Certainty::Certain]);
    assert_eq!(after.current.map(|object| object.certainty), Some(Certainty::Certain));
}

#[test]
fn an_unknown_outcome_keeps_the_intent() {
    let unknown = Outcome::Unknown { failure: why() };
    let (row, changed) = settled(row(None), Action::Create, Some(IntentKind::Create), unknown);
    assert!(changed && row.intent.is_some());
    assert_eq!(row.status, RowStatus::Failed);
}

#[test]
fn no_ops_and_skips_leave_the_row_but_a_conditional_step_declares() {
    assert!(!settled(row(Some("a")), Action::NoOp, None, Outcome::NoOp).1);
    assert!(!settled(row(Some("a")), Action::Create, None, Outcome::Skipped { failure: why() }).1);
    let (row, changed) = settled(row(Some("a")), Action::Update, None, Outcome::NoOp);
    assert!(changed);
    assert_eq!((row.position, row.generation.0, row.status), (7, 3, RowStatus::Created));
    assert_eq!(row.current.map(|object| object.deletion_policy), Some(DeletionPolicy::Retain));
}

#[test]
fn record_rename_and_forget_change_the_row_without_an_effect() {
    let recorded = Outcome::Recorded { object: Some(Box::new(object("z"))) };
    let (adopted, _) = settled(row(None), Action::Adopt { native_id: "z".into() }, None, recorded);
    assert_eq!((current(&adopted), adopted.status, adopted.generation.0), (Some("z"), RowStatus::Created, 3));
    let rename = Action::Rename { from: "Before".into() };
    let (renamed, _) = settled(row(Some("a")), rename, None, Outcome::Recorded { object: None });
    assert_eq!((renamed.label.as_str(), current(&renamed)), ("Now", Some("a")));
    let (forgotten, _) = settled(row(Some("a")), Action::Forget, None, Outcome::Forgotten);
    assert_eq!((forgotten.current, forgotten.status), (None, RowStatus::Deleted));
}

#[test]
fn resolve_closes_the_intent_of_an_earlier_operation() {
    let mut before = row(None);
    before.intent = Some(intent("form_op_0", IntentKind::Create));
    for (outcome, open) in
        [(present("a", false), false), (Outcome::NoOp, false), (Outcome::Unknown { failure: why() }, true)]
    {
        let mut row = before.clone();
        let fact = Entry::Settled { step: StepId(0), kind: None, row: row.id.clone(), outcome };
        assert!(fold(&mut row, &entry(fact), &plan(Action::Resolve), &[]));
        assert_eq!(row.intent.is_some(), open);
    }
}

#[test]
fn an_intent_is_kept_and_learns_what_the_provider_names() {
    let mut row = row(None);
    let opened =
        Entry::Intent { row: row.id.clone(), intent: Box::new(intent("form_op_1", IntentKind::Create)) };
    assert!(fold(&mut row, &entry(opened), &plan(Action::Create), &["minted_0".into()]));
    assert_eq!(row.references.len(), 2);
    let accepted = Entry::Accepted {
        attempt: Attempt { step: StepId(0), kind: IntentKind::Create, number: 1 },
        request_id: "req".into(),
        native_id: Some("n".into()),
        poll_at: Timestamp(1),
        deadline: Timestamp(2),
    };
    assert!(fold(&mut row, &entry(accepted), &plan(Action::Create), &[]));
    let intent = row.intent.expect("it is open");
    assert_eq!((intent.request_id.as_deref(), intent.native_id), (Some("req"), Some("n".into())));
}

#[test]
fn facts_about_others_change_nothing() {
    let before = row(Some("a"));
    let other = |step| Entry::Settled { step, kind: None, row: "row_2".into(), outcome: Outcome::Forgotten };
    let mine =
        Entry::Settled { step: StepId(44), kind: None, row: "row_1".into(), outcome: Outcome::Forgotten };
    let cancel = Entry::CancelRequested { force: true };
    for fact in [other(StepId(0)), other(StepId(44)), mine, cancel] {
        let mut row = before.clone();
        assert!(!fold(&mut row, &entry(fact), &plan(Action::Forget), &[]));
        assert_eq!(row, before);
    }
}
