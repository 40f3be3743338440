//! Parameter values.

use crate::Template;
use formwork_model::{Diagnostic, Json};
use indexmap::IndexMap;

/// The values that came with a request.
#[derive(Clone, Default)]
pub struct Supplied {
    /// By parameter name; strings, anything else is refused.
    pub values: IndexMap<String, Json>,
    /// Whether the request updates a stack that exists.
    pub is_update: bool,
}

/// Parameters that are required and have no value.
pub fn missing_parameters(_template: &Template, _supplied: &Supplied) -> Vec<Diagnostic> {
    unimplemented!()
}

/// Supplied values that are no strings.
pub fn invalid_parameters(_template: &Template, _supplied: &Supplied) -> Vec<Diagnostic> {
    unimplemented!()
}

/// Supplied names that are not declared, as warnings.
pub fn unknown_parameters(_template: &Template, _supplied: &Supplied) -> Vec<Diagnostic> {
    unimplemented!()
}

/// What is recorded of the values of a deploy.
pub fn resolved_parameters(_template: &Template, _supplied: &Supplied) -> Option<Json> {
    unimplemented!()
}
