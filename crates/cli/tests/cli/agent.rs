//! The agent: one process serves a data directory, and every command finds it.

use crate::common::{Home, finish, many, signal, text, wait_for};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn an_agent_is_started_asked_and_stopped() {
    let home = Home::new();
    assert_eq!(home.run(&["agent", "status"]).exits(1).json(), json!({"running": false}));
    assert_eq!(home.run(&["agent", "stop"]).ok().stderr, "agent: not running\n");
    assert!(!home.data().exists(), "asking creates nothing");

    let agent = home.agent();
    let status = home.json(&["agent", "status"]);
    assert_eq!((&status["running"], &status["resident"]), (&json!(true), &json!(true)));
    assert_eq!(status["pid"], agent.pid());
    let second = home.run(&["agent", "start"]).exits(1);
    assert_eq!(second.stderr, format!("error: the agent runs already (pid {})\n", agent.pid()));

    home.run(&["create-memory", "--name", "m"]).ok();
    assert_eq!(home.run(&["agent", "stop"]).ok().stderr, "agent: stopped\n");
    assert_eq!(agent.ended(), Some(0));
    home.run(&["agent", "status"]).exits(1);
    assert_eq!(home.all(&["list-memories"]).len(), 1, "what it stored is still there");
}

#[test]
fn an_agent_ends_on_a_signal() {
    for ending in [Signal::INT, Signal::TERM] {
        let home = Home::new();
        let child = home.command(&["agent", "start"]).spawn().expect("it starts");
        wait_for("the agent", || {
            home.run(&["agent", "status"]).code == Some(0) && home.data().join("agent.sock").exists()
        });
        signal(&child, ending);
        let ran = finish(child).ok();
        assert!(ran.stderr.ends_with("agent: stopped\n"), "{}", ran.stderr);
    }
}

#[test]
fn a_socket_can_be_named_and_needs_the_token() {
    let home = Home::new();
    let _agent = home.agent();
    home.run(&["create-memory", "--name", "m"]).ok();
    let url = format!("unix:{}", home.data().join("agent.sock").display());
    let token = std::fs::read_to_string(home.data().join("admin.token")).expect("the token file");
    let elsewhere = Home::new();
    let ran =
        elsewhere.run_with(&["list-memories"], &[("FORMWORK_URL", &url), ("FORMWORK_TOKEN", token.trim())]);
    assert_eq!(ran.ok().json()["total"], 1);
    let refused = elsewhere.run_with(&["list-memories"], &[("FORMWORK_URL", &url)]).exits(5);
    assert!(refused.stderr.contains("UNAUTHORIZED"), "{}", refused.stderr);
    assert!(!elsewhere.data().exists());
}

#[test]
fn an_agent_may_listen_on_a_port_of_this_machine_alone() {
    let home = Home::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|it| it.local_addr())
        .expect("a free port")
        .port();
    let refused = home.run(&["agent", "start", "--listen", &format!("0.0.0.0:{port}")]).exits(1);
    assert!(refused.stderr.contains("it can be reached from other machines"), "{}", refused.stderr);
    let address = format!("127.0.0.1:{port}");
    let _agent = home.agent_with(&["--listen", &address], &[]);
    let token = std::fs::read_to_string(home.data().join("admin.token")).expect("the token file");
    let ran = home.run_with(
        &["list-memories"],
        &[("SOAT_BASE_URL", &format!("http://{address}")), ("SOAT_TOKEN", token.trim())],
    );
    assert_eq!(ran.ok().json()["total"], 0);
}

#[test]
fn a_deploy_that_nobody_waits_for_goes_on_and_can_be_watched() {
    let home = Home::new();
    let _agent = home.agent();
    home.write("many.json", many(60));
    let begun = home.json(&["create-formation", "--name", "s", "--template-file", "many.json", "--no-wait"]);
    let watched = home.run(&["watch-operation", text(&begun, "operation_id"), "--progress", "json"]).ok();
    assert_eq!(watched.json()["status"], "succeeded");
    let events: Vec<serde_json::Value> =
        watched.stderr.lines().map(|line| serde_json::from_str(line).expect("one document a line")).collect();
    let created = events.iter().filter(|event| event["action"] == "create" && event["status"] == "succeeded");
    assert_eq!(created.count(), 60);
    assert_eq!(home.json(&["get-formation", text(&begun, "formation_id")])["status"], "active");
    let torn = home.json(&["delete-formation", text(&begun, "formation_id"), "--no-wait"]);
    home.run(&["watch-operation", "--id", text(&torn, "operation_id")]).ok();
    assert!(home.objects().is_empty());
}

#[test]
fn an_embedded_deploy_that_nobody_waits_for_is_finished_before_its_process_ends() {
    let home = Home::new();
    home.write("many.json", many(20));
    let begun = home.json(&["create-formation", "--name", "s", "--template-file", "many.json", "--no-wait"]);
    assert_eq!(home.json(&["get-formation", text(&begun, "formation_id")])["status"], "active");
}

#[test]
fn a_process_that_serves_itself_serves_others_meanwhile() {
    let home = Home::new();
    home.write("many.json", many(400));
    let arguments = ["create-formation", "--name", "s", "--template-file", "many.json"];
    let deploy = home.command(&arguments).spawn().expect("it starts");
    wait_for("a command through the other process", || {
        let page = home.run(&["list-formations"]);
        page.code == Some(0) && page.json()["data"][0]["status"] == "creating"
    });
    home.run(&["create-document", "--title", "beside", "--content", "x"]).ok();
    assert_eq!(finish(deploy).ok().json()["status"], "active");
    assert_eq!(home.objects().len(), 401);
}

#[test]
fn reading_where_nothing_is_stored_creates_nothing() {
    let home = Home::new();
    home.write("a.yaml", "resources:\n  M: {type: memory, properties: {name: m}}\n");
    for line in [
        "list-formations",
        "list-agents",
        "list-projects",
        "list-tokens",
        "validate-formation --template-file a.yaml",
        "plan-formation --template-file a.yaml",
        "graph --template-file a.yaml",
        "explain",
        "plugin list",
        "completions bash",
        "list-commands",
    ] {
        home.run(&line.split(' ').collect::<Vec<_>>()).ok();
        assert!(!home.data().exists(), "{line}");
    }
    home.run(&["get-formation", "form_AAAAAAAAAAAAAAAA"]).exits(1);
    assert!(!home.data().exists());
}

#[test]
fn what_is_stored_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let _agent = home.agent();
    home.run(&["create-memory", "--name", "m"]).ok();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&home.data()), 0o700);
    for entry in std::fs::read_dir(home.data()).expect("readable") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}
