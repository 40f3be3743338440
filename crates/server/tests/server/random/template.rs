//! A template that grows, changes and shrinks at random.

use super::declare::{Near, TYPES, properties, refuses_change};
use super::dice::Dice;
use serde_json::{Map, Value, json};

#[derive(Clone)]
pub(super) struct Template {
    pub(super) resources: Map<String, Value>,
    next: usize,
    word: &'static str,
    /// Whether anything was ever declared to outlive the formation.
    pub(super) ever_retained: bool,
}

impl Template {
    pub(super) fn new() -> Self {
        Self { resources: Map::new(), next: 0, word: "oak", ever_retained: false }
    }

    pub(super) fn body(&self) -> Value {
        json!({
            "parameters": { "Word": { "type": "string", "default": self.word } },
            "resources": self.resources,
        })
    }

    /// Takes over what a template that was deployed and given up leaves behind: names, and what was
    /// retained.
    pub(super) fn remember(&mut self, given_up: &Self) {
        self.next = given_up.next;
        self.ever_retained |= given_up.ever_retained;
        for (id, declared) in &mut self.resources {
            if let Some(policy) = given_up.resources.get(id).and_then(|it| it.get("deletion_policy")) {
                declared["deletion_policy"] = policy.clone();
            }
        }
    }

    pub(super) fn type_of(&self, id: &str) -> &str {
        self.resources[id]["type"].as_str().expect("a type")
    }

    /// Those that may be referred to by the resource at a place: those declared before it.
    fn before(&self, place: usize) -> Vec<(String, String)> {
        self.resources
            .iter()
            .take(place)
            .map(|(id, declared)| (id.clone(), declared["type"].as_str().expect("a type").to_owned()))
            .collect()
    }

    /// Declares one more resource of a type, if what it needs is there.
    pub(super) fn add(&mut self, dice: &mut Dice, type_name: &str) {
        let near = self.before(self.resources.len());
        let id = format!("R{}", self.next);
        let Some(properties) = properties(dice, &Near { declared: &near }, type_name, &id) else { return };
        if type_name == "quota" && self.has_quota(&properties) {
            return;
        }
        self.next += 1;
        let mut declared = json!({ "type": type_name, "properties": properties });
        // A successor could not have the unique name of one that is kept.
        if dice.chance(10) && !matches!(type_name, "trigger" | "file") {
            declared["deletion_policy"] = json!("retain");
        }
        if dice.chance(8) {
            declared["metadata"] = json!({ "by": dice.word() });
        }
        if dice.chance(6) && !near.is_empty() {
            declared["depends_on"] = json!([dice.pick(&near).0]);
        }
        self.resources.insert(id, declared);
        self.retain_what_is_referred_to();
    }

    /// What is kept refers to things that must then be kept too.
    fn retain_what_is_referred_to(&mut self) {
        let ids: Vec<String> = self.resources.keys().rev().cloned().collect();
        for id in &ids {
            if self.resources[id]["deletion_policy"] != "retain" {
                continue;
            }
            self.ever_retained = true;
            let text = self.resources[id]["properties"].to_string();
            for other in &ids {
                if mentions(&text, other) {
                    self.resources[other]["deletion_policy"] = json!("retain");
                }
            }
        }
    }

    /// Whether there is a quota that the new one would collide with.
    fn has_quota(&self, properties: &Value) -> bool {
        self.resources.values().any(|declared| {
            let same = |name: &str| declared["properties"][name] == properties[name];
            declared["type"] == "quota" && ["scope_ref", "metric", "window"].into_iter().all(same)
        })
    }

    pub(super) fn grow(&mut self, dice: &mut Dice, steps: usize) {
        for _ in 0..steps {
            let type_name = any_type(dice);
            self.add(dice, type_name);
        }
    }

    /// Every type once, and some more.
    pub(super) fn whole(dice: &mut Dice) -> Self {
        let mut template = Self::new();
        for type_name in TYPES {
            template.add(dice, type_name);
        }
        template.grow(dice, 10);
        template
    }

    /// Draws a declaration anew, but for what may not change.
    fn change(&mut self, dice: &mut Dice) {
        let place = dice.below(self.resources.len());
        let (id, declared) = self.resources.iter().nth(place).expect("it is there");
        let (id, type_name) = (id.clone(), declared["type"].as_str().expect("a type").to_owned());
        let near = self.before(place);
        let Some(mut new) = properties(dice, &Near { declared: &near }, &type_name, &id) else { return };
        let old = &mut self.resources[&id]["properties"];
        for kept in refuses_change(&type_name) {
            if let Some(old) = old.get(*kept) {
                new[*kept] = old.clone();
            } else {
                new.as_object_mut().expect("an object").remove(*kept);
            }
        }
        *old = new;
        self.retain_what_is_referred_to();
    }

    /// Takes one away, with everything that refers to it.
    fn remove(&mut self, dice: &mut Dice) {
        let place = dice.below(self.resources.len());
        let mut gone = vec![self.resources.keys().nth(place).expect("it is there").clone()];
        while let Some(id) = gone.pop() {
            self.resources.shift_remove(&id);
            let dependents = self.resources.iter().filter(|(_, it)| mentions(&it.to_string(), &id));
            gone.extend(dependents.map(|(id, _)| id.clone()));
        }
    }

    /// The same with some changes.
    pub(super) fn edited(&self, dice: &mut Dice) -> Self {
        let mut edited = self.clone();
        for _ in 0..=dice.below(6) {
            match dice.below(6) {
                0 if edited.resources.len() > 1 => edited.remove(dice),
                1 | 2 => {
                    let type_name = any_type(dice);
                    edited.add(dice, type_name);
                }
                3 if dice.chance(3) => edited.word = dice.pick(&["oak", "elm"]),
                _ if !edited.resources.is_empty() => edited.change(dice),
                _ => {}
            }
        }
        edited
    }

    /// The same with a resource that is refused while the deploy runs.
    pub(super) fn failing(&self, dice: &mut Dice) -> Self {
        let mut failing = self.clone();
        let near = failing.before(failing.resources.len());
        let mut bad = json!({ "type": "ai_provider", "properties": {
            "name": "bad", "provider": "openai", "default_model": "m", "secret_id": "sec_missing",
        } });
        if !near.is_empty() {
            bad["depends_on"] = json!([dice.pick(&near).0]);
        }
        failing.resources.insert("Bad".to_owned(), bad);
        failing
    }
}

/// Whether a declaration, as text, names a resource.
fn mentions(declared: &str, id: &str) -> bool {
    declared.contains(&format!("\"{id}\"")) || declared.contains(&format!("${{{id}}}"))
}

fn any_type(dice: &mut Dice) -> &'static str {
    dice.pick(&TYPES)
}
