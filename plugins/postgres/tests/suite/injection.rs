//! No property becomes SQL that its author did not mean.

use crate::support::{Fixture, failure};
use formwork_model::Json;
use formwork_plugin::{OperationErrorCode, OperationStatus};
use serde_json::json;

/// Texts that would do something if they were read as SQL.
const EVIL: [&str; 6] = [
    "x\"; DROP TABLE app.victim; --",
    "x'; DROP TABLE app.victim; --",
    "\\'; DROP TABLE app.victim; --",
    "$$; DROP TABLE app.victim; $$",
    "x\u{2028}\n/* */",
    "public",
];

async fn fixture() -> Option<Fixture> {
    let fixture = Fixture::new().await?;
    fixture.sql("CREATE TABLE app.victim (a integer)").await;
    Some(fixture)
}

async fn is_safe(fixture: &Fixture) -> bool {
    fixture.ask("SELECT coalesce(to_regclass('app.victim')::text, '')").await == "app.victim"
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_texts_are_only_that() {
    let Some(fixture) = fixture().await else { return };
    for (number, evil) in EVIL.into_iter().enumerate() {
        let name = format!("{evil}{number}");
        let database = &fixture.database;
        let cases = [
            ("POSTGRES::Server::Role", json!({ "name": name, "comment": evil, "password": evil })),
            ("POSTGRES::Database::Schema", json!({ "database": database, "name": name, "comment": evil })),
            (
                "POSTGRES::Database::Table",
                json!({
                    "database": database, "schema": "app", "name": name, "comment": evil,
                    "columns": [{ "name": name, "type": "integer", "comment": evil, "nullable": true }],
                    "primaryKey": { "name": format!("{name}k"), "columns": [name] },
                }),
            ),
            (
                "POSTGRES::Database::Function",
                json!({
                    "database": database, "schema": "app", "name": name, "comment": evil, "body": evil,
                    "arguments": [{ "name": name, "type": "integer", "mode": "IN" }],
                    "returns": "integer", "language": "plpgsql",
                }),
            ),
            (
                "POSTGRES::Database::Publication",
                json!({ "database": database, "name": name, "comment": evil }),
            ),
        ];
        for (kind, properties) in cases {
            let made = fixture.create(kind, properties.clone()).await;
            if kind.ends_with("Function") {
                // The body is none that the language takes.
                assert_eq!(failure(&made).0, OperationErrorCode::InvalidRequest, "{evil}");
                continue;
            }
            assert_eq!(made.operation_status, OperationStatus::Success, "{kind}: {:?}", made.status_message);
            let (id, shown) = (made.native_id.unwrap(), made.resource_properties.unwrap());
            assert_eq!((&shown["name"], &shown["comment"]), (&json!(name), &json!(evil)));
            assert_eq!(fixture.seen(kind, &id, Some(&shown)).await, shown, "{id}");
            let deleted = fixture.delete(kind, &id).await;
            assert_eq!(deleted.operation_status, OperationStatus::Success, "{:?}", deleted.status_message);
        }
    }
    assert!(is_safe(&fixture).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn expressions_and_types_stay_where_they_are() {
    let Some(fixture) = fixture().await else { return };
    let base = |column: Json, checks: Json, index: Json| {
        json!({
            "database": fixture.database, "schema": "app", "name": "t",
            "columns": [column], "checks": checks, "indexes": index,
        })
    };
    let column = json!({ "name": "a", "type": "integer" });
    let none = json!([]);
    for evil in [
        "0); DROP TABLE app.victim; --",
        "0), b integer DEFAULT (0",
        "0) CHECK (true",
        "0; DROP TABLE app.victim",
        "0, 1",
    ] {
        for properties in [
            base(json!({ "name": "a", "type": "integer", "default": evil }), none.clone(), none.clone()),
            base(json!({ "name": "a", "type": evil }), none.clone(), none.clone()),
            base(json!({ "name": "a", "type": format!("integer {evil}") }), none.clone(), none.clone()),
            base(column.clone(), json!([{ "name": "c", "expression": evil }]), none.clone()),
            base(column.clone(), none.clone(), json!([{ "name": "i", "keys": [{ "expression": evil }] }])),
            base(
                column.clone(),
                none.clone(),
                json!([{ "name": "i", "keys": [{ "name": "a" }], "where": evil }]),
            ),
        ] {
            let made = fixture.create("POSTGRES::Database::Table", properties.clone()).await;
            assert_eq!(failure(&made).0, OperationErrorCode::InvalidRequest, "{properties}");
        }
    }
    // What is a type to PostgreSQL, and nothing more.
    for kind in [
        "integer PRIMARY KEY",
        "integer NOT NULL",
        "integer REFERENCES app.victim",
        "integer, b integer",
        "integer DEFAULT 1",
        "text COLLATE \"C\"",
    ] {
        let properties = base(json!({ "name": "a", "type": kind }), none.clone(), none.clone());
        let made = fixture.create("POSTGRES::Database::Table", properties).await;
        assert_eq!(failure(&made).0, OperationErrorCode::InvalidRequest, "{kind}");
    }
    assert!(is_safe(&fixture).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_privileges_and_ids_are_only_that() {
    let Some(fixture) = fixture().await else { return };
    let evil = "x'; DROP TABLE app.victim; --";
    for settings in [
        json!({ evil: "1" }),
        json!({ "search_path TO 'a'; --": "1" }),
        json!({ "work_mem": evil }),
        json!({ "a.b.c": "1" }),
    ] {
        let made = fixture
            .create("POSTGRES::Server::Role", json!({ "name": "evil_set", "settings": settings }))
            .await;
        assert_eq!(failure(&made).0, OperationErrorCode::InvalidRequest, "{settings}");
    }
    let path = json!({ "name": "evil_path", "settings": { "search_path": format!("\"{}\"", evil.replace('"', "")) } });
    let made = fixture.create("POSTGRES::Server::Role", path).await;
    assert_eq!(made.operation_status, OperationStatus::Success, "{:?}", made.status_message);
    let grant = json!({
        "database": fixture.database, "objectType": "TABLE", "schema": "app", "object": "victim", "role": "public",
        "privileges": ["SELECT ON app.victim TO public; DROP TABLE app.victim; --"],
    });
    assert_eq!(
        failure(&fixture.create("POSTGRES::Database::Grant", grant).await).0,
        OperationErrorCode::InvalidRequest
    );
    let name = fixture.database.replace(' ', "%20");
    for id in
        [format!("{name}/app/f/{evil}"), format!("{name}/app/f/){evil}"), format!("{name}/app\"; DROP/f/")]
    {
        let deleted = fixture.delete("POSTGRES::Database::Function", &id.as_str().into()).await;
        assert_eq!(deleted.operation_status, OperationStatus::Success, "{:?}", deleted.status_message);
    }
    assert!(is_safe(&fixture).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_names_are_refused_and_long_texts_are_not() {
    let Some(fixture) = fixture().await else { return };
    let made = fixture.create("POSTGRES::Server::Role", json!({ "name": "ü".repeat(32) })).await;
    let (code, message) = failure(&made);
    assert!(code == OperationErrorCode::InvalidRequest && message.contains("64"), "{message}");
    let body = format!("BEGIN RETURN 1; END -- {}", "x".repeat(1 << 20));
    let function = json!({
        "database": fixture.database, "schema": "app", "name": "long", "returns": "integer", "language": "plpgsql",
        "body": body,
    });
    let (_, made) = fixture.made("POSTGRES::Database::Function", function).await;
    assert_eq!(made["body"], json!(body));
    let with_nul = json!({ "name": "nul", "comment": "a\0b" });
    assert_eq!(
        failure(&fixture.create("POSTGRES::Server::Role", with_nul).await).0,
        OperationErrorCode::InvalidRequest
    );
}
