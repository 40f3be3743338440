//! Templates that were made to hurt: a clear error with its place, or success, in bounded memory
//! (INV-18).

use crate::common::{Home, Ran, finish, many};
use crate::golden;
use std::fmt::Write as _;
use std::process::Command;

/// The most address space of a command, in KiB.
const MEMORY: &str = "2097152";

/// Runs a command that may not have more than so much memory.
fn bounded(home: &Home, line: &str) -> Ran {
    let binary = env!("CARGO_BIN_EXE_formwork");
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {MEMORY}; exec {binary} {line}")])
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        // Each processor's arena reserves address space; that is no use of memory.
        .env("MALLOC_ARENA_MAX", "2")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(command.spawn().expect("it starts"))
}

fn bomb() -> String {
    let mut text = String::from("resources: {}\nmetadata:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(text, "  a{level}: &a{level} [{aliases}]");
    }
    text
}

#[test]
fn each_hostile_template_is_refused_with_its_place() {
    let home = Home::new();
    let deep = 100_000;
    let utf16: Vec<u8> = "\u{feff}resources: {}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let templates: [(&str, Vec<u8>); 14] = [
        ("deep.json", format!("{{\"resources\": {}", "[".repeat(deep)).into_bytes()),
        ("deep-objects.json", format!("{{\"resources\": {}", "{\"a\":".repeat(deep)).into_bytes()),
        ("deep-flow.yaml", format!("resources: {}", "[".repeat(deep)).into_bytes()),
        ("deep-block.yaml", format!("resources:\n  {}", "- ".repeat(deep)).into_bytes()),
        ("bomb.yaml", bomb().into_bytes()),
        ("ring.yaml", b"resources: {}\nmetadata: &a { b: *a }\n".to_vec()),
        ("twice.json", b"{\"resources\": {}, \"resources\": {}}".to_vec()),
        ("nul.yaml", b"resources:\n  A: { type: mem\0ory }\n".to_vec()),
        ("utf16.yaml", utf16),
        ("latin1.yaml", b"resources:\n  A: { type: memory, properties: { name: caf\xe9 } }\n".to_vec()),
        (
            "credential.yaml",
            b"resources:\n  S: { type: secret, properties: { value: sk-canary, name: caf\xe9 } }\n".to_vec(),
        ),
        ("surrogate.json", b"{\"resources\": {}, \"metadata\": \"\\ud800\"}".to_vec()),
        (
            "number.json",
            format!("{{\"resources\": {{}}, \"metadata\": {{\"n\": 1e{}}}}}", "9".repeat(9)).into_bytes(),
        ),
        ("tag.yaml", b"resources: !!python/object:os.system {}\n".to_vec()),
    ];
    let mut shown = Vec::new();
    for (name, bytes) in templates {
        home.write(name, bytes);
        let ran = bounded(&home, &format!("validate-formation --template-file {name}"));
        let ran = ran.exits(1);
        shown.push(format!("=== {name}\n{}", ran.stderr));
    }
    let shown = shown.join("\n");
    assert!(!shown.contains("canary"), "{shown}");
    golden!("hostile templates", shown);
}

#[test]
fn a_file_of_50_mb_is_refused_before_it_is_read_whole() {
    let home = Home::new();
    home.write("big.yaml", vec![b'a'; 50 << 20]);
    let ran = bounded(&home, "validate-formation --template-file big.yaml").exits(1);
    assert_eq!(ran.stderr, "error: `big.yaml` is larger than 16777216 bytes, the most it may have\n");
    let ran = bounded(&home, "validate-formation --template-file /dev/zero").exits(1);
    assert!(ran.stderr.contains("larger than"), "{}", ran.stderr);
    let ran =
        bounded(&home, "validate-formation --template '{}' --env-file /dev/zero --parameter A").exits(1);
    assert!(ran.stderr.contains("larger than 1048576 bytes"), "{}", ran.stderr);
}

#[test]
fn a_template_of_ten_thousand_resources_is_validated_and_planned() {
    let home = Home::new();
    home.write("many.json", many(10_000));
    let ran = bounded(&home, "validate-formation --template-file many.json").ok();
    assert_eq!(ran.json()["valid"], true);
    let ran = bounded(&home, "plan-formation --template-file many.json").ok();
    assert_eq!(ran.json()["changes"].as_array().map(Vec::len), Some(10_000));
    assert!(ran.stderr.starts_with("Plan   10000 to create\n"));
}

#[test]
fn an_error_in_every_one_of_many_resources_is_cut_short() {
    let home = Home::new();
    let resource = |index| format!("  R{index}: {{ type: memry, properties: {{ nmae: x }} }}\n");
    let resources: Vec<_> = (0..20_000).map(resource).collect();
    home.write("a.yaml", format!("resources:\n{}", resources.concat()));
    let ran = bounded(&home, "validate-formation --template-file a.yaml").exits(1);
    let errors = ran.json()["errors"].as_array().map(Vec::len).expect("errors");
    assert!((1..=20_000).contains(&errors), "{errors}");
}
