//! A formation only does what the caller could do directly (seed 4): for every type and every
//! write, the route and the formation agree, whatever the caller's policies say.

use crate::people::{Person, allow, deny};
use crate::world::{World, memories};
use formwork_model::{Catalog as _, IamActions, Json, TypeName};
use formwork_platform::{Platform, RestRoute, UpdateMode, rest_routes};
use serde_json::json;
use std::collections::BTreeMap;

/// What the properties of other types refer to, by type.
pub(crate) struct Given(BTreeMap<&'static str, String>);

impl Given {
    /// One of each type that others refer to, as far as there is that type.
    pub(crate) async fn make(world: &World) -> Self {
        let mut given = Self(BTreeMap::new());
        for type_name in ["ai_provider", "agent", "memory", "tool", "dataset"] {
            if let Some(route) = route(type_name) {
                let body = given.properties(type_name, "given");
                given.0.insert(type_name, world.made(route.path, body).await);
            }
        }
        given
    }

    pub(crate) fn id(&self, type_name: &str) -> &str {
        self.0.get(type_name).map_or("none", String::as_str)
    }

    /// The least that a declaration of a type has. `name` is one that nothing else has.
    pub(crate) fn properties(&self, type_name: &str, name: &str) -> Json {
        match type_name {
            "actor" | "api_key" | "conversation" | "dataset" | "memory" => json!({ "name": name }),
            "agent" | "chat" => json!({ "ai_provider_id": self.id("ai_provider") }),
            "ai_provider" => json!({ "name": name, "provider": "openai", "default_model": "m" }),
            "dataset_item" => {
                json!({ "dataset_id": self.id("dataset"), "input": [{ "role": "user", "content": "hi" }] })
            }
            "document" => json!({ "content": name }),
            "eval" => json!({
                "name": name, "agent_id": self.id("agent"), "dataset_id": self.id("dataset"),
                "scorers": [{ "type": "exact_match" }],
            }),
            "file" => json!({ "filename": name }),
            "guardrail" => json!({ "name": name, "class": "A" }),
            "ingestion_rule" => {
                json!({ "content_type_glob": format!("text/{name}"), "agent_id": self.id("agent") })
            }
            "memory_entry" => json!({ "memory_id": self.id("memory"), "content": name }),
            "model_route" => json!({
                "name": name, "targets": [{ "ai_provider_id": self.id("ai_provider"), "model": "m" }],
            }),
            "orchestration" => json!({
                "name": name, "nodes": [{ "id": "t", "type": "transform", "expression": { "var": "input" } }],
                "edges": [],
            }),
            "policy" => json!({ "document": { "statement": [] } }),
            "project_price" => json!({
                "provider": "openai", "model": name, "component": "input_tokens", "unit": "token",
                "unit_price": 1,
            }),
            "quota" => json!({
                "scope": "agent", "scope_ref": self.id("agent"), "metric": "tokens", "window": "rolling_1h",
                "limit": 10,
            }),
            "secret" => json!({ "name": name, "value": "v" }),
            "session" => json!({ "agent_id": self.id("agent") }),
            "tool" => json!({ "name": name, "type": "client" }),
            "trigger" => json!({
                "name": name, "type": "manual", "target_type": "agent", "target_id": self.id("agent"),
            }),
            "webhook" => json!({ "name": name, "url": "https://example.org", "events": ["*"] }),
            "workflow" => json!({
                "name": name, "states": [{ "name": "s", "initial": true, "terminal": true }], "transitions": [],
            }),
            other => panic!("say in `properties` what a `{other}` needs, so that it is tested too"),
        }
    }
}

fn route(type_name: &str) -> Option<&'static RestRoute> {
    rest_routes().iter().find(|route| route.type_name == type_name)
}

/// One type with what it takes, and somebody whose policies change.
struct Case<'a> {
    admin: &'a World,
    caller: &'a Person,
    given: &'a Given,
    project: &'a str,
    type_name: &'a str,
    iam: &'a IamActions,
    number: std::cell::Cell<u32>,
}

