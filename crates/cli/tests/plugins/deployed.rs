//! Plugins installed in a directory, declared in templates, broken. What they provision is a fake cloud here, which
//! outlives every command.

use crate::common::{Home, text};
use crate::processes::{BUCKET, SCHEMA, script, write_program};
use formwork_plugin_conformance::{FakeCloud, Moment, Rule};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A home with a plugin for a cloud.
pub(crate) fn world() -> (Home, FakeCloud) {
    let mut home = Home::new();
    let socket = home.path().join("cloud");
    let cloud = FakeCloud::start(&socket).expect("it starts");
    home.set("FORMWORK_LOG", "warn");
    home.set("FAKE_CLOUD", socket.display().to_string());
    home.set("TMPDIR", home.path().display().to_string());
    fs::create_dir_all(home.path().join(".config/formwork")).expect("made");
    let config = json!({ "fake": { "environment": ["FAKE_CLOUD"] } });
    home.write(".config/formwork/plugins.json", config.to_string());
    install(&home, "fake");
    (home, cloud)
}

/// Installs the plugin under a name.
fn install(home: &Home, name: &str) {
    let place = home.data().join(format!("plugins/{name}/v0.1.0"));
    fs::create_dir_all(place.join("schema/pkl")).expect("made");
    fs::set_permissions(home.data(), fs::Permissions::from_mode(0o700)).expect("changed");
    let manifest = format!(
        "amends \"@formae/plugin-manifest.pkl\"\nname = \"{name}\"\nversion = \"0.1.0\"\nnamespace = \"FAKE\"\n\
         license = \"MIT\"\nminFormaeVersion = \"0.80.0\"\nsummary = \"A cloud that is none.\"\n"
    );
    fs::write(place.join("formae-plugin.pkl"), manifest).expect("written");
    fs::write(place.join("schema/pkl/storage.pkl"), SCHEMA).expect("written");
    write_program(&place.join(name), &script("fake"));
}

fn target() -> serde_json::Value {
    json!({ "type": "target", "properties": { "namespace": "FAKE", "config": { "region": "here" } } })
}

fn template(size: u32) -> String {
    let bucket = |name: &str| {
        json!({
            "type": BUCKET, "target": "Here",
            "properties": { "name": name, "size": size, "password": "canary-password" },
        })
    };
    json!({
        "resources": { "Here": target(), "First": bucket("one"), "Second": bucket("two"),
            "Note": { "type": "memory", "properties": { "name": { "sub": "of ${First}" } } } },
    })
    .to_string()
}

pub(crate) fn effects(cloud: &FakeCloud) -> usize {
    cloud.snapshot().log.iter().filter(|line| line.moment.is_effect()).count()
}

#[test]
fn a_formation_deploys_changes_and_deletes_what_a_plugin_serves() {
    let (home, cloud) = world();
    home.write("one.json", template(1));
    let created = home.deploy("site", "one.json", &[]);
    let id = text(&created, "id");
    let objects = cloud.snapshot().objects;
    assert_eq!(objects.len(), 2);
    assert_eq!(effects(&cloud), 2);

    home.redeploy(id, "one.json", &[]);
    assert_eq!(effects(&cloud), 2, "nothing changed, so nothing was done");

    home.write("two.json", template(2));
    home.redeploy(id, "two.json", &[]);
    let sizes: Vec<_> =
        cloud.snapshot().objects.values().map(|object| object.properties["size"].clone()).collect();
    assert_eq!(sizes, [json!(2), json!(2)]);

    home.run(&["delete-formation", "--formation-id", id]).ok();
    assert!(cloud.snapshot().objects.is_empty());
    let refused = |moment: &Moment| matches!(moment, Moment::Answered { code: Some(_) });
    assert!(!cloud.snapshot().log.iter().any(|line| refused(&line.moment)));
}

#[test]
fn a_template_is_checked_by_the_plugin_s_schema() {
    let (home, cloud) = world();
    let wrong = json!({ "resources": {
        "Here": target(),
        "A": { "type": BUCKET, "target": "Here", "properties": { "nmae": "one" } },
        "B": { "type": "FAKE::Storage::Buckt", "target": "Here", "properties": {} },
    } });
    home.write("wrong.json", wrong.to_string());
    let ran = home.run(&["validate-formation", "--template-file", "wrong.json"]).exits(1);
    for part in [
        "`FAKE::Storage::Bucket` has no property `nmae`",
        "did you mean `name`?",
        "`name` is required",
        "did you mean `FAKE::Storage::Bucket`?",
    ] {
        assert!(ran.stderr.contains(part), "{part}\n{}", ran.stderr);
    }
    assert!(cloud.snapshot().log.is_empty());
}

#[test]
fn a_step_whose_plugin_fails_says_so_and_the_rest_is_rolled_back() {
    let (home, cloud) = world();
    home.write("one.json", template(1));
    cloud.script(Rule::any().label("Second").drop_answer());
    let ran = home.run(&["create-formation", "--name", "site", "--template-file", "one.json"]).exits(1);
    assert!(ran.stderr.contains("Second") && ran.stderr.contains("fake"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("canary-password"));
}

#[test]
fn what_is_installed_is_listed_with_what_is_wrong_with_it() {
    let (home, _cloud) = world();
    install(&home, "rival");
    fs::create_dir_all(home.data().join("plugins/hollow")).expect("made");
    let listed = home.json(&["plugin", "list", "--json"]);
    let states: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|plugin| (text(plugin, "name"), text(plugin, "state")))
        .collect();
    assert_eq!(states, [("fake", "broken"), ("hollow", "broken"), ("rival", "broken")]);
    fs::remove_dir_all(home.data().join("plugins/rival")).expect("removed");
    let shown = home.run(&["plugin", "list"]).ok().stdout;
    insta::assert_snapshot!("plugin_list", shown);
    let shown = home.run(&["plugin", "info", "fake"]).ok().stdout;
    let shown = shown.replace(&home.path().display().to_string(), "<home>");
    insta::assert_snapshot!("plugin_info", shown);
    let detail = home.run(&["plugin", "info", "hollow", "--json"]).exits(1).json();
    assert!(detail["faults"][0].is_string(), "{detail}");
    let ran = home.run(&["plugin", "info", "fak"]).exits(1);
    assert!(
        ran.stderr.contains("no plugin `fak` is installed") && ran.stderr.contains("`fake`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_broken_plugin_stops_its_own_types_and_nothing_else() {
    let (home, cloud) = world();
    let program = home.data().join("plugins/fake/v0.1.0/fake");
    write_program(&program, "#!/bin/sh\necho 'ERROR no license' >&2\nexit 3\n");
    home.write("one.json", template(1));
    let ran = home.run(&["create-formation", "--name", "site", "--template-file", "one.json"]).exits(1);
    for part in ["type-unavailable", "`fake` cannot be used", "exit status: 3", "no license"] {
        assert!(ran.stderr.contains(part), "{part}\n{}", ran.stderr);
    }
    let other = json!({ "resources": { "Note": { "type": "memory", "properties": { "name": "alone" } } } });
    home.write("other.json", other.to_string());
    home.deploy("other", "other.json", &[]);
    assert!(cloud.snapshot().objects.is_empty());
}
