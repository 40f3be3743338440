//! Tasks: how they move through the states of their workflow, and what is left of it.

use crate::world::{World, check, id_of, list_of, refusal, wire};
use formwork_model::{Expr, Json, WireCode};
use formwork_platform::{PlatformError, UpdateMode};
use serde_json::json;

fn machine() -> Json {
    json!({
        "name": "w",
        "states": [
            { "name": "new", "initial": true },
            { "name": "review", "kind": "human" },
            { "name": "done", "terminal": true },
        ],
        "transitions": [
            { "name": "send", "from": ["new"], "to": "review" },
            { "name": "accept", "from": ["review"], "to": "done",
              "guard": { ">=": [{ "var": "payload.score" }, 3] } },
            { "name": "sign", "from": ["review"], "to": "done", "requires_approval": true },
        ],
        "payload_schema": {
            "type": "object",
            "properties": { "score": { "type": "integer" } },
            "additionalProperties": false,
        },
    })
}

async fn moved(world: &World, task: &str, body: Json) -> Result<Json, PlatformError> {
    world.rest_act_with("task", task, "TransitionTask", body).await
}

#[tokio::test]
async fn a_task_moves_by_its_transitions_and_its_history_says_who_moved_it() {
    let world = World::new();
    let workflow = world.create("workflow", machine()).await;
    let task =
        world.rest_made("task", json!({ "workflow_id": workflow, "name": "t", "assignee": "ada" })).await;
    let id = id_of(&task);
    assert_eq!(
        (&task["state"], &task["status"], &task["workflow_version"], &task["payload"]),
        (&json!("new"), &json!("open"), &json!(1), &json!({}))
    );
    let refused = moved(&world, id, json!({ "transition": "accept" })).await.expect_err("not from there");
    let (code, _, meta) = wire(&refused);
    assert_eq!(
        (code, meta),
        (WireCode::TaskTransitionConflict, json!({ "state": "new", "possible": ["send"] }))
    );
    let refused = moved(&world, id, json!({ "transition": "nowhere" })).await.expect_err("unknown");
    assert_eq!(wire(&refused).0, WireCode::TaskTransitionNotFound);
    moved(&world, id, json!({ "transition": "send", "comment": "please" })).await.expect("moved");
    let low = json!({ "transition": "accept", "payload": { "score": 2 } });
    assert_eq!(wire(&moved(&world, id, low).await.expect_err("too low")).0, WireCode::TaskGuardRejected);
    let long = json!({ "transition": "accept", "payload": { "score": 4 }, "comment": "ü".repeat(4001) });
    let message = "`comment` can have 4000 characters at most";
    assert_eq!(wire(&moved(&world, id, long).await.expect_err("too long")).1, message);
    let named = json!({ "workflow_id": workflow, "name": "n".repeat(201) });
    let refused = world.rest_create("task", named).await.expect_err("too long");
    assert_eq!(wire(&refused).1, "`name` can have 200 characters at most");
    let unchanged = world.rest_get("task", id).await.expect("there");
    assert_eq!(
        (&unchanged["state"], &unchanged["payload"]),
        (&json!("review"), &json!({})),
        "all or nothing"
    );
    let refused = moved(&world, id, json!({ "transition": "sign" })).await.expect_err("nobody approves");
    let (code, _, meta) = wire(&refused);
    assert_eq!(
        (code, meta),
        (WireCode::TaskTransitionConflict, json!({ "state": "review", "possible": ["accept"] }))
    );
    let done = moved(&world, id, json!({ "transition": "accept", "payload": { "score": 4 } })).await;
    let done = done.expect("moved");
    assert_eq!(
        (&done["state"], &done["status"], &done["payload"]),
        (&json!("done"), &json!("closed"), &json!({ "score": 4 }))
    );
    let (code, message, meta) =
        words(&moved(&world, id, json!({ "transition": "accept" })).await.expect_err("closed"));
    assert_eq!(code, WireCode::TaskTransitionConflict);
    assert_eq!(
        (message, meta),
        (format!("Task '{id}' is closed, in state 'done'."), json!({ "state": "done", "possible": [] }))
    );
    let page = world.rest_list(list_of("task_transition", &[("task_id", id)])).await.expect("a page");
    let history: Vec<_> = page
        .items
        .iter()
        .map(|it| [&it["transition"], &it["from_state"], &it["to_state"], &it["comment"], &it["moved_by"]])
        .collect();
    let text = |text: &str| json!(text);
    let (send, accept, new, review) = (text("send"), text("accept"), text("new"), text("review"));
    let (finished, please, by) = (text("done"), text("please"), text("user_1"));
    assert_eq!(
        history,
        [[&send, &new, &review, &please, &by], [&accept, &review, &finished, &Json::Null, &by]]
    );
    for (filter, value, total) in
        [("state", "done", 1), ("status", "open", 0), ("assignee", "ada", 1), ("workflow_id", &workflow, 1)]
    {
        let page = world.rest_list(list_of("task", &[(filter, value)])).await.expect("a page");
        assert_eq!(page.total, total, "{filter}={value}");
    }
}

