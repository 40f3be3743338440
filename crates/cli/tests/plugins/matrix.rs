//! Each way in which a plugin goes wrong, as a person meets it: one clear error, a deploy that is over within its
//! bound, and another namespace that does not notice.

use crate::common::{Home, text};
use crate::processes::write_program;
use formwork_plugin::{About, Operation};
use formwork_plugin_fake_cloud::{
    CHILD, Cloud, FakeCloudProcess, GRAND_CHILD, Outcome, Pause, RESOURCE, Rule, Script, TIMEOUT_MILLIS,
};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a deploy may take in which one call is never answered: its time, and what a busy machine adds.
const BOUND: Duration = Duration::from_millis(TIMEOUT_MILLIS + 15_000);

/// The process of the plugins of these tests.
#[test]
#[ignore = "it is the process of a plugin, which the other tests start"]
fn fake_cloud() {
    let about = About { name: "fake-cloud", version: "0.1.0" };
    let _ = formwork_plugin::run(about, FakeCloudProcess::default());
}

struct World {
    home: Home,
    cloud: Cloud,
}

fn world() -> World {
    let mut home = Home::new();
    home.set("FORMWORK_LOG", "warn");
    home.set("TMPDIR", home.path().display().to_string());
    let place = home.path().join("cloud");
    fs::create_dir(&place).expect("made");
    let world = World { home, cloud: Cloud::open(&place).expect("a cloud") };
    world.install("fake-cloud");
    world
}

impl World {
    fn install(&self, name: &str) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/fake-cloud");
        let place = self.home.data().join(format!("plugins/{name}/v0.1.0"));
        fs::create_dir_all(place.join("schema/pkl")).expect("made");
        fs::set_permissions(self.home.data(), fs::Permissions::from_mode(0o700)).expect("changed");
        for file in ["schema/pkl/generic.pkl", "schema/pkl/target.pkl"] {
            fs::copy(source.join(file), place.join(file)).expect("copied");
        }
        let manifest = fs::read_to_string(source.join("formae-plugin.pkl")).expect("read");
        let manifest = manifest.replace("name = \"fake-cloud\"", &format!("name = \"{name}\""));
        fs::write(place.join("formae-plugin.pkl"), manifest).expect("written");
        let program = std::env::current_exe().expect("this program");
        let run = "--ignored --exact --nocapture matrix::fake_cloud";
        write_program(&place.join(name), &format!("#!/bin/sh\nexec '{}' {run}\n", program.display()));
    }

    fn program(&self) -> std::path::PathBuf {
        self.home.data().join("plugins/fake-cloud/v0.1.0/fake-cloud")
    }

    fn template(&self) -> Value {
        let config = json!({ "Directory": self.home.path().join("cloud"), "Token": { "param": "token" } });
        let of = |type_name: &str, properties: Value| json!({ "type": type_name, "target": "Here", "properties": properties });
        json!({
            "parameters": { "token": { "type": "string", "no_echo": true, "default": "t" } },
            "resources": {
                "Here": { "type": "target", "properties": { "namespace": "FAKE", "config": config } },
                "Root": of(RESOURCE, json!({ "name": "root" })),
                "Child": of(CHILD, json!({ "name": "child", "parentId": { "ref": "Root" } })),
                "Bad": of(GRAND_CHILD, json!({ "name": "bad", "childId": { "ref": "Child" } })),
                "Note": { "type": "memory", "properties": { "name": "another namespace" } },
            },
        })
    }

    /// Deploys while a create goes wrong of which nothing can be found out; answers what is said of it.
    fn failed(&self, rule: Rule) -> String {
        let rule = Rule {
            id: "bad".into(),
            operation: Some(Operation::Create),
            label: Some("Bad".into()),
            times: 1,
            ..rule
        };
        self.cloud.script(&Script { rules: vec![rule], ..Script::default() }).expect("written");
        self.home.write("t.json", self.template().to_string());
        let began = Instant::now();
        let create = ["create-formation", "--name", "s", "--template-file", "t.json", "--on-failure", "keep"];
        let ran = self.home.run(&create).exits(1);
        assert!(began.elapsed() < BOUND, "it took {:?}", began.elapsed());
        let formation = ran.json();
        assert_eq!(formation["status"], "failed");
        for resource in formation["resources"].as_array().expect("a list") {
            let expected = if resource["logical_id"] == "Bad" { "failed" } else { "created" };
            assert_eq!(resource["status"], expected, "{resource}");
        }
        self.recovers(text(&formation, "id"));
        text(&formation["error"], "message").to_owned()
    }

    /// A person says what became of it, and all is as declared, once.
    fn recovers(&self, id: &str) {
        let mut cloud = Cloud::open(&self.home.path().join("cloud")).expect("a cloud");
        let state = cloud.look().expect("read").0;
        let made = state.objects.iter().find(|(_, object)| object.type_name == GRAND_CHILD);
        let decision = made.map_or(["--discard".to_owned(), "Bad".to_owned()], |(id, _)| {
            ["--adopt".to_owned(), format!("Bad={id}")]
        });
        let update = ["update-formation", "--formation-id", id, "--template-file", "t.json"];
        let ran = self.home.run(&[&update[..], &[&decision[0], &decision[1]]].concat()).ok();
        assert_eq!(ran.json()["status"], "active");
        assert_eq!(cloud.look().expect("read").0.objects.len(), 3, "INV-2");
    }

    /// Validates a template that names the plugin's types, and one that does not.
    fn refused(&self) -> String {
        self.home.write("t.json", self.template().to_string());
        let began = Instant::now();
        let ran = self.home.run(&["create-formation", "--name", "s", "--template-file", "t.json"]).exits(1);
        assert!(began.elapsed() < BOUND, "it took {:?}", began.elapsed());
        let other =
            json!({ "resources": { "Note": { "type": "memory", "properties": { "name": "alone" } } } });
        self.home.write("other.json", other.to_string());
        self.home.deploy("other", "other.json", &[]);
        ran.stderr
    }
}

