//! Every message of the static checks, and that an expression may stand anywhere.

use crate::world::check;
use formwork_model::{Catalog, Expr, ExprLeaf, Json, Part, Ref, TypeName};
use formwork_platform::Platform;
use serde_json::json;

fn reference(label: &str) -> Expr {
    Expr::Leaf(ExprLeaf::Ref(Ref::native_id(label)))
}

fn object(members: Vec<(&str, Expr)>) -> Expr {
    Expr::object(members.into_iter().map(|(name, member)| (name.into(), member)).collect())
}

fn plain(value: Json) -> Expr {
    Expr::from(value)
}

/// Checks many bags and shows each with what was found.
fn findings(type_name: &str, bags: &[Json]) -> String {
    let line = |bag: &Json| format!("{bag}\n  {}", check(type_name, &plain(bag.clone())).join("\n  "));
    bags.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_rules_of_a_tools_type_actions_and_context() {
    insta::assert_snapshot!(findings(
        "tool",
        &[
            json!({ "type": "soat" }),
            json!({ "type": "builtin", "actions": ["create-agent", "get-ai-provider", "fly", "CreateAgent"] }),
            json!({ "type": "mcp", "actions": ["anything"] }),
            json!({ "context_keys": ["x-user", "a b", "", "é"] }),
            json!({ "actions": [1], "denied_actions": [{}], "guardrail_ids": [null] }),
        ]
    ));
}

#[test]
fn the_rules_of_a_tools_requests() {
    insta::assert_snapshot!(findings(
        "tool",
        &[
            json!({ "execute": { "url": "https://x.test/{id}/${body.x}", "headers": { "A": "{{context:user}}" } } }),
            json!({ "execute": { "url": "https://x.test/{{id}}", "headers": { "A": "{{ secret:sec_1 }} {{}}" } } }),
            json!({ "execute": { "url": "https://x.test/{{context:user}}" } }),
            json!({ "mcp": { "url": "{{secret:nope}}", "headers": { "A": "{{secret:sec_a1}}" } } }),
            json!({ "execute": { "url": "", "headers": { "A": 1 }, "body_mode": "xml", "colour": "red" } }),
            json!({ "mcp": { "url": "https://x.test", "headers": "A: b", "method": "GET" } }),
        ]
    ));
}

#[test]
fn the_rules_of_a_tools_signatures() {
    insta::assert_snapshot!(findings(
        "tool",
        &[
            json!({ "execute": { "auth": "basic" } }),
            json!({ "execute": { "auth": {} } }),
            json!({ "execute": { "auth": { "type": "aws_sigv4", "region": "", "session_token": 1 } } }),
            json!({ "execute": { "auth": { "type": "gcp_service_account", "scopes": ["a", ""] } } }),
            json!({ "execute": {
                "body_mode": "multipart",
                "auth": {
                    "type": "aws_sigv4", "region": "r", "service": "s", "access_key_id": "a",
                    "secret_access_key": "b"
                }
            } }),
        ]
    ));
}

#[test]
fn the_rules_of_a_pipeline() {
    let pipeline = |steps: Json| json!({ "type": "pipeline", "pipeline": { "steps": steps } });
    insta::assert_snapshot!(findings(
        "tool",
        &[
            json!({ "type": "pipeline" }),
            json!({ "type": "pipeline", "pipeline": "x" }),
            json!({ "type": "pipeline", "pipeline": {} }),
            pipeline(json!([])),
            pipeline(json!(["x", { "tool_id": "t" }, { "id": "1a", "tool_id": "t" }])),
            pipeline(json!([{ "id": "a", "tool_id": "t" }, { "id": "a", "tool_id": "t" }])),
            pipeline(json!([{ "id": "a" }, { "id": "b", "tool_id": "t", "tool": { "name": "n" } }])),
            pipeline(json!([{ "id": "a", "tool": { "type": "http" } }, { "id": "b", "tool": "n" }])),
            pipeline(json!([
                { "id": "a", "tool_id": "t", "input": { "x": { "var": "steps.b.output" } } },
                { "id": "b", "tool_id": "t", "input": { "var": ["steps.a", null] } },
            ])),
            pipeline(
                json!([{ "id": "a", "tool": { "name": "n", "execute": { "url": "{{id}}", "auth": {} } } }])
            ),
            pipeline(json!([{ "id": "a", "tool_id": "t", "input": { "prompt": "dear {{name}}" } }])),
            json!({ "type": "pipeline", "pipeline": {
                "steps": [{ "id": "a", "tool_id": "t" }], "output": { "var": "steps.z" }
            } }),
        ]
    ));
}

#[test]
fn an_unread_parameter_of_a_pipeline_is_a_warning() {
    let tool = |input: Json| {
        json!({
            "type": "pipeline",
            "parameters": { "properties": { "used": {}, "idle": {} } },
            "pipeline": { "steps": [{ "id": "a", "tool_id": "t", "input": input }] },
        })
    };
    let found = check("tool", &plain(tool(json!({ "x": { "var": "input.used.deep" } }))));
    assert_eq!(found, ["p.pipeline (warning): Pipeline parameter 'idle' is never referenced by a step."]);
    assert!(check("tool", &plain(tool(json!({ "var": "input" })))).is_empty());
}

#[test]
fn the_rules_of_an_agent() {
    insta::assert_snapshot!(findings(
        "agent",
        &[
            json!({ "ai_provider_id": "a", "model_route_id": "b" }),
            json!({ "model_route_id": "b", "model": "m" }),
            json!({ "model": "m" }),
            json!({ "ai_provider_id": null, "model_route_id": "b" }),
            json!({ "tool_bindings": [{ "tool": { "name": "t" } }, {}, "x", { "tool_id": "t", "colour": 1 }] }),
            json!({ "tool_choice": "auto" }),
            json!({ "tool_choice": "never" }),
            json!({ "tool_choice": { "type": "tool" } }),
            json!({ "stop_conditions": [
                { "type": "hasToolCall" }, { "type": "maxChainGenerations", "max_generations": 0 }, { "type": "x" }, 1
            ] }),
            json!({ "step_rules": [{ "step": 0, "tool_choice": 1 }, { "step": 1, "active_tool_ids": [1], "x": 1 }] }),
            json!({ "boundary_policy": {} }),
            json!({ "boundary_policy": { "statement": [
                { "effect": "Allow", "action": ["agents:GetAgent", "*", "tools:*", "agents:Fly", 7] },
                { "effect": "maybe", "action": [], "resource": [] },
                { "effect": "Deny", "action": ["bogus:*"], "resource": ["*"] },
            ] } }),
            json!({ "output_schema": { "type": "array" } }),
            json!({ "output_schema": { "type": "object", "properties": [] } }),
            json!({ "max_steps": 0, "max_context_messages": -1 }),
            json!({ "knowledge_config": {
                "memoryIds": [], "memory_ids": "m", "document_ids": [1], "write_memory_id": 5, "limit": 0,
                "min_score": "high", "extraction": "yes"
            } }),
            json!({ "knowledge_config": { "extraction": { "enabled": true, "colour": 1 } } }),
        ]
    ));
}

#[test]
fn the_rules_of_documents_memories_and_entries() {
    let documents = findings(
        "document",
        &[
            json!({ "chunk_size": 0, "chunk_overlap": -1 }),
            json!({ "chunk_strategy": "size", "chunk_size": 100 }),
            json!({ "chunk_strategy": "size", "chunk_size": 201 }),
            json!({ "chunk_size": 100 }),
            json!({ "tags": { "k": 1 } }),
        ],
    );
    let memories = findings("memory", &[json!({ "tags": ["a", 1] })]);
    let entries = findings("memory_entry", &[json!({ "tags": [null] })]);
    insta::assert_snapshot!([documents, memories, entries].join("\n"));
}

#[test]
fn an_expression_may_stand_anywhere_in_a_tool() {
    let step =
        object(vec![("id", plain(json!("a"))), ("tool_id", reference("T")), ("input", reference("I"))]);
    let unknown_id = object(vec![("id", reference("X")), ("tool_id", reference("T"))]);
    let refers = plain(json!({ "id": "b", "tool_id": "t", "input": { "var": "steps.later" } }));
    let auth = object(vec![
        ("type", plain(json!("aws_sigv4"))),
        ("region", reference("R")),
        ("service", reference("R")),
        ("access_key_id", reference("R")),
        ("secret_access_key", reference("R")),
    ]);
    let execute = object(vec![("url", reference("U")), ("headers", reference("H")), ("auth", auth)]);
    let tool = object(vec![
        ("type", plain(json!("pipeline"))),
        ("execute", execute),
        ("mcp", reference("M")),
        ("context_keys", Expr::array(vec![reference("K"), plain(json!("ok"))])),
        ("pipeline", object(vec![("steps", Expr::array(vec![step, unknown_id, refers]))])),
        ("parameters", plain(json!({ "properties": { "maybe": {} } }))),
    ]);
    assert_eq!(check("tool", &tool), Vec::<String>::new());
    assert!(check("tool", &object(vec![("type", reference("T"))])).is_empty());
    let whole = object(vec![("type", plain(json!("pipeline"))), ("pipeline", reference("P"))]);
    assert!(check("tool", &whole).is_empty());
}

#[test]
fn the_literal_parts_of_a_template_count_for_token_rules() {
    let tool = |parts: Vec<Part>| {
        let headers = object(vec![("Authorization", Expr::Leaf(ExprLeaf::Template(parts)))]);
        object(vec![("execute", object(vec![("headers", headers)]))])
    };
    let text = |text: &str| Part::Text(text.into());
    let id = || Part::Ref(Ref::native_id("ApiSecret"));
    assert!(check("tool", &tool(vec![text("Bearer {{secret:"), id(), text("}}")])).is_empty());
    assert!(check("tool", &tool(vec![text("{{"), id(), text("}}")])).is_empty());
    let found = check("tool", &tool(vec![text("{{token}} {{secret:"), id(), text("}}")]));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("p.execute: Invalid template token(s) '{{token}}' — double curly braces"));
}

