//! Users, policies and keys to test with.

use crate::world::World;
use formwork_control::{NewUser, Role};
use formwork_model::{InstanceKey, Json, Secret};
use formwork_store::{DomainTx, NewObject, ObjectChange, Store, UniqueKey};
use serde_json::json;

pub(crate) const PASSWORD: &str = "correct horse";

/// A user whose policy can be changed, spoken as.
pub(crate) struct Person {
    pub(crate) id: String,
    pub(crate) policy: String,
    pub(crate) world: World,
}

/// A statement that allows actions on resources.
pub(crate) fn allow(actions: &[&str], resources: &[&str]) -> Json {
    json!({ "effect": "Allow", "action": actions, "resource": resources })
}

/// A statement that denies actions everywhere.
pub(crate) fn deny(actions: &[&str]) -> Json {
    json!({ "effect": "Deny", "action": actions })
}

fn policy_doc(statements: &[Json]) -> Json {
    json!({ "properties": { "name": "p", "document": { "statement": statements } } })
}

impl World {
    /// Makes a policy.
    pub(crate) async fn policy(&self, statements: &[Json]) -> String {
        let id = format!("pol_{}", formwork_secret::hex(&formwork_secret::random_bytes::<8>()));
        self.insert(NewObject {
            id: id.clone(),
            type_name: "policy".to_owned(),
            project: None,
            doc: policy_doc(statements),
            keys: Vec::new(),
            links: Vec::new(),
        })
        .await;
        id
    }

    async fn insert(&self, object: NewObject) {
        let job = Box::new(move |tx: &mut dyn DomainTx| tx.insert(object).map(|_| Json::Null));
        self.store.domain(None, None, job).await.expect("stored");
    }

    /// Makes a user with one policy, and logs them in.
    pub(crate) async fn person(&self, name: &str, statements: &[Json]) -> Person {
        let policy = self.policy(statements).await;
        let admin = self.control.authenticate(&Secret::new(self.token.clone())).await.expect("the admin");
        let password = || Secret::new(PASSWORD.to_owned());
        let new = NewUser { username: name.to_owned(), password: password(), role: Role::User };
        let user = self.control.create_user(&admin, new).await.expect("made");
        let attached = self.control.attach_user_policies(&admin, user.id.as_str(), vec![policy.clone()]);
        attached.await.expect("attached");
        let login = self.control.login(name, password(), "test").await.expect("logged in");
        Person { id: user.id.to_string(), policy, world: self.bearing(login.token.expose()) }
    }

    /// Makes an API key of somebody, as minting it would, and speaks as it.
    pub(crate) async fn key_of(&self, owner: &str, project: &str, policies: &[&str]) -> (String, Self) {
        let plain = format!("sk_{}", formwork_secret::hex(&formwork_secret::random_bytes::<32>()));
        let id = format!("key_{}", &plain[3..19]);
        let digest = InstanceKey::from_bytes([7; 32]).digest(plain.as_bytes());
        self.insert(NewObject {
            id: id.clone(),
            type_name: "api_key".to_owned(),
            project: Some(project.into()),
            doc: json!({
                "properties": { "name": "k", "policy_ids": policies },
                "system": { "user_id": owner },
            }),
            keys: Vec::new(),
            links: Vec::new(),
        })
        .await;
        self.insert(NewObject {
            id: format!("{id}.digest"),
            type_name: "api_key_digest".to_owned(),
            project: None,
            doc: json!({ "api_key_id": id, "digest": digest }),
            keys: vec![UniqueKey { key: "digest".to_owned(), value: digest.hex() }],
            links: Vec::new(),
        })
        .await;
        (id, self.bearing(&plain))
    }

    /// The project that is meant where a token names none.
    pub(crate) async fn default_project(&self) -> String {
        let listed = self.get("/projects").await.body;
        let all = listed["data"].as_array().expect("a list");
        let found = all.iter().find(|project| project["name"] == "default").expect("the default project");
        found["id"].as_str().expect("an id").to_owned()
    }
}

impl Person {
    /// What they may do from now on.
    pub(crate) async fn may(&self, statements: &[Json]) {
        let change = ObjectChange {
            id: self.policy.clone(),
            expected_version: None,
            doc: policy_doc(statements),
            keys: Vec::new(),
            links: Vec::new(),
        };
        let job = Box::new(move |tx: &mut dyn DomainTx| tx.update(change).map(|_| Json::Null));
        self.world.store.domain(None, None, job).await.expect("changed");
    }
}
