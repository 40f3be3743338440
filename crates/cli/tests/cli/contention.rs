//! Two operations on one stack: one works, the other is refused (INV-8).

use crate::common::{Home, finish, many, text};
use serde_json::Value;

/// A stack whose deploy takes a while, under way.
fn busy() -> (Home, crate::common::Agent, String, String) {
    let home = Home::new();
    let agent = home.agent();
    home.write("many.json", many(300));
    let begun = home.json(&["create-formation", "--name", "s", "--template-file", "many.json", "--no-wait"]);
    (home, agent, text(&begun, "formation_id").to_owned(), text(&begun, "operation_id").to_owned())
}

#[test]
fn a_second_operation_is_refused_with_the_name_of_the_first() {
    let (home, _agent, formation, operation) = busy();
    home.write("one.yaml", "resources:\n  M: {type: memory, properties: {name: m}}\n");
    for arguments in [
        &["update-formation", &formation, "--template-file", "one.yaml"][..],
        &["delete-formation", &formation],
    ] {
        let ran = home.run(arguments).exits(4);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains("OPERATION_IN_PROGRESS"), "{}", ran.stderr);
        assert!(ran.stderr.contains(&operation), "{}", ran.stderr);
        assert!(
            ran.stderr.ends_with(&format!("hint: `formwork watch-operation {operation}` follows it\n")),
            "{}",
            ran.stderr
        );
    }
    home.run(&["watch-operation", &operation]).ok();
    assert_eq!(home.json(&["get-formation", &formation])["status"], "active");
    assert_eq!(home.objects().len(), 300);
}

#[test]
fn of_two_deploys_at_once_none_spoils_the_other() {
    let home = Home::new();
    let _agent = home.agent();
    home.write("a.json", many(120));
    home.write("b.json", many(160));
    let id = text(&home.deploy("s", "a.json", &[]), "id").to_owned();
    for _ in 0..2 {
        let update = |file: &str| {
            home.command(&["update-formation", &id, "--template-file", file]).spawn().expect("it starts")
        };
        let both = [update("b.json"), update("a.json")];
        let both: Vec<_> = both.into_iter().map(finish).collect();
        assert!(both.iter().any(|ran| ran.code == Some(0)), "{both:?}");
        for ran in both.iter().filter(|ran| ran.code != Some(0)) {
            // The other one runs, or began and ended while this one was planned.
            let expected = if ran.code == Some(3) { "PLAN_OUTDATED" } else { "OPERATION_IN_PROGRESS" };
            assert!(matches!(ran.code, Some(3 | 4)) && ran.stderr.contains(expected), "{}", ran.stderr);
        }
        let formation = home.json(&["get-formation", &id]);
        assert_eq!(formation["status"], "active");
        let rows = formation["resources"].as_array().expect("rows");
        let live = rows.iter().filter(|row| row["status"] != "deleted").count();
        assert_eq!(home.objects().len(), live);
        assert_eq!(formation["template"]["resources"].as_object().map(serde_json::Map::len), Some(live));
    }
}

#[test]
fn two_formations_of_one_name_never_come_to_be() {
    let home = Home::new();
    let _agent = home.agent();
    home.write("a.json", many(40));
    let create = ["create-formation", "--name", "s", "--template-file", "a.json"];
    let all: Vec<_> = (0..4).map(|_| home.command(&create).spawn().expect("it starts")).collect();
    let codes: Vec<_> = all.into_iter().map(|child| finish(child).code).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert_eq!(home.json(&["list-formations"])["total"], Value::from(1));
    assert_eq!(home.objects().len(), 40);
}

#[test]
fn commands_that_start_together_share_one_data_directory() {
    let home = Home::new();
    let children: Vec<_> = (0..6)
        .map(|index| {
            home.command(&["create-memory", "--name", &format!("m{index}")]).spawn().expect("it starts")
        })
        .collect();
    for child in children {
        finish(child).ok();
    }
    assert_eq!(home.objects().len(), 6);
}

#[test]
fn commands_outlive_the_process_that_serves_them() {
    let home = Home::new();
    home.write("a.json", many(3));
    // Each makes several requests; whichever serves the others leaves before some of them are done.
    let deploys = &|series: usize| {
        for index in 0..12 {
            let name = format!("s{series}-{index}");
            let create = ["create-formation", "--name", &name, "--template-file", "a.json"];
            finish(home.command(&create).spawn().expect("it starts")).ok();
        }
    };
    std::thread::scope(|scope| {
        for series in 0..4 {
            scope.spawn(move || deploys(series));
        }
    });
    assert_eq!(home.json(&["list-formations"])["total"], Value::from(48));
}
