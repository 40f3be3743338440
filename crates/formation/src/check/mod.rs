//! The static checks of a template: the table of `formations-behaviour.md` §2.5, all errors at
//! once, each with its path and its place.

mod names;
mod outputs;
mod parameters;
mod properties;
mod resources;

pub(crate) use properties::{Declared, Types, check_properties};

use crate::report::Report;
use crate::suggest::Suggest;
use crate::template::{Declaration, Parameter};
use crate::walk::member_node;
use crate::{Document, Template};
use formwork_model::{Catalog, Diagnostic, DiagnosticCode, Diagnostics, Json, Label, Path, SourceNode, Span};
use indexmap::IndexMap;
use serde_json::Map;
use std::sync::Arc;

/// The keys of a template (seed 4, "Formation Template").
const TEMPLATE_KEYS: [&str; 4] = ["parameters", "resources", "outputs", "metadata"];

/// What a check came to.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The template; `None` if there was an error.
    pub template: Option<Template>,
    /// Errors and warnings, all at once.
    pub found: Diagnostics,
}

/// Checks the shape of a template against the types that exist.
///
/// Cycles and self-references are left to the planner, which sees them in [`Template::graph`].
pub fn check(document: Document, catalog: &dyn Catalog) -> Checked {
    let source = document.source.clone();
    let mut checker = Checker {
        report: Report::new(&source),
        suggest: Suggest::default(),
        types: Types::new(catalog),
        parameters: IndexMap::new(),
        used: Vec::new(),
    };
    let resources = checker.template(&document.value, &source.root);
    let parameters = checker.parameters;
    let found = checker.report.finish();
    let template = resources.filter(|_| !found.has_errors()).map(|resources| Template {
        document,
        parameters,
        resources,
    });
    Checked { template, found }
}

struct Checker<'c> {
    report: Report<'c>,
    suggest: Suggest,
    types: Types<'c>,
    parameters: IndexMap<Arc<str>, Parameter>,
    /// Which of the parameters are used, by their index.
    used: Vec<bool>,
}

/// A value of the template, where it is in the value and where in the text.
#[derive(Clone, Copy)]
struct Item<'a> {
    value: &'a Json,
    node: Option<&'a SourceNode>,
}

impl<'a> Item<'a> {
    /// The members of an object with their places.
    fn members(self) -> Option<impl Iterator<Item = (Arc<str>, Item<'a>)>> {
        let Item { value, node } = self;
        Some(value.as_object()?.iter().enumerate().map(move |(index, (key, value))| {
            let (key, node) = member_node(node, index, key);
            (key, Item { value, node })
        }))
    }

    fn get(self, key: &str) -> Option<Item<'a>> {
        let members = self.value.as_object()?;
        let value = members.get(key)?;
        Some(Item { value, node: member_node(self.node, usize::MAX, key).1 })
    }

    fn span(self) -> Span {
        self.node.map(|node| node.span).unwrap_or_default()
    }

    fn key_span(self) -> Span {
        self.node.map(|node| node.key.unwrap_or(node.span)).unwrap_or_default()
    }
}

impl Checker<'_> {
    fn template(&mut self, value: &Json, node: &SourceNode) -> Option<IndexMap<Label, Declaration>> {
        let root = Item { value, node: Some(node) };
        if !value.is_object() {
            let error = DiagnosticCode::InvalidTemplate;
            self.error(root.span(), error, Path::root(), "Template must be an object");
            return None;
        }
        self.unknown_keys("template", root, &Path::root(), &TEMPLATE_KEYS);
        self.declare_parameters(root);
        let resources = root.get("resources");
        let Some(Json::Object(labels)) = resources.map(|resources| resources.value) else {
            let span = resources.map_or(Span { end: root.span().start, ..root.span() }, Item::span);
            let path = Path::of(["resources"]);
            self.error(span, DiagnosticCode::InvalidTemplate, path, "`resources` must be an object");
            return None;
        };
        let declared = resources.map(|resources| self.resources(resources, labels)).unwrap_or_default();
        self.outputs(root, labels);
        self.metadata(root, labels);
        self.settle_parameters(root);
        Some(declared)
    }

    fn error(&mut self, span: Span, code: DiagnosticCode, path: Path, message: impl Into<String>) {
        self.report.push(span, Diagnostic::error(code, path, message));
    }

    /// Reports the keys of an object that are not allowed there.
    fn unknown_keys(&mut self, what: &str, item: Item<'_>, path: &Path, allowed: &[&str]) {
        for (key, member) in item.members().into_iter().flatten() {
            if allowed.contains(&&*key) {
                continue;
            }
            let list = allowed.join(", ");
            let message = format!("Unknown {what} key '{key}'. Allowed: {list}");
            let mut diagnostic =
                Diagnostic::error(DiagnosticCode::UnknownKey, path.key(key.clone()), message)
                    .note(format!("allowed: {list}"));
            diagnostic.hint = self.suggest.hint(&key, allowed.iter().copied());
            self.report.push(member.key_span(), diagnostic);
        }
    }
}

/// The labels of all resources, right or wrong: a reference to a broken one is no second error.
type Labels = Map<String, Json>;
