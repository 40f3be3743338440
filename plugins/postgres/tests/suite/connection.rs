//! How the server is reached, and what happens when it goes.

use crate::support::{Fixture, PASSWORD, Server, context, failure};
use formwork_model::Json;
use formwork_plugin::{OperationErrorCode, OperationStatus, PluginError, ResourcePlugin as _};
use formwork_plugin_postgres::PostgresPlugin;
use serde_json::json;
use std::time::{Duration, Instant};

const SCHEMA: &str = "POSTGRES::Database::Schema";
const TABLE: &str = "POSTGRES::Database::Table";

/// The fixture with a target over TCP.
async fn over_tcp(more: Json) -> Option<Fixture> {
    let mut fixture = Fixture::new().await?;
    fixture.target = json!({
        "Type": "POSTGRES", "Host": "localhost", "Port": fixture.server.port, "User": "admin",
        "Password": PASSWORD, "Database": "postgres",
    });
    fixture.target.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Some(fixture)
}

async fn try_schema(fixture: &Fixture) -> formwork_plugin::ProgressResult {
    let made = fixture.create(SCHEMA, json!({ "database": fixture.database, "name": "s" })).await;
    assert!(!format!("{made:?}").contains("horse"), "the password is in a message: {made:?}");
    made
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_as_strict_as_it_is_asked_to_be() {
    let authority = Server::shared().map(Server::authority);
    let Some(authority) = authority else { return };
    let denied = Some(OperationErrorCode::AccessDenied);
    for (target, code) in [
        (json!({ "SslMode": "verify-full", "CaCertificate": authority }), None),
        (json!({ "CaCertificate": authority }), None),
        // The certificate is for `localhost`.
        (json!({ "SslMode": "verify-full", "CaCertificate": authority, "Host": "127.0.0.1" }), denied),
        (json!({ "SslMode": "verify-ca", "CaCertificate": authority, "Host": "127.0.0.1" }), None),
        (json!({ "SslMode": "require", "Host": "127.0.0.1" }), None),
        (json!({ "SslMode": "disable" }), None),
    ] {
        let fixture = over_tcp(target.clone()).await.unwrap();
        let made = try_schema(&fixture).await;
        assert_eq!(made.error_code, code, "{target}: {:?}", made.status_message);
        if code.is_none() {
            let tls = "SELECT bool_or(ssl)::text FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                WHERE application_name = 'formwork' AND datname = current_database()";
            let plain = target["SslMode"] == "disable";
            assert_eq!(fixture.ask(tls).await, if plain { "false" } else { "true" }, "{target}");
        }
    }
    // Another authority, and none at all.
    let other = Server::start().unwrap();
    for mode in ["verify-ca", "verify-full"] {
        let fixture = over_tcp(json!({ "SslMode": mode, "CaCertificate": other.authority() })).await.unwrap();
        assert_eq!(failure(&try_schema(&fixture).await).0, OperationErrorCode::AccessDenied);
        let fixture = over_tcp(json!({ "SslMode": mode, "CaCertificate": "none" })).await.unwrap();
        assert_eq!(failure(&try_schema(&fixture).await).0, OperationErrorCode::InvalidRequest);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_denied_and_nobody_there_is_unavailable() {
    for (target, code) in [
        (json!({ "SslMode": "disable", "Password": "wrong horse" }), OperationErrorCode::AccessDenied),
        (json!({ "SslMode": "disable", "User": "nobody" }), OperationErrorCode::AccessDenied),
        (json!({ "SslMode": "disable", "Password": null }), OperationErrorCode::AccessDenied),
        (json!({ "SslMode": "disable", "Port": 1 }), OperationErrorCode::ServiceUnavailable),
        (json!({ "Host": "/nowhere", "Password": null }), OperationErrorCode::ServiceUnavailable),
        (
            json!({ "Host": "no-such-host.invalid", "SslMode": "disable" }),
            OperationErrorCode::ServiceUnavailable,
        ),
        (json!({ "Hots": "x" }), OperationErrorCode::InvalidRequest),
    ] {
        let Some(fixture) = over_tcp(target.clone()).await else { return };
        let (found, message) = failure(&try_schema(&fixture).await);
        assert_eq!(found, code, "{target}: {message}");
        let read = fixture.read(SCHEMA, &"a/b".into(), None).await;
        assert_eq!(read.error_code, Some(code));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_can_not_end_does_nothing_in_time() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.sql("CREATE TABLE app.t (a integer)").await;
    let holder = fixture.server.client(&fixture.database).await;
    holder.batch_execute("BEGIN; LOCK TABLE app.t").await.unwrap();
    let grant = json!({
        "database": fixture.database, "schema": "app", "name": "child", "columns": [{ "name": "a", "type": "integer" }],
        "foreignKeys": [{
            "name": "f", "columns": ["a"], "referencedSchema": "app", "referencedTable": "t",
            "referencedColumns": ["a"],
        }],
    });
    let started = Instant::now();
    let made = fixture.try_create(TABLE, grant, &context(1500)).await.unwrap();
    assert_eq!(failure(&made).0, OperationErrorCode::ServiceUnavailable);
    assert!(started.elapsed() < Duration::from_secs(4));
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(fixture.ask("SELECT coalesce(to_regclass('app.child')::text, '')").await, "");
    let late =
        fixture.try_create(SCHEMA, json!({ "database": "x", "name": "s" }), &context(0)).await.unwrap();
    assert_eq!(failure(&late).0, OperationErrorCode::ServiceUnavailable);
}

/// Ends the plugin's connections to a database, once one is busy.
async fn kill(fixture: &Fixture, database: &str) {
    let client = fixture.server.client(&fixture.database).await;
    let busy = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE application_name = 'formwork' AND datname = $1 AND state = 'active'";
    for _ in 0..200 {
        if !client.query(busy, &[&database]).await.unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no call began");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_killed_did_nothing_or_says_that_it_does_not_know() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.sql("CREATE TABLE app.t (a integer)").await;
    let declared = |columns: Json| json!({ "database": fixture.database, "schema": "app", "name": "t", "columns": columns });
    let before = declared(json!([{ "name": "a", "type": "integer" }]));
    let after = declared(json!([{ "name": "a", "type": "integer" }, { "name": "b", "type": "text" }]));
    let id = format!("{}/app/t", fixture.database.replace(' ', "%20")).as_str().into();
    let holder = fixture.server.client(&fixture.database).await;
    holder.batch_execute("BEGIN; LOCK TABLE app.t IN ACCESS SHARE MODE").await.unwrap();
    let (updated, ()) =
        tokio::join!(fixture.update(TABLE, &id, &before, &after), kill(&fixture, &fixture.database));
    assert_eq!(failure(&updated).0, OperationErrorCode::ServiceUnavailable);
    holder.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(fixture.update(TABLE, &id, &before, &after).await.operation_status, OperationStatus::Success);
    // Outside of a transaction, nobody can tell: somebody in the template keeps the copy waiting.
    fixture.sql("CREATE DATABASE \"kept template\"").await;
    fixture.sql("CREATE DATABASE maintenance").await;
    fixture.target["Database"] = json!("maintenance");
    let reader = fixture.server.client("kept template").await;
    let copy = json!({ "name": "copied", "template": "kept template" });
    let context = context(30_000);
    let made = fixture.try_create("POSTGRES::Server::Database", copy, &context);
    let (made, ()) = tokio::join!(made, kill(&fixture, "maintenance"));
    assert!(matches!(made, Err(PluginError::Lost { .. })), "{made:?}");
    drop(reader);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_starts_again_is_found_again() {
    let Some(shared) = Fixture::new().await else { return };
    let mut server = tokio::task::spawn_blocking(|| Server::start().unwrap()).await.unwrap();
    let plugin = PostgresPlugin::new();
    let fixture = Fixture { plugin, target: server.socket(), database: "postgres".to_owned(), ..shared };
    let declared = |name: &str| json!({ "database": "postgres", "name": name });
    fixture.made(SCHEMA, declared("one")).await;
    let mut server = tokio::task::spawn_blocking(move || {
        server.stop();
        server
    })
    .await
    .unwrap();
    let (code, message) = failure(&fixture.create(SCHEMA, declared("two")).await);
    assert_eq!(code, OperationErrorCode::ServiceUnavailable, "{message}");
    let _server = tokio::task::spawn_blocking(move || {
        server.start_again();
        server
    })
    .await
    .unwrap();
    fixture.made(SCHEMA, declared("two")).await;
    fixture.seen(SCHEMA, &"postgres/one".into(), None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_types_say_how_they_are_found_again() {
    let types = PostgresPlugin::new().types();
    assert_eq!(types.len(), 9);
    assert!(types.iter().all(|it| it.capabilities.lookup != formwork_model::LookupRule::None));
}

#[test]
fn the_process_says_that_it_is_a_plugin() {
    let started = std::process::Command::new(env!("CARGO_BIN_EXE_postgres")).env_clear().output().unwrap();
    assert!(!started.status.success());
    let said = String::from_utf8(started.stderr).unwrap();
    assert!(said.contains("this is a plugin"), "{said}");
}
