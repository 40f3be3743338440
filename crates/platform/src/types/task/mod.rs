//! `task`: something that goes through the states of a workflow: a record that the routes make
//! (`formations-behaviour.md` §7.9). A task moves by its transitions only, as people and runtimes ask
//! for them; what a state does by itself (`on_enter`) a runtime does.

mod machine;
mod transition;

pub(crate) use transition::TaskTransition;

use crate::{
    Act, ActionBody, Definition, DependentRule, Dependents, Extra, Findings, Node, PlatformType, Refusal,
    RestAction, RestRoute, UpdateMode, rest::Filter, scene::Scene, types::queued,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, Link};
use machine::Machine;
use serde_json::{Map, json};

pub(crate) struct Task;

/// The version of the workflow that the task goes by, whatever becomes of the workflow.
const PINNED: &str = "workflow_version";
const STATE: &str = "state";
const STATUS: &str = "status";
/// The most characters of what people call a task, and of who is to see to it.
const LONGEST_NAME: usize = 200;
/// Names the workflow while the task is open.
const OPEN_IN: &str = "open_in";

static ROUTE: RestRoute = RestRoute {
    type_name: "task",
    path: "/tasks",
    id_param: "task_id",
    module: "tasks",
    create: Some("CreateTask"),
    list: "ListTasks",
    get: "GetTask",
    update: Some("UpdateTask"),
    delete: Some("DeleteTask"),
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "workflow_id", "state", "status", "assignee"],
    actions: &[RestAction::post("transitions", transition::OPERATION)
        .taking(ActionBody::Fields(&transition::FIELDS))],
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] =
    [Dependents { type_name: "task_transition", fields: &["task_id"], rule: DependentRule::Cascade }];

static EXTRAS: [Extra; 3] = [
    Extra { name: STATE, kind: "string", nullable: false, value: |system| queued::of(system, STATE) },
    Extra { name: STATUS, kind: "string", nullable: false, value: |system| queued::of(system, STATUS) },
    Extra { name: PINNED, kind: "integer", nullable: false, value: |system| queued::of(system, PINNED) },
];

impl PlatformType for Task {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "task",
            title: "task",
            noun: "Task",
            id_prefix: "task",
            doc: "Something that goes through the states of a workflow.",
            properties: vec![
                (
                    "workflow_id",
                    text("The workflow; cannot change.").required().refers_to("workflow").create_only(),
                ),
                ("name", text("What people call it.").nullable()),
                ("assignee", text("Who is to see to it.").nullable()),
                (
                    "payload",
                    PropertySchema::new(Kind::Object, "What it is about; guards read it. 64 KiB at most.")
                        .default(json!({})),
                ),
            ],
            // The routes refuse a change of what is fixed.
            on_immutable: ImmutableRule::Replace,
            srn_type: "task",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn not_found(&self) -> WireCode {
        WireCode::TaskNotFound
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_length(properties, "name", LONGEST_NAME, findings);
        check_length(properties, "assignee", LONGEST_NAME, findings);
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        transition::transition(tx, &act)
    }

    /// A task begins in the initial state of its workflow, as that is now.
    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        let workflow = scene.after.get("workflow_id").and_then(Json::as_str).unwrap_or_default();
        let machine = if let Some(version) = scene.system.get(PINNED).and_then(Json::as_u64) {
            Machine::pinned(tx, scene.key, scene.project, workflow, version)?
        } else {
            let machine = Machine::current(tx, scene.key, scene.project, workflow)?;
            scene.system.insert(PINNED.to_owned(), json!(machine.version()));
            enter(scene.system, &machine, workflow, machine.initial()?);
            machine
        };
        machine.admit(scene.after.get("payload").unwrap_or(&Json::Null))
    }

    fn system_links(&self, system: &Map<String, Json>) -> Vec<Link> {
        let open = system.get(OPEN_IN).and_then(Json::as_str);
        open.map(|to| Link { field: OPEN_IN.to_owned(), to: to.to_owned() }).into_iter().collect()
    }

    fn filter(&self, name: &str, value: &str) -> Result<Filter, Refusal> {
        queued::system_filter(&[STATE, STATUS], name, value)
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

fn check_length(properties: Node<'_>, name: &str, longest: usize, findings: &mut Findings) {
    let text = properties.member(name).and_then(Node::known_text);
    if text.is_some_and(|text| text.chars().count() > longest) {
        let message = format!("`{name}` can have {longest} characters at most");
        findings.error(DiagnosticCode::InputTooLarge, Path::of([name]), message);
    }
}

/// Puts a task in a state; in a terminal one it is closed.
fn enter(system: &mut Map<String, Json>, machine: &Machine, workflow: &str, state: &str) {
    let is_over = machine.is_terminal(state);
    system.insert(STATE.to_owned(), json!(state));
    system.insert(STATUS.to_owned(), json!(if is_over { "closed" } else { "open" }));
    if is_over {
        system.shift_remove(OPEN_IN);
    } else {
        system.insert(OPEN_IN.to_owned(), json!(workflow));
    }
}