#[tokio::test]
async fn a_payload_is_what_the_workflow_takes_on_every_way_in() {
    let world = World::new();
    let workflow = world.create("workflow", machine()).await;
    let wrong = json!({ "workflow_id": workflow, "payload": { "score": "canary-9" } });
    let refused = world.rest_create("task", wrong).await.expect_err("no integer");
    let (code, message, meta) = wire(&refused);
    assert_eq!((code, &meta["details"][0]["path"]), (WireCode::TaskPayloadInvalid, &json!("payload/score")));
    assert!(!message.contains("canary"), "{message}");
    let task = world.rest_made("task", json!({ "workflow_id": workflow, "payload": { "score": 1 } })).await;
    let id = id_of(&task);
    let change = json!({ "payload": { "more": 1 } });
    let refused = world.rest_update("task", id, change, UpdateMode::Patch, None).await.expect_err("unknown");
    assert_eq!(wire(&refused).0, WireCode::TaskPayloadInvalid);
    let refused = moved(&world, id, json!({ "transition": "send", "payload": { "score": 1.5 } })).await;
    assert_eq!(wire(&refused.expect_err("no integer")).0, WireCode::TaskPayloadInvalid);
    let large = json!({ "payload": { "score": 1, "text": "x".repeat(70_000) } });
    let refused = world.rest_update("task", id, large, UpdateMode::Patch, None).await.expect_err("too large");
    assert!(wire(&refused).1.contains("65536 bytes"), "{}", wire(&refused).1);
    let refused = world.rest_create("task", json!({ "workflow_id": "wfl_missing" })).await.expect_err("none");
    assert_eq!(wire(&refused).1, "Workflow not found: wfl_missing");
}

#[tokio::test]
async fn a_task_goes_by_the_version_it_was_made_under() {
    let world = World::new();
    let workflow = world.create("workflow", machine()).await;
    let old = world.rest_made("task", json!({ "workflow_id": workflow })).await;
    let mut changed = machine();
    changed["transitions"][0]["to"] = json!("done");
    world.update("workflow", &workflow, json!({ "transitions": changed["transitions"] })).await;
    let new = world.rest_made("task", json!({ "workflow_id": workflow })).await;
    let send = || json!({ "transition": "send" });
    assert_eq!(moved(&world, id_of(&old), send()).await.expect("moved")["state"], "review");
    assert_eq!(moved(&world, id_of(&new), send()).await.expect("moved")["state"], "done");
    assert_eq!(new["workflow_version"], 2);
    // The closed one goes with the workflow, the open one keeps it.
    assert_eq!(refusal(&world.delete("workflow", &workflow).await).1, "WORKFLOW_HAS_OPEN_TASKS");
    world.rest_delete("task", id_of(&old), false).await.expect("deleted");
    world.delete("workflow", &workflow).await;
    assert!(world.stored("task").await.is_empty());
    assert!(world.stored("task_transition").await.is_empty());
    let refused = world.rest_get("task", id_of(&old)).await.expect_err("gone");
    assert_eq!(wire(&refused).0, WireCode::TaskNotFound);
}

