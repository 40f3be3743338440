//! Commands that another command's process serves: that process may leave or die at any time.

use crate::common::{finish, wait_for};
use crate::world::{World, one};
use formwork_example_handler::Deed;
use serde_json::json;
use std::process::Child;

/// Begins a deploy of one channel, and waits until its handler has been asked for it.
fn deploying(world: &World, name: &str, deed: Deed) -> Child {
    let before = world.asked().iter().filter(|asked| asked.starts_with("create")).count();
    world.misbehave("create", true, deed);
    let file = format!("{name}.json");
    world.home.write(&file, one(name, "sms").to_string());
    let create = ["create-formation", "--name", name, "--template-file", &file];
    let child = world.home.command(&create).spawn().expect("it starts");
    wait_for("the handler to be asked", || {
        world.asked().iter().filter(|asked| asked.starts_with("create")).count() > before
    });
    child
}

#[test]
fn a_deploy_goes_on_when_the_process_that_carried_it_out_is_told_to_leave() {
    let world = World::new();
    let host = deploying(&world, "h", Deed::Delay { millis: 500 });
    let guest = deploying(&world, "g", Deed::Delay { millis: 2500 });
    wait_for("the first deploy to end", || {
        let all = world.home.json(&["list-formations"]);
        all["data"].as_array().is_some_and(|all| all.iter().any(|one| one["status"] == "active"))
    });
    let pid = i32::try_from(host.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::INT)
        .expect("it waits for the other's deploy");
    finish(host).ok();
    finish(guest).ok();
    let all = world.home.json(&["list-formations"]);
    assert_eq!((&all["data"][0]["status"], &all["data"][1]["status"]), (&json!("active"), &json!("active")));
    assert_eq!(world.channels().len(), 2);
}

#[test]
fn a_deploy_whose_process_was_killed_ends_with_what_is_known_and_nobody_waits_for_ever() {
    let world = World::new();
    let mut host = deploying(&world, "h", Deed::Hang);
    let guest = deploying(&world, "g", Deed::Hang);
    host.kill().expect("it runs");
    finish(host);
    // It serves itself while the guest looks for somebody who carries its deploy on.
    assert_eq!(world.home.json(&["list-formations"])["total"], json!(2));
    let ran = finish(guest).exits(1);
    assert!(ran.stderr.contains("OUTCOME_UNKNOWN"), "{}", ran.stderr);
    let all = world.home.json(&["list-formations"]);
    assert_eq!((&all["data"][0]["status"], &all["data"][1]["status"]), (&json!("failed"), &json!("failed")));
    assert_eq!(world.changes_asked(), ["create", "create"], "nothing in doubt is repeated");
}
