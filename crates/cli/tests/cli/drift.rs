//! `drift`: what was changed out of band, as people see it.

use crate::common::{Home, text};
use crate::golden;

#[test]
fn what_was_changed_by_hand_is_shown_until_a_deploy_heals_it() {
    let home = Home::new();
    home.write(
        "a.yaml",
        "resources:\n  \
         M: { type: memory, properties: { name: one } }\n  \
         T: { type: tool, properties: { name: ask, type: client } }\n",
    );
    let id = text(&home.deploy("s", "a.yaml", &[]), "id").to_owned();
    let drift = ["drift", "--formation-id", &id, "--detailed-exitcode"];
    let clean = home.run(&drift).ok();
    assert_eq!(clean.stderr, "Drift   none (of 2 looked at)\n");

    let memory = text(&home.all(&["list-memories"])[0], "id").to_owned();
    home.run(&["update-memory", &memory, "--name", "by hand"]).ok();
    let tool = text(&home.all(&["list-tools"])[0], "id").to_owned();
    home.run(&["delete-tool", &tool]).ok();
    golden!("drift", home.run(&drift).exits(10).shown());
    home.run(&["drift", &id]).ok();

    home.run(&["update-formation", "--formation-id", &id]).ok();
    home.run(&drift).ok();
}
