//! What a step declares: resources of the fake cloud, as a template, and as what the provider must then have.

use formwork_model::Json;
use formwork_plugin_fake_cloud::{CHILD, GRAND_CHILD, Kind, NAMED, RESOURCE, kind};
use serde_json::{Map, json};
use std::collections::BTreeMap;

/// The label of the target.
const TARGET: &str = "Cloud";

/// Which kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// On its own.
    Resource,
    /// In a resource.
    Child,
    /// In a child.
    GrandChild,
    /// Named by its user.
    Named,
}

/// Where the object is that a resource is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// In nothing.
    Nothing,
    /// In the resource of this slot, of the same stack.
    Own(u8),
    /// In the resource of this slot of the first stack, by its id.
    Foreign(u8),
}

/// A resource that is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Which kind.
    pub sort: Sort,
    /// What tells it from others of its kind.
    pub slot: u8,
    /// In what it is.
    pub within: Within,
    /// Its value.
    pub value: u8,
    /// The slot of a `Resource` whose id is in its value.
    pub uses: Option<u8>,
    /// What of it can't change: another is another object.
    pub version: u8,
    /// Its tier, if one is declared.
    pub tier: Option<u8>,
    /// Its tags.
    pub tags: Vec<u8>,
    /// Its password, if it has one.
    pub password: Option<u8>,
}

impl Sort {
    /// The name of the type.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Resource => RESOURCE,
            Self::Child => CHILD,
            Self::GrandChild => GRAND_CHILD,
            Self::Named => NAMED,
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Resource => 'R',
            Self::Child => 'C',
            Self::GrandChild => 'G',
            Self::Named => 'N',
        }
    }

    /// The sort of what it is in.
    fn outer(self) -> Self {
        if self == Self::GrandChild { Self::Child } else { Self::Resource }
    }

    pub(crate) fn label(self, slot: u8) -> String {
        format!("{}{slot}", self.letter())
    }
}

/// What a template has to be filled in with.
pub(crate) struct Site<'a> {
    /// The number of the stack.
    pub(crate) stack: u8,
    /// The directory of the cloud.
    pub(crate) directory: &'a str,
    /// What is in every secret.
    pub(crate) canary: &'a str,
    /// The ids of the first stack's resources, by label.
    pub(crate) foreign: &'a BTreeMap<String, String>,
}

impl Resource {
    pub(crate) fn label(&self) -> String {
        self.sort.label(self.slot)
    }

    /// The label of what it is in, if that is of the same stack.
    pub(crate) fn outer(&self) -> Option<String> {
        match self.within {
            Within::Own(slot) => Some(self.sort.outer().label(slot)),
            Within::Nothing | Within::Foreign(_) => None,
        }
    }

    /// The id of what it is in, if that is of another stack.
    fn foreign(&self, site: &Site<'_>) -> Option<String> {
        match self.within {
            Within::Foreign(slot) => site.foreign.get(&Sort::Resource.label(slot)).cloned(),
            Within::Nothing | Within::Own(_) => None,
        }
    }

    fn name(&self, site: &Site<'_>) -> String {
        let version = if self.sort == Sort::Named { 0 } else { self.version };
        format!("s{}-{}-{version}", site.stack, self.label())
    }

    fn secret(&self, site: &Site<'_>) -> Option<String> {
        self.password.map(|password| format!("{}-{password}", site.canary))
    }

    /// Its properties, with what `id` and `text` make of references, and `secret` of the password.
    fn properties(
        &self,
        site: &Site<'_>,
        id: impl Fn(&str) -> Json,
        text: impl Fn(&str) -> Json,
        secret: impl Fn(&str, u8) -> Json,
    ) -> Map<String, Json> {
        let mut properties = Map::new();
        let mut put = |name: &str, value: Json| drop(properties.insert(name.to_owned(), value));
        put("name", json!(self.name(site)));
        let value = match self.uses {
            Some(slot) => text(&Sort::Resource.label(slot)),
            None => json!(format!("v{}", self.value)),
        };
        put("value", value);
        let outer = self.outer().map(|label| id(&label)).or_else(|| self.foreign(site).map(Json::from));
        match (self.sort, outer) {
            (Sort::Child, Some(outer)) => put("parentId", outer),
            (Sort::GrandChild, Some(outer)) => put("childId", outer),
            _ => {}
        }
        match self.sort {
            Sort::Resource => {
                put("region", json!(if self.value.is_multiple_of(2) { "EU-West" } else { "us-east" }));
            }
            Sort::Named => put("zone", json!(format!("z{}", self.version))),
            Sort::Child | Sort::GrandChild => {}
        }
        if let Some(tier) = self.tier.filter(|_| self.sort != Sort::Named) {
            put("tier", json!(format!("t{tier}")));
        }
        if matches!(self.sort, Sort::Resource | Sort::GrandChild) {
            if !self.tags.is_empty() {
                let tag = |tag: &u8| json!({ "key": format!("k{}", tag % 4), "value": format!("x{tag}") });
                put("tags", self.tags.iter().map(tag).collect());
            }
            if let Some((text, number)) = self.secret(site).zip(self.password) {
                put("password", secret(&text, number));
            }
        }
        properties
    }

