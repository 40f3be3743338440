//! What no client may bring the server to: each kind of bad input once.

use crate::world::{Reply, World, failing, memories};
use axum::body::Body;
use formwork_model::Json;
use serde_json::json;

fn refused(reply: &Reply) -> &str {
    assert_eq!(reply.outcome().0, 400, "{}", reply.text);
    reply.message()
}

#[tokio::test]
async fn u_0000_is_refused_with_its_place_wherever_it_stands() {
    let world = World::new().await;
    let reply = world.get("/memories/a%00b").await;
    assert_eq!(refused(&reply), "Segment 4 of the path holds the character U+0000");
    let reply = world.send("PUT", "/memories/%00", Some(&json!({}))).await;
    assert_eq!(refused(&reply), "Segment 4 of the path holds the character U+0000");
    let reply = world.get("/memories?project_id=a%00").await;
    assert_eq!(refused(&reply), "`project_id` in the query holds the character U+0000");
    let strange =
        "The body is not acceptable JSON: a text holds the character U+0000, which can't be kept at ";
    let bodies = [
        ("/memories", json!({ "name": "a\0" })),
        ("/memories", json!({ "a\0": 1 })),
        ("/formations/validate", json!({ "template": { "resources": { "A\0": {} } } })),
        ("/formations/plan", json!({ "template": memories(1), "parameters": { "P": "\0" } })),
    ];
    for (path, body) in bodies {
        // The quote that ends the text: columns count from 1.
        let column = body.to_string().find("\\u0000\"").expect("it is there") + "\\u0000\"".len();
        let expected = format!("{strange}line 1, column {column}");
        assert_eq!(refused(&world.post(path, body).await), expected, "{path}");
    }
    // Without a token too.
    let login = json!({ "username": "\0", "password": "x" });
    let reply = world.bearing("").post("/users/login", login).await;
    assert!(refused(&reply).starts_with(strange), "{}", reply.text);
}

#[tokio::test]
async fn u_0000_in_the_text_of_a_template_has_a_place_in_it() {
    let world = World::new().await;
    for text in [
        "resources:\n  M: { type: memory, properties: { name: \"a\\0\" } }\n",
        "{\"resources\":\n{\"M\": {\"type\": \"memory\", \"properties\": {\"name\": \"a\\u0000\"}}}}",
    ] {
        let found = world.post("/formations/validate", json!({ "template": text })).await.body;
        assert_eq!(found["valid"], false, "{found}");
        assert_eq!(found["errors"][0]["message"], "A text can't hold the character U+0000", "{found}");
        assert_eq!(found["errors"][0]["line"], 2, "{found}");
        let made = world.post("/formations", json!({ "name": "s", "template": text })).await;
        assert_eq!(made.outcome(), (400, "VALIDATION_FAILED"), "{}", made.text);
    }
}

#[tokio::test]
async fn an_integer_that_would_lose_digits_is_refused() {
    let world = World::new().await;
    let send = async |body: &'static str| {
        let request = world.request("POST", "/formations").header("content-type", "application/json");
        world.answer(request.body(Body::from(body)).expect("a request")).await
    };
    let reply = send(
        r#"{"name": "s", "template": {"resources": {}},
            "metadata": {"n": 18446744073709551616}}"#,
    )
    .await;
    assert_eq!(
        refused(&reply),
        "The body is not acceptable JSON: an integer does not fit into 64 bits; quote it to keep it as text at line 2, \
         column 31"
    );
    let reply = send(
        r#"{"name": "s", "template": {"resources": {}}, "metadata": {"n": 18446744073709551615, "m": 1e30}}"#,
    )
    .await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert_eq!(reply.body["metadata"], json!({ "n": u64::MAX, "m": 1e30 }));
}

#[tokio::test]
async fn tags_are_bounded_however_they_are_written() {
    let world = World::new().await;
    let many = |count: usize| -> Json { (0..count).map(|n| (format!("k{n}"), json!("v"))).collect() };
    let reply = world.post("/actors", json!({ "name": "a", "tags": many(51) })).await;
    assert_eq!(refused(&reply), "`tags` can have 50 members at most");
    let id = world.made("/actors", json!({ "name": "a", "tags": many(50) })).await;
    let tags = format!("/actors/{id}/tags");
    for method in ["PATCH", "PUT"] {
        let reply = world.send(method, &tags, Some(&json!({ "": "v" }))).await;
        assert_eq!(refused(&reply), "The name of a tag must have 1 to 128 characters");
        let reply = world.send(method, &tags, Some(&json!({ "k0": "é".repeat(257) }))).await;
        assert_eq!(refused(&reply), "`tags.k0` can have 256 characters at most");
        let reply = world.send(method, &tags, Some(&Json::Null)).await;
        assert_eq!(refused(&reply), "The request body must be a JSON object");
    }
    let reply = world.send("PATCH", &tags, Some(&json!({ "one": "more" }))).await;
    assert_eq!(refused(&reply), "`tags` can have 50 members at most");
    let reply = world.send("PATCH", &tags, Some(&json!({ "one": "more", "k0": null }))).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let declared = json!({ "resources": { "A": { "type": "actor", "properties": { "name": "a" } } } });
    let found = world.post("/formations/validate", json!({ "template": declared })).await.body;
    assert_eq!(found["valid"], true, "{found}");
}

