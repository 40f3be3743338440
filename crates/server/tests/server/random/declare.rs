//! Declarations of every type at random: what one may declare, wired to what the template has.

use super::dice::Dice;
use serde_json::{Map, Value, json};

/// The 26 types, so that each refers only to types before it.
pub(super) const TYPES: [&str; 26] = [
    "secret",
    "ai_provider",
    "memory",
    "memory_entry",
    "document",
    "tool",
    "guardrail",
    "model_route",
    "agent",
    "chat",
    "actor",
    "conversation",
    "session",
    "dataset",
    "dataset_item",
    "eval",
    "file",
    "ingestion_rule",
    "orchestration",
    "workflow",
    "policy",
    "api_key",
    "trigger",
    "webhook",
    "quota",
    "project_price",
];

/// Properties that a deploy refuses to change, or cannot while the old one is retained (the unique
/// path of a document): a changed declaration keeps them.
pub(super) fn refuses_change(type_name: &str) -> &'static [&'static str] {
    match type_name {
        "dataset_item" => &["dataset_id"],
        "document" => &["filename"],
        "quota" => &["scope", "scope_ref", "metric", "window"],
        _ => &[],
    }
}

/// What is declared so far that a new declaration may refer to: logical ids with their types.
pub(super) struct Near<'a> {
    pub(super) declared: &'a [(String, String)],
}

impl Near<'_> {
    fn one(&self, dice: &mut Dice, type_name: &str) -> Option<Value> {
        let of_type: Vec<_> = self.declared.iter().filter(|(_, of)| of == type_name).collect();
        (!of_type.is_empty()).then(|| json!({ "ref": dice.pick(&of_type).0 }))
    }

    /// One, or null: a reference is always declared, since what is no longer declared stays as it is.
    fn perhaps(&self, dice: &mut Dice, type_name: &str) -> Value {
        if dice.chance(2) { self.one(dice, type_name).unwrap_or(Value::Null) } else { Value::Null }
    }

    fn some(&self, dice: &mut Dice, type_name: &str) -> Value {
        match self.one(dice, type_name) {
            Some(one) if dice.chance(2) => json!([one]),
            _ => json!([]),
        }
    }
}

/// Any of the forms a text can be declared in.
fn text(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => json!({ "param": "Word" }),
        1 => json!({ "sub": format!("{} of ${{Word}}", dice.word()) }),
        _ => json!(dice.word()),
    }
}

/// Adds what is drawn of the optional properties.
fn with(mut base: Value, dice: &mut Dice, optional: &[(&str, Value)]) -> Value {
    let properties: &mut Map<_, _> = base.as_object_mut().expect("an object");
    for (name, value) in optional {
        if dice.chance(2) {
            properties.insert((*name).to_owned(), value.clone());
        }
    }
    base
}

