//! `examples/mixed`: an agent and its database in one formation.

use crate::common::{Home, text};
use crate::processes::repository;
use crate::real::world;
use formwork_store::testing::TestPostgres;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The flags that say where the example's things live.
fn places(server: &TestPostgres, root: &Path) -> Vec<String> {
    let host = format!("Host={}", server.directory().display());
    let root = format!("Root={}", root.display());
    ["--parameter", &host, "--parameter", &root].map(str::to_owned).to_vec()
}

fn run(home: &Home, command: &[&str], places: &[String], more: &[&str]) -> Value {
    let template = repository("examples/mixed/formation.yaml").display().to_string();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    home.run(&[command, &["--template-file", &template], &places, more].concat()).ok().json()
}

#[test]
fn an_agent_and_its_database_are_one_formation() {
    let Some(server) = TestPostgres::shared() else { return };
    let (home, root) = world();
    server.require_password("shop_reader");
    let places = places(server, &root);
    let key = ["--parameter", "ApiKey=sk-canary"];
    let created = run(&home, &["create-formation", "--name", "shop"], &places, &key);
    let id = text(&created, "id");
    assert_eq!(created["status"], "active", "{created:#}");
    assert_eq!(created["outputs"]["database"], "shop");
    assert!(text(&created["outputs"], "agent_id").starts_with("agent_"), "{created:#}");
    let password = fs::read_to_string(root.join("shop-reader.password")).expect("there");
    assert!(password.len() == 32 && server.logs_in("shop_reader", &password));
    let may = "SELECT has_schema_privilege('shop_reader', 'orders', 'USAGE')::text";
    assert_eq!(server.ask("shop", may), "true");
    let agent = home.json(&["get-agent", text(&created["outputs"], "agent_id")]);
    assert!(text(&agent, "instructions").ends_with("you connect as shop_reader."), "{agent:#}");
    assert!(!created.to_string().contains(&password));

    let planned = run(&home, &["plan-formation", "--formation-id", id], &places, &[]);
    let changes = planned["changes"].as_array().expect("changes");
    let changed: Vec<&Value> = changes.iter().filter(|change| change["action"] != "no-op").collect();
    assert!(changed.is_empty(), "{changed:#?}");

    home.run(&["delete-formation", "--formation-id", id]).ok();
    let left = "SELECT count(*)::text FROM pg_roles WHERE rolname LIKE 'shop\\_%'";
    assert_eq!(server.ask("postgres", left), "0");
}
