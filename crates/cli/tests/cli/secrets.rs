//! The canaries: secrets of every kind through every command, and nowhere to be found afterwards
//! (INV-9).

use crate::common::{Home, Ran, text};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::fs;
use std::path::Path;

const PARAMETER: &str = "Zq7PaRaMcAnArYk3vXw9LmT2";
const ENV_FILE: &str = "Hu4EnVcAnArYs8dQyB6nRj1W";
const LITERAL: &str = "Ob5LiTcAnArYg2fKzE7pVx4C";
const HEADER: &str = "Ty9HeAdCaNaRy6wMrU3hJq8S";
const DIRECT: &str = "Vk1DiReCaNaRyc5bXtN0zPe7";
const ROTATED: &str = "Wx8RoTaCaNaRyq4jLsD2mGh6";
const CANARIES: [&str; 6] = [PARAMETER, ENV_FILE, LITERAL, HEADER, DIRECT, ROTATED];

fn template(more: &str) -> String {
    format!(
        "\
parameters:
  Key:
    type: string
    no_echo: true
    use_previous_value: true
  Other:
    type: string
    no_echo: true
    use_previous_value: true
resources:
  FromParameter:
    type: secret
    properties:
      name: one
      value: {{ param: Key }}
  FromEnvFile:
    type: secret
    properties:
      name: two
      value: {{ param: Other }}
  FromLiteral:
    type: secret
    properties:
      name: three
      value: {LITERAL}
  Tool:
    type: tool
    properties:
      name: call
      type: http
      execute:
        url: https://example.com
        method: GET
        headers:
          Authorization: Bearer {HEADER}
          X-Key:
            sub: 'Key ${{Key}}'
{more}"
    )
}

const FAILS: &str = "\
  Fails:
    type: ai_provider
    depends_on: [FromParameter, FromEnvFile, FromLiteral, Tool]
    properties:
      name: p
      provider: openai
      default_model: m
      secret_id: sec_AAAAAAAAAAAAAAAA
";
const INVALID: &str = "\
  Wrong:
    type: secret
    properties:
      nmae: x
";

/// Every spelling in which a canary must not be found.
fn spellings(canary: &str) -> Vec<Vec<u8>> {
    let hex = canary.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let mut all = vec![canary.as_bytes().to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes()];
    for shift in 0..3 {
        // What comes before moves the groups; the first and the last also hold bits of neighbours.
        let shifted = [&b"\0\0"[..shift], canary.as_bytes()].concat();
        for encoded in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            all.push(encoded.as_bytes()[4..encoded.len() - 4].to_vec());
        }
    }
    all
}

fn found(bytes: &[u8]) -> Vec<&'static str> {
    let contains = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    CANARIES
        .into_iter()
        .filter(|canary| spellings(canary).iter().any(|spelling| contains(spelling)))
        .collect()
}

fn search(directory: &Path, hits: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            search(&path, hits);
        } else if path.is_file() {
            let canaries = found(&fs::read(&path).expect("readable"));
            hits.extend(canaries.into_iter().map(|canary| format!("{canary} in {}", path.display())));
        }
    }
}

struct Watched<'h> {
    home: &'h Home,
    hits: Vec<String>,
}

impl Watched<'_> {
    /// Runs a command and searches what it wrote.
    fn run(&mut self, arguments: &[&str], code: i32) -> Ran {
        let environment = [("FORMWORK_LOG", "trace"), ("API_KEY", PARAMETER)];
        let ran = self.home.run_with(arguments, &environment).exits(code);
        for (stream, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
            let canaries = found(text.as_bytes());
            let hit = |canary| format!("{canary} in {stream} of {}", arguments.join(" "));
            self.hits.extend(canaries.into_iter().map(hit));
        }
        ran
    }
}

#[test]
fn the_search_finds_what_is_there() {
    assert_eq!(found(format!("x{LITERAL}").as_bytes()), [LITERAL]);
    for before in ["", "a", "ab", "abc"] {
        let encoded = STANDARD_NO_PAD.encode(format!("{before}{HEADER}yz"));
        assert_eq!(found(encoded.as_bytes()), [HEADER], "{encoded}");
    }
    assert_eq!(found(b"nothing"), Vec::<&str>::new());
}

/// With an agent that logs everything, and without one.
#[test]
fn no_secret_is_found_in_any_output_log_or_file() {
    for resident in [false, true] {
        let home = Home::new();
        let agent = resident.then(|| home.agent_with(&[], &[("FORMWORK_LOG", "trace")]));
        let mut watched = Watched { home: &home, hits: Vec::new() };
        through_every_command(&mut watched);
        let mut hits = watched.hits;
        search(&home.data(), &mut hits);
        if let Some(agent) = agent {
            home.run(&["agent", "stop"]).ok();
            agent.ended();
            let log = fs::read(home.path().join("agent.log")).expect("the agent's log");
            assert!(
                String::from_utf8_lossy(&log).contains("TRACE")
                    || String::from_utf8_lossy(&log).contains("INFO")
            );
            hits.extend(found(&log).into_iter().map(|canary| format!("{canary} in the agent's log")));
            search(&home.data(), &mut hits);
        }
        hits.sort();
        hits.dedup();
        assert_eq!(hits, Vec::<String>::new(), "with an agent: {resident}");
    }
}