impl Case<'_> {
    fn name(&self) -> String {
        self.number.set(self.number.get() + 1);
        format!("{}-{}", self.type_name.replace('_', "-"), self.number.get())
    }

    fn template(&self) -> Json {
        let properties = self.given.properties(self.type_name, &self.name());
        json!({ "resources": { "It": { "type": self.type_name, "properties": properties } } })
    }

    fn body(&self) -> Json {
        let mut body = self.given.properties(self.type_name, &self.name());
        if !self.iam.admin_only {
            body["project_id"] = json!(self.project);
        }
        body
    }

    fn route(&self) -> &'static RestRoute {
        route(self.type_name).expect("a type with actions has routes")
    }

    /// The path of the type's collection, which may be below another item.
    fn collection(&self) -> String {
        let route = self.route();
        route.parent.map_or_else(
            || route.path.to_owned(),
            |parent| route.path.replace(&format!("{{{}}}", parent.property), self.given.id(parent.type_name)),
        )
    }

    /// Removes what a formation made, so that types of which there can be only one can be made again.
    async fn tear_down(&self, stack: &str) {
        self.admin.send("DELETE", &format!("/formations/{stack}"), None).await;
    }

    async fn remove(&self, id: &str) {
        self.admin.send("DELETE", &format!("{}/{id}", self.collection()), None).await;
    }

    async fn create(&self, may: bool) {
        let direct = self.caller.world.post(&self.collection(), self.body()).await;
        self.check("create by route", may, direct.status, &direct.text);
        if direct.status < 300 {
            self.remove(&direct.id()).await;
        }
        let body = json!({ "project_id": self.project, "template": self.template() });
        let planned = self.caller.world.post("/formations/plan", body.clone()).await;
        self.check_plan(may, &planned.body, &self.iam.create);
        let mut body = body;
        body["name"] = json!(self.name());
        let deployed = self.caller.world.post("/formations", body).await;
        self.check("create by formation", may, deployed.status, &deployed.text);
        if may {
            assert_eq!(deployed.body["status"], "active", "{}: {}", self.type_name, deployed.text);
            self.tear_down(&deployed.id()).await;
        } else {
            self.check_refusal(&deployed.body, &self.iam.create);
            let named = self.admin.get("/formations").await.body;
            assert_eq!(named["total"], 0, "a refusal changes nothing");
        }
    }

    async fn update(&self, may: bool) {
        if let (Some(_), Some(mode)) = (&self.iam.update, self.route().update_modes.first()) {
            let body = self.body();
            let id = self.admin.made(&self.collection(), body.clone()).await;
            let mut body = body;
            body.as_object_mut().expect("an object").remove("project_id");
            let method = if *mode == UpdateMode::Put { "PUT" } else { "PATCH" };
            let path = format!("{}/{id}{}", self.collection(), self.route().update_suffix);
            let direct = self.caller.world.send(method, &path, Some(&body)).await;
            self.check("update by route", may, direct.status, &direct.text);
            self.remove(&id).await;
        }
        let stack = self.deployed().await;
        // Even where nothing changes; a type without update has nothing to ask for then.
        let deployed = self.caller.world.send("PUT", &format!("/formations/{stack}"), Some(&json!({}))).await;
        let may = may || self.iam.update.is_none();
        self.check("update by formation", may, deployed.status, &deployed.text);
        if let (false, Some(action)) = (may, &self.iam.update) {
            self.check_refusal(&deployed.body, action);
            let status = self.admin.get(&format!("/formations/{stack}")).await.body["status"].clone();
            assert_eq!(status, "active", "a refused update leaves the stack active");
        }
        self.tear_down(&stack).await;
    }

    async fn delete(&self, may: bool) {
        let id = self.admin.made(&self.collection(), self.body()).await;
        let direct = self.caller.world.send("DELETE", &format!("{}/{id}", self.collection()), None).await;
        self.check("delete by route", may, direct.status, &direct.text);
        self.remove(&id).await;
        let stack = self.deployed().await;
        let path = format!("/formations/{stack}");
        let emptied = json!({ "template": { "resources": {} } });
        let removed = self.caller.world.send("PUT", &path, Some(&emptied)).await;
        self.check("delete by removal", may, removed.status, &removed.text);
        if may {
            self.tear_down(&stack).await;
            let stack = self.deployed().await;
            let gone = self.caller.world.send("DELETE", &format!("/formations/{stack}"), None).await;
            self.check("delete by teardown", true, gone.status, &gone.text);
            return;
        }
        self.check_refusal(&removed.body, &self.iam.delete);
        let kept = self.caller.world.send("DELETE", &path, None).await;
        self.check("delete by teardown", false, kept.status, &kept.text);
        self.check_refusal(&kept.body, &self.iam.delete);
        let status = self.admin.get(&path).await.body["status"].clone();
        assert_eq!(status, "active", "a refused teardown leaves the stack active");
        self.tear_down(&stack).await;
    }

    async fn deployed(&self) -> String {
        let body = json!({ "name": self.name(), "template": self.template() });
        let made = self.admin.post("/formations", body).await;
        assert_eq!(made.body["status"], "active", "{}: {}", self.type_name, made.text);
        made.id()
    }

    fn check(&self, what: &str, may: bool, status: u16, text: &str) {
        assert_eq!(status < 300, may, "{} {what}: {status} {text}", self.type_name);
        assert!(may || status == 403, "{} {what}: {status} {text}", self.type_name);
    }

    fn check_refusal(&self, body: &Json, action: &str) {
        let message = format!(
            "Not permitted to apply 1 resource(s) this template declares: It ({action}). \
             A formation may only do what the caller could do directly."
        );
        let denied = json!([{ "logical_id": "It", "resource_type": self.type_name, "action": action }]);
        assert_eq!(
            body,
            &json!({ "error": { "code": "FORBIDDEN", "message": message, "meta": { "denied_actions": denied } } })
        );
    }

    fn check_plan(&self, may: bool, planned: &Json, action: &str) {
        let missing = json!([{ "logical_id": "It", "resource_type": self.type_name, "action": action }]);
        let expected = (!may).then_some(&missing);
        assert_eq!(planned.get("unauthorized_actions"), expected, "{}: {planned}", self.type_name);
    }
}

