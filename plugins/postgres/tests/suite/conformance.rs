//! Every type passes the conformance suite.

use crate::support::Fixture;
use formwork_model::Json;
use formwork_plugin_conformance::conformance::{Case, run};
use serde_json::json;

/// Runs one case, and asserts that nothing was broken or left untried.
async fn passes(case: Case, fixture: &Fixture) {
    let case = Case { target_config: fixture.target.clone(), ..case };
    let report = run(&fixture.plugin, &[case]).await;
    assert!(report.is_conformant(), "{report}");
    // What is left out is what the type has no property for.
    let left_out = |line: &&str| line.starts_with("not tried") && !line.contains("the case has no");
    assert_eq!(report.to_string().lines().find(left_out), None);
}

/// A bag with more in it.
fn with(mut base: Json, more: Json) -> Json {
    let (Some(base_members), Json::Object(more)) = (base.as_object_mut(), more) else { panic!("objects") };
    base_members.extend(more);
    base
}

#[tokio::test(flavor = "multi_thread")]
async fn roles() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.sql("CREATE ROLE conf_group; CREATE ROLE conf_other").await;
    let create = json!({
        "name": "conf \"role\" ☃", "login": true, "password": "s3cret", "connectionLimit": 5, "superuser": false,
        "validUntil": "2040-01-01T00:00:00Z", "memberOf": ["conf_group"],
        "settings": { "search_path": "app, \"$user\"", "work_mem": "64MB" }, "comment": "it's one",
    });
    let update = json!({
        "name": "conf \"role\" ☃", "login": false, "password": "other", "createDatabase": true,
        "validUntil": "infinity", "memberOf": ["conf_group", "conf_other"], "settings": { "work_mem": "32MB" },
        "inherit": false,
    });
    let siblings = vec![json!({ "name": "conf_a" }), json!({ "name": "conf_b", "replication": true })];
    let case = Case::new("POSTGRES::Server::Role", create).update(update).siblings(siblings);
    passes(case.text("comment").write_only(&["password"]), &fixture).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn databases() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.sql("CREATE ROLE conf_owner").await;
    let create = json!({
        "name": "conf database ☃", "owner": "conf_owner", "template": "template0", "encoding": "UTF8",
        "collation": "C", "characterType": "C", "connectionLimit": 7, "settings": { "work_mem": "8MB" },
        "comment": "one",
    });
    let update = json!({
        "name": "conf database ☃", "owner": "admin", "connectionLimit": -1, "allowConnections": false,
        "settings": {}, "comment": "another",
    });
    // Read back without a declaration, no settings are not shown.
    let update = with(update, json!({ "settings": { "statement_timeout": "1min" } }));
    let siblings = vec![json!({ "name": "conf_db_a", "template": "template0" })];
    let case = Case::new("POSTGRES::Server::Database", create).update(update).siblings(siblings);
    passes(case.text("comment").write_only(&["template"]), &fixture).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn schemas() {
    let Some(fixture) = Fixture::new().await else { return };
    let database = json!({ "database": fixture.database });
    fixture.sql("CREATE ROLE conf_schema_owner").await;
    let create = json!({ "name": "a.b/c\"d", "owner": "conf_schema_owner", "comment": "x" });
    let update = json!({ "name": "a.b/c\"d", "owner": "admin", "comment": "y" });
    let siblings = vec![with(database.clone(), json!({ "name": "other" }))];
    let case = Case::new("POSTGRES::Database::Schema", with(database.clone(), create));
    passes(case.text("comment").update(with(database, update)).siblings(siblings), &fixture).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn extensions() {
    let Some(fixture) = Fixture::new().await else { return };
    let database = json!({ "database": fixture.database });
    let create = json!({ "name": "citext", "schema": "app", "version": "1.6" });
    let update = json!({ "name": "citext", "schema": "public", "version": "1.6" });
    let siblings = vec![with(database.clone(), json!({ "name": "hstore" }))];
    let case = Case::new("POSTGRES::Database::Extension", with(database.clone(), create));
    passes(case.update(with(database, update)).siblings(siblings), &fixture).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn grants() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture
        .sql("CREATE ROLE \"conf reader\"; CREATE TABLE app.t (a integer); CREATE VIEW app.v AS SELECT 1")
        .await;
    fixture.sql("CREATE FUNCTION app.f(a integer, b text) RETURNS integer LANGUAGE sql AS 'SELECT 1'").await;
    let base = json!({ "database": fixture.database, "schema": "app", "role": "conf reader" });
    let table = with(base.clone(), json!({ "objectType": "TABLE", "object": "t" }));
    let siblings = vec![
        with(base.clone(), json!({ "objectType": "TABLE", "object": "v", "privileges": ["SELECT"] })),
        with(
            base,
            json!({
                "objectType": "FUNCTION", "object": "f", "arguments": "integer, text", "privileges": ["EXECUTE"],
            }),
        ),
    ];
    let create = json!({ "privileges": ["INSERT", "SELECT", "UPDATE"], "grantable": ["SELECT", "UPDATE"] });
    let update = json!({ "privileges": ["DELETE", "SELECT", "UPDATE"], "grantable": ["DELETE", "SELECT"] });
    let case = Case::new("POSTGRES::Database::Grant", with(table.clone(), create));
    passes(case.update(with(table, update)).siblings(siblings), &fixture).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn default_privileges() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.sql("CREATE ROLE conf_maker; CREATE ROLE conf_user").await;
    let base = json!({ "database": fixture.database, "owner": "conf_maker", "role": "conf_user" });
    let tables = with(base.clone(), json!({ "schema": "app", "objectType": "TABLES" }));
    let siblings = vec![
        with(base.clone(), json!({ "objectType": "SEQUENCES", "privileges": ["USAGE"] })),
        with(base, json!({ "objectType": "TYPES", "privileges": ["USAGE"] })),
    ];
    let case = Case::new(
        "POSTGRES::Database::DefaultPrivileges",
        with(tables.clone(), json!({ "privileges": ["INSERT", "SELECT"] })),
    );
    let update = with(tables, json!({ "privileges": ["SELECT"], "grantable": ["SELECT"] }));
    passes(case.update(update).siblings(siblings), &fixture).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables() {
    let Some(fixture) = Fixture::new().await else { return };
    let base = json!({ "database": fixture.database, "schema": "app" });
    fixture.sql("CREATE TABLE app.customers (id bigint PRIMARY KEY, region text, UNIQUE (id, region))").await;
    let column = |name: &str, kind: &str| json!({ "name": name, "type": kind, "nullable": true });
    let create = json!({
        "name": "orders",
        "columns": [
            { "name": "id", "type": "bigint", "nullable": false, "identity": "ALWAYS", "comment": "it's the key" },
            { "name": "customer", "type": "bigint", "nullable": false },
            column("region", "text"),
            { "name": "total", "type": "numeric(10,2)", "nullable": false, "default": "0" },
            { "name": "twice", "type": "numeric", "nullable": true, "generated": "(total * (2)::numeric)" },
            column("we\"ird ☃", "character varying(10)"),
        ],
        "primaryKey": { "name": "orders_pkey", "columns": ["id"] },
        "uniqueKeys": [{
            "name": "orders_once", "columns": ["customer", "region"], "nullsNotDistinct": true, "deferrable": true,
            "initiallyDeferred": false,
        }],
        "foreignKeys": [{
            "name": "orders_customer", "columns": ["customer"], "referencedSchema": "app",
            "referencedTable": "customers", "referencedColumns": ["id"], "onDelete": "CASCADE",
            "onUpdate": "NO ACTION", "deferrable": false, "initiallyDeferred": false,
        }],
        "checks": [{ "name": "positive", "expression": "(total >= (0)::numeric)" }],
        "indexes": [{
            "name": "orders_recent", "keys": [
                { "name": "customer", "descending": true }, { "expression": "lower(region)", "descending": false },
            ],
            "unique": false, "method": "btree", "include": ["total"], "nullsNotDistinct": false,
            "where": "(total > (0)::numeric)",
        }],
        "comment": "all of them", "rowLevelSecurity": true, "unlogged": false,
    });
    let mut update = create.clone();
    update["columns"][3] = json!({ "name": "total", "type": "numeric(10,2)", "nullable": true });
    update["columns"][5] = column("we\"ird ☃", "text");
    update["columns"].as_array_mut().expect("a list").push(
        json!({ "name": "note", "type": "text", "nullable": false, "default": "''::text", "comment": "new" }),
    );
    update["primaryKey"]["name"] = json!("orders_key");
    update["uniqueKeys"][0]["deferrable"] = json!(false);
    update["foreignKeys"][0]["onDelete"] = json!("RESTRICT");
    update["checks"] = json!([
        { "name": "positive", "expression": "(total > (0)::numeric)" },
        { "name": "short", "expression": "(length(note) < 100)" },
    ]);
    update["indexes"] = json!([{
        "name": "orders_by_region", "keys": [{ "name": "region", "descending": false }], "unique": true,
        "method": "btree", "nullsNotDistinct": false,
    }]);
    update["comment"] = json!("most of them");
    update["rowLevelSecurity"] = json!(false);
    update["unlogged"] = json!(true);
    let siblings = vec![
        with(base.clone(), json!({ "name": "other", "columns": [column("a", "integer")] })),
        with(base.clone(), json!({ "name": "none", "columns": [], "unlogged": true })),
    ];
    // What has no columns shows none.
    let siblings = siblings.into_iter().take(1).collect();
    let case = Case::new("POSTGRES::Database::Table", with(base.clone(), create));
    passes(case.text("comment").update(with(base, update)).siblings(siblings), &fixture).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn functions() {
    let Some(fixture) = Fixture::new().await else { return };
    let base = json!({ "database": fixture.database, "schema": "app" });
    let create = json!({
        "name": "add up", "arguments": [
            { "name": "a", "type": "integer", "mode": "IN" },
            { "name": "b", "type": "integer[]", "mode": "IN", "default": "ARRAY[1, 2]" },
        ],
        "returns": "bigint", "returnsSet": false, "language": "plpgsql",
        "body": "BEGIN RETURN a + b[1]; -- it's $$ fine $$ \\ \nEND", "volatility": "STABLE", "strict": true,
        "securityDefiner": true, "parallel": "SAFE", "cost": 12.0, "settings": { "search_path": "app, pg_temp" },
        "comment": "adds",
    });
    let mut update = create.clone();
    update["body"] = json!("BEGIN RETURN 1; END");
    update["volatility"] = json!("IMMUTABLE");
    update["strict"] = json!(false);
    update["settings"] = json!({ "work_mem": "1MB" });
    let siblings = vec![
        with(
            base.clone(),
            json!({
                "name": "add up", "arguments": [{ "type": "text", "mode": "IN" }], "returns": "text",
                "language": "sql", "body": "SELECT $1",
            }),
        ),
        with(
            base.clone(),
            json!({
                "name": "rows", "arguments": [
                    { "name": "n", "type": "integer", "mode": "IN" }, { "name": "x", "type": "text", "mode": "TABLE" },
                ],
                "language": "sql", "body": "SELECT 'x' FROM generate_series(1, n)", "rows": 5.0,
            }),
        ),
    ];
    let case = Case::new("POSTGRES::Database::Function", with(base.clone(), create));
    passes(case.text("body").update(with(base, update)).siblings(siblings), &fixture).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn publications() {
    let Some(fixture) = Fixture::new().await else { return };
    let base = json!({ "database": fixture.database });
    fixture.sql("CREATE TABLE app.t (a integer PRIMARY KEY, b text); CREATE TABLE app.u (a integer)").await;
    fixture.sql("CREATE SCHEMA whole; CREATE ROLE conf_publisher SUPERUSER").await;
    let create = json!({
        "name": "pub ☃", "tables": [{ "schema": "app", "name": "t", "columns": ["a", "b"], "where": "(a > 5)" }],
        "schemas": [], "publish": ["insert", "update"], "comment": "some", "allTables": false,
    });
    let create = with(create, json!({ "publishViaPartitionRoot": true }));
    let update = json!({
        "name": "pub ☃", "tables": [{ "schema": "app", "name": "t" }, { "schema": "app", "name": "u" }],
        "schemas": ["whole"], "owner": "conf_publisher", "publish": ["insert"],
    });
    let mut create = create;
    create.as_object_mut().expect("an object").shift_remove("schemas");
    let siblings = vec![with(base.clone(), json!({ "name": "all", "allTables": true }))];
    let case = Case::new("POSTGRES::Database::Publication", with(base.clone(), create));
    passes(case.text("comment").update(with(base, update)).siblings(siblings), &fixture).await;
}
