//! A template whose shape has been checked.

use crate::Document;
use crate::constraint::Constraints;
use crate::expression::Form;
use formwork_model::{Catalog, DeletionPolicy, Expr, Json, Label, Path, SourceMap, TypeName, mask};
use indexmap::IndexMap;
use std::sync::Arc;

/// A template whose shape has been checked; its document is kept verbatim (seed 4, "Key Naming and
/// Case": "The template is stored and returned verbatim").
#[derive(Clone, Debug)]
pub struct Template {
    pub(crate) document: Document,
    pub(crate) parameters: IndexMap<Arc<str>, Parameter>,
    pub(crate) resources: IndexMap<Label, Declaration>,
}

/// A resource as the planner's graph sees it: its label, where it is declared, and what it waits
/// for, each with the place that says so.
pub type GraphNode = (Label, Path, Vec<(Label, Path)>);

/// A declared parameter (seed 4, "Parameter Declaration Fields").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// The value where none is supplied.
    pub default: Option<Arc<str>>,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// Whether its value is sensitive.
    pub no_echo: bool,
    /// Whether an update that omits it keeps the previous value.
    pub use_previous_value: bool,
    /// What its values must satisfy.
    pub constraints: Constraints,
    /// Whether a resource, an output or the metadata uses it. One that nothing uses is never
    /// required.
    pub used: bool,
}

/// A declared resource, less its properties: those stay in the document.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) type_name: TypeName,
    pub(crate) deletion_policy: DeletionPolicy,
    /// The target that it names, and where.
    pub(crate) target: Option<(Label, Path)>,
    /// Explicit dependencies on resources that exist, and where each is declared.
    pub(crate) depends_on: Vec<(Label, Path)>,
    /// Resources that its properties refer to, and where.
    pub(crate) refers_to: Vec<(Label, Path)>,
    /// Whether a parameter stands in its properties: what it comes to is known only when values
    /// are there.
    pub(crate) parametrised: bool,
}

impl Template {
    /// The declared parameters, in the order of their declaration.
    pub fn parameters(&self) -> &IndexMap<Arc<str>, Parameter> {
        &self.parameters
    }

    /// The template verbatim.
    pub fn raw(&self) -> &Json {
        &self.document.value
    }

    /// Where everything stands.
    pub fn source(&self) -> &Arc<SourceMap> {
        &self.document.source
    }

    /// The declared resources with their types, in the order of their declaration.
    pub fn resources(&self) -> impl ExactSizeIterator<Item = (&Label, &TypeName)> {
        self.resources.iter().map(|(label, declaration)| (label, &declaration.type_name))
    }

    /// The dependency graph, in the order of declaration (seed 4, "Topological Ordering"): explicit
    /// `depends_on`, refs, logical ids in subs, and targets. All edges lead to resources that exist; those
    /// that lead to themselves or around in a circle are the planner's to report.
    pub fn graph(&self) -> Vec<GraphNode> {
        let resources = resources_path();
        self.resources
            .iter()
            .map(|(label, declaration)| {
                let edges = [&declaration.depends_on, &declaration.refers_to].into_iter().flatten();
                let edges = edges.chain(&declaration.target).cloned().collect();
                (label.clone(), resources.key(label.as_str()), edges)
            })
            .collect()
    }

    /// The template as it may be read by those who may read the formation: each top-level property
    /// that its type marks write-only is `{"no_echo": true}` (seed 4, "Secrets in Templates"), and so
    /// is a literal that stands where its type says credentials stand. Expressions stay readable.
    pub fn credentials_masked(&self, catalog: &dyn Catalog) -> Json {
        let mut masked = self.document.value.clone();
        for (label, declaration) in &self.resources {
            let Some(rules) = catalog.get(&declaration.type_name) else { continue };
            let path = resources_path().key(label.as_str()).key("properties");
            let Some(Json::Object(properties)) = path.get_mut(&mut masked) else { continue };
            for (name, property) in &rules.schema().properties {
                if property.hint.write_only
                    && let Some(value) = properties.get_mut(&**name)
                {
                    *value = mask();
                }
            }
            let mut bag = Json::Object(std::mem::take(properties));
            for place in rules.sensitive(&Expr::Plain(bag.clone())) {
                if let Some(value) = place.get_mut(&mut bag).filter(|value| !names_something(value)) {
                    *value = mask();
                }
            }
            if let (Some(properties), Json::Object(bag)) = (path.get_mut(&mut masked), bag) {
                *properties = Json::Object(bag);
            }
        }
        masked
    }
}

/// Whether a value is an expression that stands for something else, rather than for its own text.
pub(crate) fn names_something(value: &Json) -> bool {
    match Form::of(value) {
        Form::Ref(_) | Form::Param(_) | Form::RefAttr(_) => true,
        Form::Sub(text) => text.contains("${"),
        Form::Data | Form::Plain | Form::Literal(_) => false,
    }
}

/// `resources`
pub(crate) fn resources_path() -> Path {
    Path::of(["resources"])
}

/// `parameters.<name>`
pub(crate) fn parameter_path(name: &str) -> Path {
    Path::of(["parameters", name])
}
