//! The LOCAL and the POSTGRES plugin, installed side by side and deployed through the binary.

use crate::common::{Home, text};
use crate::processes::{repository, script, write_program};
use formwork_store::testing::TestPostgres;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A home with the plugins installed, and the root of its LOCAL target.
pub(crate) fn world() -> (Home, PathBuf) {
    let mut home = Home::new();
    home.set("TMPDIR", home.path().display().to_string());
    home.set("FORMWORK_LOG", "warn");
    install(&home, "local");
    install(&home, "postgres");
    let root = home.path().join("root");
    fs::create_dir(&root).expect("made");
    (home, root)
}

/// Installs a plugin of this repository, whose process is this program.
pub(crate) fn install(home: &Home, name: &str) {
    let source = repository(&format!("plugins/{name}"));
    let place = home.data().join(format!("plugins/{name}/v0.1.0"));
    copy(&source.join("schema"), &place.join("schema"));
    fs::copy(source.join("formae-plugin.pkl"), place.join("formae-plugin.pkl")).expect("copied");
    write_program(&place.join(name), &script(name));
    fs::set_permissions(home.data(), fs::Permissions::from_mode(0o700)).expect("changed");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("there") {
        let entry = entry.expect("there");
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).expect("copied");
        }
    }
}

pub(crate) fn targets(root: &Path, server: &TestPostgres) -> Value {
    json!({
        "Disk": { "type": "target", "properties": {
            "namespace": "LOCAL", "config": { "Type": "LOCAL", "Root": root } } },
        "Server": { "type": "target", "properties": {
            "namespace": "POSTGRES",
            "config": { "Type": "POSTGRES", "Host": server.directory(), "User": "postgres" } } },
    })
}

fn with(targets: Value, resources: Value) -> String {
    let (Value::Object(mut all), Value::Object(resources)) = (targets, resources) else { panic!("objects") };
    all.extend(resources);
    json!({ "resources": all }).to_string()
}

/// What a query answers, as text.
fn ask(server: &TestPostgres, database: &str, query: &str) -> String {
    server.ask(database, query)
}

#[test]
fn a_formation_of_two_plugins_is_deployed_changed_replaced_and_deleted() {
    let Some(server) = TestPostgres::shared() else { return };
    let (home, root) = world();
    let template = |limit: u32, file: &str, content: &str| {
        let resources = json!({
            "Owner": { "type": "POSTGRES::Server::Role", "target": "Server", "properties": {
                "name": "real_owner", "login": true, "password": "canary-owner", "connectionLimit": limit } },
            "Shop": { "type": "POSTGRES::Server::Database", "target": "Server", "properties": {
                "name": "real_shop", "owner": { "ref": "Owner" }, "template": "template0" } },
            "App": { "type": "POSTGRES::Database::Schema", "target": "Server", "properties": {
                "database": { "ref": "Shop" }, "name": "app", "owner": { "ref": "Owner" } } },
            "Conf": { "type": "LOCAL::FS::Directory", "target": "Disk", "properties": { "path": "conf" } },
            "Settings": { "type": "LOCAL::FS::File", "target": "Disk", "properties": {
                "path": { "sub": format!("${{Conf}}/{file}") }, "directory": { "ref": "Conf" },
                "content": { "sub": format!("database = ${{Shop}} {content}\n") } } },
        });
        with(targets(&root, server), resources)
    };
    home.write("one.json", template(3, "app.toml", "one"));
    let id = text(&home.deploy("site", "one.json", &[]), "id").to_owned();
    let read = |file: &str| fs::read_to_string(root.join("conf").join(file));
    assert_eq!(read("app.toml").expect("there"), "database = real_shop one\n");
    let limit =
        || ask(server, "postgres", "SELECT rolconnlimit::text FROM pg_roles WHERE rolname = 'real_owner'");
    assert_eq!(limit(), "3");
    assert_eq!(
        ask(server, "real_shop", "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'app'"),
        "real_owner"
    );
    let actions = |file: &str| -> Vec<(String, String)> {
        home.changes(&id, file).into_iter().filter(|(_, action)| action != "no-op").collect()
    };
    assert_eq!(actions("one.json"), [], "a second plan is empty");

    home.write("two.json", template(5, "app.toml", "two"));
    let pair = |label: &str, action: &str| (label.to_owned(), action.to_owned());
    assert_eq!(actions("two.json"), [pair("Owner", "update"), pair("Settings", "update")]);
    home.redeploy(&id, "two.json", &[]);
    assert_eq!(
        (limit().as_str(), read("app.toml").expect("there").as_str()),
        ("5", "database = real_shop two\n")
    );
    assert_eq!(actions("two.json"), []);

    home.write("three.json", template(5, "service.toml", "two"));
    assert_eq!(actions("three.json"), [pair("Settings", "replace")]);
    home.redeploy(&id, "three.json", &[]);
    assert!(read("app.toml").is_err() && read("service.toml").is_ok());

    // A change that fails in the middle leaves what was.
    let mut broken: Value = serde_json::from_str(&template(7, "service.toml", "three")).expect("JSON");
    broken["resources"]["Second"] = json!({ "type": "POSTGRES::Database::Schema", "target": "Server",
        "depends_on": ["Settings"], "properties": { "database": { "ref": "Shop" }, "name": "two" } });
    broken["resources"]["Third"] = json!({ "type": "POSTGRES::Database::Schema", "target": "Server",
        "depends_on": ["Second"], "properties": { "database": { "ref": "Shop" }, "name": "pg_refused" } });
    home.write("broken.json", broken.to_string());
    let ran =
        home.run(&["update-formation", "--formation-id", &id, "--template-file", "broken.json"]).exits(1);
    assert!(ran.stderr.contains("Third"), "{}", ran.stderr);
    let schemas = "SELECT count(*)::text FROM pg_namespace WHERE nspname IN ('two', 'pg_refused')";
    assert_eq!(ask(server, "real_shop", schemas), "0", "what was made by the failed change is gone");

    home.run(&["delete-formation", "--formation-id", &id]).ok();
    assert!(fs::read_dir(&root).expect("there").all(|it| it.expect("there").file_name() == ".formwork"));
    let left = "SELECT count(*)::text FROM pg_database WHERE datname = 'real_shop'";
    assert_eq!(ask(server, "postgres", left), "0");
}

