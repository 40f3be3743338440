//! Two agents, each with a data directory of its own, over one PostgreSQL database.

use crate::common::{Home, finish, many, text, wait_for};
use formwork_store::testing::TestPostgres;
use std::fs;

/// Two homes that share a database and its instance key; `None` without a server.
fn two() -> Option<[Home; 2]> {
    let url = TestPostgres::shared()?.fresh_url();
    let mut homes = [Home::new(), Home::new()];
    for home in &mut homes {
        home.set("FORMWORK_DATABASE_URL", url.clone());
    }
    let [first, second] = &mut homes;
    first.run(&["create-secret", "--name", "s", "--value", "v"]).ok();
    let refused = second.run(&["list-secrets"]).exits(1);
    assert!(refused.stderr.contains("instance.key` is gone"), "{}", refused.stderr);
    let key = fs::read_to_string(first.data().join("instance.key")).expect("a key");
    second.set("FORMWORK_INSTANCE_KEY", key.trim());
    Some(homes)
}

#[test]
fn what_one_agent_makes_the_other_knows_and_changes() {
    let Some([first, second]) = two() else { return };
    let _agents = [first.agent(), second.agent()];
    assert_eq!(second.json(&["list-secrets"])["total"], 1);
    for home in [&first, &second] {
        home.write("a.json", many(40));
        home.write("b.json", many(60));
    }
    let id = text(&first.deploy("s", "a.json", &[]), "id").to_owned();
    for _ in 0..2 {
        let update = |home: &Home, file: &str| {
            home.command(&["update-formation", &id, "--template-file", file]).spawn().expect("it starts")
        };
        let both = [update(&first, "b.json"), update(&second, "a.json")].map(finish);
        assert!(both.iter().any(|ran| ran.code == Some(0)), "{both:?}");
        for ran in both.iter().filter(|ran| ran.code != Some(0)) {
            let expected = if ran.code == Some(3) { "PLAN_OUTDATED" } else { "OPERATION_IN_PROGRESS" };
            assert!(matches!(ran.code, Some(3 | 4)) && ran.stderr.contains(expected), "{}", ran.stderr);
        }
        let formation = first.json(&["get-formation", &id]);
        assert_eq!(formation["status"], "active");
        assert_eq!(second.json(&["get-formation", &id]), formation);
        let rows = formation["resources"].as_array().expect("rows");
        let live = rows.iter().filter(|row| row["status"] != "deleted").count();
        assert!(matches!(live, 40 | 60), "{live}");
        // The secret that was made first is nobody's.
        assert_eq!(first.objects().len(), live + 1);
    }
}

#[test]
fn what_a_killed_agent_leaves_the_other_finishes() {
    let Some([first, second]) = two() else { return };
    first.write("many.json", many(300));
    let agent = first.agent();
    let _other = second.agent();
    let begun = first.json(&["create-formation", "--name", "s", "--template-file", "many.json", "--no-wait"]);
    let (id, operation) = (text(&begun, "formation_id"), text(&begun, "operation_id"));
    wait_for("the deploy to be under way", || {
        let events = second.json(&["get-operation", operation])["events"].as_array().map_or(0, Vec::len);
        events > 20
    });
    agent.kill();
    // Its leases run out, and then it is the other's.
    wait_for("the operation to end", || {
        matches!(text(&second.json(&["get-operation", operation]), "status"), "succeeded" | "failed")
    });
    let formation = second.json(&["get-formation", id]);
    let status = text(&formation, "status");
    assert!(matches!(status, "active" | "failed"), "{status}");
    let rows = formation["resources"].as_array().expect("rows").iter();
    let live =
        rows.filter(|row| row["physical_resource_id"].is_string() && row["status"] != "deleted").count();
    assert_eq!(second.objects().len(), live + 1, "nothing is lost or orphaned");
    if status == "failed" {
        second.write("many.json", many(300));
        second.redeploy(id, "many.json", &[]);
    }
    assert_eq!(second.objects().len(), 301);
}