#[test]
fn an_expression_may_stand_anywhere_in_an_agent() {
    let knowledge =
        object(vec![("memory_ids", Expr::array(vec![reference("M")])), ("limit", reference("L"))]);
    let statement = object(vec![("effect", reference("E")), ("action", Expr::array(vec![reference("A")]))]);
    let agent = object(vec![
        ("ai_provider_id", reference("P")),
        ("model", reference("M")),
        ("tool_bindings", Expr::array(vec![object(vec![("tool_id", reference("T"))]), reference("B")])),
        ("tool_choice", reference("C")),
        ("stop_conditions", Expr::array(vec![reference("S")])),
        ("step_rules", Expr::array(vec![object(vec![("step", reference("N"))])])),
        ("boundary_policy", object(vec![("statement", Expr::array(vec![statement]))])),
        ("knowledge_config", knowledge),
        ("output_schema", object(vec![("type", reference("Y"))])),
        ("max_steps", reference("N")),
    ]);
    assert_eq!(check("agent", &agent), Vec::<String>::new());
}

#[test]
fn deep_values_are_checked_without_overflowing_the_stack() {
    let mut deep = json!({ "var": "steps.a" });
    for _ in 0..2_000 {
        deep = Json::Array(vec![deep]);
    }
    let mut bag = json!({ "type": "pipeline", "pipeline": { "steps": [{ "id": "a", "tool_id": "t" }] } });
    bag["pipeline"]["steps"][0]["input"] = deep;
    let tool = plain(bag);
    let found = check("tool", &tool);
    assert_eq!(found, ["p.pipeline: Pipeline step 'a' references step 'a', which is not an earlier step."]);
}

#[test]
fn each_type_says_how_the_engine_may_treat_it() {
    let catalog = Platform::catalog();
    let names: Vec<String> = catalog.names().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["ai_provider", "tool", "agent", "document", "memory", "memory_entry", "secret"]);
    let lines: Vec<String> = catalog
        .names()
        .iter()
        .map(|name| {
            let rules = catalog.get(name).expect("a type");
            let capabilities = rules.capabilities();
            let iam = capabilities.iam.as_ref().expect("actions");
            format!(
                "{name} ({}) srn={} {} {} {} on_immutable={:?} blockers={}",
                rules.title(),
                iam.srn_type,
                iam.create,
                iam.update.as_deref().unwrap_or_default(),
                iam.delete,
                capabilities.on_immutable,
                capabilities.delete_blockers,
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert!(catalog.get(&TypeName::from("bogus")).is_none());
}
