//! Random templates of all types, deployed, changed, broken and torn down: a plan says `no-op`
//! exactly where the deploy does nothing, a failed deploy leaves what stood before and its updates,
//! and a teardown leaves what was retained.
//!
//! `FORMWORK_TEMPLATE_SEED=7 cargo test -p formwork-server --test server random` tells one story,
//! `FORMWORK_TEMPLATE_RUNS=1000` more of them.

mod declare;
mod dice;
mod template;

use crate::world::World;
use declare::TYPES;
use dice::Dice;
use formwork_model::Json;
use formwork_store::{ListQuery, Store as _};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use template::Template;

/// Types of which a successor can come only when the old one is gone.
const GO_FIRST: [&str; 4] = ["trigger", "file", "document", "session"];

/// What a person can do to resources, as plans and events name it: logical ids with actions.
type Done = BTreeSet<(String, String)>;

/// The objects of the platform, by id.
type Objects = BTreeMap<String, (String, u64, Json)>;

struct Story {
    seed: u64,
    world: World,
    dice: Dice,
    formation: String,
    template: Template,
}

impl Story {
    async fn begin(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut template = Template::new();
        if dice.chance(4) {
            template = Template::whole(&mut dice);
        } else {
            template.add(&mut dice, "ai_provider");
            let steps = dice.below(20);
            template.grow(&mut dice, steps);
        }
        let world = World::new().await;
        let formation = world.deployed(&template.body()).await;
        Self { seed, world, dice, formation, template }
    }

    async fn objects(&self) -> Objects {
        let mut found = Objects::new();
        for type_name in TYPES {
            let query = ListQuery {
                type_name: type_name.to_owned(),
                projects: Vec::new(),
                linked: None,
                limit: 10_000,
                offset: 0,
            };
            let page = self.world.store.reader().objects(&query).await.expect("read");
            let entries = page.items.into_iter().map(|it| (it.id, (it.type_name, it.version, it.doc)));
            found.extend(entries);
        }
        found
    }

    async fn planned(&self, template: &Template) -> Done {
        self.world.changes(&self.formation, &template.body()).await.into_iter().collect()
    }

