//! REST: strict bodies, representations, versions, lists.

use crate::world::{World, caller, id_of, list_of, provider, wire};
use formwork_model::{ClientToken, Json, ProjectId, TypeName, WireCode};
use formwork_platform::{PlatformError, RestList, UpdateMode};
use formwork_store::Page;
use serde_json::json;

fn names(page: &Page<Json>) -> Vec<&str> {
    page.items.iter().map(|item| item["name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn representations_have_these_fields() {
    let world = World::new();
    let secret = world.rest_create("secret", json!({ "name": "k", "value": "v" })).await.expect("made");
    let mut declared = provider();
    declared["secret_id"] = secret["id"].clone();
    let provider = world.rest_create("ai_provider", declared).await.expect("made");
    let agent = json!({ "ai_provider_id": provider["id"], "name": "a" });
    let agent = world.rest_create("agent", agent).await.expect("made");
    let tool = world.rest_create("tool", json!({ "name": "t" })).await.expect("made");
    let memory = world.rest_create("memory", json!({ "name": "m" })).await.expect("made");
    let entry = json!({ "memory_id": memory["id"], "content": "c" });
    let entry = world.rest_create("memory_entry", entry).await.expect("made");
    let document = world.rest_create("document", json!({ "content": "c" })).await.expect("made");
    insta::with_settings!({ filters => filters() }, {
        insta::assert_json_snapshot!([secret, provider, agent, tool, memory, entry, document]);
    });
}

fn filters() -> Vec<(&'static str, &'static str)> {
    vec![
        (r"([a-z]+(?:_entry)?)_[0-9A-Za-z]{16}", "${1}_[id]"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "[time]"),
    ]
}

#[tokio::test]
async fn representations_of_conversations_evaluations_and_files_have_these_fields() {
    let world = World::new();
    let (provider, agent) = world.agent().await;
    let actor = world.rest_made("actor", json!({ "name": "a", "external_id": "u1", "tags": {} })).await;
    let chat = world.rest_made("chat", json!({ "ai_provider_id": provider })).await;
    let conversation = world.rest_made("conversation", json!({ "actor_id": actor["id"] })).await;
    let session = json!({ "agent_id": agent, "actor_id": actor["id"] });
    let session = world.rest_made("session", session).await;
    let message = json!({ "session_id": session["id"], "message": "hello" });
    let message = world.rest_made("message", message).await;
    let dataset = world.rest_made("dataset", json!({ "name": "d" })).await;
    let item = json!({ "dataset_id": dataset["id"], "input": [{ "role": "user", "content": "hi" }] });
    let item = world.rest_made("dataset_item", item).await;
    let scorers = json!([{ "type": "exact_match" }]);
    let eval = json!({ "name": "e", "agent_id": agent, "dataset_id": dataset["id"], "scorers": scorers });
    let eval = world.rest_made("eval", eval).await;
    let file = world.rest_made("file", json!({ "prefix": "docs", "filename": "a.txt" })).await;
    let guardrail = json!({ "name": "g", "class": "B", "guard": { "<": [{ "var": "args.n" }, 5] } });
    let guardrail = world.rest_made("guardrail", guardrail).await;
    let trace = world.rest_made("trace", json!({ "agent_id": agent })).await;
    let generation = json!({ "agent_id": agent, "trace_id": trace["id"] });
    let generation = world.rest_made("generation", generation).await;
    insta::with_settings!({ filters => filters() }, {
        insta::assert_json_snapshot!([
            actor, chat, conversation, session, message, dataset, item, eval, file, guardrail, trace, generation
        ]);
    });
}

#[tokio::test]
async fn representations_of_rules_limits_triggers_and_graphs_have_these_fields() {
    let world = World::new();
    let (provider, agent) = world.agent().await;
    let policy = json!({ "document": { "statement": [{ "effect": "Allow", "action": ["*"] }] } });
    let policy = world.rest_made("policy", policy).await;
    let key = world.rest_made("api_key", json!({ "name": "k", "policy_ids": [policy["id"]] })).await;
    let rule =
        world.rest_made("ingestion_rule", json!({ "content_type_glob": "image/*", "agent_id": agent })).await;
    let targets = json!([{ "ai_provider_id": provider, "model": "m" }]);
    let route = world.rest_made("model_route", json!({ "name": "r", "targets": targets })).await;
    let price = json!({
        "provider": "openai", "model": "m", "component": "request", "unit": "request", "unit_price": 1,
    });
    let price = world.rest_made("project_price", price).await;
    let quota = json!({ "scope": "project", "metric": "cost_usd", "window": "rolling_24h", "limit": 2.5 });
    let quota = world.rest_made("quota", quota).await;
    let trigger = json!({
        "name": "t", "type": "webhook", "target_type": "agent", "target_id": agent, "policy_id": policy["id"],
    });
    let trigger = world.rest_made("trigger", trigger).await;
    let webhook = json!({ "name": "w", "url": "https://x.test", "events": ["*"] });
    let webhook = world.rest_made("webhook", webhook).await;
    let orchestration = json!({ "name": "o", "nodes": [{ "id": "a", "type": "human" }], "edges": [] });
    let orchestration = world.rest_made("orchestration", orchestration).await;
    let workflow = json!({ "name": "w", "states": [{ "name": "a", "initial": true }], "transitions": [] });
    let workflow = world.rest_made("workflow", workflow).await;
    let version = world.stored("workflow_version").await.remove(0).id;
    let version = world.rest_get("workflow_version", &version).await.expect("a version");
    // Before the ids, since a key begins like one.
    let filters = [
        (r"(sk_)?[0-9a-f]{64}", "${1}[secret]"),
        (r"sk_[0-9a-f]{5}\b", "sk_[prefix]"),
        (r"wfl_ver_[0-9A-Za-z]{16}", "wfl_ver_[id]"),
    ]
    .into_iter()
    .chain(filters())
    .collect::<Vec<_>>();
    insta::with_settings!({ filters => filters }, {
        insta::assert_json_snapshot!([
            policy, key, rule, route, price, quota, trigger, webhook, orchestration, workflow, version
        ]);
    });
}

#[tokio::test]
async fn an_actor_is_made_once_for_an_external_id() {
    let world = World::new();
    let (caller, type_name) = (caller(), TypeName::from("actor"));
    let make = |body: Json| world.platform.rest_create(&caller, &type_name, Some(&world.project), body, None);
    let first = make(json!({ "name": "a", "external_id": "u1" })).await.expect("made");
    let again = make(json!({ "name": "b", "external_id": "u1" })).await.expect("shown");
    assert!(!first.existed && again.existed);
    assert_eq!(again.shown, first.shown, "nothing was changed");
    assert!(!make(json!({ "name": "c" })).await.expect("made").existed);
    let declared = world.try_create("actor", json!({ "name": "d", "external_id": "u1" }), &[]).await;
    let message = "The external_id 'u1' is already taken in this project";
    let refused = crate::world::refusal(&declared);
    assert_eq!((refused.1, refused.2), ("NAME_CONFLICT", message), "a template owns what it makes");
}

#[tokio::test]
async fn lists_are_narrowed_by_the_values_of_properties() {
    let world = World::new();
    let (_, agent) = world.agent().await;
    let (_, other) = world.agent().await;
    let one = world.rest_made("actor", json!({ "name": "one", "external_id": "u1" })).await;
    let two = world.rest_made("actor", json!({ "name": "two", "agent_id": agent })).await;
    for (filter, value, expected) in [("external_id", "u1", "one"), ("agent_id", &*agent, "two")] {
        let page = world.rest_list(list_of("actor", &[(filter, value)])).await.expect("a page");
        assert_eq!((names(&page), page.total), (vec![expected], 1));
    }
    for (agent, actor) in [(&agent, &one), (&agent, &two), (&other, &one)] {
        let session = json!({ "agent_id": agent, "actor_id": actor["id"] });
        world.rest_made("session", session).await;
    }
    let filters = [("agent_id", &*agent), ("actor_id", id_of(&one)), ("status", "open")];
    let page = world.rest_list(list_of("session", &filters)).await.expect("a page");
    assert_eq!(page.total, 1);
    assert_eq!((&page.items[0]["agent_id"], &page.items[0]["actor_id"]), (&json!(agent), &one["id"]));
    let closed = world.rest_list(list_of("session", &[("status", "closed")])).await.expect("a page");
    assert_eq!(closed.total, 0);
}

#[tokio::test]
async fn unknown_and_missing_fields_are_refused_by_name() {
    let world = World::new();
    let body = json!({ "nmae": "k", "value": "v", "createdAt": 1 });
    let refused = world.rest_create("secret", body).await.expect_err("unknown");
    let expected = (WireCode::ValidationFailed, "Unknown field(s): nmae, createdAt");
    let (code, message, meta) = wire(&refused);
    assert_eq!((code, message), expected);
    assert_eq!(meta["unknownFields"], json!(["nmae", "createdAt"]));
    assert_eq!(meta["missingFields"], json!(["name"]));
    let refused = world.rest_create("webhook", json!({ "name": "w" })).await.expect_err("missing");
    let (code, message, meta) = wire(&refused);
    assert_eq!((code, message), (WireCode::ValidationFailed, "Missing required field(s): url, events"));
    assert_eq!((&meta["missingFields"], &meta["unknownFields"]), (&json!(["url", "events"]), &Json::Null));
    let refused = world.rest_create("memory", json!([])).await.expect_err("no object");
    assert_eq!(wire(&refused).1, "The request body must be a JSON object");
}

#[tokio::test]
async fn the_project_of_a_body_must_be_that_of_the_request() {
    let world = World::new();
    let made =
        world.rest_create("memory", json!({ "name": "m", "project_id": "proj_one" })).await.expect("made");
    assert_eq!(made["project_id"], json!("proj_one"));
    for other in [json!("proj_two"), json!(1)] {
        let body = json!({ "name": "m", "project_id": other });
        let refused = world.rest_create("memory", body).await.expect_err("another project");
        assert_eq!(wire(&refused).0, WireCode::ValidationFailed);
    }
}

#[tokio::test]
async fn wrong_types_come_with_their_places() {
    let world = World::new();
    let refused = world.rest_create("memory", json!({ "name": 1, "tags": "a" })).await.expect_err("types");
    let (code, message, meta) = wire(&refused);
    assert_eq!((code, message), (WireCode::ValidationFailed, "`name` must be a string"));
    insta::assert_json_snapshot!(meta);
}

fn details(refused: &PlatformError) -> Vec<String> {
    let meta = wire(refused).2;
    let details = meta["details"].as_array().expect("details").iter();
    details.map(|detail| detail["message"].as_str().expect("a message").to_owned()).collect()
}

#[tokio::test]
async fn all_that_is_wrong_with_a_body_is_told_at_once() {
    let world = World::new();
    let body = json!({ "nmae": "w", "name": 1, "events": ["no event"] });
    let refused = world.rest_create("webhook", body).await.expect_err("wrong in many ways");
    assert_eq!(wire(&refused).1, "Unknown field(s): nmae");
    let told = details(&refused).join("\n");
    for problem in
        ["Unknown webhook field 'nmae'", "`name` must be a string", "`url` is required", "events[0]"]
    {
        assert!(told.contains(problem), "{told}");
    }
    let body = json!({ "name": 1, "url": "nowhere", "events": ["*"] });
    let refused = world.rest_create("webhook", body).await.expect_err("a type and an address");
    assert_eq!(details(&refused).len(), 2, "{:?}", details(&refused));
    let made = world.rest_made("memory", json!({ "name": "m" })).await;
    let body = json!({ "description": 1, "tags": "a" });
    let refused = world.rest_update("memory", id_of(&made), body, UpdateMode::Put, None).await;
    let told = details(&refused.expect_err("no name, and wrong types"));
    assert_eq!(told.len(), 3, "{told:?}");
}

#[tokio::test]
async fn what_is_told_of_a_body_quotes_no_secret() {
    let world = World::new();
    let headers = json!({ "Authorization": "Bearer canary-3141 {{nope}}" });
    let body = json!({ "type": "mcp", "mcp": { "url": "https://x.test", "headers": headers } });
    let refused = world.rest_create("tool", body).await.expect_err("no name, and a reference that is none");
    assert_eq!(wire(&refused).1, "Missing required field(s): name");
    assert!(details(&refused).len() >= 2, "{refused:?}");
    assert!(!format!("{refused:?}").contains("canary"), "{refused:?}");
}

#[tokio::test]
async fn names_that_people_read_have_nothing_in_them_that_is_not_seen() {
    let world = World::new();
    for name in ["m\u{202e}x", "m\u{200b}", " m", "m\n"] {
        let refused = world.rest_create("memory", json!({ "name": name })).await.expect_err("not seen");
        let (code, message, meta) = wire(&refused);
        assert_eq!(code, WireCode::ValidationFailed);
        assert!(message.starts_with("`name` must not "), "{message}");
        assert!(message.contains("character "), "{message}");
        assert_eq!(meta["details"][0]["path"], "name");
    }
    let made = world.rest_made("memory", json!({ "name": "ein Gedächtnis 漢字" })).await;
    let renamed = json!({ "name": "m\u{feff}" });
    let refused = world.rest_update("memory", id_of(&made), renamed, UpdateMode::Patch, None).await;
    assert!(wire(&refused.expect_err("not seen")).1.contains("U+FEFF"));
    for (field, text) in
        [("filename", "a\r\nb.txt"), ("prefix", "/a\n"), ("content_type", "text/plain\r\nX-Evil: 1")]
    {
        let refused = world.rest_create("file", json!({ field: text })).await.expect_err("no header");
        assert!(wire(&refused).1.starts_with(&format!("`{field}` must ")), "{refused:?}");
    }
    let titled = json!({ "content": "c", "title": "t\u{2066}" });
    world.rest_create("document", titled).await.expect_err("not seen");
    world.rest_made("file", json!({ "content_type": "text/plain; charset=utf-8" })).await;
}

#[tokio::test]
async fn rules_with_codes_of_their_own_use_them() {
    let world = World::new();
    let provider = world.create("ai_provider", provider()).await;
    for (type_name, body, code) in [
        (
            "agent",
            json!({ "ai_provider_id": provider, "output_schema": "text" }),
            WireCode::InvalidOutputSchema,
        ),
        (
            "agent",
            json!({ "ai_provider_id": provider, "output_schema": { "type": "string" } }),
            WireCode::InvalidOutputSchema,
        ),
        ("tool", json!({ "name": "t", "type": "pipeline" }), WireCode::PipelineInvalidStep),
        ("tool", json!({ "name": "t", "mcp": { "url": "{{x}}" } }), WireCode::InvalidTemplateToken),
    ] {
        let refused = world.rest_create(type_name, body).await.expect_err("refused");
        assert_eq!(wire(&refused).0, code);
    }
}

#[tokio::test]
async fn patch_leaves_and_put_clears_what_is_not_named() {
    let world = World::new();
    let made = world.rest_create("memory", json!({ "name": "m", "description": "d" })).await.expect("made");
    let id = made["id"].as_str().expect("an id");
    let shown = world.rest_update("memory", id, json!({ "name": "n" }), UpdateMode::Patch, None).await;
    assert_eq!(shown.expect("updated")["description"], json!("d"));
    let shown = world.rest_update("memory", id, json!({ "name": "n" }), UpdateMode::Put, None).await;
    assert_eq!(shown.expect("updated")["description"], Json::Null);
    let refused = world.rest_update("memory", id, json!({ "tags": [] }), UpdateMode::Put, None).await;
    assert_eq!(wire(&refused.expect_err("no name")).1, "Missing required field(s): name");
    let entry = json!({ "memory_id": id, "content": "c", "source_type": "agent" });
    let entry = world.rest_create("memory_entry", entry).await.expect("made");
    let entry = entry["id"].as_str().expect("an id");
    let shown =
        world.rest_update("memory_entry", entry, json!({ "content": "d" }), UpdateMode::Put, None).await;
    let shown = shown.expect("what cannot change need not be restated");
    assert_eq!((&shown["memory_id"], &shown["source_type"]), (&json!(id), &json!("agent")));
}

#[tokio::test]
async fn an_update_at_another_version_is_refused() {
    let world = World::new();
    let made = world.rest_create("memory", json!({ "name": "m" })).await.expect("made");
    let id = made["id"].as_str().expect("an id");
    let version = world.stored("memory").await[0].version;
    let update = |name: &str| json!({ "name": name });
    world.rest_update("memory", id, update("a"), UpdateMode::Patch, Some(version)).await.expect("current");
    let refused = world.rest_update("memory", id, update("b"), UpdateMode::Patch, Some(version)).await;
    let refused = refused.expect_err("stale");
    let (code, _, meta) = wire(&refused);
    assert_eq!((code, meta), (WireCode::VersionConflict, json!({ "expected": 1, "found": 2 })));
}

#[tokio::test]
async fn out_of_reach_is_not_found() {
    let world = World::new();
    let made = world.rest_create("memory", json!({ "name": "m" })).await.expect("made");
    let id = made["id"].as_str().expect("an id");
    let elsewhere: &[ProjectId] = &["proj_two".into()];
    for reach in [elsewhere, &[]] {
        let refused =
            world.platform.rest_get(&"memory".into(), Some(reach), id).await.expect_err("out of reach");
        let (code, message, _) = wire(&refused);
        assert_eq!((code, message), (WireCode::ResourceNotFound, &*format!("Memory not found: {id}")));
    }
    world.platform.rest_get(&"memory".into(), None, id).await.expect("an admin sees all");
    let refused = world.platform.rest_get(&"secret".into(), None, id).await.expect_err("another type");
    assert_eq!(wire(&refused).0, WireCode::ResourceNotFound);
}

#[tokio::test]
async fn a_repeated_create_with_one_token_makes_one_object_per_type() {
    let world = World::new();
    let token = Some(ClientToken([9; 32]));
    let create = |type_name: &'static str| {
        let body = json!({ "name": "m" });
        let world = &world;
        async move {
            let made = world
                .platform
                .rest_create(&caller(), &type_name.into(), Some(&world.project), body, token)
                .await;
            made.expect("made").shown["id"].clone()
        }
    };
    assert_eq!(create("memory").await, create("memory").await);
    assert!(create("tool").await.as_str().expect("an id").starts_with("tool_"));
    assert_eq!(world.stored("memory").await.len(), 1);
}

#[tokio::test]
async fn lists_page_and_stay_within_reach() {
    let world = World::new();
    for index in 0..3 {
        world.create("memory", json!({ "name": index.to_string() })).await;
    }
    let page = world.rest_list(RestList { limit: Some(2), offset: 1, ..list_of("memory", &[]) }).await;
    let page = page.expect("a page");
    assert_eq!((names(&page), page.total), (vec!["1", "2"], 3));
    for (projects, total) in [
        (Some(vec![]), 0),
        (Some(vec![ProjectId::from("proj_two")]), 0),
        (Some(vec![world.project.clone()]), 3),
        (None, 3),
    ] {
        let page = world.rest_list(RestList { projects, ..list_of("memory", &[]) }).await.expect("a page");
        assert_eq!(page.total, total);
    }
    let reach = Some(vec![world.project.clone()]);
    let narrowed = RestList { projects: reach, ..list_of("memory", &[("project_id", "proj_two")]) };
    assert_eq!(world.rest_list(narrowed).await.expect("a page").total, 0);
    for limit in [0, 101] {
        let refused = world.rest_list(RestList { limit: Some(limit), ..list_of("memory", &[]) }).await;
        assert_eq!(wire(&refused.expect_err("out of bounds")).1, "`limit` must be between 1 and 100");
    }
}

#[tokio::test]
async fn lists_are_narrowed_by_what_their_type_offers() {
    let world = World::new();
    let one = world.create("memory", json!({ "name": "one", "tags": ["red-1"] })).await;
    world.create("memory", json!({ "name": "two", "tags": ["blue"] })).await;
    world.create("memory", json!({ "name": "three", "tags": ["x", "red-2"] })).await;
    let page = world.rest_list(list_of("memory", &[("tags", "red-?, green")])).await.expect("a page");
    assert_eq!((names(&page), page.total), (vec!["one", "three"], 2));
    let query = RestList { limit: Some(1), offset: 1, ..list_of("memory", &[("tags", "*")]) };
    let page = world.rest_list(query).await.expect("a page");
    assert_eq!((names(&page), page.total), (vec!["two"], 3));

    world.create("memory_entry", json!({ "memory_id": one, "content": "c" })).await;
    let of = |memory| list_of("memory_entry", &[("memory_id", memory), ("include_invalidated", "false")]);
    assert_eq!(world.rest_list(of(&*one)).await.expect("a page").total, 1);
    assert_eq!(world.rest_list(of("mem_none")).await.expect("a page").total, 0);
    let refused = world.rest_list(list_of("memory_entry", &[("include_invalidated", "maybe")])).await;
    assert_eq!(wire(&refused.expect_err("no boolean")).0, WireCode::ValidationFailed);

    world.create("document", json!({ "content": "c", "path": "/a/b" })).await;
    world.create("document", json!({ "content": "c" })).await;
    let page = world.rest_list(list_of("document", &[("path_prefix", "/a/")])).await.expect("a page");
    assert_eq!(page.total, 1);
    let refused = world.rest_list(list_of("agent", &[("colour", "red")])).await;
    assert_eq!(wire(&refused.expect_err("unknown")).1, "Unknown query parameter(s): colour");
}
