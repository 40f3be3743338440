//! Small records to test with.

use crate::{
    AuditRecord, Begin, Begun, Finish, LeaseGuard, Link, ListQuery, NewObject, ObservationWrite, OwnedObject,
    Store, UniqueKey, Unit,
};
use formwork_model::{
    BaseRow, Certainty, ClientToken, DeletionPolicy, Entry, Event, EventAction, EventStatus, Generation,
    InstanceKey, IntentKind, JOURNAL_VERSION, JournalEntry, Json, Lookup, Object, OpenIntent, OperationId,
    OperationKind, OperationRecord, OperationStatus, PLAN_FORMAT, Plan, PlanHash, Row, RowId, RowStatus,
    Sealed, StackId, StepId, Stored, TargetRev, Timestamp,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Long enough for any test.
pub const LONG: u64 = 600_000;

/// A moment. Records carry the times of their writers, which a store does not look at.
pub const NOON: Timestamp = Timestamp(1_750_000_000_000);

/// A plan without steps that rests on these rows.
pub fn plan(bases: Vec<BaseRow>) -> Arc<Plan> {
    Arc::new(Plan {
        format: PLAN_FORMAT,
        kind: OperationKind::Update,
        project: "proj".into(),
        stacks: Vec::new(),
        steps: Vec::new(),
        bases,
        types: BTreeMap::new(),
    })
}

/// What a step found: a row with its revision, or none of this label.
pub fn base(step: u32, stack: &str, label: &str, row: Option<(&str, u64)>) -> BaseRow {
    let row = row.map(|(id, revision)| (id.into(), revision));
    BaseRow { step: StepId(step), stack: stack.into(), label: label.into(), row }
}

/// The record of an operation that runs.
pub fn operation(id: &str, stacks: &[&str]) -> OperationRecord {
    OperationRecord {
        id: id.into(),
        project: "proj".into(),
        stacks: stacks.iter().copied().map(StackId::from).collect(),
        kind: OperationKind::Update,
        status: OperationStatus::Running,
        actor: "user".into(),
        plan_hash: PlanHash([7; 32]),
        started_at: NOON,
        updated_at: NOON,
        finished_at: None,
        failure: None,
    }
}

/// What begins an operation with nothing but its first entry.
pub fn begin(id: &str, stacks: &[&str]) -> Begin {
    Begin {
        operation: operation(id, stacks),
        owner: "owner".into(),
        ttl_millis: LONG,
        plan: plan(Vec::new()),
        slots: Vec::new(),
        new_rows: Vec::new(),
        started: entry(id, 0),
        events: Vec::new(),
        objects: Vec::new(),
        requires: Vec::new(),
        audit: Vec::new(),
        claims: Vec::new(),
    }
}

/// A line of the audit, to know by what it is about.
pub fn audit(subject: &str, project: Option<&str>) -> AuditRecord {
    AuditRecord {
        at: NOON,
        actor: "user".to_owned(),
        project: project.map(Into::into),
        action: "deploy".to_owned(),
        subject: subject.to_owned(),
        allowed: subject != "2",
        detail: serde_json::json!([subject]),
    }
}

/// A fact.
pub fn entry(operation: &str, sequence: u64) -> JournalEntry {
    let entry = Entry::CancelRequested { force: false };
    JournalEntry { version: JOURNAL_VERSION, operation: operation.into(), sequence, at: NOON, entry }
}

/// An event with a note to know it by.
pub fn event(operation: &str, note: &str) -> Event {
    Event {
        sequence: 0,
        at: NOON,
        operation: operation.into(),
        stack: "stack".into(),
        subject: None,
        action: EventAction::Operation,
        status: EventStatus::Started,
        native_id: None,
        failure: None,
        attempt: None,
        note: Some(note.to_owned()),
    }
}

/// A row of what does not exist yet.
pub fn row(id: &str, stack: &str) -> Row {
    Row::new(id.into(), stack.into(), id.into(), "type".into(), 0)
}

/// A row that stands for an object and refers to other rows.
pub fn live(id: &str, stack: &str, references: &[&str]) -> Row {
    let references = references.iter().copied().map(RowId::from).collect();
    let current = Some(Object {
        native_id: format!("native-{id}").into(),
        type_name: "type".into(),
        target: TargetRev::default(),
        deletion_policy: DeletionPolicy::Delete,
        sent: Stored::empty_object(),
        echo: Stored::empty_object(),
        observed: None,
        certainty: Certainty::Certain,
    });
    Row { status: RowStatus::Created, current, references, ..row(id, stack) }
}

/// A row whose object is about to be deleted.
pub fn deleting(row: Row, operation: &str) -> Row {
    let intent = Some(OpenIntent {
        operation: operation.into(),
        step: StepId(0),
        kind: IntentKind::Delete,
        attempt: 1,
        generation: row.generation,
        token: token(1),
        not_after: NOON,
        lookup: Lookup::None,
        type_name: row.type_name.clone(),
        target: TargetRev::default(),
        deletion_policy: DeletionPolicy::Delete,
        sent: Stored::empty_object(),
        native_id: None,
        request_id: None,
    });
    Row { intent, ..row }
}

/// A row whose creation is about to be undone.
pub fn undoing(row: Row, operation: &str) -> Row {
    let mut row = deleting(row, operation);
    if let Some(intent) = &mut row.intent {
        intent.kind = IntentKind::Undo;
    }
    row
}

/// A tombstone.
pub fn deleted(row: Row) -> Row {
    let generation = row.generation.next();
    Row { status: RowStatus::Deleted, current: None, intent: None, generation, ..row }
}

/// An object of the rows that [`live`] makes.
pub fn owned(native_id: &str) -> OwnedObject {
    OwnedObject { native_id: native_id.into(), type_name: "type".into() }
}

/// An observation.
pub fn seen(row: &str, generation: u64, native_id: &str) -> ObservationWrite {
    ObservationWrite {
        row: row.into(),
        generation: Generation(generation),
        native_id: native_id.into(),
        properties: Json::from("seen").into(),
        at: NOON,
    }
}

/// A token.
pub fn token(byte: u8) -> ClientToken {
    ClientToken([byte; 32])
}

/// A sealed text.
pub fn sealed(text: &str) -> Sealed {
    InstanceKey::from_bytes([1; 32]).seal(b"record", text.as_bytes())
}

/// An object, with a name that must be unique if it has one.
pub fn object(id: &str, project: Option<&str>, name: Option<&str>) -> NewObject {
    NewObject {
        id: id.to_owned(),
        type_name: "agent".to_owned(),
        project: project.map(Into::into),
        doc: serde_json::json!({ "id": id }),
        keys: name.map(named).into_iter().collect(),
        links: Vec::new(),
    }
}

/// The key of a name.
pub fn named(name: &str) -> UniqueKey {
    UniqueKey { key: "name".to_owned(), value: name.to_owned() }
}

/// That an object refers to another.
pub fn link(field: &str, to: &str) -> Link {
    Link { field: field.to_owned(), to: to.to_owned() }
}

/// A page of all objects that [`object`] makes.
pub fn agents(limit: usize, offset: usize) -> ListQuery {
    ListQuery { type_name: "agent".to_owned(), projects: Vec::new(), linked: None, limit, offset }
}

/// The end of an operation.
pub fn succeeded() -> Option<Finish> {
    Some(Finish { status: OperationStatus::Succeeded, failure: None, at: NOON })
}

/// Begins an operation that can begin.
pub async fn begun(store: &dyn Store, begin: Begin) -> LeaseGuard {
    match store.begin(begin).await.unwrap() {
        Begun::Running(guard) => guard,
        other => panic!("expected it to run: {other:?}"),
    }
}

/// Runs one operation on a stack that leaves these rows.
pub async fn settle(store: &dyn Store, id: &str, stack: &str, rows: Vec<Row>) {
    let guard = begun(store, begin(id, &[stack])).await;
    store.commit(&guard, Unit { rows, finish: succeeded(), ..Unit::default() }).await.unwrap();
}

/// The id of an operation.
pub fn id(text: &str) -> OperationId {
    text.into()
}
