//! Every message of the static checks, and that an expression may stand anywhere.

use crate::world::check;
use formwork_model::{Catalog, Expr, ExprLeaf, Json, Part, Ref, TypeName};
use formwork_platform::Platform;
use serde_json::json;

pub(crate) fn reference(label: &str) -> Expr {
    Expr::Leaf(ExprLeaf::Ref(Ref::native_id(label)))
}

pub(crate) fn object(members: Vec<(&str, Expr)>) -> Expr {
    Expr::object(members.into_iter().map(|(name, member)| (name.into(), member)).collect())
}

pub(crate) fn plain(value: Json) -> Expr {
    Expr::from(value)
}

/// Checks many bags and shows each with what was found.
pub(crate) fn findings(type_name: &str, bags: &[Json]) -> String {
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
fn the_rules_of_actors_and_chats() {
    let actors = findings(
        "actor",
        &[
            json!({ "name": " " }),
            json!({ "name": "a", "agent_id": "x", "chat_id": "y" }),
            json!({ "name": "a", "agent_id": "x", "chat_id": null, "tags": { "k": 1 } }),
        ],
    );
    let chats = findings(
        "chat",
        &[json!({ "model": "m" }), json!({ "model": "m", "ai_provider_id": "p" }), json!({})],
    );
    insta::assert_snapshot!([actors, chats].join("\n"));
}

#[test]
fn the_rules_of_sessions_files_and_items() {
    let sessions = findings(
        "session",
        &[
            json!({ "inactivity_ttl_seconds": -1, "message_delay_seconds": 1.5 }),
            json!({ "tool_context": { "a b": "x", "x-user": 1, "sessionId": "s", "ok": "v" } }),
        ],
    );
    let files = findings(
        "file",
        &[
            json!({ "filename": "a/b", "size": -1 }),
            json!({ "metadata": "{" }),
            json!({ "metadata": "[1]", "filename": "a" }),
        ],
    );
    let items = findings(
        "dataset_item",
        &[json!({ "input": [
            1,
            { "role": "system", "content": "c" },
            { "role": "", "content": 1, "colour": "red" },
            { "role": "user", "content": { "type": "document", "document_id": "doc_1" } },
            {},
        ] })],
    );
    insta::assert_snapshot!([sessions, files, items].join("\n"));
}

#[test]
fn the_rules_of_scorers() {
    let scorers = |scorers: Json| json!({ "scorers": scorers });
    insta::assert_snapshot!(findings(
        "eval",
        &[
            json!({ "pass_threshold": 1.5 }),
            json!({ "pass_threshold": 0 }),
            scorers(json!(["x", {}, { "type": "magic" }])),
            scorers(json!([{ "type": "exact_match", "value": "x" }, { "type": "exact_match" }])),
            scorers(
                json!([{ "type": "contains" }, { "type": "contains", "value": "", "case_sensitive": 1 }])
            ),
            scorers(json!([{ "type": "json_logic" }])),
            scorers(json!([{ "type": "json_logic", "expression": { "equals": [1, 2] } }])),
            scorers(json!([{ "type": "output_schema", "schema": [] }])),
            scorers(json!([{ "type": "embedding_similarity" }])),
            scorers(json!([{ "type": "embedding_similarity", "pass_threshold": -0.1 }])),
            scorers(json!([{ "type": "llm_judge", "pass_threshold": "high", "model": 1 }])),
            scorers(json!([{ "type": "tool" }])),
            scorers(json!([
                { "type": "tool", "name": "contains", "tool_id": "t" },
                { "type": "tool", "name": "mine", "tool_id": "t", "action": "a", "preset_parameters": {} },
                { "type": "tool", "name": "mine", "tool_id": "t", "pass_threshold": 2 },
            ])),
        ]
    ));
}

#[test]
fn the_rules_of_guardrails() {
    let class = |class: Json| json!({ "class": class });
    let guard = |guard: Json| json!({ "class": "B", "guard": guard });
    insta::assert_snapshot!(findings(
        "guardrail",
        &[
            class(json!("A")),
            class(json!("E")),
            class(json!(1)),
            class(json!(null)),
            class(json!({})),
            class(json!({ "if": [{ ">": [{ "var": "args.amount" }, 100] }, "C", "A"] })),
            class(json!({ "when": [true, "A"] })),
            json!({ "class": "A", "default_class": "Z" }),
            guard(json!({})),
            guard(json!({ "a": 1, "b": 2 })),
            guard(json!({ "and": [{ "var": "context.user" }, { "var": "user.name" }, { "var": "" }] })),
            guard(json!({ "<": [{ "var": "runtime.usage.cost_usd_24h" }, { "var": "runtime.moon" }] })),
            json!({ "class": "C", "expires_in": 0 }),
        ]
    ));
}

#[test]
fn json_logic_of_a_tool_has_known_operators() {
    let found = check("tool", &plain(json!({ "output_mapping": { "cat": [{ "shout": "a" }] } })));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("p.output_mapping.cat[0]: Unknown JSON Logic operator 'shout'. Known: var"));
}

#[test]
fn an_expression_may_stand_anywhere_in_the_later_types() {
    let scorer = object(vec![
        ("type", plain(json!("tool"))),
        ("name", reference("N")),
        ("tool_id", reference("T")),
        ("pass_threshold", reference("P")),
    ]);
    let logic = object(vec![("type", plain(json!("json_logic"))), ("expression", reference("E"))]);
    let scorers = Expr::array(vec![scorer, logic, object(vec![("type", reference("K"))]), reference("S")]);
    assert_eq!(check("eval", &object(vec![("scorers", scorers)])), Vec::<String>::new());
    let guard = object(vec![("<", Expr::array(vec![reference("X"), plain(json!({ "var": "args.n" }))]))]);
    let guardrail =
        object(vec![("class", reference("C")), ("guard", guard), ("default_class", reference("D"))]);
    assert_eq!(check("guardrail", &guardrail), Vec::<String>::new());
    let message = object(vec![("role", reference("R")), ("content", reference("C"))]);
    let item = object(vec![("input", Expr::array(vec![message, reference("M")]))]);
    assert_eq!(check("dataset_item", &item), Vec::<String>::new());
    let context = object(vec![("x-user", reference("U"))]);
    let session = object(vec![("tool_context", context), ("inactivity_ttl_seconds", reference("T"))]);
    assert_eq!(check("session", &session), Vec::<String>::new());
    let file = object(vec![("filename", reference("F")), ("metadata", reference("M"))]);
    assert_eq!(check("file", &file), Vec::<String>::new());
    let actor = object(vec![("name", reference("N")), ("agent_id", reference("A"))]);
    assert_eq!(check("actor", &actor), Vec::<String>::new());
    let chat = object(vec![("model", plain(json!("m"))), ("ai_provider_id", reference("P"))]);
    assert_eq!(check("chat", &chat), Vec::<String>::new());
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
    insta::assert_snapshot!("the_types_in_the_order_of_messages", names.join(", "));
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
