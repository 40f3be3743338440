//! Errors, as people read them: what, where, what would help.

use crate::common::Home;
use crate::golden;

const BROKEN_YAML: &str = "\
parameters:
  Unused: { type: string, default: x }
resources:
  Bot:
    type: agent
    properties:
      nmae: Support Bot
      ai_provider_id: { ref: Provder }
      max_steps: many
  Provider:
    type: ai_provider
    properties:
      base_url: https://models.test
      provider: openia
  Odd:
    type: agnt
    properties: {}
outputs:
  id: { ref: Nobody }
";

const BROKEN_JSON: &str = r#"{
  "resources": {
    "Bot": {
      "type": "agent",
      "properties": { "nmae": "Support Bot", "ai_provider_id": { "ref": "Provder" } }
    },
    "Provider": { "type": "ai_provider", "properties": { "base_url": "https://models.test", "provider": "openia" } }
  }
}
"#;

#[test]
fn all_errors_of_a_template_are_told_at_once_with_their_places() {
    let home = Home::new();
    home.write("bot.yaml", BROKEN_YAML);
    home.write("bot.json", BROKEN_JSON);
    home.write("cut.yaml", "resources:\n  A: {type: memory\n");
    home.write("cut.json", "{\"resources\": {\"A\": }}");
    home.write("twice.yaml", "resources:\n  A: {type: memory}\n  A: {type: secret}\n");
    home.write("ring.yaml", "resources:\n  A: {type: memory, properties: {name: a}, depends_on: [B]}\n  B: {type: memory, properties: {name: b}, depends_on: [A]}\n");
    for file in ["bot.yaml", "bot.json", "cut.yaml", "cut.json", "twice.yaml", "ring.yaml"] {
        let ran = home.run(&["validate-formation", "--template-file", file]).exits(1);
        golden!(format!("validate {file}"), ran.shown());
    }
    let ran = home.run(&["create-formation", "--name", "bot", "--template-file", "bot.yaml"]).exits(1);
    assert_eq!(ran.stdout, "");
    golden!("create of a broken template", ran.shown());
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_would_be_right() {
    let home = Home::new();
    home.write("a.yaml", "resources: {}");
    let shown: Vec<_> = [
        "",
        "lst-agents",
        "get-formation",
        "list-agents --limt 3",
        "create-formation --template-file a.yaml",
        "create-formation --name x",
        "validate-formation --template {} --template-file a.yaml",
        "validate-formation --template-file a.yaml --template-path a.yaml",
        "validate-formation --template {} --parameter A=1 --parameters {}",
        "validate-formation --template {} --parameter =1",
        "validate-formation --template {} --parameter A=$NOWHERE",
        "validate-formation --template {} --parameters [sk-canary",
        "create-formation --name x --template {} --metadata {sk-canary",
        "create-agent --max-steps many",
        "create-agent --tool-bindings {}",
        "graph --format svg --template {}",
        "explain unknown-proprety",
        "explain zzzzzzzzzzzz",
        "configure",
        "configure --token t",
    ]
    .into_iter()
    .map(|line| {
        let arguments: Vec<_> = line.split(' ').filter(|word| !word.is_empty()).collect();
        let ran = home.run(&arguments).exits(2);
        assert!(!ran.stderr.contains("sk-canary"), "a value is shown: {}", ran.stderr);
        format!("$ formwork {line}\n{}", ran.shown())
    })
    .collect();
    golden!("wrong usage", shown.join("\n"));
}

#[test]
fn called_as_soat_every_failure_exits_with_1() {
    let home = Home::called("soat");
    for line in ["get-formation", "list-agents --nope", "no-such-command", "get-formation form_none"] {
        let arguments: Vec<_> = line.split(' ').collect();
        home.run(&arguments).exits(1);
    }
}

#[test]
fn what_stands_in_the_way_is_named_with_what_would_help() {
    let home = Home::new();
    home.write("empty.yaml", "\n");
    home.write("bad.env", "A=1\nsk-canary\n");
    let cases: [(&str, &[(&str, &str)]); 9] = [
        ("validate-formation --template-file nowhere.yaml", &[]),
        ("validate-formation --template-file empty.yaml", &[]),
        ("validate-formation --template {} --env-file bad.env", &[]),
        ("list-agents", &[("FORMWORK_URL", "http://127.0.0.1:1")]),
        ("list-agents", &[("FORMWORK_URL", "ftp://example.com")]),
        ("list-agents --profile nobody", &[]),
        ("list-agents", &[("FORMWORK_LOG", "loud")]),
        ("create-secret --name a --value b", &[("FORMWORK_DATABASE_URL", "mysql://h/d")]),
        ("get-agent agent_none", &[]),
    ];
    let shown: Vec<_> = cases
        .into_iter()
        .map(|(line, environment)| {
            let arguments: Vec<_> = line.split(' ').collect();
            let ran = home.run_with(&arguments, environment).exits(1);
            assert_eq!(ran.stdout, "");
            assert!(!ran.stderr.contains("sk-canary"), "a line of the env file is shown: {}", ran.stderr);
            format!("$ formwork {line}\n{}", ran.shown())
        })
        .collect();
    golden!("obstacles", shown.join("\n"));
}

#[test]
fn a_code_is_explained() {
    let home = Home::new();
    golden!("explain unknown-property", home.run(&["explain", "unknown-property"]).ok().stdout);
    let all = home.run(&["explain"]).ok().stdout;
    assert!(all.lines().count() > 50, "{all}");
    assert!(all.lines().any(|line| line.starts_with("OPERATION_IN_PROGRESS ")), "{all}");
}

#[test]
fn a_graph_is_drawn_in_three_forms() {
    let home = Home::new();
    home.write(
        "a.yaml",
        "resources:\n  M: {type: memory, properties: {name: m}}\n  E: {type: memory_entry, properties: {memory_id: {ref: M}, content: x}}\n  T: {type: tool, properties: {name: t, type: client}, depends_on: [E]}\n",
    );
    for format in ["mermaid", "dot", "json"] {
        let ran = home.run(&["graph", "--format", format, "--template-file", "a.yaml"]).ok();
        golden!(format!("graph {format}"), ran.shown());
    }
    assert!(!home.data().exists(), "drawing creates nothing");
}
