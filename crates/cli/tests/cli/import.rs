//! `import`: taking over what exists, as people see it.

use crate::common::{Home, text};

#[test]
fn what_was_made_by_hand_is_taken_over_and_then_the_formations() {
    let home = Home::new();
    let memory = home.json(&["create-memory", "--name", "by hand"]);
    let id = text(&memory, "id");
    home.write(
        "a.yaml",
        format!("resources:\n  Kb: {{ type: memory, import: {id}, properties: {{ name: declared }} }}\n"),
    );
    let plan = home.run(&["plan-formation", "--template-file", "a.yaml"]).ok().stderr;
    for line in
        ["Plan   1 to adopt", "« memory  Kb", &format!("takes over `{id}`"), "\"by hand\" → \"declared\""]
    {
        assert!(plan.contains(line), "{line} is not in\n{plan}");
    }

    let made = home.deploy("s", "a.yaml", &[]);
    assert_eq!(made["resources"][0]["physical_resource_id"], id);
    assert_eq!(home.json(&["get-memory", id])["name"], "declared");
    assert_eq!(home.changes(text(&made, "id"), "a.yaml"), [("Kb".to_owned(), "no-op".to_owned())]);

    let changed = home.run(&["update-memory", id, "--name", "by hand"]).ok();
    assert_eq!(changed.json()["managed_by"]["logical_id"], "Kb");
    let warned = "warning: This resource is managed by formation form_";
    assert!(changed.stderr.contains(warned), "{}", changed.stderr);

    let twice = home.run(&["create-formation", "--name", "t", "--template-file", "a.yaml"]).exits(1);
    assert!(twice.stderr.contains("is owned by formation"), "{}", twice.stderr);
    assert!(home.run(&["explain", "import-refused"]).ok().stdout.contains("cannot be imported"));
}
