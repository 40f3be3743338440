//! Deploys that fail: the reason is told, and nothing new is left standing.

use crate::common::{Home, pairs, text};
use crate::golden;
use serde_json::Value;

/// `case1` names a secret that is not there.
const FAILING: &str = "\
resources:
  Memory: { type: memory, properties: { name: facts } }
  Entry: { type: memory_entry, properties: { memory_id: { ref: Memory }, content: one } }
  case1:
    type: ai_provider
    depends_on: [Entry]
    properties: { name: main, provider: openai, default_model: m, secret_id: sec_AAAAAAAAAAAAAAAA }
  After: { type: tool, depends_on: [case1], properties: { name: late, type: client } }
";

fn corrected() -> String {
    FAILING.replace(", secret_id: sec_AAAAAAAAAAAAAAAA", "")
}

#[test]
fn a_failed_deploy_answers_with_its_payload_and_its_reason_and_is_rolled_back() {
    let home = Home::new();
    home.write("a.yaml", FAILING);
    let arguments = ["create-formation", "--name", "s", "--template-file", "a.yaml", "--progress"];
    let ran = home.run(&[&arguments[..], &["none"]].concat()).exits(1);
    assert_eq!(
        ran.stderr,
        "create-formation: the deploy failed at resource 'case1' — the formation is 'failed'. \
         SECRET_NOT_FOUND: Secret not found: sec_AAAAAAAAAAAAAAAA\n"
    );
    golden!("payload of a failed deploy", ran.stdout);
    let formation = ran.json();
    let id = text(&formation, "id");
    assert_eq!(formation["error"]["meta"]["logical_id"], "case1");
    assert_eq!(
        home.last_events(id),
        pairs(&[
            ("Memory", "create"),
            ("Entry", "create"),
            ("case1", "create"),
            ("Entry", "rollback"),
            ("Memory", "rollback"),
        ])
    );
    assert_eq!(home.objects(), Vec::<Value>::new());
    let read = home.run(&["get-formation", id]).ok();
    assert_eq!(read.json()["status"], "failed");

    let update =
        ["update-formation", "--formation-id", id, "--template-file", "a.yaml", "--progress", "plain"];
    golden!("progress of a failed update", home.run(&update).exits(1).stderr);

    home.write("a.yaml", corrected());
    let formation = home.redeploy(id, "a.yaml", &[]);
    assert_eq!((&formation["status"], &formation["error"]), (&Value::from("active"), &Value::Null));
    assert_eq!(home.objects().len(), 4);
    home.run(&["delete-formation", id]).ok();
    assert_eq!(home.objects(), Vec::<Value>::new());
}

#[test]
fn a_failed_update_keeps_what_was_there() {
    let home = Home::new();
    home.write("a.yaml", corrected());
    let id = text(&home.deploy("s", "a.yaml", &[]), "id").to_owned();
    let before = home.objects();
    home.write("b.yaml", FAILING.replace("content: one", "content: two"));
    let update = ["update-formation", "--formation-id", &id, "--template-file", "b.yaml"];
    let ran = home.run(&update).exits(1);
    assert!(ran.stderr.ends_with(
        "update-formation: the deploy failed at resource 'case1' — the formation is 'failed'. \
         SECRET_NOT_FOUND: Secret not found: sec_AAAAAAAAAAAAAAAA\n"
    ));
    assert_eq!(home.objects().len(), before.len());
    assert_eq!(home.all(&["list-memory-entries"])[0]["content"], "two", "an update is not undone");
    home.redeploy(&id, "a.yaml", &[]);
    assert_eq!(home.all(&["list-memory-entries"])[0]["content"], "one");
}

#[test]
fn a_retained_resource_survives_the_rollback_and_is_adopted() {
    let home = Home::new();
    let retained =
        |template: &str| template.replace("{ type: memory,", "{ type: memory, deletion_policy: retain,");
    home.write("a.yaml", retained(FAILING));
    let ran = home.run(&["create-formation", "--name", "s", "--template-file", "a.yaml"]).exits(1);
    let id = text(&ran.json(), "id").to_owned();
    assert!(home.last_events(&id).contains(&("Memory".to_owned(), "rollback-skipped".to_owned())));
    let kept = home.objects();
    assert_eq!(kept.len(), 1);
    home.write("a.yaml", retained(&corrected()));
    home.redeploy(&id, "a.yaml", &[]);
    assert_eq!(home.all(&["list-memories"])[0]["id"], kept[0]["id"]);
}

#[test]
fn an_id_of_another_project_fails_as_if_it_were_nowhere() {
    let home = Home::new();
    let project = home.json(&["create-project", "--name", "other"]);
    let tool = home.json(&[
        "create-tool",
        "--project-id",
        text(&project, "id"),
        "--name",
        "theirs",
        "--type",
        "client",
    ]);
    let template = |tool: &str| {
        format!(
            "resources:\n  Provider: {{ type: ai_provider, properties: {{ name: p, provider: openai, default_model: m }} }}\n  Bot: {{ type: agent, properties: {{ name: b, ai_provider_id: {{ ref: Provider }}, tool_bindings: [{{ tool_id: {tool} }}] }} }}\n"
        )
    };
    let message = |tool: &str| {
        home.write("a.yaml", template(tool));
        let name = format!("s-{tool}");
        let ran = home.run(&["create-formation", "--name", &name, "--template-file", "a.yaml"]).exits(1);
        let error = ran.json()["error"].clone();
        assert_eq!(error["meta"]["logical_id"], "Bot");
        text(&error, "message").replace(tool, "ID")
    };
    let (elsewhere, nowhere) = (message(text(&tool, "id")), message("tool_AAAAAAAAAAAAAAAA"));
    assert_eq!(elsewhere, nowhere);
    assert_eq!(home.objects().len(), 1, "only the other project's tool");
}