/// A declaration's properties; `None` where what it must refer to is not there. `name` is one that
/// nothing else of the template has.
pub(super) fn properties(dice: &mut Dice, near: &Near<'_>, type_name: &str, name: &str) -> Option<Value> {
    Some(match type_name {
        "secret" => json!({ "name": text(dice), "value": format!("value-{}", dice.word()) }),
        "ai_provider" => {
            let base = json!({
                "name": text(dice), "provider": dice.pick(&["openai", "xai", "custom"]),
                "default_model": dice.word(), "secret_id": near.perhaps(dice, "secret"),
            });
            let options = [("base_url", json!("https://models.test")), ("config", json!({ "a": [1, null] }))];
            with(base, dice, &options)
        }
        "memory" => {
            let options = [("description", text(dice)), ("tags", json!([dice.word(), "t"]))];
            with(json!({ "name": text(dice) }), dice, &options)
        }
        "memory_entry" => {
            let base = json!({ "memory_id": near.one(dice, "memory")?, "content": text(dice) });
            let options = [
                ("source_type", json!(dice.pick(&["manual", "agent"]))),
                ("metadata", json!({ "n": dice.below(9) })),
            ];
            with(base, dice, &options)
        }
        "document" => {
            let options = [
                ("title", text(dice)),
                ("filename", json!(format!("{}.txt", dice.word()))),
                ("tags", json!({ "k": dice.word() })),
            ];
            with(json!({ "content": text(dice), "path": format!("/docs/{name}") }), dice, &options)
        }
        "tool" => tool(dice, near, name),
        "guardrail" => guardrail(dice, near),
        "model_route" => {
            let targets = json!([{ "ai_provider_id": near.one(dice, "ai_provider")?, "model": dice.word() }]);
            let options = [("failure_threshold", json!(dice.below(5) + 1))];
            with(json!({ "name": name, "targets": targets }), dice, &options)
        }
        "agent" => agent(dice, near)?,
        "chat" => json!({ "ai_provider_id": near.one(dice, "ai_provider")?, "name": text(dice) }),
        "actor" => {
            let chat = dice.chance(2);
            let (agent, chat) = if chat {
                (Value::Null, near.perhaps(dice, "chat"))
            } else {
                (near.perhaps(dice, "agent"), Value::Null)
            };
            json!({ "name": name, "external_id": name, "agent_id": agent, "chat_id": chat })
        }
        "conversation" => json!({
            "name": text(dice), "status": dice.pick(&["open", "closed"]), "actor_id": near.perhaps(dice, "actor"),
        }),
        "session" => {
            let base =
                json!({ "agent_id": near.one(dice, "agent")?, "actor_id": near.perhaps(dice, "actor") });
            let options = [("name", text(dice)), ("inactivity_ttl_seconds", json!(dice.below(3) * 60))];
            with(base, dice, &options)
        }
        "dataset" => {
            let options = [("description", text(dice))];
            with(json!({ "name": name }), dice, &options)
        }
        "dataset_item" => json!({
            "dataset_id": near.one(dice, "dataset")?,
            "input": [{ "role": "user", "content": dice.word() }],
            "expected_output": dice.word(),
        }),
        "eval" => json!({
            "name": name, "agent_id": near.one(dice, "agent")?, "dataset_id": near.one(dice, "dataset")?,
            "scorers": [{ "type": "contains", "value": dice.word() }, { "type": "exact_match" }],
            "pass_threshold": dice.pick(&[json!(null), json!(0.5)]),
        }),
        "file" => json!({
            "prefix": "files", "filename": name, "size": dice.below(3), "metadata": format!("{{\"n\":{}}}", dice.below(4)),
        }),
        "ingestion_rule" => json!({
            "content_type_glob": format!("x-{}/*", name.to_lowercase()), "agent_id": near.one(dice, "agent")?,
            "native_extraction": dice.pick(&["first", "skip"]),
        }),
        "orchestration" => orchestration(dice, near),
        "workflow" => workflow(dice, near, name),
        "policy" => json!({
            "name": text(dice),
            "document": { "statement": [{ "effect": "Allow", "action": [dice.pick(&["agents:*", "*"])] }] },
        }),
        "api_key" => json!({ "name": text(dice), "policy_ids": near.some(dice, "policy") }),
        "trigger" => {
            let base = json!({
                "name": name, "target_type": "agent", "target_id": near.one(dice, "agent")?,
                "policy_id": near.perhaps(dice, "policy"),
            });
            let kind = match dice.below(3) {
                0 => json!({ "type": "manual", "cron": null }),
                1 => json!({ "type": "webhook", "cron": null }),
                _ => json!({ "type": "schedule", "cron": format!("{} 3 * * *", dice.below(60)) }),
            };
            let options = [("description", text(dice))];
            let mut base = with(base, dice, &options);
            base.as_object_mut()?.extend(kind.as_object()?.clone());
            base
        }
        "webhook" => json!({
            "name": text(dice), "url": format!("https://{}.test/", dice.word()),
            "events": [dice.pick(&["*", "agents.*"])],
        }),
        "quota" => json!({
            "scope": "agent", "scope_ref": near.one(dice, "agent")?,
            "metric": dice.pick(&["tokens", "cost_usd"]),
            "window": dice.pick(&["rolling_1h", "calendar_month"]), "limit": dice.below(9) + 1,
        }),
        "project_price" => json!({
            "provider": "openai", "model": name, "component": "request", "unit": "request",
            "unit_price": dice.below(9), "effective_from": "2030-01-01T00:00:00Z",
        }),
        other => unreachable!("`{other}` is not one of the types"),
    })
}

