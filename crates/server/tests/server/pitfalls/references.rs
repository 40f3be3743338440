//! Ids that a template names are those of its own project: every one of them, whatever the type.

use crate::matrix::Given;
use crate::world::World;
use formwork_model::Json;
use serde_json::json;

/// What is in another project, and what the same declaration would need at home.
struct Elsewhere {
    home: Given,
    ids: Vec<(&'static str, String)>,
}

impl Elsewhere {
    async fn make(world: &World) -> Self {
        let home = Given::make(world).await;
        let (_, there) = world.scoped("there").await;
        let given = Given::make(&there).await;
        let mut ids: Vec<_> = ["ai_provider", "agent", "memory", "tool", "dataset"]
            .map(|name| (name, given.id(name).to_owned()))
            .into();
        for (name, path) in [
            ("secret", "/secrets"),
            ("document", "/documents"),
            ("guardrail", "/guardrails"),
            ("model_route", "/model-routes"),
            ("chat", "/chats"),
            ("actor", "/actors"),
            ("orchestration", "/orchestrations"),
            ("eval", "/evals"),
            ("api_key", "/api-keys"),
        ] {
            ids.push((name, there.made(path, given.properties(name, "theirs")).await));
        }
        Self { home, ids }
    }

    fn id(&self, type_name: &str) -> &str {
        &self.ids.iter().find(|(name, _)| *name == type_name).expect("it was made").1
    }
}

/// A type, the type that a property of it refers to, and a declaration with an id in that place.
type Case = (&'static str, &'static str, fn(&Given, &str) -> Json);

fn agent_with(home: &Given, name: &str, value: &Json) -> Json {
    json!({ "ai_provider_id": home.id("ai_provider"), name: value })
}

fn trigger(target: &str, id: &str) -> Json {
    json!({ "name": "t", "type": "manual", "target_type": target, "target_id": id })
}

fn node(node: &Json) -> Json {
    json!({ "name": "o", "nodes": [node], "edges": [] })
}

fn dispatch(dispatch: &Json) -> Json {
    json!({
        "name": "w", "transitions": [],
        "states": [{ "name": "s", "initial": true, "terminal": true, "on_enter": { "dispatch": dispatch } }],
    })
}

fn quota(scope: &str, id: &str) -> Json {
    let metric = if scope == "api_key" { "requests" } else { "tokens" };
    json!({ "scope": scope, "scope_ref": id, "metric": metric, "window": "rolling_1h", "limit": 1 })
}

/// Every property that refers to something, beside those within lists of a kind that is here once.
const CASES: &[Case] = &[
    ("actor", "agent", |_, id| json!({ "name": "a", "agent_id": id })),
    ("actor", "chat", |_, id| json!({ "name": "a", "chat_id": id })),
    ("agent", "ai_provider", |_, id| json!({ "ai_provider_id": id })),
    ("agent", "model_route", |_, id| json!({ "model_route_id": id })),
    ("agent", "tool", |home, id| agent_with(home, "tool_bindings", &json!([{ "tool_id": id }]))),
    ("agent", "tool", |home, id| agent_with(home, "active_tool_ids", &json!([id]))),
    ("agent", "tool", |home, id| {
        agent_with(home, "step_rules", &json!([{ "step": 1, "active_tool_ids": [id] }]))
    }),
    ("agent", "guardrail", |home, id| agent_with(home, "guardrail_ids", &json!([id]))),
    ("agent", "memory", |home, id| agent_with(home, "knowledge_config", &json!({ "memory_ids": [id] }))),
    ("agent", "memory", |home, id| agent_with(home, "knowledge_config", &json!({ "write_memory_id": id }))),
    ("agent", "document", |home, id| agent_with(home, "knowledge_config", &json!({ "document_ids": [id] }))),
    ("agent", "ai_provider", |home, id| {
        agent_with(
            home,
            "knowledge_config",
            &json!({ "extraction": { "enabled": true, "ai_provider_id": id } }),
        )
    }),
    (
        "ai_provider",
        "secret",
        |_, id| json!({ "name": "p", "provider": "openai", "default_model": "m", "secret_id": id }),
    ),
    ("chat", "ai_provider", |_, id| json!({ "ai_provider_id": id })),
    ("conversation", "actor", |_, id| json!({ "actor_id": id })),
    (
        "dataset_item",
        "dataset",
        |_, id| json!({ "dataset_id": id, "input": [{ "role": "user", "content": "hi" }] }),
    ),
    (
        "eval",
        "agent",
        |home, id| json!({ "name": "e", "agent_id": id, "dataset_id": home.id("dataset"), "scorers": [] }),
    ),
    (
        "eval",
        "dataset",
        |home, id| json!({ "name": "e", "agent_id": home.id("agent"), "dataset_id": id, "scorers": [] }),
    ),
    ("eval", "tool", |home, id| {
        let scorers = json!([{ "type": "tool", "name": "s", "tool_id": id }]);
        json!({ "name": "e", "agent_id": home.id("agent"), "dataset_id": home.id("dataset"), "scorers": scorers })
    }),
    ("eval", "ai_provider", |home, id| {
        let scorers =
            json!([{ "type": "llm_judge", "prompt": "p", "pass_threshold": 0.5, "ai_provider_id": id }]);
        json!({ "name": "e", "agent_id": home.id("agent"), "dataset_id": home.id("dataset"), "scorers": scorers })
    }),
    ("guardrail", "tool", |_, id| json!({ "name": "g", "class": "A", "context_tool_id": id })),
    ("ingestion_rule", "agent", |_, id| json!({ "content_type_glob": "image/*", "agent_id": id })),
    ("ingestion_rule", "tool", |_, id| json!({ "content_type_glob": "image/*", "tool_id": id })),
    ("memory_entry", "memory", |_, id| json!({ "memory_id": id, "content": "c" })),
    (
        "model_route",
        "ai_provider",
        |_, id| json!({ "name": "r", "targets": [{ "ai_provider_id": id, "model": "m" }] }),
    ),
    ("orchestration", "agent", |_, id| node(&json!({ "id": "a", "type": "agent", "agent_id": id }))),
    ("orchestration", "tool", |_, id| node(&json!({ "id": "a", "type": "tool", "tool_id": id }))),
    ("orchestration", "memory", |_, id| node(&json!({ "id": "a", "type": "memory_write", "memory_id": id }))),
    ("orchestration", "orchestration", |_, id| {
        node(&json!({ "id": "a", "type": "sub_orchestration", "orchestration_id": id }))
    }),
    ("quota", "agent", |_, id| quota("agent", id)),
    ("quota", "actor", |_, id| quota("actor", id)),
    ("quota", "api_key", |_, id| quota("api_key", id)),
    ("session", "agent", |_, id| json!({ "agent_id": id })),
    ("session", "actor", |home, id| json!({ "agent_id": home.id("agent"), "actor_id": id })),
    ("tool", "guardrail", |_, id| json!({ "name": "t", "guardrail_ids": [id] })),
    (
        "tool",
        "tool",
        |_, id| json!({ "name": "t", "type": "pipeline", "pipeline": { "steps": [{ "id": "a", "tool_id": id }] } }),
    ),
    ("tool", "secret", |_, id| {
        let header = format!("Bearer {{{{secret:{id}}}}}");
        json!({ "name": "t", "execute": { "url": "https://x.test", "headers": { "Authorization": header } } })
    }),
    ("tool", "secret", |_, id| {
        let header = format!("Bearer {{{{secret:{id}}}}}");
        json!({ "name": "t", "type": "mcp", "mcp": { "url": "https://x.test", "headers": { "A": header } } })
    }),
    ("trigger", "agent", |_, id| trigger("agent", id)),
    ("trigger", "tool", |_, id| trigger("tool", id)),
    ("trigger", "orchestration", |_, id| trigger("orchestration", id)),
    ("trigger", "eval", |_, id| trigger("eval", id)),
    ("workflow", "agent", |_, id| dispatch(&json!({ "kind": "agent", "agent_id": id }))),
    ("workflow", "tool", |_, id| dispatch(&json!({ "kind": "tool", "tool_id": id }))),
    ("workflow", "orchestration", |_, id| {
        dispatch(&json!({ "kind": "orchestration", "orchestration_id": id }))
    }),
];

#[tokio::test]
async fn an_id_of_another_project_fails_the_deploy_in_the_words_of_one_that_is_nowhere() {
    let world = World::new().await;
    let there = Elsewhere::make(&world).await;
    for (number, (type_name, refers_to, declare)) in CASES.iter().enumerate() {
        let outcome = async |id: &str| {
            let properties = declare(&there.home, id);
            let template = json!({ "resources": { "It": { "type": type_name, "properties": properties } } });
            let found = world.post("/formations/validate", json!({ "template": template })).await.body;
            assert_eq!(found["valid"], true, "{type_name} {number}: {found}");
            let made = world.post("/formations", json!({ "name": "s", "template": template })).await;
            assert_eq!(
                (made.status, &made.body["status"]),
                (201, &json!("failed")),
                "{type_name}, {refers_to}: {}",
                made.text
            );
            assert_eq!(made.body["error"]["meta"]["logical_id"], "It");
            let gone = world.send("DELETE", &format!("/formations/{}", made.id()), None).await;
            assert_eq!(gone.status, 200, "{}", gone.text);
            made.body["error"].to_string().replace(id, "ID")
        };
        let theirs = there.id(refers_to);
        let (prefix, _) = theirs.rsplit_once('_').expect("an id has a prefix");
        let nowhere = format!("{prefix}_0000000000000000");
        assert_eq!(outcome(theirs).await, outcome(&nowhere).await, "{type_name}, {refers_to}");
    }
}
