//! What a type's properties are, as both front ends and the planner need to know it.

use crate::{EdgeKind, Json, Path, TypeName};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A resource type's properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// The type.
    pub type_name: TypeName,
    /// One sentence on what the type is.
    pub doc: Arc<str>,
    /// Its properties by wire name, in the order in which messages list them.
    pub properties: IndexMap<Arc<str>, PropertySchema>,
}

/// One property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PropertySchema {
    /// The JSON type.
    pub kind: Kind,
    /// Whether an explicit null is a value.
    #[serde(default)]
    pub nullable: bool,
    /// The allowed values; empty is any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Json>,
    /// What a value is like beyond its kind, as a JSON Schema for whoever writes one. The type checks
    /// it by rules of its own, since expressions may stand in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Json>,
    /// The types whose native id the property holds (or its elements, for an array).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refers_to: Vec<TypeName>,
    /// What the provider fills in where nothing is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// How the planner treats it.
    #[serde(default)]
    pub hint: FieldHint,
    /// One sentence for the reference page.
    #[serde(default)]
    pub doc: Arc<str>,
}

/// The JSON type of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Text.
    String,
    /// True or false.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A list.
    Array,
    /// A bag of members.
    Object,
    /// Anything.
    Any,
}

impl Kind {
    /// The type as JSON Schema spells it; `None` for anything.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::String => Some("string"),
            Self::Boolean => Some("boolean"),
            Self::Integer => Some("integer"),
            Self::Number => Some("number"),
            Self::Array => Some("array"),
            Self::Object => Some("object"),
            Self::Any => None,
        }
    }

    /// The type as messages name it: `a string`.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Array => "an array",
            Self::Object => "an object",
            Self::Any => "a value",
        }
    }
}

/// How the planner treats a property; the names are those of seed 1, "FieldHint".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags and their names are seed 1's")]
pub struct FieldHint {
    /// Must be declared.
    pub required: bool,
    /// Must be declared when the resource is created.
    pub required_on_create: bool,
    /// Must be sent with every update.
    pub required_on_update: bool,
    /// Cannot change in place; what happens instead is the type's [`ImmutableRule`](crate::ImmutableRule).
    pub create_only: bool,
    /// Never read back.
    pub write_only: bool,
    /// The provider sets it where nothing is declared; ceasing to declare it is no removal.
    pub has_provider_default: bool,
    /// A secret, whatever declares it.
    pub opaque: bool,
    /// The text is itself of this format (`json`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Arc<str>>,
    /// How a collection compares.
    pub update_method: UpdateMethod,
    /// What the references in it mean for order.
    pub edge_kind: EdgeKind,
}

/// How a collection compares (seed 1, "updateMethod").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateMethod {
    /// Element by element, in order.
    #[default]
    Array,
    /// As a set of values.
    Set,
    /// As a set of entities, each found by a field.
    EntitySet(IndexBy),
    /// As one value.
    Atomic,
}

/// The field that tells the entities of a set apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexBy(pub Path);

impl Schema {
    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&PropertySchema> {
        self.properties.get(name)
    }

    /// The names of all properties, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.properties.keys().map(|name| &**name)
    }
}

impl PropertySchema {
    /// A property of some JSON type, without any hint.
    pub fn new(kind: Kind, doc: impl Into<Arc<str>>) -> Self {
        Self {
            kind,
            nullable: false,
            allowed: Vec::new(),
            shape: None,
            refers_to: Vec::new(),
            default: None,
            hint: FieldHint::default(),
            doc: doc.into(),
        }
    }

    /// Required on create.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.hint.required_on_create = true;
        self
    }

    /// An explicit null is a value.
    #[must_use]
    pub fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// One of these texts.
    #[must_use]
    pub fn one_of(mut self, allowed: &[&str]) -> Self {
        self.allowed = allowed.iter().map(|text| Json::from(*text)).collect();
        self
    }

    /// Like this within.
    #[must_use]
    pub fn shaped(mut self, schema: Json) -> Self {
        self.shape = Some(schema);
        self
    }

    /// Holds the native id of a resource of this type.
    #[must_use]
    pub fn refers_to(mut self, type_name: &str) -> Self {
        self.refers_to.push(type_name.into());
        self
    }

    /// Cannot change in place.
    #[must_use]
    pub fn create_only(mut self) -> Self {
        self.hint.create_only = true;
        self
    }

    /// Never read back, and secret.
    #[must_use]
    pub fn write_only(mut self) -> Self {
        self.hint.write_only = true;
        self.hint.opaque = true;
        self
    }

    /// What the provider fills in.
    #[must_use]
    pub fn default(mut self, value: impl Into<Json>) -> Self {
        self.default = Some(value.into());
        self.hint.has_provider_default = true;
        self
    }
}
