//! The `outputs` and `metadata` sections (seed 4, "Formation Template", "Metadata Substitution").

use super::{Checker, Labels};
use crate::expression::Form;
use crate::item::Item;
use crate::walk::Walk;
use formwork_model::{Diagnostic, DiagnosticCode, Json, Path, Replacement, Segment, Span, TypeName};

impl Checker<'_> {
    pub(super) fn outputs(&mut self, section: Item<'_>, labels: &Labels) {
        let path = Path::of(["outputs"]);
        let Some(members) = section.members() else {
            return self.error(
                section.span(),
                DiagnosticCode::WrongType,
                path,
                "`outputs` must be an object",
            );
        };
        for (name, item) in members {
            let mut path = path.clone();
            path.push(Segment::Key(name.to_arc()));
            self.chosen_name("an output", &name, item, &path);
            if let Form::RefAttr(text) = Form::of(item.value) {
                let span = item.get("ref_attr").map_or(item.span(), Item::span);
                self.ref_attr(text, span, path, labels);
            } else {
                Walk::new(&mut self.names(labels, path.clone()), &path).value(item);
            }
        }
    }

    pub(super) fn metadata(&mut self, section: Item<'_>, labels: &Labels) {
        let path = Path::of(["metadata"]);
        if !section.value.is_object() {
            return self.error(
                section.span(),
                DiagnosticCode::WrongType,
                path,
                "`metadata` must be an object",
            );
        }
        Walk::new(&mut self.names(labels, path.clone()), &path).bag(section);
    }

    /// Checks `Logical.attribute`, split at the first dot.
    fn ref_attr(&mut self, text: &str, span: Span, path: Path, labels: &Labels) {
        let parts =
            text.split_once('.').filter(|(name, attribute)| !name.is_empty() && !attribute.is_empty());
        let Some((name, attribute)) = parts else {
            let message = format!("ref_attr '{text}' must be in the form '<ResourceName>.<attribute>'");
            return self.error(span, DiagnosticCode::InvalidExpression, path, message);
        };
        let Some(declaration) = labels.get(name) else {
            let message = format!("Referenced resource '{name}' does not exist in template");
            let mut diagnostic = Diagnostic::error(DiagnosticCode::UnknownReference, path, message);
            diagnostic.hint = self.suggest.hint(name, labels.keys().map(String::as_str));
            return self.report.push(span, diagnostic);
        };
        if let Some(diagnostic) = self.attribute_problem(name, declaration, attribute, path) {
            self.report.push(span, diagnostic);
        }
    }

    /// What is wrong with naming an attribute of a resource. The type itself is checked elsewhere.
    fn attribute_problem(
        &mut self,
        name: &str,
        declaration: &Json,
        attribute: &str,
        path: Path,
    ) -> Option<Diagnostic> {
        let type_name = TypeName::from(declaration.get("type")?.as_str()?);
        let info = self.types.get(&type_name)?;
        let capabilities = info.rules.capabilities();
        let is = |known: &std::sync::Arc<str>| **known == *attribute;
        let write_only = info.schema.property(attribute).is_some_and(|property| property.hint.write_only);
        if write_only || capabilities.credential_outputs.iter().any(is) {
            let message = format!(
                "Attribute '{attribute}' of resource '{name}' is a credential and cannot be a formation output \
                 — everyone who can read the formation could read it; read it from its own route, which has its \
                 own permission"
            );
            return Some(Diagnostic::error(DiagnosticCode::ExposedCredential, path, message));
        }
        let outputs = &capabilities.outputs;
        // A handler's type names no outputs beforehand: its answers do (seed 4, "What each optional
        // capability buys").
        let answers_decide = outputs.is_empty()
            && capabilities.credential_outputs.is_empty()
            && capabilities.replacement == Replacement::Discovered;
        if answers_decide || outputs.iter().any(is) {
            return None;
        }
        let title = info.rules.title();
        let message = format!("Resource '{name}' ({title}) has no output '{attribute}'");
        let mut diagnostic = Diagnostic::error(DiagnosticCode::UnknownReference, path, message);
        diagnostic.hint = self.suggest.hint(attribute, outputs.iter().map(|output| &**output));
        let list = outputs.join(", ");
        Some(diagnostic.note(if list.is_empty() {
            format!("{title} has no outputs; {{ \"ref\": \"{name}\" }} is its id")
        } else {
            format!("outputs: {list}")
        }))
    }
}
