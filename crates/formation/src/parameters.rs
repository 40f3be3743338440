//! Parameter values: which are required, which are refused, what each comes to, and what is
//! recorded (seed 4, "Providing Parameter Values" and "Reusing Previously Stored Values").

use crate::template::parameter_path;
use crate::walk::Value;
use crate::{Parameter, Template};
use formwork_model::{Diagnostic, DiagnosticCode, Json, Secret, Suggest};
use indexmap::IndexMap;
use std::fmt;
use std::sync::Arc;

/// The values that came with a request. They may be secret: `Debug` shows only their names.
#[derive(Clone, Default)]
pub struct Supplied {
    /// By parameter name; strings, anything else is refused.
    pub values: IndexMap<String, Json>,
    /// Whether the request updates a stack that exists.
    pub is_update: bool,
}

impl fmt::Debug for Supplied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.values.keys().collect();
        f.debug_struct("Supplied").field("names", &names).field("is_update", &self.is_update).finish()
    }
}

/// What a parameter comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source<'a> {
    /// This text.
    Text(&'a str),
    /// Whatever the previous deploy left.
    Previous,
    /// Nothing.
    Missing,
}

/// An empty text counts as a value only where a default says that the parameter is optional. A
/// default wins over the previous value.
fn source<'a>(name: &str, parameter: &'a Parameter, supplied: &'a Supplied) -> Source<'a> {
    let given = supplied.values.get(name).and_then(Json::as_str);
    match (given, &parameter.default) {
        (Some(given), Some(_)) => Source::Text(given),
        (Some(given), None) if !given.is_empty() => Source::Text(given),
        (None, Some(default)) => Source::Text(default),
        _ if supplied.is_update && parameter.use_previous_value => Source::Previous,
        _ => Source::Missing,
    }
}

/// The parameters that are used, are not declared optional, and have no value. An unused one is
/// never required; a previous value serves an update only.
pub fn missing_parameters(template: &Template, supplied: &Supplied) -> Vec<Diagnostic> {
    let required = template.parameters.iter().filter(|(name, parameter)| {
        let refused = supplied.values.get(&***name).is_some_and(|value| !value.is_string());
        parameter.used && !refused && source(name, parameter, supplied) == Source::Missing
    });
    required
        .map(|(name, _)| {
            let message = format!("Parameter '{name}' is required and cannot be empty");
            parameter_error(template, DiagnosticCode::MissingParameter, name, message)
        })
        .collect()
}

/// The supplied values that are no strings, since nothing is coerced, and those that violate a
/// constraint of their declaration. A default was checked with the template; what an update keeps is
/// not known here, and was checked when it was given. No message holds a value.
pub fn invalid_parameters(template: &Template, supplied: &Supplied) -> Vec<Diagnostic> {
    let mut suggest = Suggest::default();
    let mut found = Vec::new();
    for (name, value) in &supplied.values {
        if !value.is_string() {
            found.push(no_string(template, name, value));
        } else if let Some(parameter) = template.parameters.get(name.as_str())
            && let Source::Text(text) = source(name, parameter, supplied)
        {
            found.extend(violations(template, name, parameter, text, &mut suggest));
        }
    }
    found
}

fn no_string(template: &Template, name: &str, value: &Json) -> Diagnostic {
    let message = format!("Parameter '{name}' must be a string");
    let diagnostic = parameter_error(template, DiagnosticCode::WrongType, name, message);
    match value {
        Json::Bool(_) | Json::Number(_) => diagnostic.hint("quote the value"),
        _ => diagnostic,
    }
}

/// What a value violates, with the nearest allowed value where it may be told.
fn violations(
    template: &Template,
    name: &str,
    parameter: &Parameter,
    text: &str,
    suggest: &mut Suggest,
) -> Vec<Diagnostic> {
    let constraints = &parameter.constraints;
    let mut found: Vec<Diagnostic> = constraints
        .violations(text, parameter.no_echo)
        .into_iter()
        .map(|violation| {
            let message = format!("Parameter '{name}' {violation}");
            parameter_error(template, DiagnosticCode::InvalidValue, name, message)
        })
        .collect();
    let allowed = &constraints.allowed_values;
    if !parameter.no_echo
        && !allowed.iter().any(|allowed| **allowed == *text)
        && let Some(first) = found.first_mut()
    {
        first.hint = suggest.hint(text, allowed.iter().map(|allowed| &**allowed));
    }
    found
}

/// The supplied names that the template does not declare, as warnings: they are ignored, as the
/// seed has it, but most likely misspelt.
pub fn unknown_parameters(template: &Template, supplied: &Supplied) -> Vec<Diagnostic> {
    let mut suggest = Suggest::default();
    let unknown = supplied.values.keys().filter(|name| !template.parameters.contains_key(name.as_str()));
    unknown
        .map(|name| {
            let message = format!("The template declares no parameter '{name}'; its value is ignored");
            let mut warning =
                Diagnostic::warning(DiagnosticCode::UnknownParameter, parameter_path(name), message);
            warning.hint = suggest.hint(name, template.parameters.keys().map(|name| &**name));
            warning
        })
        .collect()
}

/// What is recorded of the values of a deploy: declared parameters with a value, the sensitive
/// ones as `***`; `None` where there is nothing to record.
pub fn resolved_parameters(template: &Template, supplied: &Supplied) -> Option<Json> {
    let mut record = serde_json::Map::new();
    for (name, parameter) in &template.parameters {
        if let Source::Text(text) = source(name, parameter, supplied) {
            let shown = if parameter.no_echo { "***" } else { text };
            record.insert(name.to_string(), Json::from(shown));
        }
    }
    (!record.is_empty()).then_some(Json::Object(record))
}

/// What each declared parameter comes to in expressions.
pub(crate) fn resolve(template: &Template, supplied: &Supplied) -> IndexMap<Arc<str>, Value> {
    let value = |name: &Arc<str>, parameter: &Parameter| match source(name, parameter, supplied) {
        Source::Text(text) if parameter.no_echo => Value::Secret(Secret::new(Json::from(text))),
        Source::Text(text) => Value::Text(text.into()),
        Source::Previous | Source::Missing => Value::Unresolved,
    };
    template.parameters.iter().map(|(name, parameter)| (name.clone(), value(name, parameter))).collect()
}

fn parameter_error(template: &Template, code: DiagnosticCode, name: &str, message: String) -> Diagnostic {
    let path = parameter_path(name);
    let place = template.parameters.contains_key(name).then(|| template.source().key_place(&path)).flatten();
    Diagnostic::error(code, path, message).at(place)
}