#[tokio::test]
async fn the_data_directorys_own_token_cannot_be_revoked() {
    let world = World::new().await;
    let reply = world.send("DELETE", "/tokens/token_local_admin", None).await;
    assert_eq!(reply.outcome(), (400, "VALIDATION_FAILED"));
    assert!(reply.message().contains("delete the file `admin.token`"), "{}", reply.text);
    assert_eq!(world.get("/projects").await.status, 200, "it still works");
}

#[tokio::test]
async fn who_is_not_let_in_learns_how_to_come_in() {
    let world = World::new().await;
    let reply = world.bearing("").get("/projects").await;
    assert_eq!(reply.meta()["hint"], "Send one header `Authorization: Bearer <token>`");
    let reply = world.bearing("sk_guess").get("/projects").await;
    let hint = reply.meta()["hint"].as_str().expect("a hint");
    assert!(hint.starts_with("The token is unknown"), "{hint}");
}

#[tokio::test]
async fn names_that_nobody_could_read_are_refused() {
    let world = World::new().await;
    let memory = json!({ "type": "memory", "properties": { "name": "m" } });
    for (name, rule) in [
        (String::new(), "must not be empty"),
        (" ".to_owned(), "must not be empty"),
        ("a\u{7}".to_owned(), "must not have control or invisible characters (U+0007, character 2)"),
        ("a".repeat(256), "can have 255 characters at most"),
    ] {
        for (section, what, member) in [
            ("resources", "a resource", memory.clone()),
            ("outputs", "an output", json!("x")),
            ("parameters", "a parameter", json!({ "default": "x" })),
        ] {
            let mut template = json!({ "resources": { "M": memory } });
            template[section][&name] = member;
            let found = world.post("/formations/validate", json!({ "template": template })).await.body;
            assert_eq!(found["errors"][0]["message"], format!("The name of {what} {rule}"), "{found}");
        }
    }
}

#[tokio::test]
async fn the_error_of_a_long_cycle_is_short() {
    let world = World::new().await;
    let mut template = memories(3000);
    template["resources"]["M0"]["depends_on"] = json!(["M2999"]);
    let reply = world.post("/formations", json!({ "name": "s", "template": template })).await;
    assert_eq!(reply.status, 400);
    assert!(reply.text.contains("… 2988 more → "), "{}", reply.text);
    assert!(reply.text.len() < 10_000, "{} bytes", reply.text.len());
}

#[tokio::test]
async fn a_body_is_what_the_document_says() {
    let world = World::new().await;
    let reply = world.post("/memories", json!({ "name": "m", "project_id": null })).await;
    assert_eq!(refused(&reply), "`project_id` must be a string");
    for template in [json!([]), json!(1), json!(true)] {
        let reply = world.post("/formations/validate", json!({ "template": template })).await;
        assert_eq!(refused(&reply), "`template` must be an object or a text");
        let reply = world.post("/formations/plan", json!({ "template": template })).await;
        assert_eq!(refused(&reply), "`template` must be an object or a text");
    }
    let dataset = world.made("/datasets", json!({ "name": "d" })).await;
    let item = world
        .post(
            &format!("/datasets/{dataset}/items"),
            json!({ "input": [{ "role": "user", "content": "hi" }] }),
        )
        .await;
    assert_eq!(item.status, 201, "{}", item.text);
    for query in ["limit=", "offset="] {
        refused(&world.get(&format!("/memories?{query}")).await);
    }
    refused(&world.send("DELETE", "/agents/agent_x?force=", None).await);
}

#[tokio::test]
async fn what_never_was_is_shown_only_while_the_deploy_that_failed_is_the_last() {
    let world = World::new().await;
    let rows = |formation: &Json| -> Vec<String> {
        let rows = formation["resources"].as_array().expect("rows").iter();
        rows.map(|row| format!("{} {}", row["logical_id"], row["status"]).replace('"', "")).collect()
    };
    let made = world.post("/formations", json!({ "name": "s", "template": failing() })).await;
    assert_eq!(made.body["status"], "failed");
    assert_eq!(rows(&made.body), ["Kb deleted", "Prov failed"], "why it failed, and where");
    let path = format!("/formations/{}", made.id());
    assert_eq!(rows(&world.get(&path).await.body), ["Kb deleted", "Prov failed"]);
    // A good deploy without the resource that failed.
    let good = json!({ "resources": { "Kb": { "type": "memory", "properties": { "name": "kb" } } } });
    let again = world.redeploy(&made.id(), &good).await;
    assert_eq!((again["status"].as_str(), rows(&again)), (Some("active"), vec!["Kb created".to_owned()]));
    assert_eq!(rows(&world.get(&path).await.body), ["Kb created"]);
    // What was there once stays as a tombstone.
    let none = world.redeploy(&made.id(), &json!({ "resources": {} })).await;
    assert_eq!((none["status"].as_str(), rows(&none)), (Some("active"), vec!["Kb deleted".to_owned()]));
}

#[tokio::test]
async fn a_download_always_says_what_it_is() {
    let world = World::new().await;
    for (given, told) in [
        (json!("text/plain"), "text/plain"),
        (json!(null), "application/octet-stream"),
        (json!(""), "application/octet-stream"),
        (json!("text"), "application/octet-stream"),
    ] {
        let id =
            world.made("/files/upload/base64", json!({ "content": "YQ==", "content_type": given })).await;
        let reply = world.get(&format!("/files/{id}/download")).await;
        assert_eq!(reply.headers["content-type"], told, "{given}");
    }
    let body = json!({ "content": "YQ==", "content_type": "a/b\r\nx: y" });
    assert!(
        refused(&world.post("/files/upload/base64", body).await)
            .starts_with("`content_type` must be printable")
    );
}