#[test]
fn what_would_take_long_or_grow_is_refused_of_a_workflow() {
    let with = |guard: Json| {
        let mut declared = machine();
        declared["transitions"][0]["guard"] = guard;
        check("workflow", &Expr::from(declared))
    };
    let reduce = json!({ "reduce": [{ "var": "payload.a" }, { "var": "current" }, 0] });
    assert_eq!(with(reduce), ["p.transitions[0].guard: Transition 'send' guard cannot use 'reduce'."]);
    let nested = json!({ "some": [{ "var": "a" }, { "all": [{ "var": "b" }, true] }] });
    let message = "p.transitions[0].guard: Transition 'send' guard cannot go through a list for each element of \
                   another.";
    assert_eq!(with(nested), [message]);
    let long = json!({ "==": [{ "var": "a" }, "x".repeat(5000)] });
    assert_eq!(with(long), ["p.transitions[0].guard: Transition 'send' guard can have 4096 bytes at most."]);
    let object = json!({ "in": [{ "var": "a" }, [{ "k": 1, "l": 2 }]] });
    assert_eq!(
        with(object),
        ["p.transitions[0].guard: Transition 'send' guard cannot hold an object but an operation."]
    );
    let beyond = json!({ "==": [{ "var": "a" }, 9_007_199_254_740_993_u64] });
    let message = "p.transitions[0].guard: Transition 'send' guard cannot hold 9007199254740993: integers beyond \
                   2^53 compare as their neighbours do.";
    assert_eq!(with(beyond), [message]);
    let few = json!({ "and": [true, { ">": [1] }] });
    let message = "p.transitions[0].guard.and[1]: JSON Logic operator '>' takes 2 arguments at least, not 1";
    assert_eq!(with(few), [message]);
    let schema = |schema: Json| {
        let mut declared = machine();
        declared["payload_schema"] = schema;
        check("workflow", &Expr::from(declared))
    };
    assert_eq!(
        schema(json!({ "properties": { "a": { "$ref": "#" } } })),
        ["p.payload_schema: payload_schema cannot use '$ref'."]
    );
    let costly = json!({ "properties": { "a": { "pattern": "\\p{L}{100}" } } });
    let message = "p.payload_schema: payload_schema is too large: the pattern \"\\p{L}{100}\" is too large once \
                   its repetitions are written out";
    assert_eq!(schema(costly), [message]);
    for allowed in [
        json!({ "properties": { "$ref": { "type": "string" } }, "required": ["$ref"] }),
        json!({ "properties": { "a": { "const": { "$ref": "x" } } } }),
    ] {
        assert_eq!(schema(allowed.clone()), Vec::<String>::new(), "{allowed}");
    }
    assert_eq!(
        schema(json!({ "properties": { "properties": { "$ref": "#" } } })),
        ["p.payload_schema: payload_schema cannot use '$ref'."]
    );
    let found = schema(json!({ "type": "thing" }));
    assert!(found[0].starts_with("p.payload_schema: payload_schema is no JSON Schema: "), "{found:?}");
    assert_eq!(schema(json!({ "type": "object" })), Vec::<String>::new());
}

/// What a refusal says, of its own.
fn words(refused: &PlatformError) -> (WireCode, String, Json) {
    let (code, message, meta) = wire(refused);
    (code, message.to_owned(), meta)
}

#[tokio::test]
async fn a_guard_that_cannot_be_evaluated_says_why() {
    let world = World::new();
    let mut declared = machine();
    declared.as_object_mut().expect("an object").shift_remove("payload_schema");
    declared["transitions"][0]["guard"] =
        json!({ "some": [[{ "var": "payload.l" }], { "!": [{ "merge": vec![json!({ "var": "" }); 60] }] }] });
    declared["transitions"][1]["guard"] = json!({ ">": [{ "var": "payload.n" }, 3] });
    let workflow = world.create("workflow", declared).await;
    let task = world
        .rest_made("task", json!({ "workflow_id": workflow, "payload": { "l": vec![1; 30_000] } }))
        .await;
    let id = id_of(&task);
    let refused = async |body: Json| words(&moved(&world, id, body).await.expect_err("refused"));
    let (code, message, _) = refused(json!({ "transition": "send" })).await;
    assert_eq!(code, WireCode::TaskGuardRejected);
    assert!(message.contains("could not be evaluated: it would go through too much data"), "{message}");
    moved(&world, id, json!({ "transition": "send", "payload": { "l": [] } })).await.expect("little data");
    let (_, message, _) = refused(json!({ "transition": "accept", "payload": { "n": ["canary"] } })).await;
    assert!(message.contains("could not be evaluated: ") && !message.contains("canary"), "{message}");
    let beyond = json!({ "transition": "accept", "payload": { "n": 9_007_199_254_740_993_u64 } });
    let (_, message, _) = refused(beyond).await;
    assert!(message.contains("could not be evaluated: `payload.n` is an integer beyond 2^53"), "{message}");
}

#[tokio::test]
async fn a_payload_that_would_take_long_to_check_is_refused_unchecked() {
    let world = World::new();
    let branches: Vec<Json> = (1..3500).map(|number| json!({ "const": number })).collect();
    let mut declared = machine();
    declared["payload_schema"] = json!({ "properties": { "a": { "items": { "anyOf": branches } } } });
    let workflow = world.create("workflow", declared).await;
    let task = |elements: usize| json!({ "workflow_id": workflow, "payload": { "a": vec![0; elements] } });
    let large = words(&world.rest_create("task", task(3000)).await.expect_err("too large"));
    assert_eq!(large.0, WireCode::TaskPayloadInvalid);
    assert!(large.1.contains("too large to compare"), "{}", large.1);
    let untold = words(&world.rest_create("task", task(300)).await.expect_err("unfit"));
    assert!(untold.1.contains("too large to say where"), "{}", untold.1);
    let told = words(&world.rest_create("task", task(2)).await.expect_err("unfit"));
    assert_eq!(told.2["details"].as_array().map(Vec::len), Some(2), "{}", told.1);
}
