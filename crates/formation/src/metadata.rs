//! Static metadata.

use formwork_model::{Diagnostic, Json};

/// Finds expressions in static metadata.
pub fn check_static_metadata(_metadata: &Json) -> Vec<Diagnostic> {
    unimplemented!()
}
