//! Ids in properties: within the project only, and the same words for "nowhere" and "elsewhere".

use crate::world::{World, provider, refusal};
use formwork_model::{Json, OperationErrorCode};
use formwork_plugin::OperationStatus;
use serde_json::json;

type Target = (&'static str, fn() -> Json);

struct Case {
    type_name: &'static str,
    properties: fn(&str) -> Json,
    wire: &'static str,
    noun: &'static str,
    /// What the id would name, and how it is declared.
    target: Option<Target>,
}

/// What suffices of a type that needs a name only.
fn named() -> Json {
    json!({ "name": "n" })
}

const CASES: &[Case] = &[
    Case {
        type_name: "actor",
        properties: |id| json!({ "name": "a", "chat_id": id }),
        wire: "CHAT_NOT_FOUND",
        noun: "Chat",
        target: None,
    },
    Case {
        type_name: "actor",
        properties: |id| json!({ "name": "a", "agent_id": id }),
        wire: "AGENT_NOT_FOUND",
        noun: "Agent",
        target: None,
    },
    Case {
        type_name: "chat",
        properties: |id| json!({ "ai_provider_id": id }),
        wire: "AI_PROVIDER_NOT_FOUND",
        noun: "AI provider",
        target: Some(("ai_provider", provider)),
    },
    Case {
        type_name: "conversation",
        properties: |id| json!({ "actor_id": id }),
        wire: "ACTOR_NOT_FOUND",
        noun: "Actor",
        target: Some(("actor", named)),
    },
    Case {
        type_name: "session",
        properties: |id| json!({ "agent_id": id }),
        wire: "AGENT_NOT_FOUND",
        noun: "Agent",
        target: None,
    },
    Case {
        type_name: "dataset_item",
        properties: |id| json!({ "dataset_id": id, "input": [] }),
        wire: "VALIDATION_FAILED",
        noun: "Dataset",
        target: Some(("dataset", named)),
    },
    Case {
        type_name: "guardrail",
        properties: |id| json!({ "name": "g", "class": "A", "context_tool_id": id }),
        wire: "TOOL_NOT_FOUND",
        noun: "Tool",
        target: Some(("tool", named)),
    },
    Case {
        type_name: "ai_provider",
        properties: |id| {
            let mut declared = provider();
            declared["secret_id"] = json!(id);
            declared
        },
        wire: "SECRET_NOT_FOUND",
        noun: "Secret",
        target: Some(("secret", || json!({ "name": "s", "value": "v" }))),
    },
    Case {
        type_name: "memory_entry",
        properties: |id| json!({ "memory_id": id, "content": "c" }),
        wire: "VALIDATION_FAILED",
        noun: "Memory",
        target: Some(("memory", || json!({ "name": "m" }))),
    },
    Case {
        type_name: "agent",
        properties: |id| json!({ "ai_provider_id": id }),
        wire: "AI_PROVIDER_NOT_FOUND",
        noun: "AI provider",
        target: Some(("ai_provider", provider)),
    },
    Case {
        type_name: "agent",
        properties: |id| json!({ "model_route_id": id }),
        wire: "MODEL_ROUTE_NOT_FOUND",
        noun: "Model route",
        target: None,
    },
    Case {
        type_name: "tool",
        properties: |id| json!({ "name": "t", "guardrail_ids": [id] }),
        wire: "GUARDRAIL_NOT_FOUND",
        noun: "Guardrail",
        target: Some(("guardrail", || json!({ "name": "g", "class": "D" }))),
    },
    Case {
        type_name: "tool",
        properties: |id| {
            let header = format!("Bearer {{{{secret:{id}}}}}");
            json!({ "name": "t", "execute": { "url": "https://x.test", "headers": { "Authorization": header } } })
        },
        wire: "SECRET_NOT_FOUND",
        noun: "Secret",
        target: Some(("secret", || json!({ "name": "s", "value": "v" }))),
    },
    Case {
        type_name: "tool",
        properties: |id| json!({ "name": "t", "type": "pipeline", "pipeline": { "steps": [{ "id": "a", "tool_id": id }] } }),
        wire: "TOOL_NOT_FOUND",
        noun: "Tool",
        target: Some(("tool", || json!({ "name": "t" }))),
    },
];

#[tokio::test]
async fn an_id_elsewhere_is_refused_in_the_same_words_as_an_id_nowhere() {
    for case in CASES {
        let mut world = World::new();
        world.project = "proj_two".into();
        let id = match case.target {
            Some((type_name, properties)) => world.create(type_name, properties()).await,
            None => "x_elsewhere".to_owned(),
        };
        world.project = "proj_one".into();
        let answer = world.try_create(case.type_name, (case.properties)(&id), &[]).await;
        let message = format!("{} not found: {id}", case.noun);
        assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, case.wire, &*message));
        assert_eq!(answer.failure_meta, None, "nothing tells the two apart");
        let nowhere = "sec_0000000000000000";
        let answer = world.try_create(case.type_name, (case.properties)(nowhere), &[]).await;
        let message = format!("{} not found: {nowhere}", case.noun);
        assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, case.wire, &*message));
        let Some((type_name, properties)) = case.target else { continue };
        let own = world.create(type_name, properties()).await;
        let answer = world.try_create(case.type_name, (case.properties)(&own), &[]).await;
        assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
    }
}

