//! Users: made, logged in, let do what policies say, and what is written down of it.

use crate::common::{Home, text};

const PASSWORD: &[u8] = b"correct horse\n";

#[test]
fn a_user_logs_in_and_may_do_what_an_attached_policy_says() {
    let home = Home::new();
    let _agent = home.agent();
    let made = home.run_fed(&["create-user", "--username", "ada"], PASSWORD).ok();
    assert!(!made.stdout.contains("correct horse") && !made.stderr.contains("correct horse"));
    let user = made.json();
    assert_eq!((text(&user, "username"), text(&user, "role")), ("ada", "user"));
    let id = text(&user, "id");
    assert_eq!(home.json(&["get-user", id]), user);
    assert_eq!(home.json(&["list-users"])["total"], 1);

    let login = home.run_fed(&["login", "--username", "ada", "--password", "-"], PASSWORD).ok().json();
    let as_ada = |arguments: &[&str]| home.run_with(arguments, &[("FORMWORK_TOKEN", text(&login, "token"))]);
    assert_eq!(text(&as_ada(&["get-current-user"]).ok().json(), "id"), id);
    let projects = home.json(&["list-projects"]);
    let project = text(&projects["data"][0], "id");
    let make = ["create-memory", "--project-id", project, "--name", "m"];
    assert!(as_ada(&make).exits(5).stderr.contains("FORBIDDEN"));

    let document = r#"{"statement": [{"effect": "Allow", "action": ["memories:*"]}]}"#;
    let policy = home.json(&["create-policy", "--name", "memories", "--document", document]);
    home.run(&["attach-user-policies", id, "--policy-id", text(&policy, "id")]).ok();
    as_ada(&make).ok();
    let entries = home.json(&["list-audit-entries", "--project-id", project, "--limit", "2"]);
    let lines: Vec<_> = entries["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| (text(entry, "action"), text(entry, "actor"), entry["allowed"].as_bool()))
        .collect();
    assert_eq!(
        lines,
        [("memories:CreateMemory", id, Some(true)), ("memories:CreateMemory", id, Some(false))]
    );

    home.run(&["delete-user", id]).ok();
    as_ada(&["get-current-user"]).exits(5);
    home.run_fed(&["login", "--username", "ada"], PASSWORD).exits(5);
}

#[test]
fn the_agent_makes_the_first_admin_and_signs_logins_as_it_is_told() {
    let home = Home::new();
    let settings = [
        ("SOAT_ADMIN_USERNAME", "root"),
        ("SOAT_ADMIN_PASSWORD", "correct horse"),
        ("JWT_SECRET", "a secret of at least thirty-two bytes"),
    ];
    let agent = home.agent_with(&[], &settings);
    let login = home.run_fed(&["login", "--username", "root"], PASSWORD).ok().json();
    assert_eq!(text(&login, "role"), "admin");
    let refused = home.run_fed(&["bootstrap-user", "--username", "eve"], PASSWORD).exits(1);
    assert!(refused.stderr.contains("BOOTSTRAP_ALREADY_COMPLETED"), "{}", refused.stderr);
    agent.kill();
    // The same key, so the login outlives the process.
    let _agent = home.agent_with(&[], &settings);
    let environment = [("FORMWORK_TOKEN", text(&login, "token"))];
    assert_eq!(home.run_with(&["list-users"], &environment).ok().json()["total"], 1);
}
