//! The `resources` section (seed 4, "Resource Declaration").

use super::{Checker, Labels, check_properties};
use crate::check::properties::{Declared, TypeInfo};
use crate::item::Item;
use crate::template::Declaration;
use crate::walk::Walk;
use formwork_model::{
    CheckContext, DeletionPolicy, Diagnostic, DiagnosticCode, Expr, ExprLeaf, Json, Label, NativeId, Path,
    Segment, TypeName,
};
use indexmap::IndexMap;
use std::sync::Arc;

/// What may become of an object that is no longer declared; the last is beyond seed 4.
pub(crate) const DELETION_POLICIES: [&str; 3] = ["delete", "retain", "protect"];
const RESOURCE_KEYS: [&str; 7] =
    ["type", "target", "properties", "depends_on", "deletion_policy", "metadata", "import"];

/// The longest id that can be imported, in bytes.
pub(crate) const LONGEST_ID: usize = 1024;

/// The id that an `import` comes to, once parameters have values; what is wrong with any other.
pub(crate) fn import_id(value: &Expr) -> Result<NativeId, &'static str> {
    match value {
        Expr::Plain(Json::String(id)) if id.is_empty() => Err("`import` must not be empty"),
        Expr::Plain(Json::String(id)) if id.len() > LONGEST_ID => Err("`import` is longer than 1024 bytes"),
        Expr::Plain(Json::String(id)) => Ok(id.as_str().into()),
        Expr::Leaf(ExprLeaf::Secret(_)) => Err("`import` is not secret: take `no_echo` off the parameter"),
        Expr::Leaf(ExprLeaf::KeepPrevious) => Err("`import` has no value: give the parameter that it names"),
        _ => Err("`import` must be a string: the id of what exists already"),
    }
}

