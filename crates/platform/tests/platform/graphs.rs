//! Orchestrations and workflows: every message of their graphs and machines, and that an expression
//! may stand anywhere in them.

use crate::{
    rules::{findings, object, plain, reference},
    world::{World, check, id_of, refusal},
};
use formwork_model::{Expr, Json};
use formwork_plugin::OperationStatus;
use serde_json::json;

fn graph(nodes: &Json, edges: &Json) -> Json {
    json!({ "name": "o", "nodes": nodes, "edges": edges })
}

fn delay(id: &str) -> Json {
    json!({ "id": id, "type": "delay", "duration": 1 })
}

#[test]
fn the_rules_of_the_nodes_of_an_orchestration() {
    insta::assert_snapshot!(findings(
        "orchestration",
        &[
            graph(&json!(["x", {}, { "id": "", "type": "" }, { "id": "a", "type": "fly" }]), &json!([])),
            graph(
                &json!([
                    { "id": "a", "type": "agent" },
                    { "id": "b", "type": "tool", "tool_id": "" },
                    { "id": "c", "type": "transform" },
                    { "id": "d", "type": "condition" },
                    { "id": "e", "type": "approval" },
                    { "id": "f", "type": "memory_write" },
                    { "id": "g", "type": "delay" },
                    { "id": "h", "type": "loop" },
                    { "id": "i", "type": "poll" },
                    { "id": "j", "type": "emit_event" },
                    { "id": "k", "type": "sub_orchestration" },
                    { "id": "l", "type": "knowledge" },
                    { "id": "m", "type": "human" },
                    { "id": "n", "type": "webhook" },
                ]),
                &json!([]),
            ),
            graph(&json!([{ "id": "a", "type": "agent", "agent_id": 7 }]), &json!([])),
            graph(
                &json!([{
                    "id": "a", "type": "human",
                    "input_mapping": "x",
                    "state_mapping": { "state.nodes.b": 1, "result": 2, "state.": 3, "state.nodes": 4, "state.ok": 5 },
                    "retry": { "max_attempts": 21, "backoff": { "strategy": "random", "delay_ms": -1 } },
                }]),
                &json!([]),
            ),
            graph(
                &json!([
                    { "id": "a", "type": "transform", "expression": { "twice": 1 } },
                    { "id": "b", "type": "human", "input_mapping": { "q": { "equals": [] }, "r": { "x": 1, "y": 2 } } },
                ]),
                &json!([]),
            ),
        ]
    ));
}

#[test]
fn the_rules_of_the_edges_of_an_orchestration() {
    let two = json!([delay("a"), delay("b")]);
    let looped = json!([
        { "id": "a", "type": "loop", "orchestration_id": "orch_1" },
        delay("b"),
    ]);
    let circle = json!([{ "from": "a", "to": "b" }, { "from": "b", "to": "a" }]);
    insta::assert_snapshot!(findings(
        "orchestration",
        &[
            graph(&json!([delay("a"), delay("a")]), &json!([])),
            graph(&two, &json!([{ "from": "a", "to": "c" }, { "from": "z" }, 1, { "from": "a", "to": "" }])),
            graph(&two, &json!([{ "from": "a", "to": "b", "activation_condition": "some" }])),
            graph(&two, &circle),
            graph(&json!([delay("a")]), &json!([{ "from": "a", "to": "a" }])),
            graph(&looped, &circle),
        ]
    ));
}

#[test]
fn the_rules_of_what_nodes_read() {
    let reads = |id: &str, variable: &str| json!({ "id": id, "type": "transform", "expression": { "var": variable } });
    let chain = json!([{ "from": "a", "to": "b" }]);
    let writes =
        json!({ "id": "a", "type": "human", "state_mapping": { "state.found.deep": { "var": "output" } } });
    insta::assert_snapshot!(findings(
        "orchestration",
        &[
            graph(&json!([delay("a"), reads("b", "nodes.a.result")]), &chain),
            graph(&json!([reads("a", "nodes.b.result"), delay("b")]), &chain),
            graph(&json!([reads("a", "nodes.a"), reads("b", "nodes.c.x")]), &chain),
            graph(&json!([writes, reads("b", "found.deep")]), &chain),
            graph(&json!([writes, reads("b", "lost")]), &chain),
            graph(&json!([reads("a", "input.q"), reads("b", "")]), &chain),
            json!({
                "nodes": [reads("a", "declared")], "edges": [],
                "state_schema": { "properties": { "declared": {} } },
            }),
        ]
    ));
}

