//! Revisions of a formation, as people go through and back to them.

use crate::common::{Home, text};
use crate::golden;
use serde_json::Value;

fn template(name: &str, value: &str) -> String {
    format!(
        "resources:\n  \
         M: {{ type: memory, properties: {{ name: {name} }} }}\n  \
         Key: {{ type: secret, properties: {{ name: key, value: {value} }} }}\n"
    )
}

#[test]
fn what_changed_is_shown_and_an_earlier_template_is_applied_again() {
    let home = Home::new();
    home.write("a.yaml", template("one", "sk-first"));
    let id = text(&home.deploy("s", "a.yaml", &[]), "id").to_owned();
    home.write("a.yaml", template("two", "sk-second"));
    home.redeploy(&id, "a.yaml", &[]);
    let listed = home.json(&["list-formation-revisions", "--formation-id", &id]);
    let numbers: Vec<_> =
        listed["data"].as_array().expect("a page").iter().map(|item| item["revision"].clone()).collect();
    assert_eq!(numbers, [2, 1]);

    let diff = home.run(&["diff-formation-revisions", &id, "--from", "1", "--to", "2"]).ok();
    golden!("diff of two revisions", diff.shown());
    home.run(&["diff-formation-revisions", &id, "--from", "1", "--to", "9"]).exits(1);

    let back = home.json(&["update-formation", "--formation-id", &id, "--revision", "1"]);
    assert_eq!(back["status"], "active");
    assert_eq!(home.all(&["list-memories"])[0]["name"], "one");
    let one = ["get-formation-revision", &id, "--revision"];
    let kept = |number: &str| -> Value { home.json(&[&one[..], &[number]].concat())["template"].clone() };
    assert_eq!(kept("3"), kept("1"));
    let both = ["update-formation", &id, "--revision", "1", "--template-file", "a.yaml"];
    home.run(&both).exits(2);
}
