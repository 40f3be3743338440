//! What a type's properties are, as both front ends and the planner need to know it.

use crate::{EdgeKind, Json, Path, Segment, TypeName};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, LazyLock};

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
    /// How it treats what is within; `None`: as values without hints, whose arrays are ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<NestedHints>>,
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

/// The hints of the keys of an object, or of each object in an array: an index is no step. Keys that have
/// none are plain, and their arrays are unordered (seed 1, "updateMethod").
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NestedHints {
    /// Keys by name.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub named: IndexMap<Arc<str>, NestedKey>,
    /// Any other key: those of a mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any: Option<Box<NestedKey>>,
}

/// A key with its hint, and the hints of what is within.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NestedKey {
    /// Its own.
    pub hint: FieldHint,
    /// Those of the keys of its value.
    pub within: NestedHints,
}

impl NestedKey {
    /// A key of which nothing is said.
    pub fn plain() -> &'static Self {
        static PLAIN: LazyLock<NestedKey> = LazyLock::new(|| NestedKey {
            hint: FieldHint { update_method: UpdateMethod::Set, ..FieldHint::default() },
            within: NestedHints::default(),
        });
        &PLAIN
    }
}

impl NestedHints {
    /// What is said of a key.
    pub fn key(&self, name: &str) -> &NestedKey {
        match self.named.get(name).or(self.any.as_deref()) {
            Some(key) => key,
            None => NestedKey::plain(),
        }
    }

    /// Says something of a key: the names that lead to it, `*` for any key of a mapping.
    pub fn insert<'k>(&mut self, names: impl IntoIterator<Item = &'k str>, hint: FieldHint) {
        let mut names = names.into_iter();
        let Some(name) = names.next() else { return };
        let mut key = self.entry(name);
        for name in names {
            key = key.within.entry(name);
        }
        key.hint = hint;
    }

    fn entry(&mut self, name: &str) -> &mut NestedKey {
        let new = || NestedKey::plain().clone();
        match name {
            "*" => self.any.get_or_insert_with(|| Box::new(new())),
            name => self.named.entry(name.into()).or_insert_with(new),
        }
    }

    /// Whether any hint is of this kind.
    pub fn has(&self, is: &impl Fn(&FieldHint) -> bool) -> bool {
        let mut keys = self.named.values().chain(self.any.as_deref());
        keys.any(|key| is(&key.hint) || key.within.has(is))
    }
}

impl Schema {
    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&PropertySchema> {
        self.properties.get(name)
    }

    /// What references at a place mean for order: what the property says, or the first key on the way that says
    /// anything (seed 1, "edgeKind"; it holds for all that is within).
    pub fn edge_kind(&self, path: &Path) -> EdgeKind {
        let mut names = path.segments().iter().filter_map(|segment| match segment {
            Segment::Key(name) => Some(&**name),
            Segment::Index(_) => None,
        });
        let Some(property) = names.next().and_then(|name| self.property(name)) else {
            return EdgeKind::Dependency;
        };
        let (mut kind, mut within) = (property.hint.edge_kind, property.within.as_deref());
        while kind == EdgeKind::Dependency
            && let (Some(hints), Some(name)) = (within, names.next())
        {
            let key = hints.key(name);
            (kind, within) = (key.hint.edge_kind, Some(&key.within));
        }
        kind
    }

    /// Whether references anywhere in it are of this kind.
    pub fn has_edges(&self, kind: EdgeKind) -> bool {
        let is = |hint: &FieldHint| hint.edge_kind == kind;
        let mut properties = self.properties.values();
        properties
            .any(|property| is(&property.hint) || property.within.as_ref().is_some_and(|it| it.has(&is)))
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
            within: None,
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
