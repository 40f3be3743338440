//! What the names in expressions stand for while a template is checked: parameters have no value
//! yet, and a name that stands for nothing is an error.

use super::properties::Types;
use super::{Checker, Labels};
use crate::report::Report;
use crate::template::Parameter;
use crate::walk::{Meaning, Names, Spot, Value, output_ref};
use formwork_model::{Diagnostic, DiagnosticCode, Label, Path, Ref, Span, Suggest, TypeName};
use indexmap::IndexMap;
use std::sync::Arc;

/// The names that one part of the template can use, and what was met in it.
pub(super) struct CheckNames<'n, 's> {
    labels: &'n Labels,
    parameters: &'n IndexMap<Arc<str>, Parameter>,
    used: &'n mut [bool],
    report: &'n mut Report<'s>,
    suggest: &'n mut Suggest,
    types: &'n mut Types<'s>,
    /// Whether a `ref_attr` may stand here: in the properties of what a plugin makes.
    pub(super) takes_attributes: bool,
    /// The path that messages give, whatever the depth (`formations-behaviour.md` §2.5).
    site: Path,
    /// Resources that were referred to, and where.
    pub(super) edges: Vec<(Label, Path)>,
    /// Whether a parameter was used.
    pub(super) parametrised: bool,
}

impl<'s> Checker<'s> {
    pub(super) fn names<'n>(&'n mut self, labels: &'n Labels, site: Path) -> CheckNames<'n, 's> {
        CheckNames {
            labels,
            parameters: &self.parameters,
            used: &mut self.used,
            report: &mut self.report,
            suggest: &mut self.suggest,
            types: &mut self.types,
            takes_attributes: false,
            site,
            edges: Vec::new(),
            parametrised: false,
        }
    }
}

impl CheckNames<'_, '_> {
    fn uses_parameter(&mut self, name: &str) -> bool {
        let Some(index) = self.parameters.get_index_of(name) else { return false };
        if let Some(used) = self.used.get_mut(index) {
            *used = true;
        }
        self.parametrised = true;
        true
    }

    fn edge(&mut self, name: &str, spot: &Spot<'_>) -> Label {
        let label = Label::from(name);
        self.edges.push((label.clone(), spot.path()));
        label
    }

    fn unknown(&mut self, span: Span, message: String, hint: Option<String>) {
        let mut diagnostic = Diagnostic::error(DiagnosticCode::UnknownReference, self.site.clone(), message);
        diagnostic.hint = hint;
        self.report.push(span, diagnostic);
    }

    fn misplaced(&mut self, spot: &Spot<'_>) {
        let message = "`ref_attr` can only be the whole value of an output";
        let diagnostic = Diagnostic::error(DiagnosticCode::MisplacedExpression, spot.path(), message)
            .note("for data of this form, write { \"literal\": { \"ref_attr\": … } }");
        self.report.push(spot.span(), diagnostic);
    }

    /// The span of `${name}` within the text of a `sub`, where the text shows it as it is.
    fn token_span(&self, name: &str, spot: &Spot<'_>) -> Span {
        let whole = spot.text_span();
        let text = self.report.source().files.get(usize::from(whole.file)).map(|file| &*file.text);
        let token = format!("${{{name}}}");
        let offset = text
            .and_then(|text| text.get(whole.start as usize..whole.end as usize))
            .and_then(|text| text.find(&token))
            .and_then(|offset| u32::try_from(offset).ok());
        match (offset, u32::try_from(token.len())) {
            (Some(offset), Ok(length)) => {
                let start = whole.start + offset;
                Span { start, end: start + length, ..whole }
            }
            _ => whole,
        }
    }
}

impl Names for CheckNames<'_, '_> {
    fn parameter(&mut self, name: &str, spot: &Spot<'_>) -> Value {
        if self.uses_parameter(name) {
            return Value::Unresolved;
        }
        let span = spot.text_span();
        if self.labels.contains_key(name) {
            let message = format!("'{name}' is a resource, not a parameter");
            self.unknown(span, message, Some(format!("write {{ \"ref\": \"{name}\" }}")));
        } else {
            let hint = self.suggest.hint(name, self.parameters.keys().map(|name| &**name));
            let message = format!("'{name}' is neither a parameter nor a resource logical id");
            self.unknown(span, message, hint);
        }
        Value::Unresolved
    }

