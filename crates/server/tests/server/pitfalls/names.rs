//! Names: of types, of ids, of properties; and those that an author chose.

use super::{only, physical, problems};
use crate::matrix::Given;
use crate::world::World;
use formwork_model::{Catalog as _, Json};
use formwork_platform::Platform;
use serde_json::json;

/// The types that a template may declare, and what the ids of each begin with.
const TYPES: [(&str, &str); 26] = [
    ("actor", "actor"),
    ("agent", "agent"),
    ("ai_provider", "aip"),
    ("api_key", "key"),
    ("chat", "chat"),
    ("conversation", "conv"),
    ("dataset", "dset"),
    ("dataset_item", "dsit"),
    ("document", "doc"),
    ("eval", "eval"),
    ("file", "file"),
    ("guardrail", "guard"),
    ("ingestion_rule", "igr"),
    ("memory", "mem"),
    ("memory_entry", "mem_entry"),
    ("model_route", "route"),
    ("orchestration", "orch"),
    ("policy", "pol"),
    ("project_price", "price"),
    ("quota", "quota"),
    ("secret", "sec"),
    ("session", "sess"),
    ("tool", "tool"),
    ("trigger", "trg"),
    ("webhook", "wh"),
    ("workflow", "wfl"),
];

#[tokio::test]
async fn every_documented_type_can_be_declared_and_no_other() {
    let mut names: Vec<_> = Platform::catalog().names().iter().map(|name| name.as_str().to_owned()).collect();
    names.sort();
    assert_eq!(names, TYPES.map(|(name, _)| name));
    let world = World::new().await;
    let (path, message) = problems(&world, &only("nonsense", json!({}))).await.remove(0);
    assert_eq!(path, "resources.It.type");
    for (name, _) in TYPES {
        assert!(message.contains(name), "{name}: {message}");
    }
}

#[track_caller]
fn check_id(id: &str, prefix: &str) {
    let random = id.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_'));
    let random = random.unwrap_or_else(|| panic!("{id} does not begin with {prefix}_"));
    assert!(random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
}

#[tokio::test]
async fn ids_begin_with_the_prefix_of_what_they_name() {
    let world = World::new().await;
    let given = Given::make(&world).await;
    for (type_name, prefix) in TYPES {
        let formation = world.deployed(&only(type_name, given.properties(type_name, "it"))).await;
        check_id(&formation, "form");
        check_id(&physical(&world, &formation, "It").await, prefix);
        let shown = world.get(&format!("/formations/{formation}")).await.body;
        check_id(shown["resources"][0]["id"].as_str().expect("an id"), "form_res");
        let events = world.get(&format!("/formations/{formation}/events")).await.body;
        check_id(events["data"][0]["id"].as_str().expect("an id"), "form_op");
        assert_eq!(world.send("DELETE", &format!("/formations/{formation}"), None).await.status, 200);
    }
}

fn in_camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        camel += &word[..1].to_uppercase();
        camel += &word[1..];
    }
    camel
}

#[tokio::test]
async fn a_property_in_camel_case_is_unknown_whatever_the_type() {
    let world = World::new().await;
    let catalog = Platform::catalog();
    let mut checked = 0;
    for type_name in catalog.names() {
        let rules = catalog.get(&type_name).expect("a type of the catalogue");
        for name in rules.schema().names().filter(|name| name.contains('_')) {
            let camel = in_camel_case(name);
            let found = problems(&world, &only(type_name.as_str(), json!({ &*camel: null }))).await;
            let path = format!("resources.It.properties.{camel}");
            let told = found.iter().find(|(at, _)| *at == path).map(|(_, message)| message.as_str());
            let told = told.unwrap_or_else(|| panic!("{type_name}.{camel} is passed over: {found:?}"));
            let expected = format!(" field '{camel}'. Allowed: ");
            assert!(told.starts_with("Unknown ") && told.contains(&expected), "{type_name}: {told}");
            checked += 1;
        }
    }
    assert!(checked > 70, "{checked}");
}

