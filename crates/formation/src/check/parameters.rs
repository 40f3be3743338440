//! The `parameters` section (seed 4, "Parameter Declaration Fields").

use super::Checker;
use super::constraints::Section;
use crate::item::Item;
use crate::template::{Parameter, parameter_path};
use formwork_model::{Diagnostic, DiagnosticCode, Json, Path};
use std::sync::Arc;

const PARAMETER_KEYS: [&str; 9] = [
    "type",
    "default",
    "description",
    "no_echo",
    "use_previous_value",
    "allowed_values",
    "pattern",
    "min_length",
    "max_length",
];

impl Checker<'_> {
    /// Reads the declarations. A broken one counts as declared, so that its uses are no second
    /// error.
    pub(super) fn declare_parameters(&mut self, section: Item<'_>) {
        let Some(members) = section.members() else {
            let path = Path::of(["parameters"]);
            let code = DiagnosticCode::WrongType;
            return self.error(section.span(), code, path, "`parameters` must be an object");
        };
        for (name, item) in members {
            self.chosen_name("a parameter", &name, item, &parameter_path(name.as_str()));
            let name = name.to_arc();
            let parameter = self.parameter(&name, item);
            if parameter.default.is_none() && item.value.get("default").is_none() {
                let message =
                    format!("Parameter '{name}' has no default value and must be provided at deploy time");
                let code = DiagnosticCode::ParameterWithoutDefault;
                let warning = Diagnostic::warning(code, parameter_path(&name), message);
                self.report.push(item.key_span(), warning);
            }
            self.parameters.insert(name, parameter);
        }
        self.used = vec![false; self.parameters.len()];
    }

    fn parameter(&mut self, name: &str, item: Item<'_>) -> Parameter {
        let path = parameter_path(name);
        if !item.value.is_object() {
            let message = "Parameter declaration must be an object";
            self.error(item.span(), DiagnosticCode::WrongType, path, message);
            return Parameter::default();
        }
        let [
            declared_type,
            default,
            description,
            no_echo,
            use_previous_value,
            allowed_values,
            pattern,
            min_length,
            max_length,
        ] = self.sections("parameter", item, &path, &PARAMETER_KEYS);
        self.parameter_type(declared_type, &path);
        let section = Section { allowed_values, pattern, min_length, max_length };
        let parameter = Parameter {
            default: self.text(default, &path, "default"),
            description: self.text(description, &path, "description"),
            no_echo: self.flag(no_echo, &path, "no_echo"),
            use_previous_value: self.flag(use_previous_value, &path, "use_previous_value"),
            constraints: self.constraints(&section, &path),
            used: false,
        };
        if let Some(default) = default {
            self.default_fits(name, default, &parameter.constraints, parameter.no_echo, &path);
        }
        parameter
    }

    fn parameter_type(&mut self, declared: Option<Item<'_>>, path: &Path) {
        let Some(declared) = declared else { return };
        let (code, message) = match declared.value {
            Json::String(text) if text == "string" => return,
            Json::String(text) => {
                let message = format!("Parameters have the type 'string'; there is no type '{text}'");
                (DiagnosticCode::InvalidValue, message)
            }
            _ => (DiagnosticCode::WrongType, "`type` must be a string".to_owned()),
        };
        let diagnostic = Diagnostic::error(code, path.key("type"), message);
        self.report.push(declared.span(), diagnostic.hint("write `string`, or leave it out"));
    }

    pub(super) fn text(
        &mut self,
        declared: Option<Item<'_>>,
        path: &Path,
        key: &'static str,
    ) -> Option<Arc<str>> {
        let declared = declared?;
        if let Json::String(text) = declared.value {
            return Some(text.as_str().into());
        }
        let diagnostic =
            Diagnostic::error(DiagnosticCode::WrongType, path.key(key), format!("`{key}` must be a string"));
        let diagnostic = match declared.value {
            Json::Number(_) | Json::Bool(_) => diagnostic.hint("quote it"),
            _ => diagnostic,
        };
        self.report.push(declared.span(), diagnostic);
        None
    }

    fn flag(&mut self, declared: Option<Item<'_>>, path: &Path, key: &'static str) -> bool {
        let Some(declared) = declared else { return false };
        declared.value.as_bool().unwrap_or_else(|| {
            let message = format!("`{key}` must be a boolean");
            self.error(declared.span(), DiagnosticCode::WrongType, path.key(key), message);
            false
        })
    }

    /// Notes which parameters are used, and warns of those that are not and of sensitive defaults.
    pub(super) fn settle_parameters(&mut self, section: Item<'_>) {
        for ((name, parameter), used) in self.parameters.iter_mut().zip(&self.used) {
            parameter.used = *used;
            let Some(item) = section.get(name) else { continue };
            if !used {
                let message = format!("Parameter '{name}' is declared but nothing uses it");
                let code = DiagnosticCode::UnusedParameter;
                let warning = Diagnostic::warning(code, parameter_path(name), message);
                self.report.push(item.key_span(), warning);
            }
            if parameter.no_echo
                && let Some(default) = item.get("default")
            {
                let message = format!(
                    "Parameter '{name}' is `no_echo`, but its default can be read by everyone who can read the \
                     template"
                );
                let path = parameter_path(name).key("default");
                let warning = Diagnostic::warning(DiagnosticCode::ExposedCredential, path, message);
                self.report.push(default.key_span(), warning);
            }
        }
    }
}
