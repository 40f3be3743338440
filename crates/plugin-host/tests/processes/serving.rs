//! What a plugin that behaves can rely on, and what those who call it can.

use crate::world::{Made, THING, World, context, create, hosted, only};
use formwork_model::{Catalog as _, Kind, Secret, UpdateMethod};
use formwork_plugin::{OperationErrorCode, OperationStatus, ReadRequest, ValidateRequest};
use formwork_plugin_host::{PluginOptions, Plugins};
use serde_json::json;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_call_arrives_whole_and_so_does_its_answer() {
    let world = World::with("");
    let plugins = world.load().await;
    let plugin = hosted(&plugins);
    let sent = json!({"Name": "a", "Big": u64::MAX, "Float": 1.0, "Text": "x".repeat(1 << 20)});
    let made = create(&*plugin, sent.clone(), LONG).await.expect("made");
    assert_eq!(made.operation_status, OperationStatus::Success);
    assert_eq!(made.resource_properties.expect("properties").to_string(), sent.to_string());

    let failed = create(&*plugin, json!({"Do": "fail"}), LONG).await.expect("an answer");
    assert_eq!(failed.error_code, Some(OperationErrorCode::AccessDenied));

    let request = ReadRequest {
        resource_type: THING.into(),
        native_id: "nothing".into(),
        target_config: Secret::new(json!({})),
        redact_sensitive: true,
        prior_properties: None,
    };
    let read = plugin.read(&context(LONG), request).await.expect("an answer");
    assert_eq!(read.error_code, Some(OperationErrorCode::NotFound));
    let request = ValidateRequest {
        resource_type: THING.into(),
        label: "Thing".into(),
        properties: Secret::new(json!({})),
    };
    assert_eq!(plugin.validate(request).await, Ok(Vec::new()));
    plugins.stop().await;
    assert_eq!(world.sockets(), 0, "the directory of its socket is removed");
}

