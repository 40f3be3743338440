//! The target of a resource: where it may stand, what it may name, and what it means for order.

mod common;

use common::{TestCatalog, TestType, errors, supplied};
use formwork_formation::{Checked, Limits, LowerRequest, check, lower, parse};
use formwork_model::{Kind, PropertySchema, StackKey};

fn catalog() -> TestCatalog {
    let text = || PropertySchema::new(Kind::String, "");
    let config = PropertySchema::new(Kind::Object, "");
    TestCatalog::of(vec![
        TestType::new("agent", vec![("name", text())]),
        TestType::new("target", vec![("namespace", text().required()), ("config", config)]),
        TestType::new("SQL::Server::Database", vec![("name", text())]).at("SQL"),
    ])
}

fn checked(resources: &str) -> Checked {
    let template = format!("resources:\n{resources}");
    let document = parse("t.yaml", template.as_bytes(), &Limits::default()).expect("the text is right");
    check(document, &catalog())
}

const SQL: &str = "  main: { type: target, properties: { namespace: SQL, config: { host: db } } }\n";
const OTHER: &str = "  other: { type: target, properties: { namespace: NOSQL, config: {} } }\n";

/// Message and hint of the one error.
fn refused(resources: &str) -> (String, String, Option<String>) {
    let found = checked(resources).found;
    let all = errors(&found);
    assert_eq!(all.len(), 1, "{all:?}");
    let error = found.errors().next().expect("there is one");
    assert!(error.place.is_some(), "it has a place");
    (error.path.to_string(), error.message.clone(), error.hint.clone())
}

#[test]
fn a_resource_names_its_target_and_comes_after_it() {
    let database = "  app: { type: 'SQL::Server::Database', target: main, properties: { name: app } }\n";
    let checked = checked(&format!("{database}{SQL}"));
    let template = checked.template.expect("it is right");
    let (_, _, edges) = &template.graph()[0];
    assert_eq!(edges[0].0.as_str(), "main");
    assert_eq!(edges[0].1.to_string(), "resources.app.target");
    let desired = lower(&LowerRequest {
        template: &template,
        supplied: &supplied([]),
        stack: "stack".into(),
        key: StackKey::new("proj".into(), "s"),
        catalog: &catalog(),
        strict: true,
    })
    .expect("it lowers");
    let targets: Vec<_> = desired.stacks[0]
        .resources
        .iter()
        .map(|resource| resource.target.as_ref().map(formwork_model::TargetName::as_str))
        .collect();
    assert_eq!(targets, [Some("main"), None]);
}

#[test]
fn a_type_that_lives_at_targets_must_name_one() {
    let database = "  app: { type: 'SQL::Server::Database', properties: {} }\n";
    let (path, message, hint) = refused(&format!("{OTHER}{database}"));
    assert_eq!(path, "resources.app.target");
    assert_eq!(message, "SQL::Server::Database lives at a target, and none is named");
    let hint = hint.expect("there is a hint");
    assert_eq!(hint, "declare one: `type: target`, with `namespace: SQL` and its `config` as properties");
    let (_, _, hint) = refused(&format!("{SQL}{database}"));
    assert_eq!(hint.as_deref(), Some("name it with `target`: main"));
}

#[test]
fn what_is_no_target_of_the_namespace_is_refused_with_the_nearest() {
    let database = |target: &str| {
        format!("  app: {{ type: 'SQL::Server::Database', target: {target}, properties: {{}} }}\n")
    };
    let all = |target: &str| {
        format!("{SQL}{OTHER}  bot: {{ type: agent, properties: {{}} }}\n{}", database(target))
    };
    let (path, message, hint) = refused(&all("mian"));
    assert_eq!(path, "resources.app.target");
    assert_eq!(message, "target references unknown resource 'mian'");
    assert!(hint.expect("a hint").contains("main"));
    assert_eq!(refused(&all("other")).1, "'other' is a target of `NOSQL`, not of `SQL`");
    assert_eq!(refused(&all("bot")).1, "'bot' is no target: its type is not `target`");
    assert_eq!(refused(&all("[main]")).1, "`target` must be a string: the logical id of a target");
}

#[test]
fn a_type_with_one_place_only_takes_no_target() {
    let (path, message, _) =
        refused(&format!("{SQL}  bot: {{ type: agent, target: main, properties: {{}} }}\n"));
    assert_eq!(path, "resources.bot.target");
    assert_eq!(message, "agent has no target: it lives in one place only");
}
