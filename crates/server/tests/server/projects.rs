//! A project's settings over the wire.

use crate::people::allow;
use crate::world::World;
use formwork_model::Json;
use serde_json::json;

async fn set(world: &World, project: &str, body: Json) -> crate::world::Reply {
    world.send("PATCH", &format!("/projects/{project}"), Some(&body)).await
}

#[tokio::test]
async fn a_project_is_changed_field_by_field_and_null_is_the_default() {
    let world = World::new().await;
    let project = world.made("/projects", json!({ "name": "p" })).await;
    let guardrail = json!({ "name": "g", "class": "A", "project_id": project });
    let guardrail = world.made("/guardrails", guardrail).await;
    let shown = world.get(&format!("/projects/{project}")).await.body;
    let defaults = json!({
        "guardrail_ids": [], "max_concurrent_runs": null, "default_model_route_id": null,
        "audit_reads_enabled": false, "trace_content_retention_days": null, "trace_content_mode": "full",
    });
    let settings = |shown: &Json| {
        let members = shown.as_object().expect("a project").iter();
        members
            .filter(|(name, _)| defaults.get(*name).is_some())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect::<Json>()
    };
    assert_eq!(settings(&shown), defaults);
    let body = json!({
        "name": "q", "guardrail_ids": [guardrail], "max_concurrent_runs": 4, "audit_reads_enabled": true,
        "trace_content_retention_days": 30, "trace_content_mode": "none",
    });
    let changed = set(&world, &project, body.clone()).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    for (name, value) in body.as_object().expect("a body") {
        assert_eq!(&changed.body[name], value, "{name}");
    }
    let nulls: Json =
        defaults.as_object().expect("defaults").keys().map(|name| (name.clone(), Json::Null)).collect();
    let cleared = set(&world, &project, nulls).await.body;
    assert_eq!((settings(&cleared), &cleared["name"]), (defaults.clone(), &json!("q")));
    for (body, status, code) in [
        (json!({ "nmae": "x" }), 400, "VALIDATION_FAILED"),
        (json!({ "name": null }), 400, "VALIDATION_FAILED"),
        (json!({ "name": "" }), 400, "VALIDATION_FAILED"),
        (json!({ "name": "default" }), 409, "NAME_CONFLICT"),
        (json!([]), 400, "VALIDATION_FAILED"),
    ] {
        assert_eq!(set(&world, &project, body).await.outcome(), (status, code));
    }
    assert_eq!(set(&world, "proj_missing", json!({})).await.outcome(), (404, "RESOURCE_NOT_FOUND"));
    let default = world.default_project().await;
    assert_eq!(set(&world, &default, json!({ "name": "x" })).await.outcome(), (400, "VALIDATION_FAILED"));
    assert_eq!(set(&world, &default, json!({ "name": "default" })).await.status, 200);
}

#[tokio::test]
async fn changing_one_takes_its_permission_and_is_written_down() {
    let world = World::new().await;
    let project = world.default_project().await;
    let other = world.made("/projects", json!({ "name": "other" })).await;
    let own = format!("srn:{project}:project:{project}");
    let ada = world.person("ada", &[]).await;
    let body = json!({ "max_concurrent_runs": 2 });
    assert_eq!(set(&ada.world, &project, json!({ "nonsense": 1 })).await.outcome(), (403, "FORBIDDEN"));
    ada.may(&[allow(&["projects:UpdateProject"], &[&own])]).await;
    assert_eq!(set(&ada.world, &project, body.clone()).await.status, 200);
    assert_eq!(set(&ada.world, &other, body).await.outcome(), (403, "FORBIDDEN"));
    let audit = world.get(&format!("/audit?project_id={project}")).await.body;
    let entry = &audit["data"][0];
    assert_eq!((&entry["action"], &entry["subject"]), (&json!("projects:UpdateProject"), &json!(project)));
    assert_eq!(entry["detail"]["set"], json!(["max_concurrent_runs"]));
}

