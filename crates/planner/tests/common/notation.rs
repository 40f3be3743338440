//! Requests written as JSON. An object with one of these members stands for a special value:
//! `$ref`, `$prop`, `$sub`, `$secret`, `$keep`, `$once` in declarations; `$resolved`, `$digest`,
//! `$sealed` in what is stored; `$unknown`, `$digest` in what is planned.

use super::{Request, key};
use formwork_model::{
    Certainty, DeletionPolicy, Dependency, Desired, EdgeKind, Expr, ExprLeaf, Generation, IntentKind, Json,
    Label, Lookup, Matching, Mode, Object, Observation, OnFailure, OpenIntent, OperationKind, Ownership,
    Part, Path, Planned, PlannedLeaf, Ref, RefPath, ResourceDesired, Row, RowStatus, Secret, SourceFile,
    SourceMap, SourceNode, Span, StackDesired, StackKey, Stored, StoredLeaf, TargetRev, Timestamp, Tree,
    digest_of,
};
use formwork_planner::{Import, Imports};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A whole request as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// What the golden file is about.
    pub about: String,
    pub kind: OperationKind,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub ownership: Ownership,
    #[serde(default)]
    pub matching: Matching,
    #[serde(default)]
    pub on_failure: OnFailure,
    #[serde(default)]
    pub resources: Vec<WrittenResource>,
    #[serde(default)]
    pub outputs: BTreeMap<String, Json>,
    #[serde(default)]
    pub rows: Vec<WrittenRow>,
    /// By label: properties, or `"gone"`, or `"failed"`.
    #[serde(default)]
    pub observed: BTreeMap<String, Json>,
    /// By the id that a resource imports: properties, or why it is refused.
    #[serde(default)]
    pub importable: BTreeMap<String, Json>,
    /// Whether values may still be missing.
    #[serde(default)]
    pub incomplete: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenResource {
    label: String,
    #[serde(rename = "type", default = "doc")]
    type_name: String,
    #[serde(default)]
    properties: Json,
    #[serde(default)]
    depends_on: Vec<String>,
    #[serde(default)]
    deletion_policy: DeletionPolicy,
    metadata: Option<Json>,
    target: Option<String>,
    import: Option<String>,
    alias: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenRow {
    label: String,
    #[serde(rename = "type", default = "doc")]
    type_name: String,
    native_id: Option<String>,
    #[serde(default)]
    sent: Json,
    /// As sent, unless given.
    echo: Option<Json>,
    #[serde(default)]
    certainty: Certainty,
    #[serde(default)]
    deletion_policy: DeletionPolicy,
    #[serde(default)]
    status: RowStatus,
    #[serde(default)]
    references: Vec<String>,
    #[serde(default)]
    deposed: Vec<String>,
    intent: Option<IntentKind>,
    metadata: Option<Json>,
    target: Option<String>,
}

fn doc() -> String {
    "doc".to_owned()
}

impl Written {
    /// The request that is written.
    pub fn request(&self) -> Request {
        let rows: Vec<Row> = self.rows.iter().zip(0..).map(|(row, at)| row.row(at)).collect();
        let observations = rows.iter().filter_map(|row| {
            let native_id = row.current.as_ref()?.native_id.clone();
            let seen = match self.observed.get(row.label.as_str())? {
                Json::String(text) if text == "gone" => Observation::Gone { row: row.id.clone(), native_id },
                Json::String(text) => Observation::Failed { row: row.id.clone(), message: text.clone() },
                properties => Observation::Present {
                    row: row.id.clone(),
                    native_id,
                    properties: stored(properties),
                    at: Timestamp(0),
                },
            };
            Some((row.id.clone(), seen))
        });
        let observations = observations.collect();
        let desired = self.desired();
        let imports = self.imports(&desired, &rows);
        Request { kind: self.kind, desired, rows, observations, imports, incomplete: self.incomplete }
    }

    fn imports(&self, desired: &Desired, rows: &[Row]) -> Imports {
        let resources = desired.stacks.iter().flat_map(|stack| &stack.resources);
        let found = resources.filter_map(|resource| {
            let native_id = resource.import.as_ref()?;
            let import = match self.importable.get(native_id.as_str())? {
                Json::String(why) => Import::Refused(why.clone()),
                properties => {
                    let row = rows.iter().find(|row| row.label == resource.label);
                    Import::free(resource, native_id, row, (stored(properties), Timestamp(0)))
                }
            };
            Some(((resource.type_name.clone(), native_id.clone()), import))
        });
        found.collect()
    }

    fn desired(&self) -> Desired {
        let resources: Vec<ResourceDesired> = self.resources.iter().map(WrittenResource::desired).collect();
        let source_map = Arc::new(source_map(&resources));
        let stack = StackDesired {
            id: "stack-1".into(),
            key: StackKey::new("proj".into(), "main"),
            mode: self.mode,
            ownership: self.ownership,
            matching: self.matching,
            on_failure: self.on_failure,
            resources,
            outputs: self.outputs.iter().map(|(name, value)| (name.as_str().into(), expr(value))).collect(),
            metadata: None,
        };
        Desired { project: "proj".into(), stacks: vec![stack], source_map }
    }
}

impl WrittenResource {
    fn desired(&self) -> ResourceDesired {
        let path = Path::of(["resources", &self.label]);
        let depends = path.key("depends_on");
        ResourceDesired {
            label: self.label.as_str().into(),
            alias: self.alias.as_deref().map(Into::into),
            type_name: self.type_name.as_str().into(),
            target: self.target.as_deref().map(Into::into),
            properties: if self.properties.is_null() { Expr::empty_object() } else { expr(&self.properties) },
            depends_on: (self.depends_on.iter().enumerate())
                .map(|(at, on)| Dependency {
                    on: on.as_str().into(),
                    kind: EdgeKind::Dependency,
                    path: depends.index(at),
                })
                .collect(),
            import: self.import.as_deref().map(Into::into),
            deletion_policy: self.deletion_policy,
            metadata: self.metadata.clone(),
            properties_path: path.key("properties"),
            path,
        }
    }
}

impl WrittenRow {
    fn row(&self, position: u32) -> Row {
        let id = format!("row-{}", self.label);
        let mut row = Row::new(
            id.into(),
            "stack-1".into(),
            self.label.as_str().into(),
            self.type_name.as_str().into(),
            position,
        );
        row.generation = Generation(1);
        row.revision = 5;
        row.status = self.status;
        row.metadata.clone_from(&self.metadata);
        row.references = self.references.iter().map(|label| format!("row-{label}").into()).collect();
        row.current = self.native_id.as_ref().map(|native_id| self.object(native_id));
        row.deposed = self.deposed.iter().map(|native_id| self.object(native_id)).collect();
        row.intent = self.intent.map(|kind| self.intent(kind));
        row
    }

    fn target(&self) -> TargetRev {
        let named = |name: &String| TargetRev { name: name.as_str().into(), revision: 0 };
        self.target.as_ref().map(named).unwrap_or_default()
    }

    fn object(&self, native_id: &str) -> Object {
        let sent = if self.sent.is_null() { Stored::empty_object() } else { stored(&self.sent) };
        Object {
            native_id: native_id.into(),
            type_name: self.type_name.as_str().into(),
            target: self.target(),
            deletion_policy: self.deletion_policy,
            echo: self.echo.as_ref().map_or_else(|| sent.clone(), stored),
            sent,
            observed: None,
            certainty: self.certainty,
        }
    }

    fn intent(&self, kind: IntentKind) -> OpenIntent {
        OpenIntent {
            operation: "op-before".into(),
            step: formwork_model::StepId(0),
            kind,
            attempt: 1,
            generation: Generation(1),
            token: formwork_model::ClientToken([0; 32]),
            not_after: Timestamp(0),
            lookup: Lookup::None,
            type_name: self.type_name.as_str().into(),
            target: self.target(),
            deletion_policy: self.deletion_policy,
            sent: stored(&self.sent),
            native_id: self.native_id.as_deref().map(Into::into),
            request_id: None,
        }
    }
}

/// The special value that an object stands for: its one member that begins with `$`.
fn special(value: &Json) -> Option<(&str, &Json)> {
    let members = value.as_object()?;
    let (name, argument) = members.iter().next()?;
    name.starts_with('$').then_some((name.as_str(), argument))
}

fn tree<L>(value: &Json, leaf: &impl Fn(&str, &Json) -> Tree<L>) -> Tree<L> {
    if let Some((name, argument)) = special(value) {
        return leaf(name, argument);
    }
    match value {
        Json::Array(items) => Tree::array(items.iter().map(|item| tree(item, leaf)).collect()),
        Json::Object(members) => Tree::object(
            members.iter().map(|(name, value)| (name.as_str().into(), tree(value, leaf))).collect(),
        ),
        plain => Tree::Plain(plain.clone()),
    }
}

fn text(value: &Json) -> &str {
    value.as_str().expect("the notation has a text here")
}

/// A reference: `label`, or `label.property`.
pub fn reference(text: &str) -> Ref {
    match text.split_once('.') {
        None => Ref::native_id(text),
        Some((label, property)) => {
            Ref { path: RefPath::Property(Path::of([property])), ..Ref::native_id(Label::from(label)) }
        }
    }
}

/// A declared value.
pub fn expr(value: &Json) -> Expr {
    tree(value, &|name, argument| match name {
        "$ref" => Expr::Leaf(ExprLeaf::Ref(reference(text(argument)))),
        "$secret" => Expr::Leaf(ExprLeaf::Secret(Secret::new(argument.clone()))),
        "$keep" => Expr::Leaf(ExprLeaf::KeepPrevious),
        "$once" => Expr::Leaf(ExprLeaf::Once(Box::new(expr(argument)))),
        "$sub" => {
            let parts =
                argument.as_array().expect("a list of parts").iter().map(|part| match special(part) {
                    Some(("$ref", to)) => Part::Ref(reference(text(to))),
                    Some(("$secret", value)) => Part::Secret(Secret::new(value.clone())),
                    _ => Part::Text(text(part).into()),
                });
            Expr::Leaf(ExprLeaf::Template(parts.collect()))
        }
        other => panic!("`{other}` is nothing that can be declared"),
    })
}

/// A stored value.
pub fn stored(value: &Json) -> Stored {
    tree(value, &|name, argument| match name {
        "$resolved" => Stored::Leaf(StoredLeaf::Resolved {
            reference: reference(text(&argument[0])),
            sent: argument[1].clone(),
        }),
        "$digest" => Stored::Leaf(StoredLeaf::Digest(digest_of(&key(), argument))),
        "$sealed" => {
            Stored::Leaf(StoredLeaf::Sealed { slot: "row-slot".into(), digest: digest_of(&key(), argument) })
        }
        other => panic!("`{other}` is nothing that can be stored"),
    })
}

/// A planned value.
pub fn planned(value: &Json) -> Planned {
    tree(value, &|name, argument| match name {
        "$unknown" => {
            Planned::Leaf(PlannedLeaf::Unknown { from: vec![reference(text(argument))], secret: false })
        }
        "$digest" => Planned::Leaf(PlannedLeaf::Secret(digest_of(&key(), argument))),
        "$kept" => Planned::Leaf(PlannedLeaf::Kept(digest_of(&key(), argument))),
        other => panic!("`{other}` is nothing that can be planned"),
    })
}

/// A source in which each resource and each of its properties has a line of its own.
pub fn source_map(resources: &[ResourceDesired]) -> SourceMap {
    let mut source = String::new();
    let mut root = indexmap::IndexMap::new();
    let mut line = |text: String| {
        let start = u32::try_from(source.len()).expect("small");
        source.push_str(&text);
        source.push('\n');
        Span { file: 0, start, end: start + u32::try_from(text.len()).expect("small") }
    };
    for resource in resources {
        let span = line(format!("{}:", resource.label));
        let names: Vec<Arc<str>> = match &resource.properties {
            Tree::Plain(Json::Object(members)) => members.keys().map(|name| name.as_str().into()).collect(),
            Tree::Object(members) => members.keys().cloned().collect(),
            _ => Vec::new(),
        };
        let properties = names.into_iter().map(|name| {
            let span = line(format!("  {name}"));
            (name, SourceNode { span, key: None, children: formwork_model::Children::None })
        });
        let properties = formwork_model::Children::Object(properties.collect());
        let bag = SourceNode { span, key: None, children: properties };
        let children =
            formwork_model::Children::Object(std::iter::once((Arc::from("properties"), bag)).collect());
        root.insert(Arc::from(resource.label.as_str()), SourceNode { span, key: Some(span), children });
    }
    let resources = SourceNode {
        children: formwork_model::Children::Object(root.into_iter().collect()),
        ..SourceNode::default()
    };
    let children =
        formwork_model::Children::Object(std::iter::once((Arc::from("resources"), resources)).collect());
    SourceMap {
        files: vec![SourceFile::new("main", source)],
        root: SourceNode { children, ..SourceNode::default() },
    }
}
