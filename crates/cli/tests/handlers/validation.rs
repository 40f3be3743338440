//! What is wrong with a declaration is said before anything is done: by the schema, then by the
//! handler.

use crate::common::text;
use crate::golden;
use crate::world::{World, one};
use serde_json::json;

const WRONG: &str = "\
resources:
  Chan:
    type: channel
    properties:
      name: ''
      knd: sms
      agent_id: 7
      hours:
        from: 24
        until: 9
";

const UNKNOWN_KIND: &str = "\
parameters:
  Kind: { type: string }
resources:
  First:
    type: channel
    properties: { name: a, kind: pigeon }
  Second:
    type: channel
    properties: { name: b, kind: { param: Kind }, agent_id: { ref: First } }
";

#[test]
fn a_custom_type_is_checked_like_a_built_in_one_and_deeper() {
    let world = World::new();
    world.home.write("t.yaml", WRONG);
    golden!(
        "schema errors",
        world.home.run(&["validate-formation", "--template-file", "t.yaml"]).exits(1).shown()
    );
    assert!(world.asked().is_empty(), "a handler is asked only about what is valid so far");
}

#[test]
fn a_handlers_errors_have_their_place_in_the_template() {
    let world = World::new();
    world.home.write("t.yaml", UNKNOWN_KIND);
    let validate = ["validate-formation", "--template-file", "t.yaml"];
    golden!("handler errors", world.home.run(&validate).exits(1).shown());
    assert_eq!(world.asked(), ["validate", "validate"]);
    // They are asked side by side, so in any order.
    let told = world.handler.seen();
    let partly = told.iter().any(|seen| seen.properties == ["name"]);
    assert!(partly, "what is not known yet is left out: {told:?}");
    let parameters = ["--parameter", "Kind=smoke"];
    let create = ["create-formation", "--name", "s", "--template-file", "t.yaml"];
    let ran = world.home.run(&[&create[..], &parameters].concat()).exits(1);
    golden!("handler errors of a deploy", ran.shown());
    assert_eq!(world.home.json(&["list-formations"])["total"], 0);
    assert!(world.channels().is_empty());
}

#[test]
fn what_only_the_deploy_knows_is_checked_before_the_call() {
    let world = World::with(|entry| {
        entry["schema"]["properties"]["agent_id"] = json!({ "type": "string", "pattern": "^agent_" });
    });
    let mut template = one("a", "sms");
    template["resources"]["Memory"] = json!({ "type": "memory", "properties": { "name": "m" } });
    template["resources"]["Chan"]["properties"]["agent_id"] = json!({ "ref": "Memory" });
    let failed = world.create("s", &template).exits(1).json();
    assert_eq!(failed["error"]["code"], "VALIDATION_FAILED");
    assert_eq!(text(&failed["error"], "message"), "`agent_id` does not match \"^agent_\"");
    assert!(world.changes_asked().is_empty());
}

#[test]
fn the_types_that_exist_include_the_registered_ones() {
    let world = World::new();
    world.home.write("t.yaml", "resources:\n  A: { type: chanel, properties: {} }\n");
    let ran = world.home.run(&["validate-formation", "--template-file", "t.yaml"]).exits(1);
    let shown = ran.shown();
    assert!(shown.contains(", channel\""), "{shown}");
    assert!(shown.contains("did you mean `channel`?"), "{shown}");
}

/// Validating is for everybody who can log in; calling the operator's servers is not.
#[test]
fn handlers_are_asked_only_for_whoever_may_have_formations_checked() {
    let world = World::new();
    let _agent = world.home.agent();
    let password = b"correct horse\n";
    let user = world.home.run_fed(&["create-user", "--username", "ada"], password).ok().json();
    let login = world.home.run_fed(&["login", "--username", "ada"], password).ok().json();
    let validate = ["validate-formation", "--template", &one("a", "pigeon").to_string()];
    let as_ada = || world.home.run_with(&validate, &[("FORMWORK_TOKEN", text(&login, "token"))]);
    let unasked = as_ada().ok();
    assert!(unasked.shown().contains("handler-not-asked"), "{}", unasked.shown());
    assert!(world.asked().is_empty());
    let document = r#"{"statement": [{"effect": "Allow", "action": ["formations:ValidateFormation"]}]}"#;
    let policy = world.home.json(&["create-policy", "--name", "v", "--document", document]);
    let attach = ["attach-user-policies", text(&user, "id"), "--policy-id", text(&policy, "id")];
    world.home.run(&attach).ok();
    as_ada().exits(1);
    assert_eq!(world.asked(), ["validate"]);
}

/// "A custom resource type has no SOAT action to check, so it stays gated on the request's
/// formations:* action alone" (seed 4); what stands beside it takes its own.
#[test]
fn a_custom_type_takes_the_permission_for_formations_alone() {
    let world = World::new();
    let _agent = world.home.agent();
    let password = b"correct horse\n";
    let user = world.home.run_fed(&["create-user", "--username", "ada"], password).ok().json();
    let login = world.home.run_fed(&["login", "--username", "ada"], password).ok().json();
    let document = r#"{"statement": [{"effect": "Allow", "action": ["formations:*"]}]}"#;
    let policy = world.home.json(&["create-policy", "--name", "f", "--document", document]);
    let attach = ["attach-user-policies", text(&user, "id"), "--policy-id", text(&policy, "id")];
    world.home.run(&attach).ok();
    let project = text(&world.home.json(&["list-projects"])["data"][0], "id").to_owned();
    let as_ada = |arguments: &[&str]| {
        let in_project = [arguments, &["--project-id", &project]].concat();
        world.home.run_with(&in_project, &[("FORMWORK_TOKEN", text(&login, "token"))])
    };
    let mut template = one("a", "sms");
    let made = as_ada(&["create-formation", "--name", "s", "--template", &template.to_string()]).ok().json();
    assert_eq!(made["status"], "active", "{made:#}");
    template["resources"]["Kb"] = json!({ "type": "memory", "properties": { "name": "kb" } });
    let template = template.to_string();
    let refused = as_ada(&["create-formation", "--name", "t", "--template", &template]).exits(5);
    assert!(refused.stderr.contains("Kb (memories:CreateMemory)"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("Chan"), "{}", refused.stderr);
    assert_eq!(world.channels(), ["chan_1"], "a refusal changes nothing");
}
