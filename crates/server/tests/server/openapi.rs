//! The OpenAPI document: checked in, well formed, and true.

use crate::world::World;
use formwork_model::Json;
use formwork_server::{endpoints, openapi_document};
use std::collections::BTreeSet;

#[test]
fn the_document_that_is_checked_in_is_the_one_that_is_served() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let now = format!("{}\n", serde_json::to_string_pretty(&openapi_document()).expect("JSON"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &now).expect("written");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == now, "the API changed: run `UPDATE=1 cargo test -p formwork-server openapi` and review");
}

#[tokio::test]
async fn the_server_serves_it() {
    let reply = World::new().await.get("/openapi.json").await;
    assert_eq!(reply.body, openapi_document());
}

/// Visits every object below a value.
fn each_object<'a>(value: &'a Json, visit: &mut impl FnMut(&'a serde_json::Map<String, Json>)) {
    match value {
        Json::Object(members) => {
            visit(members);
            members.values().for_each(|member| each_object(member, visit));
        }
        Json::Array(items) => items.iter().for_each(|item| each_object(item, visit)),
        _ => {}
    }
}

#[test]
fn it_is_a_well_formed_openapi_3_1_document() {
    let document = openapi_document();
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let mut used = BTreeSet::new();
    each_object(&document, &mut |object| {
        if let Some(reference) = object.get("$ref") {
            let name =
                reference.as_str().and_then(|it| it.strip_prefix("#/components/schemas/")).expect("local");
            assert!(schemas.contains_key(name), "no schema `{name}`");
            used.insert(name);
        }
        assert!(!object.contains_key("nullable"), "3.0's `nullable` is no keyword of 3.1");
    });
    let streamed = ["WaitingFor", "OperationEnd"];
    for name in schemas.keys() {
        assert!(
            used.contains(name.as_str()) || streamed.contains(&name.as_str()),
            "`{name}` is used nowhere"
        );
    }
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            let place = format!("{method} {path}");
            assert!(["get", "post", "put", "patch", "delete"].contains(&method.as_str()), "{place}");
            assert!(ids.insert(operation["operationId"].as_str().expect("an id")), "{place}: id twice");
            assert!(operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{place}");
            let responses = operation["responses"].as_object().expect("responses");
            assert!(responses.keys().any(|status| status.starts_with('2')), "{place}: no success");
            assert!(responses.values().all(|response| response["description"].is_string()), "{place}");
            let declared: BTreeSet<_> = operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|parameter| parameter["in"] == "path")
                .filter_map(|parameter| parameter["name"].as_str())
                .collect();
            let written: BTreeSet<_> =
                path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            assert_eq!(declared, written, "{place}");
        }
    }
}

#[tokio::test]
async fn every_documented_route_exists_and_every_route_is_documented() {
    let world = World::new().await;
    let document = openapi_document();
    let mut documented = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for method in item.as_object().expect("methods").keys() {
            documented.insert(format!("{} {path}", method.to_ascii_uppercase()));
            let concrete = path.replace(['{', '}'], "");
            let reply = world.send(&method.to_ascii_uppercase(), &concrete, None).await;
            assert_ne!(reply.status, 405, "{method} {path}");
            assert!(!reply.text.contains("There is no such route."), "{method} {path}");
        }
    }
    let served: BTreeSet<_> =
        endpoints().into_iter().map(|endpoint| format!("{} {}", endpoint.method, endpoint.path)).collect();
    assert_eq!(documented, served);
    insta::assert_snapshot!(
        endpoints()
            .iter()
            .map(|it| format!(
                "{} {} {} {} [{}]",
                it.method,
                it.path,
                it.operation_id,
                it.permission.as_deref().unwrap_or("-"),
                it.query.join(" ")
            ))
            .collect::<Vec<_>>()
            .join("\n")
    );
}