#[test]
fn a_plugin_that_dies_hangs_or_says_too_much_fails_one_resource_and_says_why() {
    let dies = "the plugin `fake-cloud` is not available: its process ended (exit status: 70)";
    let hangs = "No answer came in time.";
    let huge =
        "the plugin `fake-cloud` gave an answer that makes no sense: the answer has more than 16777216 bytes";
    for (rule, why) in [
        (Rule { before: Pause::Crash, ..Rule::default() }, dies),
        (Rule { after: Pause::Crash, ..Rule::default() }, dies),
        (Rule { before: Pause::Hang, ..Rule::default() }, hangs),
        (Rule { after: Pause::Hang, ..Rule::default() }, hangs),
        (Rule { outcome: Outcome::Huge { megabytes: 20 }, ..Rule::default() }, huge),
    ] {
        let said = world().failed(rule);
        assert!(said.starts_with("Whether `Bad` was created is not known: "), "{said}");
        assert!(said.contains(why), "{why}: {said}");
    }
}

#[test]
fn a_program_that_is_missing_stops_its_own_types() {
    let world = world();
    let program = world.program();
    fs::remove_file(&program).expect("removed");
    let said = world.refused();
    assert!(said.contains("`fake-cloud` cannot be used") && said.contains("is missing"), "{said}");
}

#[test]
fn a_program_that_ends_at_once_stops_its_own_types() {
    let world = world();
    write_program(&world.program(), "#!/bin/sh\necho 'ERROR no licence' >&2\nexit 3\n");
    let said = world.refused();
    for part in ["`fake-cloud` cannot be used", "exit status: 3", "no licence"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

#[test]
fn a_program_of_another_version_stops_its_own_types() {
    let world = world();
    let place = world.program().parent().expect("a directory").to_owned();
    fs::rename(&place, place.with_file_name("v0.2.0")).expect("renamed");
    let said = world.refused();
    assert!(said.contains("its manifest says that the version is `0.1.0`"), "{said}");
}

#[test]
fn two_plugins_with_the_same_types_are_both_named() {
    let world = world();
    world.install("rival");
    let said = world.refused();
    // The rival's process says that it is `fake-cloud`, so it may not serve; or both serve, and neither may.
    assert!(said.contains("rival") && said.contains("fake-cloud"), "{said}");
}
