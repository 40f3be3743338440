//! What the template language has beyond the reference: constraints on parameters, protection,
//! keeping what a failed deploy made, and its JSON Schema.

use crate::common::{Home, pairs, text};
use crate::golden;
use formwork_formation::{Limits, parse};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const CONSTRAINED: &str = "\
parameters:
  Size: { default: small, allowed_values: [small, large], max_length: 5 }
  Name: { pattern: '[a-z]+', min_length: 3 }
  Key: { no_echo: true, pattern: 'sk-[0-9]+' }
resources:
  Memory: { type: memory, properties: { name: { param: Name }, description: { param: Size } } }
  Secret: { type: secret, properties: { name: s, value: { param: Key } } }
";

#[test]
fn values_that_violate_their_constraints_are_refused_all_at_once() {
    let home = Home::new();
    home.write("a.yaml", CONSTRAINED);
    let wrong = r#"{"Size": "largest", "Name": "A", "Key": "canary-7d2e"}"#;
    let commands: [&[&str]; 3] =
        [&["validate-formation"], &["plan-formation"], &["create-formation", "--name", "s"]];
    for command in commands {
        let arguments = [command, &["--template-file", "a.yaml", "--parameters", wrong]].concat();
        let ran = home.run(&arguments).exits(1);
        assert!(!ran.shown().contains("canary"), "{}", ran.shown());
        golden!(format!("constraints of {}", command[0].replace('-', "_")), ran.shown());
    }
    let right = r#"{"Size": "large", "Name": "abc", "Key": "sk-1"}"#;
    let id = text(&home.deploy("s", "a.yaml", &["--parameters", right]), "id").to_owned();
    let update = ["update-formation", &id, "--template-file", "a.yaml", "--parameter", "Name=AB"];
    let ran = home.run(&update).exits(1);
    assert!(ran.stderr.contains("Parameter 'Name' must match the pattern '[a-z]+'"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Parameter 'Name' must have at least 3 characters"), "{}", ran.stderr);
    assert_eq!(home.objects().len(), 2);
}

const PROTECTED: &str = "\
resources:
  Kept: { type: memory, deletion_policy: protect, properties: { name: kept } }
  Other: { type: memory, properties: { name: other } }
";

#[test]
fn a_protected_resource_is_neither_deleted_nor_replaced_until_the_protection_is_taken_off() {
    let home = Home::new();
    home.write("a.yaml", PROTECTED);
    let id = text(&home.deploy("s", "a.yaml", &[]), "id").to_owned();
    let before = home.objects();

    home.write("removed.yaml", PROTECTED.replace("  Kept: {", "  Renamed: {"));
    home.write(
        "retyped.yaml",
        PROTECTED.replace(
            "{ type: memory, deletion_policy: protect, properties: { name: kept } }",
            "{ type: secret, deletion_policy: protect, properties: { name: kept, value: v } }",
        ),
    );
    for (template, name) in
        [("removed.yaml", "protected and removed"), ("retyped.yaml", "protected and replaced")]
    {
        let update = ["update-formation", &id, "--template-file", template];
        golden!(name, home.run(&update).exits(1).shown());
    }
    golden!("protected and torn down", home.run(&["delete-formation", &id]).exits(1).shown());
    assert_eq!(home.objects(), before);
    assert_eq!(home.json(&["get-formation", &id])["status"], "active");

    // Changing it in place is no replacement.
    home.write("a.yaml", PROTECTED.replace("{ name: kept }", "{ name: kept, description: d }"));
    home.redeploy(&id, "a.yaml", &[]);
    home.write("a.yaml", PROTECTED.replace("protect", "delete"));
    home.redeploy(&id, "a.yaml", &[]);
    home.write("a.yaml", "resources:\n  Other: { type: memory, properties: { name: other } }\n");
    home.redeploy(&id, "a.yaml", &[]);
    assert_eq!(home.objects().len(), 1);
    home.run(&["delete-formation", &id]).ok();
    assert_eq!(home.objects(), Vec::<Value>::new());
}

/// `Broken` names a secret that is not there.
const FAILING: &str = "\
resources:
  Memory: { type: memory, properties: { name: facts } }
  Broken:
    type: ai_provider
    depends_on: [Memory]
    properties: { name: main, provider: openai, default_model: m, secret_id: sec_AAAAAAAAAAAAAAAA }
  After: { type: tool, depends_on: [Broken], properties: { name: late, type: client } }
  Apart: { type: tool, depends_on: [Memory], properties: { name: apart, type: client } }
";

#[test]
fn what_a_failed_deploy_made_is_kept_where_that_is_asked_for() {
    let home = Home::new();
    home.write("a.yaml", FAILING);
    let create = ["create-formation", "--name", "s", "--template-file", "a.yaml", "--on-failure"];
    let ran = home.run(&[&create[..], &["keep"]].concat()).exits(1);
    let formation = ran.json();
    assert_eq!(
        (&formation["status"], text(&formation["error"]["meta"], "logical_id")),
        (&"failed".into(), "Broken")
    );
    let id = text(&formation, "id");
    let events = home.last_events(id);
    assert!(events.iter().all(|(_, action)| !action.contains("rollback")), "{events:?}");
    assert_eq!(home.objects().len(), 2, "Memory and Apart");
    home.write("a.yaml", FAILING.replace(", secret_id: sec_AAAAAAAAAAAAAAAA", ""));
    assert_eq!(
        home.changes(id, "a.yaml"),
        pairs(&[("Memory", "no-op"), ("Broken", "create"), ("Apart", "no-op"), ("After", "create")])
    );

    // A failed update keeps too; one that is not told to rolls what it created back.
    home.write(
        "b.yaml",
        FAILING.replace("  Apart:", "  New: { type: memory, properties: { name: new } }\n  Apart:"),
    );
    let update = ["update-formation", id, "--template-file", "b.yaml"];
    home.run(&update).exits(1);
    assert_eq!(home.objects().len(), 2);
    home.run(&[&update[..], &["--on-failure", "keep"]].concat()).exits(1);
    assert_eq!(home.objects().len(), 3);
    assert_eq!(home.redeploy(id, "a.yaml", &[])["status"], "active");
    assert_eq!(home.objects().len(), 4);
}

#[test]
fn what_a_failure_means_is_part_of_the_plan_that_is_approved() {
    let home = Home::new();
    home.write("a.yaml", "resources:\n  M: { type: memory, properties: { name: m } }\n");
    let _agent = home.agent();
    let planned = |more: &[&str]| {
        let plan = home.json(&[&["plan-formation", "--template-file", "a.yaml"], more].concat());
        text(&plan, "plan_hash").to_owned()
    };
    assert_eq!(planned(&[]), planned(&["--on-failure", "rollback"]));
    let hash = planned(&["--on-failure", "keep"]);
    let create = ["create-formation", "--name", "s", "--template-file", "a.yaml", "--plan-hash", &hash];
    let refused = home.run(&create).exits(3);
    assert!(refused.stderr.contains("PLAN_OUTDATED"), "{}", refused.stderr);
    home.run(&[&create[..], &["--on-failure", "keep"]].concat()).ok();
    home.run(&[&create[..], &["--on-failure", "stop"]].concat()).exits(2);
}

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Paths that a schema refuses in a template.
fn refused(validator: &jsonschema::Validator, template: &str) -> Vec<String> {
    let document = parse("t.yaml", template.as_bytes(), &Limits::default()).expect("it parses").value;
    validator.iter_errors(&document).map(|error| error.instance_path().to_string()).collect()
}

#[test]
fn the_json_schema_takes_the_examples_and_refuses_what_is_wrong_in_them() {
    let mut home = Home::new();
    home.set(
        "FORMATION_RESOURCE_TYPES_CONFIG",
        example("custom-type/resource-types.json").display().to_string(),
    );
    home.set("CHANNEL_HANDLER_SECRET", "s3cret");
    let schema = home.json(&["formation-schema"]);
    assert!(!home.data().exists(), "the schema creates nothing");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let bot = fs::read_to_string(example("support-bot/formation.yaml")).expect("the example");
    let channel = fs::read_to_string(example("custom-type/template.yaml")).expect("the example");
    assert_eq!(refused(&validator, &bot), Vec::<String>::new());
    assert_eq!(refused(&validator, &channel), Vec::<String>::new());
    assert_eq!(refused(&validator, PROTECTED), Vec::<String>::new());
    assert_eq!(refused(&validator, CONSTRAINED), Vec::<String>::new());

    let wrong = |from: &str, to: &str| {
        assert!(bot.contains(from), "the example has `{from}`");
        refused(&validator, &bot.replacen(from, to, 1))
    };
    assert_eq!(wrong("provider: ", "provider: nobody # "), ["/resources/Provider/properties/provider"]);
    assert_eq!(wrong("provider: ", "providre: "), ["/resources/Provider/properties"; 2]);
    assert_eq!(wrong("default_model: ", "default_modle: "), ["/resources/Provider/properties"]);
}
