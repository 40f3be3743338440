//! Whatever can be known beforehand is said by `validate` and by `plan`, and nothing waits for the
//! deploy; and what is right is not refused beforehand.

use super::{only, problems};
use crate::matrix::Given;
use crate::world::World;
use formwork_model::{Catalog as _, Json};
use formwork_platform::Platform;
use serde_json::json;

#[tokio::test]
async fn a_value_that_is_not_allowed_is_refused_by_every_call_whatever_the_type() {
    let world = World::new().await;
    let given = Given::make(&world).await;
    let catalog = Platform::catalog();
    let mut checked = 0;
    for type_name in catalog.names() {
        let rules = catalog.get(&type_name).expect("a type of the catalogue");
        let limited = rules.schema().properties.iter().filter(|(_, property)| !property.allowed.is_empty());
        for (name, property) in limited {
            let mut declared = given.properties(type_name.as_str(), "it");
            declared[&**name] = json!("nonsense");
            let template = only(type_name.as_str(), declared);
            let found = problems(&world, &template).await;
            let path = format!("resources.It.properties.{name}");
            let told = found.iter().find(|(at, _)| *at == path).map(|(_, message)| message.as_str());
            let told = told.unwrap_or_else(|| panic!("{type_name}.{name}: {found:?}"));
            for allowed in property.allowed.iter().filter_map(Json::as_str) {
                assert!(told.contains(allowed), "{type_name}.{name} names {allowed}: {told}");
            }
            let create = json!({ "name": "s", "template": template });
            for (path, body) in
                [("/formations/plan", json!({ "template": template })), ("/formations", create)]
            {
                let refused = world.post(path, body).await;
                assert_eq!(refused.outcome(), (400, "VALIDATION_FAILED"), "{type_name}: {}", refused.text);
                assert_eq!(refused.message(), "Invalid template");
            }
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
    assert_eq!(world.get("/formations").await.body["total"], 0);
}

#[tokio::test]
async fn null_is_accepted_wherever_a_property_may_be_null() {
    let world = World::new().await;
    let catalog = Platform::catalog();
    let mut checked = 0;
    for type_name in catalog.names() {
        let rules = catalog.get(&type_name).expect("a type of the catalogue");
        for (name, _) in rules.schema().properties.iter().filter(|(_, property)| property.nullable) {
            let found = problems(&world, &only(type_name.as_str(), json!({ &**name: null }))).await;
            let path = format!("resources.It.properties.{name}");
            let refused = found.iter().any(|(at, _)| at.starts_with(&path));
            assert!(!refused, "{type_name}.{name}: {found:?}");
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

/// Declarations, each wrong in a way that needs no platform to know, with the place of it.
fn wrong() -> Vec<(&'static str, Json, &'static str)> {
    let scorer = |scorer: Json| json!({ "name": "e", "agent_id": "agent_1", "dataset_id": "dset_1", "scorers": [scorer] });
    let statement = |statement: Json| json!({ "document": { "statement": [statement] } });
    let agent = |name: &str, value: Json| json!({ "ai_provider_id": "aip_1", name: value });
    let tool = |name: &str, value: Json| json!({ "name": "t", name: value });
    let trigger = |cron: Json| json!({ "name": "t", "type": "schedule", "target_type": "agent", "target_id": "agent_1", "cron": cron });
    vec![
        ("eval", scorer(json!({ "type": "guess" })), "scorers[0]"),
        ("eval", scorer(json!({ "type": "contains" })), "scorers[0]"),
        ("eval", scorer(json!({ "type": "embedding_similarity", "pass_threshold": "high" })), "scorers[0]"),
        ("policy", statement(json!({ "effect": "Maybe", "action": ["*"] })), "document.statement[0].effect"),
        ("policy", statement(json!({ "effect": "Allow", "action": [] })), "document.statement[0].action"),
        (
            "policy",
            statement(json!({ "effect": "Allow", "action": ["agents:Fly"] })),
            "document.statement[0].action",
        ),
        // The prefix that names of resources had once: such a policy would match nothing, in silence.
        (
            "policy",
            statement(json!({ "effect": "Allow", "action": ["*"], "resource": ["soat:proj_1:agent:*"] })),
            "document.statement[0].resource",
        ),
        (
            "agent",
            agent("boundary_policy", json!({ "statement": [{ "effect": "Allow", "action": ["x:Y"] }] })),
            "boundary_policy",
        ),
        ("agent", agent("tool_choice", json!("sometimes")), "tool_choice"),
        ("agent", agent("tool_bindings", json!([{ "tool": { "name": "inline" } }])), "tool_bindings[0]"),
        // The name that a type of tools had once.
        ("tool", tool("type", json!("soat")), "type"),
        (
            "tool",
            json!({ "name": "t", "type": "pipeline", "pipeline": { "steps": [{ "id": "a", "tool": { "type": "http" } }] } }),
            "pipeline",
        ),
        ("tool", json!({ "name": "t", "type": "builtin", "actions": ["fly-to-the-moon"] }), "actions"),
        ("guardrail", json!({ "name": "g", "class": "E" }), "class"),
        ("guardrail", json!({ "name": "g", "class": { "fly": [] } }), "class"),
        ("trigger", trigger(json!("0 3 * *")), ""),
        ("trigger", trigger(json!("61 3 * * *")), ""),
        (
            "trigger",
            json!({ "name": "t", "type": "schedule", "target_type": "agent", "target_id": "agent_1" }),
            "",
        ),
        (
            "orchestration",
            json!({ "name": "o", "nodes": [{ "id": "a", "type": "agent" }], "edges": [] }),
            "nodes[0]",
        ),
        (
            "orchestration",
            json!({
                "name": "o",
                "nodes": [{ "id": "a", "type": "human" }, { "id": "b", "type": "human" }],
                "edges": [{ "from": "a", "to": "b" }, { "from": "b", "to": "a" }],
            }),
            "",
        ),
        ("workflow", json!({ "name": "w", "states": [], "transitions": [] }), "states"),
        ("webhook", json!({ "name": "w", "url": "ftp://x.test", "events": ["*"] }), "url"),
        ("webhook", json!({ "name": "w", "url": "https://x.test", "events": ["a.*.b"] }), "events"),
        ("model_route", json!({ "name": "r", "targets": [] }), "targets"),
        ("quota", json!({ "scope": "agent", "metric": "requests", "window": "rolling_1h", "limit": 1 }), ""),
        ("ingestion_rule", json!({ "content_type_glob": "image/*" }), ""),
        (
            "project_price",
            json!({
                "provider": "p", "model": "m", "component": "request", "unit": "request", "unit_price": -1,
            }),
            "unit_price",
        ),
        ("conversation", json!({ "status": "ajar" }), "status"),
    ]
}

#[tokio::test]
async fn what_the_platform_would_refuse_whatever_is_there_is_refused_before_the_deploy() {
    let world = World::new().await;
    for (type_name, properties, place) in wrong() {
        let template = only(type_name, properties);
        let found = problems(&world, &template).await;
        let place = if place.is_empty() { String::new() } else { format!(".{place}") };
        let at = format!("resources.It.properties{place}");
        assert!(found.iter().any(|(path, _)| path.starts_with(&at)), "{type_name}, {at}: {found:?}");
        let refused = world.post("/formations/plan", json!({ "template": template })).await;
        assert_eq!(refused.outcome(), (400, "VALIDATION_FAILED"), "{type_name}: {}", refused.text);
        assert_eq!(refused.meta()["details"].as_array().map(Vec::len), Some(found.len()));
    }
}

/// Declarations that were refused beforehand once, and are right.
fn right() -> Vec<(&'static str, Json)> {
    let agent = |choice: Json| json!({ "ai_provider_id": "aip_1", "tool_choice": choice });
    let trigger = |cron: Json| json!({ "name": "t", "type": "schedule", "target_type": "agent", "target_id": "agent_1", "cron": cron });
    vec![
        ("agent", agent(json!("auto"))),
        ("agent", agent(json!("required"))),
        ("agent", agent(json!({ "type": "tool", "tool_name": "t" }))),
        ("agent", agent(json!({ "param": "P" }))),
        ("trigger", trigger(json!({ "sub": "0 ${P} * * *" }))),
        ("trigger", trigger(json!({ "param": "P" }))),
        (
            "tool",
            json!({
                "name": "t", "type": "pipeline",
                "pipeline": { "steps": [{ "id": "a", "tool_id": { "ref": "Other" }, "input": { "orderID": { "var": "x" } } }] },
            }),
        ),
        (
            "model_route",
            json!({ "name": "r", "targets": [{ "ai_provider_id": { "ref": "Prov" }, "model": { "param": "P" } }] }),
        ),
        (
            "orchestration",
            json!({
                "name": "o", "nodes": [{ "id": "a", "type": "tool", "tool_id": { "ref": "Other" } }], "edges": [],
            }),
        ),
        ("guardrail", json!({ "name": "g", "class": { "param": "P" }, "guard": null, "escalate": null })),
        ("webhook", json!({ "name": "w", "url": { "sub": "${P}/hook" }, "events": [{ "param": "P" }] })),
        (
            "eval",
            json!({
                "name": "e", "agent_id": "agent_1", "dataset_id": "dset_1",
                "scorers": [{ "type": "tool", "name": "s", "tool_id": { "ref": "Other" } }],
            }),
        ),
    ]
}

#[tokio::test]
async fn an_expression_stands_for_any_value_and_is_not_mistaken_for_a_wrong_one() {
    let world = World::new().await;
    for (type_name, properties) in right() {
        let mut template = only(type_name, properties);
        template["parameters"] = json!({ "P": { "type": "string" } });
        template["resources"]["Other"] = json!({ "type": "tool", "properties": { "name": "other" } });
        template["resources"]["Prov"] = json!({ "type": "ai_provider", "properties": {
            "name": "p", "provider": "openai", "default_model": "m",
        } });
        assert_eq!(problems(&world, &template).await, [], "{type_name}");
    }
}

#[tokio::test]
async fn a_reference_to_nothing_is_one_error_and_one_to_itself_is_told_before_the_deploy() {
    let world = World::new().await;
    let found = problems(&world, &only("memory", json!({ "name": { "ref": "Nothing" } }))).await;
    let missing = "Referenced resource 'Nothing' does not exist in template";
    assert_eq!(found, [("resources.It.properties".to_owned(), missing.to_owned())], "and no cycle");
    let found = problems(&world, &only("memory", json!({ "name": { "ref": "It" } }))).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("It"), "{found:?}");
    let ring = json!({ "resources": {
        "A": { "type": "memory", "properties": { "name": { "ref": "B" } } },
        "B": { "type": "memory", "depends_on": ["A"], "properties": { "name": "b" } },
    } });
    let found = problems(&world, &ring).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.starts_with("Circular dependency detected in resources"), "{found:?}");
}

#[tokio::test]
async fn parameters_can_be_validated_along_and_need_not_be() {
    let world = World::new().await;
    let template = json!({
        "parameters": { "Name": { "type": "string" }, "Kept": { "type": "string", "use_previous_value": true } },
        "resources": { "M": { "type": "memory", "properties": {
            "name": { "param": "Name" }, "description": { "param": "Kept" },
        } } },
    });
    let structure = world.post("/formations/validate", json!({ "template": template })).await.body;
    assert_eq!(structure["valid"], true, "{structure}");
    let warned: Vec<_> =
        structure["warnings"].as_array().expect("a list").iter().map(|it| &it["path"]).collect();
    assert_eq!(warned, ["parameters.Name", "parameters.Kept"]);
    let none = json!({ "template": template, "parameters": {} });
    let none = world.post("/formations/validate", none).await.body;
    assert_eq!(none["valid"], false);
    assert_eq!(none["errors"][0]["path"], "parameters.Name");
    assert_eq!(none["errors"][0]["message"], "Parameter 'Name' is required and cannot be empty");
    let empty = json!({ "template": template, "parameters": { "Name": "", "Kept": "k" } });
    assert_eq!(
        world.post("/formations/validate", empty).await.body["valid"],
        false,
        "an empty text is no value"
    );
    let given = json!({ "template": template, "parameters": { "Name": "n", "Kept": "k" } });
    let given = world.post("/formations/validate", given).await.body;
    assert_eq!((&given["valid"], &given["errors"]), (&json!(true), &json!([])));
}

#[tokio::test]
async fn a_parameter_of_a_pipeline_that_no_step_reads_is_a_warning() {
    let world = World::new().await;
    let template = only(
        "tool",
        json!({
            "name": "t", "type": "pipeline",
            "parameters": { "type": "object", "properties": { "unread": { "type": "string" } } },
            "pipeline": { "steps": [{ "id": "a", "tool": { "name": "inline", "execute": { "url": "https://x.test" } } }] },
        }),
    );
    let found = world.post("/formations/validate", json!({ "template": template })).await.body;
    assert_eq!(found["valid"], true, "{found}");
    let warning = &found["warnings"][0];
    assert_eq!(warning["path"], "resources.It.properties.pipeline");
    assert!(warning["message"].as_str().is_some_and(|text| text.contains("unread")), "{warning}");
}
