//! A forma in JSON, as it is put out (`forma-behaviour.md` §2.1): the same forma, its places apart.

mod places;
mod write;

pub use places::{Malformed, Places};
pub use write::{masked, write};

use crate::extract::{FieldHint, Schema};
use crate::forma::{Description, Forma, Named, Policy, Resource, Stack, Target, TypeSchema};
use crate::lower::references::{self, Envelope};
use crate::lower::secret;
use formwork_model::{Expr, ExprLeaf, Json, Path, ProjectId, Ref, TypeName};
use indexmap::IndexMap;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

/// Why a JSON text is no forma.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// It is of another shape.
    #[error("this is no forma in JSON")]
    Shape(#[from] serde_json::Error),
    /// A resource whose type nothing is said of.
    #[error("the resource `{label}` has no `Schema`, and `Schemas` has none of its type `{type_name}`")]
    NoSchema {
        /// The resource.
        label: String,
        /// Its type.
        type_name: String,
    },
    /// A value that means nothing.
    #[error("{path}: {message}")]
    Value {
        /// Where.
        path: String,
        /// What is wrong.
        message: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    description: Option<Said>,
    #[serde(default)]
    properties: Option<IndexMap<Arc<str>, Json>>,
    #[serde(default)]
    stacks: Vec<Declared>,
    #[serde(default)]
    targets: Vec<DeclaredTarget>,
    #[serde(default)]
    policies: Vec<Json>,
    #[serde(default)]
    schemas: HashMap<String, Schema>,
    #[serde(default)]
    resources: Vec<DeclaredResource>,
    /// Ours: the labels of stacks that must exist already.
    #[serde(default)]
    known_stacks: Vec<Arc<str>>,
    /// Ours: the labels of targets that must exist already.
    #[serde(default)]
    known_targets: Vec<Arc<str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Said {
    #[serde(default)]
    text: String,
    #[serde(default)]
    confirm: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Declared {
    label: Arc<str>,
    description: Option<String>,
    policies: Option<Vec<Json>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DeclaredTarget {
    label: String,
    namespace: Arc<str>,
    #[serde(default)]
    config: Json,
    config_schema: Option<crate::extract::ConfigSchema>,
    #[serde(default = "yes")]
    discoverable: bool,
    reaping: Option<Json>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DeclaredResource {
    label: String,
    group: Option<Arc<str>>,
    #[serde(rename = "Type")]
    type_name: String,
    stack: Arc<str>,
    target: String,
    alias: Option<String>,
    schema: Option<Schema>,
    #[serde(default)]
    properties: Json,
}

fn yes() -> bool {
    true
}

/// The forma that a JSON text is.
///
/// # Errors
/// It is none.
pub fn read(text: &[u8], project: &ProjectId) -> Result<Forma, WireError> {
    from_document(serde_json::from_slice(text)?, project)
}

/// The forma that a JSON value is.
///
/// # Errors
/// It is none.
pub fn from_json(json: Json, project: &ProjectId) -> Result<Forma, WireError> {
    from_document(serde_json::from_value(json)?, project)
}

fn from_document(document: Document, project: &ProjectId) -> Result<Forma, WireError> {
    let known = |labels: Vec<Arc<str>>, before: usize| {
        let path = |at| Path::of(["Resolvables"]).index(before + at);
        let named = labels.into_iter().enumerate().map(|(at, label)| Named { label, path: path(at) });
        named.collect::<Vec<_>>()
    };
    let known_stacks = known(document.known_stacks, 0);
    let known_targets = known(document.known_targets, known_stacks.len());
    let mut reader = Reader { project, shared: document.schemas, known: HashMap::new() };
    let resources = document.resources.into_iter().enumerate();
    let targets = document.targets.into_iter().enumerate();
    let policies = document.policies.into_iter().enumerate();
    let stacks = document.stacks.into_iter().enumerate().map(|(index, stack)| Stack {
        label: stack.label,
        description: stack.description,
        policies: stack.policies,
        path: Path::of(["Stacks"]).index(index),
    });
    Ok(Forma {
        description: document.description.map(|said| Description { text: said.text, confirm: said.confirm }),
        properties: document.properties.unwrap_or_default(),
        stacks: stacks.collect(),
        targets: targets.map(|(index, target)| reader.target(index, target)).collect::<Result<_, _>>()?,
        policies: policies.map(|(index, policy)| Reader::policy(index, policy)).collect::<Result<_, _>>()?,
        resources: resources.map(|(index, it)| reader.resource(index, it)).collect::<Result<_, _>>()?,
        known_stacks,
        known_targets,
        source_map: Arc::default(),
    })
}

struct Reader<'a> {
    project: &'a ProjectId,
    shared: HashMap<String, Schema>,
    known: HashMap<String, Vec<Arc<TypeSchema>>>,
}

impl Reader<'_> {
    fn target(&self, index: usize, target: DeclaredTarget) -> Result<Target, WireError> {
        let path = Path::of(["Targets"]).index(index);
        Ok(Target {
            label: target.label.into(),
            namespace: target.namespace,
            config: self.value(target.config, &path.key("Config"))?,
            config_schema: target.config_schema,
            discoverable: target.discoverable,
            reaping: target.reaping,
            path,
        })
    }

    fn policy(index: usize, config: Json) -> Result<Policy, WireError> {
        let path = Path::of(["Policies"]).index(index);
        let Some(label) = config.get("Label").and_then(Json::as_str).map(Arc::from) else {
            let message = "a policy outside of a stack must have a `Label`".to_owned();
            return Err(WireError::Value { path: path.to_string(), message });
        };
        Ok(Policy { label, config, path })
    }

    fn resource(&mut self, index: usize, resource: DeclaredResource) -> Result<Resource, WireError> {
        let path = Path::of(["Resources"]).index(index);
        let schema = self.schema(resource.schema, &resource.label, &resource.type_name)?;
        let mut properties = self.value(resource.properties, &path.key("Properties"))?;
        for (key, hint) in &schema.schema.hints {
            if hint.opaque {
                let keys: Vec<&str> = key.split('.').collect();
                properties = hidden(properties, &keys);
            }
        }
        Ok(Resource {
            label: resource.label.into(),
            type_name: schema.type_name.clone(),
            stack: resource.stack,
            target: resource.target.into(),
            group: resource.group,
            alias: resource.alias.map(Into::into),
            properties,
            schema,
            path,
        })
    }

    /// The schema of a resource: each is held once, however many resources bring it along.
    fn schema(
        &mut self,
        own: Option<Schema>,
        label: &str,
        type_name: &str,
    ) -> Result<Arc<TypeSchema>, WireError> {
        let known = self.known.entry(type_name.to_owned()).or_default();
        let schema = match own {
            Some(schema) => schema,
            None => match (known.first(), self.shared.remove(type_name)) {
                (Some(known), None) => return Ok(Arc::clone(known)),
                (_, Some(schema)) => schema,
                (None, None) => {
                    let (label, type_name) = (label.to_owned(), type_name.to_owned());
                    return Err(WireError::NoSchema { label, type_name });
                }
            },
        };
        if let Some(known) = known.iter().find(|known| known.schema == schema) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(TypeSchema {
            type_name: TypeName::from(type_name),
            schema,
            member_hints: IndexMap::<String, FieldHint>::new(),
            names: IndexMap::new(),
        });
        known.push(Arc::clone(&made));
        Ok(made)
    }

    fn value(&self, json: Json, path: &Path) -> Result<Expr, WireError> {
        let wrong = |message| WireError::Value { path: path.to_string(), message };
        Ok(match json {
            Json::Array(items) => Expr::array(
                items
                    .into_iter()
                    .enumerate()
                    .map(|(index, item)| self.value(item, &path.index(index)))
                    .collect::<Result<_, _>>()?,
            ),
            Json::Object(members) => {
                let json = Json::Object(members);
                if let Some(envelope) = Envelope::read(&json) {
                    return Ok(Expr::Leaf(ExprLeaf::Ref(self.reference(&envelope).map_err(wrong)?)));
                }
                if json.get("$embed") == Some(&Json::Bool(true)) {
                    let template = json.get("$template").and_then(Json::as_str).unwrap_or_default();
                    let value = references::parts(template, &mut |it| self.reference(&it)).map_err(wrong)?;
                    let is_opaque = json.get("$opaque") == Some(&Json::Bool(true));
                    return Ok(if is_opaque { secret(value) } else { value });
                }
                let Json::Object(members) = json else { return Ok(json.into()) };
                if let Some(held) = held(&members) {
                    return Ok(held);
                }
                let members = members.into_iter().map(|(key, member)| {
                    let key: Arc<str> = key.into();
                    let path = path.key(Arc::clone(&key));
                    Ok((key, self.value(member, &path)?))
                });
                Expr::object(members.collect::<Result<_, WireError>>()?)
            }
            plain => Expr::Plain(plain),
        })
    }

    fn reference(&self, envelope: &Envelope) -> Result<Ref, String> {
        envelope.resolved(self.project)
    }
}

/// A value with what must be known to handle it; `None` if the members are data.
fn held(members: &serde_json::Map<String, Json>) -> Option<Expr> {
    let value = members.get("$value")?;
    let (visibility, strategy) = (members.get("$visibility")?, members.get("$strategy")?);
    if members.get("$hashed") == Some(&Json::Bool(true)) {
        return Some(Expr::Leaf(ExprLeaf::KeepPrevious));
    }
    let mut value = Expr::Plain(value.clone());
    if visibility == "Opaque" {
        value = secret(value);
    }
    Some(if strategy == "SetOnce" { Expr::Leaf(ExprLeaf::Once(Box::new(value))) } else { value })
}

/// The value with what is at some keys made a secret, in each element of an array on the way.
fn hidden(value: Expr, keys: &[&str]) -> Expr {
    let Some((key, rest)) = keys.split_first() else { return secret(value) };
    match value {
        Expr::Plain(Json::Array(items)) => {
            Expr::array(items.into_iter().map(|item| hidden(Expr::Plain(item), keys)).collect())
        }
        Expr::Array(items) => Expr::array(items.into_iter().map(|item| hidden(item, keys)).collect()),
        Expr::Plain(Json::Object(members)) => Expr::object(
            members
                .into_iter()
                .map(|(name, member)| {
                    let member = Expr::Plain(member);
                    let member = if name == *key { hidden(member, rest) } else { member };
                    (Arc::from(name), member)
                })
                .collect(),
        ),
        Expr::Object(members) => Expr::object(
            members
                .into_iter()
                .map(|(name, member)| {
                    let member = if *name == **key { hidden(member, rest) } else { member };
                    (name, member)
                })
                .collect(),
        ),
        other => other,
    }
}
