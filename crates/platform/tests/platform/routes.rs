//! What the routes do with single items beyond reading and writing them: tags, forks, firings, runs.

use crate::world::{World, id_of, list_of, wire};
use formwork_model::{InstanceKey, Json, Path, WireCode};
use formwork_platform::Platform;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn tags_are_shown_replaced_and_merged() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let of = [
        ("actor", "Actor", world.create("actor", json!({ "name": "a" })).await),
        ("conversation", "Conversation", world.create("conversation", json!({})).await),
        ("document", "Document", world.create("document", json!({ "content": "c" })).await),
        ("file", "File", world.create("file", json!({ "filename": "f" })).await),
        ("session", "Session", world.create("session", json!({ "agent_id": agent })).await),
    ];
    for (type_name, noun, id) in of {
        let operation = |verb: &str| format!("{verb}{noun}Tags");
        let shown = async || world.rest_act(type_name, &id, &operation("Get")).await.expect("shown");
        assert_eq!(shown().await, json!({}), "{type_name}");
        let change =
            async |verb: &str, body: Json| world.rest_act_with(type_name, &id, &operation(verb), body).await;
        let tags = json!({ "team": "a", "env": "prod" });
        assert_eq!(change("Replace", tags.clone()).await.expect("replaced"), tags);
        let merged = json!({ "env": "dev", "team": null, "new": "x" });
        let merged = change("Merge", merged).await.expect("merged");
        assert_eq!(merged, json!({ "env": "dev", "new": "x" }), "{type_name}");
        let object = world.rest_get(type_name, &id).await.expect("it is there");
        assert_eq!(object["tags"], merged, "they are the object's own");
        let refused = change("Replace", json!({ "n": 1 })).await.expect_err("no text");
        assert_eq!(wire(&refused).1, "`n` must be a string");
        assert_eq!(shown().await, merged, "{type_name}");
    }
}

#[tokio::test]
async fn a_fork_takes_along_what_was_said_up_to_a_message() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let session = world.rest_made("session", json!({ "agent_id": agent, "name": "first" })).await;
    let id = id_of(&session);
    for said in ["one", "two", "three"] {
        world
            .rest_made("message", json!({ "session_id": id, "message": said, "idempotency_key": said }))
            .await;
    }
    let fork = async |body: Json| world.rest_act_with("session", id, "ForkSession", body).await;
    let forked = fork(json!({ "position": 2, "name": "second" })).await.expect("forked");
    assert_eq!(
        (&forked["forked_from_session_id"], &forked["forked_from_position"], &forked["name"]),
        (&json!(id), &json!(2), &json!("second"))
    );
    assert_eq!((&forked["agent_id"], &forked["status"]), (&json!(agent), &json!("open")));
    assert_ne!(forked["conversation_id"], session["conversation_id"]);
    let said = async |conversation: &Json| {
        let conversation = conversation.as_str().expect("a conversation");
        let all = world.related("conversation", conversation, "ListConversationMessages", (50, 0)).await;
        all.items.iter().map(|said| said["message"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(said(&forked["conversation_id"]).await, [json!("one"), json!("two")]);
    assert_eq!(said(&session["conversation_id"]).await.len(), 3, "the first is as it was");
    let whole = fork(Json::Null).await.expect("forked");
    assert_eq!((&whole["forked_from_position"], &whole["name"]), (&json!(3), &json!("first")));

    let forks = world.related("session", id, "ListSessionForks", (50, 0)).await;
    let ids: Vec<_> = forks.items.iter().map(|fork| &fork["id"]).collect();
    assert_eq!(ids, [&forked["id"], &whole["id"]]);
    let second = world.related("session", id, "ListSessionForks", (1, 1)).await;
    assert_eq!((&second.items[0]["id"], second.total), (&whole["id"], 2));
    for (body, message) in [
        (json!({ "position": 4 }), "`position` must be from 0 to 3, the number of messages"),
        (json!({ "position": "x" }), "`position` must be an integer"),
        (json!({ "at": 1 }), "Unknown field(s): at"),
    ] {
        assert_eq!(wire(&fork(body).await.expect_err("refused")).1, message);
    }
}

#[tokio::test]
async fn what_cannot_be_opened_is_not_forked() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let body = json!({ "agent_id": agent, "tool_context": { "x-key": "canary-77" } });
    let session = world.create_secret("session", body, &[Path::of(["tool_context", "x-key"])]).await;
    let forked = world.rest_act("session", &session, "ForkSession").await.expect("forked");
    assert_eq!(forked["tool_context"], json!({ "x-key": { "no_echo": true } }));
    assert!(!world.everything_stored().await.contains("canary-77"));
    let other = World {
        platform: Platform::new(Arc::new(world.store.clone()), InstanceKey::from_bytes([9; 32])),
        ..world
    };
    let refused = other.rest_act("session", &session, "ForkSession").await.expect_err("shut");
    assert_eq!(wire(&refused).0, WireCode::SecretNotDecryptable);
    assert_eq!(other.stored("session").await.len(), 2, "none was made of what could not be read");
}

#[tokio::test]
async fn firing_a_trigger_leaves_a_record_of_what_its_target_is_to_get() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let trigger = json!({
        "name": "t", "type": "manual", "target_type": "agent", "target_id": agent,
        "input": { "always": 1, "over": "old" },
    });
    let trigger = world.create("trigger", trigger).await;
    let input = json!({ "input": { "over": "new" } });
    let fired = world.rest_act_with("trigger", &trigger, "FireTrigger", input).await.expect("fired");
    assert_eq!(fired["input"], json!({ "always": 1, "over": "new" }));
    assert_eq!(
        (&fired["status"], &fired["trigger_id"], &fired["source"], &fired["fired_by"]),
        (&json!("pending"), &json!(trigger), &json!("manual"), &json!("user_1"))
    );
    let again = world.rest_act("trigger", &trigger, "FireTrigger").await.expect("fired");
    assert_eq!(again["input"], json!({ "always": 1, "over": "old" }));
    let page = world.rest_list(list_of("trigger_firing", &[("trigger_id", &trigger)])).await.expect("a page");
    assert_eq!(page.total, 2);

    world.update("trigger", &trigger, json!({ "active": false })).await;
    let refused = world.rest_act("trigger", &trigger, "FireTrigger").await.expect_err("inactive");
    assert_eq!(wire(&refused).0, WireCode::TriggerNotActive);
    world.rest_delete("trigger", &trigger, false).await.expect("deleted");
    assert!(world.stored("trigger_firing").await.is_empty(), "firings go with their trigger");
}

