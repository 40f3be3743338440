//! What a principal may do: policies, keys, projects, and what is written down of it.

use crate::people::{allow, deny};
use crate::world::{World, memories};
use formwork_model::Json;
use formwork_store::Store;
use serde_json::json;

const READ: &[&str] = &["memories:ListMemories", "memories:GetMemory"];

#[tokio::test]
async fn a_denied_list_is_empty_a_denied_read_is_404_and_a_denied_write_is_403() {
    let world = World::new().await;
    let project = world.default_project().await;
    let memory = world.made("/memories", json!({ "name": "m" })).await;
    let formation = world.made("/formations", json!({ "name": "s", "template": memories(1) })).await;
    let ada = world.person("ada", &[]).await;
    let (item, stack) = (format!("/memories/{memory}"), format!("/formations/{formation}"));
    for list in ["/memories", "/formations", "/projects", "/audit"] {
        let reply = ada.world.get(list).await;
        assert_eq!((reply.status, &reply.body["total"]), (200, &json!(0)), "{list}");
    }
    let hidden = ada.world.get(&item).await;
    let missing = ada.world.get("/memories/mem_missing").await;
    assert_eq!(hidden.outcome(), (404, "RESOURCE_NOT_FOUND"));
    assert_eq!(hidden.text.replace(&memory, "mem_missing"), missing.text, "the two can't be told apart");
    let named = json!({ "name": "x", "project_id": project });
    assert_eq!(ada.world.post("/memories", named).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(
        ada.world.send("PUT", &item, Some(&json!({ "name": "x" }))).await.outcome(),
        (403, "FORBIDDEN")
    );
    assert_eq!(ada.world.send("DELETE", &item, None).await.outcome(), (403, "FORBIDDEN"));
    // A formation that exists is said to (`formations-behaviour.md` §1.2, notes).
    assert_eq!(ada.world.get(&stack).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(ada.world.get(&format!("{stack}/events")).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(ada.world.send("PUT", &stack, Some(&json!({}))).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(ada.world.send("DELETE", &stack, None).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(ada.world.get("/formations/form_missing").await.outcome(), (404, "RESOURCE_NOT_FOUND"));
    assert_eq!(world.get(&item).await.body["name"], "m", "nothing changed");
}

#[tokio::test]
async fn a_refusal_comes_before_what_is_wrong_with_the_body() {
    let world = World::new().await;
    let project = world.default_project().await;
    let memory = world.made("/memories", json!({ "name": "m" })).await;
    let ada = world.person("ada", &[]).await;
    for path in ["/formations", "/formations/plan", "/memories", "/tools"] {
        let reply = ada.world.post(path, json!({ "project_id": project, "nonsense": 1 })).await;
        assert_eq!(reply.outcome(), (403, "FORBIDDEN"), "{path}");
    }
    let broken =
        ada.world.request("PUT", &format!("/memories/{memory}")).body("{".into()).expect("a request");
    assert_eq!(ada.world.answer(broken).await.outcome(), (403, "FORBIDDEN"));
    let unnamed = ada.world.post("/memories", json!({ "name": "m" })).await;
    assert_eq!(unnamed.outcome(), (400, "VALIDATION_FAILED"));
    assert_eq!(unnamed.meta()["missingFields"], json!(["project_id"]), "a user has no project of their own");
}

#[tokio::test]
async fn policies_reach_as_far_as_their_names_of_resources() {
    let world = World::new().await;
    let (here, there) =
        (world.default_project().await, world.made("/projects", json!({ "name": "there" })).await);
    let (mine, other) = (
        world.made("/memories", json!({ "name": "mine" })).await,
        world.made("/memories", json!({ "name": "other" })).await,
    );
    world.made("/memories", json!({ "name": "far", "project_id": there })).await;
    let (of_here, one) = (format!("srn:{here}:memory:*"), format!("srn:{here}:memory:{mine}"));
    let ada =
        world.person("ada", &[allow(READ, &[&of_here]), allow(&["memories:UpdateMemory"], &[&one])]).await;
    let names = |reply: &Json| -> Vec<String> {
        let all = reply["data"].as_array().expect("a list");
        all.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&ada.world.get("/memories").await.body), ["mine", "other"]);
    assert_eq!(ada.world.get(&format!("/memories?project_id={there}")).await.body["total"], 0);
    let change = json!({ "name": "changed" });
    assert_eq!(ada.world.send("PUT", &format!("/memories/{mine}"), Some(&change)).await.status, 200);
    assert_eq!(ada.world.send("PUT", &format!("/memories/{other}"), Some(&change)).await.status, 403);
    ada.may(&[allow(READ, &["*"]), deny(&["memories:GetMemory"])]).await;
    assert_eq!(ada.world.get("/memories").await.body["total"], 0, "a list shows what can be got");
    assert_eq!(ada.world.get(&format!("/memories/{mine}")).await.status, 404);
}

#[tokio::test]
async fn what_is_part_of_something_goes_by_its_name() {
    let world = World::new().await;
    let here = world.default_project().await;
    let mine = world.made("/datasets", json!({ "name": "mine" })).await;
    let other = world.made("/datasets", json!({ "name": "other" })).await;
    let own = format!("srn:{here}:dataset:{mine}");
    let ada =
        world.person("ada", &[allow(&["evaluations:*"], &[&own]), allow(&["formations:*"], &["*"])]).await;
    for (dataset, may) in [(&mine, true), (&other, false)] {
        let item = json!({ "dataset_id": dataset, "input": [{ "role": "user", "content": "hi" }] });
        let template = json!({ "resources": { "I": { "type": "dataset_item", "properties": item } } });
        let body = json!({ "name": format!("of-{dataset}"), "project_id": here, "template": template });
        let made = ada.world.post("/formations", body.clone()).await;
        assert_eq!(made.status == 201, may, "{}", made.text);
        if !may {
            let mut body = body;
            body["name"] = json!("by the admin");
            let stack = format!("/formations/{}", world.made("/formations", body).await);
            assert_eq!(ada.world.send("DELETE", &stack, None).await.status, 403);
        }
    }
}

#[tokio::test]
async fn conditions_on_tags_hold_for_the_route_and_for_the_formation() {
    let world = World::new().await;
    let project = world.default_project().await;
    let red = json!({ "effect": "Allow", "action": ["documents:*"], "condition": {
        "StringEquals": { "soat:ResourceTag/team": "red" },
    } });
    let ada = world.person("ada", &[red, allow(&["formations:*"], &["*"])]).await;
    for (team, may) in [("red", true), ("blue", false)] {
        let properties = json!({ "content": "text", "tags": { "team": team } });
        let mut body = properties.clone();
        body["project_id"] = json!(project);
        let made = ada.world.post("/documents", body).await;
        assert_eq!(made.status == 201, may, "{team}: {}", made.text);
        let template = json!({ "resources": { "D": { "type": "document", "properties": properties } } });
        let create = json!({ "name": format!("own-{team}"), "project_id": project, "template": template });
        assert_eq!(ada.world.post("/formations", create).await.status == 201, may, "{team}");
        let create = json!({ "name": team, "template": template });
        let stack = format!("/formations/{}", world.made("/formations", create).await);
        let again = ada.world.send("PUT", &stack, Some(&json!({}))).await;
        assert_eq!(again.status == 200, may, "{team}: {}", again.text);
        assert_eq!(ada.world.send("DELETE", &stack, None).await.status == 200, may, "{team}");
    }
}

#[tokio::test]
async fn a_key_can_do_what_both_its_owner_and_its_policies_allow() {
    let world = World::new().await;
    let project = world.default_project().await;
    let ada = world.person("ada", &[allow(&["memories:*"], &["*"])]).await;
    let narrow = world.policy(&[allow(&["memories:GetMemory", "tools:*"], &["*"])]).await;
    let memory = format!("/memories/{}", world.made("/memories", json!({ "name": "m" })).await);
    let (id, whole) = world.key_of(&ada.id, &project, &[]).await;
    let (_, limited) = world.key_of(&ada.id, &project, &[&narrow]).await;
    let (_, void) = world.key_of(&ada.id, &project, &["pol_gone"]).await;
    assert_eq!(whole.post("/memories", json!({ "name": "k" })).await.status, 201, "its project is implied");
    assert_eq!(limited.get(&memory).await.status, 200);
    assert_eq!(limited.post("/memories", json!({ "name": "k" })).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(limited.get("/tools").await.body["total"], 0, "no more than its owner");
    assert_eq!(void.get(&memory).await.status, 404, "a policy that is gone allows nothing");
    assert_eq!(whole.get("/users/me").await.body["id"], json!(ada.id));
    // A key that a key made is under the ceiling of both.
    let (_, child) = world.key_of(&id, &project, &[&narrow]).await;
    assert_eq!(child.get(&memory).await.status, 200);
    assert_eq!(child.send("DELETE", &memory, None).await.status, 403);
    ada.may(&[]).await;
    for key in [&whole, &limited, &child] {
        assert_eq!(key.get(&memory).await.status, 404, "the owner's permissions are the ceiling");
    }
    assert_eq!(world.send("DELETE", &format!("/users/{}", ada.id), None).await.status, 204);
    for key in [whole, limited, child] {
        assert_eq!(key.get("/memories").await.status, 401, "keys go with their owner");
    }
}

#[tokio::test]
async fn an_admins_key_is_an_admin_in_its_project_alone() {
    let world = World::new().await;
    let there = world.made("/projects", json!({ "name": "there" })).await;
    let far = world.made("/memories", json!({ "name": "far" })).await;
    let root = world
        .post("/users", json!({ "username": "root", "password": "correct horse", "role": "admin" }))
        .await;
    let (_, key) = world.key_of(&root.id(), &there, &[]).await;
    assert_eq!(key.post("/memories", json!({ "name": "near" })).await.status, 201);
    assert_eq!(key.get(&format!("/memories/{far}")).await.status, 404);
    let here = world.default_project().await;
    let outside = key.post("/memories", json!({ "name": "x", "project_id": here })).await;
    assert_eq!(outside.outcome(), (403, "API_KEY_PROJECT_SCOPE"));
    assert_eq!(outside.meta(), &json!({ "scoped_project": there, "requested_project": here }));
    let refusal = &world.get("/audit?limit=1").await.body["data"][0];
    assert_eq!((&refusal["action"], &refusal["allowed"]), (&json!("memories:CreateMemory"), &json!(false)));
    assert_eq!(key.post("/projects", json!({ "name": "p" })).await.outcome(), (403, "FORBIDDEN"));
    assert_eq!(key.get("/users").await.outcome(), (403, "FORBIDDEN"));
    // What it makes can do no more: its token is confined as it is.
    let token = key.post("/tokens", json!({ "name": "t" })).await;
    assert_eq!(token.body["project_id"], json!(there), "{}", token.text);
    let narrow = world.policy(&[allow(&["*"], &["*"])]).await;
    let (_, limited) = world.key_of(&root.id(), &there, &[&narrow]).await;
    let refused = limited.post("/tokens", json!({ "name": "t" })).await;
    assert_eq!(
        refused.outcome(),
        (403, "FORBIDDEN"),
        "a key with policies of its own can't make what has none"
    );
}

#[tokio::test]
async fn a_token_goes_with_who_made_it() {
    let world = World::new().await;
    let there = world.made("/projects", json!({ "name": "there" })).await;
    let body = json!({ "username": "root", "password": "correct horse", "role": "admin" });
    let root = world.post("/users", body).await.id();
    let nobody = world.bearing("");
    let login = nobody.post("/users/login", json!({ "username": "root", "password": "correct horse" })).await;
    let login = world.bearing(login.body["token"].as_str().expect("a token"));
    let (_, key) = world.key_of(&root, &there, &[]).await;
    let token = |reply: crate::world::Reply| {
        world.bearing(reply.body["token"].as_str().unwrap_or_else(|| panic!("no token: {}", reply.text)))
    };
    let of_user = token(login.post("/tokens", json!({ "name": "of the user" })).await);
    let of_key = token(key.post("/tokens", json!({ "name": "of the key" })).await);
    let child = token(of_user.post("/tokens", json!({ "name": "of the token" })).await);
    let own = token(world.post("/tokens", json!({ "name": "of the data directory's" })).await);
    for token in [&of_user, &of_key, &child, &own] {
        assert_eq!(token.get("/memories").await.status, 200);
    }
    assert_eq!(of_user.get("/users/me").await.id(), root);
    assert_eq!(world.send("DELETE", &format!("/users/{root}"), None).await.status, 204);
    for token in [&of_user, &of_key, &child] {
        assert_eq!(token.get("/memories").await.status, 401);
    }
    assert_eq!(own.get("/memories").await.status, 200);
}

#[tokio::test]
async fn who_starts_an_operation_may_follow_it_and_nobody_else() {
    let world = World::new().await;
    let project = world.default_project().await;
    let ada = world.person("ada", &[allow(&["formations:CreateFormation", "memories:*"], &["*"])]).await;
    let bob = world.person("bob", &[allow(&["memories:*"], &["*"])]).await;
    let body = json!({ "name": "s", "project_id": project, "template": memories(1) });
    let made = ada.world.post("/formations?wait=true", body).await;
    assert_eq!((made.status, &made.body["status"]), (201, &json!("active")), "{}", made.text);
    let events = world.get(&format!("/formations/{}/events", made.id())).await.body;
    let path = format!("/operations/{}", events["data"][0]["id"].as_str().expect("an id"));
    assert_eq!(ada.world.get(&path).await.status, 200);
    assert_eq!(ada.world.get(&format!("{path}/events")).await.status, 200);
    for hidden in [path.clone(), format!("{path}/events")] {
        assert_eq!(bob.world.get(&hidden).await.outcome(), (404, "RESOURCE_NOT_FOUND"));
    }
    bob.may(&[allow(&["formations:ListFormationEvents"], &["*"])]).await;
    assert_eq!(bob.world.get(&path).await.status, 200);
    let cancel = bob.world.send("POST", &format!("{path}/cancel"), None).await;
    assert_eq!(cancel.outcome(), (403, "FORBIDDEN"), "stopping takes what starting takes");
    assert_eq!(ada.world.send("POST", &format!("{path}/cancel"), None).await.status, 202);
}

#[tokio::test]
async fn the_audit_has_each_decision_on_a_write_once() {
    let world = World::new().await;
    let project = world.default_project().await;
    let ada =
        world.person("ada", &[allow(&["memories:CreateMemory", "formations:CreateFormation"], &["*"])]).await;
    let memory = ada.world.made("/memories", json!({ "name": "m", "project_id": project })).await;
    assert_eq!(ada.world.send("DELETE", &format!("/memories/{memory}"), None).await.status, 403);
    // Refused by the type, so it has no effect and is no decision that had one.
    assert_eq!(ada.world.post("/memories", json!({ "nmae": "m", "project_id": project })).await.status, 400);
    let body = json!({ "name": "s", "project_id": project, "template": memories(2) });
    let formation = ada.world.made("/formations", body).await;
    let tool =
        json!({ "resources": { "T": { "type": "tool", "properties": { "name": "t", "type": "client" } } } });
    let denied =
        ada.world.post("/formations", json!({ "name": "t", "project_id": project, "template": tool })).await;
    assert_eq!(denied.status, 403);
    ada.world.get("/memories").await;

    let listed = world.get(&format!("/audit?project_id={project}&limit=4")).await.body;
    let lines: Vec<String> = listed["data"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| {
            assert_eq!((&entry["actor"], &entry["project_id"]), (&json!(ada.id), &json!(project)));
            format!("{} {} {}", entry["action"], entry["subject"], entry["allowed"]).replace('"', "")
        })
        .collect();
    assert_eq!(
        lines,
        [
            "formations:CreateFormation t false".to_owned(),
            format!("formations:CreateFormation {formation} true"),
            format!("memories:DeleteMemory {memory} false"),
            format!("memories:CreateMemory {memory} true"),
        ]
    );
    let detail = |index: usize| &listed["data"][index]["detail"];
    assert_eq!(detail(0)["denied_actions"][0]["action"], "tools:CreateTool");
    assert_eq!(detail(1)["actions"], json!({ "memories:CreateMemory": 2 }));
    assert!(detail(1)["operation_id"].as_str().is_some_and(|id| id.starts_with("form_op_")));
    assert_eq!(detail(2)["srn"], json!(format!("srn:{project}:memory:{memory}")));
    assert_eq!(detail(2)["by"], "no statement allows it");
    assert_eq!(detail(3)["by"], json!(format!("{} statement[0]", ada.policy)));
    let page = world.get("/audit?limit=1&offset=1").await.body;
    assert_eq!(page["data"][0], listed["data"][1]);

    assert_eq!(ada.world.get("/audit").await.body["total"], 0);
    ada.may(&[allow(&["audit:*"], &[&format!("srn:{project}:audit:*")])]).await;
    let own = ada.world.get(&format!("/audit?project_id={project}")).await.body;
    assert!(own["total"].as_u64().is_some_and(|total| total >= 4));
    assert_eq!(ada.world.get("/audit").await.body["total"], own["total"], "not that of every project");
}

#[tokio::test]
async fn nothing_is_left_in_a_project_that_is_deleted_meanwhile() {
    for round in 0..20 {
        let world = World::new().await;
        let project = world.made("/projects", json!({ "name": "p" })).await;
        let memory = json!({ "name": "m", "project_id": project });
        let formation = json!({ "name": "s", "project_id": project, "template": { "resources": {} } });
        let token = json!({ "name": "t", "project_id": project });
        let path = format!("/projects/{project}");
        let (made, deployed, minted, deleted) = tokio::join!(
            world.post("/memories", memory),
            world.post("/formations", formation),
            world.post("/tokens", token),
            world.send("DELETE", &path, None),
        );
        let gone = world.get(&path).await.status == 404;
        assert_eq!(deleted.status == 204, gone, "{round}: {}", deleted.text);
        if gone {
            assert_eq!((made.status, deployed.status), (404, 404), "{round}");
            for type_name in ["memory", "formation"] {
                let query = formwork_store::ListQuery {
                    type_name: type_name.to_owned(),
                    projects: vec![project.as_str().into()],
                    linked: None,
                    limit: 9,
                    offset: 0,
                };
                let left = world.store.reader().objects(&query).await.expect("read");
                assert_eq!(left.total, 0, "{round}: {type_name}");
            }
            if let Some(token) = minted.body["token"].as_str() {
                assert_eq!(world.bearing(token).get("/memories").await.status, 401, "{round}");
            }
        } else {
            assert!(made.status == 201 || deployed.status == 201, "{round}");
        }
    }
}

#[tokio::test]
async fn an_id_of_another_project_is_not_found_by_a_formation() {
    let world = World::new().await;
    let there = world.made("/projects", json!({ "name": "there" })).await;
    let secret = world.made("/secrets", json!({ "name": "k", "value": "v", "project_id": there })).await;
    let outcome = async |id: &str, name: &str| {
        let template = json!({ "resources": { "Prov": { "type": "ai_provider", "properties": {
            "name": "p", "provider": "openai", "default_model": "m", "secret_id": id,
        } } } });
        let made = world.post("/formations", json!({ "name": name, "template": template })).await;
        assert_eq!((made.status, &made.body["status"]), (201, &json!("failed")));
        made.body["error"].to_string().replace(id, "ID")
    };
    let (theirs, missing) = (outcome(&secret, "a").await, outcome("sec_missing", "b").await);
    assert_eq!(theirs, missing, "the two can't be told apart");
    assert!(theirs.contains("SECRET_NOT_FOUND"), "{theirs}");
}

#[tokio::test]
async fn a_policy_with_an_unknown_condition_is_refused_with_its_place() {
    let world = World::new().await;
    let document = json!({ "statement": [{ "effect": "Allow", "action": ["*"], "condition": {
        "StringEquals": { "soat:ResourceTags/team": "red" },
    } }] });
    let place = "document.statement[0].condition.StringEquals.soat:ResourceTags/team";
    let refused = world.post("/policies", json!({ "document": document })).await;
    assert_eq!(refused.outcome(), (400, "VALIDATION_FAILED"));
    let detail = &refused.meta()["details"][0];
    assert_eq!(detail["path"], place);
    assert_eq!(detail["hint"], "did you mean `soat:ResourceTag/team`?");
    let template =
        json!({ "resources": { "P": { "type": "policy", "properties": { "document": document } } } });
    let validated = world.post("/formations/validate", json!({ "template": template })).await;
    let error = &validated.body["errors"][0];
    assert_eq!(error["path"], json!(format!("resources.P.properties.{place}")), "{}", validated.text);
    assert_eq!(error["hint"], detail["hint"]);
    assert!(error["line"].is_number(), "{error}");
    for nothing in ["resource", "condition"] {
        let mut statement = json!({ "effect": "Allow", "action": ["*"] });
        statement[nothing] = json!(null);
        let refused = world.post("/policies", json!({ "document": { "statement": [statement] } })).await;
        assert_eq!(
            refused.outcome(),
            (400, "VALIDATION_FAILED"),
            "{nothing}: null says neither none nor all"
        );
    }
}