    /// What the last operation did.
    async fn done(&self) -> Done {
        let reply = self.world.get(&format!("/formations/{}/events?limit=100", self.formation)).await;
        let last = reply.body["data"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
        let events = last["events"].as_array().unwrap_or_else(|| panic!("{}", reply.text));
        let text = |event: &Json, name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let done = events.iter().filter(|event| event["status"] == "succeeded");
        let mut done: Done = done
            .map(|event| (text(event, "logical_id"), text(event, "action")))
            .filter(|(_, action)| matches!(action.as_str(), "create" | "update" | "delete" | "replace"))
            .collect();
        // Where the old one must go first, a replacement has a delete.
        let replaced: Vec<_> = done.iter().filter(|(_, action)| action == "replace").cloned().collect();
        for (id, _) in replaced {
            done.remove(&(id, "delete".to_owned()));
        }
        done
    }

    /// That the formation is as declared, and that saying so again does nothing.
    async fn settled(&self) {
        let seed = self.seed;
        assert_eq!(self.planned(&self.template).await, Done::new(), "seed {seed}: a plan after the deploy");
        let before = self.objects().await;
        let again = self.world.redeploy(&self.formation, &self.template.body()).await;
        assert_eq!(again["status"], "active", "seed {seed}: {again}");
        assert_eq!(self.done().await, Done::new(), "seed {seed}: a deploy of the same");
        assert_eq!(self.objects().await, before, "seed {seed}: a deploy of the same");
    }

    async fn change(&mut self) {
        let next = self.template.edited(&mut self.dice);
        if next.resources.is_empty() {
            return;
        }
        let planned = self.planned(&next).await;
        let answer = self.world.redeploy(&self.formation, &next.body()).await;
        assert_eq!(answer["status"], "active", "seed {}: {:#}", self.seed, answer["error"]);
        assert_eq!(self.done().await, planned, "seed {}: planned on the right", self.seed);
        self.template = next;
        self.settled().await;
    }

    async fn fail(&mut self) {
        let seed = self.seed;
        let next = self.template.edited(&mut self.dice).failing(&mut self.dice);
        let (planned, before) = (self.planned(&next).await, self.objects().await);
        let answer = self.world.redeploy(&self.formation, &next.body()).await;
        assert_eq!(answer["status"], "failed", "seed {seed}");
        assert_eq!(answer["error"]["meta"]["logical_id"], "Bad", "seed {seed}: {:#}", answer["error"]);
        let done = self.done().await;
        assert!(done.is_subset(&planned), "seed {seed}: {done:?} of {planned:?}");
        let rows = self.rows().await;
        // Updates keep their new state, and so does what was replaced.
        let replaced = |id: &str| planned.contains(&(id.to_owned(), "replace".to_owned()));
        let retained = |id: &str| next.resources.get(id).is_some_and(|it| it["deletion_policy"] == "retain");
        let kept = rows.iter().filter(|(logical_id, _)| replaced(logical_id) || retained(logical_id));
        let kept: BTreeSet<_> = kept.map(|(_, physical)| physical.clone()).collect();
        let after = self.objects().await;
        for (id, (type_name, ..)) in &after {
            let stood = before.contains_key(id) || kept.contains(id) || belongs(&after, id, &kept);
            assert!(stood, "seed {seed}: {type_name} {id} is left of a failed deploy");
        }
        // Where the old one had to go before its successor could come, it is gone.
        let went = before.iter().filter(|(id, (type_name, ..))| {
            !after.contains_key(*id) && GO_FIRST.contains(&type_name.as_str())
        });
        let went: BTreeSet<_> = went.map(|(id, _)| id.clone()).collect();
        assert!(
            went.is_empty() || planned.iter().any(|(id, _)| replaced(id)),
            "seed {seed}: {went:?} are gone"
        );
        for (id, (type_name, ..)) in &before {
            let stays = after.contains_key(id) || went.contains(id) || belongs(&before, id, &went);
            assert!(stays, "seed {seed}: {type_name} {id} is gone; planned {planned:?}, done {done:?}");
        }
        self.template.remember(&next);
        // A corrected deploy works.
        self.change().await;
    }

    /// The logical ids of the formation with what stands for them.
    async fn rows(&self) -> Vec<(String, String)> {
        let formation = self.world.get(&format!("/formations/{}", self.formation)).await.body;
        let rows = formation["resources"].as_array().expect("resources");
        let text = |row: &Json, name: &str| row[name].as_str().map(str::to_owned);
        rows.iter()
            .filter_map(|row| Some((text(row, "logical_id")?, text(row, "physical_resource_id")?)))
            .collect()
    }

    async fn end(self) {
        let seed = self.seed;
        let gone = self.world.send("DELETE", &format!("/formations/{}", self.formation), None).await;
        assert_eq!(gone.status, 200, "seed {seed}: {}", gone.text);
        if !self.template.ever_retained {
            assert_eq!(self.objects().await, Objects::new(), "seed {seed}: a teardown leaves nothing");
        }
    }
}

/// Whether an object is part of one that is kept: a document's file, a session's conversation.
fn belongs(all: &Objects, id: &str, kept: &BTreeSet<String>) -> bool {
    kept.iter().any(|kept| all.get(kept).is_some_and(|(_, _, doc)| doc.to_string().contains(id)))
}

async fn tell(seed: u64) {
    let mut story = Story::begin(seed).await;
    story.settled().await;
    for _ in 0..story.dice.below(4) {
        if story.dice.chance(3) {
            story.fail().await;
        } else {
            story.change().await;
        }
    }
    story.end().await;
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[tokio::test]
async fn plans_and_deploys_of_random_templates_agree() {
    if let Some(seed) = setting("FORMWORK_TEMPLATE_SEED") {
        return tell(seed).await;
    }
    for seed in 0..setting("FORMWORK_TEMPLATE_RUNS").unwrap_or(60) {
        tell(seed).await;
    }
}

#[tokio::test]
async fn a_story_can_have_every_type() {
    let mut dice = Dice::new(1);
    let template = Template::whole(&mut dice);
    let types: BTreeSet<_> = template.resources.keys().map(|id| template.type_of(id)).collect();
    assert_eq!(types, BTreeSet::from(TYPES), "{}", json!(template.resources));
}
