//! The static checks.

use crate::{Document, Template};
use formwork_model::{Catalog, Diagnostics};

/// What a check came to.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The template; `None` if there was an error.
    pub template: Option<Template>,
    /// Errors and warnings, all at once.
    pub found: Diagnostics,
}

/// Checks a document.
pub fn check(_document: Document, _catalog: &dyn Catalog) -> Checked {
    unimplemented!()
}
