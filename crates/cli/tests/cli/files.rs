//! Commands beyond CRUD: bytes of files, price lists, graphs.

use crate::common::{Home, text};
use serde_json::json;

#[test]
fn a_file_goes_up_and_comes_down_byte_by_byte() {
    let home = Home::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    home.write("data.bin", &bytes);
    let upload = ["upload-file", "--path", "data.bin", "--prefix", "/in", "--content-type", "text/x"];
    let file = home.json(&[&upload[..], &["--tags", r#"{"team": "a"}"#]].concat());
    assert_eq!(
        (&file["filename"], &file["size"], &file["content_type"], &file["tags"]),
        (&json!("data.bin"), &json!(70_000), &json!("text/x"), &json!({ "team": "a" }))
    );
    let id = text(&file, "id");
    let told = home.json(&["download-file", id, "--output", "back.bin"]);
    assert_eq!(
        told,
        json!({ "path": "back.bin", "size": 70_000, "filename": "data.bin", "content_type": "text/x" })
    );
    assert_eq!(std::fs::read(home.path().join("back.bin")).expect("written"), bytes);
    let piped =
        home.run_fed(&["upload-file", "--path", "-", "--filename", "said.txt"], b"piped\n").ok().json();
    assert_eq!(home.run(&["download-file", "--file-id", text(&piped, "id")]).ok().stdout, "piped\n");
}

#[test]
fn what_is_no_file_or_too_much_of_one_is_told() {
    let home = Home::new();
    let missing = home.run(&["upload-file", "--path", "nowhere.bin"]).exits(1);
    assert!(missing.stderr.contains("cannot read `nowhere.bin`"), "{}", missing.stderr);
    home.write("large.bin", vec![0_u8; (5 << 20) + 1]);
    let large = home.run(&["upload-file", "--path", "large.bin"]).exits(1);
    assert!(large.stderr.contains("`large.bin` is larger than 5242880 bytes"), "{}", large.stderr);
    let unknown = home.run(&["download-file", "file_missing"]).exits(1);
    assert!(unknown.stderr.contains("RESOURCE_NOT_FOUND"), "{}", unknown.stderr);
    home.write("small.bin", "x");
    let file = home.json(&["upload-file", "--path", "small.bin"]);
    let astray = home.run(&["download-file", text(&file, "id"), "--output", "no/such/place"]).exits(1);
    assert!(astray.stderr.contains("cannot write `no/such/place`"), "{}", astray.stderr);
}

#[test]
fn a_pipe_is_not_waited_for_and_a_file_is_not_overwritten_unasked() {
    let home = Home::new();
    let pipe = home.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    for path in ["pipe", "."] {
        let refused = home.run(&["upload-file", "--path", path]).exits(1);
        assert!(refused.stderr.contains(&format!("`{path}` is no regular file")), "{}", refused.stderr);
    }
    home.write("small.bin", "new");
    let file = home.json(&["upload-file", "--path", "small.bin"]);
    home.write("mine.bin", "mine, and longer");
    let download = ["download-file", text(&file, "id"), "--output"];
    let refused = home.run(&[&download[..], &["mine.bin"]].concat()).exits(1);
    assert!(refused.stderr.contains("`mine.bin` is there already"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: `--force` overwrites it"), "{}", refused.stderr);
    let kept = || std::fs::read_to_string(home.path().join("mine.bin")).expect("a file");
    assert_eq!(kept(), "mine, and longer");
    home.run(&[&download[..], &["mine.bin", "--force"]].concat()).ok();
    assert_eq!(kept(), "new");
    home.run(&[&download[..], &["/dev/null"]].concat()).ok();
}

#[test]
fn a_price_list_is_set_and_shown_as_a_whole() {
    let home = Home::new();
    let project = home.json(&["create-project", "--name", "p"]);
    let id = text(&project, "id");
    let price = |model: &str| json!({ "provider": "openai", "model": model, "component": "input_tokens", "unit": "token", "unit_price": 1 });
    let prices = json!([price("a"), price("b")]).to_string();
    let set = home.json(&["update-project-prices", id, "--prices", &prices]);
    assert_eq!(set["data"].as_array().map(Vec::len), Some(2));
    let shown = home.json(&["get-project-prices", "--project-id", id, "--limit", "1"]);
    assert_eq!((&shown["total"], &shown["data"][0]["model"]), (&json!(2), &json!("a")));
    let wrong = home.run(&["update-project-prices", id, "--prices", "[{}"]).exits(2);
    assert!(wrong.stderr.contains("`--prices` is not JSON"), "{}", wrong.stderr);
}

#[test]
fn a_graph_is_checked_and_the_exit_code_says_how_it_went() {
    let home = Home::new();
    let check = |nodes: &str| home.run(&["validate-orchestration", "--nodes", nodes, "--edges", "[]"]);
    let good = check(r#"[{"id": "a", "type": "human"}]"#).ok();
    assert_eq!(good.json()["valid"], json!(true));
    let bad = check(r#"[{"id": "a", "type": "agent"}]"#).exits(1);
    assert_eq!(bad.json()["valid"], json!(false));
    assert!(bad.stderr.contains("missing required field 'agent_id'"), "{}", bad.stderr);
    let home = Home::called("soat");
    let nodes = r#"[{"id": "a", "type": "agent"}]"#;
    let bad = home.run(&["validate-orchestration", "--nodes", nodes, "--edges", "[]"]).ok();
    assert_eq!(bad.json()["valid"], json!(false), "the outcome is the payload");
}