#[test]
fn an_expression_may_stand_anywhere_in_an_orchestration() {
    let node = object(vec![
        ("id", plain(json!("a"))),
        ("type", plain(json!("agent"))),
        ("agent_id", reference("A")),
        ("input_mapping", object(vec![("q", reference("Q")), ("r", object(vec![("var", reference("V"))]))])),
        ("retry", object(vec![("max_attempts", reference("N")), ("backoff", reference("B"))])),
    ]);
    let typed = object(vec![("id", reference("I")), ("type", reference("T"))]);
    let edge = object(vec![("from", plain(json!("a"))), ("to", reference("I"))]);
    let unknown = plain(json!({ "from": "a", "to": "whatever" }));
    let whole = |nodes: Expr, edges: Expr| object(vec![("nodes", nodes), ("edges", edges)]);
    let nodes = Expr::array(vec![node, typed, reference("N")]);
    let edges = Expr::array(vec![edge, unknown, reference("E")]);
    assert_eq!(check("orchestration", &whole(nodes, edges)), Vec::<String>::new());
    assert_eq!(check("orchestration", &whole(reference("N"), reference("E"))), Vec::<String>::new());
}

#[test]
fn a_graph_is_bounded_and_a_long_chain_is_checked_quickly() {
    let chain = |count: usize| {
        let nodes: Vec<Json> = (0..count)
            .map(|index| json!({ "id": format!("n{index}"), "type": "transform", "expression": { "var": "nodes.n0.x" } }))
            .collect();
        let edges: Vec<Json> = (1..count)
            .map(|index| json!({ "from": format!("n{}", index - 1), "to": format!("n{index}") }))
            .collect();
        check("orchestration", &plain(graph(&json!(nodes), &json!(edges))))
    };
    let own = "p.nodes[0].expression: Node 'n0' reads 'nodes.n0.x', but node 'n0' does not come before it.";
    assert_eq!(chain(1000), [own]);
    assert_eq!(chain(1001), ["p.nodes: An orchestration can have 1000 nodes at most."]);
}

fn machine(states: &Json, transitions: &Json) -> Json {
    json!({ "name": "w", "states": states, "transitions": transitions })
}

#[test]
fn the_rules_of_the_states_of_a_workflow() {
    let with = |state: Json| {
        let mut states = json!([{ "name": "start", "initial": true }]);
        states.as_array_mut().expect("a list").push(state);
        machine(&states, &json!([{ "name": "go", "from": ["start"], "to": "start" }]))
    };
    let entering = |on_enter: Json| with(json!({ "name": "s", "on_enter": on_enter }));
    let dispatch = json!({ "kind": "agent", "agent_id": "agent_1" });
    insta::assert_snapshot!(findings(
        "workflow",
        &[
            machine(&json!([]), &json!([])),
            machine(&json!([{ "name": "a" }, { "name": "b" }]), &json!([])),
            machine(&json!([{ "name": "a", "initial": true }, { "name": "b", "initial": true }]), &json!([])),
            with(json!({ "name": "start" })),
            with(json!("x")),
            with(json!({ "name": "s", "kind": "robot", "stalled_after": 0, "terminal": "yes" })),
            with(
                json!({ "name": "s", "kind": "human", "stalled_after": 3.5, "on_enter": { "dispatch": dispatch } })
            ),
            entering(json!({})),
            entering(json!({ "dispatch": {} })),
            entering(json!({ "dispatch": { "kind": "webhook" } })),
            entering(json!({ "dispatch": { "kind": "agent" } })),
            entering(json!({ "dispatch": { "kind": "orchestration", "agent_id": "x" } })),
            entering(json!({ "dispatch": { "kind": "tool", "tool_id": "" , "input_mapping": 1 } })),
            entering(json!({
                "dispatch": dispatch,
                "retry": { "max_attempts": 11, "backoff_seconds": -1, "backoff_multiplier": 0.5 },
                "on_complete": [
                    { "transition": "go" }, { "transition": "stay", "when": { "equals": 1 } }, { "when": "x" },
                ],
                "on_failure": "fall",
            })),
            entering(json!({ "dispatch": dispatch, "on_failure": { "transition": "go" } })),
        ]
    ));
}

