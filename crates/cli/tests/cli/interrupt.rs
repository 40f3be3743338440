//! Ctrl-C: once, twice, and with an agent.

use crate::common::{Home, Ran, finish, many, signal, text, wait_for};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::process::Child;

const CREATE: [&str; 7] =
    ["create-formation", "--name", "s", "--template-file", "many.json", "--progress", "plain"];

/// A deploy in a process of its own that has made some objects, its stderr in a file.
fn begun(home: &Home, made: usize) -> Child {
    home.write("many.json", many(400));
    let stderr = File::create(home.path().join("stderr")).expect("a file");
    let child = home.command(&CREATE).stderr(stderr).spawn().expect("it starts");
    wait_for("some of the objects", || said(home).matches('✓').count() >= made);
    child
}

fn said(home: &Home) -> String {
    fs::read_to_string(home.path().join("stderr")).unwrap_or_default()
}

fn ended(home: &Home, child: Child) -> Ran {
    let ran = finish(child);
    Ran { stderr: said(home), ..ran }
}

#[test]
fn the_first_ctrl_c_cancels_and_everything_is_rolled_back() {
    let home = Home::new();
    let child = begun(&home, 10);
    signal(&child, Signal::INT);
    let ran = ended(&home, child).exits(130);
    for part in ["canceling: nothing new starts", "✓ rollback memory Memory0", "canceled after", "CANCELED: "]
    {
        assert!(ran.stderr.contains(part), "no `{part}` in {}", ran.stderr);
    }
    assert_eq!(ran.json()["status"], "failed");
    assert_eq!(home.objects(), Vec::<Value>::new());
    let id = text(&ran.json(), "id").to_owned();
    assert_eq!(home.json(&["update-formation", &id, "--template-file", "many.json"])["status"], "active");
}

#[test]
fn the_second_ctrl_c_leaves_now_and_the_next_command_recovers() {
    // On a busy machine the rollback may be over before the second signal comes.
    for _ in 0..8 {
        let home = Home::new();
        let child = begun(&home, 200);
        signal(&child, Signal::INT);
        wait_for("the first to be noticed", || said(&home).contains("canceling"));
        // The process may be gone already.
        let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
        let _ = rustix::process::kill_process(pid, Signal::INT);
        let ran = ended(&home, child).exits(130);
        let Some((_, rest)) = ran.stderr.split_once("left: operation ") else { continue };
        assert_eq!(ran.stdout, "");
        let operation = rest.split(' ').next().expect("an id").to_owned();
        assert!(rest.contains("the next command that changes something recovers it"), "{rest}");

        let next = home.run(&["create-document", "--title", "t", "--content", "c"]).ok();
        let expected = format!(
            "recovering operation {operation}, which was interrupted\nrecovered operation {operation}\n"
        );
        assert_eq!(next.stderr, expected);
        assert_eq!(home.objects().len(), 1, "the document alone");
        assert_eq!(home.json(&["get-operation", &operation])["error"]["code"], "CANCELED");
        return;
    }
    panic!("the rollback was always faster than the second signal");
}

#[test]
fn with_an_agent_ctrl_c_detaches_and_the_deploy_goes_on() {
    let home = Home::new();
    let _agent = home.agent();
    let child = begun(&home, 10);
    signal(&child, Signal::INT);
    let ran = ended(&home, child).exits(130);
    let (_, rest) = ran.stderr.split_once("detached: operation ").expect("it says so");
    let operation = rest.split(' ').next().expect("an id");
    assert!(rest.contains(&format!("follow it:  formwork watch-operation {operation}\n")), "{rest}");
    assert!(rest.contains(&format!("stop it:    formwork cancel-operation {operation}\n")), "{rest}");
    home.run(&["watch-operation", operation]).ok();
    assert_eq!(home.json(&["list-formations"])["data"][0]["status"], "active");
}

#[test]
fn a_deploy_in_the_agent_is_canceled_by_command() {
    let home = Home::new();
    let _agent = home.agent();
    home.write("many.json", many(400));
    let begun = home.json(&["create-formation", "--name", "s", "--template-file", "many.json", "--no-wait"]);
    let operation = text(&begun, "operation_id");
    home.run(&["cancel-operation", operation]).ok();
    let watched = home.run(&["watch-operation", operation]).exits(1);
    assert_eq!(watched.json()["error"]["code"], "CANCELED");
    assert_eq!(home.objects(), Vec::<Value>::new());
}
