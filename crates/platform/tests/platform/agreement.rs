//! What a template may declare and what a route accepts is the same: one verdict per bag.

use crate::world::{World, provider};
use formwork_formation::{check, document_from_json};
use formwork_model::{Json, WireCode};
use formwork_platform::{Platform, PlatformError};
use proptest::prelude::*;
use serde_json::json;

/// Values that are right in some places and wrong in others. None refers to anything, so that the
/// verdict rests on the bag alone.
fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        Just(json!(true)),
        (-2_i64..3).prop_map(Json::from),
        Just(json!(1.5)),
        Just(json!("")),
        prop_oneof!["[a-z]{1,3}", Just("{{x}}".to_owned()), Just("{{context:k}}".to_owned())]
            .prop_map(Json::from),
        prop_oneof![
            Just("pipeline"),
            Just("size"),
            Just("auto"),
            Just("full"),
            Just("openai"),
            Just("exact_match"),
            Just("B")
        ]
        .prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let name = prop_oneof![
            Just("steps"),
            Just("url"),
            Just("headers"),
            Just("auth"),
            Just("type"),
            Just("statement"),
            Just("tool"),
            Just("name"),
            Just("id"),
            Just("limit"),
            Just("role"),
            Just("content"),
            Just("var"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec((name, inner), 0..3).prop_map(|members| {
                Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

/// A type, and the properties that may be drawn for it.
fn bag() -> impl Strategy<Value = (&'static str, Vec<(&'static str, Json)>)> {
    let of = |type_name: &'static str, names: &'static [&'static str]| {
        prop::collection::vec((prop::sample::select(names), value()), 0..4)
            .prop_map(move |members| (type_name, members))
    };
    prop_oneof![
        of(
            "tool",
            &[
                "type",
                "execute",
                "mcp",
                "pipeline",
                "context_keys",
                "actions",
                "parameters",
                "bogus",
                "description"
            ],
        ),
        of(
            "agent",
            &[
                "model",
                "tool_choice",
                "stop_conditions",
                "boundary_policy",
                "output_schema",
                "max_steps",
                "name",
                "single_session_per_actor",
                "trace_content_mode",
                "temperature",
            ],
        ),
        of("document", &["title", "tags", "metadata", "chunk_strategy", "chunk_size", "chunk_overlap"]),
        of("memory", &["description", "tags", "bogus"]),
        of("guardrail", &["class", "default_class", "guard", "escalate", "context_mode", "bogus"]),
        of("file", &["prefix", "filename", "content_type", "size", "metadata"]),
        of("actor", &["name", "external_id", "instructions", "bogus"]),
        of("chat", &["name", "instructions", "model"]),
        of("session", &["name", "auto_generate", "inactivity_ttl_seconds", "tool_context"]),
        of("dataset_item", &["input", "expected_output", "metadata"]),
        of("eval", &["scorers", "pass_threshold"]),
        of("secret", &["name", "value"]),
        of("quota", &["scope", "metric", "limit", "mode", "on_unpriced"]),
        of("webhook", &["url", "events", "description", "bogus"]),
        of("policy", &["document", "name"]),
        of("model_route", &["targets", "retry_on", "failure_threshold"]),
        of("orchestration", &["nodes", "edges", "state_schema", "description"]),
        of("workflow", &["states", "transitions", "payload_schema"]),
        of("project_price", &["unit_price", "effective_from", "meter_type"]),
        of("api_key", &["name", "bogus"]),
    ]
}

async fn dataset(world: &World) -> String {
    world.create("dataset", json!({ "name": "d" })).await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_bag_has_one_verdict((type_name, members) in bag()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let world = World::new();
        let base = match type_name {
            "tool" | "memory" => json!({ "name": "n" }),
            "document" => json!({ "content": "c" }),
            "agent" | "chat" => {
                json!({ "ai_provider_id": runtime.block_on(world.create("ai_provider", provider())) })
            }
            "guardrail" => json!({ "name": "g", "class": "A" }),
            "actor" => json!({ "name": "a" }),
            "session" => json!({ "agent_id": runtime.block_on(world.agent()).1 }),
            "dataset_item" => json!({ "dataset_id": runtime.block_on(dataset(&world)), "input": [] }),
            "eval" => json!({
                "name": "e",
                "agent_id": runtime.block_on(world.agent()).1,
                "dataset_id": runtime.block_on(dataset(&world)),
                "scorers": [{ "type": "exact_match" }],
            }),
            "api_key" => json!({ "name": "k" }),
            "quota" => json!({ "scope": "project", "metric": "tokens", "window": "rolling_1h", "limit": 1 }),
            "webhook" => json!({ "name": "w", "url": "https://x.test", "events": ["*"] }),
            "policy" => json!({ "document": { "statement": [] } }),
            "model_route" => json!({
                "name": "r",
                "targets": [{
                    "ai_provider_id": runtime.block_on(world.create("ai_provider", provider())), "model": "m",
                }],
            }),
            "orchestration" => json!({ "name": "o", "nodes": [], "edges": [] }),
            "workflow" => json!({
                "name": "w", "states": [{ "name": "a", "initial": true }], "transitions": [],
            }),
            "project_price" => json!({
                "provider": "openai", "model": "m", "component": "c", "unit": "u", "unit_price": 1,
            }),
            _ => json!({}),
        };
        let mut properties = base;
        for (name, value) in members {
            properties[name] = value;
        }
        let template = json!({ "resources": { "R": { "type": type_name, "properties": properties } } });
        let checked = check(document_from_json("t", &template), &*Platform::catalog());
        let by_route = runtime.block_on(world.rest_create(type_name, properties.clone()));
        if let Err(PlatformError::Wire { code, .. }) = &by_route {
            prop_assert_ne!(*code, WireCode::InternalError);
        }
        let found: Vec<_> = checked.found.errors().map(|error| error.message.clone()).collect();
        prop_assert_eq!(found.is_empty(), by_route.is_ok(), "{} / {:?} / {:?}", properties, found, by_route);
    }
}