#[test]
fn the_rules_of_the_transitions_of_a_workflow() {
    let with = |transitions: Json| {
        machine(&json!([{ "name": "a", "initial": true }, { "name": "b" }]), &transitions)
    };
    let way = |name: &str| json!({ "name": name, "from": ["a"], "to": "b" });
    insta::assert_snapshot!(findings(
        "workflow",
        &[
            with(json!([way("go"), way("go")])),
            with(json!([{ "name": "go", "to": "b" }, { "name": "stay", "from": [], "to": "b" }])),
            with(json!([{ "name": "go", "from": ["c", 1], "to": "d" }, { "name": "stay", "from": ["a"] }])),
            with(json!([{ "name": "go", "from": ["a"], "to": "b", "guard": "x", "requires_approval": 1 }])),
            with(json!([{ "name": "go", "from": ["a"], "to": "b", "guard": { "and": [{ "equals": 1 }] } }])),
            with(json!([{}])),
        ]
    ));
}

#[test]
fn an_expression_may_stand_anywhere_in_a_workflow() {
    let dispatch = object(vec![("kind", plain(json!("agent"))), ("agent_id", reference("A"))]);
    let on_enter = object(vec![
        ("dispatch", dispatch),
        ("retry", object(vec![("max_attempts", reference("N"))])),
        ("on_complete", Expr::array(vec![object(vec![("transition", reference("T"))])])),
        ("on_failure", reference("F")),
    ]);
    let state = object(vec![("name", reference("S")), ("initial", reference("I")), ("on_enter", on_enter)]);
    let transition = object(vec![
        ("name", plain(json!("go"))),
        ("from", Expr::array(vec![plain(json!("unknown")), reference("S")])),
        ("to", plain(json!("unknown"))),
        ("guard", object(vec![("==", Expr::array(vec![reference("G"), plain(json!(1))]))])),
    ]);
    let workflow = object(vec![
        ("states", Expr::array(vec![state, reference("X")])),
        ("transitions", Expr::array(vec![transition])),
    ]);
    assert_eq!(check("workflow", &workflow), Vec::<String>::new());
}

#[tokio::test]
async fn what_a_graph_names_must_be_in_the_project() {
    let mut world = World::new();
    let (_, agent) = world.agent().await;
    let node = |agent: &str| graph(&json!([{ "id": "a", "type": "agent", "agent_id": agent }]), &json!([]));
    let state = |agent: &str| {
        let dispatch = json!({ "dispatch": { "kind": "agent", "agent_id": agent } });
        machine(&json!([{ "name": "a", "initial": true, "on_enter": dispatch }]), &json!([]))
    };
    for (type_name, declared, code) in [
        ("orchestration", node(&agent), "AGENT_NOT_FOUND"),
        ("workflow", state(&agent), "WORKFLOW_VALIDATION_FAILED"),
    ] {
        world.create(type_name, declared.clone()).await;
        world.project = "proj_two".into();
        let answer = world.try_create(type_name, declared, &[]).await;
        assert_eq!((refusal(&answer).1, refusal(&answer).2), (code, &*format!("Agent not found: {agent}")));
        world.project = "proj_one".into();
    }
}

#[tokio::test]
async fn open_tasks_keep_their_workflow_and_closed_ones_go_with_it() {
    let world = World::new();
    let declared = machine(&json!([{ "name": "a", "initial": true }]), &json!([]));
    let workflow = world.create("workflow", declared).await;
    let open = world.rest_made("task", json!({ "workflow_id": workflow })).await;
    let answer = world.delete("workflow", &workflow).await;
    assert_eq!(refusal(&answer).1, "WORKFLOW_HAS_OPEN_TASKS");
    assert_eq!(answer.failure_meta, Some(json!({ "openTaskCount": 1 })));
    world.rest_delete("task", id_of(&open), false).await.expect("deleted");
    assert_eq!(world.delete("workflow", &workflow).await.operation_status, OperationStatus::Success);
    assert!(world.stored("task").await.is_empty());
    let answer = world.update("workflow", &workflow, json!({ "name": "n" })).await;
    assert_eq!(refusal(&answer).1, "WORKFLOW_NOT_FOUND");
}