#[tokio::test]
async fn each_id_of_an_agent_is_resolved() {
    let world = World::new();
    let (provider, _) = world.agent().await;
    for (extra, wire, noun) in [
        (json!({ "tool_bindings": [{ "tool_id": "x" }] }), "TOOL_NOT_FOUND", "Tool"),
        (json!({ "active_tool_ids": ["x"] }), "TOOL_NOT_FOUND", "Tool"),
        (json!({ "step_rules": [{ "step": 1, "active_tool_ids": ["x"] }] }), "TOOL_NOT_FOUND", "Tool"),
        (json!({ "guardrail_ids": ["x"] }), "GUARDRAIL_NOT_FOUND", "Guardrail"),
        (json!({ "knowledge_config": { "memory_ids": ["x"] } }), "VALIDATION_FAILED", "Memory"),
        (json!({ "knowledge_config": { "write_memory_id": "x" } }), "VALIDATION_FAILED", "Memory"),
        (json!({ "knowledge_config": { "document_ids": ["x"] } }), "VALIDATION_FAILED", "Document"),
        (
            json!({ "knowledge_config": { "extraction": { "ai_provider_id": "x" } } }),
            "AI_PROVIDER_NOT_FOUND",
            "AI provider",
        ),
    ] {
        let mut declared = json!({ "ai_provider_id": provider });
        for (name, value) in extra.as_object().expect("an object") {
            declared[name] = value.clone();
        }
        let answer = world.try_create("agent", declared, &[]).await;
        let message = format!("{noun} not found: x");
        assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, wire, &*message));
    }
}

#[tokio::test]
async fn an_agent_without_provider_and_route_is_refused_on_create_and_update() {
    let world = World::new();
    let message = "An agent needs an ai_provider_id or a model_route_id: the project has no default model \
                   route to inherit.";
    let answer = world.try_create("agent", json!({ "name": "a" }), &[]).await;
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "VALIDATION_FAILED", message));
    let (_, agent) = world.agent().await;
    let answer = world.update("agent", &agent, json!({ "ai_provider_id": null })).await;
    assert_eq!(refusal(&answer).2, message);
}

#[tokio::test]
async fn who_uses_a_provider_without_a_default_model_names_a_model() {
    let world = World::new();
    let bare = json!({ "name": "p", "provider": "openai" });
    let provider = world.create("ai_provider", bare).await;
    for (type_name, who) in [("agent", "An agent"), ("chat", "A chat")] {
        let answer = world.try_create(type_name, json!({ "ai_provider_id": provider }), &[]).await;
        let message = format!("{who} needs a model: the provider '{provider}' has no default_model.");
        assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "VALIDATION_FAILED", &*message));
        world.create(type_name, json!({ "ai_provider_id": provider, "model": "m" })).await;
    }
}

#[tokio::test]
async fn a_pipeline_cannot_step_into_a_client_tool() {
    let world = World::new();
    let client = world.create("tool", json!({ "name": "c", "type": "client" })).await;
    let pipeline = json!({ "steps": [{ "id": "a", "tool_id": client }] });
    let declared = json!({ "name": "t", "type": "pipeline", "pipeline": pipeline });
    let answer = world.try_create("tool", declared, &[]).await;
    let message = "Pipeline step 'a' references a client tool; client tools cannot be executed server-side.";
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "PIPELINE_INVALID_STEP", message));
}

