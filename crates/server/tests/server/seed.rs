//! Sentences of seed 4 that no other test is about, over HTTP.

use crate::people::allow;
use crate::world::{World, memories};
use formwork_model::Json;
use serde_json::json;

fn row<'f>(formation: &'f Json, label: &str) -> &'f Json {
    let rows = formation["resources"].as_array().expect("rows");
    rows.iter().find(|row| row["logical_id"] == label).expect("a row")
}

/// "A ${Name} token inside a sub resolves to: the parameter's value …; the physical public ID …;
/// itself (left literal), when Name starts with body."
#[tokio::test]
async fn a_token_is_a_parameter_a_resource_or_what_a_tool_fills_in_when_it_is_called() {
    let world = World::new().await;
    let template = json!({
        "parameters": { "Host": { "type": "string" }, "Kb": { "type": "string", "default": "of the parameter" } },
        "resources": {
            "Kb": { "type": "memory", "properties": { "name": "kb" } },
            "Store": { "type": "memory", "properties": { "name": "s" } },
            "Ask": { "type": "tool", "properties": {
                "name": "ask", "description": { "sub": "${Kb}, ${Store}" },
                "execute": { "url": { "sub": "https://${Host}/${Store}/${body.orderId}/{id}" } },
            } },
        },
        "outputs": { "where": { "sub": "${Host}/${Store}" } },
    });
    let body = json!({ "name": "s", "template": template, "parameters": { "Host": "h.test" } });
    let made = world.post("/formations", body).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let id = |label: &str| row(&made.body, label)["physical_resource_id"].as_str().expect("an id").to_owned();
    let tool = world.get(&format!("/tools/{}", id("Ask"))).await.body;
    let store = id("Store");
    assert_eq!(tool["execute"]["url"], json!(format!("https://h.test/{store}/${{body.orderId}}/{{id}}")));
    assert_eq!(tool["description"], json!(format!("of the parameter, {store}")), "a parameter comes first");
    assert_eq!(made.body["outputs"]["where"], json!(format!("h.test/{store}")));
    let events = world.get(&format!("/formations/{}/events", made.id())).await.body;
    let order: Vec<_> =
        events["data"][0]["events"].as_array().expect("events").iter().map(|it| &it["logical_id"]).collect();
    assert_eq!(order, ["Kb", "Store", "Ask"], "a resource's id in a text is a dependency");
}

/// "a much wider audience than secrets:GetSecret or triggers:GetTriggerSecret" … "Read the secret
/// from its own permission-gated route instead"
#[tokio::test]
async fn a_signing_secret_takes_a_permission_of_its_own() {
    let world = World::new().await;
    let template = json!({ "resources": {
        "Prov": { "type": "ai_provider", "properties": { "name": "p", "provider": "openai", "default_model": "m" } },
        "Bot": { "type": "agent", "properties": { "ai_provider_id": { "ref": "Prov" } } },
        "Hook": { "type": "webhook", "properties": { "name": "h", "url": "https://x.test", "events": ["*"] } },
        "Call": { "type": "trigger", "properties": {
            "name": "c", "type": "webhook", "target_type": "agent", "target_id": { "ref": "Bot" },
        } },
    } });
    let formation = world.deployed(&template).await;
    let shown = world.get(&format!("/formations/{formation}")).await;
    let wide = ["formations:GetFormation", "webhooks:GetWebhook", "triggers:GetTrigger"];
    let ada = world.person("ada", &[allow(&wide, &["*"])]).await;
    for (label, path, action) in [
        ("Hook", "/webhooks", "webhooks:GetWebhookSecret"),
        ("Call", "/triggers", "triggers:GetTriggerSecret"),
    ] {
        let id = row(&shown.body, label)["physical_resource_id"].as_str().expect("an id");
        let secret = world.get(&format!("{path}/{id}/secret")).await.body["secret"].clone();
        let secret = secret.as_str().expect("a secret");
        let formation = ada.world.get(&format!("/formations/{formation}")).await;
        let object = ada.world.get(&format!("{path}/{id}")).await;
        assert_eq!((formation.status, object.status), (200, 200));
        assert!(!formation.text.contains(secret) && !object.text.contains(secret));
        let refused = ada.world.get(&format!("{path}/{id}/secret")).await;
        assert!(matches!(refused.status, 403 | 404), "{action}: {}", refused.text);
        ada.may(&[allow(&wide, &["*"]), allow(&[action], &["*"])]).await;
        assert_eq!(ada.world.get(&format!("{path}/{id}/secret")).await.body["secret"], json!(secret));
    }
}