/// Each a declaration that is right but for one optional member of a closed object, in camel case.
fn nested_in_camel_case() -> Vec<(&'static str, &'static str, Json)> {
    let agent = |name: &str, value: Json| json!({ "ai_provider_id": "aip_1", name: value });
    let step = |step: Json| json!({ "name": "t", "type": "pipeline", "pipeline": { "steps": [step] } });
    let target = |target: Json| json!({ "name": "r", "targets": [target] });
    let scorer = |scorer: Json| json!({ "name": "e", "agent_id": "agent_1", "dataset_id": "dset_1", "scorers": [scorer] });
    let statement = json!({ "effect": "Allow", "action": ["agents:*"], "Resource": ["*"] });
    let auth = json!({
        "type": "aws_sigv4", "region": "r", "service": "s", "access_key_id": "k", "secret_access_key": "v",
        "sessionToken": "t",
    });
    vec![
        ("agent", "memoryIds", agent("knowledge_config", json!({ "memoryIds": [] }))),
        (
            "agent",
            "aiProviderId",
            agent("knowledge_config", json!({ "extraction": { "enabled": true, "aiProviderId": "aip_1" } })),
        ),
        ("agent", "activeToolIds", agent("step_rules", json!([{ "step": 1, "activeToolIds": [] }]))),
        (
            "agent",
            "toolName",
            agent("stop_conditions", json!([{ "type": "hasToolCall", "tool_name": "t", "toolName": "t" }])),
        ),
        (
            "agent",
            "toolName",
            agent("tool_choice", json!({ "type": "tool", "tool_name": "t", "toolName": "t" })),
        ),
        ("agent", "Resource", agent("boundary_policy", json!({ "statement": [statement] }))),
        (
            "tool",
            "bodyMode",
            json!({ "name": "t", "execute": { "url": "https://x.test", "bodyMode": "json" } }),
        ),
        (
            "tool",
            "sessionToken",
            json!({ "name": "t", "execute": { "url": "https://x.test", "auth": auth } }),
        ),
        (
            "tool",
            "Headers",
            json!({ "name": "t", "type": "mcp", "mcp": { "url": "https://x.test", "Headers": {} } }),
        ),
        ("tool", "toolAction", step(json!({ "id": "a", "tool_id": "tool_1", "toolAction": "x" }))),
        (
            "tool",
            "outputMapping",
            json!({ "name": "t", "type": "pipeline", "pipeline": { "steps": [{ "id": "a", "tool_id": "tool_1" }], "outputMapping": {} } }),
        ),
        (
            "model_route",
            "maxRetries",
            target(json!({ "ai_provider_id": "aip_1", "model": "m", "maxRetries": 1 })),
        ),
        ("eval", "caseSensitive", scorer(json!({ "type": "contains", "value": "v", "caseSensitive": true }))),
        (
            "dataset_item",
            "Name",
            json!({ "dataset_id": "dset_1", "input": [{ "role": "user", "content": "c", "Name": "n" }] }),
        ),
        ("policy", "Resource", json!({ "document": { "statement": [statement] } })),
    ]
}

/// The same of graphs and machines.
fn graphs_in_camel_case() -> Vec<(&'static str, &'static str, Json)> {
    let node = |node: Json| json!({ "name": "o", "nodes": [node], "edges": [] });
    let retry =
        json!({ "max_attempts": 2, "backoff": { "strategy": "fixed", "delay_ms": 1, "maxDelayMs": 2 } });
    let state = |state: Json| json!({ "name": "w", "states": [state], "transitions": [] });
    let enter = |on_enter: Json| state(json!({ "name": "s", "initial": true, "on_enter": on_enter }));
    let dispatch = json!({ "kind": "agent", "agent_id": "agent_1" });
    let transition = json!({ "name": "t", "from": ["a"], "to": "b", "requiresApproval": true });
    vec![
        ("orchestration", "inputMapping", node(json!({ "id": "a", "type": "human", "inputMapping": {} }))),
        ("orchestration", "maxDelayMs", node(json!({ "id": "a", "type": "human", "retry": retry }))),
        (
            "orchestration",
            "activationGroup",
            json!({
                "name": "o",
                "nodes": [{ "id": "a", "type": "human" }, { "id": "b", "type": "human" }],
                "edges": [{ "from": "a", "to": "b", "activationGroup": "g" }],
            }),
        ),
        ("workflow", "stalledAfter", state(json!({ "name": "s", "initial": true, "stalledAfter": 1 }))),
        ("workflow", "onComplete", enter(json!({ "dispatch": dispatch, "onComplete": [] }))),
        (
            "workflow",
            "inputMapping",
            enter(json!({ "dispatch": { "kind": "agent", "agent_id": "a", "inputMapping": {} } })),
        ),
        (
            "workflow",
            "backoffSeconds",
            enter(json!({ "dispatch": dispatch, "retry": { "max_attempts": 2, "backoffSeconds": 1 } })),
        ),
        (
            "workflow",
            "requiresApproval",
            json!({
                "name": "w", "states": [{ "name": "a", "initial": true }, { "name": "b", "terminal": true }],
                "transitions": [transition],
            }),
        ),
    ]
}