#[tokio::test]
async fn every_write_of_every_type_takes_the_same_by_route_and_by_formation() {
    let world = World::new().await;
    let given = Given::make(&world).await;
    let project = world.default_project().await;
    let caller = world.person("ada", &[]).await;
    let catalog = Platform::catalog();
    for type_name in catalog.names() {
        let rules = catalog.get(&type_name).expect("a type of the catalogue");
        // One without actions of its own is gated on the formation's alone.
        let Some(iam) = rules.capabilities().iam.clone() else { continue };
        let case = Case {
            admin: &world,
            caller: &caller,
            given: &given,
            project: &project,
            type_name: type_name.as_str(),
            iam: &iam,
            number: std::cell::Cell::new(0),
        };
        let formations = allow(&["formations:*"], &["*"]);
        for (verb, action) in
            [("create", Some(&iam.create)), ("update", iam.update.as_ref()), ("delete", Some(&iam.delete))]
        {
            let action = action.map_or("formations:*", |action| &**action);
            for (statements, allowed) in [
                (vec![formations.clone()], false),
                (vec![formations.clone(), allow(&[action], &["*"])], true),
                (vec![allow(&["*"], &["*"]), deny(&[action])], false),
            ] {
                if action == "formations:*" && !allowed {
                    continue;
                }
                caller.may(&statements).await;
                let may = allowed && !iam.admin_only;
                match verb {
                    "create" => case.create(may).await,
                    "update" => case.update(may).await,
                    _ => case.delete(may).await,
                }
            }
        }
    }
}

