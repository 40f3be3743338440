//! Credentials in outputs: an old record's are shown to nobody, and an admin removes them.

use crate::people::allow;
use crate::world::{World, memories};
use formwork_model::{InstanceKey, Json};
use formwork_store::{DomainTx, ObjectChange, Store as _, UniqueKey};
use serde_json::{Value, json};

const PURGE: &str = "/formations/purge-secret-outputs";
const LEAKED: &str = "whsec_plaintext";

/// A formation as it was deployed before its output was refused.
async fn old_formation(world: &World, name: &str) -> String {
    let hook = json!({ "name": "hook", "url": "https://example.org", "events": ["*"] });
    let mut template = json!({
        "resources": { "Hook": { "type": "webhook", "properties": hook } },
        "outputs": { "id": { "ref": "Hook" } },
    });
    let id = world.made("/formations", json!({ "name": name, "template": template })).await;
    template["outputs"]["secret"] = json!({ "ref_attr": "Hook.secret" });
    let aad = format!("formation:{id}:template");
    let sealed = InstanceKey::from_bytes([7; 32]).seal(aad.as_bytes(), template.to_string().as_bytes());
    let (target, taken) = (id.clone(), name.to_owned());
    let job = move |tx: &mut dyn DomainTx| {
        let object = tx.get(&target)?.expect("the formation");
        let mut doc = object.doc;
        doc["template"] = serde_json::to_value(&sealed).expect("JSON");
        doc["outputs"]["secret"] = json!(LEAKED);
        tx.update(ObjectChange {
            id: target.clone(),
            expected_version: None,
            doc,
            keys: vec![UniqueKey { key: "name".to_owned(), value: taken.clone() }],
            links: vec![formwork_store::Link { field: "live".to_owned(), to: "formations".to_owned() }],
        })?;
        Ok(Json::Null)
    };
    world.store.domain(None, None, Box::new(job)).await.expect("changed");
    id
}

async fn kept_outputs(world: &World, id: &str) -> Value {
    world.store.reader().object(id).await.expect("readable").expect("there").doc["outputs"].clone()
}

#[tokio::test]
async fn an_output_that_is_a_credential_is_dropped_from_every_answer() {
    let world = World::new().await;
    let id = old_formation(&world, "old").await;
    let shown = world.get(&format!("/formations/{id}")).await;
    let names: Vec<_> = shown.body["outputs"].as_object().expect("outputs").keys().collect();
    assert_eq!(names, ["id"]);
    let listed = world.get("/formations").await;
    assert!(!format!("{}{}", shown.text, listed.text).contains(LEAKED));
}

#[tokio::test]
async fn a_purge_removes_what_a_dry_run_shows_and_finds_nothing_the_second_time() {
    let world = World::new().await;
    let id = old_formation(&world, "old").await;
    world.made("/formations", json!({ "name": "new", "template": memories(1) })).await;
    let found = |dry_run: bool| {
        json!({ "dry_run": dry_run, "formations": [{
            "formation_id": id, "name": "old", "outputs": ["secret"], "purged": !dry_run, "busy": false,
        }] })
    };
    let before = world.store.writes();
    assert_eq!(world.send("POST", &format!("{PURGE}?dry_run=true"), None).await.body, found(true));
    assert_eq!(world.store.writes(), before, "a dry run writes nothing");
    assert_eq!(kept_outputs(&world, &id).await["secret"], LEAKED);

    let purged = world.send("POST", PURGE, None).await;
    assert_eq!(purged.body, found(false));
    assert!(!purged.text.contains(LEAKED));
    let kept = kept_outputs(&world, &id).await;
    assert!(kept["id"].is_string() && kept.get("secret").is_none(), "{kept}");
    let again = world.send("POST", PURGE, None).await;
    assert_eq!(again.body, json!({ "dry_run": false, "formations": [] }));
    let audit = world.get("/audit?limit=2").await.body;
    assert_eq!(audit["data"][1]["action"], "formations:PurgeSecretOutputs");
    assert_eq!(audit["data"][1]["detail"]["purged"], json!([{ "formation_id": id, "outputs": ["secret"] }]));
    assert_eq!(world.get(&format!("/formations/{id}")).await.body["name"], "old", "its name is still taken");
    let taken = world.post("/formations", json!({ "name": "old", "template": memories(1) })).await;
    assert_eq!(taken.outcome(), (409, "NAME_CONFLICT"));
}

#[tokio::test]
async fn only_an_admin_purges() {
    let world = World::new().await;
    let ada = world.person("ada", &[allow(&["*"], &["*"])]).await;
    for path in [PURGE.to_owned(), format!("{PURGE}?dry_run=true")] {
        assert_eq!(ada.world.send("POST", &path, None).await.outcome(), (403, "FORBIDDEN"));
    }
}
