//! Sessions: their conversation, one per actor, messages, closing and expiry.

use crate::world::{World, id_of, list_of, wire};
use formwork_model::{Json, WireCode};
use formwork_platform::UpdateMode;
use serde_json::json;

/// An agent that has one session for each actor, and an actor.
async fn single(world: &World) -> (String, String) {
    let (provider, _) = world.agent().await;
    let agent = json!({ "ai_provider_id": provider, "single_session_per_actor": true });
    (world.create("agent", agent).await, world.create("actor", json!({ "name": "a" })).await)
}

async fn set_status(world: &World, session: &str, status: &str) -> Result<Json, WireCode> {
    let body = json!({ "status": status });
    let answer = world.rest_update("session", session, body, UpdateMode::Patch, None).await;
    answer.map_err(|error| wire(&error).0)
}

#[tokio::test]
async fn a_session_has_a_conversation_that_goes_with_it() {
    let world = World::new();
    let (agent, actor) = single(&world).await;
    let session = world.rest_made("session", json!({ "agent_id": agent, "actor_id": actor })).await;
    let conversation = session["conversation_id"].as_str().expect("a conversation");
    let shown = world.rest_get("conversation", conversation).await.expect("it is there");
    assert_eq!(shown["actor_id"], json!(actor));
    world.rest_delete("session", id_of(&session), false).await.expect("deleted");
    let gone = world.rest_get("conversation", conversation).await.expect_err("it went along");
    assert_eq!(wire(&gone).0, WireCode::ResourceNotFound);
}

#[tokio::test]
async fn an_agent_can_allow_an_actor_one_open_session() {
    let world = World::new();
    let (agent, actor) = single(&world).await;
    let declared = json!({ "agent_id": agent, "actor_id": actor });
    let first = world.rest_made("session", declared.clone()).await;
    let refused = world.rest_create("session", declared.clone()).await.expect_err("a second one");
    let message = format!("Actor '{actor}' has an open session with agent '{agent}' already.");
    let expected = (WireCode::SingleSessionConflict, &*message, json!({ "session_id": first["id"] }));
    assert_eq!(wire(&refused), expected);
    let other = world.create("actor", json!({ "name": "b" })).await;
    world.rest_made("session", json!({ "agent_id": agent, "actor_id": other })).await;
    world.rest_made("session", json!({ "agent_id": agent })).await;

    set_status(&world, id_of(&first), "closed").await.expect("closed");
    let second = world.rest_made("session", declared).await;
    let reopened = set_status(&world, id_of(&first), "open").await;
    assert_eq!(reopened.expect_err("the other is open"), WireCode::SingleSessionConflict);
    set_status(&world, id_of(&second), "open").await.expect("it is open itself");
}

#[tokio::test]
async fn messages_are_counted_and_belong_to_the_sessions_conversation() {
    let world = World::new();
    let (agent, actor) = single(&world).await;
    let session = world.rest_made("session", json!({ "agent_id": agent, "actor_id": actor })).await;
    let document = world.create("document", json!({ "content": "c" })).await;
    for (body, position) in [(json!({ "message": "one" }), 1), (json!({ "document_id": document }), 2)] {
        let mut body = body;
        body["session_id"] = session["id"].clone();
        let made = world.rest_made("message", body).await;
        assert_eq!((&made["position"], &made["role"]), (&json!(position), &json!("user")));
        assert_eq!(
            (&made["conversation_id"], &made["actor_id"]),
            (&session["conversation_id"], &json!(actor))
        );
    }
    let page = world.rest_list(list_of("message", &[("session_id", id_of(&session))])).await;
    assert_eq!(page.expect("a page").total, 2);
}

#[tokio::test]
async fn a_message_is_text_or_a_document() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let session = world.create("session", json!({ "agent_id": agent })).await;
    for body in [json!({}), json!({ "message": "m", "document_id": "doc_1" })] {
        let mut body = body;
        body["session_id"] = json!(session);
        let refused = world.rest_create("message", body).await.expect_err("neither or both");
        assert_eq!(wire(&refused).1, "exactly one of message or document_id is required");
    }
}

#[tokio::test]
async fn a_message_said_again_with_its_key_is_the_same_message() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let (one, two) = (
        world.create("session", json!({ "agent_id": agent })).await,
        world.create("session", json!({ "agent_id": agent })).await,
    );
    let say = |session: &str| json!({ "session_id": session, "message": "m", "idempotency_key": "k" });
    let first = world.rest_made("message", say(&one)).await;
    assert_eq!(world.rest_made("message", say(&one)).await, first);
    assert_ne!(world.rest_made("message", say(&two)).await["id"], first["id"]);
    assert_eq!(world.stored("message").await.len(), 2);
}

#[tokio::test]
async fn a_message_needs_a_conversation_to_be_said_in() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let session = world.rest_made("session", json!({ "agent_id": agent })).await;
    let conversation = session["conversation_id"].as_str().expect("a conversation");
    world.rest_delete("conversation", conversation, false).await.expect("deleted");
    let body = json!({ "session_id": session["id"], "message": "m" });
    let refused = world.rest_create("message", body).await.expect_err("nowhere to say it");
    let message = format!("Conversation not found: {conversation}");
    let (code, text, _) = wire(&refused);
    assert_eq!((code, text), (WireCode::ResourceNotFound, &*message));
    world.rest_delete("session", id_of(&session), false).await.expect("what is gone blocks nothing");
}

#[tokio::test]
async fn a_closed_session_takes_no_messages_until_it_is_open_again() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let session = world.create("session", json!({ "agent_id": agent })).await;
    let say = || json!({ "session_id": session, "message": "m" });
    set_status(&world, &session, "closed").await.expect("closed");
    let refused = world.rest_create("message", say()).await.expect_err("closed");
    let message = format!("Session '{session}' is closed.");
    let (code, text, _) = wire(&refused);
    assert_eq!((code, text), (WireCode::SessionClosed, &*message));
    set_status(&world, &session, "open").await.expect("open");
    world.rest_made("message", say()).await;
}

#[tokio::test]
async fn a_session_expires_for_want_of_messages_and_lives_on_with_them() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let brief = json!({ "agent_id": agent, "inactivity_ttl_seconds": 1000 });
    let (kept, left) = (world.create("session", brief.clone()).await, world.create("session", brief).await);
    let say = |session: &str| json!({ "session_id": session, "message": "m" });
    world.advance(700);
    world.rest_made("message", say(&kept)).await;
    world.advance(700);
    world.rest_made("message", say(&kept)).await;
    let refused = world.rest_create("message", say(&left)).await.expect_err("expired");
    let message = format!("Session '{left}' has expired.");
    let (code, text, _) = wire(&refused);
    assert_eq!((code, text), (WireCode::SessionExpired, &*message));
}