fn tool(dice: &mut Dice, near: &Near<'_>, name: &str) -> Value {
    let token = near.one(dice, "secret").map(|secret| {
        let id = secret["ref"].as_str().expect("a logical id").to_owned();
        json!({ "Authorization": { "sub": format!("Bearer {{{{secret:${{{id}}}}}}}") } })
    });
    json!({
        "name": name,
        "description": text(dice),
        "execute": {
            "url": { "sub": "https://x.test/${Word}/{id}" }, "method": dice.pick(&["GET", "POST"]),
            "headers": token.unwrap_or_else(|| json!({ "X-Word": "w" })),
        },
        "output_mapping": dice.pick(&[json!(null), json!({ "var": "output" })]),
    })
}

fn guardrail(dice: &mut Dice, near: &Near<'_>) -> Value {
    json!({
        "name": text(dice), "class": dice.pick(&["A", "B", "C"]),
        "guard": dice.pick(&[json!(null), json!({ "<": [{ "var": "args.n" }, 3] })]),
        "context_tool_id": near.perhaps(dice, "tool"),
    })
}

fn agent(dice: &mut Dice, near: &Near<'_>) -> Option<Value> {
    let route = if dice.chance(3) { near.one(dice, "model_route") } else { None };
    let mut base = match route {
        Some(route) => json!({ "ai_provider_id": null, "model": null, "model_route_id": route }),
        None => json!({
            "ai_provider_id": near.one(dice, "ai_provider")?, "model": dice.pick(&[json!(null), json!("m-2")]),
            "model_route_id": null,
        }),
    };
    let tool = near.some(dice, "tool");
    base["tool_bindings"] =
        tool.as_array()?.iter().map(|tool| json!({ "tool_id": tool })).collect::<Vec<_>>().into();
    base["guardrail_ids"] = near.some(dice, "guardrail");
    base["knowledge_config"] =
        json!({ "memory_ids": near.some(dice, "memory"), "document_ids": near.some(dice, "document") });
    let options = [
        ("name", text(dice)),
        ("instructions", text(dice)),
        ("max_steps", json!(dice.below(9) + 1)),
        ("temperature", json!(0.5)),
        ("stop_conditions", json!([{ "type": "hasToolCall", "tool_name": dice.word() }])),
    ];
    Some(with(base, dice, &options))
}

fn orchestration(dice: &mut Dice, near: &Near<'_>) -> Value {
    let mut nodes = vec![json!({ "id": "done", "type": "emit_event", "event_type": dice.word() })];
    let mut edges = Vec::new();
    if let Some(agent) = near.one(dice, "agent") {
        nodes.insert(0, json!({ "id": "think", "type": "agent", "agent_id": agent }));
        edges.push(json!({ "from": "think", "to": "done" }));
    }
    json!({ "name": text(dice), "nodes": nodes, "edges": edges })
}

fn workflow(dice: &mut Dice, near: &Near<'_>, name: &str) -> Value {
    let mut first = json!({ "name": "new", "initial": true });
    if let Some(flow) = near.one(dice, "orchestration") {
        first["on_enter"] = json!({
            "dispatch": { "kind": "orchestration", "orchestration_id": flow },
            "on_complete": [{ "transition": "finish" }],
        });
    }
    json!({
        "name": name, "description": text(dice),
        "states": [first, { "name": "done", "terminal": true }],
        "transitions": [{ "name": "finish", "from": ["new"], "to": "done" }],
    })
}
