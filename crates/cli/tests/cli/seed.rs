//! The examples of seed 4, as they stand there, with the binary called as the seed calls it.

use crate::common::{Home, pairs, text};
use formwork_example_handler::{Options, Service, router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../../formation/tests/seed/", $name))
    };
}

fn home() -> Home {
    Home::called("soat")
}

/// The deployed resource's object.
fn object(home: &Home, formation: &Value, logical_id: &str, get: &str) -> Value {
    let rows = formation["resources"].as_array().expect("resources");
    let row = rows.iter().find(|row| row["logical_id"] == logical_id).expect("it is deployed");
    home.json(&[get, text(row, "physical_resource_id")])
}

#[test]
fn the_overview_is_deployed_in_order_with_its_references_resolved() {
    let home = home();
    home.write("formation.json", template!("overview.json"));
    let project = home.json(&["create-project", "--name", "p"]);
    let create = ["create-formation", "--project-id", text(&project, "id"), "--name", "my-stack"];
    let formation = home.json(&[&create[..], &["--template-file", "formation.json"]].concat());
    assert_eq!(formation["status"], "active");
    let agent = object(&home, &formation, "MyAgent", "get-agent");
    let provider = object(&home, &formation, "MyProvider", "get-ai-provider");
    let memory = object(&home, &formation, "MyMemory", "get-memory");
    assert_eq!(formation["outputs"], json!({ "agentId": agent["id"] }));
    assert_eq!(agent["ai_provider_id"], provider["id"]);
    assert_eq!(agent["knowledge_config"]["memory_ids"], json!([memory["id"]]));
    assert_eq!(formation["project_id"], project["id"]);
}

#[test]
fn parameters_make_a_template_portable() {
    let home = home();
    home.write("formation.json", template!("parameters.json"));
    let secret = home.json(&["create-secret", "--name", "k", "--value", "v"]);
    let id = format!("SecretId={}", text(&secret, "id"));
    let given = ["--parameter", "ApiKey=sk-secret", "--parameter", &id];
    let formation = home.deploy("my-stack", "formation.json", &given);
    assert_eq!(formation["status"], "active", "{formation:#}");
    assert_eq!(
        formation["resolved_parameters"],
        json!({ "AppUrl": "https://www.example.com", "ApiKey": "***", "SecretId": secret["id"] })
    );
    let formation_id = text(&formation, "id");
    let staging = [&given[..], &["--parameter", "AppUrl=https://staging.example.com"]].concat();
    let formation = home.redeploy(formation_id, "formation.json", &staging);
    let tool = object(&home, &formation, "MyTool", "get-tool");
    assert_eq!(tool["execute"]["url"], "https://staging.example.com/api/endpoint");
    let missing =
        home.run(&["create-formation", "--name", "x", "--template-file", "formation.json"]).exits(1);
    assert!(missing.stderr.contains("Missing required parameters"), "{}", missing.stderr);
}

#[test]
fn a_kept_parameter_is_left_out_of_an_update_and_rotated_when_it_is_given() {
    let home = home();
    home.write("formation.yaml", template!("previous-value.yaml"));
    home.write(".env", "XAI_API_KEY=from-the-file\n");
    home.run(&["create-formation", "--name", "s", "--template-file", "formation.yaml"]).exits(1);
    let formation = home.deploy("s", "formation.yaml", &["--parameter", "XaiApiKey=xai-1"]);
    let id = text(&formation, "id");
    home.redeploy(id, "formation.yaml", &[]);
    assert_eq!(home.last_events(id), pairs(&[("XaiKey", "no-op")]));
    // A variable that is nowhere is left out; one that is in the file is taken from there.
    home.redeploy(id, "formation.yaml", &["--env-file", ".env", "--parameter", "XaiApiKey=@NOWHERE"]);
    assert_eq!(home.last_events(id), pairs(&[("XaiKey", "no-op")]));
    home.redeploy(id, "formation.yaml", &["--env-file", ".env", "--parameter", "XaiApiKey=@XAI_API_KEY"]);
    assert_eq!(home.last_events(id), pairs(&[("XaiKey", "update")]));
}

