//! A forma as evaluated: what it declares, with the place of each value.
//!
//! This is between the language and [`Desired`](formwork_model::Desired): references name labels, stacks and targets
//! by what their author wrote, and nothing of it was compared with what exists.

use crate::extract::{ConfigSchema, FieldHint, Schema};
use formwork_model::{Expr, ExprLeaf, Json, Label, Path, SourceFile, SourceMap, Span, TargetName, TypeName};
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

impl Forma {
    /// The files as they may be drawn: what stands between quotes where a secret is written is blank.
    pub fn drawable(&self) -> SourceMap {
        let mut spans: Vec<Span> = Vec::new();
        let configs = self.targets.iter().map(|it| (&it.config, it.path.key("Config")));
        let properties =
            self.resources.iter().map(|it| (&it.properties, crate::desire::properties_path(&it.path)));
        for (value, base) in configs.chain(properties) {
            value.for_each_leaf(&mut |path, leaf| {
                if holds_secret(leaf) {
                    spans.extend(self.source_map.node(&base.join(path)).map(|node| node.span));
                }
            });
        }
        let files = self.source_map.files.iter().zip(0u16..).map(|(file, number)| {
            let mut text = file.text.to_string();
            for span in spans.iter().filter(|span| span.file == number) {
                blank(&mut text, span);
            }
            SourceFile::new(file.name.clone(), text)
        });
        SourceMap { files: files.collect(), root: self.source_map.root.clone() }
    }
}

fn holds_secret(leaf: &ExprLeaf) -> bool {
    match leaf {
        ExprLeaf::Secret(_) => true,
        ExprLeaf::Once(inner) => {
            let mut found = false;
            inner.for_each_leaf(&mut |_, leaf| found |= holds_secret(leaf));
            found
        }
        ExprLeaf::Ref(_) | ExprLeaf::Template(_) | ExprLeaf::KeepPrevious => false,
    }
}

/// Blanks what stands between quotes in a span. The text keeps its length, so that all other places stay.
fn blank(text: &mut String, span: &Span) {
    let range = span.start as usize..span.end as usize;
    let Some(inside) = text.get(range.clone()) else { return };
    let mut quoted = false;
    let mut escaped = false;
    let blanked: String = inside
        .chars()
        .flat_map(|letter| {
            let is_quote = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            quoted ^= is_quote;
            let keeps = is_quote || !quoted || letter.is_whitespace();
            let (shown, times) = if keeps { (letter, 1) } else { ('*', letter.len_utf8()) };
            std::iter::repeat_n(shown, times)
        })
        .collect();
    text.replace_range(range, &blanked);
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
