//! Descriptors as the package's extractor puts them out; the keys are those of seed 1.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A resource type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ResourceDescriptor {
    /// Its name: namespace, service and resource.
    #[serde(rename = "Type")]
    pub type_name: String,
    /// The module that declares its class, relative to the package.
    pub module: String,
    /// The class.
    pub class: String,
    /// The version of the provider's API, if the package has a tree for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What the type is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its properties.
    pub schema: Schema,
    /// Hints of objects within mappings, with `*` for each key.
    pub member_hints: IndexMap<String, FieldHint>,
    /// The name in Pkl of each key that isn't nested.
    pub names: IndexMap<String, String>,
    /// The keys, not nested, that must have a value and have one if none is declared.
    pub defaults: Vec<String>,
    /// What is said of each key.
    pub descriptions: IndexMap<String, String>,
}

/// What is known of a resource type (seed 1, "Schema").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Schema {
    /// The property that identifies a resource.
    pub identifier: String,
    /// The keys that can be set, those of nested objects dotted.
    pub fields: Vec<String>,
    /// The hint of each key.
    pub hints: IndexMap<String, FieldHint>,
    /// Whether resources are discovered.
    pub discoverable: bool,
    /// Whether resources are extracted.
    pub extractable: bool,
    /// Whether a resource may be created anew on another target.
    pub portable: bool,
    /// The type of the parent; empty if there is none.
    pub parent: String,
    /// Which of the parent's properties are carried by which of the child's.
    pub parent_mappings: Vec<ParentMapping>,
}

/// A property of a parent, and the property of its child that carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParentMapping {
    /// The parent's property.
    pub parent_property: String,
    /// The child's property.
    pub child_property: String,
}

/// The hint of a key (seed 1, "FieldHint").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[expect(clippy::struct_excessive_bools, reason = "the flags and their names are seed 1's")]
pub struct FieldHint {
    /// Another value needs another resource.
    pub create_only: bool,
    /// Never read back.
    pub write_only: bool,
    /// Must have a value.
    pub required: bool,
    /// Must have a value when the resource is created.
    pub required_on_create: bool,
    /// Is sent with every update.
    pub required_on_update: bool,
    /// The provider chooses a value where there is none.
    pub has_provider_default: bool,
    /// A secret.
    pub opaque: bool,
    /// The older form of the edge kind.
    pub attaches_to: bool,
    /// What references in it mean for the order of work.
    pub edge_kind: String,
    /// The property that identifies an element of an entity set.
    pub index_field: String,
    /// How a collection is compared.
    pub update_method: String,
    /// The format of a text.
    pub format: String,
}

/// The configuration of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ConfigDescriptor {
    /// The module that declares its class, relative to the package.
    pub module: String,
    /// The class.
    pub class: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its properties.
    pub schema: ConfigSchema,
}

/// What is known of a configuration (seed 1, "ConfigSchema").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct ConfigSchema {
    /// The hint of each key that has one.
    pub hints: IndexMap<String, ConfigHint>,
}

/// The hint of a configuration's key (seed 1, "ConfigFieldHint").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ConfigHint {
    /// Another value needs another target.
    pub create_only: bool,
}