#[test]
fn a_secret_that_one_plugin_holds_reaches_another_and_nothing_else() {
    let Some(server) = TestPostgres::shared() else { return };
    let (home, root) = world();
    let template = |limit: u32, length: u32| {
        let resources = json!({
            "Drawn": { "type": "LOCAL::Random::Password", "target": "Disk", "properties": { "length": length } },
            "User": { "type": "POSTGRES::Server::Role", "target": "Server", "properties": {
                "name": "real_user", "login": true, "connectionLimit": limit,
                "password": { "ref_attr": "Drawn.value" } } },
            "Kept": { "type": "LOCAL::FS::File", "target": "Disk", "properties": {
                "path": "password", "secretContent": { "ref_attr": "Drawn.value" } } },
        });
        with(targets(&root, server), resources)
    };
    server.require_password("real_user");
    home.write("one.json", template(3, 24));
    let created = home.run(&["create-formation", "--name", "site", "--template-file", "one.json"]).ok();
    let id = text(&created.json(), "id").to_owned();
    let password = || fs::read_to_string(root.join("password")).expect("there");
    let first = password();
    assert_eq!(first.len(), 24);
    assert!(server.logs_in("real_user", &first), "the password is the one that was drawn");
    assert!(!server.logs_in("real_user", "another"));

    let again = home.run(&["plan-formation", "--formation-id", &id, "--template-file", "one.json"]).ok();
    let changes = again.json()["changes"].clone();
    let changed: Vec<&Value> =
        changes.as_array().expect("changes").iter().filter(|change| change["action"] != "no-op").collect();
    assert!(changed.is_empty(), "{changed:#?}");

    // A change of something else sends it again.
    home.write("two.json", template(4, 24));
    let updated = home.run(&["update-formation", "--formation-id", &id, "--template-file", "two.json"]).ok();
    assert!(server.logs_in("real_user", &first));

    // Another password is drawn, and follows.
    home.write("three.json", template(4, 30));
    let replaced =
        home.run(&["update-formation", "--formation-id", &id, "--template-file", "three.json"]).ok();
    let second = password();
    assert_eq!(second.len(), 30);
    assert!(server.logs_in("real_user", &second) && !server.logs_in("real_user", &first));

    let shown = home.run(&["get-formation", &id]).ok();
    let events = home.run(&["list-formation-events", &id]).ok();
    let drift = home.run(&["drift", "--formation-id", &id]);
    let said: Vec<String> = [&created, &again, &updated, &replaced, &shown, &events, &drift]
        .iter()
        .flat_map(|ran| [ran.stdout.clone(), ran.stderr.clone()])
        .collect();
    for secret in [&first, &second] {
        assert!(!said.iter().any(|text| text.contains(secret.as_str())), "a secret was shown");
        assert_eq!(holding(&home.data(), secret), Vec::<PathBuf>::new(), "a secret was stored");
    }
    home.run(&["delete-formation", "--formation-id", &id]).ok();
}

/// The files below a directory that hold a text.
fn holding(directory: &Path, wanted: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("there") {
        let path = entry.expect("there").path();
        if path.is_dir() {
            found.extend(holding(&path, wanted));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(wanted.len()).any(|window| window == wanted.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn an_attribute_that_is_none_is_an_error_with_its_place() {
    let Some(server) = TestPostgres::shared() else { return };
    let (home, root) = world();
    let resources = json!({
        "Drawn": { "type": "LOCAL::Random::Password", "target": "Disk", "properties": { "length": 24 } },
        "User": { "type": "POSTGRES::Server::Role", "target": "Server", "properties": {
            "name": "u", "password": { "ref_attr": "Drawn.valeu" } } },
    });
    home.write("wrong.json", with(targets(&root, server), resources));
    let ran = home.run(&["validate-formation", "--template-file", "wrong.json"]).exits(1);
    for part in ["has no output 'valeu'", "did you mean `value`?"] {
        assert!(ran.stderr.contains(part), "{part}\n{}", ran.stderr);
    }
}