#[test]
fn a_tool_holds_the_token_of_a_secret_of_the_same_template() {
    let home = home();
    home.write("formation.json", template!("secret-in-a-tool.json"));
    let formation = home.deploy("s", "formation.json", &[]);
    let secret = object(&home, &formation, "ApiSecret", "get-secret");
    let tool = object(&home, &formation, "ConvertTool", "get-tool");
    assert_eq!(
        tool["execute"]["headers"]["Authorization"],
        format!("Bearer {{{{secret:{}}}}}", text(&secret, "id"))
    );
    let stored = &home.json(&["get-formation", text(&formation, "id")])["template"];
    let declared = &stored["resources"]["ApiSecret"]["properties"];
    assert_eq!(declared, &json!({ "name": "third-party-api-key", "value": { "no_echo": true } }));
    // The round trip of the mask is refused, and says so.
    home.write("masked.json", stored.to_string());
    let update = ["update-formation", "--formation-id", text(&formation, "id"), "--template-file"];
    let refused = home.run(&[&update[..], &["masked.json"]].concat()).exits(1);
    assert!(refused.stderr.contains("masked.json:"), "it names the place: {}", refused.shown());
    assert!(refused.stderr.contains("VALIDATION_FAILED"), "{}", refused.stderr);
}

#[test]
fn a_secret_through_a_parameter_is_in_no_answer() {
    let home = home();
    home.write("formation.yaml", template!("secret-through-a-parameter.yaml"));
    let formation = home.deploy("s", "formation.yaml", &["--parameter", "ApiKey=canary-81c2"]);
    let id = text(&formation, "id");
    assert_eq!(formation["resolved_parameters"], json!({ "ApiKey": "***" }));
    assert!(!formation.to_string().contains("canary"));
    home.redeploy(id, "formation.yaml", &[]);
    assert_eq!(home.changes(id, "formation.yaml"), pairs(&[("ApiSecret", "no-op")]));
}

#[test]
fn a_generated_secret_is_no_output_of_any_call() {
    let home = home();
    let template = |outputs: Value| {
        json!({
            "resources": { "MyWebhook": { "type": "webhook", "properties": {
                "name": "w", "url": "https://x.test", "events": ["*"],
            } } },
            "outputs": outputs,
        })
        .to_string()
    };
    home.write("good.json", template(json!({})));
    home.write("bad.json", template(json!({ "hookSecret": { "ref_attr": "MyWebhook.secret" } })));
    let formation = home.deploy("s", "good.json", &[]);
    let id = text(&formation, "id");
    let calls: [&[&str]; 4] = [
        &["validate-formation"],
        &["plan-formation", "--formation-id", id],
        &["create-formation", "--name", "t"],
        &["update-formation", "--formation-id", id],
    ];
    for (index, call) in calls.into_iter().enumerate() {
        // Validating is an answer whatever it finds.
        let exit = i32::from(index != 0);
        let refused = home.run(&[call, &["--template-file", "bad.json"]].concat()).exits(exit);
        assert!(refused.shown().contains("MyWebhook.secret"), "{}", refused.shown());
    }
    let webhook = object(&home, &formation, "MyWebhook", "get-webhook");
    let told = home.json(&["get-webhook-secret", text(&webhook, "id")]);
    assert!(!text(&told, "secret").is_empty());
}

