//! The outputs and metadata of a stack, once all is done.

use formwork_model::{Json, PlannedStack, Row, RowRef};
use indexmap::IndexMap;
use std::sync::Arc;

/// Resolves a stack's outputs and metadata.
pub fn resolve_outputs<'r>(
    stack: &PlannedStack,
    row: &dyn Fn(&RowRef) -> Option<&'r Row>,
) -> (IndexMap<Arc<str>, Json>, Option<Json>) {
    let _ = (stack, row);
    (IndexMap::new(), None)
}
