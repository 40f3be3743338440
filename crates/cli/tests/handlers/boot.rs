//! A registration file that is wrong keeps the process from starting.

use crate::common::{Home, Ran};
use crate::golden;
use crate::world::{World, registration};
use serde_json::json;

fn started(file: &str, content: &str) -> Ran {
    let mut home = Home::new();
    home.write(file, content);
    home.set("FORMATION_RESOURCE_TYPES_CONFIG", "types.json");
    home.run(&["agent", "start"])
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let mut taken = registration(([127, 0, 0, 1], 1).into());
    taken["name"] = json!("agent");
    taken["capabilities"] = json!(["reed"]);
    let content = json!({ "resource_types": [taken, 7] }).to_string();
    golden!("wrong registration", started("types.json", &content).exits(1).shown());
    golden!("missing registration", started("other.json", "").exits(1).shown());
    golden!("registration is no json", started("types.json", "{\n  nonsense").exits(1).shown());
}

#[test]
fn every_command_that_serves_itself_refuses_a_wrong_file() {
    let mut world = World::new();
    world.home.set("CHANNEL_SECRET", "");
    world.home.write("t.yaml", "resources: {}\n");
    for arguments in [
        &["validate-formation", "--template-file", "t.yaml"][..],
        &["create-formation", "--name", "s", "--template-file", "t.yaml"],
    ] {
        let ran = world.home.run(arguments).exits(1);
        assert_eq!(
            ran.stderr,
            "error: Invalid formation resource type config (types.json): resource_types[0]: environment \
             variable `CHANNEL_SECRET` is not set or is empty\n"
        );
    }
    assert!(!world.home.data().join("formwork.db").exists(), "nothing was made");
}