#[tokio::test]
async fn a_template_takes_its_model_from_the_project_and_is_warned_where_that_has_none() {
    let world = World::new().await;
    let project = world.default_project().await;
    let template = json!({ "resources": { "Bot": { "type": "agent", "properties": { "name": "bot" } } } });
    let validated = world.post("/formations/validate", json!({ "template": template })).await.body;
    let warning = &validated["warnings"][0];
    assert_eq!((&validated["valid"], &warning["path"]), (&json!(true), &json!("resources.Bot.properties")));
    let message = "'Bot' names no ai_provider_id or model_route_id: it takes the default model route of its \
                   project, which must have one";
    assert_eq!(warning["message"], message);
    let plan = json!({ "template": template });
    let planned = world.post("/formations/plan", plan.clone()).await.body;
    let message = "'Bot' names no ai_provider_id or model_route_id, and the project has no default model route \
                   to inherit";
    assert_eq!(planned["warnings"][0]["message"], message, "{planned:#}");
    let failed = world.post("/formations", json!({ "name": "s", "template": template })).await.body;
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!("VALIDATION_FAILED"))
    );
    let provider = json!({ "name": "p", "provider": "openai", "default_model": "m" });
    let provider = world.made("/ai-providers", provider).await;
    let route = json!({ "name": "r", "targets": [{ "ai_provider_id": provider, "model": "m" }] });
    let route = world.made("/model-routes", route).await;
    assert_eq!(set(&world, &project, json!({ "default_model_route_id": route })).await.status, 200);
    assert_eq!(world.post("/formations/plan", plan).await.body["warnings"], Json::Null);
    let formation = failed["id"].as_str().expect("an id");
    let deployed = world.redeploy(formation, &template).await;
    assert_eq!(deployed["status"], "active", "{deployed:#}");
    assert_eq!(world.changes(formation, &template).await, []);
    let cleared = set(&world, &project, json!({ "default_model_route_id": null })).await;
    assert_eq!(cleared.outcome(), (409, "PROJECT_DEFAULT_ROUTE_INHERITED"));
    assert_eq!(cleared.meta(), &json!({ "agentCount": 1, "chatCount": 0 }));
    let deleted = world.send("DELETE", &format!("/model-routes/{route}"), None).await;
    assert_eq!(deleted.outcome(), (409, "MODEL_ROUTE_HAS_DEPENDENTS"));
}

#[tokio::test]
async fn reads_are_in_the_audit_of_a_project_that_wants_them() {
    let world = World::new().await;
    let project = world.default_project().await;
    let memory = world.made("/memories", json!({ "name": "m" })).await;
    let formation = world.deployed(&json!({ "resources": {} })).await;
    let reads = async || {
        let audit = world.get(&format!("/audit?project_id={project}&limit=100")).await.body;
        let entries = audit["data"].as_array().expect("a page").clone();
        let is_read = |action: &str| ["Get", "List"].iter().any(|verb| action.contains(&format!(":{verb}")));
        let lines = entries.iter().map(|entry| {
            format!(
                "{} {} {}",
                entry["action"].as_str().expect("text"),
                entry["subject"].as_str().expect("text"),
                entry["allowed"]
            )
        });
        lines.filter(|line| is_read(line)).collect::<Vec<_>>()
    };
    world.get(&format!("/memories/{memory}")).await;
    assert_eq!(reads().await, Vec::<String>::new(), "not by default");
    set(&world, &project, json!({ "audit_reads_enabled": true })).await;
    let ada = world.person("ada", &[]).await;
    for path in [format!("/memories/{memory}"), "/memories".to_owned(), format!("/formations/{formation}")] {
        assert_eq!(world.get(&path).await.status, 200);
    }
    assert_eq!(ada.world.get(&format!("/memories/{memory}")).await.status, 404);
    assert_eq!(
        reads().await,
        [
            format!("memories:GetMemory {memory} false"),
            format!("formations:GetFormation {formation} true"),
            "memories:ListMemories  true".to_owned(),
            format!("memories:GetMemory {memory} true"),
        ]
    );
}
