//! What others do between the moment that a deploy is decided and the moment that its step runs.

use crate::common::{finish, text, wait_for};
use crate::world::World;
use formwork_example_handler::Deed;
use serde_json::{Value, json};

fn template(name: &str, content: &str) -> Value {
    json!({ "resources": {
        "Chan": { "type": "channel", "properties": { "name": name, "kind": "sms" } },
        "Doc": {
            "type": "document",
            "depends_on": ["Chan"],
            "properties": { "content": content, "tags": { "team": "red" } },
        },
    } })
}

/// Who may change what has a tag may not give that tag back to what it was taken from meanwhile: a step
/// does what was decided to what was looked at, or nothing.
#[test]
fn a_tag_that_is_taken_away_before_the_step_is_not_put_back() {
    let world = World::new();
    let id = world.deployed(&template("a", "first"));
    let rows = world.home.json(&["get-formation", &id])["resources"].clone();
    let rows = rows.as_array().expect("rows").iter();
    let mut document =
        rows.filter(|row| row["logical_id"] == "Doc").map(|row| text(row, "physical_resource_id"));
    let document = document.next_back().expect("a document").to_owned();
    world.misbehave("update", true, Deed::Delay { millis: 2500 });
    world.home.write("template.json", template("b", "second").to_string());
    let update = ["update-formation", &id, "--template-file", "template.json", "--progress", "none"];
    let child = world.home.command(&update).spawn().expect("it starts");
    wait_for("the first step to run", || {
        world.changes_asked().iter().any(|asked| asked.starts_with("update"))
    });
    world.home.run(&["update-document", &document, "--tags", r#"{"team": "blue"}"#]).ok();
    let ran = finish(child).exits(3);
    assert!(ran.stderr.contains("DRIFTED"), "{}", ran.stderr);
    let shown = world.home.json(&["get-document", &document]);
    assert_eq!((&shown["tags"], &shown["content"]), (&json!({ "team": "blue" }), &json!("first")));
}
