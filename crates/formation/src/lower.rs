//! From a template to desired state.

use crate::{Supplied, Template};
use formwork_model::{Catalog, Desired, Diagnostics, StackId, StackKey};

/// What lowering needs.
#[derive(Clone)]
pub struct LowerRequest<'a> {
    /// The template.
    pub template: &'a Template,
    /// The parameter values.
    pub supplied: &'a Supplied,
    /// The stack's id.
    pub stack: StackId,
    /// The stack's name.
    pub key: StackKey,
    /// The types that exist.
    pub catalog: &'a dyn Catalog,
    /// Whether a required parameter without a value is an error; a plan passes `false`.
    pub strict: bool,
}

/// Lowers a template.
pub fn lower(_request: &LowerRequest<'_>) -> Result<Desired, Diagnostics> {
    unimplemented!()
}