    fn resource(&mut self, name: &str, spot: &Spot<'_>) -> Option<Label> {
        if self.labels.contains_key(name) {
            return Some(self.edge(name, spot));
        }
        let hint = if self.parameters.contains_key(name) {
            Some(format!("`{name}` is a parameter: write {{ \"param\": \"{name}\" }}"))
        } else {
            self.suggest.hint(name, self.labels.keys().map(String::as_str))
        };
        let message = format!("Referenced resource '{name}' does not exist in template");
        self.unknown(spot.text_span(), message, hint);
        None
    }

    fn meaning(&mut self, name: &str, spot: &Spot<'_>) -> Meaning {
        let is_resource = self.labels.contains_key(name);
        if self.uses_parameter(name) {
            if is_resource {
                let message =
                    format!("'{name}' is both a parameter and a resource; here it is the parameter");
                let code = DiagnosticCode::AmbiguousName;
                let warning = Diagnostic::warning(code, self.site.clone(), message);
                self.report.push(self.token_span(name, spot), warning);
            }
            return Meaning::Parameter(Value::Unresolved);
        }
        if is_resource {
            return Meaning::Resource(self.edge(name, spot));
        }
        let known = self.parameters.keys().map(|name| &**name);
        let hint = match name.trim() {
            trimmed
                if trimmed != name
                    && (self.parameters.contains_key(trimmed) || self.labels.contains_key(trimmed)) =>
            {
                Some(format!("write `${{{trimmed}}}`, without spaces"))
            }
            _ => self
                .suggest
                .hint(name, known.chain(self.labels.keys().map(String::as_str)))
                .or_else(|| Some(format!("for the text itself, write `$${{{name}}}`"))),
        };
        let span = self.token_span(name, spot);
        self.unknown(span, format!("'{name}' is neither a parameter nor a resource logical id"), hint);
        Meaning::Nothing
    }

    fn stray(&mut self, spot: &Spot<'_>) {
        let message = "This `${` begins no name: it has no closing `}`, or nothing before it, and stays text";
        let code = DiagnosticCode::InvalidExpression;
        let warning = Diagnostic::warning(code, self.site.clone(), message);
        self.report.push(spot.text_span(), warning.hint("write `${Name}`; for the text itself, write `$${`"));
    }

    /// An attribute of what a plugin makes, in the properties of what a plugin makes. Beyond these, seed 4 has it in
    /// outputs alone.
    fn attribute(&mut self, text: &str, spot: &Spot<'_>) -> Option<Ref> {
        if !self.takes_attributes {
            self.misplaced(spot);
            return None;
        }
        let parts =
            text.split_once('.').filter(|(name, attribute)| !name.is_empty() && !attribute.is_empty());
        let Some((name, attribute)) = parts else {
            let message = format!("ref_attr '{text}' must be in the form '<ResourceName>.<attribute>'");
            let diagnostic = Diagnostic::error(DiagnosticCode::InvalidExpression, spot.path(), message);
            self.report.push(spot.text_span(), diagnostic);
            return None;
        };
        let label = self.resource(name, spot)?;
        let type_name = self.labels.get(name)?.get("type")?.as_str()?;
        // What is wrong with the type is told where it stands.
        let info = self.types.get(&TypeName::from(type_name))?;
        if info.rules.target_namespace().is_none() {
            self.misplaced(spot);
            return None;
        }
        if !info.attributes().any(|known| known == attribute) {
            let hint = self.suggest.hint(attribute, info.attributes());
            let message = format!("Resource '{name}' ({}) has no output '{attribute}'", info.rules.title());
            self.unknown(spot.text_span(), message, hint);
            return None;
        }
        Some(output_ref(label, attribute, info.visibility_of(attribute)))
    }
}
