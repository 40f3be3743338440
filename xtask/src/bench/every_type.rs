//! A formation of 500 resources in which every type occurs: deployed, changed and torn down by the
//! binary with the embedded engine.

use super::{RUNS_OF_DEPLOYS, run_in, seconds};
use crate::{TaskError, root};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

const RESOURCES: usize = 500;

/// Measures the three commands; `binary` is a release build.
pub(super) fn measure(report: &mut String, binary: &str) -> Result<(), TaskError> {
    eprintln!("xtask: a formation of {RESOURCES} resources of every type");
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..RUNS_OF_DEPLOYS {
        let home = super::home()?;
        for (index, time) in once(binary, home.path())?.into_iter().enumerate() {
            times[index].push(time);
        }
    }
    let _ = write!(
        report,
        "\n## {RESOURCES} resources of every type, deployed, changed and torn down\n\n| command | median |\n|---|---|\n"
    );
    for (command, mut times) in ["create", "update", "delete"].into_iter().zip(times) {
        times.sort_unstable();
        let _ = writeln!(report, "| `formwork {command}-formation` | {} |", seconds(times[times.len() / 2]));
    }
    Ok(())
}

fn once(binary: &str, home: &Path) -> Result<[Duration; 3], TaskError> {
    let (first, second) = (home.join("first.json"), home.join("second.json"));
    for (path, release) in [(&first, "1"), (&second, "2")] {
        std::fs::write(path, template(release).to_string())
            .map_err(|source| TaskError::File { path: path.display().to_string(), source })?;
    }
    let (first, second) = (first.display().to_string(), second.display().to_string());
    let quiet = ["--progress", "none"];
    let create = ["create-formation", "--name", "all", "--template-file", &first];
    let (made, created) = run_in(Path::new(binary), &[&create[..], &quiet].concat(), &root(), home)?;
    let made: Value = serde_json::from_slice(&made).unwrap_or_default();
    let id = made["id"].as_str().unwrap_or_default();
    let update = ["update-formation", "--formation-id", id, "--template-file", &second];
    let (_, updated) = run_in(Path::new(binary), &[&update[..], &quiet].concat(), &root(), home)?;
    let delete = ["delete-formation", "--formation-id", id];
    let (_, deleted) = run_in(Path::new(binary), &[&delete[..], &quiet].concat(), &root(), home)?;
    Ok([created, updated, deleted])
}

/// As many groups of every type as make the number; `release` is told to each that can be told.
fn template(release: &str) -> Value {
    let groups = (0..).flat_map(|number| {
        let named = move |(name, declared): (&str, Value)| (format!("{name}{number}"), declared);
        group(number, release).into_iter().map(named)
    });
    let resources: Map<String, Value> = groups.take(RESOURCES).collect();
    json!({ "resources": resources })
}

/// Every type once, wired to each other.
fn group(number: usize, release: &str) -> Vec<(&'static str, Value)> {
    let it = |name: &str| json!({ "ref": format!("{name}{number}") });
    let text = |what: &str| json!(format!("{what} of release {release}"));
    let name = format!("n{number}");
    let declared =
        |type_name: &str, properties: Value| json!({ "type": type_name, "properties": properties });
    vec![
        ("Secret", declared("secret", json!({ "name": name, "value": text("value") }))),
        (
            "Prov",
            declared(
                "ai_provider",
                json!({
                    "name": text("provider"), "provider": "openai", "default_model": "m",
                    "secret_id": it("Secret"),
                }),
            ),
        ),
        (
            "Route",
            declared(
                "model_route",
                json!({ "name": name, "targets": [{ "ai_provider_id": it("Prov"), "model": "m" }] }),
            ),
        ),
        ("Memory", declared("memory", json!({ "name": text("memory") }))),
        ("Entry", declared("memory_entry", json!({ "memory_id": it("Memory"), "content": text("fact") }))),
        ("Doc", declared("document", json!({ "content": text("page"), "path": format!("/{name}") }))),
        (
            "Tool",
            declared(
                "tool",
                json!({ "name": name, "description": text("tool"), "execute": {
                    "url": "https://x.test", "headers": {
                        "Authorization": { "sub": format!("Bearer {{{{secret:${{Secret{number}}}}}}}") },
                    },
                } }),
            ),
        ),
        ("Guard", declared("guardrail", json!({ "name": name, "class": "B", "description": text("guard") }))),
        (
            "Agent",
            declared(
                "agent",
                json!({
                    "ai_provider_id": it("Prov"), "instructions": text("instructions"),
                    "tool_bindings": [{ "tool_id": it("Tool") }], "guardrail_ids": [it("Guard")],
                    "knowledge_config": { "memory_ids": [it("Memory")], "document_ids": [it("Doc")] },
                }),
            ),
        ),
        ("Chat", declared("chat", json!({ "ai_provider_id": it("Prov"), "name": text("chat") }))),
        ("Actor", declared("actor", json!({ "name": name, "agent_id": it("Agent") }))),
        ("Talk", declared("conversation", json!({ "name": text("talk"), "actor_id": it("Actor") }))),
        ("Session", declared("session", json!({ "agent_id": it("Agent"), "name": text("session") }))),
        ("Cases", declared("dataset", json!({ "name": name, "description": text("cases") }))),
        (
            "Case",
            declared(
                "dataset_item",
                json!({
                    "dataset_id": it("Cases"), "input": [{ "role": "user", "content": text("question") }],
                }),
            ),
        ),
        (
            "Eval",
            declared(
                "eval",
                json!({
                    "name": name, "agent_id": it("Agent"), "dataset_id": it("Cases"),
                    "scorers": [{ "type": "contains", "value": text("answer") }],
                }),
            ),
        ),
        ("File", declared("file", json!({ "prefix": "files", "filename": name, "metadata": "{}" }))),
        (
            "Rule",
            declared(
                "ingestion_rule",
                json!({ "content_type_glob": format!("x-{name}/*"), "agent_id": it("Agent") }),
            ),
        ),
        (
            "Flow",
            declared(
                "orchestration",
                json!({
                    "name": text("flow"), "edges": [],
                    "nodes": [{ "id": "think", "type": "agent", "agent_id": it("Agent") }],
                }),
            ),
        ),
        (
            "Desk",
            declared(
                "workflow",
                json!({
                    "name": name, "description": text("desk"), "transitions": [],
                    "states": [{ "name": "new", "initial": true, "terminal": true }],
                }),
            ),
        ),
        (
            "Policy",
            declared(
                "policy",
                json!({
                    "name": text("policy"),
                    "document": { "statement": [{ "effect": "Allow", "action": ["agents:*"] }] },
                }),
            ),
        ),
        ("Key", declared("api_key", json!({ "name": text("key"), "policy_ids": [it("Policy")] }))),
        (
            "Trigger",
            declared(
                "trigger",
                json!({
                    "name": name, "description": text("trigger"), "type": "schedule", "cron": "0 3 * * *",
                    "target_type": "agent", "target_id": it("Agent"),
                }),
            ),
        ),
        (
            "Hook",
            declared("webhook", json!({ "name": text("hook"), "url": "https://x.test", "events": ["*"] })),
        ),
        (
            "Quota",
            declared(
                "quota",
                json!({
                    "scope": "agent", "scope_ref": it("Agent"), "metric": "tokens", "window": "rolling_1h",
                    "limit": 10,
                }),
            ),
        ),
        (
            "Price",
            declared(
                "project_price",
                json!({
                    "provider": "openai", "model": name, "component": "request", "unit": "request",
                    "unit_price": 1, "effective_from": "2030-01-01T00:00:00Z",
                }),
            ),
        ),
    ]
}
