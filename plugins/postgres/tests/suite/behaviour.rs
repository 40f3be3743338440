//! What each type does beyond its plain life: spelling, drift, takeovers, refusals.

use crate::support::{Fixture, failure};
use formwork_model::Json;
use formwork_plugin::{OperationErrorCode, OperationStatus, ResourcePlugin as _};
use formwork_plugin_postgres::PostgresPlugin;
use serde_json::json;

const TABLE: &str = "POSTGRES::Database::Table";
const ROLE: &str = "POSTGRES::Server::Role";
const GRANT: &str = "POSTGRES::Database::Grant";
const FUNCTION: &str = "POSTGRES::Database::Function";

fn table(fixture: &Fixture, columns: Json) -> Json {
    let mut declared = json!({ "database": fixture.database, "schema": "app", "name": "t" });
    declared["columns"] = columns;
    declared
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_shown_as_it_was_declared() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.sql("CREATE TYPE app.mood AS ENUM ('ok')").await;
    let mut declared = table(
        &fixture,
        json!([
            { "name": "id", "type": "int", "identity": "BY DEFAULT" },
            { "name": "at", "type": "timestamptz", "default": "now()" },
            { "name": "name", "type": "varchar(20)", "default": "'x'" },
            { "name": "price", "type": "decimal(10, 2)" },
            { "name": "mood", "type": "mood" },
            { "name": "tags", "type": "text[]", "default": "'{}'" },
        ]),
    );
    declared["primaryKey"] = json!({ "columns": ["id"] });
    declared["checks"] = json!([{ "name": "dear", "expression": "price>0 and mood <> 'ok'" }]);
    declared["indexes"] =
        json!([{ "name": "by_name", "keys": [{ "expression": "lower(name)" }], "where": "id > 5" }]);
    declared["foreignKeys"] = json!([]);
    declared["comment"] = Json::Null;
    let (id, made) = fixture.made(TABLE, declared.clone()).await;
    for (name, value) in declared.as_object().unwrap() {
        assert_eq!(made.get(name), Some(value), "{name} of {made}");
    }
    assert_eq!(fixture.seen(TABLE, &id, Some(&made)).await, made, "the next look sees no change");
    let plain = fixture.seen(TABLE, &id, None).await;
    assert_eq!(plain["columns"][2]["type"], "character varying(20)");
    assert_eq!(plain["columns"][4]["type"], "app.mood");
    let updated = fixture.update(TABLE, &id, &declared, &declared).await;
    assert_eq!(updated.resource_properties, Some(made), "an update to the same changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_from_outside_is_seen() {
    let Some(fixture) = Fixture::new().await else { return };
    let declared = table(&fixture, json!([{ "name": "a", "type": "int4", "default": "1+1" }]));
    let (id, made) = fixture.made(TABLE, declared).await;
    fixture.sql("ALTER TABLE app.t ALTER a SET DEFAULT 3, ADD b text").await;
    let seen = fixture.seen(TABLE, &id, Some(&made)).await;
    assert_eq!((&seen["columns"][0]["default"], &seen["columns"][0]["type"]), (&json!("3"), &json!("int4")));
    assert_eq!(seen["columns"][1]["name"], "b");
    fixture.sql("DROP TABLE app.t").await;
    assert_eq!(fixture.read(TABLE, &id, Some(&made)).await.error_code, Some(OperationErrorCode::NotFound));
}

#[tokio::test(flavor = "multi_thread")]
async fn data_is_not_lost_by_the_way() {
    let Some(fixture) = Fixture::new().await else { return };
    let declared =
        table(&fixture, json!([{ "name": "a", "type": "text" }, { "name": "b", "type": "bigint" }]));
    let (id, _) = fixture.made(TABLE, declared.clone()).await;
    fixture.sql("INSERT INTO app.t VALUES ('x', 1)").await;
    let mut less = table(&fixture, json!([{ "name": "b", "type": "integer" }]));
    let (code, message) = failure(&fixture.update(TABLE, &id, &declared, &less).await);
    assert_eq!(code, OperationErrorCode::InvalidRequest);
    assert!(
        message.contains("`a` would be dropped") && message.contains("from `bigint` to `integer`"),
        "{message}"
    );
    less["allowDataLoss"] = json!(true);
    let done = fixture.update(TABLE, &id, &declared, &less).await;
    assert_eq!(done.operation_status, OperationStatus::Success, "{:?}", done.status_message);
    let renamed =
        json!({ "database": fixture.database, "schema": "app", "name": "u", "columns": less["columns"] });
    let (code, message) = failure(&fixture.update(TABLE, &id, &less, &renamed).await);
    assert_eq!((code, message.contains("`name`")), (OperationErrorCode::InvalidRequest, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_update_leaves_nothing_of_itself() {
    let Some(fixture) = Fixture::new().await else { return };
    let declared = table(&fixture, json!([{ "name": "a", "type": "integer" }]));
    let (id, made) = fixture.made(TABLE, declared.clone()).await;
    fixture.sql("INSERT INTO app.t VALUES (1)").await;
    let mut wrong =
        table(&fixture, json!([{ "name": "a", "type": "integer" }, { "name": "b", "type": "text" }]));
    wrong["checks"] = json!([{ "name": "never", "expression": "a > 5" }]);
    let (code, message) = failure(&fixture.update(TABLE, &id, &declared, &wrong).await);
    assert_eq!(code, OperationErrorCode::InvalidRequest);
    assert!(message.contains("SQLSTATE 23514"), "{message}");
    assert_eq!(fixture.seen(TABLE, &id, Some(&made)).await, made);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_hold_is_not_dropped() {
    let Some(fixture) = Fixture::new().await else { return };
    let (id, _) = fixture.made(TABLE, table(&fixture, json!([{ "name": "a", "type": "integer" }]))).await;
    fixture.sql("CREATE VIEW app.holder AS SELECT a FROM app.t").await;
    let (code, message) = failure(&fixture.delete(TABLE, &id).await);
    assert_eq!(code, OperationErrorCode::InvalidRequest);
    assert!(message.contains("holder") && message.contains("2BP01"), "{message}");
    let schema = format!("{}/app", fixture.database.replace(' ', "%20"));
    let (code, message) = failure(&fixture.delete("POSTGRES::Database::Schema", &schema.into()).await);
    assert_eq!((code, message.contains("app.t")), (OperationErrorCode::InvalidRequest, true), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_never_reaches_the_server() {
    let Some(fixture) = Fixture::new().await else { return };
    let password = "Tr0ub4dor & Zürich";
    let declared = json!({ "name": "quiet", "login": true, "password": password });
    let (id, made) = fixture.made(ROLE, declared.clone()).await;
    assert!(!made.to_string().contains("Tr0ub4dor"));
    let _ = fixture.update(ROLE, &id, &declared, &declared).await;
    let log = fixture.server.log();
    assert!(log.contains("quiet") && !log.contains("Tr0ub4dor"));
    // It is the role's password all the same.
    let host = json!({
        "Host": "127.0.0.1", "Port": fixture.server.port, "User": "quiet", "Password": password,
        "SslMode": "disable", "Database": fixture.database,
    });
    let as_role = Fixture {
        target: host,
        plugin: PostgresPlugin::new(),
        database: fixture.database.clone(),
        ..fixture
    };
    assert!(as_role.list("POSTGRES::Server::Role", &[]).await.contains(&"quiet".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_declared_no_longer_is_undone_and_the_rest_stays() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.sql("CREATE ROLE undone_group; CREATE ROLE undone_other").await;
    let declared = json!({ "name": "undone", "memberOf": ["undone_group"], "comment": "x", "login": true });
    let (id, _) = fixture.made(ROLE, declared.clone()).await;
    fixture.sql("ALTER ROLE undone CREATEDB; GRANT undone_other TO undone").await;
    let less = json!({ "name": "undone", "login": false });
    let made = fixture.update(ROLE, &id, &declared, &less).await.resource_properties.unwrap();
    assert_eq!((made.get("memberOf"), made.get("comment")), (None, None), "{made}");
    assert_eq!((&made["login"], &made["createDatabase"]), (&json!(false), &json!(true)), "{made}");
    let same = json!({ "name": "undone", "login": true });
    fixture.sql("GRANT undone_other TO undone").await;
    let made = fixture.update(ROLE, &id, &less, &same).await.resource_properties.unwrap();
    assert_eq!(made["memberOf"], json!(["undone_other"]), "what was never declared is somebody else's");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_takes_over_what_everybody_has_by_default() {
    let Some(fixture) = Fixture::new().await else { return };
    let declared = json!({
        "database": fixture.database, "objectType": "DATABASE", "object": fixture.database, "role": "public",
        "privileges": ["CONNECT"],
    });
    let (id, made) = fixture.made(GRANT, declared.clone()).await;
    assert_eq!(made["privileges"], json!(["CONNECT"]));
    let (code, _) = failure(&fixture.create(GRANT, declared).await);
    assert_eq!(code, OperationErrorCode::AlreadyExists);
    assert!(fixture.list(GRANT, &[("database", &fixture.database)]).await.contains(&id.to_string()));
    assert_eq!(fixture.delete(GRANT, &id).await.operation_status, OperationStatus::Success);
    let open = format!("SELECT has_database_privilege('public', '{}', 'CONNECT')::text", fixture.database);
    assert_eq!(fixture.ask(&open).await, "false");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_grant_is_told() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture
        .sql("CREATE TABLE app.t (a integer); CREATE ROLE weak LOGIN; GRANT USAGE ON SCHEMA app TO weak")
        .await;
    fixture.sql("GRANT SELECT ON app.t TO weak").await;
    fixture.target["User"] = json!("weak");
    let declared = json!({
        "database": fixture.database, "objectType": "TABLE", "schema": "app", "object": "t", "role": "public",
        "privileges": ["SELECT"],
    });
    let (code, message) = failure(&fixture.create(GRANT, declared).await);
    assert_eq!(code, OperationErrorCode::AccessDenied, "{message}");
    let (code, _) = failure(&fixture.create(ROLE, json!({ "name": "stronger", "superuser": true })).await);
    assert_eq!(code, OperationErrorCode::AccessDenied);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_is_shown_as_it_was_declared() {
    let Some(fixture) = Fixture::new().await else { return };
    let declared = json!({
        "database": fixture.database, "schema": "app", "name": "f",
        "arguments": [{ "name": "a", "type": "int" }, { "name": "b", "type": "varchar", "default": "'x'" }],
        "returns": "timestamptz", "language": "sql", "body": "SELECT now()",
    });
    let (id, made) = fixture.made(FUNCTION, declared.clone()).await;
    assert_eq!(
        id.as_str(),
        format!("{}/app/f/integer%2C%20character%20varying", fixture.database.replace(' ', "%20"))
    );
    for (name, value) in declared.as_object().unwrap() {
        assert_eq!(made.get(name), Some(value), "{name} of {made}");
    }
    assert_eq!(fixture.seen(FUNCTION, &id, Some(&made)).await, made);
    let (code, _) = failure(&fixture.create(FUNCTION, declared).await);
    assert_eq!(code, OperationErrorCode::AlreadyExists);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_parents_are_not_found() {
    let Some(fixture) = Fixture::new().await else { return };
    let nowhere = json!({ "database": "nowhere", "name": "s" });
    let (code, message) = failure(&fixture.create("POSTGRES::Database::Schema", nowhere).await);
    assert_eq!((code, message.contains("nowhere")), (OperationErrorCode::NotFound, true), "{message}");
    let mut declared = table(&fixture, json!([{ "name": "a", "type": "integer" }]));
    declared["schema"] = json!("nowhere");
    assert_eq!(failure(&fixture.create(TABLE, declared).await).0, OperationErrorCode::NotFound);
    let id = "nowhere/app/t".into();
    assert_eq!(fixture.read(TABLE, &id, None).await.error_code, Some(OperationErrorCode::NotFound));
    assert_eq!(fixture.delete(TABLE, &id).await.operation_status, OperationStatus::Success);
    // Of an update, what is missing is not the object.
    let declared = table(&fixture, json!([{ "name": "a", "type": "integer" }]));
    let (id, _) = fixture.made(TABLE, declared.clone()).await;
    let mut wrong = declared.clone();
    wrong["foreignKeys"] = json!([{
        "name": "f", "columns": ["a"], "referencedSchema": "app", "referencedTable": "none", "referencedColumns": ["a"],
    }]);
    assert_eq!(
        failure(&fixture.update(TABLE, &id, &declared, &wrong).await).0,
        OperationErrorCode::InvalidRequest
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_by_parent_and_leave_out_what_nobody_made() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture
        .sql("CREATE SCHEMA two; CREATE TABLE app.a (); CREATE TABLE app.b (); CREATE TABLE two.c ()")
        .await;
    fixture.sql("CREATE TABLE app.c (); CREATE EXTENSION hstore SCHEMA two").await;
    let name = fixture.database.replace(' ', "%20");
    let of = |tables: &[&str]| tables.iter().map(|table| format!("{name}/{table}")).collect::<Vec<_>>();
    let database = ("database", fixture.database.as_str());
    assert_eq!(fixture.list(TABLE, &[database]).await, of(&["app/a", "app/b", "app/c", "two/c"]));
    assert_eq!(fixture.list(TABLE, &[database, ("schema", "two")]).await, of(&["two/c"]));
    assert!(fixture.list(FUNCTION, &[database]).await.is_empty(), "those of an extension are its own");
    for nowhere in ["template0", "no such database"] {
        assert!(fixture.list(TABLE, &[("database", nowhere)]).await.is_empty());
    }
    let everywhere = fixture.list(TABLE, &[]).await;
    assert!(of(&["app/a", "two/c"]).iter().all(|id| everywhere.contains(id)));
    // What PostgreSQL brings is marked, for the filter of discovery.
    let filter = &fixture.plugin.discovery_filters()[0];
    assert_eq!(filter.conditions[0].property_path, "$.system");
    for (kind, id) in [
        (ROLE, "pg_monitor"),
        (ROLE, "admin"),
        ("POSTGRES::Server::Database", "template1"),
        ("POSTGRES::Database::Schema", &*format!("{name}/pg_catalog")),
        ("POSTGRES::Database::Extension", &*format!("{name}/plpgsql")),
    ] {
        assert!(filter.resource_types.contains(&kind.to_owned()));
        assert_eq!(fixture.seen(kind, &id.into(), None).await["system"], json!(true), "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_in_use_is_left_and_half_a_database_is_named() {
    let Some(fixture) = Fixture::new().await else { return };
    let kind = "POSTGRES::Server::Database";
    let (id, _) = fixture.made(kind, json!({ "name": "in use", "template": "template0" })).await;
    let user = fixture.server.client("in use").await;
    let (code, message) = failure(&fixture.delete(kind, &id).await);
    assert_eq!(code, OperationErrorCode::NotStabilized, "{message}");
    drop(user);
    assert_eq!(fixture.delete(kind, &id).await.operation_status, OperationStatus::Success);
    let half = json!({ "name": "half", "template": "template0", "settings": { "no_such_setting": "1" } });
    let result = fixture.create(kind, half).await;
    assert_eq!(failure(&result).0, OperationErrorCode::InvalidRequest);
    assert_eq!(result.native_id, Some("half".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_once_do_not_get_in_each_others_way() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.sql("CREATE TABLE app.t (a integer)").await;
    for number in 0..20 {
        fixture.sql(&format!("CREATE ROLE many_{number}")).await;
    }
    let grant = |number: usize| {
        let declared = json!({
            "database": fixture.database, "objectType": "TABLE", "schema": "app", "object": "t",
            "role": format!("many_{number}"), "privileges": ["SELECT"],
        });
        fixture.create(GRANT, declared)
    };
    let (mut done, mut calls) = (0, Vec::new());
    for number in 0..20 {
        calls.push(Box::pin(grant(number)));
    }
    for result in join_all(calls).await {
        assert_eq!(result.operation_status, OperationStatus::Success, "{:?}", result.status_message);
        done += 1;
    }
    assert_eq!(done, 20);
    let used = "SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'formwork' \
        AND datname = current_database()";
    assert!(fixture.ask(used).await.parse::<u32>().unwrap() <= 8);
    // The same object is made once.
    let twice = json!({ "database": fixture.database, "name": "once" });
    let both = [0; 4].map(|_| Box::pin(fixture.create("POSTGRES::Database::Schema", twice.clone())));
    let results = join_all(both.into_iter().collect()).await;
    let made = results.iter().filter(|result| result.operation_status == OperationStatus::Success).count();
    let exist = results.iter().filter(|it| it.error_code == Some(OperationErrorCode::AlreadyExists)).count();
    assert_eq!((made, exist), (1, 3), "{results:?}");
}

/// All results, the calls going on side by side.
async fn join_all<F: Future + Unpin>(mut calls: Vec<F>) -> Vec<F::Output> {
    let mut results: Vec<Option<F::Output>> = calls.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut waiting = false;
        for (call, result) in calls.iter_mut().zip(&mut results) {
            if result.is_none() {
                match std::pin::Pin::new(call).poll(context) {
                    std::task::Poll::Ready(output) => *result = Some(output),
                    std::task::Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    results.into_iter().map(|result| result.expect("each is over")).collect()
}
