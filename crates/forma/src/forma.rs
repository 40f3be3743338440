//! A forma as evaluated: what it declares, with the place of each value.
//!
//! This is between the language and [`Desired`](formwork_model::Desired): references name labels, stacks and targets
//! by what their author wrote, and nothing of it was compared with what exists.

use crate::extract::{ConfigSchema, FieldHint, Schema};
use formwork_model::{Expr, Json, Label, Path, SourceMap, TargetName, TypeName};
use indexmap::IndexMap;
use std::sync::Arc;

/// What a forma declares.
///
/// [`source_map`](Self::source_map) has the places under the paths of the JSON that a forma is put out as:
/// `Resources[0].Properties.BucketName`.
#[derive(Clone, Debug, Default)]
pub struct Forma {
    /// What is said to a person before it is applied.
    pub description: Option<Description>,
    /// Values that can be given on the command line, by name.
    pub properties: IndexMap<Arc<str>, Json>,
    /// The stacks that it declares.
    pub stacks: Vec<Stack>,
    /// The targets that it declares.
    pub targets: Vec<Target>,
    /// The policies that its stacks, and others, can refer to.
    pub policies: Vec<Policy>,
    /// The resources, in the order of their declaration.
    pub resources: Vec<Resource>,
    /// Stacks that must exist already, by label.
    pub known_stacks: Vec<Named>,
    /// Targets that must exist already, by label.
    pub known_targets: Vec<Named>,
    /// Where everything was declared.
    pub source_map: Arc<SourceMap>,
}

/// What is said to a person before a forma is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// What.
    pub text: String,
    /// Whether the person must agree.
    pub confirm: bool,
}

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub label: Arc<str>,
    /// Where it stands in the source map.
    pub path: Path,
}

/// A stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Its name.
    pub label: Arc<str>,
    /// What it is for; `None` leaves what was said before.
    pub description: Option<String>,
    /// Its own policies, and `{"$ref": "policy://…"}` for those that it shares; `None` if nothing is said.
    pub policies: Option<Vec<Json>>,
    /// Where it stands in the source map.
    pub path: Path,
}

/// A target.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub label: TargetName,
    /// The namespace of the types that can be there.
    pub namespace: Arc<str>,
    /// What the plugin must know to reach it.
    pub config: Expr,
    /// What the annotations of the configuration's class say of its keys.
    pub config_schema: Option<ConfigSchema>,
    /// Whether resources are discovered there.
    pub discoverable: bool,
    /// When its resources are given up if it can't be reached.
    pub reaping: Option<Json>,
    /// Where it stands in the source map.
    pub path: Path,
}

/// A policy with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Its name.
    pub label: Arc<str>,
    /// The policy as it is put out.
    pub config: Json,
    /// Where it stands in the source map.
    pub path: Path,
}

/// A resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its name among those of its type in its stack.
    pub label: Label,
    /// Its type.
    pub type_name: TypeName,
    /// Its stack.
    pub stack: Arc<str>,
    /// Its target.
    pub target: TargetName,
    /// A name that groups resources as their author likes.
    pub group: Option<Arc<str>>,
    /// The label that it had before.
    pub alias: Option<Label>,
    /// Its properties by the keys that the provider knows.
    pub properties: Expr,
    /// What is known of its type; one for all resources of a class.
    pub schema: Arc<TypeSchema>,
    /// Where it stands in the source map.
    pub path: Path,
}

/// What a forma says of a resource type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSchema {
    /// The type.
    pub type_name: TypeName,
    /// What is put out of it.
    pub schema: Schema,
    /// Hints of objects within mappings, with `*` for each key.
    pub member_hints: IndexMap<String, FieldHint>,
    /// The keys that aren't nested, with the name that each has in Pkl.
    pub names: IndexMap<Arc<str>, Arc<str>>,
}