impl Case<'_> {
    fn item(&self, id: &str) -> String {
        format!("{}/{id}{}", self.collection(), self.route().update_suffix)
    }

    async fn retag(&self, id: &str, team: &str) {
        let tags = json!({ "tags": { "team": team } });
        let reply = self.admin.send("PATCH", &self.item(id), Some(&tags)).await;
        assert_eq!(reply.status, 200, "{}: {}", self.type_name, reply.text);
    }

    /// Everything that can be done with what has these tags, however its formation declared it.
    async fn tagged(&self, team: &str, may: bool) {
        let stack = self.deployed().await;
        let path = format!("/formations/{stack}");
        let rows = self.admin.get(&path).await.body["resources"].clone();
        let id = rows[0]["physical_resource_id"].as_str().expect("an id").to_owned();
        self.retag(&id, team).await;
        let same = json!({ "tags": { "team": team } });
        let direct = self.caller.world.send("PATCH", &self.item(&id), Some(&same)).await;
        self.check("update by route", may, direct.status, &direct.text);
        let deployed = self.caller.world.send("PUT", &path, Some(&json!({}))).await;
        self.check("update by formation", may, deployed.status, &deployed.text);
        let other = self.admin.made(&self.collection(), self.body()).await;
        self.retag(&other, team).await;
        let direct = self.caller.world.send("DELETE", &format!("{}/{other}", self.collection()), None).await;
        self.check("delete by route", may, direct.status, &direct.text);
        self.remove(&other).await;
        let gone = self.caller.world.send("DELETE", &path, None).await;
        self.check("delete by teardown", may, gone.status, &gone.text);
        self.tear_down(&stack).await;
    }
}

#[tokio::test]
async fn conditions_on_tags_are_judged_by_what_is_stored_whatever_the_type() {
    let world = World::new().await;
    let given = Given::make(&world).await;
    let project = world.default_project().await;
    let caller = world.person("ada", &[]).await;
    let catalog = Platform::catalog();
    for type_name in ["actor", "conversation", "document", "file", "session"] {
        let rules = catalog.get(&type_name.into()).expect("a type of the catalogue");
        let iam = rules.capabilities().iam.clone().expect("its actions");
        let case = Case {
            admin: &world,
            caller: &caller,
            given: &given,
            project: &project,
            type_name,
            iam: &iam,
            number: std::cell::Cell::new(0),
        };
        let update = iam.update.clone().expect("it can be changed");
        let red = json!({ "effect": "Allow", "action": [update, iam.delete], "condition": {
            "StringEquals": { "soat:ResourceTag/team": "red" },
        } });
        let not_blue = json!({ "effect": "Deny", "action": [update, iam.delete], "condition": {
            "StringEquals": { "soat:ResourceTag/team": "blue" },
        } });
        for statements in [vec![allow(&["formations:*"], &["*"]), red], vec![allow(&["*"], &["*"]), not_blue]]
        {
            caller.may(&statements).await;
            for (team, may) in [("red", true), ("blue", false)] {
                case.tagged(team, may).await;
            }
        }
    }
}