impl Checker<'_> {
    pub(super) fn resources(&mut self, section: Item<'_>, labels: &Labels) -> IndexMap<Label, Declaration> {
        let mut declared = IndexMap::with_capacity(labels.len());
        let base = Path::of(["resources"]);
        for (name, item) in section.members().into_iter().flatten() {
            let mut path = base.clone();
            path.push(Segment::Key(name.to_arc()));
            self.chosen_name("a resource", &name, item, &path);
            if let Some(declaration) = self.resource(item, path, labels) {
                declared.insert(Label::new(name.to_arc()), declaration);
            }
        }
        declared
    }

    fn resource(&mut self, item: Item<'_>, path: Path, labels: &Labels) -> Option<Declaration> {
        if !item.value.is_object() {
            let message = "Resource declaration must be an object";
            self.error(item.span(), DiagnosticCode::WrongType, path, message);
            return None;
        }
        let [type_name, target, properties, depends_on, deletion_policy, _, import] =
            self.sections("resource", item, &path, &RESOURCE_KEYS);
        let info = self.resource_type(item, type_name, &path);
        let (refers_to, parametrised) = if let Some(properties) = properties {
            self.properties(properties, &path, labels, info.as_deref())
        } else {
            let message = "`properties` is required and must be an object";
            let path = path.key("properties");
            self.error(item.key_span(), DiagnosticCode::MissingProperty, path, message);
            (Vec::new(), false)
        };
        let depends_on = self.depends_on(depends_on, &path, labels);
        let deletion_policy = self.deletion_policy(deletion_policy, &path);
        if let Some(import) = import {
            self.import(import, &path, labels);
        }
        let target = self.target(item, target, &path, labels, info.as_deref());
        let type_name = info?.schema.type_name.clone();
        Some(Declaration { type_name, deletion_policy, target, depends_on, refers_to, parametrised })
    }

    fn resource_type(
        &mut self,
        item: Item<'_>,
        declared: Option<Item<'_>>,
        path: &Path,
    ) -> Option<Arc<TypeInfo>> {
        let Some(Json::String(name)) = declared.map(|declared| declared.value) else {
            let span = declared.map_or(item.key_span(), Item::span);
            let message = "`type` is required and must be a string";
            self.error(span, DiagnosticCode::WrongType, path.key("type"), message);
            return None;
        };
        if let Some(info) = self.types.get(&TypeName::from(name.as_str())) {
            let Some(why) = info.rules.unavailable() else { return Some(info) };
            let message = format!("`{name}` cannot be used now: {why}");
            let span = declared.map(Item::span).unwrap_or_default();
            self.error(span, DiagnosticCode::TypeUnavailable, path.key("type"), message);
            return None;
        }
        let names = self.types.names();
        let list = names.iter().map(TypeName::as_str).collect::<Vec<_>>().join(", ");
        let message = format!("Unsupported resource type: {name}. Supported: {list}");
        let mut diagnostic = Diagnostic::error(DiagnosticCode::UnknownType, path.key("type"), message)
            .note(format!("supported: {list}"));
        diagnostic.hint = self.suggest.hint(name, names.iter().map(TypeName::as_str));
        self.report.push(declared.map(Item::span).unwrap_or_default(), diagnostic);
        None
    }

    /// Checks the properties; returns what they refer to, and whether a parameter stands in them.
    fn properties(
        &mut self,
        declared: Item<'_>,
        path: &Path,
        labels: &Labels,
        info: Option<&TypeInfo>,
    ) -> (Vec<(Label, Path)>, bool) {
        let path = path.key("properties");
        if !declared.value.is_object() {
            let message = "`properties` is required and must be an object";
            self.error(declared.span(), DiagnosticCode::WrongType, path.clone(), message);
            if let Some(info) = info {
                let message = format!("{} `properties` must be an object", info.sentence_title());
                self.error(declared.span(), DiagnosticCode::WrongType, path, message);
            }
            return (Vec::new(), false);
        }
        let mut names = self.names(labels, path.clone());
        names.takes_attributes = info.is_some_and(|info| info.rules.target_namespace().is_some());
        let value = Walk::new(&mut names, &path).bag(declared);
        let (edges, parametrised) = (names.edges, names.parametrised);
        if let Some(info) = info {
            let declared = Declared { properties: &value, path: &path, node: declared.node };
            check_properties(info, &declared, &mut self.report, &mut self.suggest);
            info.rules.check(&value, &mut CheckContext { base: path, found: self.report.found_mut() });
        }
        (edges, parametrised)
    }

    fn depends_on(&mut self, declared: Option<Item<'_>>, path: &Path, labels: &Labels) -> Vec<(Label, Path)> {
        let Some(declared) = declared else { return Vec::new() };
        let path = path.key("depends_on");
        let Some(entries) = declared.value.as_array() else {
            let message = "`depends_on` must be an array";
            self.error(declared.span(), DiagnosticCode::WrongType, path, message);
            return Vec::new();
        };
        let mut edges = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let entry = declared.element(index, entry);
            match entry.value.as_str() {
                Some(name) if labels.contains_key(name) => edges.push((Label::from(name), path.index(index))),
                Some(name) => {
                    let message = format!("depends_on references unknown resource '{name}'");
                    let mut diagnostic =
                        Diagnostic::error(DiagnosticCode::UnknownReference, path.clone(), message);
                    diagnostic.hint = self.suggest.hint(name, labels.keys().map(String::as_str));
                    self.report.push(entry.span(), diagnostic);
                }
                None => {
                    let message = "Each depends_on entry must be a string";
                    self.error(entry.span(), DiagnosticCode::WrongType, path.clone(), message);
                }
            }
        }
        edges
    }

    /// An id, or an expression over parameters: what another resource of the template is to make does
    /// not exist yet.
    fn import(&mut self, declared: Item<'_>, path: &Path, labels: &Labels) {
        let path = path.key("import");
        let mut names = self.names(labels, path.clone());
        let value = Walk::new(&mut names, &path).value(declared);
        let refers = !names.edges.is_empty();
        let message = match value {
            Expr::Leaf(_) if refers => "`import` takes an id or a parameter, not another resource",
            Expr::Leaf(_) => return,
            value => match import_id(&value) {
                Ok(_) => return,
                Err(message) => message,
            },
        };
        self.error(declared.span(), DiagnosticCode::InvalidValue, path, message);
    }

    fn deletion_policy(&mut self, declared: Option<Item<'_>>, path: &Path) -> DeletionPolicy {
        let Some(declared) = declared else { return DeletionPolicy::Delete };
        match declared.value.as_str() {
            Some("delete") => DeletionPolicy::Delete,
            Some("retain") => DeletionPolicy::Retain,
            Some("protect") => DeletionPolicy::Protect,
            other => {
                let message = format!("`deletion_policy` must be one of: {}", DELETION_POLICIES.join(", "));
                let code = DiagnosticCode::InvalidValue;
                let mut diagnostic = Diagnostic::error(code, path.key("deletion_policy"), message);
                diagnostic.hint = other.and_then(|other| self.suggest.hint(other, DELETION_POLICIES));
                self.report.push(declared.span(), diagnostic);
                DeletionPolicy::Delete
            }
        }
    }
}