fn through_every_command(watched: &mut Watched<'_>) {
    let home = watched.home;
    home.write("good.yaml", template(""));
    home.write("fails.yaml", template(FAILS));
    home.write("invalid.yaml", template(INVALID));
    home.write(".env", format!("OTHER={ENV_FILE}\n"));
    let given = ["--parameter", "Key=$API_KEY", "--parameter", "Other=@OTHER", "--env-file", ".env"];
    let with = |arguments: &[&'static str]| [arguments, &given].concat();

    watched.run(&with(&["validate-formation", "--template-file", "good.yaml"]), 0);
    watched.run(&with(&["validate-formation", "--template-file", "invalid.yaml"]), 1);
    watched.run(&with(&["plan-formation", "--template-file", "good.yaml"]), 0);
    watched.run(&["graph", "--template-file", "good.yaml"], 0);
    watched.run(&with(&["create-formation", "--name", "i", "--template-file", "invalid.yaml"]), 1);
    watched.run(
        &with(&["create-formation", "--name", "f", "--template-file", "fails.yaml", "--progress", "json"]),
        1,
    );
    watched.run(
        &with(&["create-formation", "--name", "g", "--template-file", "fails.yaml", "--progress", "plain"]),
        1,
    );
    let bag = format!(r#"{{"Key": "{PARAMETER}", "Other": "{ENV_FILE}"}}"#);
    let create = ["create-formation", "--name", "s", "--template-file", "good.yaml", "--progress", "plain"];
    let created = watched.home.run(&[&create[..], &["--parameters", &bag]].concat()).ok();
    let id = text(&created.json(), "id").to_owned();

    let rotated = format!("Key={ROTATED}");
    let update = ["update-formation", "--formation-id", &id, "--template-file", "good.yaml"];
    watched.run(
        &[
            &["plan-formation", "--formation-id", &id, "--template-file", "good.yaml"][..],
            &["--parameter", &rotated],
        ]
        .concat(),
        0,
    );
    let ran = home.run(&[&update[..], &["--parameter", &rotated, "--progress", "json"]].concat()).ok();
    for text in [&created.stdout, &created.stderr, &ran.stdout, &ran.stderr] {
        watched.hits.extend(
            found(text.as_bytes()).into_iter().map(|canary| format!("{canary} in a deploy's output")),
        );
    }
    watched.run(&[&update[..], &["--progress", "plain"]].concat(), 0);
    let failing = ["update-formation", "--formation-id", &id, "--template-file", "fails.yaml"];
    watched.run(&failing, 1);
    watched.run(&update, 0);

    let secret = home.run(&["create-secret", "--name", "direct", "--value", DIRECT]).ok();
    watched.hits.extend(
        found(secret.shown().as_bytes()).into_iter().map(|canary| format!("{canary} in create-secret")),
    );
    let secret = text(&secret.json(), "id").to_owned();
    watched.run(&["get-secret", &secret], 0);
    watched.run(&["update-secret", &secret, "--name", "renamed"], 0);
    for list in ["list-secrets", "list-tools", "list-formations", "list-tokens", "list-projects"] {
        watched.run(&[list], 0);
    }
    for tool in home.all(&["list-tools"]) {
        watched.run(&["get-tool", text(&tool, "id")], 0);
    }
    watched.run(&["get-formation", &id], 0);
    let events = watched.run(&["list-formation-events", &id], 0).json();
    for operation in events["data"].as_array().expect("operations") {
        watched.run(&["get-operation", text(operation, "id")], 0);
        watched.run(
            &["watch-operation", text(operation, "id"), "--progress", "json"],
            i32::from(operation["status"] == "failed"),
        );
    }
    watched.run(&["delete-secret", &secret], 0);
    watched.run(&["delete-formation", &id], 0);
}

#[test]
fn a_drawn_line_of_the_template_shows_no_literal_credential() {
    let home = Home::new();
    let drawn = |template: &str| {
        home.write("a.yaml", template);
        let ran = home.run(&["create-formation", "--name", "s", "--template-file", "a.yaml"]);
        assert_ne!(ran.code, Some(0), "{template}");
        assert!(ran.stderr.contains("-->"), "a place is drawn: {}", ran.stderr);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains(LITERAL), "{all}");
        ran.stderr
    };
    let in_flow =
        format!("resources:\n  S: {{ type: secret, properties: {{ nmae: x, value: {LITERAL} }} }}\n");
    assert!(drawn(&in_flow).contains("{ type: secret, properties: { nmae: *, value: ******"));
    // Misspelt, of a type that is not known, in a header, and where nothing can be read.
    drawn(&format!("resources:\n  S: {{ type: secret, properties: {{ name: x, valeu: {LITERAL} }} }}\n"));
    drawn(&format!("resources:\n  S: {{ type: secert, properties: {{ name: x, value: {LITERAL} }} }}\n"));
    drawn(&format!(
        "resources:\n  T: {{ type: tool, properties: {{ nmae: x, type: http, execute: {{ url: 'https://x', \
         headers: {{ Authorization: {LITERAL} }} }} }} }}\n"
    ));
    drawn(&format!("resources:\n  S: {{ type: secret, properties: {{ name: x, value: '{LITERAL} }} }}\n"));
}