#[tokio::test]
async fn all_that_is_missing_is_told_at_once_and_nothing_is_done() {
    let world = World::new().await;
    let project = world.default_project().await;
    let ada = world.person("ada", &[allow(&["formations:*", "memories:*"], &["*"])]).await;
    let template = json!({ "resources": {
        "Kb": { "type": "memory", "properties": { "name": "kb" } },
        "Key": { "type": "secret", "properties": { "name": "k", "value": "v" } },
        "Hook": { "type": "tool", "properties": { "name": "t", "type": "client" } },
    } });
    let body = json!({ "name": "s", "project_id": project, "template": template });
    let refused = ada.world.post("/formations", body.clone()).await;
    let denied = json!([
        { "logical_id": "Key", "resource_type": "secret", "action": "secrets:CreateSecret" },
        { "logical_id": "Hook", "resource_type": "tool", "action": "tools:CreateTool" },
    ]);
    assert_eq!(refused.outcome(), (403, "FORBIDDEN"));
    assert_eq!(refused.meta(), &json!({ "denied_actions": denied }));
    assert_eq!(
        refused.message(),
        "Not permitted to apply 2 resource(s) this template declares: Key (secrets:CreateSecret), \
         Hook (tools:CreateTool). A formation may only do what the caller could do directly."
    );
    assert_eq!(world.get("/formations").await.body["total"], 0);
    assert_eq!(world.get("/memories").await.body["total"], 0);
    let planned =
        ada.world.post("/formations/plan", json!({ "project_id": project, "template": template })).await;
    assert_eq!(planned.body["unauthorized_actions"], denied);
    // A plan that somebody kept is carried out by whoever may do what is in it.
    let kept = world.post("/formations/plan", json!({ "template": template, "save": true })).await;
    assert!(kept.body.get("unauthorized_actions").is_none(), "the admin lacks nothing");
    let apply = format!("/plans/{}/apply", kept.body["plan_hash"].as_str().expect("a hash"));
    let refused = ada.world.post(&apply, json!({ "name": "s" })).await;
    assert_eq!(world.post("/formations", body).await.status, 201, "a name that is taken is told after that");
    assert_eq!(ada.world.post(&apply, json!({ "name": "s" })).await.text, refused.text);
    assert_eq!(refused.meta(), &json!({ "denied_actions": denied }));
    assert_eq!(world.post(&apply, json!({ "name": "s" })).await.outcome(), (409, "NAME_CONFLICT"));
    assert_eq!(world.post(&apply, json!({ "name": "t" })).await.status, 200);
    ada.may(&[]).await;
    assert_eq!(ada.world.post(&apply, json!({ "nonsense": 1 })).await.outcome(), (403, "FORBIDDEN"));
}

#[tokio::test]
async fn an_update_takes_what_each_of_its_changes_takes() {
    let world = World::new().await;
    let ada = world.person("ada", &[allow(&["formations:*", "memories:UpdateMemory"], &["*"])]).await;
    let stack = world.made("/formations", json!({ "name": "s", "template": memories(2) })).await;
    let path = format!("/formations/{stack}");
    let mut changed = memories(1);
    changed["resources"]["New"] = json!({ "type": "memory", "properties": { "name": "new" } });
    let refused = ada.world.send("PUT", &path, Some(&json!({ "template": changed }))).await;
    assert_eq!(
        refused.message(),
        "Not permitted to apply 2 resource(s) this template declares: New (memories:CreateMemory), \
         M1 (memories:DeleteMemory). A formation may only do what the caller could do directly."
    );
    // What is kept when it leaves the template is deleted by nobody.
    let mut retained = memories(2);
    retained["resources"]["M1"]["deletion_policy"] = json!("retain");
    assert_eq!(world.send("PUT", &path, Some(&json!({ "template": retained }))).await.status, 200);
    let removed = ada.world.send("PUT", &path, Some(&json!({ "template": memories(1) }))).await;
    assert_eq!((removed.status, &removed.body["status"]), (200, &json!("active")), "{}", removed.text);
}

#[test]
fn every_type_of_the_catalogue_names_known_actions() {
    let catalog = Platform::catalog();
    for name in catalog.names() {
        let rules = catalog.get(&TypeName::from(name.as_str())).expect("a type of the catalogue");
        let Some(iam) = &rules.capabilities().iam else { continue };
        for action in [Some(&iam.create), iam.update.as_ref(), Some(&iam.delete)].into_iter().flatten() {
            assert!(formwork_iam::is_known_action(action), "{name}: {action}");
        }
    }
}
