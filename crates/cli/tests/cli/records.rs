//! What was asked for, and what else items can do, by their commands.

use crate::common::{Home, text};
use serde_json::json;

#[test]
fn firings_tags_and_labels_have_commands() {
    let home = Home::new();
    let _agent = home.agent();
    let tool = home.json(&["create-tool", "--name", "t", "--execute", r#"{"url": "https://x.example"}"#]);
    let trigger = home.json(&[
        "create-trigger",
        "--name",
        "t",
        "--type",
        "manual",
        "--target-type",
        "tool",
        "--target-id",
        text(&tool, "id"),
    ]);
    let fired = home.json(&["fire-trigger", text(&trigger, "id"), "--input", r#"{"a": 1}"#]);
    assert_eq!((&fired["status"], &fired["input"]), (&json!("pending"), &json!({ "a": 1 })));
    let listed = home.json(&["list-trigger-firings", "--trigger-id", text(&trigger, "id")]);
    assert_eq!(listed["data"], json!([fired]));
    let wrong = home.run(&["fire-trigger", text(&trigger, "id"), "--input", "[1]"]).exits(2);
    assert!(wrong.stderr.contains("`--input` must be a JSON object"), "{}", wrong.stderr);

    let actor = home.json(&["create-actor", "--name", "a"]);
    let id = text(&actor, "id");
    home.json(&["replace-actor-tags", id, "--tags", r#"{"team": "x"}"#]);
    let merged = home.json(&["merge-actor-tags", id, "--tags", r#"{"env": "dev"}"#]);
    assert_eq!(merged, json!({ "team": "x", "env": "dev" }));
    assert_eq!(home.json(&["get-actor-tags", id]), merged);
}

#[test]
fn a_purge_can_be_told_by_the_environment_to_change_nothing() {
    let home = Home::new();
    let purge = ["admin", "purge-secret-outputs"];
    let told = home.run_with(&purge, &[("PURGE_DRY_RUN", "1")]).ok().json();
    assert_eq!(told["dry_run"], true, "{told}");
    assert_eq!(home.json(&purge)["dry_run"], false);
    let unclear = home.run_with(&purge, &[("PURGE_DRY_RUN", "maybe")]).exits(1);
    assert!(unclear.stderr.contains("PURGE_DRY_RUN"), "{}", unclear.stderr);
}
