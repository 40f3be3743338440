//! The commands of seed 4 in a shell, as they stand there.

use crate::common::{Home, Ran, finish, pairs, text};
use serde_json::{Value, json};
use std::process::Command;

/// Runs lines in a shell that finds the binary by the name `soat`.
fn shell(home: &Home, lines: &str, environment: &[(&str, &str)]) -> Ran {
    let plain = home.command(&[]);
    let mut command = Command::new("sh");
    command.arg("-c").arg(lines).current_dir(home.path()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", home.path().display()));
    command.envs(environment.iter().copied());
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    finish(command.spawn().expect("it starts"))
}

fn home() -> Home {
    Home::called("soat")
}

#[test]
fn a_formation_is_deployed_and_updated() {
    let home = home();
    home.write("formation.json", include_str!("../../../formation/tests/seed/parameters.json"));
    let project = home.json(&["create-project", "--name", "p"]);
    let secret =
        home.json(&["create-secret", "--project-id", text(&project, "id"), "--name", "k", "--value", "v"]);
    let environment =
        [("PROJECT_ID", text(&project, "id")), ("SECRET_ID", text(&secret, "id")), ("API_KEY", "sk-1")];
    let create = "soat create-formation \\
  --project-id \"$PROJECT_ID\" \\
  --name \"my-stack\" \\
  --template-file formation.json \\
  --parameter ApiKey=$API_KEY --parameter SecretId=$SECRET_ID";
    let made = shell(&home, create, &environment).ok().json();
    assert_eq!((text(&made, "status"), text(&made, "name")), ("active", "my-stack"));
    let update = "soat update-formation \\
  --formation-id \"$FORMATION\" \\
  --template-file formation.json \\
  --parameter AppUrl=https://staging.example.com \\
  --parameter 'ApiKey=${API_KEY}' --parameter 'SecretId=$SECRET_ID'";
    let environment = [&environment[..], &[("FORMATION", text(&made, "id"))]].concat();
    let updated = shell(&home, update, &environment).ok().json();
    assert_eq!(updated["resolved_parameters"]["AppUrl"], "https://staging.example.com");
    assert_eq!(updated["resolved_parameters"]["ApiKey"], "***");
    let unset = "soat update-formation --formation-id \"$FORMATION\" --parameter 'ApiKey=$NOWHERE'";
    let refused = shell(&home, unset, &environment).exits(1);
    assert!(refused.stderr.contains("Missing environment variable: NOWHERE"), "{}", refused.stderr);
}

#[test]
fn an_env_file_fills_in_parameters_that_stay_out_of_the_command_line() {
    let home = home();
    home.write(
        "formation.yaml",
        "parameters:
  AppUrl: { type: string }
  TOOLS_API_KEY: { type: string, no_echo: true, use_previous_value: true }
  XAI_API_KEY: { type: string, no_echo: true, use_previous_value: true }
resources:
  Tools: { type: secret, properties: { name: tools, value: { param: TOOLS_API_KEY } } }
  Xai: { type: secret, properties: { name: xai, value: { param: XAI_API_KEY } } }
  Docs: { type: memory, properties: { name: docs, description: { param: AppUrl } } }
",
    );
    home.write(".env", "APP_URL=https://one.example\nTOOLS_API_KEY=t-1\nXAI_API_KEY=x-1\n");
    let lines = |command: &str| {
        format!(
            "soat {command} \\
  --template-file formation.yaml \\
  --env-file .env \\
  --parameter AppUrl=@APP_URL \\
  --parameter TOOLS_API_KEY \\
  --parameter XAI_API_KEY"
        )
    };
    let made = shell(&home, &lines("create-formation --name s"), &[]).ok().json();
    let id = text(&made, "id").to_owned();
    let update = lines(&format!("update-formation \\\n  --formation-id {id}"));
    shell(&home, &update, &[]).ok();
    assert_eq!(home.last_events(&id), pairs(&[("Tools", "no-op"), ("Xai", "no-op"), ("Docs", "no-op")]));
    // The file wins over the environment, and what is in neither is left out.
    home.write(".env", "APP_URL=https://two.example\nXAI_API_KEY=x-2\n");
    shell(&home, &update, &[("APP_URL", "https://not.example"), ("XAI_API_KEY", "x-1")]).ok();
    assert_eq!(home.last_events(&id), pairs(&[("Tools", "no-op"), ("Xai", "update"), ("Docs", "update")]));
    assert_eq!(home.all(&["list-memories"])[0]["description"], "https://two.example");
    home.write(".env", "XAI_API_KEY=x-2\n");
    let refused = shell(&home, &update, &[]).exits(1);
    assert!(refused.stderr.contains("FORMATION_MISSING_PARAMETERS"), "{}", refused.stderr);
    assert!(refused.stderr.contains("Missing required parameters: AppUrl"), "{}", refused.stderr);
    let from_the_shell = shell(&home, &update, &[("APP_URL", "https://three.example")]).ok().json();
    assert_eq!(from_the_shell["resolved_parameters"]["AppUrl"], "https://three.example");
}

/// A dataset with an item of it; `other` is another dataset.
fn moved(dataset: &str) -> String {
    json!({ "resources": {
        "first": { "type": "dataset", "properties": { "name": "first" } },
        "other": { "type": "dataset", "properties": { "name": "other" } },
        "case1": { "type": "dataset_item", "properties": {
            "dataset_id": { "ref": dataset }, "input": [{ "role": "user", "content": "hi" }],
        } },
    } })
    .to_string()
}

#[test]
fn a_failed_deploy_stops_the_line_and_its_payload_is_captured_all_the_same() {
    let home = home();
    let made = home.json(&["create-formation", "--name", "s", "--template", &moved("first")]);
    let (id, template) = (text(&made, "id"), moved("other"));
    let environment = [("F", id), ("T", template.as_str())];
    let line = "soat update-formation --formation-id \"$F\" --template \"$T\" && echo \"deployed\"";
    let failed = shell(&home, line, &environment).exits(1);
    assert!(!failed.stdout.contains("deployed"));
    assert_eq!(failed.json()["status"], "failed", "standard output is the payload and nothing else");
    let reason = "update-formation: the deploy failed at resource 'case1' — the formation is 'failed'. \
                  VALIDATION_FAILED: dataset_id is immutable: item 'dsit_";
    assert!(failed.stderr.lines().any(|line| line.starts_with(reason)), "{}", failed.stderr);
    let captured = "STATUS=$(soat update-formation --formation-id \"$F\" --template \"$T\" 2>/dev/null); \
                    code=$?; printf '%s' \"$STATUS\"; exit $code";
    assert_eq!(shell(&home, captured, &environment).exits(1).json()["error"]["code"], "VALIDATION_FAILED");

    // Reads of the failed stack succeed, and so does what only looks.
    let shown = shell(&home, "soat get-formation --formation-id \"$F\"", &environment).ok().json();
    let meta = &shown["error"]["meta"];
    assert_eq!((text(meta, "logical_id"), text(meta, "resource_type")), ("case1", "dataset_item"));
    let plan = "soat plan-formation --formation-id \"$F\" --template \"$T\"";
    let plan = shell(&home, plan, &environment).ok().json();
    assert!(plan["changes"].is_array(), "{plan}");
    let validate = "soat validate-formation --template \"$T\"";
    assert_eq!(shell(&home, validate, &environment).ok().json()["valid"], true);
    let invalid = "soat validate-formation --template '{\"resources\": {\"A\": {\"type\": \"agnet\"}}}'";
    let invalid = shell(&home, invalid, &[]).ok();
    assert_eq!(invalid.json()["valid"], false, "the outcome is the payload");
    assert!(invalid.json()["errors"].as_array().is_some_and(|errors| !errors.is_empty()));
    let events = shell(&home, "soat list-formation-events --formation-id \"$F\"", &environment).ok().json();
    let operations = events["data"].as_array().expect("a list");
    assert_eq!(operations[2]["error"], shown["error"], "the history has the same");
    home.run(&["update-formation", id, "--template", &moved("first")]).ok();
    assert_eq!(home.json(&["get-formation", id])["error"], Value::Null);
}
