//! Nobody can do through a formation what they could not do directly.

use super::{only, physical};
use crate::people::allow;
use crate::world::{World, agent, memories};
use serde_json::json;

#[tokio::test]
async fn keys_and_triggers_are_those_of_whoever_deployed_them_first() {
    let world = World::new().await;
    let project = world.default_project().await;
    let statements =
        [allow(&["formations:*", "ai-providers:*", "agents:*", "api-keys:*", "triggers:*"], &["*"])];
    let ada = world.person("ada", &statements).await;
    let mut template = agent();
    template["resources"]["Key"] =
        json!({ "type": "api_key", "properties": { "name": "k", "policy_ids": [] } });
    template["resources"]["Nightly"] = json!({ "type": "trigger", "properties": {
        "name": "nightly", "type": "schedule", "cron": "0 3 * * *", "target_type": "agent",
        "target_id": { "ref": "Bot" },
    } });
    let body = json!({ "name": "s", "project_id": project, "template": template });
    let made = ada.world.post("/formations", body).await;
    assert_eq!(made.body["status"], "active", "{}", made.text);
    let key = format!("/api-keys/{}", physical(&world, &made.id(), "Key").await);
    let trigger = format!("/triggers/{}", physical(&world, &made.id(), "Nightly").await);
    let owners = async || {
        let (key, trigger) = (world.get(&key).await.body, world.get(&trigger).await.body);
        (key["user_id"].clone(), trigger["created_by"].clone())
    };
    let hers = (json!(ada.id), json!(ada.id));
    assert_eq!(owners().await, hers);
    // Whoever deploys it again may be able to do more, and lends it to nobody.
    template["resources"]["Key"]["properties"]["name"] = json!("k2");
    template["resources"]["Nightly"]["properties"]["cron"] = json!("0 4 * * *");
    assert_eq!(world.redeploy(&made.id(), &template).await["status"], "active");
    assert_eq!(owners().await, hers);
    let events = world.get(&format!("/formations/{}/events", made.id())).await.text;
    assert!(!made.text.contains("sk_") && !events.contains("sk_"), "no answer tells the key");
}

#[tokio::test]
async fn a_policy_and_a_key_in_one_template_are_no_way_to_more_power() {
    let world = World::new().await;
    let project = world.default_project().await;
    // Even the action is not enough: policies take the admin role, by route and by formation.
    let ada = world.person("ada", &[allow(&["formations:*", "api-keys:*", "policies:*"], &["*"])]).await;
    let template = json!({ "resources": {
        "All": { "type": "policy", "properties": {
            "document": { "statement": [{ "effect": "Allow", "action": ["*"] }] },
        } },
        "Key": { "type": "api_key", "properties": { "name": "k", "policy_ids": [{ "ref": "All" }] } },
    } });
    let body = json!({ "name": "s", "project_id": project, "template": template });
    let refused = ada.world.post("/formations", body.clone()).await;
    assert_eq!(refused.outcome(), (403, "FORBIDDEN"));
    let denied =
        json!([{ "logical_id": "All", "resource_type": "policy", "action": "policies:CreatePolicy" }]);
    assert_eq!(refused.meta(), &json!({ "denied_actions": denied }));
    let planned =
        ada.world.post("/formations/plan", json!({ "project_id": project, "template": template })).await;
    assert_eq!(planned.body["unauthorized_actions"], denied);
    assert_eq!(world.get("/formations").await.body["total"], 0);
    assert_eq!(world.get("/api-keys").await.body["total"], 0);
    // The admin may, and the key is under the ceiling of its owner all the same.
    assert_eq!(world.post("/formations", body).await.body["status"], "active");
}

#[tokio::test]
async fn a_policy_may_name_one_formation() {
    let world = World::new().await;
    let here = world.default_project().await;
    let mine = world.made("/formations", json!({ "name": "mine", "template": memories(1) })).await;
    let other = world.made("/formations", json!({ "name": "other", "template": { "resources": {} } })).await;
    let own = format!("srn:{here}:formation:{mine}");
    let ada = world.person("ada", &[allow(&["formations:*"], &[&own]), allow(&["memories:*"], &["*"])]).await;
    let (mine, other) = (format!("/formations/{mine}"), format!("/formations/{other}"));
    for suffix in ["", "/events", "/drift", "/revisions"] {
        assert_eq!(ada.world.get(&format!("{mine}{suffix}")).await.status, 200, "{suffix}");
        assert_eq!(
            ada.world.get(&format!("{other}{suffix}")).await.outcome(),
            (403, "FORBIDDEN"),
            "{suffix}"
        );
    }
    let named = json!({ "template": memories(2) });
    assert_eq!(ada.world.send("PUT", &mine, Some(&named)).await.body["status"], "active");
    assert_eq!(ada.world.send("PUT", &other, Some(&named)).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(ada.world.send("DELETE", &other, None).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(ada.world.send("DELETE", &mine, None).await.status, 200);
}

#[tokio::test]
async fn a_plan_of_a_formation_elsewhere_is_not_to_be_had() {
    let world = World::new().await;
    let here = world
        .made("/formations", json!({ "name": "s", "template": only("memory", json!({ "name": "hidden" })) }))
        .await;
    let (there, scoped) = world.scoped("there").await;
    for body in [
        json!({ "formation_id": here, "template": memories(1) }),
        json!({ "formation_id": here, "template": memories(1), "project_id": there }),
        json!({ "formation_id": here }),
    ] {
        let refused = scoped.post("/formations/plan", body).await;
        assert!(matches!(refused.status, 403 | 404), "{}", refused.text);
        assert!(!refused.text.contains("hidden"));
    }
    let ada = world
        .person("ada", &[allow(&["formations:PlanFormation"], &[&format!("srn:{there}:formation:*")])])
        .await;
    let body = json!({ "formation_id": here, "template": memories(1), "project_id": there });
    let refused = ada.world.post("/formations/plan", body).await;
    assert!(matches!(refused.status, 403 | 404), "{}", refused.text);
}

#[tokio::test]
async fn an_admin_who_names_no_project_sees_the_formations_of_all() {
    let world = World::new().await;
    let there = world.made("/projects", json!({ "name": "there" })).await;
    let empty = json!({ "resources": {} });
    world.made("/formations", json!({ "name": "s", "template": empty })).await;
    world.made("/formations", json!({ "name": "s", "template": empty, "project_id": there })).await;
    let listed = world.get("/formations").await.body;
    assert_eq!((&listed["total"], listed["data"].as_array().map(Vec::len)), (&json!(2), Some(2)));
    let listed = world.get(&format!("/formations?project_id={there}")).await.body;
    assert_eq!((&listed["total"], &listed["data"][0]["project_id"]), (&json!(1), &json!(there)));
}
