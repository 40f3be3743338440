//! Plans: exit codes, approval by hash, and that they change nothing.

use crate::common::{Home, text};
use crate::golden;

const ONE: &str = "resources:\n  M: { type: memory, properties: { name: one } }\n";
const TWO: &str = "resources:\n  M: { type: memory, properties: { name: two } }\n";

fn hash(home: &Home, more: &[&str]) -> String {
    text(&home.json(&[&["plan-formation", "--template-file", "a.yaml"], more].concat()), "plan_hash")
        .to_owned()
}

#[test]
fn the_detailed_exit_code_tells_whether_there_are_changes() {
    let home = Home::new();
    home.write("a.yaml", ONE);
    let plan = ["plan-formation", "--template-file", "a.yaml", "--detailed-exitcode"];
    home.run(&plan).exits(10);
    let id = text(&home.deploy("s", "a.yaml", &[]), "id").to_owned();
    let plan = [&plan[..], &["--formation-id", &id]].concat();
    home.run(&plan).exits(0);
    home.write("a.yaml", TWO);
    home.run(&plan).exits(10);
    home.write("a.yaml", "resources:\n  M: { type: memry }\n");
    home.run(&plan).exits(1);
}

#[test]
fn a_plan_changes_nothing() {
    let home = Home::new();
    home.write("a.yaml", ONE);
    let id = text(&home.deploy("s", "a.yaml", &[]), "id").to_owned();
    home.write("a.yaml", TWO);
    let before =
        (home.objects(), home.json(&["get-formation", &id]), home.json(&["list-formation-events", &id]));
    let first = home.run(&["plan-formation", "--formation-id", &id, "--template-file", "a.yaml"]).ok();
    let second = home.run(&["plan-formation", "--formation-id", &id, "--template-file", "a.yaml"]).ok();
    assert_eq!(first.stdout, second.stdout, "the same question has the same answer, byte for byte");
    let after =
        (home.objects(), home.json(&["get-formation", &id]), home.json(&["list-formation-events", &id]));
    assert_eq!(before, after);
}

#[test]
fn a_plan_hash_approves_that_plan_and_no_other() {
    let home = Home::new();
    home.write("a.yaml", ONE);
    let plan = home.json(&["plan-formation", "--template-file", "a.yaml"]);
    assert_eq!(plan["plan_hash"], serde_json::Value::Null, "where nothing is stored no plan is kept");
    home.run(&["create-document", "--title", "t", "--content", "c"]).ok();
    let approved = hash(&home, &[]);
    let create = |hash: &str| {
        home.run(&["create-formation", "--name", "s", "--template-file", "a.yaml", "--plan-hash", hash])
    };
    golden!("plan outdated", create(&"0".repeat(64)).exits(3).shown());
    assert_eq!(home.json(&["list-formations"])["total"], 0, "what was refused left nothing");
    let id = text(&create(&approved).ok().json(), "id").to_owned();

    home.write("a.yaml", TWO);
    let approved = hash(&home, &["--formation-id", &id]);
    let memory = home.all(&["list-memories"]).remove(0);
    home.run(&["update-memory", text(&memory, "id"), "--name", "by hand"]).ok();
    let update =
        |hash: &str| home.run(&["update-formation", &id, "--template-file", "a.yaml", "--plan-hash", hash]);
    update(&approved).exits(3);
    assert_eq!(home.all(&["list-memories"])[0]["name"], "by hand");
    update(&hash(&home, &["--formation-id", &id])).ok();
    assert_eq!(home.all(&["list-memories"])[0]["name"], "two");
}

#[test]
fn a_kept_plan_is_shown_and_carried_out_by_its_hash_until_the_ledger_moves_on() {
    let home = Home::new();
    home.write("a.yaml", ONE);
    home.run(&["create-document", "--title", "t", "--content", "c"]).ok();
    let first = hash(&home, &["--save"]);
    assert_eq!(home.json(&["get-plan", &first])["hash"], first.as_str());
    let id = text(&home.json(&["apply-plan", &first, "--name", "s"]), "id").to_owned();
    let twice = home.run(&["apply-plan", &first, "--name", "s"]).exits(1);
    assert!(twice.stderr.contains("NAME_CONFLICT"), "{}", twice.stderr);

    home.write("a.yaml", TWO);
    let second = hash(&home, &["--formation-id", &id, "--save"]);
    home.json(&["apply-plan", &second]);
    assert_eq!(home.all(&["list-memories"])[0]["name"], "two");
    let outdated = home.run(&["apply-plan", &second]).exits(3);
    assert!(outdated.stderr.contains("PLAN_OUTDATED"), "{}", outdated.stderr);

    let unknown = "0".repeat(64);
    for command in [&["get-plan", &unknown][..], &["apply-plan", &unknown]] {
        let refused = home.run(command).exits(1);
        assert!(refused.stderr.contains(&format!("Plan '{unknown}' not found.")), "{}", refused.stderr);
    }
}
