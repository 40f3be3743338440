//! Deploys: what is there afterwards, and what a deploy of the same again does.

use crate::common::{Home, pairs, text};
use crate::golden;
use serde_json::{Value, json};

const EXAMPLE: &str = include_str!("../../../../examples/support-bot/formation.yaml");
const KEY: [&str; 2] = ["--parameter", "ApiKey=sk-example"];

/// A memory with an entry, and a tool beside it.
const SMALL: &str = "\
resources:
  Memory: { type: memory, properties: { name: facts } }
  Entry: { type: memory_entry, properties: { memory_id: { ref: Memory }, content: one } }
  Tool: { type: tool, properties: { name: ask, type: client } }
";

fn small() -> (Home, String) {
    let home = Home::new();
    home.write("a.yaml", SMALL);
    let id = text(&home.deploy("small", "a.yaml", &[]), "id").to_owned();
    (home, id)
}

fn physical<'f>(formation: &'f Value, label: &str) -> &'f str {
    let rows = formation["resources"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["logical_id"] == label).expect("a row");
    text(row, "physical_resource_id")
}

#[test]
fn the_example_becomes_active_and_a_second_deploy_does_nothing() {
    let home = Home::new();
    home.write("formation.yaml", EXAMPLE);
    let template = ["--template-file", "formation.yaml"];
    let plan = home.run(&[&["plan-formation"][..], &template, &KEY].concat()).ok();
    golden!("plan of the example", plan.stderr);
    assert!(!home.data().exists(), "a plan of something new creates nothing");

    let arguments = [&["create-formation", "--name", "bot", "--progress", "plain"][..], &template, &KEY];
    let ran = home.run(&arguments.concat()).ok();
    golden!("progress of the example", ran.stderr);
    let formation = ran.json();
    golden!("formation of the example", ran.stdout);
    assert_eq!(formation["status"], "active");
    assert_eq!(formation["outputs"]["agent_id"], physical(&formation, "Agent"));
    assert_eq!(formation["outputs"]["tickets_url"], "https://tickets.example.com/api");
    assert_eq!(formation["resolved_metadata"]["agent"], physical(&formation, "Agent"));
    assert_eq!(formation["resolved_parameters"]["ApiKey"], "***");

    let id = text(&formation, "id");
    let before = home.objects();
    assert_eq!(before.len(), 10);
    let again = home.redeploy(id, "formation.yaml", &[]);
    assert_eq!(again["outputs"], formation["outputs"]);
    assert!(home.last_events(id).iter().all(|(_, action)| action == "no-op"));
    assert_eq!(home.objects(), before, "nothing was touched, times included");

    home.write("formation.yaml", EXAMPLE.replace("Support Bot", "Second Bot"));
    let plan = home.run(&[&["plan-formation", "--formation-id", id][..], &template].concat()).ok();
    golden!("plan of one change", plan.stderr);
    home.redeploy(id, "formation.yaml", &[]);
    let changed: Vec<_> = home.last_events(id).into_iter().filter(|(_, action)| action != "no-op").collect();
    assert_eq!(changed, pairs(&[("Agent", "update")]));
    let after = home.objects();
    let touched = after.iter().filter(|object| !before.contains(object)).collect::<Vec<_>>();
    assert_eq!(touched.len(), 1);
    assert_eq!(touched[0]["name"], "Second Bot");

    let ran = home.run(&["delete-formation", id]).ok();
    assert_eq!(ran.json(), json!({"success": true}));
    assert_eq!(home.objects(), Vec::<Value>::new());
}

#[test]
fn a_removed_resource_is_deleted_and_reported_once() {
    let (home, id) = small();
    home.write("b.yaml", SMALL.lines().take(3).collect::<Vec<_>>().join("\n"));
    assert_eq!(
        home.changes(&id, "b.yaml"),
        pairs(&[("Memory", "no-op"), ("Entry", "no-op"), ("Tool", "delete")])
    );
    let formation = home.redeploy(&id, "b.yaml", &[]);
    let deleted = home.last_events(&id).into_iter().filter(|(_, action)| action == "delete").count();
    assert_eq!(deleted, 1);
    let tombstone =
        formation["resources"].as_array().expect("rows").iter().find(|row| row["logical_id"] == "Tool");
    assert_eq!(tombstone.expect("it is still listed")["status"], "deleted");
    assert_eq!(home.changes(&id, "b.yaml"), pairs(&[("Memory", "no-op"), ("Entry", "no-op")]));
    home.redeploy(&id, "b.yaml", &[]);
    assert!(home.last_events(&id).iter().all(|(label, _)| label != "Tool"));
}

#[test]
fn a_retained_resource_outlives_its_stack() {
    let home = Home::new();
    home.write(
        "a.yaml",
        "resources:\n  Kept: { type: memory, deletion_policy: retain, properties: { name: kept } }\n  Gone: { type: memory, properties: { name: gone } }\n",
    );
    let id = text(&home.deploy("s", "a.yaml", &[]), "id").to_owned();
    home.run(&["delete-formation", &id]).ok();
    let left: Vec<_> = home.all(&["list-memories"]).iter().map(|it| text(it, "name").to_owned()).collect();
    assert_eq!(left, ["kept"]);
}

