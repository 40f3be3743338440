//! The registration file: every rule, with the words that an operator reads.

use formwork_handler::{CustomTypes, Problem, RegistrationError, Surroundings};
use formwork_model::{
    Catalog as _, LookupRule, Replacement, RetryRule, Secret, TypeName, TypeRules, WriteOnlyRule,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

fn variable(name: &str) -> Option<Secret<String>> {
    match name {
        "CHANNEL_HANDLER_SECRET" => Some(Secret::new("s3cret".to_owned())),
        "EMPTY" => Some(Secret::new(String::new())),
        _ => None,
    }
}

fn read(text: &str) -> Result<CustomTypes, RegistrationError> {
    let built_in = [TypeName::from("agent"), TypeName::from("tool")];
    let surroundings = Surroundings { built_in: &built_in, variable: &variable };
    CustomTypes::parse(Path::new("types.json"), text, &surroundings)
}

/// The registration that seed 4 shows.
fn entry() -> Value {
    let file: Value = serde_json::from_str(include_str!("seed/resource-types.json")).expect("JSON");
    file["resource_types"][0].clone()
}

fn file(entries: &[Value]) -> String {
    json!({ "resource_types": entries }).to_string()
}

/// The registration with one thing changed.
fn with(change: impl FnOnce(&mut Value)) -> String {
    let mut entry = entry();
    change(&mut entry);
    file(&[entry])
}

fn without(key: &str) -> String {
    with(|entry| drop(entry.as_object_mut().and_then(|entry| entry.remove(key))))
}

#[track_caller]
fn refused(text: &str) -> String {
    read(text).expect_err("refused").to_string()
}

fn rules(types: &CustomTypes) -> Arc<dyn TypeRules> {
    types.get(&"channel".into()).expect("it is registered")
}

#[test]
fn the_registration_of_the_seed_is_a_type_with_the_abilities_it_declares() {
    let types = read(&file(&[entry()])).expect("valid");
    assert_eq!(types.names(), [TypeName::from("channel")]);
    let rules = rules(&types);
    let capabilities = rules.capabilities();
    assert!(capabilities.read && capabilities.validate && !capabilities.list);
    assert_eq!((capabilities.retry, &capabilities.lookup), (RetryRule::Never, &LookupRule::Token));
    assert_eq!(capabilities.replacement, Replacement::Discovered);
    assert_eq!(capabilities.write_only, WriteOnlyRule::AlwaysSend);
    assert_eq!(capabilities.iam, None);
    assert!(capabilities.timeout_millis > 30_000, "our own failure must come first");
    let schema = rules.schema();
    assert_eq!(schema.names().collect::<Vec<_>>(), ["name", "kind", "agent_id", "access_token"]);
    assert!(schema.property("name").is_some_and(|property| property.hint.required_on_create));
    assert!(schema.property("access_token").is_some_and(|property| property.hint.write_only));
    assert_eq!(rules.title(), "channel");
}

#[test]
fn what_is_optional_may_be_left_out() {
    let mut small = entry();
    small["handler"] = json!({ "url": "http://127.0.0.1:1/", "secret_env": "CHANNEL_HANDLER_SECRET" });
    let members = small.as_object_mut().expect("an object");
    for key in ["description", "capabilities", "write_only_properties"] {
        members.remove(key);
    }
    let types = read(&file(&[small])).expect("valid");
    let capabilities = rules(&types).capabilities().clone();
    assert!(!capabilities.read && !capabilities.validate);
    assert!(read(r#"{"resource_types": []}"#).expect("valid").is_empty());
}

#[test]
fn a_fraction_of_a_second_is_a_timeout() {
    let types = read(&with(|entry| entry["handler"]["timeout_seconds"] = json!(0.25))).expect("valid");
    assert!(rules(&types).capabilities().timeout_millis < 2_000);
}

#[test]
fn every_rule_has_its_words() {
    let shown = [
        refused("[]"),
        refused("{}"),
        refused(r#"{"resource_types": {}}"#),
        refused(r#"{"resource_types": [], "version": 1}"#),
        refused(&file(&[json!("channel")])),
        refused(&without("name")),
        refused(&with(|entry| entry["name"] = json!(""))),
        refused(&with(|entry| entry["name"] = json!("Channel"))),
        refused(&with(|entry| entry["name"] = json!("agent"))),
        refused(&file(&[entry(), entry()])),
        refused(&with(|entry| entry["description"] = json!(1))),
        refused(&with(|entry| entry["retries"] = json!(3))),
        refused(&without("schema")),
        refused(&with(|entry| entry["schema"] = json!({ "type": "array" }))),
        refused(&with(|entry| entry["schema"]["properties"]["name"] = json!({ "type": "text" }))),
        refused(&with(|entry| entry["schema"]["required"] = json!(["title"]))),
        refused(&without("handler")),
        refused(&with(|entry| entry["handler"]["url"] = json!("ftp://platform.internal/"))),
        refused(&with(|entry| entry["handler"]["url"] = json!("https://user:pw@platform.internal/"))),
        refused(&with(|entry| entry["handler"]["secret_env"] = json!(7))),
        refused(&with(|entry| entry["handler"]["secret_env"] = json!("EMPTY"))),
        refused(&with(|entry| entry["handler"]["secret_env"] = json!("NOWHERE"))),
        refused(&with(|entry| entry["handler"]["secret"] = json!("inlined"))),
        refused(&with(|entry| entry["handler"]["timeout_seconds"] = json!(0))),
        refused(&with(|entry| entry["handler"]["timeout_seconds"] = json!(-1))),
        refused(&with(|entry| entry["handler"]["timeout_seconds"] = json!("30"))),
        refused(&with(|entry| entry["handler"]["timeout_seconds"] = json!(1e300))),
        refused(&with(|entry| entry["capabilities"] = json!("read"))),
        refused(&with(|entry| entry["capabilities"] = json!(["create"]))),
        refused(&with(|entry| entry["capabilities"] = json!([1]))),
        refused(&with(|entry| entry["write_only_properties"] = json!("access_token"))),
        refused(&with(|entry| entry["write_only_properties"] = json!(["acces_token"]))),
        refused("{"),
    ];
    let shown = shown.map(|text| text.replace("Invalid formation resource type config (types.json): ", "… "));
    insta::assert_snapshot!("every_rule_has_its_words", shown.join("\n"));
}

#[test]
fn all_problems_of_all_entries_come_at_once_each_with_its_file_and_entry() {
    let mut bad = entry();
    bad["name"] = json!("tool");
    bad["handler"] = json!({ "url": "x", "secret_env": "NOWHERE", "timeout_seconds": 0 });
    bad["capabilities"] = json!(["reed", "validate"]);
    bad["write_only_properties"] = json!(["nothing"]);
    bad["schema"]["required"] = json!(["title"]);
    let error = read(&file(&[entry(), bad])).expect_err("refused");
    insta::assert_snapshot!("all_problems_at_once", error.to_string());
    let RegistrationError::Invalid { problems, .. } = error else { panic!("{error}") };
    assert!(problems.iter().all(|Problem { entry, .. }| *entry == Some(1)));
    assert_eq!(problems.len(), 7);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let surroundings = Surroundings { built_in: &[], variable: &variable };
    let error = CustomTypes::load(Path::new("/nowhere/types.json"), &surroundings).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "Could not read formation resource type config (/nowhere/types.json): No such file or directory (os error 2)"
    );
}

#[test]
fn printing_types_shows_no_secret() {
    let types = read(&file(&[entry()])).expect("valid");
    assert!(!format!("{types:?}").contains("s3cret"));
}

#[test]
fn the_example_can_be_registered() {
    let text = include_str!("../../../examples/custom-type/resource-types.json");
    assert_eq!(read(text).expect("valid").names(), [TypeName::from("channel")]);
}
