//! Moving a task from one state to another, and the record that leaves.

use super::{PINNED, STATE, STATUS, enter, machine::Machine};
use crate::{
    Act, ActionField, Completeness, Definition, Findings, Node, PlatformCatalog, PlatformType, Refusal,
    RestParent, RestRoute,
    document::Document,
    draft::{self, CHANGED_BY, Given},
    ids::new_id,
    json_logic::{self, Unevaluated},
    rewrite::rewrite,
    view::representation,
};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx, StoredObject};
use serde_json::json;

/// The operation that moves a task.
pub(super) const OPERATION: &str = "TransitionTask";
const NAME: &str = "task_transition";
/// The most characters of a comment.
const LONGEST_COMMENT: usize = 4000;

/// What its body holds.
pub(super) static FIELDS: [ActionField; 3] = [
    ActionField { name: "transition", kind: Kind::String, required: true, doc: "Which way to go." },
    ActionField {
        name: "payload",
        kind: Kind::Object,
        required: false,
        doc: "What changes in the payload, member by member; guards read it as it is then.",
    },
    ActionField { name: "comment", kind: Kind::String, required: false, doc: "Why, for the history." },
];

/// `POST …/transitions`: the task in its new state. Its history has who moved it, and how.
pub(super) fn transition(tx: &mut dyn DomainTx, act: &Act<'_>) -> Result<Json, DomainError> {
    let task = Document::of(&act.object)?;
    let Some(project) = act.object.project.clone() else {
        return Err(DomainError::NotFound { id: act.object.id.clone() });
    };
    let text = |name: &str| task.system.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (state, name) = (text(STATE), act.body["transition"].as_str().unwrap_or_default());
    let workflow = task.properties["workflow_id"].as_str().unwrap_or_default().to_owned();
    let version = task.system.get(PINNED).and_then(Json::as_u64).unwrap_or_default();
    let machine = Machine::pinned(tx, act.key, &project, &workflow, version)?;
    let Some(way) = machine.transition(name) else {
        let message = format!("Workflow '{workflow}' has no transition '{name}' at version {version}.");
        return Err(Refusal::new(WireCode::TaskTransitionNotFound, message).into());
    };
    let is_open = text(STATUS) == "open";
    let conflict = |message: String| {
        let possible = if is_open { machine.leading_from(&state) } else { Vec::new() };
        let meta = json!({ "state": state, "possible": possible });
        DomainError::from(Refusal::new(WireCode::TaskTransitionConflict, message).meta(meta))
    };
    if !is_open {
        return Err(conflict(format!("Task '{}' is closed, in state '{state}'.", act.object.id)));
    }
    if !way.from.contains(&&*state) {
        return Err(conflict(format!(
            "Task '{}' is in state '{state}', which '{name}' does not lead from.",
            act.object.id
        )));
    }
    if way.requires_approval {
        return Err(conflict(format!(
            "Transition '{name}' requires approval, which is given by a runtime only."
        )));
    }
    let object = with_payload(tx, act)?;
    if let Some(guard) = way.guard {
        let problem = match holds(guard, act, &object, &state)? {
            Ok(true) => None,
            Ok(false) => Some("does not hold".to_owned()),
            Err(unevaluated) => Some(format!("could not be evaluated: {unevaluated}")),
        };
        if let Some(problem) = problem {
            let message = format!("The guard of transition '{name}' for task '{}' {problem}.", object.id);
            return Err(Refusal::new(WireCode::TaskGuardRejected, message).into());
        }
    }
    let moved = rewrite(tx, act.key, &object, |document| {
        enter(&mut document.system, &machine, &workflow, way.to);
        document.system.insert(CHANGED_BY.to_owned(), act.actor.as_str().into());
    })?;
    record(
        tx,
        act,
        json!({
            "task_id": act.object.id,
            "transition": name,
            "from_state": state,
            "to_state": way.to,
            "comment": act.body.get("comment"),
            "moved_by": act.actor,
        }),
    )?;
    representation(act.entry, &moved)
}

/// Whether a guard holds for a task that is about to leave a state.
fn holds(
    guard: &Json,
    act: &Act<'_>,
    task: &StoredObject,
    state: &str,
) -> Result<Result<bool, Unevaluated>, DomainError> {
    let opened = Document::of(task)?.open_whole(act.key, &task.id)?;
    let shown = opened.properties.expose();
    let data = json!({
        "payload": shown.get("payload"),
        "task": { "id": task.id, "name": shown.get("name"), "assignee": shown.get("assignee"), "state": state },
        "actor": act.actor,
    });
    Ok(json_logic::holds(guard, &data))
}

/// The task with what changes in its payload, by the same rules as any change of it.
fn with_payload(tx: &mut dyn DomainTx, act: &Act<'_>) -> Result<StoredObject, DomainError> {
    let Some(change) = act.body.get("payload").and_then(Json::as_object) else {
        return Ok(act.object.clone());
    };
    let task = Document::of(&act.object)?.open_whole(act.key, &act.object.id)?;
    let mut payload = task.properties.expose()["payload"].as_object().cloned().unwrap_or_default();
    payload.extend(change.clone());
    let given = Given {
        properties: Secret::new(json!({ "payload": payload })),
        secret_paths: Vec::new(),
        kept_paths: Vec::new(),
        completeness: Completeness::Partial,
        actor: act.actor.clone(),
    };
    draft::update(tx, act.entry, act.key, act.object.clone(), &given)
}

/// Writes a transition into the history of its task.
fn record(tx: &mut dyn DomainTx, act: &Act<'_>, properties: Json) -> Result<(), DomainError> {
    let Some(entry) = PlatformCatalog::shared().entry(NAME) else {
        return Err(DomainError::NotFound { id: act.object.id.clone() });
    };
    let given = Given {
        properties: Secret::new(properties),
        secret_paths: Vec::new(),
        kept_paths: Vec::new(),
        completeness: Completeness::Whole,
        actor: act.actor.clone(),
    };
    let id = new_id(entry.definition().id_prefix);
    draft::create(tx, entry, act.key, &id, act.object.project.as_ref(), &given).map(drop)
}

/// `task_transition`: that a task was moved, by whom, from where and to where.
pub(crate) struct TaskTransition;

static ROUTE: RestRoute = RestRoute {
    type_name: NAME,
    path: "/tasks/{task_id}/history",
    id_param: "transition_id",
    parent: Some(RestParent { type_name: "task", property: "task_id" }),
    module: "tasks",
    list: "ListTaskHistory",
    get: "GetTaskTransition",
    // The history is a part of its task.
    gated_as: &[("ListTaskHistory", "tasks:GetTask"), ("GetTaskTransition", "tasks:GetTask")],
    list_filters: &["task_id"],
    ..RestRoute::USUAL
};

impl PlatformType for TaskTransition {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: NAME,
            title: "task transition",
            noun: "Task transition",
            id_prefix: "task_tr",
            doc: "That a task was moved, by whom, from where and to where.",
            properties: vec![
                ("task_id", text("The task.").required().refers_to("task")),
                ("transition", text("The way it went.").required()),
                ("from_state", text("The state it was in.").required()),
                ("to_state", text("The state it came to.").required()),
                ("comment", text("Why.").nullable()),
                ("moved_by", text("Who moved it.").required()),
            ],
            // A record is never changed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "task",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        super::check_length(properties, "comment", LONGEST_COMMENT, findings);
    }

    fn srn_parent(&self) -> Option<&'static str> {
        Some("task_id")
    }
}
