//! The resource types' own commands, there and back.

use crate::common::{Home, LISTS, text};
use serde_json::Value;

#[test]
fn every_type_is_created_listed_shown_changed_and_deleted() {
    let home = Home::new();
    let _agent = home.agent();
    let make = |command: &str, flags: &[&str]| home.json(&[&[command], flags].concat());
    let id = |object: &Value| text(object, "id").to_owned();

    let secret = id(&make("create-secret", &["--name", "key", "--value", "v"]));
    let provider = id(&make(
        "create-ai-provider",
        &["--name", "main", "--provider", "openai", "--default-model", "m", "--secret-id", &secret],
    ));
    let tool = id(&make(
        "create-tool",
        &["--name", "ask", "--type", "client", "--parameters", r#"{"type": "object"}"#],
    ));
    let memory = id(&make("create-memory", &["--name", "facts", "--tags", r#"["a", "b"]"#]));
    let entry = id(&make("create-memory-entry", &["--memory-id", &memory, "--content", "one"]));
    let document = id(&make("create-document", &["--title", "faq", "--content", "text"]));
    let bindings = format!(r#"[{{"tool_id": "{tool}"}}]"#);
    let agent = id(&make(
        "create-agent",
        &["--name", "bot", "--aiProviderId", &provider, "--tool_bindings", &bindings, "--max-steps", "4"],
    ));

    for (kind, list) in LISTS {
        let page = home.json(&[list]);
        assert_eq!(page["total"], 1, "{kind}");
        let item = &page["data"][0];
        assert_eq!(
            &home.json(&[&format!("get-{}", kind.replace('_', "-")), text(item, "id")]),
            item,
            "{kind}"
        );
    }
    let changes: [(&str, &str, &str, &str, &str); 7] = [
        ("secret", &secret, "--name", "name", "second"),
        ("ai-provider", &provider, "--default-model", "default_model", "second"),
        ("tool", &tool, "--description", "description", "second"),
        ("memory", &memory, "--name", "name", "second"),
        ("memory-entry", &entry, "--content", "content", "second"),
        ("document", &document, "--title", "title", "second"),
        ("agent", &agent, "--instructions", "instructions", "second"),
    ];
    for (kind, id, flag, member, value) in changes {
        let (update, get) = (format!("update-{kind}"), format!("get-{kind}"));
        let changed = home.json(&[&update, id, flag, value]);
        assert_eq!(changed[member], value, "{kind}");
        assert_eq!(home.json(&[&get, "--id", id]), changed, "{kind}");
    }
    let agents = home.json(&["get-agent", &agent]);
    assert_eq!(
        (&agents["max_steps"], &agents["ai_provider_id"]),
        (&Value::from(4), &Value::from(provider.as_str()))
    );

    let refused = home.run(&["delete-ai-provider", &provider]).exits(1);
    assert!(refused.stderr.contains("AI_PROVIDER_HAS_DEPENDENTS"), "{}", refused.stderr);
    let all = [
        ("agent", &agent),
        ("document", &document),
        ("memory-entry", &entry),
        ("memory", &memory),
        ("tool", &tool),
        ("ai-provider", &provider),
        ("secret", &secret),
    ];
    for (kind, id) in all {
        home.run(&[&format!("delete-{kind}"), id]).ok();
        home.run(&[&format!("get-{kind}"), id]).exits(1);
        home.run(&[&format!("delete-{kind}"), id]).exits(1);
    }
    assert_eq!(home.objects(), Vec::<Value>::new());
}

#[test]
fn an_object_with_nothing_that_it_needs_is_refused_with_the_reason() {
    let home = Home::new();
    let ran = home.run(&["create-agent", "--name", "bot"]).exits(1);
    assert!(ran.stderr.contains("VALIDATION_FAILED"), "{}", ran.stderr);
    assert_eq!(home.objects(), Vec::<Value>::new());
}

#[test]
fn projects_and_tokens_come_and_go() {
    let home = Home::new();
    let project = home.json(&["create-project", "--name", "side"]);
    let id = text(&project, "id");
    assert_eq!(home.json(&["get-project", id])["name"], "side");
    home.run(&["create-memory", "--project-id", id, "--name", "m"]).ok();
    home.run(&["delete-project", id]).exits(1);

    let token = home.json(&["create-token", "--name", "ci", "--project-id", id]);
    let secret = text(&token, "token");
    assert!(!home.run(&["list-tokens"]).ok().stdout.contains(secret), "a token is shown once");
    let confined = |arguments: &[&str]| home.run_with(arguments, &[("FORMWORK_TOKEN", secret)]);
    assert_eq!(confined(&["list-memories"]).ok().json()["total"], 1);
    let made = confined(&["create-memory", "--name", "n"]).ok().json();
    assert_eq!(made["project_id"], id);
    assert_eq!(confined(&["list-projects"]).code, Some(0));
    confined(&["create-project", "--name", "third"]).exits(5);
    home.run_with(&["list-memories"], &[("FORMWORK_TOKEN", "sk_wrong")]).exits(5);

    home.run(&["delete-token", text(&token, "id")]).ok();
    confined(&["list-memories"]).exits(5);
}

#[test]
fn a_flag_of_more_than_one_type_takes_either() {
    let home = Home::new();
    let provider =
        home.json(&["create-ai-provider", "--name", "p", "--provider", "openai", "--default-model", "m"]);
    let choose = |choice: &str| {
        let create = ["create-agent", "--ai-provider-id", text(&provider, "id"), "--tool-choice", choice];
        home.run(&create)
    };
    assert_eq!(choose("required").ok().json()["tool_choice"], "required");
    let one = r#"{"type": "tool", "tool_name": "ask"}"#;
    let chosen = choose(one).ok().json()["tool_choice"].clone();
    assert_eq!(chosen, serde_json::from_str::<Value>(one).expect("JSON"));
    let refused = choose("sometimes").exits(1);
    assert!(refused.stderr.contains("tool_choice"), "{}", refused.stderr);
}