#[tokio::test]
async fn who_calls_is_told_but_for_the_lease() {
    let world = World::with("");
    let plugins = world.load().await;
    let told = create(&*hosted(&plugins), json!({"Do": "context"}), LONG).await.expect("made");
    let told = told.resource_properties.expect("properties");
    assert_eq!((&told["label"], &told["attempt"]), (&json!("Thing"), &json!(2)));
    assert_eq!(told["token"], json!("07".repeat(32)));
    assert_eq!(told["trace"], json!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
    assert_eq!(told["fence"], json!(null));
    plugins.stop().await;
}

#[tokio::test]
async fn a_process_has_the_environment_that_is_declared_and_no_other() {
    let world = World::with("");
    let mut options = world.options();
    options.environment.insert("LANG".to_owned(), Secret::new("C.UTF-8".to_owned()));
    let declared = [("CLOUD_TOKEN".to_owned(), Secret::new("canary".to_owned()))];
    let said = PluginOptions { environment: declared.into(), ..PluginOptions::default() };
    options.plugins.insert("unruly".to_owned(), said);
    let plugins = Plugins::load(options).await;
    let told = create(&*hosted(&plugins), json!({"Do": "environment"}), LONG).await.expect("made");
    let told = told.resource_properties.expect("properties");
    let names: Vec<&str> = told.as_object().expect("an object").keys().map(String::as_str).collect();
    for name in names {
        // What the shell and the test harness of this plugin's program set themselves.
        let own =
            ["PWD", "SHLVL", "_", "OLDPWD", "UNRULY", "UNRULY_NAMESPACE", "UNRULY_TYPES"].contains(&name);
        let given = ["LANG", "CLOUD_TOKEN"].contains(&name) || name.starts_with("FORMWORK_PLUGIN_");
        assert!(own || given, "{name}");
    }
    assert_eq!((&told["LANG"], &told["CLOUD_TOKEN"]), (&json!("C.UTF-8"), &json!("canary")));
    plugins.stop().await;
}

#[tokio::test]
async fn its_schema_says_what_may_be_declared() {
    let world = World::with("");
    let plugins = world.load().await;
    let plugin = only(&plugins);
    assert_eq!((plugin.version.as_str(), plugin.namespace.as_str()), ("0.1.0", "UNRULY"));
    assert_eq!(plugin.faults, Vec::<String>::new());
    let rules = plugins.get(&THING.into()).expect("a type");
    assert_eq!(rules.unavailable(), None);
    let schema = rules.schema();
    assert_eq!(&*schema.doc, "A thing.");
    let names: Vec<&str> = schema.names().collect();
    assert_eq!(names, ["name", "password", "tags"]);
    let name = schema.property("name").expect("there");
    assert_eq!((name.kind, &*name.doc), (Kind::Any, "Its name."));
    assert!(name.hint.create_only && name.hint.required);
    assert!(schema.property("password").expect("there").hint.write_only);
    let tags = &schema.property("tags").expect("there").hint.update_method;
    assert!(matches!(tags, UpdateMethod::EntitySet(_)), "{tags:?}");
    assert_eq!(plugins.names(), [THING.into()]);
    assert!(plugins.get(&"OTHER::A::B".into()).is_none());
    plugins.stop().await;
}

#[tokio::test]
async fn nothing_is_started_again_that_is_known() {
    let world = World::with("");
    world.load().await.stop().await;
    let plugins = world.load().await;
    assert_eq!(world.sockets(), 0, "no process was started");
    assert_eq!(plugins.names(), [THING.into()]);
    create(&*hosted(&plugins), json!({}), LONG).await.expect("the first call starts it");
    assert_eq!(world.sockets(), 1);
    plugins.stop().await;
}

#[tokio::test]
async fn what_changed_is_looked_at_again() {
    let world = World::with("");
    world.load().await.stop().await;
    let kept = world.path().join("cache/unruly.json");
    let first = std::fs::read(&kept).expect("kept");

    let more = "UNRULY::Test::More";
    world.install(&Made { declares: &[THING, more], serves: &[THING, more], ..Made::default() });
    let plugins = world.load().await;
    assert_eq!(plugins.names(), [more.into(), THING.into()]);
    plugins.stop().await;

    // What is kept for other files, or damaged, is worth nothing.
    for worthless in [first, b"{".to_vec()] {
        std::fs::write(&kept, worthless).expect("written");
        let plugins = world.load().await;
        assert_eq!(plugins.names(), [more.into(), THING.into()]);
        plugins.stop().await;
    }
}

#[tokio::test]
async fn the_operator_turns_plugins_off_and_sets_their_rate() {
    let world = World::with("");
    let mut options = world.options();
    let said = PluginOptions { rate_limit: Some(3), ..PluginOptions::default() };
    options.plugins.insert("unruly".to_owned(), said);
    let plugins = Plugins::load(options.clone()).await;
    assert_eq!(hosted(&plugins).rate_limit().max_requests_per_second_for_namespace, 3);
    plugins.stop().await;

    options.plugins.get_mut("unruly").expect("there").disabled = true;
    let plugins = Plugins::load(options).await;
    assert!(only(&plugins).disabled && plugins.names().is_empty());
    assert!(plugins.get(&THING.into()).is_none());
}

#[tokio::test]
async fn two_plugins_may_share_a_namespace() {
    let world = World::with("");
    let other = ["UNRULY::Other::Thing"];
    world.install(&Made { name: "second", declares: &other, serves: &other, ..Made::default() });
    let plugins = world.load().await;
    assert_eq!(plugins.names(), [other[0].into(), THING.into()]);
    assert!(plugins.all().iter().all(|plugin| plugin.faults.is_empty()));
    plugins.stop().await;
}

#[tokio::test]
async fn a_process_ends_with_its_host() {
    let world = World::with("");
    let plugins = world.load().await;
    create(&*hosted(&plugins), json!({}), LONG).await.expect("made");
    drop(plugins);
    let gone = async {
        while world.sockets() > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, gone).await.expect("its process is gone");
}
