//! Parameters: every way to give them (seed 4, "Providing Parameter Values via the CLI").

use crate::common::{Home, text};
use serde_json::{Value, json};

const TEMPLATE: &str = "\
parameters:
  Url: { type: string, default: 'https://default' }
  Key: { type: string, default: none }
  FROM_ENV: { type: string, default: none }
resources:
  M: { type: memory, properties: { name: { param: Key }, description: { sub: '${Url}/x' } } }
outputs:
  url: { param: Url }
";

fn resolved(more: &[&str], environment: &[(&str, &str)]) -> Value {
    let home = Home::new();
    home.write("a.yaml", TEMPLATE);
    home.write(".env", "APP_URL=from-file\nBOTH=file\nFROM_ENV='quoted # text'\n");
    let arguments = [&["create-formation", "--name", "s", "--template-file", "a.yaml"], more].concat();
    let formation = home.run_with(&arguments, environment).ok().json();
    assert_eq!(formation["outputs"]["url"], formation["resolved_parameters"]["Url"]);
    formation["resolved_parameters"].clone()
}

#[test]
fn each_form_of_a_parameter_takes_its_value_from_where_it_says() {
    let environment = [("SHELL_URL", "from-shell"), ("BOTH", "shell")];
    assert_eq!(
        resolved(&["--parameter", "Url=$SHELL_URL", "--parameter", "Key=a=b c"], &environment),
        json!({"Url": "from-shell", "Key": "a=b c", "FROM_ENV": "none"})
    );
    assert_eq!(
        resolved(
            &[
                "--env-file",
                ".env",
                "--parameter",
                "Url=@APP_URL",
                "--parameter",
                "FROM_ENV",
                "--parameter",
                "Key=${BOTH}"
            ],
            &environment
        ),
        json!({"Url": "from-file", "Key": "file", "FROM_ENV": "quoted # text"}),
        "the file wins over the environment"
    );
    assert_eq!(
        resolved(&["--parameter", "Url=@NOWHERE", "--parameter", "FROM_ENV"], &environment),
        json!({"Url": "https://default", "Key": "none", "FROM_ENV": "none"}),
        "what is not set is left out"
    );
    assert_eq!(
        resolved(&["--parameters", r#"{"Url": "u", "Key": "k"}"#], &[]),
        json!({"Url": "u", "Key": "k", "FROM_ENV": "none"})
    );
}

#[test]
fn what_is_required_and_what_is_not_declared_is_said() {
    let home = Home::new();
    home.write("a.yaml", "parameters:\n  Need: { type: string }\nresources:\n  M: { type: memory, properties: { name: { param: Need } } }\n");
    let create = ["create-formation", "--name", "s", "--template-file", "a.yaml"];
    let missing = home.run(&create).exits(1);
    assert!(missing.stderr.contains("FORMATION_MISSING_PARAMETERS"), "{}", missing.stderr);
    let unset = home.run(&[&create[..], &["--parameter", "Need=@NOWHERE"]].concat()).exits(1);
    assert!(unset.stderr.contains("FORMATION_MISSING_PARAMETERS"), "{}", unset.stderr);
    home.run(&["validate-formation", "--template-file", "a.yaml"]).exits(0);
    home.run(&["validate-formation", "--template-file", "a.yaml", "--parameters", "{}"]).exits(1);
    assert_eq!(home.json(&["list-formations"])["total"], 0);
}

#[test]
fn a_stored_secret_is_kept_when_its_parameter_is_left_out_and_rotated_when_given() {
    let home = Home::new();
    home.write(
        "a.yaml",
        "parameters:\n  Key: { type: string, no_echo: true, use_previous_value: true }\nresources:\n  S: { type: secret, properties: { name: s, value: { param: Key } } }\n",
    );
    home.run(&["create-formation", "--name", "s", "--template-file", "a.yaml"]).exits(1);
    let formation = home.deploy("s", "a.yaml", &["--parameter", "Key=first"]);
    let id = text(&formation, "id");
    let action = |more: &[&str]| {
        home.redeploy(id, "a.yaml", more);
        home.last_events(id).remove(0).1
    };
    let before = home.objects();
    assert_eq!(action(&[]), "no-op");
    assert_eq!(action(&["--parameter", "Key=first"]), "no-op");
    assert_eq!(home.objects(), before);
    assert_eq!(action(&["--parameter", "Key=second"]), "update");
    assert_eq!(action(&["--parameter", "Key"]), "no-op");
}

#[test]
fn a_secret_that_nobody_holds_is_asked_for_when_its_resource_must_be_created() {
    let home = Home::new();
    let secrets = |labels: &[&str]| {
        let declare = |label: &&str| {
            format!("  {label}: {{ type: secret, properties: {{ name: {label}, value: {{ param: Key }} }} }}")
        };
        let declared = labels.iter().map(declare).collect::<Vec<_>>().join("\n");
        home.write(
            "a.yaml",
            format!(
                "parameters:\n  Key: {{ type: string, no_echo: true, use_previous_value: true }}\nresources:\n{declared}\n"
            ),
        );
    };
    secrets(&["Old"]);
    let id = text(&home.deploy("s", "a.yaml", &["--parameter", "Key=k"]), "id").to_owned();
    home.redeploy(&id, "a.yaml", &[]);
    secrets(&["Old", "New"]);
    let arguments = ["--formation-id", &id, "--template-file", "a.yaml"];
    for command in ["plan-formation", "update-formation"] {
        let refused = home.run(&[&[command], &arguments[..]].concat()).exits(1);
        for part in ["error[secret-unavailable]", "a.yaml:5:", "`New.value`", "supply the value"] {
            assert!(refused.stderr.contains(part), "{command}, {part}: {}", refused.stderr);
        }
    }
    home.redeploy(&id, "a.yaml", &["--parameter", "Key=k"]);
    // Deleted outside, it must be created again too.
    let deleted = home.all(&["list-secrets"]).into_iter().find(|secret| secret["name"] == "New");
    home.run(&["delete-secret", text(&deleted.expect("it was made"), "id")]).ok();
    let refused = home.run(&[&["plan-formation"], &arguments[..]].concat()).exits(1);
    assert!(refused.stderr.contains("error[secret-unavailable]"), "{}", refused.stderr);
}