#[test]
fn metadata_is_resolved_and_its_expressions_stay_in_the_template() {
    let home = home();
    home.write("formation.yaml", template!("metadata.yaml"));
    let formation = home.deploy("s", "formation.yaml", &["--parameter", "my_version=1.2.3"]);
    let memory = object(&home, &formation, "MyMemory", "get-memory");
    assert_eq!(formation["resolved_metadata"], json!({ "my_version": "1.2.3", "memory": memory["id"] }));
    assert_eq!(formation["template"]["metadata"]["my_version"], json!({ "sub": "${my_version}" }));
    let again = ["create-formation", "--name", "t", "--template-file", "formation.yaml", "--metadata"];
    let refused = home.run(&[&again[..], &[r#"{"a": {"ref": "MyMemory"}}"#]].concat()).exits(1);
    assert!(refused.stderr.contains("FORMATION_INVALID_METADATA"), "{}", refused.stderr);
}

#[test]
fn a_failed_deploy_prints_its_payload_and_exits_with_1() {
    let home = home();
    let template = |dataset: &str| {
        json!({ "resources": {
            "first": { "type": "dataset", "properties": { "name": "first" } },
            "second": { "type": "dataset", "properties": { "name": "second" } },
            "case1": { "type": "dataset_item", "properties": {
                "dataset_id": { "ref": dataset }, "input": [{ "role": "user", "content": "hi" }],
            } },
        } })
        .to_string()
    };
    home.write("a.json", template("first"));
    let formation = home.deploy("s", "a.json", &[]);
    let id = text(&formation, "id");
    let moved = template("second");
    let failed = home.run(&["update-formation", "--formation-id", id, "--template", &moved]).exits(1);
    let reason = "update-formation: the deploy failed at resource 'case1' — the formation is 'failed'. \
                  VALIDATION_FAILED: dataset_id is immutable: item 'dsit_";
    assert!(failed.stderr.contains(reason), "{}", failed.stderr);
    let body = failed.json();
    assert_eq!(body["status"], "failed");
    let meta = &body["error"]["meta"];
    assert_eq!((&meta["logical_id"], &meta["resource_type"]), (&json!("case1"), &json!("dataset_item")));
    assert_eq!(home.json(&["get-formation", id])["error"], body["error"], "it stays readable");
    home.redeploy(id, "a.json", &[]);
    assert_eq!(home.json(&["get-formation", id])["error"], Value::Null, "the next deploy clears it");
}

/// A home whose binary knows the type `channel`, as the seed's configuration file registers it.
fn home_with_channels() -> (Home, Runtime) {
    let runtime = Runtime::new().expect("a runtime");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
    let address = listener.local_addr().expect("an address");
    let handler = Service::new(Options {
        secret: "s3cret".to_owned(),
        max_age_seconds: 300,
        path: "/v1/formation-resources".to_owned(),
        state: None,
        control: false,
    })
    .expect("a handler");
    runtime.spawn(async move { axum::serve(listener, router(handler)).await });
    let mut home = home();
    let types = include_str!("../../../handler/tests/seed/resource-types.json");
    let mut types: Value = serde_json::from_str(types).expect("JSON");
    types["resource_types"][0]["handler"]["url"] = format!("http://{address}/v1/formation-resources").into();
    home.write("types.json", types.to_string());
    home.set("FORMATION_RESOURCE_TYPES_CONFIG", "types.json");
    home.set("CHANNEL_HANDLER_SECRET", "s3cret");
    (home, runtime)
}

#[test]
fn a_custom_type_and_an_agent_that_inherits_its_model_deploy_as_one() {
    let (home, _runtime) = home_with_channels();
    home.write("formation.json", template!("custom-type.json"));
    let project = home.json(&["create-project", "--name", "p"]);
    let in_project = ["--project-id", text(&project, "id")];
    let plan = ["plan-formation", "--template-file", "formation.json"];
    let planned = home.run(&[&plan[..], &in_project].concat()).ok();
    let lacking = "and the project has no default model route to inherit";
    assert!(planned.stderr.contains(lacking), "{}", planned.shown());
    // What the seed takes for granted of a project in which agents need not name a model.
    let provider = ["create-ai-provider", "--name", "p", "--provider", "openai", "--default-model", "gpt-4o"];
    let provider = home.json(&[&provider[..], &in_project].concat());
    let targets = json!([{ "ai_provider_id": provider["id"], "model": "gpt-4o" }]).to_string();
    let route = ["create-model-route", "--name", "main", "--targets", &targets];
    let route = home.json(&[&route[..], &in_project].concat());
    let update = ["update-project", text(&project, "id"), "--default-model-route-id", text(&route, "id")];
    let updated = home.json(&update);
    assert_eq!(updated["default_model_route_id"], route["id"]);
    let create = ["create-formation", "--name", "s", "--template-file", "formation.json"];
    let formation = home.json(&[&create[..], &in_project].concat());
    assert_eq!(formation["status"], "active", "{formation:#}");
    let agent = object(&home, &formation, "SupportAgent", "get-agent");
    assert_eq!((&agent["name"], &agent["ai_provider_id"]), (&json!("Support"), &Value::Null));
    let id = text(&formation, "id");
    assert_eq!(
        home.changes(id, "formation.json"),
        pairs(&[("SupportAgent", "no-op"), ("SupportChannel", "no-op")])
    );
    home.json(&["delete-formation", id]);
    let cleared = home.json(&["update-project", text(&project, "id"), "--default-model-route-id", "null"]);
    assert_eq!(cleared["default_model_route_id"], Value::Null);
}
