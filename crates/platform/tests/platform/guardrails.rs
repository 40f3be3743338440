//! Guardrails over REST: one document beside the flat properties, and a version that counts it.

use crate::world::{World, id_of, wire};
use formwork_model::{Json, Path, WireCode};
use formwork_platform::UpdateMode;
use serde_json::json;

async fn patch(world: &World, id: &str, body: Json) -> Result<Json, (WireCode, String)> {
    let answer = world.rest_update("guardrail", id, body, UpdateMode::Patch, None).await;
    answer.map_err(|error| {
        let (code, message, _) = wire(&error);
        (code, message.to_owned())
    })
}

#[tokio::test]
async fn a_document_stands_for_all_that_it_can_hold() {
    let world = World::new();
    let document = json!({ "class": "B", "guard": { "var": "args.ok" }, "expires_in": 60 });
    let made = world.rest_made("guardrail", json!({ "name": "g", "document": document })).await;
    assert_eq!((&made["class"], &made["guard"]), (&json!("B"), &json!({ "var": "args.ok" })));
    let mut shown = document.clone();
    shown["default_class"] = json!("C");
    assert_eq!(made["document"], shown);
    let changed = patch(&world, id_of(&made), json!({ "document": { "class": "A" } })).await;
    let changed = changed.expect("changed");
    assert_eq!(changed["document"], json!({ "class": "A", "default_class": "C" }));
    assert_eq!((&changed["guard"], &changed["expires_in"]), (&Json::Null, &Json::Null));
}

#[tokio::test]
async fn a_document_that_makes_no_sense_is_refused() {
    let world = World::new();
    for (body, message) in [
        (json!({ "document": "A" }), "`document` must be an object"),
        (
            json!({ "document": { "class": "A" }, "guard": null }),
            "`guard` stands in `document`, so it cannot be given beside it",
        ),
        (json!({ "document": { "klass": "A" } }), "Unknown field(s): document.klass"),
        (json!({ "document": {} }), "Missing required field(s): class"),
        (json!({ "class": null }), "`class` is required"),
    ] {
        let mut body = body;
        body["name"] = json!("g");
        let refused = world.rest_create("guardrail", body).await.expect_err("refused");
        assert_eq!(wire(&refused).1, message);
    }
}

#[tokio::test]
async fn the_version_counts_changes_of_the_document_only() {
    let world = World::new();
    let made = world.rest_made("guardrail", json!({ "name": "g", "class": "A" })).await;
    let id = id_of(&made);
    assert_eq!(made["version"], json!(1));
    let named = patch(&world, id, json!({ "name": "h", "description": "d" })).await.expect("renamed");
    assert_eq!(named["version"], json!(1));
    let changed = patch(&world, id, json!({ "escalate": true })).await.expect("changed");
    assert_eq!(changed["version"], json!(2));
}

#[tokio::test]
async fn a_secret_in_an_expression_is_masked_in_both_spellings() {
    let world = World::new();
    let guard = json!({ "==": [{ "var": "args.key" }, "zz-canary"] });
    let place = [Path::of(["guard", "=="]).index(1)];
    let declared = json!({ "name": "g", "class": "B", "guard": guard });
    let id = world.create_secret("guardrail", declared, &place).await;
    let shown = world.rest_get("guardrail", &id).await.expect("shown");
    assert!(!shown.to_string().contains("canary"), "{shown}");
    assert_eq!(shown["document"]["guard"], shown["guard"]);
    assert!(!world.everything_stored().await.contains("canary"));
}