#[tokio::test]
async fn a_dangling_id_does_not_stand_in_the_way_of_other_changes() {
    let world = World::new();
    let (provider, _) = world.agent().await;
    let tool = world.create("tool", json!({ "name": "t" })).await;
    let declared = json!({ "ai_provider_id": provider, "tool_bindings": [{ "tool_id": tool }] });
    let agent = world.create("agent", declared).await;
    assert_eq!(world.delete("tool", &tool).await.operation_status, OperationStatus::Success);
    let answer = world.update("agent", &agent, json!({ "name": "renamed" })).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
    let answer = world.update("agent", &agent, json!({ "tool_bindings": [{ "tool_id": tool }] })).await;
    assert_eq!(refusal(&answer).1, "TOOL_NOT_FOUND");
}

#[tokio::test]
async fn an_eval_names_what_its_ids_do_not_refer_to() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let dataset = world.create("dataset", json!({ "name": "d" })).await;
    let eval = |agent: &str, dataset: &str, scorers: Json| json!({ "name": "e", "agent_id": agent, "dataset_id": dataset, "scorers": scorers });
    let tool = |id: &str| json!([{ "type": "tool", "name": "t", "tool_id": id }]);
    let judge = json!([{ "type": "llm_judge", "prompt": "p", "pass_threshold": 1, "ai_provider_id": "x" }]);
    for (declared, wire, message) in [
        (
            eval("x", &dataset, json!([])),
            "VALIDATION_FAILED",
            "agent_id 'x' does not reference a agent in this project.",
        ),
        (
            eval(&agent, &agent, json!([])),
            "VALIDATION_FAILED",
            &format!("dataset_id '{agent}' does not reference a dataset in this project."),
        ),
        (eval(&agent, &dataset, tool("x")), "TOOL_NOT_FOUND", "Tool not found: x"),
        (eval(&agent, &dataset, judge), "AI_PROVIDER_NOT_FOUND", "AI provider not found: x"),
    ] {
        let answer = world.try_create("eval", declared, &[]).await;
        assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, wire, message));
    }
}

#[tokio::test]
async fn scorers_are_held_against_the_agent_and_the_tools_they_name() {
    let world = World::new();
    let (provider, agent) = world.agent().await;
    let dataset = world.create("dataset", json!({ "name": "d" })).await;
    let client = world.create("tool", json!({ "name": "c", "type": "client" })).await;
    let schema = json!({ "ai_provider_id": provider, "output_schema": { "type": "object" } });
    let with_schema = world.create("agent", schema).await;
    let eval = |name: &str, agent: &str, scorer: Json| json!({ "name": name, "agent_id": agent, "dataset_id": dataset, "scorers": [scorer] });
    let refused = [
        (
            eval("a", &agent, json!({ "type": "tool", "name": "t", "tool_id": client })),
            "scorers.0.tool_id references a client tool; client tools cannot be executed server-side.",
        ),
        (
            eval("a", &agent, json!({ "type": "output_schema" })),
            "scorers.0: an output_schema scorer without a schema needs an agent that has an output_schema.",
        ),
    ];
    for (declared, message) in refused {
        let answer = world.try_create("eval", declared, &[]).await;
        assert_eq!(refusal(&answer).2, message);
    }
    world.create("eval", eval("b", &with_schema, json!({ "type": "output_schema" }))).await;
    world.create("eval", eval("c", &agent, json!({ "type": "output_schema", "schema": {} }))).await;
    let answer = world.try_create("eval", eval("c", &agent, json!({ "type": "exact_match" })), &[]).await;
    assert_eq!(refusal(&answer).1, "NAME_CONFLICT");
}

#[tokio::test]
async fn a_chat_without_a_provider_is_refused() {
    let world = World::new();
    let answer = world.try_create("chat", json!({ "name": "c" }), &[]).await;
    let message = "A chat needs an ai_provider_id: the project has no default model route to inherit.";
    assert_eq!(refusal(&answer), (OperationErrorCode::InvalidRequest, "VALIDATION_FAILED", message));
}