    /// Whether it can be declared: a foreign object that it is in must be there.
    fn is_possible(&self, site: &Site<'_>) -> bool {
        !matches!(self.within, Within::Foreign(_)) || self.foreign(site).is_some()
    }

    /// As a template has it. Every other password is a parameter.
    fn declaration(&self, site: &Site<'_>) -> Json {
        let reference = |label: &str| json!({ "ref": label });
        let text = |label: &str| json!({ "sub": format!("of ${{{label}}}") });
        let secret = |text: &str, number: u8| match number % 2 {
            0 => json!(text),
            _ => json!({ "param": parameter(number) }),
        };
        let properties = self.properties(site, reference, text, secret);
        json!({ "type": self.sort.type_name(), "target": TARGET, "properties": properties })
    }

    /// What the provider must have of it, given the ids of what is there.
    pub(crate) fn expected(
        &self,
        site: &Site<'_>,
        ids: &BTreeMap<String, String>,
        before: &Map<String, Json>,
    ) -> Option<Map<String, Json>> {
        let id = |label: &str| ids.get(label).map_or(Json::Null, |id| json!(id));
        let text = |label: &str| json!(format!("of {}", ids.get(label).map_or("", String::as_str)));
        let sent = self.properties(site, id, text, |text, _| json!(text));
        let kind: Kind = kind(self.sort.type_name())?;
        Some(kind.made_of(&sent, Some(before)))
    }
}

fn parameter(password: u8) -> String {
    format!("password_{password}")
}

/// What is left of a declaration that can be declared, with what it is in.
pub(crate) fn possible(resources: &[Resource], site: &Site<'_>) -> Vec<Resource> {
    let mut kept: Vec<Resource> = resources.iter().filter(|one| one.is_possible(site)).cloned().collect();
    loop {
        let labels: Vec<String> = kept.iter().map(Resource::label).collect();
        let before = kept.len();
        kept.retain(|one| one.outer().is_none_or(|outer| labels.contains(&outer)));
        if kept.len() == before {
            break;
        }
    }
    let labels: Vec<String> = kept.iter().map(Resource::label).collect();
    for one in &mut kept {
        one.uses = one.uses.filter(|slot| {
            let used = Sort::Resource.label(*slot);
            used != one.label() && labels.contains(&used)
        });
        if one.sort == Sort::Resource {
            // A resource uses only those before it, so that there is no cycle.
            one.uses = one.uses.filter(|slot| *slot < one.slot);
        }
    }
    kept
}

/// The template of a declaration, and its parameters.
pub(crate) fn template(resources: &[Resource], site: &Site<'_>) -> (Json, Vec<String>) {
    let mut declared = Map::new();
    let config = json!({ "Directory": site.directory, "Token": { "param": "token" } });
    let target = json!({ "type": "target", "properties": { "namespace": "FAKE", "config": config } });
    declared.insert(TARGET.to_owned(), target);
    let secret = json!({ "type": "string", "no_echo": true, "use_previous_value": true });
    let mut parameters = Map::new();
    parameters.insert("token".to_owned(), secret.clone());
    let mut given = vec![format!("token={}-token", site.canary)];
    for resource in resources {
        declared.insert(resource.label(), resource.declaration(site));
        let holds = matches!(resource.sort, Sort::Resource | Sort::GrandChild);
        let Some(password) = resource.password.filter(|password| holds && password % 2 == 1) else {
            continue;
        };
        if parameters.insert(parameter(password), secret.clone()).is_none() {
            given.push(format!("{}={}-{password}", parameter(password), site.canary));
        }
    }
    (json!({ "parameters": parameters, "resources": declared }), given)
}
