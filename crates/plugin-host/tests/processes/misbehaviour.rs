//! Each way of being bad ends in one clear error, in time, and nothing else notices.

use crate::world::{Made, THING, World, create, hosted, only};
use formwork_model::Catalog as _;
use formwork_plugin::{OperationErrorCode, OperationStatus, PluginError};
use formwork_plugin_host::Plugins;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(60);

/// What is wrong with the one plugin: all of it, and so what its type says.
fn fault(plugins: &Plugins) -> String {
    let [fault] = only(plugins).faults.as_slice() else { panic!("{:?}", only(plugins).faults) };
    let rules = plugins.get(&THING.into()).expect("the type says what is wrong");
    let said = rules.unavailable().expect("it can't be used");
    assert_eq!(said, format!("the plugin `unruly` cannot be used: {fault}"));
    fault.clone()
}

async fn fault_of(world: &World) -> String {
    let mut options = world.options();
    options.limits.start = Duration::from_secs(10);
    let plugins = Plugins::load(options).await;
    let fault = fault(&plugins);
    plugins.stop().await;
    assert_eq!(world.sockets(), 0, "its process is gone");
    fault.replace(&world.path().display().to_string(), "<world>")
}

#[tokio::test]
async fn a_process_that_does_not_say_what_it_must_is_not_used() {
    let mut faults = Vec::new();
    for behaviour in ["exits", "garbage", "protocol", "token", "namespace"] {
        faults.push(format!("{behaviour}: {}", fault_of(&World::with(behaviour)).await));
    }
    insta::assert_snapshot!(faults.join("\n"), @r"
    exits: its process ended before it said what it is (exit status: 3); it wrote: ERROR no credentials for the cloud
    garbage: what its process says of itself makes no sense: h2 protocol error: http2 error: transport error: connection error detected: frame with invalid size
    protocol: its process speaks version 2 of the plugin protocol, and this program version 1: use a newer `formwork`
    token: what answers on its socket is not the process that was started: the token is another
    namespace: its process serves the namespace `OTHER`, but its manifest says `UNRULY`
    ");
}

#[tokio::test]
async fn a_process_that_says_nothing_is_not_waited_for() {
    let world = World::with("silent");
    let mut options = world.options();
    options.limits.start = Duration::from_millis(700);
    let plugins = Plugins::load(options).await;
    insta::assert_snapshot!(fault(&plugins), @r"
    its process did not say what it is within 700 ms
    ");
    plugins.stop().await;
    assert_eq!(world.sockets(), 0);
}

/// What is done to an installed plugin.
type Breaking = fn(&std::path::Path);

#[tokio::test]
async fn what_is_not_installed_whole_is_not_used() {
    let mut faults = Vec::new();
    let broken: [(&str, Breaking); 8] = [
        ("no program", |place| fs::remove_file(place.join("unruly")).expect("removed")),
        ("no permission", |place| {
            fs::set_permissions(place.join("unruly"), fs::Permissions::from_mode(0o644)).expect("changed");
        }),
        ("open program", |place| {
            fs::set_permissions(place.join("unruly"), fs::Permissions::from_mode(0o777)).expect("changed");
        }),
        ("no manifest", |place| fs::remove_file(place.join("formae-plugin.pkl")).expect("removed")),
        ("no schema", |place| fs::remove_dir_all(place.join("schema")).expect("removed")),
        ("broken schema", |place| {
            fs::write(place.join("schema/pkl/other.pkl"), "import \"@cloud/a.pkl\"\n\nx = 1 +")
                .expect("written");
        }),
        ("broken manifest", |place| {
            let path = place.join("formae-plugin.pkl");
            let text = fs::read_to_string(&path).expect("read").replace("\"UNRULY\"", "\"un-ruly\"");
            fs::write(path, text).expect("written");
        }),
        ("newer formae", |place| {
            let path = place.join("formae-plugin.pkl");
            let text = fs::read_to_string(&path).expect("read").replace("0.80.0", "99.0.0");
            fs::write(path, text).expect("written");
        }),
    ];
    for (what, breaks) in broken {
        let world = World::new();
        breaks(&world.install(&Made::default()));
        faults.push(format!("{what}: {}", fault_of(&world).await));
    }
    let world = World::new();
    fs::rename(world.install(&Made::default()), world.path().join("plugins/unruly/v0.2.0")).expect("moved");
    faults.push(format!("another version: {}", fault_of(&world).await));
    insta::assert_snapshot!(faults.join("\n"), @r#"
    no program: its program `<world>/plugins/unruly/v0.1.0/unruly` is missing
    no permission: `<world>/plugins/unruly/v0.1.0/unruly` cannot be started: Permission denied (os error 13)
    open program: its program `<world>/plugins/unruly/v0.1.0/unruly` may be written by everybody (mode 0777)
    no manifest: its manifest `<world>/plugins/unruly/v0.1.0/formae-plugin.pkl` is missing
    no schema: it has no schema: `<world>/plugins/unruly/v0.1.0/schema/pkl` is missing
    broken schema: its schema cannot be evaluated: Unexpected end of file. (<world>/plugins/unruly/v0.1.0/schema/pkl/other.pkl:3)
    broken manifest: its manifest `<world>/plugins/unruly/v0.1.0/formae-plugin.pkl` cannot be evaluated: Type constraint `matches(Regex("[A-Z][A-Za-z0-9]*"))` violated. Value: "un-ruly" (<world>/plugins/unruly/v0.1.0/formae-plugin.pkl:5)
    newer formae: it needs formae 99.0.0 or newer, and this program speaks 0.89.0
    another version: its manifest says that the version is `0.1.0`, but its directory says `0.2.0`
    "#);
}

#[tokio::test]
async fn schema_and_process_must_agree() {
    let world = World::new();
    let (more, less) = ("UNRULY::Test::More", "UNRULY::Test::Less");
    world.install(&Made { declares: &[THING, less], serves: &[THING, more], ..Made::default() });
    let plugins = world.load().await;
    insta::assert_snapshot!(only(&plugins).faults.join("\n"), @r"
    its schema declares `UNRULY::Test::Less`, which its process does not serve
    its process serves `UNRULY::Test::More`, which its schema does not declare
    ");
    assert_eq!(plugins.get(&THING.into()).expect("a type").unavailable(), None);
    let said = plugins.get(&less.into()).expect("a type").unavailable().map(str::to_owned);
    insta::assert_snapshot!(said.expect("it can't be used"), @r"
    the plugin `unruly` cannot be used for it: its schema declares `UNRULY::Test::Less`, which its process does not serve
    ");
    plugins.stop().await;
}

#[tokio::test]
async fn a_type_of_two_plugins_is_served_by_neither_and_names_both() {
    let world = World::with("");
    let own = "UNRULY::Test::Own";
    world.install(&Made {
        name: "rival",
        version: "2.0.0",
        declares: &[THING, own],
        serves: &[THING, own],
        ..Made::default()
    });
    let plugins = world.load().await;
    let said = plugins.get(&THING.into()).expect("a type").unavailable().map(str::to_owned);
    insta::assert_snapshot!(said.expect("it can't be used"), @r"
    the plugins `rival` 2.0.0 and `unruly` 0.1.0 both serve the type `UNRULY::Test::Thing`
    ");
    assert_eq!(plugins.get(&own.into()).expect("a type").unavailable(), None);
    let served: Vec<_> = plugins.registrations().into_iter().flat_map(|(_, types)| types).collect();
    assert_eq!(served, [own.into()]);
    plugins.stop().await;
}

#[tokio::test]
async fn a_broken_plugin_takes_no_other_down() {
    let world = World::with("exits");
    let types = ["OTHER::A::B"];
    world.install(&Made {
        name: "other",
        namespace: "OTHER",
        declares: &types,
        serves: &types,
        ..Made::default()
    });
    fs::create_dir_all(world.path().join("plugins/hollow")).expect("made");
    let plugins = world.load().await;
    assert!(plugins.get(&THING.into()).expect("a type").unavailable().is_some());
    assert_eq!(plugins.get(&types[0].into()).expect("a type").unavailable(), None);
    // Of one that is not there at all, the name says what its types may be.
    let hollow = plugins.get(&"HOLLOW::A::B".into()).expect("a type");
    assert!(
        hollow.unavailable().expect("it can't be used").contains("has no directory named after a version")
    );
    let other = plugins.registrations().into_iter().find(|(plugin, _)| plugin.namespace() == "OTHER");
    create(&*other.expect("it is served").0, json!({}), LONG).await.expect("made");
    plugins.stop().await;
}

fn reason(answer: Result<formwork_plugin::ProgressResult, PluginError>) -> String {
    match answer {
        Ok(result) => panic!("{result:?}"),
        Err(PluginError::Lost { reason, .. }) => format!("lost: {reason}"),
        Err(PluginError::Nonsense { reason, .. }) => format!("nonsense: {reason}"),
        Err(PluginError::Unavailable { reason, .. }) => format!("unavailable: {reason}"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_crash_costs_the_calls_in_flight_and_the_next_one_works() {
    let world = World::with("");
    let plugins = world.load().await;
    let plugin = hosted(&plugins);
    let waiting = {
        let plugin = Arc::clone(&plugin);
        tokio::spawn(async move { create(&*plugin, json!({"Do": "hang"}), LONG).await })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    let began = Instant::now();
    let crashed = create(&*plugin, json!({"Do": "crash"}), LONG).await;
    insta::assert_snapshot!(reason(crashed), @r"
    lost: its process ended (signal: 6 (SIGABRT)); it wrote: ERROR going down
    ");
    let other = reason(waiting.await.expect("no panic"));
    assert!(other.starts_with("lost: its process ended (signal: 6 (SIGABRT)"), "{other}");
    assert!(began.elapsed() < LONG / 2);
    let made = create(&*plugin, json!({"Name": "a"}), LONG).await.expect("it was started again");
    assert_eq!(made.operation_status, OperationStatus::Success);
    plugins.stop().await;
}

#[tokio::test]
async fn a_plugin_that_always_crashes_is_started_less_and_less_often() {
    let world = World::with("");
    let mut options = world.options();
    options.limits.first_pause = Duration::from_secs(600);
    options.limits.patience = Duration::from_millis(50);
    let plugins = Plugins::load(options).await;
    let plugin = hosted(&plugins);
    for _ in 0..2 {
        let crashed = reason(create(&*plugin, json!({"Do": "crash"}), LONG).await);
        assert!(crashed.starts_with("lost: "), "{crashed}");
    }
    let began = Instant::now();
    let refused = reason(create(&*plugin, json!({}), LONG).await);
    assert!(refused.starts_with("unavailable: its process ended before"), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(10), "nobody waits for what will not come soon");
    plugins.stop().await;
}

#[tokio::test]
async fn a_hang_ends_with_the_deadline_and_hurts_no_other_call() {
    let world = World::with("");
    let plugins = world.load().await;
    let plugin = hosted(&plugins);
    let token = async || {
        let told = create(&*plugin, json!({"Do": "environment"}), LONG).await.expect("made");
        told.resource_properties.expect("properties")["FORMWORK_PLUGIN_TOKEN"].clone()
    };
    let before = token().await;
    let within = Duration::from_millis(500);
    let (hung, made) = tokio::join!(
        create(&*plugin, json!({"Do": "hang"}), within),
        create(&*plugin, json!({"Name": "a"}), LONG),
    );
    assert!(matches!(hung, Err(PluginError::Deadline { .. })), "{hung:?}");
    assert!(made.is_ok());
    assert_eq!(token().await, before, "its process goes on");
    plugins.stop().await;
}

#[tokio::test]
async fn a_panic_is_one_call_s_own() {
    let world = World::with("");
    let plugins = world.load().await;
    let plugin = hosted(&plugins);
    let (panicked, made) = tokio::join!(
        create(&*plugin, json!({"Do": "panic"}), LONG),
        create(&*plugin, json!({"Name": "a"}), LONG),
    );
    assert_eq!(reason(panicked), "lost: it panicked during the call");
    assert!(made.is_ok());
    plugins.stop().await;
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_one_error() {
    for behaviour in ["", "rude"] {
        let world = World::with(behaviour);
        let plugins = world.load().await;
        let plugin = hosted(&plugins);
        let huge = create(&*plugin, json!({"Do": "huge"}), LONG).await;
        assert_eq!(reason(huge), "nonsense: the answer has more than 16777216 bytes", "{behaviour}");
        create(&*plugin, json!({}), LONG).await.expect("the next call works");
        plugins.stop().await;
    }
}

#[tokio::test]
async fn a_call_that_is_too_large_is_refused_and_never_made() {
    let world = World::with("");
    let plugins = world.load().await;
    let text = "x".repeat(17 << 20);
    let refused = create(&*hosted(&plugins), json!({ "Text": text }), LONG).await.expect("an answer");
    assert_eq!(refused.error_code, Some(OperationErrorCode::InvalidRequest));
    plugins.stop().await;
}

#[tokio::test]
async fn an_answer_that_is_none_is_named_and_not_quoted() {
    let world = World::with("rude");
    let plugins = world.load().await;
    let plugin = hosted(&plugins);
    let mut reasons = Vec::new();
    for what in ["status", "json", "nothing", "refuse"] {
        reasons.push(format!("{what}: {}", reason(create(&*plugin, json!({ "Do": what }), LONG).await)));
    }
    insta::assert_snapshot!(reasons.join("\n"), @r"
    status: nonsense: `operation_status` has the value 77, which means nothing
    json: nonsense: `resource_properties` is not JSON: a mistake at line 1, column 2
    nothing: nonsense: `outcome` is not set
    refuse: nonsense: the gRPC status PermissionDenied: not\u{1b}[2J today
    ");
    plugins.stop().await;
}

#[tokio::test]
async fn garbage_on_the_connection_ends_the_process_and_the_next_call_has_a_new_one() {
    let world = World::with("breaks");
    let plugins = world.load().await;
    let plugin = hosted(&plugins);
    let broken = reason(create(&*plugin, json!({}), LONG).await);
    assert!(broken.starts_with("nonsense: the connection to its process broke: "), "{broken}");
    let again = reason(create(&*plugin, json!({}), LONG).await);
    assert!(again.starts_with("nonsense: the connection to its process broke: "), "{again}");
    plugins.stop().await;
    assert_eq!(world.sockets(), 0);
}

#[tokio::test]
async fn a_process_that_does_not_want_to_end_is_ended() {
    let world = World::with("stubborn");
    let mut options = world.options();
    options.limits.stop = Duration::from_millis(400);
    let plugins = Plugins::load(options).await;
    assert_eq!(only(&plugins).faults, Vec::<String>::new());
    let began = Instant::now();
    plugins.stop().await;
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(world.sockets(), 0);
    let refused = reason(create(&*hosted(&plugins), json!({}), LONG).await);
    assert_eq!(refused, "unavailable: this program is about to end");
}