/// "The raw expressions stay in template.metadata (so a re-deploy re-resolves them against new
/// parameter values)" and the nulls of the formation's table.
#[tokio::test]
async fn metadata_is_resolved_anew_by_each_deploy_and_null_where_there_is_none() {
    let world = World::new().await;
    let mut template = memories(1);
    let plain = world.post("/formations", json!({ "name": "plain", "template": template })).await.body;
    for name in ["resolved_metadata", "resolved_parameters", "metadata", "error"] {
        assert_eq!(plain.get(name), Some(&Json::Null), "{name}");
    }
    template["parameters"] = json!({ "version": { "type": "string", "default": "unpinned" } });
    template["metadata"] = json!({ "version": { "sub": "v${version}" }, "list": [{ "ref": "M0" }] });
    let made = world.post("/formations", json!({ "name": "s", "template": template })).await;
    let memory = row(&made.body, "M0")["physical_resource_id"].clone();
    assert_eq!(made.body["resolved_metadata"], json!({ "version": "vunpinned", "list": [memory] }));
    let path = format!("/formations/{}", made.id());
    let next = world.send("PUT", &path, Some(&json!({ "parameters": { "version": "2" } }))).await.body;
    assert_eq!(next["resolved_metadata"], json!({ "version": "v2", "list": [memory] }));
    assert_eq!(next["resolved_parameters"], json!({ "version": "2" }));
    assert_eq!(next["template"]["metadata"], template["metadata"]);
    for bad in [
        json!({ "a": { "sub": "x" } }),
        json!({ "a": [{ "param": "version" }] }),
        json!({ "b": { "ref": "M0" } }),
    ] {
        let update = world.send("PUT", &path, Some(&json!({ "metadata": bad }))).await;
        assert_eq!(update.outcome(), (400, "FORMATION_INVALID_METADATA"), "{}", update.text);
        let create = json!({ "name": "t", "template": memories(1), "metadata": bad });
        assert_eq!(world.post("/formations", create).await.outcome(), (400, "FORMATION_INVALID_METADATA"));
    }
}

/// "A formation is authorized twice: once for the request … and then once per resource"
#[tokio::test]
async fn the_request_takes_its_own_action_beside_those_of_the_resources() {
    let world = World::new().await;
    let project = world.default_project().await;
    let formation = world.deployed(&memories(1)).await;
    let path = format!("/formations/{formation}");
    let ada = world.person("ada", &[]).await;
    let actions = ["PlanFormation", "CreateFormation", "UpdateFormation", "DeleteFormation"]
        .map(|name| format!("formations:{name}"));
    for missing in &actions {
        let others: Vec<_> = actions.iter().filter(|action| *action != missing).map(String::as_str).collect();
        ada.may(&[allow(&others, &["*"]), allow(&["memories:*"], &["*"])]).await;
        let template = json!({ "project_id": project, "template": memories(1) });
        let mut create = template.clone();
        create["name"] = json!(format!("without {missing}"));
        let planned = ada.world.post("/formations/plan", template).await.status;
        let created = ada.world.post("/formations", create).await.status;
        let updated = ada.world.send("PUT", &path, Some(&json!({}))).await.status;
        let statuses = [planned, created, updated];
        for (action, status) in actions.iter().zip(statuses) {
            let expected = action != missing;
            assert_eq!(status < 300, expected, "{action} without {missing}: {status}");
            assert!(expected || status == 403, "{action}: {status}");
        }
    }
    // The last round had all but the teardown's.
    assert_eq!(ada.world.send("DELETE", &path, None).await.outcome(), (403, "FORBIDDEN"));
    ada.may(&[allow(&["formations:DeleteFormation", "memories:DeleteMemory"], &["*"])]).await;
    assert_eq!(ada.world.send("DELETE", &path, None).await.status, 200);
}

/// "A secret resource's value … reads back as `{ "no_echo": true }`, both in the stored template and
/// in a plan-formation diff" and "an update that supplies no new template re-applies the stored one".
#[tokio::test]
async fn a_literal_secret_is_in_no_answer_and_the_stored_template_still_has_it() {
    let world = World::new().await;
    let template = |value: &str| json!({ "resources": { "Key": { "type": "secret", "properties": { "name": "k", "value": value } } } });
    let made = world.post("/formations", json!({ "name": "s", "template": template("canary-1") })).await;
    let path = format!("/formations/{}", made.id());
    let masked = json!({ "name": "k", "value": { "no_echo": true } });
    let updated = world.send("PUT", &path, Some(&json!({ "template": template("canary-2") }))).await;
    let again = world.send("PUT", &path, Some(&json!({}))).await;
    let (shown, listed) = (world.get(&path).await, world.get("/formations").await);
    let body = json!({ "formation_id": made.id(), "template": template("canary-3") });
    let planned = world.post("/formations/plan", body).await;
    let events = world.get(&format!("{path}/events")).await;
    for answer in [&made, &updated, &again, &shown] {
        assert_eq!(answer.body["template"]["resources"]["Key"]["properties"], masked, "{}", answer.text);
    }
    assert_eq!(listed.body["data"][0]["template"]["resources"]["Key"]["properties"], masked);
    let change = &planned.body["changes"][0];
    assert_eq!((&change["action"], &change["diff"]["desired"]), (&json!("update"), &masked));
    assert!(change["diff"]["current"].is_object(), "the last-applied snapshot");
    for answer in [&made, &updated, &again, &shown, &listed, &planned, &events] {
        assert!(!answer.text.contains("canary"), "{}", answer.text);
    }
    let last = events.body["data"][2]["events"].clone();
    assert_eq!(last[0]["action"], "no-op", "what was re-applied is the same value, not the mask: {last}");
    // The mask that is sent back is no value.
    let edited = json!({ "template": shown.body["template"] });
    let refused = world.send("PUT", &path, Some(&edited)).await;
    assert_eq!(refused.outcome(), (400, "VALIDATION_FAILED"));
    assert_eq!(refused.meta()["details"][0]["path"], "resources.Key.properties.value");
}
