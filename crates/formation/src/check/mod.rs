//! The static checks of a template: the table of `formations-behaviour.md` §2.5, all errors at
//! once, each with its path and its place.

mod constraints;
mod names;
mod outputs;
mod parameters;
mod properties;
mod resources;
mod targets;

pub(crate) use properties::{Declared, TypeInfo, Types, check_properties, is_required};
pub(crate) use resources::{DELETION_POLICIES, LONGEST_ID, import_id};

use crate::item::{Item, Name};
use crate::report::Report;
use crate::template::{Declaration, Parameter};
use crate::{Document, Template};
use formwork_model::{
    Catalog, Diagnostic, DiagnosticCode, Diagnostics, Json, Label, Path, SourceNode, Span, Suggest,
    name_problem,
};
use indexmap::IndexMap;
use serde_json::Map;
use std::sync::Arc;

/// The keys of a template (seed 4, "Formation Template").
const TEMPLATE_KEYS: [&str; 4] = ["parameters", "resources", "outputs", "metadata"];

/// The most characters of a name that the author of a template chooses.
pub(crate) const LONGEST_NAME: usize = 255;

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
        patterns: 0,
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
    /// How many patterns were met.
    patterns: usize,
}

impl Checker<'_> {
    fn template(&mut self, value: &Json, node: &SourceNode) -> Option<IndexMap<Label, Declaration>> {
        let root = Item { value, node: Some(node) };
        if !value.is_object() {
            let error = DiagnosticCode::InvalidTemplate;
            self.error(root.span(), error, Path::root(), "Template must be an object");
            return None;
        }
        let [parameters, resources, outputs, metadata] =
            self.sections("template", root, &Path::root(), &TEMPLATE_KEYS);
        if let Some(parameters) = parameters {
            self.declare_parameters(parameters);
        }
        let labels = resources.and_then(|resources| resources.value.as_object());
        let (Some(resources), Some(labels)) = (resources, labels) else {
            let span = resources.map_or(Span { end: root.span().start, ..root.span() }, Item::span);
            let path = Path::of(["resources"]);
            self.error(span, DiagnosticCode::InvalidTemplate, path, "`resources` must be an object");
            return None;
        };
        let declared = self.resources(resources, labels);
        if let Some(outputs) = outputs {
            self.outputs(outputs, labels);
        }
        if let Some(metadata) = metadata {
            self.metadata(metadata, labels);
        }
        if let Some(parameters) = parameters {
            self.settle_parameters(parameters);
        }
        Some(declared)
    }

    fn error(&mut self, span: Span, code: DiagnosticCode, path: Path, message: impl Into<String>) {
        self.report.push(span, Diagnostic::error(code, path, message));
    }

    /// The members of an object by the keys that it may have; any other key is reported.
    fn sections<'a, const N: usize>(
        &mut self,
        what: &str,
        item: Item<'a>,
        path: &Path,
        keys: &[&str; N],
    ) -> [Option<Item<'a>>; N] {
        let mut sections = [None; N];
        for (name, member) in item.members().into_iter().flatten() {
            match keys.iter().position(|key| *key == name.as_str()) {
                Some(index) => sections[index] = Some(member),
                None => self.unknown_key(what, name, member, path, keys),
            }
        }
        sections
    }

    /// Checks a name that the author chose: of a parameter, a resource or an output. Any case and
    /// any script will do (seed 4, "Key Naming and Case").
    fn chosen_name(&mut self, what: &str, name: &Name<'_>, member: Item<'_>, path: &Path) {
        let text = name.as_str();
        let message = if text.trim().is_empty() {
            format!("The name of {what} must not be empty")
        } else if let Some(problem) = name_problem(text) {
            format!("The name of {what} {problem}")
        } else if text.chars().count() > LONGEST_NAME {
            format!("The name of {what} can have {LONGEST_NAME} characters at most")
        } else {
            return;
        };
        self.error(member.key_span(), DiagnosticCode::InvalidValue, path.clone(), message);
    }

    fn unknown_key(&mut self, what: &str, name: Name<'_>, member: Item<'_>, path: &Path, keys: &[&str]) {
        let (name, list) = (name.to_arc(), keys.join(", "));
        let message = format!("Unknown {what} key '{name}'. Allowed: {list}");
        let path = path.key(name.clone());
        let mut diagnostic =
            Diagnostic::error(DiagnosticCode::UnknownKey, path, message).note(format!("allowed: {list}"));
        diagnostic.hint = self.suggest.hint(&name, keys.iter().copied());
        self.report.push(member.key_span(), diagnostic);
    }
}

/// The labels of all resources, right or wrong: a reference to a broken one is no second error.
type Labels = Map<String, Json>;