#[test]
fn what_was_deleted_by_hand_is_planned_and_made_again() {
    let (home, id) = small();
    let tool = home.all(&["list-tools"]).remove(0);
    home.run(&["delete-tool", text(&tool, "id")]).ok();
    assert_eq!(
        home.changes(&id, "a.yaml"),
        pairs(&[("Memory", "no-op"), ("Tool", "create"), ("Entry", "no-op")])
    );
    let formation = home.redeploy(&id, "a.yaml", &[]);
    let tools = home.all(&["list-tools"]);
    assert_eq!(tools.len(), 1);
    assert_eq!(physical(&formation, "Tool"), text(&tools[0], "id"));
    assert_ne!(tools[0]["id"], tool["id"]);
}

#[test]
fn another_type_under_the_same_label_is_a_replacement() {
    let (home, id) = small();
    home.write(
        "b.yaml",
        SMALL.replace(
            "{ type: tool, properties: { name: ask, type: client } }",
            "{ type: secret, properties: { name: ask, value: v } }",
        ),
    );
    let arguments = ["plan-formation", "--formation-id", &id, "--template-file", "b.yaml"];
    golden!("plan of another type", home.run(&arguments).ok().stderr);
    let formation = home.redeploy(&id, "b.yaml", &[]);
    assert_eq!(formation["status"], "active");
    assert_eq!(home.all(&["list-tools"]), Vec::<Value>::new());
    assert_eq!(physical(&formation, "Tool"), text(&home.all(&["list-secrets"])[0], "id"));
}

#[test]
fn metadata_is_kept_changed_and_cleared() {
    let (home, id) = small();
    let metadata = |text: &str| {
        let arguments = ["update-formation", &id, "--template-file", "a.yaml", "--metadata", text];
        home.run(&arguments)
    };
    assert_eq!(metadata(r#"{"team": "support"}"#).ok().json()["metadata"], json!({"team": "support"}));
    assert_eq!(home.redeploy(&id, "a.yaml", &[])["metadata"], json!({"team": "support"}));
    let refused = metadata(r#"{"team": {"ref": "Tool"}}"#).exits(1);
    assert!(refused.stderr.contains("FORMATION_INVALID_METADATA"), "{}", refused.stderr);
    assert_eq!(metadata("null").ok().json()["metadata"], Value::Null);
}

#[test]
fn an_update_without_a_template_applies_the_stored_one() {
    let (home, id) = small();
    let entry = home.all(&["list-memory-entries"]).remove(0);
    home.run(&["delete-memory-entry", text(&entry, "id")]).ok();
    assert_eq!(home.json(&["update-formation", &id])["status"], "active");
    assert_eq!(home.all(&["list-memory-entries"]).len(), 1);
}

#[test]
fn a_template_may_come_from_standard_input_or_the_command_line() {
    let home = Home::new();
    let ran =
        home.run_fed(&["create-formation", "--name", "a", "--template-file", "-"], SMALL.as_bytes()).ok();
    assert_eq!(ran.json()["status"], "active");
    let inline = r#"{"resources": {"M": {"type": "memory", "properties": {"name": "n"}}}}"#;
    assert_eq!(home.json(&["create-formation", "--name", "b", "--template", inline])["status"], "active");
}

#[test]
fn a_taken_name_is_refused_and_free_again_after_the_teardown() {
    let (home, id) = small();
    let again = ["create-formation", "--name", "small", "--template-file", "a.yaml"];
    golden!("name conflict", home.run(&again).exits(1).shown());
    assert_eq!(home.objects().len(), 3);
    home.run(&["delete-formation", &id]).ok();
    home.run(&again).ok();
}

#[test]
fn a_formation_is_deleted_once() {
    let (home, id) = small();
    let ran = home.run(&["delete-formation", &id, "--progress", "plain"]).ok();
    golden!("progress of a teardown", ran.stderr);
    golden!("deleted twice", home.run(&["delete-formation", &id]).exits(1).shown());
    assert_eq!(home.json(&["list-formations"])["total"], 0);
}

#[test]
fn lists_come_in_pages() {
    let home = Home::new();
    let _agent = home.agent();
    for index in 0..5 {
        home.run(&["create-memory", "--name", &format!("m{index}")]).ok();
        home.write(
            "one.yaml",
            format!("resources:\n  M: {{type: memory, properties: {{name: s{index}}}}}\n"),
        );
        home.deploy(&format!("s{index}"), "one.yaml", &[]);
    }
    for (list, total) in [("list-memories", 10), ("list-formations", 5)] {
        let page = home.json(&[list, "--limit", "2", "--offset", "4"]);
        assert_eq!(
            (page["total"].as_u64(), page["limit"].as_u64(), page["offset"].as_u64()),
            (Some(total), Some(2), Some(4))
        );
        let rest = usize::try_from(total - 4).expect("small").min(2);
        assert_eq!(page["data"].as_array().map(Vec::len), Some(rest), "{list}");
        let mut ids: Vec<_> = (0..total)
            .map(|offset| {
                home.json(&[list, "--limit", "1", "--offset", &offset.to_string()])["data"][0]["id"]
                    .to_string()
            })
            .collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), usize::try_from(total).expect("small"), "{list}: every item is on one page");
    }
    home.run(&["list-memories", "--limit", "1000"]).exits(1);
}