#[tokio::test]
async fn a_setting_in_camel_case_is_refused_and_never_passed_over() {
    let world = World::new().await;
    let mut passed_over = Vec::new();
    for (type_name, camel, properties) in [nested_in_camel_case(), graphs_in_camel_case()].concat() {
        let shown = properties.to_string();
        let found = problems(&world, &only(type_name, properties)).await;
        if !found.iter().any(|(path, message)| path.contains(camel) || message.contains(camel)) {
            passed_over.push(format!("{type_name}, {camel}: {found:?} in {shown}"));
        }
    }
    assert!(passed_over.is_empty(), "{}", passed_over.join("\n"));
}

/// Names as an author may choose them, in every place where there are any.
fn as_written() -> Json {
    json!({
        "parameters": {
            "app_URL": { "type": "string", "description": "Where it is" },
            "API_key": { "type": "string", "default": "k" },
        },
        "resources": {
            "DefaultAiProvider": { "type": "ai_provider", "properties": {
                "name": "p", "provider": "openai", "default_model": "m",
                "config": { "projectID": "x", "snake_case": { "camelCase": [1, { "Kebab-Case": null }] } },
            } },
            "weather_tool-2": { "type": "tool", "metadata": { "ownedBy": "Team_A" }, "properties": {
                "name": "weather",
                "parameters": { "type": "object", "properties": { "customerID": { "type": "string" } } },
                "execute": {
                    "url": { "sub": "${app_URL}/v1" },
                    "headers": { "X-Trace-ID": "1", "content-type": "application/json", "ETag": { "param": "API_key" } },
                },
                "preset_parameters": { "orderId": 1, "order_id": 2, "OrderID": { "Deep_Key": true } },
            } },
        },
        "outputs": { "toolID": { "ref": "weather_tool-2" }, "provider_id": { "ref": "DefaultAiProvider" } },
        "metadata": { "ownerTeam": "x", "Nested_Key": { "camelCase": { "sub": "${API_key}" } } },
    })
}

#[tokio::test]
async fn a_template_comes_back_with_every_key_as_it_was_written() {
    let world = World::new().await;
    let template = as_written();
    let misspelt = json!({ "name": "s", "template": template, "parameters": { "appURL": "https://x.test" } });
    let refused = world.post("/formations", misspelt).await;
    assert_eq!(refused.status, 400, "`appURL` is not `app_URL`: {}", refused.text);
    let parameters = json!({ "app_URL": "https://x.test" });
    let body = json!({ "name": "s", "template": template, "parameters": parameters });
    let made = world.post("/formations", body).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let path = format!("/formations/{}", made.id());
    let updated = world.send("PUT", &path, Some(&json!({ "parameters": parameters }))).await.body;
    let (shown, listed) = (world.get(&path).await.body, world.get("/formations").await.body);
    for shown in [&made.body, &updated, &shown, &listed["data"][0]] {
        let written = |template: &Json| template.to_string();
        let mut expected = template.clone();
        // What stands in a header is a credential unless it is a token.
        for header in ["X-Trace-ID", "content-type", "ETag"] {
            let place = &shown["template"]["resources"]["weather_tool-2"]["properties"]["execute"]["headers"];
            expected["resources"]["weather_tool-2"]["properties"]["execute"]["headers"][header] =
                place[header].clone();
        }
        assert_eq!(written(&shown["template"]), written(&expected), "keys in their order");
        assert_eq!(
            shown["outputs"]
                .as_object()
                .map(|it| it.keys().cloned().collect::<Vec<_>>())
                .unwrap_or_default()
                .len(),
            2
        );
        assert!(shown["outputs"]["toolID"].is_string(), "{}", shown["outputs"]);
        assert_eq!(shown["resolved_parameters"], json!({ "app_URL": "https://x.test", "API_key": "k" }));
        assert_eq!(
            shown["resolved_metadata"],
            json!({ "ownerTeam": "x", "Nested_Key": { "camelCase": "k" } })
        );
    }
    let tool = physical(&world, &made.id(), "weather_tool-2").await;
    let tool = world.get(&format!("/tools/{tool}")).await.body;
    let headers: Vec<_> = tool["execute"]["headers"].as_object().expect("headers").keys().cloned().collect();
    assert_eq!(headers, ["X-Trace-ID", "content-type", "ETag"]);
    let declared = &template["resources"]["weather_tool-2"]["properties"];
    assert_eq!(tool["preset_parameters"], declared["preset_parameters"]);
    assert_eq!(tool["parameters"], declared["parameters"]);
    assert_eq!(tool["execute"]["url"], "https://x.test/v1");
    let provider = physical(&world, &made.id(), "DefaultAiProvider").await;
    let provider = world.get(&format!("/ai-providers/{provider}")).await.body;
    assert_eq!(provider["config"], template["resources"]["DefaultAiProvider"]["properties"]["config"]);
}