#[tokio::test]
async fn a_secret_of_a_trigger_stays_sealed_in_its_firings() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let trigger = json!({
        "name": "t", "type": "manual", "target_type": "agent", "target_id": agent,
        "input": { "token": "canary-4711" },
    });
    let at = [Path::of(["input", "token"])];
    let trigger = world.create_secret("trigger", trigger, &at).await;
    let fired = world.rest_act("trigger", &trigger, "FireTrigger").await.expect("fired");
    assert_eq!(fired["input"], json!({ "token": { "no_echo": true } }));
    assert!(!format!("{:?}", world.stored("trigger_firing").await).contains("canary"));
}

#[tokio::test]
async fn a_run_of_an_orchestration_is_queued_and_can_be_cancelled() {
    let world = World::new();
    let graph = json!({ "name": "o", "nodes": [{ "id": "a", "type": "human" }], "edges": [] });
    let orchestration = world.create("orchestration", graph).await;
    let body = json!({ "orchestration_id": orchestration, "input": { "n": 1 } });
    let run = world.rest_made("orchestration_run", body).await;
    assert_eq!((&run["status"], &run["orchestration_version"]), (&json!("queued"), &json!(1)));
    let queued = list_of("orchestration_run", &[("status", "queued")]);
    assert_eq!(world.rest_list(queued.clone()).await.expect("a page").total, 1);
    let cancelled = world.rest_act("orchestration_run", id_of(&run), "CancelRun").await.expect("cancelled");
    assert_eq!(cancelled["status"], json!("cancelled"));
    assert_eq!(world.rest_list(queued).await.expect("a page").total, 0);
    let again = world.rest_act("orchestration_run", id_of(&run), "CancelRun").await.expect_err("it is over");
    let message = format!("Run '{}' is cancelled and cannot be cancelled.", id_of(&run));
    let (code, text, _) = wire(&again);
    assert_eq!((code, text), (WireCode::OrchestrationRunNotCancellable, &*message));
    let missing = world.rest_get("orchestration_run", "orch_run_none").await.expect_err("no such run");
    assert_eq!(wire(&missing).0, WireCode::OrchestrationRunNotFound);
    world.rest_delete("orchestration", &orchestration, false).await.expect("deleted");
    assert!(world.stored("orchestration_run").await.is_empty());
}

#[tokio::test]
async fn a_run_of_an_eval_is_of_the_cases_that_are_there() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let dataset = world.create("dataset", json!({ "name": "d" })).await;
    let eval = json!({
        "name": "e", "agent_id": agent, "dataset_id": dataset, "scorers": [{ "type": "exact_match" }],
    });
    let eval = world.create("eval", eval).await;
    let start = json!({ "eval_id": eval });
    let refused = world.rest_create("eval_run", start.clone()).await.expect_err("nothing to run on");
    assert_eq!(wire(&refused).1, format!("Dataset '{dataset}' has no items to run the eval on."));
    let case = json!({ "dataset_id": dataset, "input": [{ "role": "user", "content": "q" }] });
    world.create("dataset_item", case).await;
    let run = world.rest_made("eval_run", start).await;
    assert_eq!(
        (&run["status"], &run["item_count"], &run["agent_version"]),
        (&json!("queued"), &json!(1), &json!(1))
    );
    let cancelled = world.rest_act("eval_run", id_of(&run), "CancelEvalRun").await.expect("cancelled");
    assert_eq!(cancelled["status"], json!("canceled"));
    world.rest_delete("eval", &eval, false).await.expect("deleted");
    assert!(world.stored("eval_run").await.is_empty());
}
