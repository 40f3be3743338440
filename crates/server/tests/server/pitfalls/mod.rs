//! Pitfalls of declaring agent stacks: each test is one thing that people run into with such systems,
//! and must not run into here.

mod authority;
mod beforehand;
mod convergence;
mod lifecycle;
mod names;
mod references;

use crate::world::World;
use formwork_model::Json;
use serde_json::json;

/// The problems that validating finds: paths with messages.
async fn problems(world: &World, template: &Json) -> Vec<(String, String)> {
    let found = world.post("/formations/validate", json!({ "template": template })).await;
    assert_eq!(found.status, 200, "{}", found.text);
    let text = |error: &Json, name: &str| error[name].as_str().expect("a text").to_owned();
    let errors = found.body["errors"].as_array().expect("errors");
    errors.iter().map(|error| (text(error, "path"), text(error, "message"))).collect()
}

/// A template of one resource, `It`.
fn only(type_name: &str, properties: impl Into<Json>) -> Json {
    let properties = properties.into();
    json!({ "resources": { "It": { "type": type_name, "properties": properties } } })
}

/// The id of what stands for a logical id.
async fn physical(world: &World, formation: &str, label: &str) -> String {
    let shown = world.get(&format!("/formations/{formation}")).await;
    let rows = shown.body["resources"].as_array().unwrap_or_else(|| panic!("{}", shown.text));
    let row = rows.iter().find(|row| row["logical_id"] == label);
    let row = row.unwrap_or_else(|| panic!("no {label} in {}", shown.text));
    row["physical_resource_id"].as_str().unwrap_or_else(|| panic!("no id of {label} in {row}")).to_owned()
}

/// The events of the last operation: logical ids with actions.
async fn last_events(world: &World, formation: &str) -> Vec<(String, String)> {
    let page = world.get(&format!("/formations/{formation}/events?limit=100")).await;
    let last = page.body["data"].as_array().and_then(|all| all.last()).expect("an operation").clone();
    let text = |event: &Json, name: &str| event[name].as_str().expect("a text").to_owned();
    let events = last["events"].as_array().expect("events");
    events.iter().map(|event| (text(event, "logical_id"), text(event, "action"))).collect()
}

fn pair(label: &str, action: &str) -> (String, String) {
    (label.to_owned(), action.to_owned())
}
