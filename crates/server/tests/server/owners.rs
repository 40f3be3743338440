//! Owner marks: a resource of a formation says so on its own routes, and warns of changes there.

use crate::world::{Reply, World};
use serde_json::{Value, json};

fn template() -> Value {
    json!({ "resources": {
        "Kb": { "type": "memory", "properties": { "name": "kb" } },
        "Key": { "type": "secret", "properties": { "name": "key", "value": "v" } },
        "Hook": { "type": "webhook", "properties": { "name": "h", "url": "https://x.example", "events": ["*"] } },
    } })
}

struct Owned {
    world: World,
    formation: String,
    rows: Value,
}

impl Owned {
    async fn new() -> Self {
        let world = World::new().await;
        let formation = world.deployed(&template()).await;
        let rows = world.get(&format!("/formations/{formation}")).await.body["resources"].clone();
        Self { world, formation, rows }
    }

    fn path(&self, collection: &str, label: &str) -> String {
        let rows = self.rows.as_array().expect("rows");
        let row = rows.iter().find(|row| row["logical_id"] == label).expect("a row");
        format!("/{collection}/{}", row["physical_resource_id"].as_str().expect("an id"))
    }

    fn mark(&self, label: &str) -> Value {
        json!({ "formation_id": self.formation, "logical_id": label })
    }

    /// The two headers, as far as they are there.
    fn headers<'r>(&self, reply: &'r Reply) -> (bool, Option<&'r str>) {
        let text = |name: &str| reply.headers.get(name).and_then(|value| value.to_str().ok());
        (text("x-formwork-managed-by") == Some(&self.formation), text("x-formwork-warning"))
    }
}

#[tokio::test]
async fn who_owns_a_resource_is_on_its_own_route() {
    let owned = Owned::new().await;
    let shown = owned.world.get(&owned.path("memories", "Kb")).await;
    assert_eq!(shown.body["managed_by"], owned.mark("Kb"), "{}", shown.text);
    assert_eq!(owned.headers(&shown), (true, None), "reading needs no warning");
    assert!(shown.body.get("warning").is_none());

    let free = owned.world.made("/memories", json!({ "name": "free" })).await;
    let free = owned.world.get(&format!("/memories/{free}")).await;
    assert!(free.body.get("managed_by").is_none(), "{}", free.text);
    assert_eq!(owned.headers(&free), (false, None));
}

#[tokio::test]
async fn a_change_past_the_formation_is_done_and_warned_of() {
    let owned = Owned::new().await;
    let path = owned.path("memories", "Kb");
    let changed = owned.world.send("PUT", &path, Some(&json!({ "name": "mine" }))).await;
    assert_eq!((changed.status, &changed.body["name"]), (200, &json!("mine")));
    let warning = format!(
        "This resource is managed by formation {}: the next deploy may undo the change.",
        owned.formation
    );
    assert_eq!(changed.body["managed_by"], owned.mark("Kb"));
    assert_eq!(changed.body["warning"], json!(warning));
    assert_eq!(owned.headers(&changed), (true, Some(warning.as_str())));

    let hook = owned.path("webhooks", "Hook");
    let rotated = owned.world.send("POST", &format!("{hook}/rotate-secret"), None).await;
    assert_eq!((rotated.status, &rotated.body["managed_by"]), (200, &owned.mark("Hook")), "{}", rotated.text);
}

#[tokio::test]
async fn a_delete_past_the_formation_is_done_and_warned_of() {
    let owned = Owned::new().await;
    let deleted = owned.world.send("DELETE", &owned.path("memories", "Kb"), None).await;
    assert_eq!((deleted.status, deleted.text.as_str()), (204, ""));
    let warning = format!(
        "This resource was managed by formation {}: the next deploy makes it again.",
        owned.formation
    );
    assert_eq!(owned.headers(&deleted), (true, Some(warning.as_str())));
    let secret = owned.world.send("DELETE", &owned.path("secrets", "Key"), None).await;
    assert_eq!((secret.status, &secret.body["warning"]), (200, &json!(warning)), "{}", secret.text);
    assert_eq!(secret.body["success"], true);
}

#[tokio::test]
async fn what_a_formation_gave_up_is_nobodys() {
    let owned = Owned::new().await;
    let mut retained = template();
    retained["resources"]["Kb"]["deletion_policy"] = json!("retain");
    assert_eq!(owned.world.redeploy(&owned.formation, &retained).await["status"], "active");
    retained["resources"].as_object_mut().expect("resources").remove("Kb");
    assert_eq!(owned.world.redeploy(&owned.formation, &retained).await["status"], "active");
    let shown = owned.world.get(&owned.path("memories", "Kb")).await;
    assert_eq!(shown.status, 200);
    assert!(shown.body.get("managed_by").is_none(), "{}", shown.text);
}
